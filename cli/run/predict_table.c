#include "run/predict_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "page/findings.h"
#include "run/photo_verdict.h"

enum { KEPT_SHOWN = 4, TARGETS_SHOWN = 4 };

/* A cell of at most CLI_TABLE_CELL - 1 bytes that ends with a whole character. */
static void set_cell(char *cell, const char *text)
{
    size_t used = 0, left = strlen(text);
    while (left) {
        size_t bytes = broad__utf8_length(text + used, left);
        if (!bytes) bytes = 1;
        if (used + bytes >= CLI_TABLE_CELL) break;
        used += bytes;
        left -= bytes;
    }
    memcpy(cell, text, used);
    cell[used] = 0;
}

static int is_classes(const cli_predict_table *t) { return broad_model_task(t->model) == BROAD_TASK_CLASSIFY; }

static void add_column(cli_predict_table *t, const char *name, int number)
{
    if (t->columns >= CLI_TABLE_COLUMNS) return;
    t->numbers[t->columns] = number;
    set_cell(t->cells[0][t->columns++], name);
}

int cli_predict_table_open(cli_predict_table *out, const broad_model *model, const broad_data *data, int intervals,
                           int probabilities)
{
    *out = (cli_predict_table){.model = model, .data = data, .shown = 0};
    size_t outputs = broad_model_outputs(model);
    out->by_class = calloc(outputs + 1, sizeof *out->by_class);
    if (!out->by_class) return cli_fail(BROAD_NO_MEMORY, "out of memory while counting verdicts");
    int photos = broad_data_maps(data) != 0;
    add_column(out, photos ? "file" : "row", !photos);
    out->kept = broad_data_kept_count(data) < KEPT_SHOWN ? broad_data_kept_count(data) : KEPT_SHOWN;
    for (size_t k = 0; k < out->kept; k++) add_column(out, broad_data_kept_name(data, k), 0);
    if (is_classes(out)) {
        add_column(out, "verdict", 0);
        if (probabilities) add_column(out, "probability", 1);
        return BROAD_OK;
    }
    for (size_t j = 0; j < outputs && j < TARGETS_SHOWN; j++) {
        add_column(out, broad_model_output_name(model, j), 1);
        if (intervals) add_column(out, "from", 1);
        if (intervals) add_column(out, "to", 1);
    }
    return BROAD_OK;
}

static void set_class(cli_predict_table *t, char (*cells)[CLI_TABLE_CELL], size_t column, const cli_predicted *row)
{
    char text[2 * CLI_TABLE_CELL];
    if (row->unlike) {
        set_cell(cells[column], CLI_UNLIKE);
        return;
    }
    double p = row->probabilities ? row->probabilities[row->verdict] : 1;
    snprintf(text, sizeof text, "%.30s%s", broad_model_output_name(t->model, row->verdict),
             p < CLI_CERTAIN ? " (unsure)" : "");
    set_cell(cells[column++], text);
    if (row->probabilities && column < t->columns) snprintf(cells[column], CLI_TABLE_CELL, "%.1f %%", 100 * p);
}

static void set_values(const cli_predict_table *t, char (*cells)[CLI_TABLE_CELL], size_t column,
                       const cli_predicted *row)
{
    for (size_t j = 0; column < t->columns; j++) {
        snprintf(cells[column++], CLI_TABLE_CELL, "%.5g", row->scores[j]);
        if (!row->low || column + 1 >= t->columns) continue;
        snprintf(cells[column++], CLI_TABLE_CELL, "%.4g", row->low[j]);
        snprintf(cells[column++], CLI_TABLE_CELL, "%.4g", row->high[j]);
    }
}

void cli_predict_table_add(cli_predict_table *table, const cli_predicted *row)
{
    cli_predict_table *t = table;
    size_t number = t->rows++, column = 0;
    if (is_classes(t) && row->unlike) t->unlike++;
    else if (is_classes(t)) {
        t->by_class[row->verdict]++;
        t->unsure += row->probabilities && row->probabilities[row->verdict] < CLI_CERTAIN;
    }
    if (t->shown == CLI_TABLE_ROWS) return;
    char(*cells)[CLI_TABLE_CELL] = t->cells[++t->shown];
    const broad_photo *photo = broad_data_photo(t->data, number);
    if (photo) set_cell(cells[column++], photo->name[0] ? photo->name : photo->file);
    else snprintf(cells[column++], CLI_TABLE_CELL, "%zu", number + 1);
    for (size_t k = 0; k < t->kept; k++) set_cell(cells[column++], broad_data_kept_text(t->data, number, k));
    if (is_classes(t)) set_class(t, cells, column, row);
    else set_values(t, cells, column, row);
}

/* ---- printing ---- */

static size_t width_of(const char *text)
{
    size_t width = 0, left = strlen(text);
    for (size_t bytes; left; text += bytes, left -= bytes, width++) {
        bytes = broad__utf8_length(text, left);
        if (!bytes) bytes = 1;
    }
    return width;
}

static void print_summary(const cli_predict_table *t)
{
    if (t->shown < t->rows) cli_print("... %zu of %zu rows are shown", t->shown, t->rows);
    else cli_print("%zu row%s", t->rows, cli_plural(t->rows));
    const char *between = ": ";
    for (size_t c = 0; is_classes(t) && c < broad_model_outputs(t->model) && c < 8; c++) {
        if (!t->by_class[c]) continue;
        cli_print("%s%zu %.30s", between, t->by_class[c], broad_model_output_name(t->model, c));
        between = ", ";
    }
    if (t->unlike) cli_print("%s%zu %s", between, t->unlike, CLI_UNLIKE);
    if (t->unsure) cli_print("; %zu unsure", t->unsure);
    cli_print("\nall columns and digits: add -o FILE.csv, or | cat\n");
}

void cli_predict_table_print(const cli_predict_table *table)
{
    const cli_predict_table *t = table;
    size_t widths[CLI_TABLE_COLUMNS] = {0};
    for (size_t i = 0; i <= t->shown; i++)
        for (size_t c = 0; c < t->columns; c++) {
            size_t width = width_of(t->cells[i][c]);
            if (width > widths[c]) widths[c] = width;
        }
    for (size_t i = 0; i <= t->shown; i++) {
        for (size_t c = 0; c < t->columns; c++) {
            int gap = (int)(widths[c] - width_of(t->cells[i][c])), last = c + 1 == t->columns;
            if (t->numbers[c]) cli_print("%*s%s", gap, "", t->cells[i][c]);
            else cli_print("%s%*s", t->cells[i][c], last ? 0 : gap, "");
            cli_print(last ? "\n" : "  ");
        }
    }
    print_summary(t);
}

void cli_predict_table_close(cli_predict_table *table) { free(table->by_class); }
