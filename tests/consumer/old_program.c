/*
 * A program that was compiled against an older broad.h, whose structs lack their last field, and runs with today's
 * library: check_old_program.py cuts the fields. Behind every struct lies a canary that the library must not touch.
 */
#include <broad/broad.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 60, CANARY = 256 };

static int faults;

static void must(int status, const char *what)
{
    if (status == BROAD_OK) return;
    fprintf(stderr, "old program: %s: %s\n", what, broad_error_message());
    exit(2);
}

static void expect(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "old program: %s\n", what);
    faults++;
}

static void guard(void *struct_and_canary, size_t size) { memset((char *)struct_and_canary + size, 0xA5, CANARY); }

static void check(const void *struct_and_canary, size_t size, const char *type)
{
    const unsigned char *canary = (const unsigned char *)struct_and_canary + size;
    for (int i = 0; i < CANARY; i++)
        if (canary[i] != 0xA5) {
            fprintf(stderr, "old program: byte %d behind %s was written\n", i, type);
            faults++;
            return;
        }
}

/* A struct with a canary right behind it, and what is done with it. */
#define WITH(type, name, ...)                                                                                          \
    do {                                                                                                               \
        static _Alignas(16) unsigned char name##_block[sizeof(type) + CANARY];                                         \
        type *name = (type *)(void *)name##_block;                                                                     \
        guard(name, sizeof(type));                                                                                     \
        type##_init(name);                                                                                             \
        check(name, sizeof(type), #type "_init");                                                                      \
        __VA_ARGS__;                                                                                                   \
        check(name, sizeof(type), #type);                                                                              \
        expect(name->size == sizeof(type), #type ": its size was changed");                                            \
    } while (0)

static double x[ROWS][2], y[ROWS];
static broad_data *data;
static broad_model *model;

static void make_data(void)
{
    for (int i = 0; i < ROWS; i++) {
        x[i][0] = i % 7 - 3, x[i][1] = i % 11 - 5;
        y[i] = x[i][0] * x[i][1];
    }
    WITH(broad_arrays, arrays, arrays->rows = ROWS; arrays->inputs = 2; arrays->x = x; arrays->values = y;
         arrays->outputs = 1; must(broad_data_from_arrays(&data, arrays), "arrays"));
    expect(broad_data_rows(data) == ROWS && broad_data_value(data, 5, 0) == y[5], "the table is another");
}

static void fit(void)
{
    WITH(broad_options, options, must(broad_options_preset(options, BROAD_PRESET_PAPER), "preset");
         must(broad_options_set(options, "features", "2x5"), "features");
         must(broad_options_set(options, "enhance", "10x2"), "enhance");
         WITH(broad_seconds, seconds, must(broad_fit(&model, seconds, data, options), "fit")));
    expect(broad_model_nodes(model) == 30, "the options were not taken");
}

static void look_at_model(void)
{
    WITH(broad_layer, layer, must(broad_model_layer(layer, model, 1), "layer"); expect(layer->width == 10, "width"));
    WITH(broad_estimate, estimate, must(broad_model_estimate(estimate, model), "estimate"));
    WITH(broad_importance, column, expect(broad_model_importance(column, model, 0) == BROAD_USAGE, "importance"));
    WITH(broad_joint, joint, must(broad_model_joint(joint, model), "joint"));
    WITH(broad_photo_spec, photo, must(broad_model_photo(photo, model), "photo"));
    WITH(broad_pilot, pilot, must(broad_model_pilot(pilot, model), "pilot"));
    WITH(broad_learned_metric, metric, must(broad_model_metric(metric, model), "metric"));
    WITH(broad_relevance, part, must(broad_model_find_relevance(part, model), "relevance"));
    WITH(broad_options, options, must(broad_model_settings(options, model), "settings");
         expect(options->enhance_nodes == 10, "settings"));
    WITH(broad_split, split, must(broad_model_split(split, model), "split"));
    must(broad_model_remember(model, "rows.csv", NULL, data, NULL), "remember");
    WITH(broad_source, source, must(broad_model_source(source, model, 0), "source");
         expect(source->rows == ROWS && strcmp(source->path, "rows.csv") == 0, "the source is another"));
    WITH(broad_source_photo, photo,
         expect(broad_model_source_photo(photo, model, 0, 0) == BROAD_USAGE, "a table has no photos"));
}

/* Points of the old size, one after the other. */
static void look_at_curve(void)
{
    static unsigned char block[2 * sizeof(broad_curve_point) + CANARY];
    broad_curve_point *points = (broad_curve_point *)(void *)block;
    guard(points, 2 * sizeof *points);
    broad_curve_point_init(points);
    must(broad_model_curve(points, model, data, NULL), "curve");
    check(points, 2 * sizeof *points, "broad_curve_point");
    expect(points[0].layer == 1 && points[1].layer == 2 && points[1].norm < points[0].norm, "the curve is another");
}

static void work(void)
{
    broad_data *train = NULL, *test = NULL;
    WITH(broad_run_options, run, run->threads = 1; WITH(
             broad_metrics, metrics, must(broad_eval(metrics, model, data, run), "eval");
             expect(metrics->rows == ROWS && metrics->rmse > 0, "the metrics are others");
             WITH(broad_class_metrics, of,
                  expect(broad_metrics_class(of, metrics, 0) == BROAD_USAGE, "a regression has no classes"));
             WITH(broad_target_metrics, of, (void)broad_metrics_target(of, metrics, 0)); broad_metrics_clear(metrics)));
    WITH(broad_comm, comm, expect(comm->ranks == 1 && comm->rank == 0 && !comm->send, "one process is one rank"));
    WITH(broad_eval_options, options, options->threads = 1;
         WITH(broad_metrics, metrics, must(broad_eval_with(metrics, model, data, options), "eval with options");
              broad_metrics_clear(metrics)));
    WITH(broad_verdict, verdict, must(broad_verify(verdict, model, data, NULL), "verify");
         expect(verdict->holds && verdict->layers == 2, "the certificate does not hold"));
    WITH(broad_split, split, must(broad_data_split(&train, &test, data, split), "split"));
    broad_data_free(train);
    broad_data_free(test);
    WITH(broad_folds, folds, must(broad_data_fold(&train, &test, data, folds), "fold"));
    broad_data_free(train);
    broad_data_free(test);
    WITH(broad_export_options, options, char *text = NULL; size_t count = 0;
         WITH(broad_exported, about, must(broad_model_export_c(&text, &count, about, model, options), "export");
              expect(text && about->table_bytes > 0, "the export is another"));
         broad_free(text));
    WITH(broad_options, options,
         WITH(broad_plan, plan, must(broad_plan_run(plan, options, NULL, 1000, 10, 2), "plan");
              expect(plan->rows == 1000, "the plan is another")));
    WITH(broad_options, options,
         WITH(broad_ranks_plan, plan, must(broad_plan_ranks(plan, options, 100000, 10, 2, 4), "plan of ranks");
              expect(plan->ranks == 4, "the plan of ranks is another")));
    WITH(broad_machine, machine, must(broad_machine_inspect(machine, 0), "machine");
         expect(machine->processors > 0, "processors"));
    WITH(broad_speed, speed, must(broad_machine_measure(speed, 1, 1), "speed"));
    WITH(broad_gpu, gpu, expect(broad_gpu_inspect(gpu, 0) == 0 || gpu->devices == 0, "the GPU"));
}

static void draw(void)
{
    static _Alignas(16) unsigned char block[sizeof(broad_random) + CANARY];
    broad_random *random = (broad_random *)(void *)block;
    guard(random, sizeof *random);
    broad_random_init(random, 7, BROAD_RANDOM_PURPOSE_SEARCH);
    check(random, sizeof *random, "broad_random");
    double number = broad_random_at(random, 3);
    expect(number >= 0 && number < 1, "a random number");
}

static void read_and_profile(const char *folder)
{
    char path[4096];
    broad_data *table = NULL;
    broad_profile *profile = NULL;
    snprintf(path, sizeof path, "%s/table.csv", folder);
    FILE *file = fopen(path, "w");
    if (!file) exit(2);
    fputs("a,b,target\n1,2,3\n4,5,6\n7,8,10\n", file);
    fclose(file);
    WITH(broad_photo_options, photos,
         WITH(broad_read_options, read, read->photos = photos; must(broad_data_read(&table, path, read), "read")));
    expect(broad_data_rows(table) == 3, "the file has three rows");
    broad_data_free(table);
    must(broad_profile_open(&profile), "profile");
    WITH(broad_stage, stage, must(broad_profile_stage(stage, profile, 0), "stage"));
    broad_profile_close(profile);
}

int main(int count, char **arguments)
{
    make_data();
    fit();
    look_at_model();
    look_at_curve();
    work();
    draw();
    read_and_profile(count > 1 ? arguments[1] : ".");
    broad_model_free(model);
    broad_data_free(data);
    printf("old program: %zu bytes of options, %d faults\n", sizeof(broad_options), faults);
    return faults ? 1 : 0;
}
