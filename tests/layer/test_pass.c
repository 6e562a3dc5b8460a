/* The passes over the rows: one candidate or several at once, K stored or recomputed, E now or with the next pass: the same
 * bits. */
#include <stdlib.h>
#include <string.h>

#include "compute/pool.h"
#include "helper.h"
#include "layer/residual.h"
#include "layer/wide_sums.h"
#include "plain.h"
#include "problem.h"

enum { INPUTS = 13, OUTPUTS = 3, CANDIDATES = 3 };

typedef struct setting {
    size_t rows, nodes;
    double *z, *e, *root;
    double *weight[CANDIDATES], *bias[CANDIDATES], *w;
    broad__kblock kblocks[CANDIDATES];
} setting;

static void setting_open(setting *out, size_t rows, size_t nodes, int weighted, problem_random *r)
{
    *out = (setting){.rows = rows, .nodes = nodes};
    out->z = problem_normals(rows * INPUTS, r);
    out->e = problem_normals(rows * OUTPUTS, r);
    out->w = problem_normals((nodes + 2) * OUTPUTS, r);
    if (weighted) out->root = malloc(rows * sizeof(double));
    for (size_t i = 0; weighted && i < rows; i++) out->root[i] = 0.5 + problem_uniform(r);
    for (size_t i = 0; i < CANDIDATES; i++) {
        out->weight[i] = problem_normals(INPUTS * nodes, r);
        out->bias[i] = problem_normals(nodes, r);
        out->kblocks[i] = (broad__kblock){
            {INPUTS, nodes, out->weight[i], out->bias[i], BROAD_ACTIVATION_TANH, 0, NULL, NULL, {0}}, 3, 2};
    }
}

static void setting_close(setting *world)
{
    free(world->z), free(world->e), free(world->root), free(world->w);
    for (size_t i = 0; i < CANDIDATES; i++) free(world->weight[i]), free(world->bias[i]);
}

static void make_z(void *context, double *out, size_t first, size_t n, size_t worker)
{
    (void)worker;
    const setting *world = context;
    memcpy(out, world->z + first * INPUTS, n * INPUTS * sizeof(double));
}

typedef struct bench {
    broad__pool *pool;
    broad__residual residual;
} bench;

static void bench_open(bench *out, setting *world, size_t threads, int stored_k, int stored_z)
{
    assert_ok(broad__pool_open(&out->pool, threads));
    assert_ok(broad__residual_open(&out->residual, broad__device_cpu(), out->pool, OUTPUTS));
    assert_ok(broad__residual_append(&out->residual, world->e, world->rows));
    out->residual.candidate.recompute = !stored_k;
    out->residual.z.features = INPUTS;
    out->residual.sqrt_weight = world->root;
    if (stored_z) out->residual.z.stored = world->z;
    out->residual.z.make = make_z;
    out->residual.z.context = world;
}

static void bench_close(bench *s)
{
    broad__residual_close(&s->residual);
    broad__pool_close(s->pool);
}

/* K in plain C. */
static double *plain_k(const setting *world, size_t candidate)
{
    size_t p = world->nodes + 2;
    double *k = malloc(world->rows * p * sizeof(double));
    for (size_t i = 0; i < world->rows; i++) {
        const double *z = world->z + i * INPUTS;
        double root = world->root ? world->root[i] : 1;
        for (size_t j = 0; j < 2; j++) k[i * p + j] = z[3 + j] * root;
        for (size_t j = 0; j < world->nodes; j++) {
            double sum = world->bias[candidate][j];
            for (size_t a = 0; a < INPUTS; a++) sum += z[a] * world->weight[candidate][a * world->nodes + j];
            k[i * p + 2 + j] = tanh(sum) * root;
        }
    }
    return k;
}

/* The sums and the residual of a candidate after an update by another one, against plain loops. */
static void assert_plain(const setting *world, const bench *s)
{
    size_t p = world->nodes + 2, rows = world->rows;
    double *before = plain_k(world, 0), *k = plain_k(world, 1), *e = malloc(rows * OUTPUTS * sizeof(double)), worst = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < OUTPUTS; c++) {
            double value = world->e[i * OUTPUTS + c];
            for (size_t j = 0; j < p; j++) value -= before[i * p + j] * world->w[j * OUTPUTS + c];
            e[i * OUTPUTS + c] = value;
            worst = fmax(worst, fabs(value - s->residual.e[i * OUTPUTS + c]));
        }
    for (size_t a = 0; a < p; a++)
        for (size_t b = 0; b < p + OUTPUTS; b++) {
            double sum = 0;
            for (size_t i = 0; i < rows; i++) sum += k[i * p + a] * (b < p ? k[i * p + b] : e[i * OUTPUTS + b - p]);
            double found =
                b < p ? s->residual.candidate.matrix[a * p + b] : s->residual.candidate.cross[a * OUTPUTS + b - p];
            worst = fmax(worst, fabs(sum - found) / (double)rows);
        }
    assert_true(worst < 1e-11);
    free(before), free(k), free(e);
}

