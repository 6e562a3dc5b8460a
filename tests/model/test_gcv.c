/*
 * Chains that are supervised by their score: degrees of freedom against the residual operator itself, written down row by row
 * in long double; lambda against every other of the grid; identities of growing; and what verification finds.
 */
#include "failing.h"
#include "plain.h"
#include "small_runs.h"

#include "data/table.h"
#include "model/model.h"

/* ---- tables ---------------------------------------------------------------------------------------------------- */

typedef struct table {
    broad_arrays arrays;
    char (*names)[12]; /* of groups */
    const char **groups;
    size_t *group; /* its number; NULL: none */
    broad_data *data;
} table;

/* mates > 0: so many groups; zeroed: of every seventh row the weight is 0. */
static table make_table(size_t rows, size_t inputs, size_t classes, int weighted, size_t mates, int zeroed,
                        uint64_t seed)
{
    problem_random r = {seed};
    table t = {0};
    plain_arrays(&t.arrays, &r, rows, inputs, 1, classes, weighted || zeroed);
    double *values = (double *)(uintptr_t)t.arrays.values;
    const double *x = t.arrays.x;
    for (size_t i = 0; values && i < rows; i++, x += inputs)
        values[i] = sin(2 * x[0]) + 0.5 * x[inputs - 1] + 0.1 * problem_normal(&r);
    if (mates) {
        t.names = malloc(rows * sizeof *t.names);
        t.groups = malloc(rows * sizeof *t.groups);
        t.group = malloc(rows * sizeof *t.group);
    }
    for (size_t i = 0; mates && i < rows; i++) {
        t.group[i] = (size_t)(problem_uniform(&r) * (double)mates);
        snprintf(t.names[i], sizeof t.names[i], "g%zu", t.group[i]);
        t.groups[i] = t.names[i];
    }
    t.arrays.groups = t.groups;
    t.data = plain_data(&t.arrays);
    for (size_t i = 3; zeroed && i < rows; i += 7) t.data->weights[i] = 0;
    return t;
}

static void free_table(table *t)
{
    plain_arrays_free(&t->arrays);
    free(t->names), free(t->groups), free(t->group);
    broad_data_free(t->data);
}

static broad_model *fit(const broad_data *data, const broad_options *o)
{
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, o));
    return model;
}

static void assert_verified(const broad_model *model, const broad_data *data)
{
    broad_verdict verdict = {.size = sizeof verdict};
    assert_ok(broad_verify(&verdict, model, data, THREADS(2)));
    if (!verdict.holds) fail_msg("the certificate does not hold: %s", verdict.reason);
    assert_int_equal(verdict.layers, broad_model_layers(model));
}

static broad_options options_of(size_t nodes, size_t layers)
{
    broad_options o = OPTIONS("kind", "bscrls", "preset", "paper", "supervise", "gcv", "range-steps", "1", "tries", "5",
                              "relax-count", "3");
    o.scale_target = BROAD_SCALE_NONE;
    o.feature_groups = 2, o.feature_nodes = 3;
    o.gamma[0] = 1e-4; /* nearly all layers that lower the score at all */
    o.enhance_nodes = nodes, o.enhance_layers = layers;
    return o;
}

/* ---- the operator itself ----------------------------------------------------------------------------------------- */

/* R of the layers so far and E = R Y, by rows that count: both n x n and n x c. */
typedef struct chain_operator {
    const table *t;
    const broad_model *model;
    size_t n, c, *row; /* rows that count */
    double *root, *k;  /* k: n x width of one layer */
    double *r, *e, norm;
} chain_operator;

static chain_operator *operator_open(const table *t, const broad_model *model)
{
    chain_operator *o = calloc(1, sizeof *o);
    size_t rows = t->arrays.rows;
    double *y = plain_targets(&t->arrays, model->outputs);
    *o = (chain_operator){.t = t, .model = model, .c = model->outputs};
    o->row = malloc(rows * sizeof *o->row), o->root = malloc(rows * sizeof *o->root);
    for (size_t i = 0; i < rows; i++) {
        double weight = t->data->weights ? t->data->weights[i] : 1;
        if (weight > 0) o->root[o->n] = sqrt(weight), o->row[o->n++] = i;
    }
    o->r = calloc(o->n * o->n, sizeof *o->r), o->e = malloc(o->n * o->c * sizeof *o->e);
    for (size_t i = 0; i < o->n; i++) {
        o->r[i * o->n + i] = 1;
        for (size_t j = 0; j < o->c; j++) o->e[i * o->c + j] = o->root[i] * y[o->row[i] * o->c + j];
    }
    free(y);
    return o;
}

static void operator_close(chain_operator *o)
{
    free(o->row), free(o->root), free(o->k), free(o->r), free(o->e);
    free(o);
}

