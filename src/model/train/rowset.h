/*
 * Rows as the network sees them while it is built: their feature nodes Z and their residual E. The training rows are
 * one row set, validation rows another.
 *
 * Z and E are always computed by the same steps in the same order, whether the network has just been grown or is
 * resumed from a file: that is why a resumed run gives the same bytes as one that never stopped.
 */
#ifndef BROAD_MODEL_TRAIN_ROWSET_H
#define BROAD_MODEL_TRAIN_ROWSET_H

#include "base/spill.h"
#include "data/table.h"
#include "layer/residual.h"
#include "model/model.h"

typedef struct broad__part {
    const broad_data *data; /* not owned */
    size_t first, count;
    double weight; /* times which each row counts */
} broad__part;

typedef struct broad__z_source broad__z_source; /* model/zsource.h */

/* How the arrays of a row set, one or more numbers per row, are stored. Zeroed: in memory, and Z with them. */
typedef struct broad__storage {
    broad__spill *spill; /* not owned; NULL: in memory */
    int z_recomputed;    /* Z is recomputed with every pass; otherwise it is stored like the others */
    int k_recomputed;    /* and so are the columns of a layer */
} broad__storage;

typedef struct broad__rowset {
    const broad_model *model; /* not owned */
    broad__storage storage;
    int divisible;           /* its passes may be shared out over the ranks of the call */
    broad__z_source *source; /* where residual.z is not stored */
    broad__z_source *far;    /* for Z that is made from the inputs on a device of its own (model/train/far_inputs.h) */
    size_t groups;           /* feature groups in Z so far, the first ones of the model */
    size_t part_count, part_capacity;
    broad__part *parts;
    double *z;                   /* residual.rows x residual.z.features; NULL: recomputed */
    double *sqrt_weight;         /* residual.rows: root of what each row counts; NULL: all alike */
    double *sqrt_segment_weight; /* residual.rows: root of the weight of the row's part alone; NULL: 1 */
    /* residual.rows: which rows the data says belong together, all numbers below group_end. Parts share none: they came
     * at different times, from tables that number their own. NULL: none do. */
    size_t *group, group_end;
    uint64_t *key; /* residual.rows: hashes of what the rows hold (data/row_order.h), where there is y; else NULL */
    double *
        y; /* residual.rows x outputs: targets times root, where the weights are not a chain's or there are probes; else NULL */
    broad__residual residual;
} broad__rowset;

int broad__rowset_open(broad__rowset *out, const broad_model *model, const broad__device *device, broad__pool *pool,
                       const broad__storage *storage);
void broad__rowset_close(broad__rowset *rowset); /* accepts a zeroed one */

/* Rows that come have probes (layer/probes.h); first_row: the number of the first. Before any rows. */
void broad__rowset_probe(broad__rowset *rowset, size_t first_row);

/* Further groups of the model become columns of Z. */
int broad__rowset_add_groups(broad__rowset *rowset, size_t count);
/* Recomputes all columns of Z, after the groups were redrawn. */
int broad__rowset_refresh(broad__rowset *rowset);
/* Further rows, with the residual of the first `layers` layers. */
int broad__rowset_add_rows(broad__rowset *rowset, broad__part part, size_t layers);
/* E = E - K_j W_j for layer j of the model. */
int broad__rowset_follow(broad__rowset *rowset, size_t layer);
/* E = Y, for a row set that keeps Y. */
int broad__rowset_restart(broad__rowset *rowset);
/* Further outputs, zero in every row. */
int broad__rowset_widen(broad__rowset *rowset, size_t outputs);

/* The columns that a layer of the model contributes to K. */
broad__kblock broad__model_kblock(const broad_model *model, size_t layer);

/* Whether the rows are those of the table, in its order. */
int broad__rowset_is(const broad__rowset *rowset, const broad_data *data);
/* Y less what the network leaves of these rows of it, in the units of the targets: what it predicts. That is E, and with joint
 * weights next, as their fit has left it. out: count x outputs */
void broad__rowset_scores(double *out, const broad__rowset *rowset, const broad_data *data, size_t first, size_t count);

/* Part of the rows that the network classifies correctly; classification only. */
int broad__rowset_accuracy(double *out, broad__rowset *rowset);

#endif
