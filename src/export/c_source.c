#include "export/c_source.h"

#include <string.h>

#include "base/enum_names.h"
#include "base/memory.h"
#include "base/status.h"
#include "export/c_file.h"
#include "export/c_nodes.h"
#include "export/checksum.h"

/* What is being written: the forms of its nodes are chosen beforehand. */
typedef struct source {
    broad__c_file file;
    const broad__flat *flat;
    broad__c_form features, layers;
    int links; /* z has output weights of its own */
} source;

static size_t inputs_of(const broad__flat *flat) { return flat->scaling.inputs; }

/* ---- names ----------------------------------------------------------------------------------------------------- */

/* name: of the table, without prefix; the texts are those of a function. */
static void put_texts(broad__c_file *file, const char *name, const char *(*text)(const source *, size_t),
                      const char *(*remark)(const source *, size_t), const source *s, size_t count)
{
    broad__c_code(file, "const char *const @");
    broad__draft_print(&file->draft, "%s[%zu] = {\n", name, count);
    for (size_t i = 0; i < count; i++) {
        const char *words = text(s, i), *more = remark ? remark(s, i) : NULL;
        broad__draft_text(&file->draft, "    ");
        broad__c_string(file, words);
        broad__draft_print(&file->draft, more ? ", /* %s */\n" : ",%s\n", more ? more : "");
        file->table_bytes += strlen(words) + 1 + sizeof(uint32_t);
    }
    broad__draft_text(&file->draft, "};\n");
}

static const char *column_name(const source *s, size_t column) { return s->flat->columns[column].name; }

static const char *column_remark(const source *s, size_t column)
{
    const broad__flat_column *about = &s->flat->columns[column];
    if (about->category) return "the code of a level";
    switch (about->form) {
    case BROAD__FORM_TRUTH: return "1: yes, 0: no";
    case BROAD__FORM_DATE:
    case BROAD__FORM_DATE_DAY:
    case BROAD__FORM_DATE_MONTH: return "days since 1970-01-01";
    case BROAD__FORM_NUMBER:
    case BROAD__FORM_DECIMAL_COMMA:
    case BROAD__FORM_DECIMAL_POINT:
    case BROAD__FORM_COUNT: break;
    }
    return NULL;
}

static const char *output_name(const source *s, size_t output) { return s->flat->model->output_names[output]; }

static const char *level_name(const source *s, size_t level)
{
    const broad__categories *categories = &s->flat->model->categories;
    size_t c = 0;
    for (; level >= categories->items[c].count; c++) level -= categories->items[c].count;
    return categories->items[c].levels[level];
}

/* ---- levels ---------------------------------------------------------------------------------------------------- */

static const char level_function[] =
    "\nint @level(int column, const char *text)\n"
    "{\n"
    "    if (column < 0 || column >= $COLUMNS) return -1;\n"
    "    for (uint32_t l = 0; l < @levels[column]; l++)\n"
    "        if (strcmp(@level_names[@first_level[column] + l], text) == 0) return (int)l;\n"
    "    return -1;\n"
    "}\n";

static int put_levels(source *s)
{
    const broad__flat *flat = s->flat;
    size_t *sizes = broad__alloc_array(flat->column_count, 3 * sizeof *sizes), total = 0;
    if (!sizes) return BROAD_NO_MEMORY;
    size_t *first = sizes + flat->column_count, *missing = first + flat->column_count;
    for (size_t c = 0; c < flat->column_count; c++) {
        const broad__flat_column *column = &flat->columns[c];
        sizes[c] = column->category ? column->category->count : 0;
        missing[c] = column->category ? column->missing : 0;
        first[c] = total;
        total += sizes[c];
    }
    broad__draft_text(&s->file.draft, "\n/* Levels of each column, 0 for a number; where their names begin. */\n");
    broad__c_sizes(&s->file, "levels", sizes, flat->column_count);
    broad__c_sizes(&s->file, "first_level", first, flat->column_count);
    if (flat->missing) {
        broad__draft_text(&s->file.draft, "/* The level of missing values; as many as there are levels: none. */\n");
        broad__c_sizes(&s->file, "missing_level", missing, flat->column_count);
    }
    broad__draft_text(&s->file.draft, "static ");
    put_texts(&s->file, "level_names", level_name, NULL, s, total);
    broad__c_code(&s->file, level_function);
    broad__free(sizes);
    return BROAD_OK;
}