/* K of layer j: the plain columns of all layers, of which it has those from `at` on. */
static void operator_layer(chain_operator *o, const double *a, size_t columns, size_t at, size_t width)
{
    free(o->k);
    o->k = malloc(o->n * width * sizeof *o->k);
    for (size_t i = 0; i < o->n; i++)
        for (size_t j = 0; j < width; j++) o->k[i * width + j] = o->root[i] * a[o->row[i] * columns + at + j];
}

/* out = the c columns of b less their ridge regression on K; returns the norm. */
static double leave(double *out, const chain_operator *o, size_t width, const double *b, size_t c, double lambda)
{
    double *w = malloc(width * c * sizeof *w);
    plain_ridge(w, o->k, b, o->n, width, c, lambda);
    double norm = plain_residual(out, o->k, w, b, o->n, width, c);
    free(w);
    return norm;
}

/* Degrees of freedom of R; rows of a group count together, and each by its weight. */
static double degrees(const chain_operator *o, const double *r)
{
    const size_t *group = o->t->group;
    double trace = 0, weight = 0;
    for (size_t i = 0; i < o->n; i++) {
        weight += o->root[i] * o->root[i];
        for (size_t k = 0; k < o->n; k++)
            if (i == k || (group && group[o->row[i]] == group[o->row[k]]))
                trace += o->root[i] * r[i * o->n + k] * o->root[k];
    }
    return (double)o->n * (1 - trace / weight);
}

static double score_of(const chain_operator *o, double norm, double df, double penalty)
{
    double left = 1 - penalty * df / (double)o->n;
    return left >= 0.1 ? norm / left : INFINITY;
}

/* Units that the rows are made of. */
static size_t units_of(const chain_operator *o)
{
    size_t count = 0;
    for (size_t i = 0; i < o->n; i++) {
        size_t k = 0;
        while (k < i && !(o->t->group && o->t->group[o->row[k]] == o->t->group[o->row[i]])) k++;
        count += k == i;
    }
    return count;
}

/* Of the grid, by the definition: no lambda has a lower score than the one on record. */
static void assert_best_lambda(const chain_operator *o, const broad__certificate *c, size_t width, double score)
{
    double *r = malloc(o->n * o->n * sizeof *r), *e = malloc(o->n * o->c * sizeof *e), unit = 0, nearest = INFINITY;
    for (size_t i = 0; i < o->n * width; i++) unit += o->k[i] * o->k[i];
    unit /= (double)(c->rows < width ? c->rows : width);
    for (int i = 0; i < 29; i++) {
        double lambda = unit * pow(10, -11 + 0.5 * i);
        nearest = fmin(nearest, fabs(log10(lambda / c->lambda)));
        leave(r, o, width, o->r, o->n, lambda);
        double norm = leave(e, o, width, o->e, o->c, lambda), other = score_of(o, norm, degrees(o, r), c->penalty);
        if (!(score <= other * (1 + 1e-7)))
            fail_msg("lambda %.6g has score %.12g, and %.6g has %.12g", c->lambda, score, lambda, other);
    }
    assert_true(nearest < 1e-9);
    free(r), free(e);
}

typedef struct tally {
    size_t chains, layers, exact, lambdas;
    double worst, worst_signs;
    double doubt; /* of the layers so far of one chain */
} tally;

/* All layers of a chain against the operator. */
static void check_chain(tally *sum, const table *t, const broad_model *model, int lambdas)
{
    chain_operator *o = operator_open(t, model);
    size_t columns = 0, at = 0, units = units_of(o), signs = (80000 + units - 1) / units;
    double *a = plain_columns(&columns, model, t->arrays.x, t->arrays.rows);
    double *r = malloc(o->n * o->n * sizeof *r), *e = malloc(o->n * o->c * sizeof *e);
    sum->doubt = 0;
    for (size_t j = 0; j < model->layer_count; at += model->layers[j++].width) {
        const broad__certificate *c = &model->layers[j].certificate;
        size_t width = model->layers[j].width;
        operator_layer(o, a, columns, at, width);
        double before = degrees(o, o->r);
        leave(r, o, width, o->r, o->n, c->lambda);
        double norm = leave(e, o, width, o->e, o->c, c->lambda), df = degrees(o, r);
        double off = fabs(c->df - df) / fmax(df, 1), size = 0;
        for (size_t i = 0; i < o->n * width; i++) size += o->k[i] * o->k[i];
        double doubt = 1e-8 + 2e-15 * size / c->lambda; /* of the sums, where lambda is small beside them */
        assert_true(relative_difference(norm, c->norm_after, 0) < 1e-8);
        if (signs >= units) {
            if (!(off <= sum->doubt + doubt && fabs(c->df_before - before) <= (sum->doubt + 1e-8) * fmax(before, 1)))
                fail_msg("%zu rows, layer %zu: df %.12g and %.12g, exactly %.12g and %.12g", o->n, j + 1, c->df_before,
                         c->df, before, df);
            assert_true(relative_difference(c->score, score_of(o, norm, df, c->penalty), 0) <
                        1e-7 + 10 * (sum->doubt + doubt));
            sum->doubt += doubt;
            if (lambdas) assert_best_lambda(o, c, width, score_of(o, norm, df, c->penalty)), sum->lambdas++;
            sum->worst = fmax(sum->worst, off);
            sum->exact++;
        } else {
            double errors = fabs(c->df - df) / sqrt(2 * df / (double)signs);
            sum->worst_signs = fmax(sum->worst_signs, errors);
            if (!(errors <= 3)) fail_msg("%zu rows: df %.6g, exactly %.6g: %.2f errors", o->n, c->df, df, errors);
        }
        memcpy(o->r, r, o->n * o->n * sizeof *r), memcpy(o->e, e, o->n * o->c * sizeof *e);
        sum->layers++;
    }
    sum->chains++;
    free(a), free(r), free(e);
    operator_close(o);
}

