#include "model/train/importance.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/folds.h"
#include "model/predict/predict.h"
#include "model/preset.h"
#include "model/train/train.h"
#include "model/train/train_open.h"
#include "rng/philox.h"

enum {
    ROWS_LEAST = 60,
    ROWS_MOST = 1000,
    COLUMNS_MOST = 100,
    HALVES = 2,
    SHUFFLES = 3,
    SHARES = HALVES * SHUFFLES,
    PREDICTED_MOST = 60000, /* rows, over all columns and shuffles */
    JUDGED_LEAST = 30
};

typedef struct importance {
    const broad_model *model; /* whose columns they are */
    size_t columns, threads;
    uint64_t seed;
    double *shares;   /* columns x SHARES: growth of the error */
    double explained; /* R2, or of classes the fraction of verdicts that are correct; mean of the halves */
} importance;

/* One half that was not fitted, and the network that has not seen it. */
typedef struct half {
    broad_model *network;
    broad_data *rows;
    double *targets, *spread; /* rows x outputs; outputs: summed squares about their mean */
    double *scores, *shuffled;
    size_t *order;
} half;

static void half_clear(half *h)
{
    broad_model_free(h->network);
    broad__table_free(h->rows);
    broad__free(h->targets);
    broad__free(h->spread);
    broad__free(h->scores);
    broad__free(h->shuffled);
    broad__free(h->order);
}

static int fit_small(broad_model **out, const broad_data *rows, const importance *all)
{
    broad_options o;
    broad_trainer *trainer = NULL;
    broad__options_default(&o);
    o.features_auto = o.range_auto = 0;
    o.feature_groups = o.feature_nodes = 10;
    o.metric = BROAD_LEARNED_NO;
    o.loo = BROAD_LOO_NO;
    o.seed = all->seed;
    o.threads = all->threads;
    int status = broad__trainer_open(&trainer, rows, &o);
    if (status == BROAD_OK) status = broad__trainer_enhance(trainer, 100, 1);
    if (trainer) broad__trainer_close(status == BROAD_OK ? out : NULL, trainer);
    return status;
}

/* Targets and their spread, without what rounding of the mean makes; no spread: an output says nothing, and is left out. */
static void set_targets(half *h)
{
    size_t rows = h->rows->rows, outputs = h->rows->outputs;
    broad__table_targets(h->targets, h->rows);
    for (size_t j = 0; j < outputs; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < rows; i++) mean += h->targets[i * outputs + j] / (double)rows;
        for (size_t i = 0; i < rows; i++) square += pow(h->targets[i * outputs + j] - mean, 2);
        h->spread[j] = square > (double)rows * pow((double)rows * DBL_EPSILON * mean, 2) ? square : 0;
    }
}

static int half_open(half *out, const broad_data *part, size_t index, const importance *all)
{
    broad_data *train = NULL, *rest = NULL;
    size_t most = PREDICTED_MOST / (all->columns * SHARES);
    int status = broad__fold(&train, &rest, part, HALVES, index, all->seed);
    if (status == BROAD_OK) status = fit_small(&out->network, train, all);
    broad__table_free(train);
    if (most < JUDGED_LEAST) most = JUDGED_LEAST;
    if (status == BROAD_OK && rest->rows > most) status = broad__table_thin(&out->rows, rest, most);
    else {
        out->rows = rest;
        rest = NULL;
    }
    broad__table_free(rest);
    if (status < 0) return status;
    size_t rows = out->rows->rows, outputs = out->rows->outputs;
    out->targets = broad__alloc_doubles(rows, outputs);
    out->scores = broad__alloc_doubles(rows, outputs);
    out->shuffled = broad__alloc_doubles(rows, out->rows->inputs);
    out->spread = broad__alloc_doubles(outputs, 1);
    out->order = broad__alloc_array(rows, sizeof *out->order);
    if (!out->targets || !out->scores || !out->shuffled || !out->spread || !out->order) return BROAD_NO_MEMORY;
    set_targets(out);
    return BROAD_OK;
}

/* 1 - R2: of classes over all of them together, of values the mean over the targets. */
static int error_of(double *out, const half *h, const double *x, size_t threads)
{
    size_t rows = h->rows->rows, inputs = h->rows->inputs, outputs = h->rows->outputs, counted = 0;
    double pooled = 0, all = 0, mean = 0;
    int status = broad__predict(h->scores, h->network, x, rows, inputs, threads, NULL);
    for (size_t j = 0; j < outputs && status == BROAD_OK; j++) {
        double square = 0;
        for (size_t i = 0; i < rows; i++) square += pow(h->targets[i * outputs + j] - h->scores[i * outputs + j], 2);
        pooled += square;
        all += h->spread[j];
        if (h->spread[j] <= 0) continue;
        mean += square / h->spread[j];
        counted++;
    }
    if (h->rows->task == BROAD_TASK_CLASSIFY) *out = all > 0 ? pooled / all : 1;
    else *out = counted ? mean / (double)counted : 1;
    return status;
}