/* ---- scaling --------------------------------------------------------------------------------------------------- */

static const char rank_function[] =
    "\n/* The position of a value among those of training, along straight lines between knots. */\n"
    "static @real @rank(size_t i, @real value)\n"
    "{\n"
    "    size_t low = i ? @knot_end[i - 1] : 0, high = @knot_end[i] - 1U;\n"
    "    const @real *at = @knot_value, *rank = @knot_rank;\n"
    "    if (!(value > at[low])) return rank[low];\n"
    "    if (value >= at[high]) return rank[high];\n"
    "    while (high - low > 1) {\n"
    "        size_t middle = (low + high) / 2;\n"
    "        if (at[middle] <= value) low = middle;\n"
    "        else high = middle;\n"
    "    }\n"
    "    return rank[low] + (value / 2 - at[low] / 2) / (at[high] / 2 - at[low] / 2) * (rank[high] - rank[low]);\n"
    "}\n";

static const char scaled_function[] = "\nstatic @real @scaled(size_t i, @real value)\n"
                                      "{\n"
                                      "    const @real most = (@real)18446744073709551616.0;\n"
                                      "    value = (value - @shift[i]) * @factor[i];\n"
                                      "    return value < most ? value > -most ? value : -most : most;\n"
                                      "}\n"
                                      "\n"
                                      "/* Input i, scaled as in training. */\n"
                                      "static void @put(@real *x, size_t i, @real value)\n"
                                      "{\n";

static int put_knots(source *s)
{
    const broad__flat *flat = s->flat;
    size_t inputs = inputs_of(flat), total = 0;
    size_t *ends = broad__alloc_array(inputs, sizeof *ends);
    double *values = broad__alloc_doubles(inputs, 2 * BROAD__KNOTS), *ranks = values + inputs * BROAD__KNOTS;
    int status = ends && values ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t i = 0; i < inputs && !status; i++) {
        const double *knots = flat->scaling.knots + i * 2 * BROAD__KNOTS;
        size_t count = broad__flat_knots(flat, i);
        memcpy(values + total, knots, count * sizeof *values);
        memcpy(ranks + total, knots + BROAD__KNOTS, count * sizeof *ranks);
        ends[i] = total += count;
    }
    if (!status) {
        broad__c_sizes(&s->file, "knot_end", ends, inputs);
        broad__c_reals(&s->file, "knot_value", values, total);
        broad__c_reals(&s->file, "knot_rank", ranks, total);
        broad__c_code(&s->file, rank_function);
    }
    broad__free(ends);
    broad__free(values);
    return status;
}