static void df_is_the_trace(void **state)
{
    (void)state;
    tally sum = {0};
    problem_random r = {11};
    const size_t chains = HELPER_SANITIZED ? 40 : 200;
    for (size_t i = 0; i < chains; i++) {
        size_t rows = i % 10 == 9 ? 283 + i % 18 : problem_size(&r, 6, 250);
        size_t mates = i % 3 == 1 ? 2 + rows / 3 : 0, few = problem_size(&r, 2, 16);
        table t = make_table(rows, 1 + i % 4, i % 2 ? 0 : 2, i % 5 == 2, mates, i % 4 == 3, 100 + i);
        broad_options o = options_of(few, 1 + i % 3);
        o.seed = i;
        o.penalty = i % 2 ? 1 : 1.4;
        if (i % 6 == 5) o.lambda_auto = 0, o.lambda = pow(10, -3 * problem_uniform(&r));
        broad_model *model = fit(t.data, &o);
        check_chain(&sum, &t, model, o.lambda_auto && rows < 60);
        assert_verified(model, t.data);
        broad_model_free(model);
        free_table(&t);
    }
    print_message("%zu chains of %zu layers: %zu exact to %.1e, signs within %.2f standard errors; lambda of %zu\n",
                  sum.chains, sum.layers, sum.exact, sum.worst, sum.worst_signs, sum.lambdas);
    assert_true(sum.worst_signs > 0 && sum.exact * 2 > sum.layers && sum.lambdas > 10);
}

/* Rows of weight 0 at the end change nothing: not the columns of the probes, not df, not the score. */
static void rows_of_weight_zero_are_not_there(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{40, 60}, {200, 150}, {400, 300}, {20, 5}};
    for (size_t s = 0; s < 4; s++) {
        size_t rows = sizes[s][0], more = sizes[s][1];
        table all = make_table(rows + more, 3, 0, 1, s % 2 ? (rows + more) / 2 : 0, 0, 5 + s), some = all;
        some.arrays.rows = rows;
        some.data = plain_data(&some.arrays);
        for (size_t i = rows; i < rows + more; i++) all.data->weights[i] = 0;
        broad_options o = options_of(10, 3);
        o.scale = BROAD_SCALE_NONE;
        broad_model *a = fit(some.data, &o), *b = fit(all.data, &o);
        assert_int_equal(a->layer_count, b->layer_count);
        assert_true(a->layer_count > 0);
        for (size_t j = 0; j < a->layer_count; j++) {
            const broad__certificate *one = &a->layers[j].certificate, *other = &b->layers[j].certificate;
            assert_int_equal(one->draw, other->draw);
            assert_true(relative_difference(one->df, other->df, 1) < 1e-8);
            assert_true(relative_difference(one->score, other->score, 0) < 1e-8);
        }
        assert_verified(b, all.data);
        broad_model_free(a), broad_model_free(b);
        broad_data_free(some.data);
        free_table(&all);
    }
}

/* ---- same bytes -------------------------------------------------------------------------------------------------- */

static void same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    static const size_t sizes[] = {100, 1000, 9000};
    for (size_t s = 0; s < 3; s++) {
        broad_data *data = small_data(0, sizes[s], 3, s == 1 ? 2 : 0);
        model_bytes kept = {0};
        for (size_t threads = 1; threads <= 3; threads++) {
            broad_options o = options_of(8, 3);
            o.threads = threads;
            broad_model *model = fit(data, &o);
            model_bytes b = model_bytes_of(model);
            if (threads == 1) kept = b, assert_verified(model, data);
            else assert_true(small_same(&kept, &b)), broad_free(b.at);
            broad_model_free(model);
        }
        broad_free(kept.at);
        broad_data_free(data);
    }
}

