/* broad demo --what spirals: two spirals in noise, from making the table to predicting with the saved model. */
#include "demo/demo_spirals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "demo/demo_folder.h"
#include "demo/demo_picture.h"
#include "io/output.h"
#include "io/progress.h"
#include "run/show.h"
#include "values.h"

enum { ROWS = 4000, TURNS = 3, PATH_BYTES = 4096, PROBES = 4 };

static const double noise = 0.03, extent = 1.15, holdout = 0.3;
static const double pi = 3.14159265358979323846;

const char *const demo_labels[2] = {"blue", "orange"};

typedef struct demo_run {
    const cli_arguments *arguments;
    const char *folder;
    char table[PATH_BYTES], saved[PATH_BYTES], picture[PATH_BYTES];
    broad_options options;
    broad_data *data, *train, *test;
    broad_model *loaded;
    demo_network networks[DEMO_NETWORKS];
    broad_verdict verdict;
} demo_run;

/* ---- the table ---- */

/* splitmix64: any decent generator will do, and this one needs no state but a number. */
static double next_uniform(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double next_normal(uint64_t *state)
{
    double u = 1 - next_uniform(state), angle = 2 * pi * next_uniform(state);
    return sqrt(-2 * log(u)) * cos(angle);
}

static int make_table(const demo_run *run)
{
    cli_output output;
    uint64_t state = run->options.seed;
    cli_output_open(&output, run->table);
    cli_output_print(&output, "x,y,spiral\n");
    for (size_t i = 0; i < ROWS; i++) {
        size_t label = i % 2;
        double radius = 0.1 + 0.9 * sqrt(next_uniform(&state)); /* even along the arms */
        double angle = 2 * pi * TURNS * radius + pi * (double)label;
        double x = radius * cos(angle) + noise * next_normal(&state);
        double y = radius * sin(angle) + noise * next_normal(&state);
        cli_output_print(&output, "%.6f,%.6f,%s\n", x, y, demo_labels[label]);
    }
    return cli_output_close(&output);
}

static int read_table(demo_run *run)
{
    broad_read_options read;
    broad_split split;
    broad_read_options_init(&read);
    broad_split_init(&split);
    split.holdout = holdout;
    split.seed = run->options.seed;
    int status = broad_data_read(&run->data, run->table, &read);
    return status ? status : broad_data_split(&run->train, &run->test, run->data, &split);
}

/* ---- the networks ---- */

/* A chain whose base range is too small for the spirals: BRLS keeps it, BSCRLS finds a better one where the test refuses. */
static const char *const settings[][2] = {
    {"preset", "paper"}, {"enhance", "50x40"},     {"activation", "tanh"},    {"scale", "standard"},
    {"lambda", "0.001"}, {"range-unit", "fan-in"}, {"gamma", "harmonic:0.3"},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

static int apply_settings(broad_options *options, const char *kind)
{
    int status = broad_options_set(options, "kind", kind); /* first: it brings settings of its own */
    for (size_t i = 0; i < SETTINGS && !status; i++)
        status = broad_options_set(options, settings[i][0], settings[i][1]);
    return status;
}

static int train(demo_run *run, demo_network *network, const char *kind)
{
    broad_options options = run->options;
    broad_metrics metrics = {.size = sizeof metrics};
    cli_progress progress;
    network->name = kind;
    broad_seconds_init(&network->seconds);
    int status = apply_settings(&options, kind);
    if (status) return status;
    cli_progress_begin(&progress, &options, kind, run->arguments);
    status = broad_fit(&network->model, &network->seconds, run->train, &options);
    cli_progress_end(&progress);
    cli_signals_release();
    if (!status && cli_interrupted()) return cli_fail(BROAD_INTERRUPTED, "interrupted");
    if (!status) status = broad_eval(&metrics, network->model, run->test, cli_watch(options.threads));
    if (status) return status;
    network->accuracy = metrics.accuracy;
    broad_metrics_clear(&metrics);
    return BROAD_OK;
}

static double norm_reached(const broad_model *model)
{
    broad_layer first = {.size = sizeof first}, last = {.size = sizeof last};
    size_t layers = broad_model_layers(model);
    if (!layers || broad_model_layer(&first, model, 0) || broad_model_layer(&last, model, layers - 1)) return 1;
    return first.norm_before > 0 ? last.norm_after / first.norm_before : 0;
}

static size_t draws_tried(const broad_model *model)
{
    size_t draws = 0;
    for (size_t i = 0; i < broad_model_layers(model); i++) {
        broad_layer layer = {.size = sizeof layer};
        if (!broad_model_layer(&layer, model, i)) draws += layer.tries;
    }
    return draws;
}

static int save_and_verify(demo_run *run)
{
    broad_data *part = NULL;
    int status = broad_model_save(run->networks[DEMO_NETWORKS - 1].model, run->saved, 0);
    if (!status) status = broad_model_load(&run->loaded, run->saved);
    if (!status) status = broad_data_training_part(&part, run->data, run->loaded);
    broad_verdict_init(&run->verdict);
    if (!status) status = broad_verify(&run->verdict, run->loaded, part, cli_watch(run->options.threads));
    broad_data_free(part);
    return status;
}

/* ---- the story ---- */

static void print_comparison(const demo_run *run)
{
    cli_print("\n  %-8s %7s %7s %7s %12s %10s %8s\n", "network", "layers", "nodes", "draws", "norm", "accuracy",
              "seconds");
    for (size_t i = 0; i < DEMO_NETWORKS; i++) {
        const demo_network *network = &run->networks[i];
        cli_print("  %-8s %7zu %7zu %7zu %12.5f %10.4f %8.2f\n", network->name, broad_model_layers(network->model),
                  broad_model_nodes(network->model), draws_tried(network->model), norm_reached(network->model),
                  network->accuracy, network->seconds.total);
    }
    cli_print("\n  norm: of the training residual, relative to the targets; accuracy: on %zu held-out rows\n",
              broad_data_rows(run->test));
    cli_print("  %s: %s", run->networks[1].name, cli_outcome_name(broad_model_outcome(run->networks[1].model)));
    const char *reason = broad_model_reason(run->networks[1].model);
    cli_print("%s%s\n", reason[0] ? ", " : "", reason);
}

static int print_predictions(const demo_run *run)
{
    static const double points[PROBES][2] = {{0.50, 0.00}, {0.00, 0.42}, {-0.62, 0.10}, {0.30, -0.80}};
    double scores[PROBES * 2];
    int status = broad_predict(scores, run->loaded, &points[0][0], PROBES, 2);
    if (status) return status;
    cli_print("\npredictions of the saved model\n");
    for (size_t i = 0; i < PROBES; i++) {
        size_t best = broad_best_class(run->loaded, &scores[2 * i]);
        cli_print("  (%5.2f, %5.2f)  %-7s score %.3f\n", points[i][0], points[i][1],
                  broad_model_output_name(run->loaded, best), scores[2 * i + best]);
    }
    return BROAD_OK;
}

static void print_end(const demo_run *run)
{
    cli_print("\nwrote %s, %s and %s\n\nthe same by hand, and with the default settings\n", run->table, run->saved,
              run->picture);
    cli_print("  broad fit %s --holdout 0.3", run->table);
    for (size_t i = 0; i < SETTINGS; i++) cli_print(" --%s %s", settings[i][0], settings[i][1]);
    cli_print("\n  broad fit %s --holdout 0.3\n\nwhat to try next\n", run->table);
    cli_print("  broad verify %s %s\n", run->saved, run->table);
    cli_print("  broad grow %s %s --enhance 50x10\n", run->saved, run->table);
    cli_print("  broad info %s\n", run->saved);
    cli_print("  broad fit YOUR.csv --holdout 0.3\n");
}

static json_t *networks_json(const demo_run *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < DEMO_NETWORKS; i++) {
        const demo_network *network = &run->networks[i];
        json_t *object = json_object();
        cli_json_put(object, "kind", cli_json_text(network->name));
        cli_json_put(object, "layers", json_integer((json_int_t)broad_model_layers(network->model)));
        cli_json_put(object, "draws", json_integer((json_int_t)draws_tried(network->model)));
        cli_json_put(object, "norm", cli_json_real(norm_reached(network->model)));
        cli_json_put(object, "accuracy", cli_json_real(network->accuracy));
        cli_json_put(object, "seconds", cli_json_real(network->seconds.total));
        cli_json_put(object, "status", cli_json_text(cli_outcome_name(broad_model_outcome(network->model))));
        cli_json_append(list, object);
    }
    return list;
}

static int report_json(const demo_run *run)
{
    json_t *object = cli_json_object("demo");
    cli_json_put(object, "what", cli_json_text("spirals"));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_data_rows(run->data)));
    cli_json_put(object, "networks", networks_json(run));
    cli_json_put(object, "holds", json_boolean(run->verdict.holds));
    cli_json_put(object, "table", cli_json_text(run->table));
    cli_json_put(object, "model", cli_json_text(run->saved));
    cli_json_put(object, "picture", cli_json_text(run->picture));
    return cli_json_give(run->arguments, object);
}