/* A candidate is kept, and the next one is looked at: every way to get there. */
static void pass_ways(size_t rows, size_t nodes, int weighted, problem_random *r)
{
    setting world;
    setting_open(&world, rows, nodes, weighted, r);
    size_t p = nodes + 2, sums = p * p + p * OUTPUTS;
    double *first = NULL;
    size_t steps = p > 512 ? 5 : 1; /* some of the ways, where each takes long */
    for (size_t way = 0; way < 48; way += steps) {
        size_t threads = 1 + way % 3;
        int stored_k = way / 3 % 2, stored_z = way / 6 % 2, now = way / 12 % 2, several = way / 24 % 2;
        if (several && p > 512) continue;
        bench s;
        bench_open(&s, &world, threads, stored_k, stored_z);
        assert_ok(broad__candidate_compute(&s.residual, &world.kblocks[0], 1));
        broad__residual_defer(&s.residual, &world.kblocks[0], world.w, 1);
        if (now) assert_ok(broad__residual_settle(&s.residual));
        if (several) {
            assert_ok(broad__candidate_trials(&s.residual, world.kblocks, CANDIDATES));
            broad__candidate_take(&s.residual, &world.kblocks[1], 1);
        } else {
            assert_ok(broad__candidate_compute(&s.residual, &world.kblocks[1], 1));
        }
        assert_false(s.residual.update.pending);
        assert_true(s.residual.norm == s.residual.update.norm);
        double *found = malloc((sums + rows * OUTPUTS + 2) * sizeof(double));
        memcpy(found, s.residual.candidate.matrix, p * p * sizeof(double));
        memcpy(found + p * p, s.residual.candidate.cross, p * OUTPUTS * sizeof(double));
        memcpy(found + sums, s.residual.e, rows * OUTPUTS * sizeof(double));
        found[sums + rows * OUTPUTS] = s.residual.norm;
        found[sums + rows * OUTPUTS + 1] = broad__residual_next(&s.residual, world.w);
        if (!first) {
            assert_plain(&world, &s);
            first = found;
        } else {
            assert_memory_equal(first, found, (sums + rows * OUTPUTS + 2) * sizeof(double));
            free(found);
        }
        bench_close(&s);
    }
    free(first);
    setting_close(&world);
}

static void every_way_gives_the_same_bits(void **state)
{
    (void)state;
    problem_random r = {5};
    pass_ways(40, 9, 0, &r);
    pass_ways(700, 31, 1, &r);
    pass_ways(1100, 6, 0, &r);
    pass_ways(2100, 515, 1, &r); /* wide: two panels, tiles */
    size_t least = broad__wide_least_rows;
    broad__wide_least_rows = 512;
    pass_ways(1300, 515, 1, &r); /* and in shards */
    broad__wide_least_rows = least;
}

/* Fewer rows than columns: K is kept, whatever is asked for, and the update waits no differently. */
static void dual_form(void **state)
{
    (void)state;
    problem_random r = {6};
    setting world;
    setting_open(&world, 20, 30, 0, &r);
    double e[2][20 * OUTPUTS];
    for (int keep = 0; keep < 2; keep++) {
        bench s;
        bench_open(&s, &world, 2, keep, 1);
        assert_ok(broad__candidate_compute(&s.residual, &world.kblocks[0], 1));
        assert_true(s.residual.candidate.dual && s.residual.candidate.stored);
        broad__residual_defer(&s.residual, &world.kblocks[0], world.w, 1);
        assert_ok(broad__candidate_compute(&s.residual, &world.kblocks[1], 1));
        memcpy(e[keep], s.residual.e, sizeof e[keep]);
        bench_close(&s);
    }
    assert_memory_equal(e[0], e[1], sizeof e[0]);
    setting_close(&world);
}

/* The next candidate has another width, whose K would lie where the last one still is. */
static void other_width(void **state)
{
    (void)state;
    problem_random r = {8};
    setting world;
    setting_open(&world, 900, 24, 0, &r);
    double norms[2];
    for (int now = 0; now < 2; now++) {
        bench s;
        bench_open(&s, &world, 3, 1, 1);
        broad__kblock narrow = world.kblocks[1];
        narrow.prefix = 0;
        assert_ok(broad__candidate_compute(&s.residual, &world.kblocks[0], 1));
        broad__residual_defer(&s.residual, &world.kblocks[0], world.w, 1);
        if (now) assert_ok(broad__residual_settle(&s.residual));
        assert_ok(broad__candidate_compute(&s.residual, &narrow, 1));
        norms[now] = s.residual.norm;
        bench_close(&s);
    }
    assert_true(norms[0] == norms[1]);
    setting_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_gives_the_same_bits),
        cmocka_unit_test(dual_form),
        cmocka_unit_test(other_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