/* What is grown, and with which rows: as many at first, then as many more in turn. */
typedef struct growth {
    size_t rows[3], mates;
    int weighted, forgetful; /* forgetful: the last rows are learned alone */
    size_t nodes;            /* of the first layers; many: E and U wait for the next pass */
} growth;

static broad_data *rows_of(const growth *g, size_t part)
{
    table t = make_table(g->rows[part], 3, 0, g->weighted, g->mates, 0, 40 + part);
    broad_data *data = t.data;
    for (size_t i = 0; part && i < data->rows; i++) data->values[i] += data->x[3 * i + 1]; /* something new */
    t.data = NULL;
    free_table(&t);
    return data;
}

/* stop: through a file after each step. until: without this, no layer is deferred. */
static broad_model *grow(const growth *g, const broad_data *const *all, broad_data *const *parts, int stop,
                         double until)
{
    broad_options o = options_of(g->nodes, 2);
    broad_trainer *t = NULL;
    broad_model *model = NULL;
    o.until = until;
    assert_ok(broad_trainer_open(&t, parts[0], &o));
    assert_ok(broad_trainer_enhance(t, g->nodes, 2));
    if (stop) t = small_pass_on(t, all[0], &o);
    assert_ok(broad_trainer_features(t, 1, 3, 5));
    for (size_t part = 1; part < 3 && g->rows[part]; part++) {
        int forgetful = g->forgetful && (part == 2 || !g->rows[2]);
        if (stop) t = small_pass_on(t, all[part - 1], &o);
        assert_ok(broad_trainer_learn(t, parts[part], g->nodes, 2, forgetful));
        if (forgetful) break;
        if (stop) t = small_pass_on(t, all[part], &o);
        assert_ok(broad_trainer_enhance(t, 4, 1));
    }
    broad_trainer_close(&model, t);
    return model;
}

static void resumed_equals_never_stopped(void **state)
{
    (void)state;
    static const growth stories[] = {
        {{120, 90, 0}, 0, 0, 0, 6},     {{200, 150, 100}, 0, 0, 0, 70}, {{500, 80, 0}, 0, 0, 0, 70},
        {{300, 200, 100}, 60, 1, 0, 6}, {{100, 250, 40}, 25, 0, 0, 6},  {{150, 100, 60}, 0, 1, 1, 6},
        {{400, 300, 290}, 0, 0, 1, 6},  {{40, 20, 0}, 15, 0, 0, 6},     {{800, 500, 0}, 600, 0, 0, 6},
    };
    size_t forgetful = 0;
    for (size_t s = 0; s < sizeof stories / sizeof stories[0]; s++) {
        const growth *g = &stories[s];
        broad_data *parts[3] = {0}, *two = NULL, *three = NULL;
        for (size_t i = 0; i < 3 && g->rows[i]; i++) parts[i] = rows_of(g, i);
        assert_ok(broad_data_append(&two, parts[0], parts[1]));
        if (parts[2]) assert_ok(broad_data_append(&three, two, parts[2]));
        const broad_data *all[] = {parts[0], two, three};
        model_bytes kept = {0};
        for (int way = 0; way < 3; way++) {
            broad_model *model = grow(g, all, parts, way == 1, way == 2 ? 1e-30 : 0);
            forgetful += model->layers[model->layer_count - 1].certificate.first_row > 0;
            assert_verified(model, three ? three : two);
            model_bytes b = model_bytes_of(model);
            if (!way) kept = b;
            else if (way == 1 && !small_same(&kept, &b)) fail_msg("growth %zu: other bytes after a file", s);
            if (way) broad_free(b.at);
            broad_model_free(model);
        }
        broad_free(kept.at);
        broad_data_free(two), broad_data_free(three);
        for (size_t i = 0; i < 3; i++) broad_data_free(parts[i]);
    }
    assert_true(forgetful > 2);
}

static void grown_equals_made_at_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {250, 700};
    for (size_t s = 0; s < 2; s++) {
        broad_data *data = small_data(0, sizes[s], 2, 0);
        broad_options o = options_of(6, 9);
        o.penalty = 1, o.gamma[0] = 1e-6;
        broad_model *whole = fit(data, &o), *grown = NULL;
        broad_trainer *t = NULL;
        assert_ok(broad_trainer_open(&t, data, &o));
        assert_ok(broad_trainer_enhance(t, 6, 2));
        for (int i = 0; i < 7; i++) {
            t = small_pass_on(t, data, &o);
            assert_ok(broad_trainer_enhance(t, 6, 1));
        }
        broad_trainer_close(&grown, t);
        model_bytes a = model_bytes_of(whole), b = model_bytes_of(grown);
        assert_true(small_same(&a, &b));
        assert_true(broad_model_layers(whole) > 4);
        broad_free(a.at), broad_free(b.at);
        broad_model_free(whole), broad_model_free(grown);
        broad_data_free(data);
    }
}

