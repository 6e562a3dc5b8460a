/* Leave-one-out by whole groups against what it stands for: a network solved again without the rows of each group. */
#include "plain.h"

#include "base/memory.h"
#include "data/labels.h"
#include "layer/leave_out_sets.h"
#include "model/train/train.h"
#include "model/train/train_open.h"
#include "model/train/train_rows.h"

/* ---- groups ---------------------------------------------------------------------------------------------------- */

/* Groups of these sizes; their rows lie apart from each other unless `together`. Freed with free(). */
static size_t *deal(size_t *out_rows, const size_t *sizes, size_t count, int together)
{
    size_t rows = 0, at = 0, most = 0;
    for (size_t g = 0; g < count; g++) rows += sizes[g], most = sizes[g] > most ? sizes[g] : most;
    size_t *group = malloc(rows * sizeof *group);
    if (together)
        for (size_t g = 0; g < count; g++)
            for (size_t i = 0; i < sizes[g]; i++) group[at++] = g;
    else
        for (size_t turn = 0; turn < most; turn++)
            for (size_t g = 0; g < count; g++)
                if (turn < sizes[g]) group[at++] = g;
    *out_rows = rows;
    return group;
}

/* Whether row a comes before row b in their group: by key, then as they lie. */
static int is_before(const uint64_t *key, size_t a, size_t b) { return key[a] < key[b] || (key[a] == key[b] && a < b); }

/* The part of its group that a row is left out with, by the rule: all of it up to BROAD__SET_ROWS rows; of m parts of a
 * larger one, of n rows, part k has those from k n / m on, in the order of their keys. */
static size_t group_part(const size_t *group, const uint64_t *key, size_t rows, size_t row)
{
    size_t n = 0, place = 0, part = 0;
    for (size_t i = 0; i < rows; i++) {
        if (group[i] != group[row]) continue;
        if (is_before(key, i, row)) place++;
        n++;
    }
    size_t parts = (n + BROAD__SET_ROWS - 1) / BROAD__SET_ROWS;
    for (size_t k = 0; k < parts; k++)
        if (place >= k * n / parts) part = k;
    return part;
}

/* mate[i]: the first of the rows that row i is left out with. Freed with free(). */
static size_t *mates(const size_t *group, const uint64_t *key, size_t rows)
{
    size_t *mate = malloc(rows * sizeof *mate), *part = malloc(rows * sizeof *part);
    for (size_t i = 0; i < rows; i++) {
        part[i] = group ? group_part(group, key, rows, i) : 0;
        mate[i] = i;
        for (size_t k = i; group && k-- > 0;)
            if (group[k] == group[i] && part[k] == part[i]) mate[i] = k;
    }
    free(part);
    return mate;
}

/* ---- brute force ----------------------------------------------------------------------------------------------- */

/* b (n x c) <- m^-1 b by Cholesky in long double; m: n x n, lower triangle, used up. */
static void solve_plain(long double *b, long double *m, size_t n, size_t c)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            long double sum = m[i * n + j];
            for (size_t k = 0; k < j; k++) sum -= m[i * n + k] * m[j * n + k];
            m[i * n + j] = i == j ? sqrtl(sum) : sum / m[j * n + j];
        }
        for (size_t q = 0; q < c; q++) {
            for (size_t k = 0; k < j; k++) b[j * c + q] -= m[j * n + k] * b[k * c + q];
            b[j * c + q] /= m[j * n + j];
        }
    }
    for (size_t j = n; j-- > 0;)
        for (size_t q = 0; q < c; q++) {
            for (size_t k = j + 1; k < n; k++) b[j * c + q] -= m[k * n + j] * b[k * c + q];
            b[j * c + q] /= m[j * n + j];
        }
}

static long double dot(const double *a, const double *b, size_t p)
{
    long double sum = 0;
    for (size_t k = 0; k < p; k++) sum += (long double)a[k] * b[k];
    return sum;
}

/* What a ridge without the rows of one set says about them, in their rows of out: by k_b (K + lambda I)^-1 Y over the others,
 * K = AA'. root: NULL: 1; A and Y are without it. */
