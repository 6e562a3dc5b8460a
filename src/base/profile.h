/*
 * Where the time of a run goes: calls, seconds, floating-point operations and bytes of each stage. The handle comes with
 * the options of a run; NULL means that nobody asked, and costs one comparison a block.
 *
 *     double began = broad__profile_start(profile);
 *     ... one block of work, on any thread ...
 *     broad__profile_stop(profile, BROAD__STAGE_GRAM, began, flops, bytes);
 *
 * Seconds are those of the threads that did the work, added up, so that flops by seconds is the rate of one core whatever
 * their number. Stages do not contain each other: what one has counted is not to be counted by another around it. Bytes
 * are what has to come from memory or go there, not what stays in the cache while a block is worked on.
 */
#ifndef BROAD_BASE_PROFILE_H
#define BROAD_BASE_PROFILE_H

#include <stdatomic.h>

#include "base/clock.h"
#include "broad/broad.h"

/* Name, group and what is counted, in the order in which they are shown. */
/* clang-format off */
#define BROAD__STAGES(X) \
    X(READ,          "read",          "data",    "the data read") \
    X(LOAD,          "load",          "data",    "the model read") \
    X(SCALE,         "scale",         "data",    "statistics of the columns, and inputs put in their units") \
    X(FEATURES,      "features",      "nodes",   "feature nodes Z") \
    X(DRAW,          "draw",          "nodes",   "random weights drawn") \
    X(NODES,         "nodes",         "layer",   "enhancement nodes H") \
    X(GRAM,          "gram",          "layer",   "K'K of a candidate") \
    X(CROSS,         "cross",         "layer",   "K'E of a candidate") \
    X(RESIDUAL,      "residual",      "layer",   "E - K W") \
    X(SOLVE,         "solve",         "layer",   "ridge solution and test of a candidate") \
    X(JOINT_FILL,    "joint_fill",    "joint",   "columns of all nodes") \
    X(JOINT_GRAM,    "joint_gram",    "joint",   "sums over all nodes") \
    X(JOINT_FACTOR,  "joint_factor",  "joint",   "Cholesky factor or eigenvalues") \
    X(JOINT_REFINE,  "joint_refine",  "joint",   "refinement of the solution") \
    X(JOINT_LOO,     "joint_loo",     "joint",   "leave-one-out") \
    X(SAVE,          "save",          "result",  "the model written") \
    X(PREDICT,       "predict",       "result",  "prediction")
/* clang-format on */

#define BROAD__STAGE_ENUM(stage, name, group, help) BROAD__STAGE_##stage,
typedef enum broad__stage { BROAD__STAGES(BROAD__STAGE_ENUM) BROAD__STAGE_COUNT } broad__stage;

typedef struct broad__stage_sums {
    _Alignas(64) atomic_uint_fast64_t calls; /* a cache line each: stages are counted by many threads at once */
    atomic_uint_fast64_t nanoseconds, flops, bytes;
} broad__stage_sums;

struct broad_profile {
    broad__stage_sums stages[BROAD__STAGE_COUNT];
};

void broad__profile_add(broad_profile *profile, broad__stage stage, double seconds, double flops, double bytes);

static inline double broad__profile_start(const broad_profile *profile) { return profile ? broad__seconds() : 0; }

static inline void broad__profile_stop(broad_profile *profile, broad__stage stage, double began, double flops,
                                       double bytes)
{
    if (profile) broad__profile_add(profile, stage, broad__seconds() - began, flops, bytes);
}

/* The same where the caller waits for `threads` threads that do the work. */
static inline void broad__profile_stop_all(broad_profile *profile, broad__stage stage, double began, size_t threads,
                                           double flops, double bytes)
{
    if (profile) broad__profile_add(profile, stage, (broad__seconds() - began) * (double)threads, flops, bytes);
}

#endif
