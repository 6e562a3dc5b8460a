#include "model/verify/verify_score.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/device.h"
#include "compute/shards.h"
#include "data/row_order.h"
#include "data/twins.h"
#include "model/verify/verify_nodes.h"
#include "rng/philox.h"

/* As many signs as make the standard error of df / N, at most sqrt(2 / (signs N)), half a percent. */
enum { SIGNS_TIMES_UNITS = 80000, LEAST_SIGNS = 2 };
/* Less than this of the rows is not divided by. */
static const double LEAST_LEFT = 1e-9;
/* Two ways of computing the same few numbers differ by this part at most. */
static const double SAME = 1e-12;
/* Lambda is one of these powers of ten of the mean eigenvalue, which is right to this part. */
static const double GRID_FIRST = -11, GRID_LAST = 3, GRID_STEP = 0.5, GRID_ROUNDING = 1e-9;

void broad__verify_probes_close(broad__verify_probes *probes)
{
    broad__free(probes->unit);
    broad__free(probes->unit_key);
    broad__free(probes->units_until);
    broad__free(probes->u);
    broad__free(probes->u_first);
    memset(probes, 0, sizeof *probes);
}

static size_t columns_of(const broad__verify_probes *probes) { return probes->units + probes->signs; }

/* ---- U_0 ------------------------------------------------------------------------------------------------------- */

/* The groups of all rows, or numbers of rows with equal inputs, segment by segment. NULL: each row by itself. */
static int find_groups(size_t **out, const broad__verification *v)
{
    const broad_data *data = v->data;
    size_t *groups = broad__alloc_array(data->rows, sizeof *groups), row = 0;
    int status = groups ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t s = 0; status == BROAD_OK && s < v->model->segment_count; s++) {
        size_t count = v->model->segments[s].rows, *twins = NULL;
        if (!data->groups) status = broad__twins_find(&twins, data, row, count);
        for (size_t i = 0; i < count; i++)
            groups[row + i] = data->groups ? data->groups[row + i] : twins ? twins[i] : i;
        broad__free(twins);
        row += count;
    }
    *out = groups;
    return status;
}

/* What the rows have their signs by. */
static int mark_rows(uint64_t **out, const broad__verification *v)
{
    uint64_t *mark = broad__alloc_array(v->data->rows, sizeof *mark);
    int status = mark ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t s = 0, row = 0; status == BROAD_OK && s < v->model->segment_count; s++) {
        status = broad__row_marks(mark + row, v->data, row, v->model->segments[s].rows, row);
        row += v->model->segments[s].rows;
    }
    *out = mark;
    return status;
}

/* Rows and groups in the order in which they come; segments share no group, and rows of weight 0 have none. */
static int number_units(broad__verify_probes *probes, const broad__verification *v)
{
    size_t groups = 1, count = 0, *group_of = NULL;
    uint64_t *mark = NULL;
    int status = find_groups(&group_of, v);
    if (status == BROAD_OK) status = mark_rows(&mark, v);
    for (size_t i = 0; status == BROAD_OK && i < v->data->rows; i++)
        if (group_of[i] >= groups) groups = group_of[i] + 1;
    size_t *of_group = broad__alloc_array(groups, sizeof *of_group),
           *in_segment = broad__alloc_array(groups, sizeof *in_segment);
    if (status == BROAD_OK && (!of_group || !in_segment)) status = BROAD_NO_MEMORY;
    for (size_t s = 0, row = 0; status == BROAD_OK && s < v->model->segment_count; s++) {
        for (size_t end = row + v->model->segments[s].rows; row < end; row++) {
            probes->unit[row] = SIZE_MAX;
            if (row < probes->start || (v->sqrt_weight && !(v->sqrt_weight[row] > 0))) continue;
            size_t group = group_of[row];
            if (in_segment[group] != s + 1) of_group[group] = count++;
            in_segment[group] = s + 1;
            probes->unit[row] = of_group[group];
            probes->unit_key[of_group[group]] += mark[row];
        }
        probes->units_until[s] = count;
    }
    broad__free(mark);
    broad__free(group_of);
    broad__free(of_group);
    broad__free(in_segment);
    return status;
}

