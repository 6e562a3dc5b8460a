#include "run/check_export.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "io/folder.h"
#include "io/output.h"

/* ---- by the library -------------------------------------------------------------------------------------------- */

void cli_computed_clear(cli_computed *predicted)
{
    free(predicted->scores);
    free(predicted->more);
    *predicted = (cli_computed){0};
}

static int reserve(cli_computed *out)
{
    out->scores = calloc(out->rows * out->outputs + 1, sizeof(double));
    out->more = out->more_each ? calloc(out->rows * out->more_each + 1, sizeof(double)) : NULL;
    if (out->scores && (out->more || !out->more_each)) return BROAD_OK;
    return cli_fail(BROAD_NO_MEMORY, "out of memory: cannot store the scores of %zu rows", out->rows);
}

int cli_predict_library(cli_computed *out, const broad_model *model, const broad_data *data, double level)
{
    broad_estimate estimate = {.size = sizeof estimate};
    size_t outputs = broad_model_outputs(model);
    int classes = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    int known = !broad_model_estimate(&estimate, model) && estimate.known;
    *out = (cli_computed){.rows = broad_data_rows(data), .outputs = outputs};
    if (classes && known) out->more_each = outputs;
    if (!classes && level > 0) out->more_each = 2 * outputs;
    int status = reserve(out);
    if (!status) status = broad_predict_data(out->scores, model, data, NULL);
    if (!status && out->more && classes) status = broad_probabilities(out->more, model, out->scores, out->rows);
    if (!status && out->more && !classes) status = broad_intervals(out->more, model, out->scores, out->rows, level);
    return status;
}

/* ---- by a compiled program ------------------------------------------------------------------------------------- */

/* Reads rows as doubles, writes scores and what follows from them as doubles. */
static const char program[] =
    "#include <stdio.h>\n"
    "#include \"model.c\"\n"
    "int main(void)\n"
    "{\n"
    "    double in[MODEL_COLUMNS];\n"
    "    model_real row[MODEL_COLUMNS], scores[MODEL_OUTPUTS];\n"
    "    while (fread(in, sizeof in, 1, stdin) == 1) {\n"
    "        for (int i = 0; i < MODEL_COLUMNS; i++) row[i] = (model_real)in[i];\n"
    "        int fault = model_predict(row, scores);\n"
    "        if (fault) return fprintf(stderr, \"model_predict() returned %d\\n\", fault), 1;\n"
    "        for (int i = 0; i < MODEL_OUTPUTS; i++) PUT(scores[i]);\n"
    "        MORE\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

static const char put_macro[] = "#define PUT(number) do { double out = (double)(number); "
                                "if (fwrite(&out, sizeof out, 1, stdout) != 1) return 1; } while (0)\n";
static const char no_more[] = "#define MORE\n";
static const char probabilities_macro[] =
    "#define MORE model_real more[MODEL_OUTPUTS]; model_probabilities(scores, more); "
    "for (int i = 0; i < MODEL_OUTPUTS; i++) PUT(more[i]);\n";
static const char intervals_macro[] =
    "#define MORE model_real low[MODEL_OUTPUTS], high[MODEL_OUTPUTS]; model_interval(scores, low, high); "
    "for (int i = 0; i < MODEL_OUTPUTS; i++) { PUT(low[i]); PUT(high[i]); }\n";

static int write_in(const char *folder, const char *name, const void *bytes, size_t count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return cli_write_new(path, bytes, count);
}

static int write_program(const char *folder, const cli_computed *like)
{
    char text[sizeof program + sizeof put_macro + sizeof intervals_macro + sizeof probabilities_macro];
    const char *more = !like->more ? no_more : like->more_each == like->outputs ? probabilities_macro : intervals_macro;
    int length = snprintf(text, sizeof text, "%s%s%s", put_macro, more, program);
    return write_in(folder, "main.c", text, (size_t)length);
}

/* ---- by ONNX Runtime ------------------------------------------------------------------------------------------- */

static const char python_script[] =
    "import onnxruntime, numpy\n"
    "session = onnxruntime.InferenceSession('model.onnx', providers=['CPUExecutionProvider'])\n"
    "given = session.get_inputs()[0]\n"
    "rows = numpy.fromfile('rows').reshape(-1, given.shape[1])\n"
    "rows = rows.astype(numpy.float64 if 'double' in given.type else numpy.float32)\n"
    "names = [o.name for o in session.get_outputs() if o.name != 'label']\n"
    "out = dict(zip(names, session.run(names, {'row': rows})))\n"
    "parts = [out['scores'] if 'scores' in out else out['values']]\n"
    "if 'probabilities' in out: parts.append(out['probabilities'])\n"
    "if 'low' in out: parts.append(numpy.stack([out['low'], out['high']], 2).reshape(len(rows), -1))\n"
    "numpy.concatenate(parts, 1).astype(numpy.float64).tofile('scores')\n";

