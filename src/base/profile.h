/*
 * Where the time of a run goes: calls, seconds, floating-point operations and bytes of each stage.
 *
 * A profile is active on the thread that entered it and on threads of a pool while they work for that thread. What counts finds it there: the operations of the device (compute/cpu/counted.c), drawing,
 * reading and writing. Which stage an operation belongs to is said by the phase that the run is in, which is entered where
 * it begins; what happens between operations belongs to the phase too. When no profile is active, each operation costs one
 * comparison.
 *
 * Seconds are the processor's, of the threads that did the work, added up, so that flops by seconds is the rate of one core
 * whatever their number and whatever else runs on it. Where a file is read or written, waiting of the calling thread is part
 * of it. Stages do not contain each other, and with "waiting", which the tool adds at the end, as it knows the number of threads,
 * they should explain all of their time. Bytes are those of the operands, each counted once per call, whether they
 * come from memory or are still in a cache.
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
    X(DECODE,        "decode",        "data",    "photos decoded") \
    X(MAPS,          "maps",          "data",    "descriptors, windows and pixels of photos") \
    X(LOAD,          "load",          "data",    "the model read") \
    X(HASH,          "hash",          "data",    "fingerprint of the rows") \
    X(STATISTICS,    "statistics",    "data",    "statistics of the columns") \
    X(SCALE,         "scale",         "data",    "inputs put in their units") \
    X(FEATURES,      "features",      "nodes",   "feature nodes Z") \
    X(DRAW,          "draw",          "nodes",   "random weights drawn") \
    X(PILOT,         "pilot",         "nodes",   "small trials that choose ranges and inputs") \
    X(COPY,          "copy",          "layer",   "feature nodes put beside the first layer's") \
    X(NODES,         "nodes",         "layer",   "enhancement nodes H") \
    X(GRAM,          "gram",          "layer",   "K'K of a candidate") \
    X(CROSS,         "cross",         "layer",   "K'E of a candidate") \
    X(RESIDUAL,      "residual",      "layer",   "E - K W") \
    X(SOLVE,         "solve",         "layer",   "ridge solution and test of a candidate") \
    X(SEARCH,        "search",        "layer",   "between these: draws, sums, records, memory") \
    X(JOINT_FILL,    "joint_fill",    "joint",   "columns of all nodes") \
    X(JOINT_GRAM,    "joint_gram",    "joint",   "sums over all nodes") \
    X(JOINT_FACTOR,  "joint_factor",  "joint",   "Cholesky factor or eigenvalues") \
    X(JOINT_REFINE,  "joint_refine",  "joint",   "refinement of the solution") \
    X(JOINT_LOO,     "joint_loo",     "joint",   "leave-one-out") \
    X(SAVE,          "save",          "result",  "the model written") \
    X(PREDICT,       "predict",       "result",  "prediction") \
    X(MEASURE,       "measure",       "result",  "measures of the predictions") \
    X(EXCHANGE,      "exchange",      "ranks",   "sums and rows between ranks") \
    X(WAITING,       "waiting",       "waiting", "threads without work, or without a processor")
/* clang-format on */

#define BROAD__STAGE_ENUM(stage, name, group, help) BROAD__STAGE_##stage,
typedef enum broad__profile_stage { BROAD__STAGES(BROAD__STAGE_ENUM) BROAD__STAGE_COUNT } broad__profile_stage;

typedef struct broad__stage_sums {
    _Alignas(64) atomic_uint_fast64_t calls; /* a cache line each: stages are counted by many threads at once */
    atomic_uint_fast64_t nanoseconds, flops, bytes;
} broad__stage_sums;

struct broad_profile {
    broad__stage_sums stages[BROAD__STAGE_COUNT];
    atomic_uint_fast64_t helped;  /* nanoseconds of other threads for what is counted as a whole */
    atomic_uint_fast64_t blocked; /* nanoseconds in stages in which their thread waited */
    atomic_uint_fast64_t parts;   /* nanoseconds of parts of what is counted as a whole */
};

/* What a run is doing. Within a pilot, and within what is counted as a whole, other phases change nothing. */
typedef enum broad__phase {
    BROAD__PHASE_OTHER, /* operations belong to a layer, what is between them to nothing */
    BROAD__PHASE_LAYER,
    BROAD__PHASE_FEATURES,
    BROAD__PHASE_JOINT,
    BROAD__PHASE_FACTOR, /* of the joint fit */
    BROAD__PHASE_REFINE,
    BROAD__PHASE_LOO,
    BROAD__PHASE_PILOT,
    BROAD__PHASE_WHOLE, /* the time of all that happens now is counted as one */
    BROAD__PHASE_COUNT
} broad__phase;

typedef struct broad__profile_scope {
    broad_profile *profile; /* NULL: none is active */
    broad__phase phase;
    double began, counted; /* when another took its place: seconds of the thread, and those of its stages */
} broad__profile_scope;

/* Of this thread. The two that change it return what it was, for broad__profile_leave(), which also gives the work that no
 * stage has counted since then to the phase. */
broad__profile_scope broad__profile_here(void);
broad__profile_scope broad__profile_enter(broad_profile *profile); /* NULL changes nothing: an outer one goes on */
broad__profile_scope broad__profile_phase(broad__phase phase);
void broad__profile_leave(broad__profile_scope before);

void broad__profile_add(broad_profile *profile, broad__profile_stage stage, double seconds, double flops, double bytes);

/* Around work that is counted as a whole: that of the thread that calls, and of those that help it. */
typedef struct broad__profile_span {
    broad__profile_scope before;
    double began, began_here; /* by the clock, and of this thread */
    uint64_t helped, parts;
} broad__profile_span;

broad__profile_span broad__profile_start(void);
void broad__profile_stop(broad__profile_span span, broad__profile_stage stage, double flops, double bytes);
/* Around a part of it, on one thread, that is a stage of its own and not counted with the whole. It begins at: */
double broad__profile_part(void);
void broad__profile_part_done(double began, broad__profile_stage stage, double bytes);
/* A thread of a pool that works in the scope of another, before and after. */
void broad__profile_help(broad__profile_scope scope);
void broad__profile_helped(void);
/* This thread has looked for work, or for the end of it, for so long: that is waiting, too. */
void broad__profile_looked(double seconds);

/* What is left of the time of `threads` threads in `wall` seconds, in which the process had `processor` ones, is waiting. */
void broad__profile_wait(broad_profile *profile, double wall, size_t threads, double processor);

#endif
