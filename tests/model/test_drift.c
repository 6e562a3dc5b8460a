/*
 * Rows that arrive a few at a time for ever: after every increment the network is the one that all rows together would have
 * given. The sums are added to and every layer is solved again, thousands of times; at the end, and on the way, the weights
 * are compared with ridge regressions over all rows so far, in long double by plain loops. BROAD_INCREMENTS: how many, 5,000 to
 * a network.
 */
#include "plain.h"

#include "model/model.h"
#include "problem.h"

/* A model keeps a fingerprint of every increment, so that many of them take long: then another network begins. */
enum { INPUTS = 2, MOST_AT_ONCE = 3, LOOKS = 5, LIFE = 5000 };

typedef struct rows {
    double *x, *y;
    size_t count;
} rows;

static void add_row(rows *all, problem_random *r)
{
    double *x = all->x + INPUTS * all->count;
    for (size_t j = 0; j < INPUTS; j++) x[j] = problem_normal(r);
    all->y[all->count++] = sin(x[0] + 2 * x[1]) + 0.3 * problem_normal(r);
}

/* Nodes in plain loops: out has room for `nodes` numbers. */
static void nodes_of(double *out, const double *in, size_t inputs, const double *weight, const double *bias,
                     size_t nodes)
{
    for (size_t n = 0; n < nodes; n++) {
        double sum = bias[n];
        for (size_t i = 0; i < inputs; i++) sum += in[i] * weight[i * nodes + n];
        out[n] = tanh(sum);
    }
}

/* K of one layer over all rows, rows x width. */
static double *layer_of(const broad_model *model, size_t index, const rows *all)
{
    const broad__layer *layer = &model->layers[index];
    const broad__group *group = &model->groups[0];
    double *k = malloc(all->count * layer->width * sizeof *k);
    for (size_t i = 0; i < all->count; i++) {
        double scaled[INPUTS], z[16], *row = k + i * layer->width;
        for (size_t j = 0; j < INPUTS; j++)
            scaled[j] = (all->x[i * INPUTS + j] - model->input_shift[j]) * model->input_factor[j];
        nodes_of(z, scaled, INPUTS, group->weight, group->bias, group->nodes);
        size_t before = index ? 0 : group->nodes;
        memcpy(row, z, before * sizeof *z);
        nodes_of(row + before, z, group->nodes, layer->weight, layer->bias, layer->nodes);
    }
    return k;
}

/* The largest relative difference of a layer's weights from those of all rows. */
static double drift_of(const broad_model *model, const rows *all)
{
    double worst = 0, *e = malloc(all->count * sizeof *e);
    for (size_t i = 0; i < all->count; i++) e[i] = (all->y[i] - model->output_shift[0]) * model->output_factor[0];
    for (size_t j = 0; j < model->layer_count; j++) {
        const broad__layer *layer = &model->layers[j];
        double *k = layer_of(model, j, all), exact[16], apart = 0, size = 0;
        plain_ridge(exact, k, e, all->count, layer->width, 1, layer->certificate.lambda);
        for (size_t n = 0; n < layer->width; n++) {
            apart += (layer->output[n] - exact[n]) * (layer->output[n] - exact[n]);
            size += exact[n] * exact[n];
        }
        for (size_t i = 0; i < all->count; i++)
            for (size_t n = 0; n < layer->width; n++) e[i] -= k[i * layer->width + n] * exact[n];
        worst = fmax(worst, sqrt(apart / size));
        free(k);
    }
    free(e);
    return worst;
}

static broad_model *first_model(const rows *all)
{
    broad_options o;
    broad_model *model = NULL;
    broad_options_init(&o);
    assert_ok(broad_options_set(&o, "preset", "paper"));
    assert_ok(broad_options_set(&o, "kind", "brls"));
    assert_ok(broad_options_set(&o, "features", "1x3"));
    assert_ok(broad_options_set(&o, "enhance", "3x2"));
    assert_ok(broad_options_set(&o, "activation", "tanh"));
    assert_ok(broad_options_set(&o, "scale", "standard"));
    o.lambda = 1e-3;
    o.threads = 1;
    broad_data *data = data_of_values(all->x, all->y, all->count, INPUTS);
    assert_ok(broad_fit(&model, NULL, data, &o));
    broad_data_free(data);
    return model;
}

/* The worst drift of one network that learns so often. */
static double one_life(uint64_t seed, size_t increments, size_t *out_rows)
{
    size_t room = 50 + MOST_AT_ONCE * increments;
    rows all = {malloc(room * INPUTS * sizeof(double)), malloc(room * sizeof(double)), 0};
    problem_random r = {seed};
    double worst = 0;
    for (size_t i = 0; i < 50; i++) add_row(&all, &r);
    broad_model *model = first_model(&all);
    broad_stats *stats = NULL;
    broad_data *data = data_of_values(all.x, all.y, all.count, INPUTS);
    assert_ok(broad_stats_new(&stats, model, data, THREADS(1)));
    broad_data_free(data);
    for (size_t i = 0; i < increments; i++) {
        size_t first = all.count, some = 1 + (size_t)(problem_uniform(&r) * MOST_AT_ONCE);
        for (size_t k = 0; k < some; k++) add_row(&all, &r);
        data = data_of_values(all.x + INPUTS * first, all.y + first, some, INPUTS);
        assert_ok(broad_stats_learn(stats, model, data, THREADS(1)));
        broad_data_free(data);
        if ((i + 1) % (increments / LOOKS) == 0) worst = fmax(worst, drift_of(model, &all));
    }
    assert_int_equal(broad_stats_rows(stats), all.count);
    *out_rows += all.count;
    broad_stats_free(stats);
    broad_model_free(model);
    free(all.x);
    free(all.y);
    return worst;
}

static void increments_do_not_drift(void **state)
{
    (void)state;
    size_t increments = HELPER_SANITIZED ? 300 : 5000, done = 0, rows_seen = 0;
    double worst = 0;
    if (getenv("BROAD_INCREMENTS")) increments = strtoul(getenv("BROAD_INCREMENTS"), NULL, 10);
    for (; done < increments; done += LIFE) {
        size_t some = increments - done < LIFE ? increments - done : LIFE;
        worst = fmax(worst, one_life(11 + done, some, &rows_seen));
    }
    print_message("%zu increments, %zu rows: worst relative drift of the weights %.2g\n", increments, rows_seen, worst);
    assert_true(worst > 0 && worst <= 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(increments_do_not_drift)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