/* Unit vectors and signs that have been used when the rows up to `end` are there; signs, once there are any, stay. */
static void columns_until(size_t *units, size_t *signs, const broad__verify_probes *probes, const broad_model *model,
                          size_t end)
{
    *units = *signs = 0;
    for (size_t s = 0, row = 0; s < model->segment_count && row < end && !*signs; s++) {
        size_t count = probes->units_until[s], enough = count ? (SIGNS_TIMES_UNITS + count - 1) / count : 0;
        row += model->segments[s].rows;
        if (enough >= count) *units = count;
        else *signs = enough > LEAST_SIGNS ? enough : LEAST_SIGNS;
    }
}

static double sign_of(const broad_model *model, uint64_t key, size_t column)
{
    broad__stream stream = {.seed = model->settings.seed, .purpose = BROAD__FOR_PROBES, .layer = (uint32_t)column};
    return broad__random_at(&stream, key) < 0.5 ? -1 : 1;
}

static void fill(broad__verify_probes *probes, const broad__verification *v)
{
    size_t columns = columns_of(probes);
    for (size_t i = probes->start; i < v->data->rows; i++) {
        size_t unit = probes->unit[i];
        double *u = probes->u_first + i * columns, root = v->sqrt_weight ? v->sqrt_weight[i] : 1;
        if (unit == SIZE_MAX) continue;
        if (unit < probes->units) u[unit] = root;
        for (size_t k = 0; k < probes->signs; k++)
            u[probes->units + k] = root * sign_of(v->model, probes->unit_key[unit], k);
    }
    memcpy(probes->u, probes->u_first, v->data->rows * columns * sizeof *probes->u);
}

static int probes_open(broad__verify_probes *probes, const broad__verification *v, size_t start)
{
    size_t rows = v->data->rows;
    broad__verify_probes_close(probes);
    probes->open = 1;
    probes->start = start;
    probes->unit = broad__alloc_array(rows, sizeof *probes->unit);
    probes->unit_key = broad__alloc_array(rows, sizeof *probes->unit_key);
    probes->units_until = broad__alloc_array(v->model->segment_count, sizeof *probes->units_until);
    int status = probes->unit && probes->unit_key && probes->units_until ? number_units(probes, v) : BROAD_NO_MEMORY;
    if (status < 0) return status;
    columns_until(&probes->units, &probes->signs, probes, v->model, rows);
    probes->u = broad__alloc_doubles(rows, columns_of(probes));
    probes->u_first = broad__alloc_doubles(rows, columns_of(probes));
    if (!probes->u || !probes->u_first) return BROAD_NO_MEMORY;
    fill(probes, v);
    return BROAD_OK;
}

/* ---- through a layer ------------------------------------------------------------------------------------------- */

/* Each worker has an area of its own; the areas are added up afterwards. */
typedef struct layer_step {
    broad__verify_probes *probes;
    const broad__verification *v;
    const broad__layer *layer;
    size_t from, end; /* rows */
    size_t each;      /* numbers of a worker's area */
    double *areas;    /* block of K | K'K | K'U */
    double *w;        /* what the layer subtracts from U: width x columns */
    double size;      /* of K: its squared norm over the rows that the layer was fitted to */
    int singular;     /* (K'K + lambda I) could not be factored */
} layer_step;

/* A block of K; returns its number of rows. */
static size_t block_rows(double *k, const layer_step *s, size_t first)
{
    size_t n = s->end - first < BROAD__BLOCK_ROWS ? s->end - first : BROAD__BLOCK_ROWS;
    for (size_t i = 0; i < n; i++) broad__verify_row(s->v, k + i * s->layer->width, s->layer, first + i);
    return n;
}