/* How well the half is predicted as it is. */
static double explained(const half *h, double error)
{
    size_t right = 0, outputs = h->rows->outputs;
    if (h->rows->task != BROAD_TASK_CLASSIFY) return 1 - error;
    for (size_t i = 0; i < h->rows->rows; i++)
        right += broad__largest(h->scores + i * outputs, outputs) == h->rows->classes[i];
    return (double)right / (double)h->rows->rows;
}

/* The inputs that a column stands for. */
static void inputs_of(size_t *out_first, size_t *out_count, const broad_model *model, size_t column)
{
    size_t input = 0;
    for (size_t c = 0;; c++) {
        const broad__category *category = broad__categories_at(&model->categories, input);
        *out_first = input;
        *out_count = category ? category->count : 1;
        if (c == column) return;
        input += *out_count;
    }
}

const char *broad__importance_column(const broad_model *model, size_t column)
{
    size_t first, count;
    inputs_of(&first, &count, model, column);
    const broad__category *category = broad__categories_at(&model->categories, first);
    return category ? category->name : model->input_names[first];
}

static void shuffle(half *h, const importance *all, size_t column, size_t draw)
{
    size_t rows = h->rows->rows, inputs = h->rows->inputs, first, count;
    broad__stream stream = {.seed = all->seed, .purpose = BROAD__FOR_SPLIT, .layer = (uint32_t)column + 1};
    inputs_of(&first, &count, all->model, column);
    for (size_t i = 0; i < rows; i++) h->order[i] = i;
    for (size_t i = rows; i > 1; i--) {
        size_t other = (size_t)(broad__random_at(&stream, draw * rows + i) * (double)i), held = h->order[i - 1];
        h->order[i - 1] = h->order[other];
        h->order[other] = held;
    }
    memcpy(h->shuffled, h->rows->x, rows * inputs * sizeof *h->shuffled);
    for (size_t i = 0; i < rows; i++)
        memcpy(h->shuffled + i * inputs + first, h->rows->x + h->order[i] * inputs + first,
               count * sizeof *h->shuffled);
}

static int measure_half(importance *all, const broad_data *part, size_t index)
{
    half h = {0};
    double before = 0;
    int status = half_open(&h, part, index, all);
    if (status == BROAD_OK) status = error_of(&before, &h, h.rows->x, all->threads);
    if (status == BROAD_OK) all->explained += explained(&h, before) / HALVES;
    for (size_t c = 0; c < all->columns; c++)
        for (size_t s = 0; s < SHUFFLES && status == BROAD_OK; s++) {
            double after = 0;
            shuffle(&h, all, c, index * SHUFFLES + s);
            status = error_of(&after, &h, h.shuffled, all->threads);
            all->shares[c * SHARES + index * SHUFFLES + s] = after - before;
        }
    half_clear(&h);
    return status;
}

/* Mean and standard deviation of each column, then what is explained. */
static int keep(broad_model *model, const importance *all)
{
    double *values = broad__alloc_doubles(2 * all->columns + 1, 1);
    if (!values) return BROAD_NO_MEMORY;
    for (size_t c = 0; c < all->columns; c++) {
        const double *shares = all->shares + c * SHARES;
        double mean = 0, square = 0;
        for (size_t s = 0; s < SHARES; s++) mean += shares[s] / SHARES;
        for (size_t s = 0; s < SHARES; s++) square += pow(shares[s] - mean, 2);
        values[2 * c] = mean;
        values[2 * c + 1] = sqrt(square / (SHARES - 1));
    }
    values[2 * all->columns] = all->explained;
    for (size_t i = 0; i <= 2 * all->columns; i++)
        if (!isfinite(values[i])) {
            broad__free(values);
            return BROAD_OK;
        }
    model->importance = values;
    model->importance_columns = all->columns;
    return BROAD_OK;
}

static int find(broad_model *model, importance *all, const broad_data *data)
{
    broad_data *part = NULL;
    size_t rows = data->rows < ROWS_MOST ? data->rows : ROWS_MOST;
    int status = broad__table_thin(&part, data, rows);
    all->shares = broad__alloc_doubles(all->columns, SHARES);
    if (!all->shares) status = BROAD_NO_MEMORY;
    for (size_t h = 0; h < HALVES && status == BROAD_OK; h++) status = measure_half(all, part, h);
    if (status == BROAD_OK) status = keep(model, all);
    broad__free(all->shares);
    broad__table_free(part);
    /* Halves that cannot be dealt, as where a class has one row, leave the question open. */
    return status == BROAD_BAD_DATA || status == BROAD_USAGE ? BROAD_OK : status;
}

int broad__importance_find(broad_model *model, const broad_data *data, size_t threads)
{
    importance all = {.model = model, .threads = threads, .seed = model->settings.seed};
    broad__free(model->importance);
    model->importance = NULL;
    model->importance_columns = 0;
    all.columns = broad__categories_columns(&model->categories, model->inputs);
    if (model->photo.maps || all.columns < 2 || all.columns > COLUMNS_MOST || data->rows < ROWS_LEAST) return BROAD_OK;
    return find(model, &all, data);
}