static int put_scaling(source *s)
{
    const broad__scaling *scaling = &s->flat->scaling;
    int status = BROAD_OK;
    broad__draft_text(&s->file.draft, "\n");
    broad__c_reals(&s->file, "shift", scaling->shift, scaling->columns);
    broad__c_reals(&s->file, "factor", scaling->factor, scaling->columns);
    if (s->flat->missing) broad__c_reals(&s->file, "fill", scaling->fill, scaling->inputs);
    if (broad__scaling_is_ranked(scaling->how)) status = put_knots(s);
    broad__c_code(&s->file, scaled_function);
    if (scaling->how == BROAD_SCALE_RANK) broad__c_code(&s->file, "    x[i] = @scaled(i, @rank(i, value));\n}\n");
    else broad__c_code(&s->file, "    x[i] = @scaled(i, value);\n");
    if (scaling->how == BROAD_SCALE_BOTH)
        broad__c_code(&s->file, "    x[$INPUTS + i] = @scaled($INPUTS + i, @rank(i, value));\n");
    if (scaling->how != BROAD_SCALE_RANK) broad__c_code(&s->file, "}\n");
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static const char level_loop[] =
    "/* Levels of a column from input i on, 1 for the one that the row has. Whether it is one of them. */\n"
    "static int @put_levels(@real *x, size_t i, size_t column, @real code)\n"
    "{\n"
    "    const size_t levels = @levels[column];\n";
static const char level_loop_missing[] =
    "    if (isnan(code) && @missing_level[column] < levels) code = (@real)@missing_level[column];\n";
static const char level_loop_known[] =
    "    const int known = code >= 0 && code < (@real)levels && (@real)(size_t)code == code;\n";
static const char level_loop_error[] =
    "    if (!known) return 0;\n"
    "    for (size_t l = 0; l < levels; l++) @put(x, i + l, (@real)(code == (@real)l));\n"
    "    return 1;\n"
    "}\n\n";
static const char level_loop_fill[] =
    "    for (size_t l = 0; l < levels; l++) @put(x, i + l, known ? (@real)(code == (@real)l) : @fill[i + l]);\n"
    "    return 1;\n"
    "}\n\n";

static const char component_function[] =
    "/* The principal components of a photo. */\n"
    "static void @project(const $ROW *row, @real *inputs)\n"
    "{\n"
    "    for (size_t k = 0; k < $INPUTS; k++) inputs[k] = -@component_shift[k];\n"
    "    for (size_t j = 0; j < $COLUMNS; j++)\n"
    "        for (size_t k = 0; k < $INPUTS; k++) inputs[k] += @pixel(row[j]) * @axes[j * $INPUTS + k];\n"
    "}\n\n";

static void put_levels_loop(source *s)
{
    broad__c_code(&s->file, level_loop);
    if (s->flat->missing) broad__c_code(&s->file, level_loop_missing);
    broad__c_code(&s->file, level_loop_known);
    broad__c_code(&s->file, s->flat->missing ? level_loop_fill : level_loop_error);
}

/* One number of a row, put in its place as input `i`; `c` is its column. */
static void put_number(source *s, const char *indent)
{
    broad__c_file *file = &s->file;
    if (s->flat->missing) {
        broad__draft_text(&file->draft, indent);
        broad__c_code(file, "if (isnan(value)) value = @fill[i];\n");
    }
    broad__draft_print(&file->draft, "%sif (!isfinite(value)) return (int)c + 1;\n%s", indent, indent);
    broad__c_code(file, "@put(x, i++, value);\n");
}

static const char mixed_loop[] = "    for (size_t c = 0; c < $COLUMNS; c++) {\n"
                                 "        @real value = row[c];\n"
                                 "        if (@levels[c]) {\n"
                                 "            if (!@put_levels(x, i, c, value)) return (int)c + 1;\n"
                                 "            i += @levels[c];\n"
                                 "            continue;\n"
                                 "        }\n";

/* From the row to x; returns the number of a column that cannot be used. */
static void put_row(source *s)
{
    const broad__flat *flat = s->flat;
    broad__c_file *file = &s->file;
    broad__draft_text(&file->draft, "\n");
    if (flat->row == BROAD__FLAT_PICTURE)
        broad__c_code(file, "static @real @pixel(unsigned char byte) { return (@real)((float)byte / 255.0F); }\n\n");
    else if (flat->row == BROAD__FLAT_PREPARED)
        broad__c_code(file, "static @real @pixel(@real value) { return value; }\n\n");
    if (flat->components) {
        broad__c_reals(file, "axes", flat->model->projection.axes, flat->column_count * flat->components);
        broad__c_reals(file, "component_shift", flat->model->projection.shift, flat->components);
        broad__c_code(file, component_function);
    }
    if (flat->categories) put_levels_loop(s);
    broad__c_code(file, "static int @read(const $ROW *row, @real *x)\n{\n    size_t i = 0;\n");
    if (flat->components) broad__c_code(file, "    @real inputs[$INPUTS];\n    @project(row, inputs);\n");
    if (flat->categories) broad__c_code(file, mixed_loop);
    else if (flat->components)
        broad__c_code(file, "    for (size_t c = 0; c < $INPUTS; c++) {\n        @real value = inputs[c];\n");
    else
        broad__c_code(file,
                      flat->row == BROAD__FLAT_COLUMNS
                          ? "    for (size_t c = 0; c < $COLUMNS; c++) {\n        @real value = row[c];\n"
                          : "    for (size_t c = 0; c < $COLUMNS; c++) {\n        @real value = @pixel(row[c]);\n");
    put_number(s, "        ");
    broad__draft_text(&file->draft, "    }\n    return 0;\n}\n");
}

/* ---- prediction ------------------------------------------------------------------------------------------------ */

static const char links_loop[] =
    "    for (size_t n = 0; n < $FEATURES; n++)\n"
    "        for (size_t c = 0; c < $OUTPUTS; c++) scores[c] += z[n] * @feature_output[n * "
    "$OUTPUTS + c];\n";

static void put_predict(source *s)
{
    const broad__flat *flat = s->flat;
    broad__c_file *file = &s->file;
    broad__c_code(file, "\nint @predict(const $ROW *row, @real *scores)\n{\n");
    broad__c_code(file, flat->direct ? "    @real z[$SCALED];\n    int fault = @read(row, z);\n"
                                     : "    @real x[$SCALED], z[$FEATURES];\n    int fault = @read(row, x);\n");
    broad__c_code(file, "    if (fault) return fault;\n"
                        "    for (size_t c = 0; c < $OUTPUTS; c++) scores[c] = @output_shift[c];\n");
    if (!flat->direct) broad__c_code(file, "    @feature_nodes(x, z);\n");
    if (s->links) broad__c_code(file, links_loop);
    if (flat->layer.nodes) broad__c_code(file, "    @layer_nodes(z, scores);\n");
    broad__c_code(file, "    for (size_t c = 0; c < $OUTPUTS; c++)\n"
                        "        if (!isfinite(scores[c])) return -1;\n"
                        "    return 0;\n}\n");
}

static int put_nodes(source *s)
{
    const broad__flat *flat = s->flat;
    broad__c_file *file = &s->file;
    int status = BROAD_OK;
    broad__draft_text(&file->draft, "\n");
    if (!flat->direct || flat->layer.nodes)
        broad__c_activations(file, flat->direct ? flat->layer.activation : flat->feature.activation,
                             flat->layer.nodes ? flat->layer.activation : flat->feature.activation);
    if ((!flat->direct && s->features == BROAD__C_DRAWN) || (flat->layer.nodes && s->layers == BROAD__C_DRAWN))
        broad__c_generator(file, flat->model->settings.seed);
    broad__draft_text(&file->draft, "\n");
    broad__c_reals(file, "output_shift", flat->shift, flat->outputs);
    if (s->links) broad__c_reals(file, "feature_output", flat->from_z, flat->features * flat->outputs);
    if (flat->layer.nodes) broad__c_reals(file, "layer_output", flat->from_h, flat->layer.nodes * flat->outputs);
    file->nodes = "feature";
    if (!flat->direct) status = broad__c_nodes(file, &flat->feature, s->features);
    file->nodes = "layer";
    if (!status && flat->layer.nodes) status = broad__c_nodes(file, &flat->layer, s->layers);
    return status;
}

/* ---- confidence ------------------------------------------------------------------------------------------------ */

static const char class_function[] = "\nint @class(const @real *scores)\n"
                                     "{\n"
                                     "    int best = 0;\n"
                                     "    for (int c = 1; c < $OUTPUTS; c++)\n"
                                     "        if (scores[c] > scores[best]) best = c;\n"
                                     "    return best;\n"
                                     "}\n";

static const char probability_function[] =
    "\nvoid @probabilities(const @real *scores, @real *out)\n"
    "{\n"
    "    const @real top = scores[@class(scores)];\n"
    "    @real highest = 0, sum = 0;\n"
    "    for (int c = 0; c < $OUTPUTS; c++) {\n"
    "        out[c] = @calibration[0] * (scores[c] - top) + @calibration[c + 1];\n"
    "        if (c == 0 || out[c] > highest) highest = out[c];\n"
    "    }\n"
    "    for (int c = 0; c < $OUTPUTS; c++) sum += out[c] = @exp(out[c] - highest);\n"
    "    for (int c = 0; c < $OUTPUTS; c++) out[c] /= sum;\n"
    "}\n";

static const char spread_function[] =
    "\n/* How wide the interval of a value is, over the mean: linear between knots. */\n"
    "static @real @width(int output, @real value)\n"
    "{\n"
    "    const @real *at = @spread + 2 * $SPREAD_KNOTS * output, *scale = at + $SPREAD_KNOTS;\n"
    "    int k = 0;\n"
    "    while (k < $SPREAD_KNOTS && !(value < at[k])) k++;\n"
    "    if (k == 0) return scale[0];\n"
    "    if (k == $SPREAD_KNOTS) return scale[k - 1];\n"
    "    return scale[k - 1] + (value / 2 - at[k - 1] / 2) / (at[k] / 2 - at[k - 1] / 2) * (scale[k] - scale[k - 1]);\n"
    "}\n";

static const char limit_function[] = "\nstatic @real @within(int output, @real value)\n"
                                     "{\n"
                                     "    const @real *ends = @limits + 2 * output;\n"
                                     "    return value < ends[0] ? ends[0] : value > ends[1] ? ends[1] : value;\n"
                                     "}\n";

static void put_interval(source *s)
{
    const broad__confidence *confidence = &s->flat->confidence;
    broad__c_file *file = &s->file;
    broad__c_reals(file, "reach", s->flat->reach, s->flat->outputs);
    if (confidence->spread_count) {
        broad__c_count(file, "SPREAD_KNOTS", confidence->spread_count);
        broad__c_reals(file, "spread", confidence->spread, s->flat->outputs * 2 * confidence->spread_count);
        broad__c_code(file, spread_function);
    }
    if (confidence->limits) {
        broad__c_reals(file, "limits", confidence->limits, 2 * s->flat->outputs);
        broad__c_code(file, limit_function);
    }
    broad__c_code(file, "\nvoid @interval(const @real *values, @real *low, @real *high)\n"
                        "{\n"
                        "    for (int j = 0; j < $OUTPUTS; j++) {\n");
    broad__c_code(file, confidence->spread_count
                            ? "        const @real value = values[j], reach = @reach[j] * @width(j, value);\n"
                            : "        const @real value = values[j], reach = @reach[j];\n");
    broad__c_code(file, confidence->limits ? "        low[j] = @within(j, value - reach);\n"
                                             "        high[j] = @within(j, value + reach);\n"
                                           : "        low[j] = value - reach;\n"
                                             "        high[j] = value + reach;\n");
    broad__c_code(file, "    }\n}\n");
}

static void put_confidence(source *s)
{
    const broad__flat *flat = s->flat;
    broad__c_file *file = &s->file;
    if (flat->confidence.task == BROAD_TASK_CLASSIFY) broad__c_code(file, class_function);
    if (broad__flat_has_probabilities(flat)) {
        broad__draft_text(&file->draft, "\n");
        broad__c_reals(file, "calibration", flat->confidence.calibration, flat->outputs + 1);
        broad__c_code(file, file->precision == BROAD_EXPORT_DOUBLE
                                ? "\nstatic @real @exp(@real v) { return exp(v); }\n"
                                : "\nstatic @real @exp(@real v) { return expf(v); }\n");
        broad__c_code(file, probability_function);
    }
    if (flat->reach) {
        broad__draft_text(&file->draft, "\n");
        put_interval(s);
    }
}

/* ---- the whole file -------------------------------------------------------------------------------------------- */

static int has_links(const broad__flat *flat)
{
    for (size_t i = 0; i < flat->features * flat->outputs; i++)
        if (flat->from_z[i] != 0) return 1;
    return 0;
}

static int put_body(source *s)
{
    const broad__flat *flat = s->flat;
    broad__c_file *file = &s->file;
    broad__c_code(file, "\n#ifndef $DECLARE\n\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    if (flat->categories) broad__draft_text(&file->draft, "#include <string.h>\n");
    broad__draft_text(&file->draft, "\n");
    broad__c_count(file, "INPUTS", inputs_of(flat));
    broad__c_count(file, "SCALED", flat->scaling.columns);
    broad__c_count(file, "FEATURES", flat->features ? flat->features : 1);
    broad__draft_text(&file->draft, "\n");
    if (flat->columns) put_texts(file, "columns", column_name, column_remark, s, flat->column_count);
    put_texts(file, "outputs", output_name, NULL, s, flat->outputs);
    int status = flat->categories ? put_levels(s) : BROAD_OK;
    if (!status) status = put_scaling(s);
    if (!status) put_row(s);
    if (!status) status = put_nodes(s);
    if (!status) put_predict(s);
    if (!status) put_confidence(s);
    broad__draft_text(&file->draft, "\n#endif\n");
    return status ? status : file->draft.status;
}

static const char *const precision_words[] = {"double precision", "single precision",
                                              "single precision, with weights of nodes in 8 bits"};

/* What the file says of itself. Nothing of the model's own words, which could end a comment. */
static int put_head(broad__c_file *head, const source *s, const broad_exported *about)
{
    const broad__flat *flat = s->flat;
    char kind[BROAD__ENUM_BYTES], checksum[BROAD__HASH_TEXT];
    int status = broad__checksum(checksum, flat->model);
    if (status) return status;
    broad__enum_name(kind, BROAD__KINDS, (int)flat->model->settings.kind);
    broad__draft_print(&head->draft, "/*\n * A network of kind %s, written by broad %s; checksum of the model: %s.\n",
                       kind, broad_version(), checksum);
    broad__draft_print(
        &head->draft,
        " * %s; %zu bytes of constants, %zu bytes of arrays on the stack.\n"
        " * C99 without allocation and without state, so that any number of threads may call it; link with -lm.\n"
        " *\n",
        precision_words[head->precision], about->table_bytes, about->stack_bytes);
    broad__c_code(
        head, " * Other files of the program include it for the declarations alone, after #define $DECLARE.\n */\n");
    return head->draft.status;
}

static const char predict_words[] = "/* Computes $OUTPUTS scores of a row. Returns 0; or, from 1 on, the number of a "
                                    "column with a value that the model\n"
                                    " * cannot take";
static const char level_words[] = "\n/* The code of a level, which stands for its text in a row; -1, and in a row too: "
                                  "the column has no such level. */\n"
                                  "int @level(int column, const char *text);\n";
static const char class_words[] =
    "\n/* The number of the class with the largest score, the first of equals; @outputs has its label. */\n"
    "int @class(const @real *scores);\n";
static const char probability_words[] =
    "\n/* Calibrated probabilities of the classes, $OUTPUTS of them, from scores. */\n"
    "void @probabilities(const @real *scores, @real *out);\n";

static void put_row_words(broad__c_file *head, const broad__flat *flat)
{
    if (flat->row == BROAD__FLAT_PICTURE)
        broad__draft_print(
            &head->draft,
            "\n/* A row is a picture of %zu x %zu pixels, from the top left, red, green and blue of each: the\n"
            " * photo as the model was trained on it, cropped and resized. */\n",
            flat->model->photo.side, flat->model->photo.side);
    if (flat->row == BROAD__FLAT_PREPARED)
        broad__draft_text(&head->draft,
                          "\n/* A row is what 'broad data --export' makes of a photo: the model's descriptors, "
                          "not its pixels. */\n");
    broad__c_code(head, flat->row == BROAD__FLAT_PICTURE ? "#define $ROW unsigned char\n" : "#define $ROW @real\n");
}

static void put_declarations(broad__c_file *head, const broad__flat *flat)
{
    broad__c_code(head, "\n#ifndef $DECLARED\n#define $DECLARED\n\n");
    broad__c_code(head, head->precision == BROAD_EXPORT_DOUBLE ? "typedef double @real;\n" : "typedef float @real;\n");
    broad__c_count(head, "COLUMNS", flat->column_count);
    broad__c_count(head, "OUTPUTS", flat->outputs);
    put_row_words(head, flat);
    if (flat->columns)
        broad__c_code(head, "\nextern const char *const @columns[$COLUMNS]; /* what the numbers of a row are */\n");
    broad__c_code(head, flat->confidence.task == BROAD_TASK_CLASSIFY
                            ? "extern const char *const @outputs[$OUTPUTS]; /* labels of the classes */\n\n"
                            : "extern const char *const @outputs[$OUTPUTS]; /* names of the targets */\n\n");
    broad__c_code(head, predict_words);
    broad__draft_text(&head->draft,
                      flat->missing ? " (NAN, a missing value, it can)" : " (NAN, a missing value, is one)");
    broad__c_code(
        head, "; or -1 where a score is larger than any number. */\nint @predict(const $ROW *row, @real *scores);\n");
    if (flat->categories) broad__c_code(head, level_words);
    if (flat->confidence.task == BROAD_TASK_CLASSIFY) broad__c_code(head, class_words);
    if (broad__flat_has_probabilities(flat)) broad__c_code(head, probability_words);
    if (flat->reach) {
        broad__draft_print(&head->draft,
                           "\n/* Intervals that contain a fraction %g of new values, from predicted values. */\n",
                           flat->level);
        broad__c_code(head, "void @interval(const @real *values, @real *low, @real *high);\n");
    }
    broad__draft_text(&head->draft, "\n#endif\n");
}

static void fill_about(broad_exported *about, const source *s)
{
    const broad__flat *flat = s->flat;
    size_t numbers = flat->scaling.columns + (flat->direct ? 0 : flat->features) + flat->components;
    about->table_bytes = s->file.table_bytes;
    about->stack_bytes = numbers * broad__c_real_bytes(&s->file);
    about->drawn =
        (!flat->direct && s->features == BROAD__C_DRAWN) || (flat->layer.nodes && s->layers == BROAD__C_DRAWN);
    about->level = flat->level;
}

int broad__c_source(char **out, size_t *out_bytes, broad_exported *about, const broad__flat *flat,
                    const broad_export_options *options)
{
    source s = {.flat = flat, .links = has_links(flat)};
    broad__c_file head = {0};
    void *bytes = NULL;
    int status = broad__c_file_begin(&s.file, options->name, options->precision);
    if (!status) status = broad__c_file_begin(&head, options->name, options->precision);
    s.features = broad__c_nodes_form(&s.file, &flat->feature, options->compact);
    s.layers = broad__c_nodes_form(&s.file, &flat->layer, options->compact);
    if (!status) status = put_body(&s);
    if (!status) fill_about(about, &s);
    if (!status) status = put_head(&head, &s, about);
    if (!status) put_declarations(&head, flat);
    if (!status) broad__draft_bytes(&head.draft, s.file.draft.bytes, s.file.draft.count);
    if (!status) status = broad__draft_give(&bytes, out_bytes, &head.draft);
    if (!status) *out = bytes;
    broad__draft_clear(&s.file.draft);
    broad__draft_clear(&head.draft);
    return status;
}