static void sums_block(void *context, size_t block, size_t worker)
{
    layer_step *s = context;
    const broad__device *reference = broad__device_reference();
    size_t p = s->layer->width, columns = columns_of(s->probes), first = s->from + block * BROAD__BLOCK_ROWS;
    double *k = s->areas + worker * s->each, *gram = k + BROAD__BLOCK_ROWS * p, *cross = gram + p * p;
    size_t n = block_rows(k, s, first);
    reference->gram(gram, p, k, p, n, p);
    reference->cross(cross, columns, k, p, p, s->probes->u + first * columns, columns, columns, n);
}

static void shift_block(void *context, size_t block, size_t worker)
{
    layer_step *s = context;
    size_t p = s->layer->width, columns = columns_of(s->probes), first = s->from + block * BROAD__BLOCK_ROWS;
    double *k = s->areas + worker * s->each;
    size_t n = block_rows(k, s, first);
    broad__device_reference()->apply(s->probes->u + first * columns, columns, -1.0, k, p, n, s->w, columns, p, columns);
}

/* Calls job for the blocks of the rows [from, end), as far as they are this rank's. */
static int run_blocks(layer_step *s, size_t from, size_t end, broad__job job)
{
    broad__verify_own(&s->from, &s->end, s->v, from, end - from);
    size_t blocks = (s->end - s->from + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS;
    return broad__pool_run_watched(s->v->pool, blocks, job, s);
}

/* b (n x columns) <- (a + lambda I)^-1 b; a is used up. */
static void solve(double *b, double *a, size_t n, layer_step *s)
{
    for (size_t i = 0; i < n; i++) {
        s->size += a[i * n + i];
        a[i * n + i] += s->layer->certificate.lambda;
    }
    s->singular = broad__device_reference()->factor(a, n) != 0;
    if (!s->singular) broad__device_reference()->solve(b, columns_of(s->probes), a, n);
}

/* w = (K'K + lambda I)^-1 K'U */
static int weights_primal(layer_step *s)
{
    const broad__certificate *c = &s->layer->certificate;
    size_t p = s->layer->width, lead = BROAD__BLOCK_ROWS * p, sums = s->each - lead;
    double *gram = s->areas + lead, *cross = gram + p * p;
    int status = run_blocks(s, c->first_row, c->first_row + c->rows, sums_block);
    if (status < 0) return status;
    for (size_t w = 1; w < broad__pool_threads(s->v->pool); w++)
        for (size_t i = 0; i < sums; i++) gram[i] += s->areas[w * s->each + lead + i];
    status = broad__verify_add(s->v, gram, sums);
    if (status < 0) return status;
    solve(cross, gram, p, s);
    memcpy(s->w, cross, p * columns_of(s->probes) * sizeof *s->w);
    return BROAD_OK;
}

/* w = K'a, a = (KK' + lambda I)^-1 U */
static int weights_dual(layer_step *s)
{
    const broad__certificate *c = &s->layer->certificate;
    const broad__device *reference = broad__device_reference();
    size_t n = c->rows, p = s->layer->width, columns = columns_of(s->probes);
    double *k = broad__alloc_doubles(n, p), *m = broad__alloc_doubles(n, n), *a = broad__alloc_doubles(n, columns);
    int status = k && m && a ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        for (size_t i = 0; i < n; i++) broad__verify_row(s->v, k + i * p, s->layer, c->first_row + i);
        memcpy(a, s->probes->u + c->first_row * columns, n * columns * sizeof *a);
        reference->outer(m, n, k, p, n, k, p, n, p);
        solve(a, m, n, s);
        reference->cross(s->w, columns, k, p, p, a, columns, columns, n);
    }
    broad__free(k);
    broad__free(m);
    broad__free(a);
    return status;
}

/* Rounding moves each direction of K(K'K + lambda I)^-1 K' by that of K'K over lambda at most. */
static void add_doubt(const layer_step *s)
{
    double lambda = s->layer->certificate.lambda, most = (double)s->layer->width;
    double doubt = lambda > 0 ? BROAD__ROUNDING * s->size / lambda : most;
    s->probes->doubt += s->singular ? INFINITY : fmin(doubt, most);
}