static void brute_set(double *out, size_t set, const size_t *mate, const double *a, const double *y, const double *root,
                      size_t rows, size_t p, size_t c, double lambda)
{
    size_t n = 0, *rest = malloc(rows * sizeof *rest);
    for (size_t i = 0; i < rows; i++)
        if (mate[i] != set) rest[n++] = i;
    long double *m = malloc((n * n + 1) * sizeof *m), *b = malloc((n * c + 1) * sizeof *b);
    for (size_t i = 0; i < n; i++) {
        long double one = root ? root[rest[i]] : 1;
        for (size_t k = 0; k <= i; k++)
            m[i * n + k] = one * (root ? root[rest[k]] : 1) * dot(a + rest[i] * p, a + rest[k] * p, p);
        m[i * n + i] += lambda;
        for (size_t q = 0; q < c; q++) b[i * c + q] = one * y[rest[i] * c + q];
    }
    solve_plain(b, m, n, c);
    for (size_t row = 0; row < rows; row++) {
        if (mate[row] != set) continue;
        for (size_t q = 0; q < c; q++) out[row * c + q] = 0;
        for (size_t i = 0; i < n; i++) {
            long double near = (root ? root[rest[i]] : 1) * dot(a + row * p, a + rest[i] * p, p);
            for (size_t q = 0; q < c; q++) out[row * c + q] += (double)(near * b[i * c + q]);
        }
    }
    free(rest), free(m), free(b);
}

/* The same by Householder on the other rows of A, for few columns and many rows. */
static void brute_refit(double *out, size_t set, const size_t *mate, const double *a, const double *y,
                        const double *root, size_t rows, size_t p, size_t c, double lambda)
{
    size_t n = 0;
    double *rest = malloc(rows * p * sizeof *rest), *targets = malloc(rows * c * sizeof *targets);
    double *w = malloc(p * c * sizeof *w);
    for (size_t i = 0; i < rows; i++) {
        double one = root ? root[i] : 1;
        if (mate[i] == set) continue;
        for (size_t k = 0; k < p; k++) rest[n * p + k] = one * a[i * p + k];
        for (size_t q = 0; q < c; q++) targets[n * c + q] = one * y[i * c + q];
        n++;
    }
    plain_ridge(w, rest, targets, n, p, c, lambda);
    for (size_t i = 0; i < rows; i++) {
        for (size_t q = 0; mate[i] == set && q < c; q++) {
            out[i * c + q] = 0;
            for (size_t k = 0; k < p; k++) out[i * c + q] += a[i * p + k] * w[k * c + q];
        }
    }
    free(rest), free(targets), free(w);
}

static void brute(double *out, const size_t *mate, const double *a, const double *y, const double *root, size_t rows,
                  size_t p, size_t c, double lambda)
{
    for (size_t i = 0; i < rows; i++)
        if (mate[i] == i) brute_set(out, i, mate, a, y, root, rows, p, c, lambda);
}

/* ---- one problem ----------------------------------------------------------------------------------------------- */

typedef struct trial {
    broad_arrays arrays;
    broad_data *data;
    broad_trainer *t;
    size_t rows, columns, outputs;
    size_t *group, *mate;
    double *a, *y, *root; /* plain, without the roots */
} trial;

typedef struct shape {
    size_t rows, classes; /* classes 0: two values */
    int weighted;
    double noise;
} shape;