/* More rows than one block of each shard, and no layer that waits for the next pass. */
static void many_rows(void **state)
{
    (void)state;
    broad_data *data = small_data(0, 30000, 2, 0);
    broad_options o = options_of(6, 3);
    o.until = 1e-30;
    o.threads = 2;
    broad_model *whole = fit(data, &o), *grown = NULL;
    broad_trainer *t = NULL;
    assert_ok(broad_trainer_open(&t, data, &o));
    assert_ok(broad_trainer_enhance(t, 6, 1));
    for (int i = 0; i < 2; i++) {
        t = small_pass_on(t, data, &o);
        assert_ok(broad_trainer_enhance(t, 6, 1));
    }
    broad_trainer_close(&grown, t);
    model_bytes a = model_bytes_of(whole), b = model_bytes_of(grown);
    assert_true(small_same(&a, &b));
    assert_int_equal(broad_model_layers(whole), 3);
    assert_verified(whole, data);
    broad_free(a.at), broad_free(b.at);
    broad_model_free(whole), broad_model_free(grown);
    broad_data_free(data);
}

/* Rows learned with weights come in several parts, of which none shares a group with another. */
static void weighted_rows(void **state)
{
    (void)state;
    for (size_t mates = 0; mates <= 40; mates += 40) {
        table old = make_table(200, 3, 0, 0, mates, 0, 1), more = make_table(160, 3, 0, 0, mates, 0, 2);
        broad_data *all = NULL;
        double weights[160];
        for (size_t i = 0; i < 160; i++) weights[i] = i < 50 ? 2 : i < 120 ? 0.5 : 3;
        assert_ok(broad_data_append(&all, old.data, more.data));
        broad_options o = options_of(6, 2);
        broad_trainer *t = NULL;
        broad_model *models[2] = {0};
        for (int stop = 0; stop < 2; stop++) {
            assert_ok(broad_trainer_open(&t, old.data, &o));
            assert_ok(broad_trainer_enhance(t, 6, 2));
            assert_ok(broad_trainer_learn_weighted(t, more.data, weights, 8, 2, 0));
            if (stop) t = small_pass_on(t, all, &o);
            assert_ok(broad_trainer_enhance(t, 4, 1));
            broad_trainer_close(&models[stop], t);
            assert_verified(models[stop], all);
        }
        model_bytes a = model_bytes_of(models[0]), b = model_bytes_of(models[1]);
        assert_true(small_same(&a, &b));
        assert_int_equal(models[0]->segment_count, 4);
        broad_free(a.at), broad_free(b.at);
        broad_model_free(models[0]), broad_model_free(models[1]);
        broad_data_free(all);
        free_table(&old), free_table(&more);
    }
}

/* After rows that were learned alone, all of them again: what the layers on the new rows did is not counted. */
static void all_rows_after_some(void **state)
{
    (void)state;
    table old = make_table(200, 3, 0, 0, 0, 0, 1), more = make_table(150, 3, 0, 0, 0, 0, 2);
    broad_data *all = NULL;
    assert_ok(broad_data_append(&all, old.data, more.data));
    broad_options o = options_of(6, 2);
    broad_trainer *t = NULL;
    broad_model *model = NULL;
    o.penalty = 1;
    assert_ok(broad_trainer_open(&t, old.data, &o));
    assert_ok(broad_trainer_enhance(t, 6, 2));
    assert_ok(broad_trainer_learn(t, more.data, 8, 1, 1));
    t = small_pass_on(t, all, &o);
    assert_ok(broad_trainer_enhance(t, 12, 2));
    broad_trainer_close(&model, t);
    size_t last = model->layer_count - 1;
    assert_int_equal(model->layers[last].certificate.rows, 350);
    assert_true(model->layers[last - 1].certificate.first_row == 200 ||
                model->layers[last - 1].certificate.rows == 350);
    assert_verified(model, all);
    broad_model_free(model);
    broad_data_free(all);
    free_table(&old), free_table(&more);
}