static const char node_script[] =
    "const ort = require('onnxruntime-node'), fs = require('fs');\n"
    "(async () => {\n"
    "    const session = await ort.InferenceSession.create('model.onnx', {logSeverityLevel: 3});\n"
    "    const given = session.inputMetadata[0], columns = Number(given.shape[1]), single = given.type === 'float32';\n"
    "    const bytes = fs.readFileSync('rows'), all = new Float64Array(bytes.buffer.slice(bytes.byteOffset, "
    "bytes.byteOffset + bytes.length));\n"
    "    const file = fs.openSync('scores', 'w'), rows = all.length / columns, most = 512;\n"
    "    for (let first = 0; first < rows; first += most) {\n"
    "        const count = Math.min(most, rows - first), part = all.slice(first * columns, (first + count) * "
    "columns);\n"
    "        const out = await session.run({row: new ort.Tensor(given.type, single ? Float32Array.from(part) : part, "
    "[count, columns])});\n"
    "        const scores = (out.scores || out.values).data, outputs = scores.length / count, numbers = [];\n"
    "        for (let i = 0; i < count; i++) {\n"
    "            for (let c = 0; c < outputs; c++) numbers.push(scores[i * outputs + c]);\n"
    "            for (let c = 0; c < outputs; c++) {\n"
    "                if (out.probabilities) numbers.push(out.probabilities.data[i * outputs + c]);\n"
    "                if (out.low) numbers.push(out.low.data[i * outputs + c], out.high.data[i * outputs + c]);\n"
    "            }\n"
    "        }\n"
    "        fs.writeSync(file, new Uint8Array(Float64Array.from(numbers).buffer));\n"
    "    }\n"
    "})().catch(error => { console.error('error: ' + error.message); process.exit(1); });\n";

static int write_scripts(const char *folder)
{
    int status = write_in(folder, "run.py", python_script, strlen(python_script));
    return status ? status : write_in(folder, "run.js", node_script, strlen(node_script));
}

/* ---- in a folder of its own ------------------------------------------------------------------------------------ */

/* How a form is run: the name that its file gets, and what a shell does there. */
static const struct way {
    const char *file, *what, *command;
} ways[] = {
    {"model.c", "compiled and run", "${CC:-cc} -std=c99 -O1 -o run main.c -lm 2>said && ./run <rows >scores 2>said"},
    {"model.onnx", "run by ONNX Runtime",
     "if python3 -c 'import onnxruntime, numpy' 2>said; then exec python3 run.py 2>said; fi; "
     "if node -e 'require(\"onnxruntime-node\")' 2>said; then exec node run.js 2>said; fi; "
     "echo 'error: there is neither onnxruntime for python3 nor onnxruntime-node for node; is NODE_PATH set?' >said; "
     "exit 1"},
};

static int write_rows(const char *folder, const broad_model *model, const broad_data *data)
{
    size_t columns = broad_export_columns(model), rows = broad_data_rows(data);
    double *numbers = calloc(rows * columns + 1, sizeof *numbers);
    if (!numbers) return cli_fail(BROAD_NO_MEMORY, "out of memory: cannot prepare %zu rows", rows);
    int status = BROAD_OK;
    for (size_t i = 0; i < rows && !status; i++)
        status = broad_export_rows(numbers + i * columns, model, broad_data_row(data, i), 1, 0);
    if (!status) status = write_in(folder, "rows", numbers, rows * columns * sizeof *numbers);
    free(numbers);
    return status;
}

/* What the compiler or the program said: the first line with an error, or the first of all. */
static int fail_said(const char *folder, const char *what)
{
    char path[4096], said[4096] = "";
    size_t count = 0;
    snprintf(path, sizeof path, "%s/said", folder);
    if (broad__file_read_start(said, &count, path, sizeof said - 1)) count = 0;
    said[count] = 0;
    const char *error = strstr(said, "error: ");
    error = error ? error + strlen("error: ") : said;
    return cli_fail(BROAD_FAILED, "the exported file could not be %s: %.*s", what, (int)strcspn(error, "\n"), error);
}