/* Takes `group` over; NULL: none. */
static void trial_open(trial *out, uint64_t seed, size_t *group, shape of, const broad_options *o)
{
    problem_random r = {seed};
    size_t rows = of.rows, classes = of.classes;
    *out = (trial){.rows = rows, .outputs = classes ? classes : 2, .group = group};
    plain_arrays(&out->arrays, &r, rows, 2, 2, classes, of.weighted);
    double *values = (double *)(uintptr_t)out->arrays.values;
    for (size_t i = 0; values && i < 2 * rows; i++) values[i] += of.noise * problem_normal(&r);
    out->data = plain_data(&out->arrays);
    out->y = plain_targets(&out->arrays, out->outputs);
    if (group) {
        char(*names)[24] = malloc(rows * sizeof *names);
        const char **pointers = malloc(rows * sizeof *pointers);
        for (size_t i = 0; i < rows; i++) {
            snprintf(names[i], sizeof names[i], "g%zu", group[i]);
            pointers[i] = names[i];
        }
        assert_ok(broad__table_set_groups(out->data, pointers, "who"));
        free(names), free(pointers);
    }
    assert_ok(broad__trainer_open(&out->t, out->data, o));
    out->mate = mates(group, out->t->train.residual.key, rows);
    out->root = of.weighted ? malloc(rows * sizeof *out->root) : NULL;
    for (size_t i = 0; of.weighted && i < rows; i++) out->root[i] = sqrt(out->arrays.weights[i]);
}

/* The columns of the network as it is now. */
static void trial_look(trial *x)
{
    free(x->a);
    x->a = plain_columns(&x->columns, x->t->model, x->arrays.x, x->rows);
}

static void trial_close(trial *x)
{
    broad__trainer_close(NULL, x->t);
    broad_data_free(x->data);
    plain_arrays_free(&x->arrays);
    free(x->group), free(x->mate), free(x->a), free(x->y), free(x->root);
}

static double *trial_brute(const trial *x, double lambda)
{
    double *exact = malloc(x->rows * x->outputs * sizeof *exact);
    brute(exact, x->mate, x->a, x->y, x->root, x->rows, x->columns, x->outputs, lambda);
    return exact;
}

/* Scores of the joint fit's sample in the order of the rows. */
static double *scores_by_row(const trial *x)
{
    const broad__joint *j = &x->t->joint;
    double *scores = malloc(x->rows * x->outputs * sizeof *scores);
    assert_int_equal(j->sample_count, x->rows);
    for (size_t i = 0; i < x->rows * x->outputs; i++) scores[i] = NAN;
    for (size_t i = 0; i < x->rows; i++)
        memcpy(scores + j->sample[i] * x->outputs, j->loo_scores + i * x->outputs, x->outputs * sizeof *scores);
    return scores;
}

/* ---- scores ---------------------------------------------------------------------------------------------------- */

static double check_scores(trial *x)
{
    trial_look(x);
    double lambda = x->t->joint.lambda, trace = 0;
    double *exact = trial_brute(x, lambda), *have = scores_by_row(x);
    double error = relative_distance(have, exact, x->rows * x->outputs);
    for (size_t k = 0; k < x->rows * x->columns; k++) trace += x->a[k] * x->a[k];
    /* Leverages near 1 lose what the condition of A'A + lambda I takes. */
    double allowed = 1e-9 + 1e-15 * trace / lambda;
    if (!(error < allowed)) fail_msg("%zu x %zu, lambda %g: %g", x->rows, x->columns, lambda, error);
    plain_check_estimate(x->t->model, &x->arrays, x->y, exact, 4 * allowed);
    free(exact), free(have);
    return error;
}

static void joint_scores(void **state)
{
    (void)state;
    static const char *const kinds[] = {"bls", "rvfl", "brls", "bscrls"};
    static const char *const lambdas[] = {"0.01", "0.5", "auto"};
    static const size_t sizes[][7] = {{1, 2, 3, 4, 5, 6, 7}, {9, 1, 1, 9, 1, 1, 9}, {2, 2, 2, 2, 2, 2, 3}};
    size_t duals = 0, networks = 0;
    double worst = 0;
    for (size_t i = 0; i < 36; i++) {
        size_t rows, classes = i % 5 == 0 ? 3 : 0;
        size_t *group = deal(&rows, sizes[i / 4 % 3], 7, i % 2);
        broad_options o = OPTIONS("preset", "paper", "kind", kinds[i % 4], "weights", "joint", "scale", "none",
                                  "features", "2x3", "enhance", "4x2", "loo", "yes", "lambda", lambdas[i / 12]);
        o.threads = 1 + i % 3;
        trial x;
        trial_open(&x, i + 1, group, (shape){rows, classes, i % 3 == 0, 0}, &o);
        for (size_t grown = 0; grown < 3; grown++) {
            assert_ok(broad__trainer_enhance(x.t, grown ? 9 : 4, grown ? 1 : 2));
            worst = fmax(worst, check_scores(&x));
            assert_int_equal(x.t->joint.set_count, 7);
            duals += x.t->joint.dual ? 1 : 0, networks++;
        }
        trial_close(&x);
    }
    print_message("%zu networks, %zu with fewer rows than columns, worst error %.1g\n", networks, duals, worst);
    assert_true(duals > 10 && duals < networks - 10);
}

