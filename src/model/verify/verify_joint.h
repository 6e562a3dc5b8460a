/* Weights of several layers that solve one ridge problem together. */
#ifndef BROAD_MODEL_VERIFY_VERIFY_JOINT_H
#define BROAD_MODEL_VERIFY_VERIFY_JOINT_H

#include "model/verify/verification.h"

/* Stored weights of layers [first, last) that should solve one ridge problem over the rows [from, from + rows), for the
 * residual of the layers before them. */
typedef struct broad__solution {
    size_t first, last;
    int joint; /* the joint weights, else the output weights */
    size_t from, rows;
    double lambda;
    double after;    /* norm of the residual */
    double gradient; /* largest component of A'E - lambda W, relative to what it is made of */
} broad__solution;

/* Uses v->e. */
int broad__verify_solution(broad__solution *s, broad__verification *v);

/* The layers of a network without a chain, whose weights are all solved for at once. *out_norm: where the last layer
 * ends. */
int broad__verify_at_once(broad__verification *v, double *out_norm, int *out_holds);
/* The joint weights beside a chain. */
int broad__verify_joint(broad__verification *v, int *out_holds);

#endif