static int run_in(const char *folder, const struct way *way)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return cli_fail(BROAD_FAILED, "cannot start a shell: %s", strerror(errno));
    if (child == 0) {
        if (chdir(folder) == 0) execlp("sh", "sh", "-c", way->command, (char *)NULL);
        _exit(127);
    }
    int how = 0;
    while (waitpid(child, &how, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(how) && WEXITSTATUS(how) == 0 ? BROAD_OK : fail_said(folder, way->what);
}

static int read_scores(cli_computed *out, const char *folder)
{
    char path[4096];
    void *bytes = NULL;
    size_t each = out->outputs + out->more_each, count = 0, wanted = out->rows * each * sizeof(double);
    snprintf(path, sizeof path, "%s/scores", folder);
    int status = broad__file_read(&bytes, &count, path, wanted);
    if (!status && count != wanted)
        status = cli_fail(BROAD_FAILED, "the exported file gave %zu bytes where %zu were expected", count, wanted);
    const double *from = bytes;
    for (size_t i = 0; i < out->rows && !status; i++, from += each) {
        memcpy(out->scores + i * out->outputs, from, out->outputs * sizeof(double));
        if (out->more) memcpy(out->more + i * out->more_each, from + out->outputs, out->more_each * sizeof(double));
    }
    broad_free(bytes);
    return status;
}

int cli_compute_exported(cli_computed *out, cli_exported_form form, const void *bytes, size_t count,
                         const broad_model *model, const broad_data *data, const cli_computed *like)
{
    char folder[2048], message[1024];
    const char *place = getenv("TMPDIR");
    if (!place || !*place) place = "/tmp";
    *out = (cli_computed){.rows = like->rows, .outputs = like->outputs, .more_each = like->more_each};
    snprintf(folder, sizeof folder, "%.2000s/broad.XXXXXX", place);
    if (!mkdtemp(folder)) return cli_fail(BROAD_CANNOT_WRITE, "cannot make a folder in %s: %s", place, strerror(errno));
    int status = reserve(out);
    if (!status) status = write_in(folder, ways[form].file, bytes, count);
    if (!status) status = form == CLI_EXPORTED_C ? write_program(folder, like) : write_scripts(folder);
    if (!status) status = write_rows(folder, model, data);
    if (!status) status = run_in(folder, &ways[form]);
    if (!status) status = read_scores(out, folder);
    snprintf(message, sizeof message, "%s", status ? broad_error_message() : "");
    cli_folder_remove(folder);
    return status ? cli_fail(status, "%s", message) : BROAD_OK;
}

/* ---- both ------------------------------------------------------------------------------------------------------ */

static double apart(const double *a, const double *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double here = a[i] == b[i] ? 0 : fabs(a[i] - b[i]) / fmax(1, fabs(b[i]));
        if (!(here <= most)) most = here; /* NaN stays */
    }
    return most;
}

static size_t best(const double *scores, size_t count)
{
    size_t at = 0;
    for (size_t i = 1; i < count; i++)
        if (scores[i] > scores[at]) at = i;
    return at;
}

void cli_compare(cli_comparison *out, const cli_computed *exported, const cli_computed *library, broad_task task)
{
    size_t outputs = library->outputs;
    *out = (cli_comparison){.rows = library->rows};
    out->difference = apart(exported->scores, library->scores, library->rows * outputs);
    if (library->more) out->more = apart(exported->more, library->more, library->rows * library->more_each);
    for (size_t i = 0; task == BROAD_TASK_CLASSIFY && i < library->rows; i++)
        out->labels += best(exported->scores + i * outputs, outputs) != best(library->scores + i * outputs, outputs);
}

json_t *cli_comparison_json(const cli_comparison *comparison)
{
    json_t *object = json_object();
    cli_json_put(object, "rows", json_integer((json_int_t)comparison->rows));
    cli_json_put(object, "difference", cli_json_real(comparison->difference));
    cli_json_put(object, "confidence_difference", cli_json_real(comparison->more));
    cli_json_put(object, "other_labels", json_integer((json_int_t)comparison->labels));
    return object;
}

void cli_comparison_print(const cli_comparison *comparison, broad_task task)
{
    cli_print("  checked on %zu row%s: %s differ by %.1e at most", comparison->rows, cli_plural(comparison->rows),
              task == BROAD_TASK_CLASSIFY ? "scores" : "values", comparison->difference);
    if (task == BROAD_TASK_CLASSIFY && !comparison->labels) cli_print(", all labels are equal\n");
    else if (task == BROAD_TASK_CLASSIFY)
        cli_print(", %zu label%s not equal\n", comparison->labels, comparison->labels == 1 ? " is" : "s are");
    else cli_print("\n");
}