/* Groups of more than BROAD__SET_ROWS rows go in parts; smaller ones as a whole, also in the dual form. */
static void large_groups(void **state)
{
    (void)state;
    static const size_t larger[] = {BROAD__SET_ROWS + 100, 1, 17, 40, 2}, large[] = {300, 1, 17, 40, 2};
    for (size_t i = 0; i < 4; i++) {
        size_t rows;
        size_t *group = deal(&rows, i ? large : larger, 5, i % 2);
        broad_options o = OPTIONS("preset", "paper", "kind", "bls", "scale", "none", "features", "1x3", "enhance",
                                  "30x1", "lambda", i == 3 ? "auto" : "0.1");
        trial x;
        trial_open(&x, i + 40, group, (shape){rows, 0, i % 2, 0}, &o);
        assert_ok(broad__trainer_enhance(x.t, i < 2 ? 30 : 400, 1));
        check_scores(&x);
        assert_int_equal(x.t->joint.dual, i >= 2);
        assert_int_equal(x.t->joint.set_count, i ? 5 : 6);
        trial_close(&x);
    }
}

/* Where a factor of M + lambda I is lost in rounding, the eigendecomposition stands in for it. */
static void spectral_scores(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 4, 5, 6, 7};
    for (size_t i = 0; i < 2; i++) {
        size_t rows, copies = 0;
        size_t *group = deal(&rows, sizes, 7, 0);
        broad_options o = OPTIONS("preset", "paper", "kind", "rvfl", "scale", "none", "lambda", "1e-16", "loo", "yes");
        trial x;
        trial_open(&x, i + 70, group, (shape){rows, 0, 0, 0}, &o);
        assert_ok(broad__trainer_enhance(x.t, 3, 1));
        /* The same nodes again: columns that are there twice. */
        broad__joint_task task = {.residual = &x.t->train.residual, .y = x.t->train.y, .lambda = 1e-16, .loo = 1};
        broad__kblock kblocks[2] = {broad__model_kblock(x.t->model, 0), broad__model_kblock(x.t->model, 0)};
        task.kblocks = kblocks, task.count = 2;
        broad__joint_clear(&x.t->joint);
        assert_ok(broad__joint_fit(&x.t->joint, &task));
        copies = x.t->joint.columns;
        assert_true(x.t->joint.spectral);
        trial_look(&x);
        assert_int_equal(copies, 2 * x.columns);
        /* Without lambda worth mentioning, twice the columns fit what they fit once. */
        double *exact = malloc(x.rows * x.outputs * sizeof *exact), *have = scores_by_row(&x);
        for (size_t k = 0; k < x.rows; k++)
            brute_refit(exact, x.mate[k], x.mate, x.a, x.y, NULL, x.rows, x.columns, x.outputs, 1e-16);
        double error = relative_distance(have, exact, x.rows * x.outputs);
        if (!(error < 1e-6)) fail_msg("%g", error);
        free(exact), free(have);
        trial_close(&x);
    }
}

