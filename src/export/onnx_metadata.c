#include "export/onnx_metadata.h"

#include <stdio.h>

#include "base/enum_names.h"
#include "base/memory.h"
#include "base/real_text.h"
#include "base/status.h"
#include "export/checksum.h"

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void put_text(broad__draft *to, const char *text)
{
    broad__draft_text(to, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == '"' || c == '\\') broad__draft_print(to, "\\u%04x", c);
        else broad__draft_bytes(to, text, 1);
    }
    broad__draft_text(to, "\"");
}

static void put_number(broad__draft *to, const char *key, double value)
{
    char text[BROAD__REAL_BYTES];
    size_t length = broad__real_text(text, value);
    broad__draft_print(to, ", \"%s\": ", key);
    broad__draft_bytes(to, text, length);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static const char *form_words(broad__form form)
{
    switch (form) {
    case BROAD__FORM_TRUTH: return "truth";
    case BROAD__FORM_DATE:
    case BROAD__FORM_DATE_DAY:
    case BROAD__FORM_DATE_MONTH: return "days since 1970-01-01";
    case BROAD__FORM_NUMBER:
    case BROAD__FORM_DECIMAL_COMMA:
    case BROAD__FORM_DECIMAL_POINT:
    case BROAD__FORM_COUNT: break;
    }
    return "number";
}

static void put_columns(broad__draft *to, const broad__flat *flat)
{
    broad__draft_text(to, "[");
    for (size_t c = 0; c < flat->column_count; c++) {
        const broad__flat_column *column = &flat->columns[c];
        broad__draft_text(to, c ? ", {\"name\": " : "{\"name\": ");
        put_text(to, column->name);
        broad__draft_text(to, ", \"is\": ");
        put_text(to, column->category ? "code" : form_words(column->form));
        for (size_t l = 0; column->category && l < column->category->count; l++) {
            broad__draft_text(to, l ? ", " : ", \"levels\": [");
            put_text(to, column->category->levels[l]);
        }
        broad__draft_text(to, column->category ? "]}" : "}");
    }
    broad__draft_text(to, "]");
}

static void put_names(broad__draft *to, const broad__flat *flat)
{
    for (size_t c = 0; c < flat->outputs; c++) {
        broad__draft_text(to, c ? ", " : "[");
        put_text(to, flat->model->output_names[c]);
    }
    broad__draft_text(to, "]");
}

/* One object for each layer, with the figures that 'broad verify' checks. */
static void put_certificate(broad__draft *to, const broad_model *model)
{
    broad__draft_text(to, "[");
    for (size_t j = 0; j < model->layer_count; j++) {
        const broad__certificate *record = &model->layers[j].certificate;
        char test[BROAD__ENUM_BYTES];
        broad__enum_name(test, BROAD__SUPERVISIONS, (int)record->test);
        broad__draft_print(to, "%s{\"width\": %zu, \"test\": \"%s\", \"passed\": %s", j ? ", " : "",
                           model->layers[j].width, test, record->passed ? "true" : "false");
        put_number(to, "gamma", record->gamma);
        put_number(to, "mu", record->mu);
        put_number(to, "bound", record->bound);
        put_number(to, "norm_before", record->norm_before);
        put_number(to, "norm_after", record->norm_after);
        put_number(to, "lambda", record->lambda);
        put_number(to, "range", record->range);
        broad__draft_text(to, "}");
    }
    broad__draft_text(to, "]");
}

static void put(broad__onnx_graph *graph, const char *key, broad__draft *value)
{
    if (!value->status) broad__onnx_metadata(graph, key, value->bytes);
    else if (!graph->metadata.status) graph->metadata.status = value->status;
    broad__draft_clear(value);
}

int broad__onnx_describe(broad__onnx_graph *graph, const broad__flat *flat)
{
    char word[BROAD__ENUM_BYTES], checksum[BROAD__HASH_TEXT];
    broad__draft text = {0};
    int status = broad__checksum(checksum, flat->model);
    if (status) return status;
    broad__onnx_metadata(graph, "broad.version", broad_version());
    broad__onnx_metadata(graph, "broad.checksum", checksum);
    broad__enum_name(word, BROAD__KINDS, (int)flat->model->settings.kind);
    broad__onnx_metadata(graph, "broad.kind", word);
    broad__enum_name(word, BROAD__TASKS, (int)flat->model->task);
    broad__onnx_metadata(graph, "broad.task", word);
    put_names(&text, flat);
    put(graph, "broad.outputs", &text);
    if (flat->columns) {
        put_columns(&text, flat);
        put(graph, "broad.columns", &text);
    }
    if (flat->level > 0) {
        char level[BROAD__REAL_BYTES];
        broad__draft_bytes(&text, level, broad__real_text(level, flat->level));
        put(graph, "broad.level", &text);
    }
    put_certificate(&text, flat->model);
    put(graph, "broad.certificate", &text);
    return BROAD_OK;
}