/* Layers that sums have solved again were not tested by a score; those that come after them are. */
static void after_sums(void **state)
{
    (void)state;
    broad_data *old = small_data(0, 250, 2, 0), *more = small_data(250, 100, 2, 0), *all = NULL;
    assert_ok(broad_data_append(&all, old, more));
    broad_options o = options_of(8, 2);
    broad_model *model = fit(old, &o), *grown = NULL;
    broad_stats *stats = NULL;
    broad_trainer *t = NULL;
    assert_ok(broad_stats_new(&stats, model, old, THREADS(1)));
    assert_ok(broad_stats_learn(stats, model, more, THREADS(1)));
    for (size_t j = 0; j < model->layer_count; j++) {
        broad__certificate *c = &model->layers[j].certificate;
        assert_true(c->test == BROAD_SUPERVISE_RESIDUAL && c->df == 0 && c->score == 0 && c->penalty == 0);
    }
    assert_verified(model, all);
    assert_ok(broad_trainer_resume(&t, model, all, &o, 0));
    assert_ok(broad_trainer_enhance(t, 10, 2));
    broad_trainer_close(&grown, t);
    assert_true(grown->layer_count > model->layer_count);
    assert_true(grown->layers[grown->layer_count - 1].certificate.df_before > 8);
    assert_verified(grown, all);
    broad_stats_free(stats);
    broad_model_free(model), broad_model_free(grown);
    broad_data_free(old), broad_data_free(more), broad_data_free(all);
}

/* Layers whose weights are right as the sums have them, and others, in turn: a record is about its own layer. */
static void some_layers_wait(void **state)
{
    (void)state;
    table t = make_table(500, 4, 0, 0, 0, 0, 1);
    for (int exponent = -10; exponent <= -7; exponent++) {
        broad_options o = options_of(40, 8);
        o.feature_nodes = 10;
        o.lambda_auto = 0, o.lambda = pow(10, exponent);
        o.penalty = 1, o.gamma[0] = 1e-6;
        broad_model *model = fit(t.data, &o);
        assert_true(model->layer_count > 2);
        assert_verified(model, t.data);
        broad_model_free(model);
    }
    free_table(&t);
}

/* ---- growth that ends -------------------------------------------------------------------------------------------- */

/* Targets that are noise: no layer lowers the score, and a chain without layers, or with few, is what comes out. */
static void noise_is_not_learned(void **state)
{
    (void)state;
    size_t layers = 0, redrawn = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        table t = make_table(120, 3, 0, 0, 0, 0, seed);
        problem_random r = {900 + seed};
        for (size_t i = 0; i < t.data->rows; i++) t.data->values[i] = problem_normal(&r);
        broad_options o = options_of(30, 10);
        o.seed = seed;
        assert_ok(broad_options_set(&o, "range-steps", "1,0.1,3"));
        o.tries = 2, o.relax_count = 0;
        broad_model *model = fit(t.data, &o);
        if (broad_model_layers(model) < 2) o.enhance_layers = 2; /* fewer that are not reached */
        broad_model *again = fit(t.data, &o);
        model_bytes a = model_bytes_of(model), b = model_bytes_of(again);
        assert_true(small_same(&a, &b));
        assert_int_equal(broad_model_outcome(model), BROAD_OUTCOME_STALLED);
        if (model->layer_count) assert_verified(model, t.data);
        for (size_t j = 0; j < model->layer_count; j++)
            assert_true(model->layers[j].certificate.df < 0.5 * (double)t.data->rows);
        layers += model->layer_count;
        redrawn += model->group_count && model->groups[0].step > 0;
        broad_free(a.at), broad_free(b.at);
        broad_model_free(model), broad_model_free(again);
        free_table(&t);
    }
    print_message("%zu layers of 80 on noise; features drawn again %zu times\n", layers, redrawn);
    assert_true(layers < 24 && redrawn > 0);
}

static int stop_after(const broad_progress *progress, void *context)
{
    const size_t *layers = context;
    return strcmp(progress->stage, "layers") == 0 && progress->done >= *layers;
}

static void stopped_runs_are_certified(void **state)
{
    (void)state;
    broad_data *data = small_data(0, 700, 2, 0);
    for (size_t layers = 1; layers < 11; layers += 3) {
        broad_options o = options_of(6, 20);
        o.penalty = 1, o.gamma[0] = 1e-6;
        o.progress = stop_after;
        o.progress_context = &layers;
        broad_model *model = fit(data, &o);
        assert_int_equal(broad_model_outcome(model), BROAD_OUTCOME_STOPPED);
        assert_true(broad_model_layers(model) >= layers && broad_model_layers(model) < 20);
        assert_verified(model, data);
        broad_model_free(model);
    }
    broad_data_free(data);
}

/* As many degrees of freedom as rows leave nothing to judge by, however small the residual: no such layer is kept. */
static void interpolation_is_refused(void **state)
{
    (void)state;
    for (size_t rows = 8; rows <= 32; rows *= 2) {
        table t = make_table(rows, 2, 0, 0, 0, 0, rows);
        broad_options o = options_of(100, 4);
        o.activation = BROAD_ACTIVATION_SINE;
        o.lambda_auto = 0, o.lambda = 1e-13;
        o.range = 30;
        broad_model *model = fit(t.data, &o);
        assert_int_equal(model->layer_count, 0);
        assert_int_equal(broad_model_outcome(model), BROAD_OUTCOME_STALLED);
        broad_model_free(model);
        free_table(&t);
    }
}

