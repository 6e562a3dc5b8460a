/* Memory gives out at every single allocation of a model's life: a clear status, nothing lost, nothing leaked. */
#include "small_runs.h"

#include <jansson.h>
#include <stdatomic.h>

#include "base/file.h"

/* Allocations that are failed one after the other before only some are; fewer where each run takes longer. */
enum { FAILED_EACH = HELPER_SANITIZED ? 25 : 130 };

/* The `fail_at`-th allocation fails, and with `for_good` all after it; 0: none does. */
typedef struct memory {
    atomic_size_t calls, live;
    size_t fail_at;
    int for_good;
} memory;

static memory supply;

static void *supply_allocate(size_t bytes)
{
    size_t call = atomic_fetch_add(&supply.calls, 1) + 1;
    if (call == supply.fail_at || (supply.for_good && supply.fail_at && call > supply.fail_at)) return NULL;
    void *block = malloc(bytes);
    if (block) atomic_fetch_add(&supply.live, 1);
    return block;
}

static void supply_release(void *block)
{
    if (block) atomic_fetch_sub(&supply.live, 1);
    free(block);
}

static void *library_allocate(size_t bytes, void *context)
{
    (void)context;
    return supply_allocate(bytes);
}

static void library_release(void *block, void *context)
{
    (void)context;
    supply_release(block);
}

static void supply_start(size_t fail_at, int for_good)
{
    atomic_store(&supply.calls, 0);
    supply.fail_at = fail_at;
    supply.for_good = for_good;
}

/* What a life works on, made before memory gets short. */
typedef struct life {
    char folder[HELPER_PATH], table[HELPER_PATH], file[HELPER_PATH];
    broad_data *rows, *more;
    broad_options options;
    const small_kind *kind;
    int grows_features;
} life;

static void write_table(const char *path, int regress)
{
    FILE *file = fopen(path, "w");
    fputs("u,v,w,y\n", file);
    problem_random r = {3};
    for (int i = 0; i < 40; i++) {
        double u = problem_uniform(&r), v = problem_uniform(&r);
        fprintf(file, "%.4f,%.4f,%s,", u, v, i % 3 ? "x" : "z");
        if (regress) fprintf(file, "%.5f\n", u * v);
        else fputs(u > v ? "yes\n" : "no\n", file);
    }
    fclose(file);
}

static void life_open(life *out, const small_kind *kind)
{
    temporary_folder(out->folder);
    join_path(out->table, out->folder, "rows.csv");
    join_path(out->file, out->folder, "model.broad");
    write_table(out->table, kind->regress);
    out->kind = kind;
    out->rows = small_data(0, 40, 3, kind->regress ? 0 : 2);
    out->more = small_data(40, 12, 3, kind->regress ? 0 : 2);
    out->options = small_options(kind, 2);
    broad_kind k = out->options.kind;
    out->grows_features = k == BROAD_KIND_BSCRLS || k == BROAD_KIND_BRLS || k == BROAD_KIND_BLS;
}

static void life_close(life *l)
{
    broad_data_free(l->rows);
    broad_data_free(l->more);
    remove_folder(l->folder);
}

static int read_and_judge(const life *l, const broad_model *model)
{
    broad_data *data = NULL;
    broad_metrics metrics = {.size = sizeof metrics};
    broad_verdict verdict = {.size = sizeof verdict};
    broad_curve_point points[16] = {{.size = sizeof *points}};
    double scores[40 * 2];
    broad_read_options read;
    broad_read_options_init(&read);
    read.categorical = "auto";
    int status = broad_data_read(&data, l->table, &read);
    broad_data_free(data);
    if (status == BROAD_OK) status = broad_predict_data(scores, model, l->rows, THREADS(2));
    assert_true(broad_model_layers(model) <= sizeof points / sizeof points[0]);
    if (status == BROAD_OK) status = broad_model_curve_loo(points, model, l->rows, THREADS(2));
    if (status == BROAD_OK) status = broad_eval(&metrics, model, l->rows, THREADS(2));
    if (status == BROAD_OK) {
        broad_metrics_clear(&metrics);
        status = broad_verify(&verdict, model, l->rows, THREADS(2));
        if (status == BROAD_OK && !verdict.holds) fail_msg("%s: %s", l->kind->title, verdict.reason);
    }
    return status;
}