static int report_text(const demo_run *run)
{
    print_comparison(run);
    cli_print("\nthe saved model's certificate %s", run->verdict.holds ? "holds" : "does NOT hold: ");
    if (run->verdict.holds)
        cli_print(": %zu layers recomputed, norm %.5f, bound %.5f\n", run->verdict.layers, run->verdict.reached,
                  run->verdict.product_bound);
    else cli_print("%s\n", run->verdict.reason);
    int status = print_predictions(run);
    if (!status) print_end(run);
    return status;
}

static int prepare(demo_run *run, const cli_arguments *arguments)
{
    memset(run, 0, sizeof *run);
    run->arguments = arguments;
    run->folder = demo_folder(arguments);
    if (strlen(run->folder) > PATH_BYTES - 32) return cli_fail(BROAD_USAGE, "the name of the folder is too long");
    snprintf(run->table, PATH_BYTES, "%s/spirals.csv", run->folder);
    snprintf(run->saved, PATH_BYTES, "%s/spirals.broad", run->folder);
    snprintf(run->picture, PATH_BYTES, "%s/spirals.svg", run->folder);
    int status = cli_training_options(&run->options, arguments);
    return status ? status : demo_make_folder(run->folder);
}

int demo_spirals(const cli_arguments *arguments)
{
    demo_run run;
    int json = cli_given(arguments, "json") != NULL;
    int status = prepare(&run, arguments);
    if (!status) status = make_table(&run);
    if (!status) status = read_table(&run);
    if (!status && !json) {
        cli_print("two noisy spirals of %d turns: %zu rows to train on, %zu held out\n", TURNS,
                  broad_data_rows(run.train), broad_data_rows(run.test));
        fflush(stdout);
    }
    if (!status) status = train(&run, &run.networks[0], "brls");
    if (!status) status = train(&run, &run.networks[1], "bscrls");
    if (!status) status = save_and_verify(&run);
    if (!status) status = demo_write_picture(run.picture, run.networks, run.test, extent);
    if (!status) status = json ? report_json(&run) : report_text(&run);
    if (!status && !run.verdict.holds) status = -BROAD_FAILED;
    for (size_t i = 0; i < DEMO_NETWORKS; i++) broad_model_free(run.networks[i].model);
    broad_model_free(run.loaded);
    broad_data_free(run.test);
    broad_data_free(run.train);
    broad_data_free(run.data);
    return status;
}
