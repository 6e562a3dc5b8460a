/* Progress of a joint fit, and requests to stop it. */
#ifndef BROAD_LAYER_JOINT_WATCH_H
#define BROAD_LAYER_JOINT_WATCH_H

#include <stdatomic.h>

#include "layer/joint.h"

/* A stage of the work, up to the part `until` of the whole: jobs report what they have done, and those on the caller's
 * thread tell the watcher. */
typedef struct broad__joint_watch {
    broad__joint *joint;
    const broad__joint_task *task;
    double from, until, all;
    atomic_size_t done;
    atomic_int stopped; /* the watcher asked for it: jobs that have not begun have nothing to do */
    double told;        /* when the watcher was told last */
} broad__joint_watch;

void broad__joint_watch_open(broad__joint_watch *out, broad__joint *joint, const broad__joint_task *task, double until,
                             double all);
void broad__joint_watch_step(broad__joint_watch *watch, size_t amount, size_t worker);
/* Returns 1 if it was stopped. */
int broad__joint_watch_close(broad__joint_watch *watch);

#endif