static int grow(const life *l, broad_trainer *t)
{
    int status = broad_trainer_enhance(t, 2, 1);
    if (status == BROAD_OK && l->grows_features) status = broad_trainer_features(t, 1, 2, 2);
    if (status == BROAD_OK) status = broad_trainer_learn(t, l->more, 2, 1, 0);
    return status;
}

/* Its certificate holds on the rows that it says it has. */
static void check_certificate(const life *l, const broad_model *model)
{
    broad_data *both = NULL;
    broad_verdict verdict = {.size = sizeof verdict};
    assert_ok(broad_data_append(&both, l->rows, l->more));
    assert_ok(
        broad_verify(&verdict, model, broad_model_rows(model) == broad_data_rows(both) ? both : l->rows, THREADS(1)));
    if (!verdict.holds) fail_msg("%s, %zu rows: %s", l->kind->title, broad_model_rows(model), verdict.reason);
    broad_data_free(both);
}

/* Whatever happened to it, the model of a trainer is whole: it holds, goes through its file and predicts finite numbers. */
static void check_whole(const life *l, const broad_trainer *t)
{
    double scores[40 * 2];
    broad_model *back = NULL;
    size_t fail_at = supply.fail_at;
    supply.fail_at = 0;
    model_bytes b = model_bytes_of(broad_trainer_model(t));
    assert_ok(broad_model_from_memory(&back, b.at, b.count));
    assert_ok(broad_predict_data(scores, back, l->rows, THREADS(1)));
    for (size_t i = 0; i < 40 * broad_model_outputs(back); i++) assert_true(isfinite(scores[i]));
    check_certificate(l, back);
    broad_model_free(back);
    broad_free(b.at);
    supply.fail_at = fail_at;
}

/* fit, save, load, verify, predict, grow, learn. */
static int live(const life *l)
{
    broad_model *model = NULL, *loaded = NULL;
    broad_trainer *trainer = NULL;
    int status = broad_fit(&model, NULL, l->rows, &l->options);
    if (status == BROAD_OK) status = broad_model_save(model, l->file, 0);
    if (status == BROAD_OK) status = broad_model_load(&loaded, l->file);
    if (status == BROAD_OK) status = read_and_judge(l, loaded);
    if (status == BROAD_OK) status = broad_trainer_resume(&trainer, loaded, l->rows, &l->options, 0);
    if (status == BROAD_OK) {
        status = grow(l, trainer);
        if (status != BROAD_OK) check_whole(l, trainer);
        broad_trainer_close(NULL, trainer);
    }
    broad_model_free(model);
    broad_model_free(loaded);
    return status;
}

/* What lies at the model's place is whole, and nothing lies beside it. */
static void check_folder(const life *l, const model_bytes *good)
{
    size_t count = 0;
    char *now = read_file(&count, l->file);
    model_bytes seen = {now, count};
    if (!small_same(&seen, good)) fail_msg("%s: the file changed", l->kind->title);
    free(now);
    assert_int_equal(remove(l->file), 0);
    assert_int_equal(remove(l->table), 0);
    if (rmdir(l->folder)) fail_msg("%s: something was left behind", l->kind->title);
    mkdir(l->folder, 0700);
    write_table(l->table, l->kind->regress);
    write_file(l->file, good->at, good->count);
}

/* The first ones each, then about `most` more, evenly: later ones are the same few, layer after layer and draw after draw. */
static size_t next_to_fail(size_t n, size_t total, size_t most) { return n < most ? n + 1 : n + 1 + total / most; }