/* *out_size: the squared norm of K. */
static int step(double *out_size, broad__verify_probes *probes, const broad__verification *v, const broad__layer *layer)
{
    size_t p = layer->width, columns = columns_of(probes);
    int dual = layer->certificate.rows < p;
    layer_step s = {.probes = probes, .v = v, .layer = layer};
    s.each = BROAD__BLOCK_ROWS * p + (dual ? 0 : p * p + p * columns);
    s.areas = broad__alloc_doubles(broad__pool_threads(v->pool), s.each);
    s.w = broad__alloc_doubles(p, columns);
    int status = s.areas && s.w ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = dual ? weights_dual(&s) : weights_primal(&s);
    if (status == BROAD_OK) add_doubt(&s);
    *out_size = s.size;
    if (status == BROAD_OK && !s.singular) status = run_blocks(&s, probes->start, v->data->rows, shift_block);
    broad__free(s.areas);
    broad__free(s.w);
    return status;
}

/* The layers before layer j that were fitted from the same row on. */
static int begin(broad__verify_probes *probes, const broad__verification *v, size_t j)
{
    const broad__layer *layers = v->model->layers;
    size_t start = layers[j].certificate.first_row;
    double size = 0;
    int status = probes_open(probes, v, start);
    for (size_t i = 0; status == BROAD_OK && i < j; i++)
        if (layers[i].certificate.first_row == start) status = step(&size, probes, v, &layers[i]);
    return status;
}

/* ---- degrees of freedom and score ------------------------------------------------------------------------------ */

/* Of the rows that the layer was fitted to, those that count. */
static double rows_counted(const broad__verification *v, const broad__certificate *c)
{
    double count = 0;
    for (size_t i = c->first_row; i < c->first_row + c->rows; i++) count += !v->sqrt_weight || v->sqrt_weight[i] > 0;
    return count;
}

static double mean_weight(const broad__verification *v, const broad__certificate *c)
{
    double sum = 0;
    for (size_t i = c->first_row; v->sqrt_weight && i < c->first_row + c->rows; i++)
        sum += v->sqrt_weight[i] * v->sqrt_weight[i];
    return v->sqrt_weight ? sum / rows_counted(v, c) : 1;
}

/* Rows less the trace of the residual operator, in which rows count by their weights, by the columns that the rows of the
 * layer have: *out_signs, or 0 where they are unit vectors. */
static double degrees(size_t *out_signs, const broad__verify_probes *probes, const broad__verification *v,
                      const broad__certificate *c)
{
    size_t units = 0, signs = 0, columns = columns_of(probes), first, end;
    columns_until(&units, &signs, probes, v->model, c->first_row + c->rows);
    *out_signs = signs;
    size_t from = signs ? probes->units : 0, to = signs ? from + signs : units;
    double inner = 0;
    broad__verify_own(&first, &end, v, c->first_row, c->rows);
    for (size_t i = first; i < end; i++)
        for (size_t k = from; k < to; k++) inner += probes->u[i * columns + k] * probes->u_first[i * columns + k];
    if (broad__verify_add(v, &inner, 1) < 0) return (double)NAN; /* the call fails at its end */
    return fmax(rows_counted(v, c) - (signs ? inner / (double)signs : inner) / mean_weight(v, c), 0);
}

static double score_of(double norm, double df, double rows, double penalty)
{
    double left = 1 - penalty * df / rows;
    return left >= LEAST_LEFT ? norm / left : INFINITY;
}

/* The score over the one before, if both had these degrees of freedom. */
static double score_ratio(const broad__finding *f, double df_before, double df, double penalty)
{
    return score_of(f->after, df, f->rows, penalty) / score_of(f->before, df_before, f->rows, penalty);
}