/* Where all weights are solved again with each layer, the growing factorisation has H. */
static void stepwise_scores(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 4, 5, 6, 7};
    size_t duals = 0;
    for (size_t i = 0; i < 12; i++) {
        /* Of so few rows leave-one-out refuses most. */
        int scn = i % 2 || i >= 6;
        broad_options o = scn ? OPTIONS("preset", "paper", "kind", "scn", "scale", "none", "tries", "5", "range-steps",
                                        "1,4", "lambda", "1e-3", "relax-count", "9", "loo", "yes")
                              : OPTIONS("preset", "paper", "kind", "bscrls", "weights", "joint", "supervise", "loo",
                                        "scale", "none", "features", "1x3", "lambda", "1e-2", "relax-count", "9");
        trial x;
        size_t rows, *group = deal(&rows, sizes, i < 6 ? 7 : 4, i % 6 < 3);
        trial_open(&x, i + 60, group, (shape){rows, i % 6 == 3 ? 2 : 0, i % 6 >= 4, 0}, &o);
        assert_ok(broad__trainer_enhance(x.t, 3, 5));
        assert_true(x.t->model->layer_count > 1);
        trial_look(&x);
        double *exact = trial_brute(&x, o.lambda), *have = malloc(rows * x.outputs * sizeof *have);
        assert_ok(broad__growing_qr_leave_out(have, &x.t->qr, &x.t->train.residual, x.t->train.y));
        assert_true(relative_distance(have, exact, rows * x.outputs) < 1e-8);
        plain_check_estimate(x.t->model, &x.arrays, x.y, exact, 1e-8);
        duals += x.t->qr.dual.a != NULL;
        free(exact), free(have);
        trial_close(&x);
    }
    assert_true(duals > 2);
}

/* ---- lambda ---------------------------------------------------------------------------------------------------- */

static double brute_norm(const trial *x, double lambda)
{
    double *exact = trial_brute(x, lambda), square = 0;
    for (size_t i = 0; i < x->rows * x->outputs; i++)
        square += pow((x->y[i] - exact[i]) * (x->root ? x->root[i / x->outputs] : 1), 2);
    free(exact);
    return sqrt(square);
}

static void the_best_lambda(void **state)
{
    (void)state;
    static const size_t sizes[] = {6, 6, 6, 6, 6, 6, 6, 6};
    for (size_t i = 0; i < 6; i++) {
        size_t rows, *group = deal(&rows, sizes, 8, i % 2);
        broad_options o = OPTIONS("preset", "paper", "kind", "bls", "scale", "none", "features", "1x3", "enhance",
                                  "10x1", "lambda", "auto", "range", "3");
        trial x;
        trial_open(&x, i + 80, group, (shape){rows, 0, i % 3 == 0, 1}, &o);
        assert_ok(broad__trainer_enhance(x.t, i < 3 ? 10 : 60, 1));
        trial_look(&x);
        double lambda = x.t->joint.lambda, norm = brute_norm(&x, lambda);
        assert_true(relative_difference(x.t->joint.loo, norm, 0) < 1e-6);
        assert_true(norm <= brute_norm(&x, lambda * sqrt(10)) && norm <= brute_norm(&x, lambda / sqrt(10)));
        trial_close(&x);
    }
}

/* ---- many rows ------------------------------------------------------------------------------------------------- */