static size_t fail_all(const life *l, int for_good, size_t most)
{
    model_bytes good = {0};
    supply_start(0, 0);
    assert_ok(live(l));
    supply_start(0, 0);
    assert_ok(live(l));
    size_t total = atomic_load(&supply.calls);
    good.at = read_file(&good.count, l->file);
    for (size_t n = 1; n <= total; n = next_to_fail(n, total, most)) {
        supply_start(n, for_good);
        int status = live(l);
        int reached = atomic_load(&supply.calls) >= n; /* threads may need one more or less */
        if (status != BROAD_NO_MEMORY && (reached || status != BROAD_OK))
            fail_msg("%s: allocation %zu of %zu failed: %s: %s", l->kind->title, n, total, broad_status_name(status),
                     broad_error_message());
        if (atomic_load(&supply.live)) fail_msg("%s: allocation %zu of %zu failed: a leak", l->kind->title, n, total);
    }
    supply_start(0, 0);
    check_folder(l, &good);
    free(good.at);
    return total;
}

static void every_allocation_of_every_kind(void **state)
{
    (void)state;
    broad_allocator allocator = {library_allocate, library_release, NULL};
    for (size_t k = 0; k < SMALL_KINDS; k++) {
        life l;
        life_open(&l, &small_kinds[k]);
        broad_set_allocator(&allocator);
        size_t total = fail_all(&l, 0, FAILED_EACH);
        fail_all(&l, 1, 20);
        broad_set_allocator(NULL);
        print_message("%-20s %zu allocations\n", small_kinds[k].title, total);
        life_close(&l);
    }
}

/* ---- the JSON library, which has an allocator of its own ---- */

static int save_and_load(const life *l, const broad_model *model)
{
    broad_model *loaded = NULL;
    int status = broad_model_save(model, l->file, 0);
    if (status == BROAD_OK) status = broad_model_load(&loaded, l->file);
    broad_model_free(loaded);
    return status;
}

static void every_allocation_of_json(void **state)
{
    (void)state;
    life l;
    life_open(&l, &small_kinds[0]);
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, l.rows, &l.options));
    json_set_alloc_funcs(supply_allocate, supply_release);
    supply_start(0, 0);
    assert_ok(save_and_load(&l, model));
    size_t total = atomic_load(&supply.calls);
    for (size_t n = 1; n <= total; n++) {
        supply_start(n, n % 2 == 0);
        int status = save_and_load(&l, model);
        if (status != BROAD_NO_MEMORY)
            fail_msg("allocation %zu of %zu: %s: %s", n, total, broad_status_name(status), broad_error_message());
        assert_int_equal(atomic_load(&supply.live), 0);
    }
    json_set_alloc_funcs(malloc, free);
    print_message("%zu allocations for JSON, each failed once\n", total);
    broad_model_free(model);
    life_close(&l);
}

/* ---- graphs, whose texts are made one by one ---- */

static void every_allocation_of_graphs(void **state)
{
    (void)state;
    broad_allocator allocator = {library_allocate, library_release, NULL};
    life l;
    life_open(&l, &small_kinds[0]);
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, l.rows, &l.options));
    broad_set_allocator(&allocator);
    int status = BROAD_NO_MEMORY;
    size_t n = 0;
    while (status != BROAD_OK) {
        void *graph = NULL;
        size_t count = 0;
        supply_start(++n, 1);
        status = broad_model_export_onnx(&graph, &count, NULL, model, NULL);
        broad_free(graph);
        if (status != BROAD_OK) assert_int_equal(status, BROAD_NO_MEMORY);
        assert_int_equal(atomic_load(&supply.live), 0);
    }
    broad_set_allocator(NULL);
    print_message("%zu allocations for a graph\n", n - 1);
    assert_true(n > 100);
    broad_model_free(model);
    life_close(&l);
}

/* Thousands of saves: none needs to outlast a loss of power. */
static int sync_nothing(int fd)
{
    (void)fd;
    return 0;
}

int main(void)
{
    broad__file_calls_used.sync = sync_nothing;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_every_kind),
        cmocka_unit_test(every_allocation_of_json),
        cmocka_unit_test(every_allocation_of_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