/* ---- the certificate --------------------------------------------------------------------------------------------- */

static void assert_rejected(const broad_model *model, const broad_data *data, const char *reason)
{
    broad_verdict verdict = {.size = sizeof verdict};
    assert_ok(broad_verify(&verdict, model, data, THREADS(1)));
    if (verdict.holds) fail_msg("the certificate still holds (%s)", reason);
    if (!strstr(verdict.reason, reason)) fail_msg("'%s' instead of '%s'", verdict.reason, reason);
}

/* What follows from df and the norms, as a forger would have it. */
static void follow(broad__certificate *c, double rows)
{
    c->score = c->norm_after / (1 - c->penalty * c->df / rows);
    c->tested = c->score / (c->norm_before / (1 - c->penalty * c->df_before / rows));
}

static void forged_records_are_found(void **state)
{
    (void)state;
    static const size_t sizes[] = {25, 200, 900};
    for (size_t s = 0; s < 3; s++) {
        table t = make_table(sizes[s], 2, 0, 0, 0, 0, 6);
        broad_data *data = t.data;
        broad_options o = options_of(sizes[s] < 30 ? 30 : 8, 3);
        o.penalty = 1;
        o.lambda_auto = 0, o.lambda = 1e-3; /* so large that rounding hides no forgery */
        broad_model *model = fit(data, &o);
        assert_true(model->layer_count > (s > 0));
        assert_verified(model, data);
        for (size_t j = 0; j < model->layer_count; j++) {
            broad__certificate *c = &model->layers[j].certificate, kept = *c;
            double *fields[] = {&c->df, &c->score, &c->tested, &c->penalty};
            for (size_t i = 0; i < 4; i++) {
                *fields[i] *= 0.999;
                assert_rejected(model, data, i == 3 ? "penalty" : i == 2 ? "tested" : "score");
                *c = kept;
            }
            c->df_before = j ? c->df_before * 0.999 : 0.01;
            assert_rejected(model, data, "tested");
            follow(c, (double)sizes[s]);
            assert_rejected(model, data, "degrees of freedom before it");
            *c = kept, c->df *= 0.999, follow(c, (double)sizes[s]);
            assert_rejected(model, data, "degrees of freedom");
            *c = kept, c->lambda *= 1.01;
            assert_rejected(model, data, "lambda");
            *c = kept, c->probes++; /* and with them df_error */
            assert_rejected(model, data, "columns of signs");
            *c = kept;
        }
        model->settings.penalty = 1.2;
        assert_rejected(model, data, "penalty");
        broad_model_free(model);
        free_table(&t);
    }
}

static void forged_models_are_not_saved(void **state)
{
    (void)state;
    table t = make_table(100, 2, 0, 0, 0, 0, 8);
    broad_data *data = t.data;
    broad_options o = options_of(8, 2);
    broad_model *model = fit(data, &o);
    broad__certificate *c = &model->layers[0].certificate, kept = *c;
    for (int i = 0; i < 2; i++) {
        if (i == 0) c->penalty = 1;
        if (i == 1) c->test = BROAD_SUPERVISE_RESIDUAL;
        model_bytes b = {0};
        assert_fails(broad_model_to_memory(&b.at, &b.count, model, 0), BROAD_FAILED,
                     i == 0 ? "penalty" : "was not tested by one");
        *c = kept;
    }
    broad_model_free(model);
    free_table(&t);
}

/* Groups are part of what is certified: without them, or with others, degrees of freedom are others. */
static void groups_are_needed(void **state)
{
    (void)state;
    table t = make_table(150, 3, 0, 0, 40, 0, 3), other = make_table(150, 3, 0, 0, 30, 0, 3);
    broad_options o = options_of(10, 3);
    broad_model *model = fit(t.data, &o);
    broad_trainer *trainer = NULL;
    broad_verdict verdict = {.size = sizeof verdict};
    assert_verified(model, t.data);
    memcpy(other.data->x, t.data->x, 150 * 3 * sizeof(double));
    memcpy(other.data->values, t.data->values, 150 * sizeof(double));
    assert_rejected(model, other.data, "degrees of freedom");
    size_t *groups = other.data->groups;
    other.data->groups = NULL;
    assert_fails(broad_verify(&verdict, model, other.data, THREADS(1)), BROAD_BAD_DATA, "groups of rows");
    assert_fails(broad_trainer_resume(&trainer, model, other.data, &o, 0), BROAD_BAD_DATA, "groups of rows");
    other.data->groups = groups;
    broad_model_free(model);
    free_table(&t), free_table(&other);
}