/* Some of them tell, by whole sets: each has all its rows in the sample, and is left out of all rows. */
static void a_sample_of_many_rows(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    broad_options o = OPTIONS("preset", "paper", "kind", "bls", "scale", "none", "features", "1x3", "enhance", "4x1",
                              "lambda", "0.1", "loo", "yes");
    size_t *group = malloc(ROWS * sizeof *group), found = 0;
    problem_random r = {5};
    for (size_t i = 0; i < ROWS; i++) group[i] = (size_t)(problem_uniform(&r) * 900) % (i % 3 ? 900 : 40);
    trial x;
    trial_open(&x, 3, group, (shape){ROWS, 0, 1, 0}, &o);
    assert_ok(broad__trainer_enhance(x.t, 4, 1));
    trial_look(&x);
    const broad__joint *j = &x.t->joint;
    assert_true(j->sample_count >= BROAD__LOO_ROWS && j->sample_count < BROAD__LOO_ROWS + BROAD__SET_ROWS);
    assert_true(j->search_count >= 1000 && j->search_count < 1000 + BROAD__SET_ROWS);
    char *taken = calloc(ROWS, 1);
    size_t *size = calloc(ROWS, sizeof *size);
    for (size_t i = 0; i < ROWS; i++) size[x.mate[i]]++;
    for (size_t i = 0; i < j->sample_count; i++) {
        assert_true(j->sample[i] < ROWS && !taken[j->sample[i]]);
        taken[j->sample[i]] = 1;
    }
    for (size_t s = 0; s < j->set_count; s++) {
        size_t first = j->sets[s], mate = x.mate[j->sample[first]];
        assert_int_equal(j->sets[s + 1] - first, size[mate]);
        for (size_t i = first; i < j->sets[s + 1]; i++) assert_int_equal(x.mate[j->sample[i]], mate);
        found += first == j->search_count;
    }
    assert_int_equal(found, 1);
    double *exact = malloc(2 * ROWS * sizeof *exact);
    for (size_t s = 0; s < j->set_count; s += j->set_count / 7) {
        size_t mate = x.mate[j->sample[j->sets[s]]];
        brute_refit(exact, mate, x.mate, x.a, x.y, x.root, ROWS, x.columns, 2, 0.1);
        for (size_t i = j->sets[s]; i < j->sets[s + 1]; i++)
            assert_true(relative_distance(j->loo_scores + 2 * i, exact + 2 * j->sample[i], 2) < 1e-9);
    }
    free(exact);
    free(taken), free(size);
    trial_close(&x);
}

/* ---- hardly any groups ----------------------------------------------------------------------------------------- */

/* One group has nothing left to learn from, and rows that are all of different groups are single rows: both are left out one
 * by one, with the very numbers of a table without groups. */
static void one_group_or_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        enum { ROWS = 30 };
        trial x[3];
        for (size_t k = 0; k < 3; k++) {
            size_t *group = k ? malloc(ROWS * sizeof *group) : NULL;
            for (size_t row = 0; k && row < ROWS; row++) group[row] = k == 1 ? 7 : row * 3;
            broad_options o = i % 2 ? OPTIONS("preset", "auto", "features", "4x5", "enhance", "3x1")
                                    : OPTIONS("preset", "paper", "kind", "bls", "scale", "none", "features", "1x3",
                                              "lambda", "auto", "enhance", i ? "9x1" : "40x1");
            trial_open(&x[k], i + 9, group, (shape){ROWS, i == 3 ? 2 : 0, 0, 0}, &o);
            assert_ok(broad__trainer_enhance(x[k].t, o.enhance_nodes, 1));
            assert_int_equal(x[k].t->joint.set_count, 0);
        }
        for (size_t k = 1; k < 3; k++) {
            const broad__joint *a = &x[0].t->joint, *b = &x[k].t->joint;
            assert_true(a->lambda == b->lambda && a->loo == b->loo);
            assert_memory_equal(a->loo_scores, b->loo_scores, ROWS * a->outputs * sizeof(double));
            assert_memory_equal(a->w, b->w, a->columns * a->outputs * sizeof(double));
        }
        for (size_t k = 0; k < 3; k++) trial_close(&x[k]);
    }
}

/* ---- rows that are there several times -------------------------------------------------------------------------- */

enum { COPIES = 5, DIFFERENT = 90 };