int broad__verify_score(broad__finding *found, broad__verify_probes *probes, const broad__verification *v, size_t j)
{
    const broad__layer *layer = &v->model->layers[j];
    const broad__certificate *c = &layer->certificate;
    double size = 0;
    int status = probes->open && probes->start == c->first_row ? BROAD_OK : begin(probes, v, j);
    if (status < 0) return status;
    found->rows = rows_counted(v, c);
    found->df_before = degrees(&found->signs, probes, v, c);
    status = step(&size, probes, v, layer);
    if (status < 0 || c->test != BROAD_SUPERVISE_GCV) return status;
    found->mean_eigenvalue = size / (double)(c->rows < layer->width ? c->rows : layer->width);
    found->df = degrees(&found->signs, probes, v, c);
    double off = found->df_doubt = probes->doubt + BROAD__TOLERANCE * found->rows;
    found->tested = isfinite(off) ? score_ratio(found, found->df_before, found->df, c->penalty) : NAN;
    found->min = score_ratio(found, found->df_before + off, fmax(found->df - off, 0), c->penalty);
    found->max = score_ratio(found, fmax(found->df_before - off, 0), found->df + off, c->penalty);
    return BROAD_OK;
}

/* ---- the record ------------------------------------------------------------------------------------------------ */

static int same(double a, double b) { return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b)); }

int broad__verify_score_record(broad__verification *v, size_t j)
{
    const broad__certificate *c = &v->model->layers[j].certificate;
    if (c->test != BROAD_SUPERVISE_GCV) return 1;
    double rows = rows_counted(v, c), score = score_of(c->norm_after, c->df, rows, c->penalty);
    double before = score_of(c->norm_before, c->df_before, rows, c->penalty);
    if (c->penalty != v->model->settings.penalty)
        return broad__refuse(v->verdict, j + 1, "layer %zu: its penalty %.9g is not the one in the settings, %.9g",
                             j + 1, c->penalty, v->model->settings.penalty);
    if (!same(c->score, score))
        return broad__refuse(v->verdict, j + 1,
                             "layer %zu: its score %.12g does not follow from its norm and degrees of freedom (%.12g)",
                             j + 1, c->score, score);
    if (!same(c->tested, score / before))
        return broad__refuse(v->verdict, j + 1, "layer %zu: the tested value %.12g is not what its scores give, %.12g",
                             j + 1, c->tested, score / before);
    return 1;
}

/* 1 if lambda is the one in the settings, or of the grid that the score chooses from. */
static int lambda_allowed(const broad_options *o, double lambda, double mean_eigenvalue)
{
    if (!o->lambda_auto) return lambda == o->lambda;
    double power = log10(lambda / (mean_eigenvalue > 0 ? mean_eigenvalue : 1));
    double off = power - GRID_STEP * round(power / GRID_STEP);
    return fabs(off) <= GRID_ROUNDING && power > GRID_FIRST - GRID_STEP / 2 && power < GRID_LAST + GRID_STEP / 2;
}

int broad__verify_score_judge(broad__verification *v, size_t j, const broad__finding *f)
{
    const broad__certificate *c = &v->model->layers[j].certificate;
    if (c->test != BROAD_SUPERVISE_GCV) return 1;
    if (!lambda_allowed(&v->model->settings, c->lambda, f->mean_eigenvalue))
        return broad__refuse(v->verdict, j + 1, "layer %zu: lambda %.9g is none that the settings allow", j + 1,
                             c->lambda);
    if (c->probes != f->signs)
        return broad__refuse(v->verdict, j + 1, "layer %zu: recorded columns of signs %zu, recomputed %zu", j + 1,
                             c->probes, f->signs);
    if (!(fabs(c->df_before - f->df_before) <= f->df_doubt))
        return broad__refuse(v->verdict, j + 1,
                             "layer %zu: recorded degrees of freedom before it %.9g, recomputed %.9g", j + 1,
                             c->df_before, f->df_before);
    if (!(fabs(c->df - f->df) <= f->df_doubt))
        return broad__refuse(v->verdict, j + 1, "layer %zu: recorded degrees of freedom %.9g, recomputed %.9g", j + 1,
                             c->df, f->df);
    return 1;
}