/* Rows with equal inputs count as a group that is given would; where few rows differ, each counts by itself. */
static void equal_rows_are_one_unit(void **state)
{
    (void)state;
    enum { ROWS = 90 };
    for (size_t kinds = 20; kinds <= 60; kinds += 40) {
        double df[2];
        for (size_t given = 0; given < 2; given++) {
            table t = make_table(ROWS, 2, 0, 0, given ? ROWS : 0, 0, 3);
            double *x = t.data->x;
            for (size_t i = kinds; i < ROWS; i++) {
                memcpy(x + 2 * i, x + 2 * (i % kinds), 2 * sizeof *x);
                t.data->values[i] += t.data->values[i % kinds] - t.data->values[i] * 0.9;
            }
            for (size_t i = 0; given && i < ROWS; i++) t.data->groups[i] = i % kinds;
            broad_options o = options_of(8, 1);
            o.lambda_auto = 0, o.lambda = 0.1;
            broad_model *model = fit(t.data, &o);
            assert_true(model->layer_count || (given && kinds < 60));
            df[given] = model->layer_count ? model->layers[0].certificate.df : ROWS; /* groups of four leave nothing */
            assert_verified(model, t.data);
            broad_model_free(model);
            free_table(&t);
        }
        if (kinds == 60) assert_true(df[0] == df[1]);
        else assert_true(df[0] < 0.9 * df[1]);
    }
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Fit, learn rows that make signs of unit vectors, go on from there, verify. */
static int everything(const broad_data *data, const broad_data *more, const broad_data *all, const broad_options *o)
{
    broad_trainer *t = NULL;
    broad_model *model = NULL, *grown = NULL;
    broad_verdict verdict = {.size = sizeof verdict};
    int status = broad_fit(&model, NULL, data, o);
    if (status == BROAD_OK) status = broad_trainer_resume(&t, model, data, o, 0);
    if (status == BROAD_OK) status = broad_trainer_learn(t, more, 4, 1, 0);
    broad_trainer_close(status == BROAD_OK ? &grown : NULL, t);
    if (status == BROAD_OK) status = broad_verify(&verdict, grown, all, THREADS(1));
    if (status == BROAD_OK) assert_true(verdict.holds);
    broad_model_free(model), broad_model_free(grown);
    return status;
}

static void every_allocation_failed_in_turn(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        table t[2] = {make_table(wide ? 8 : 60, 2, 0, 0, wide ? 4 : 0, 0, 1),
                      make_table(wide ? 5 : 240, 2, 0, 0, wide ? 3 : 0, 0, 2)};
        broad_data *all = NULL;
        assert_ok(broad_data_append(&all, t[0].data, t[1].data));
        broad_options o = options_of(wide ? 20 : 4, 2);
        if (wide) assert_ok(broad_options_set(&o, "range-steps", "1,0.1"));
        failing self = {.lock = PTHREAD_MUTEX_INITIALIZER};
        broad_allocator allocator = {failing_allocate, failing_release, &self};
        broad_set_allocator(&allocator);
        assert_ok(everything(t[0].data, t[1].data, all, &o));
        size_t total = self.calls;
        assert_int_equal(self.live, 0);
        for (size_t n = 1; n <= total; n += total < 1000 ? 1 : 17) { /* races of ranges are long */
            self.calls = 0;
            self.fail_at = n;
            int status = everything(t[0].data, t[1].data, all, &o);
            if (status != BROAD_NO_MEMORY) fail_msg("allocation %zu of %zu failed: status %d", n, total, status);
            assert_int_equal(self.live, 0);
        }
        broad_set_allocator(NULL);
        print_message("%zu allocations, failed one by one\n", total);
        broad_data_free(all);
        free_table(&t[0]), free_table(&t[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(df_is_the_trace),
        cmocka_unit_test(rows_of_weight_zero_are_not_there),
        cmocka_unit_test(same_bytes_for_any_number_of_threads),
        cmocka_unit_test(resumed_equals_never_stopped),
        cmocka_unit_test(grown_equals_made_at_once),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(some_layers_wait),
        cmocka_unit_test(weighted_rows),
        cmocka_unit_test(all_rows_after_some),
        cmocka_unit_test(after_sums),
        cmocka_unit_test(noise_is_not_learned),
        cmocka_unit_test(equal_rows_are_one_unit),
        cmocka_unit_test(interpolation_is_refused),
        cmocka_unit_test(stopped_runs_are_certified),
        cmocka_unit_test(forged_records_are_found),
        cmocka_unit_test(forged_models_are_not_saved),
        cmocka_unit_test(groups_are_needed),
        cmocka_unit_test(every_allocation_failed_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