/* Two classes that overlap, each row `copies` times; grouped: the copies are one group. */
static broad_data *copied(size_t copies, int grouped)
{
    enum { INPUTS = 6 };
    problem_random r = {77};
    size_t rows = DIFFERENT * copies;
    double *x = malloc(rows * INPUTS * sizeof *x);
    int64_t *classes = malloc(rows * sizeof *classes);
    char(*names)[24] = malloc(rows * sizeof *names);
    const char **groups = malloc(rows * sizeof *groups);
    for (size_t i = 0; i < DIFFERENT; i++) {
        double row[INPUTS], sum = 0;
        for (size_t k = 0; k < INPUTS; k++) row[k] = problem_normal(&r);
        sum = row[0] + 0.5 * row[1] + 1.2 * problem_normal(&r);
        for (size_t c = 0; c < copies; c++) {
            size_t at = c * DIFFERENT + i;
            memcpy(x + at * INPUTS, row, sizeof row);
            classes[at] = sum > 0;
            snprintf(names[at], sizeof names[at], "photo%zu", i);
            groups[at] = names[at];
        }
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows, arrays.inputs = INPUTS, arrays.x = x, arrays.classes = classes;
    if (grouped) arrays.groups = groups;
    broad_data *data = plain_data(&arrays);
    free(x), free(classes), free(names), free(groups);
    return data;
}

typedef struct judged {
    broad_estimate estimate;
    double slope, pilot[3];
} judged;

static judged judge(broad_options o, size_t copies, int grouped)
{
    broad_data *data = copied(copies, grouped);
    broad_model *model = NULL;
    judged out = {.estimate = {.size = sizeof out.estimate}};
    assert_ok(broad_fit(&model, NULL, data, &o));
    assert_ok(broad_model_estimate(&out.estimate, model));
    assert_true(out.estimate.known);
    out.slope = model->estimate.calibration[0];
    memcpy(out.pilot, model->pilot, sizeof out.pilot);
    broad_model_free(model);
    broad_data_free(data);
    return out;
}

/* With nodes that do not depend on the rows, 5 copies of everything are one with a fifth of the ridge parameter. */
static void copies_of_rows(void **state)
{
    (void)state;
    broad_options o = OPTIONS("preset", "paper", "kind", "bls", "features", "4x10", "enhance", "40x1", "activation",
                              "tanh", "range", "2", "lambda", "auto", "loo", "yes");
    judged once = judge(o, 1, 0), together = judge(o, COPIES, 1), apart = judge(o, COPIES, 0);
    print_message("accuracy %.3f, of copies %.3f by groups and %.3f by rows; slopes %.2f, %.2f and %.2f\n",
                  once.estimate.accuracy, together.estimate.accuracy, apart.estimate.accuracy, once.slope,
                  together.slope, apart.slope);
    assert_true(once.estimate.accuracy < 0.85);
    assert_true(fabs(once.estimate.accuracy - together.estimate.accuracy) < 1e-9);
    assert_true(relative_difference(once.estimate.brier, together.estimate.brier, 0) < 0.02);
    assert_true(relative_difference(once.slope, together.slope, 0) < 0.1);
    assert_true(apart.estimate.accuracy > 0.95);
    assert_true(apart.estimate.brier < once.estimate.brier / 3);
}

/* The same with nodes sampled from the rows, and everything else chosen by leave-one-out. */
static void copies_and_the_pilot(void **state)
{
    (void)state;
    broad_options o = OPTIONS("preset", "auto", "features", "10x20", "enhance", "20x1");
    judged once = judge(o, 1, 0), together = judge(o, COPIES, 1), apart = judge(o, COPIES, 0);
    print_message("accuracy %.3f, of copies %.3f by groups and %.3f by rows\n", once.estimate.accuracy,
                  together.estimate.accuracy, apart.estimate.accuracy);
    for (size_t i = 0; i < 3; i++) {
        print_message("style %zu: %.3f, of copies %.3f and %.3f\n", i, once.pilot[i], together.pilot[i],
                      apart.pilot[i]);
        assert_true(relative_difference(once.pilot[i], together.pilot[i], 0) < 0.1);
        assert_true(apart.pilot[i] < together.pilot[i] / 3);
    }
    assert_true(fabs(once.estimate.accuracy - together.estimate.accuracy) < 0.06);
    assert_true(apart.estimate.accuracy > 0.95 && once.estimate.accuracy < 0.85);
}

/* ---- growing --------------------------------------------------------------------------------------------------- */

static broad_data *part_of(const broad_data *data, size_t first, size_t count)
{
    size_t *rows = malloc(count * sizeof *rows);
    broad_data *part = NULL;
    for (size_t i = 0; i < count; i++) rows[i] = first + i;
    assert_ok(broad__table_rows(&part, data, rows, count));
    free(rows);
    return part;
}

static void drop_groups(broad_data *data)
{
    broad__free(data->groups);
    broad__free(data->group_name);
    data->groups = NULL;
    data->group_name = NULL;
}

/* Rows learned later, then more nodes: in one go, and taken up again with all rows in one table. */
static void taken_up_again(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) { /* groups in both tables, in the first, in the second */
        broad_data *all = copied(COPIES, 1), *old = part_of(all, 0, 200), *new = part_of(all, 200, 150), *both = NULL;
        if (which == 1) drop_groups(new);
        if (which == 2) drop_groups(old);
        broad_options o = OPTIONS("preset", "paper", "kind", "bls", "features", "2x5", "enhance", "20x1", "lambda",
                                  "auto", "loo", "yes");
        broad_trainer *one = NULL, *two = NULL;
        broad_model *model = NULL, *again = NULL, *grown = NULL;
        assert_ok(broad__trainer_open(&one, old, &o));
        assert_ok(broad__trainer_enhance(one, 20, 1));
        assert_ok(broad__trainer_learn(one, new, NULL, 0, 0, 0));
        assert_ok(broad__model_copy(&model, one->model));
        assert_ok(broad__trainer_enhance(one, 10, 1));
        assert_ok(broad__table_append(&both, old, new));
        assert_ok(broad__trainer_resume(&two, model, both, &o, 0));
        assert_ok(broad__trainer_enhance(two, 10, 1));
        assert_true(one->joint.set_count > 0);
        assert_int_equal(one->joint.set_count, two->joint.set_count);
        assert_memory_equal(one->joint.sets, two->joint.sets, (one->joint.set_count + 1) * sizeof(size_t));
        assert_memory_equal(one->joint.sample, two->joint.sample, one->joint.sample_count * sizeof(size_t));
        assert_true(relative_difference(one->joint.lambda, two->joint.lambda, 0) < 1e-12);
        broad__trainer_close(&again, one);
        broad__trainer_close(&grown, two);
        assert_true(again->estimate.accuracy == grown->estimate.accuracy);
        /* The factor was brought up to date in one, made at once in the other. */
        assert_true(relative_distance(again->estimate.calibration, grown->estimate.calibration, 3) < 1e-9);
        broad_verdict verdict = {.size = sizeof verdict};
        assert_ok(broad_verify(&verdict, grown, both, THREADS(1)));
        assert_true(verdict.holds);
        broad_model_free(model), broad_model_free(again), broad_model_free(grown);
        broad_data_free(all), broad_data_free(old), broad_data_free(new), broad_data_free(both);
    }
}

