/* Leave-one-out of a joint fit: lambda, and the scores of rows that were left out. */
#ifndef BROAD_LAYER_JOINT_LOO_H
#define BROAD_LAYER_JOINT_LOO_H

#include "layer/joint.h"

/* The best lambda. */
int broad__joint_choose(broad__joint *joint, const broad__joint_task *task);
/* The scores of the sample with W and R as they are. */
int broad__joint_leave_out(broad__joint *joint, const broad__joint_task *task);
void broad__joint_forget_sample(broad__joint *joint);
void broad__joint_forget_searched(broad__joint *joint);

/* The nearest exponent of lambda that is searched; not 0, which says that nothing is known. */
double broad__joint_exponent(double exponent);

#endif
