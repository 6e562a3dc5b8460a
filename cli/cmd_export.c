/* broad export: a model for programs that predict without this library. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "io/output.h"
#include "run/check_export.h"
#include "run/input.h"
#include "run/load_model.h"
#include "run/show.h"
#include "values.h"

/* Above this a file in double precision does not compute what the library does. */
#define TOLERANCE 1e-6

typedef struct export_job {
    const cli_arguments *arguments;
    cli_exported_form form;
    const char *path;
    broad_model *model;
    broad_data *data; /* rows to check on; NULL: not asked for */
    broad_export_options options;
    char name[48];
    void *bytes;
    size_t count;
    broad_exported about;
    cli_comparison comparison;
} export_job;

/* ---- options --------------------------------------------------------------------------------------------------- */

/* What names begin with, if nothing is said: the file's name without folder and ending. */
static void name_after(char out[48], const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t length = strcspn(base, "."), used = 0;
    if (length == 0 || strcmp(path, "-") == 0) base = "model", length = strlen(base);
    if (isdigit((unsigned char)base[0])) out[used++] = '_';
    for (size_t i = 0; i < length && used < 40; i++)
        out[used++] = (char)(isalnum((unsigned char)base[i]) ? base[i] : '_');
    out[used] = 0;
}

static int take_options(export_job *job)
{
    const cli_arguments *arguments = job->arguments;
    const char *c = cli_given(arguments, "c"), *onnx = cli_given(arguments, "onnx");
    if (!c == !onnx) return cli_fail_usage(arguments->command, "say what to write: --c FILE or --onnx FILE");
    if (onnx && cli_given(arguments, "name")) return cli_fail_usage(arguments->command, "--name is for --c");
    job->form = c ? CLI_EXPORTED_C : CLI_EXPORTED_ONNX;
    job->path = c ? c : onnx;
    broad_export_options_init(&job->options);
    job->options.precision = (broad_export_precision)cli_choice(arguments, "precision");
    job->options.compact = cli_given(arguments, "compact") != NULL;
    job->options.name = cli_given(arguments, "name");
    if (!job->options.name) {
        name_after(job->name, job->path);
        job->options.name = job->name;
    }
    int status = cli_level(&job->options.level, arguments);
    if (!status) status = cli_check_apart(job->path, arguments->positional[0]);
    if (!status) status = cli_check_apart(job->path, cli_given(arguments, "check"));
    return status ? status : cli_check_writable(job->path);
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

static int read_rows(export_job *job)
{
    broad_read_options read;
    const char *path = cli_given(job->arguments, "check");
    if (!path) return BROAD_OK;
    if (broad_model_maps(job->model))
        return cli_fail(BROAD_USAGE, "--check compares rows of a table, and this model was trained on photos");
    cli_read_options(&read, job->arguments);
    read.model = job->model;
    read.target_optional = 1;
    const cli_input input = {&path, 1, &read, CLI_TO_COMPUTE, job->arguments};
    return cli_input_read(&job->data, NULL, &input);
}

static int make(void **out, size_t *out_bytes, broad_exported *about, const export_job *job,
                const broad_export_options *options)
{
    char *text = NULL;
    if (job->form == CLI_EXPORTED_ONNX) return broad_model_export_onnx(out, out_bytes, about, job->model, options);
    int status = broad_model_export_c(&text, out_bytes, about, job->model, options);
    *out = text;
    return status;
}

/* C is compiled with a name that the program around it knows. */
static int run_exported(cli_computed *out, const export_job *job, const cli_computed *library)
{
    void *bytes = NULL;
    size_t count = 0;
    broad_export_options options = job->options;
    options.name = "model";
    int status = make(&bytes, &count, NULL, job, &options);
    if (!status) status = cli_compute_exported(out, job->form, bytes, count, job->model, job->data, library);
    broad_free(bytes);
    return status;
}

static int check(export_job *job)
{
    cli_computed library = {0}, exported = {0};
    if (!job->data) return BROAD_OK;
    int status = cli_predict_library(&library, job->model, job->data, job->about.level);
    if (!status) status = run_exported(&exported, job, &library);
    if (!status) cli_compare(&job->comparison, &exported, &library, broad_model_task(job->model));
    if (!status && job->options.precision == BROAD_EXPORT_DOUBLE &&
        broad_model_precision(job->model) == BROAD_PRECISION_DOUBLE && !(job->comparison.difference <= TOLERANCE))
        status = cli_fail(BROAD_FAILED,
                          "the exported file differs from the model by %.1e on these rows, and was not written",
                          job->comparison.difference);
    cli_computed_clear(&library);
    cli_computed_clear(&exported);
    return status;
}

/* ---- the result ------------------------------------------------------------------------------------------------ */

static int write_file(const export_job *job)
{
    cli_output output;
    int status = cli_output_open(&output, job->path);
    if (status) {
        cli_output_abandon(&output);
        return status;
    }
    cli_output_bytes(&output, job->bytes, job->count);
    return cli_output_close(&output);
}

static const char *const precision_names[] = {"double", "float", "int8"};

static int report_json(const export_job *job)
{
    int c = job->form == CLI_EXPORTED_C;
    json_t *object = cli_json_object("export");
    cli_json_put(object, "model", cli_json_text(job->arguments->positional[0]));
    cli_json_put(object, "output", cli_json_text(job->path));
    cli_json_put(object, "format", cli_json_text(c ? "c" : "onnx"));
    cli_json_put(object, "name", c ? cli_json_text(job->options.name) : json_null());
    cli_json_put(object, "bytes", json_integer((json_int_t)job->count));
    cli_json_put(object, "precision", cli_json_text(precision_names[job->options.precision]));
    cli_json_put(object, "columns", json_integer((json_int_t)broad_export_columns(job->model)));
    cli_json_put(object, "outputs", json_integer((json_int_t)broad_model_outputs(job->model)));
    cli_json_put(object, "level", job->about.level > 0 ? cli_json_real(job->about.level) : json_null());
    cli_json_put(object, "table_bytes", c ? json_integer((json_int_t)job->about.table_bytes) : json_null());
    cli_json_put(object, "stack_bytes", c ? json_integer((json_int_t)job->about.stack_bytes) : json_null());
    cli_json_put(object, "drawn", json_boolean(job->about.drawn));
    cli_json_put(object, "graph_nodes", c ? json_null() : json_integer((json_int_t)job->about.graph_nodes));
    cli_json_put(object, "check", job->data ? cli_comparison_json(&job->comparison) : json_null());
    return cli_json_give(job->arguments, object);
}

static void report_c(const export_job *job, const char *size)
{
    static const char *const words[] = {"double precision", "single precision", "weights of nodes in 8 bits"};
    char tables[64], stack[64];
    cli_format_bytes(tables, sizeof tables, (double)job->about.table_bytes);
    cli_format_bytes(stack, sizeof stack, (double)job->about.stack_bytes);
    cli_print("wrote %s (%s): %s_predict() and what goes with it\n", job->path, size, job->options.name);
    cli_print("  %s%s: %s of constants for flash, %s of memory on the stack\n", words[job->options.precision],
              job->about.drawn ? ", random weights from the seed" : "", tables, stack);
}

static void report_onnx(const export_job *job, const char *size)
{
    int classes = broad_model_task(job->model) == BROAD_TASK_CLASSIFY;
    broad_estimate estimate = {.size = sizeof estimate};
    int known = !broad_model_estimate(&estimate, job->model) && estimate.known;
    broad_photo_spec photo = {.size = sizeof photo};
    if (broad_model_photo(&photo, job->model)) photo.maps = 0;
    cli_print("wrote %s (%s): ONNX, opset 13, %zu nodes, numbers of type %s\n", job->path, size, job->about.graph_nodes,
              precision_names[job->options.precision]);
    if (!photo.maps) cli_print("  takes row (rows x %zu)", broad_export_columns(job->model));
    else if (photo.maps == BROAD_PHOTO_MAP_PIXELS)
        cli_print("  takes picture (rows x %zu x %zu x 3 bytes)", photo.side, photo.side);
    else
        cli_print("  takes prepared (rows x %zu, as 'broad data --export' writes them)",
                  broad_export_columns(job->model));
    cli_print(", gives %s\n", classes                ? known ? "label, probabilities and scores" : "label and scores"
                              : job->about.level > 0 ? "values, low and high"
                                                     : "values");
}

static void report_text(const export_job *job)
{
    char size[64];
    cli_format_bytes(size, sizeof size, (double)job->count);
    if (job->form == CLI_EXPORTED_C) report_c(job, size);
    else report_onnx(job, size);
    if (job->data) cli_comparison_print(&job->comparison, broad_model_task(job->model));
}

int cli_export(const cli_arguments *arguments)
{
    export_job job = {.arguments = arguments, .about = {.size = sizeof job.about}};
    int status = take_options(&job), shown = job.path && strcmp(job.path, "-") != 0;
    if (!status) status = cli_model_load(&job.model, arguments);
    if (!status) status = read_rows(&job);
    if (!status) status = make(&job.bytes, &job.count, &job.about, &job, &job.options);
    if (!status) status = check(&job);
    if (!status) status = write_file(&job);
    if (!status && shown && cli_given(arguments, "json")) status = report_json(&job);
    else if (!status && shown && !cli_given(arguments, "quiet")) report_text(&job);
    broad_free(job.bytes);
    broad_data_free(job.data);
    broad_model_free(job.model);
    return status;
}