/* The same numbers for any number of threads, in both forms. */
static void any_number_of_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        broad_data *data = copied(COPIES, 1);
        void *first = NULL, *bytes = NULL;
        size_t first_count = 0, count = 0;
        for (size_t threads = 1; threads <= 4; threads *= 2) {
            broad_options o =
                OPTIONS("preset", "auto", "features", i ? "10x60" : "2x30", "enhance", "20x1", "effort", "fast");
            broad_model *model = NULL;
            o.threads = threads;
            assert_ok(broad_fit(&model, NULL, data, &o));
            assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
            if (first) {
                assert_int_equal(count, first_count);
                assert_memory_equal(bytes, first, count);
                broad_free(bytes);
            } else {
                first = bytes, first_count = count;
            }
            broad_model_free(model);
        }
        broad_free(first);
        broad_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joint_scores),          cmocka_unit_test(large_groups),
        cmocka_unit_test(spectral_scores),       cmocka_unit_test(stepwise_scores),
        cmocka_unit_test(the_best_lambda),       cmocka_unit_test(a_sample_of_many_rows),
        cmocka_unit_test(one_group_or_none),     cmocka_unit_test(copies_of_rows),
        cmocka_unit_test(copies_and_the_pilot),  cmocka_unit_test(taken_up_again),
        cmocka_unit_test(any_number_of_threads),
    };
    return cmocka_run_group_tests_name("leave_group", tests, NULL, NULL);
}
