/*
 * The inputs as fit has them before it scales them. Pixels of photos by themselves are whole bytes, which fit divides by 255 in
 * single precision: they go out as bytes, rows x side x side x 3. Other numbers go out as float32 where that loses nothing, as
 * it does for all that is made of photos, else as float64. Little-endian whatever the machine is.
 */
#include "run/rows_export.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/progress.h"
#include "io/quote.h"

/* ---- inputs.npy ---- */

typedef enum item { ITEM_BYTE, ITEM_SINGLE, ITEM_DOUBLE } item;

static const struct {
    const char *name, *descr;
    size_t bytes;
} items[] = {{"uint8", "|u1", 1}, {"float32", "<f4", 4}, {"float64", "<f8", 8}};

static unsigned char byte_of(double value) { return (unsigned char)(value * 255 + 0.5); }

static int fits(double value, item as)
{
    if (as == ITEM_BYTE) return value >= 0 && value <= 1 && (double)((float)byte_of(value) / 255.0F) == value;
    return as == ITEM_DOUBLE || isnan(value) || (fabs(value) <= (double)FLT_MAX && (double)(float)value == value);
}

/* The smallest type that every value fits. */
static item item_for(const broad_data *data)
{
    item as = broad_data_maps(data) == BROAD_PHOTO_MAP_PIXELS && !broad_data_components(data) ? ITEM_BYTE : ITEM_SINGLE;
    for (size_t i = 0; i < broad_data_rows(data); i++) {
        const double *row = broad_data_row(data, i);
        for (size_t j = 0; j < broad_data_inputs(data); j++)
            while (!fits(row[j], as)) as++;
    }
    return as;
}

static void set_shape(cli_rows_export *out, const broad_data *data, item as)
{
    size_t inputs = broad_data_inputs(data), side = 0;
    *out = (cli_rows_export){.type = items[as].name, .dimensions = 2, .shape = {broad_data_rows(data), inputs}};
    if (as != ITEM_BYTE) return;
    while (side * side * 3 < inputs) side++;
    *out = (cli_rows_export){.type = items[as].name, .dimensions = 4, .shape = {broad_data_rows(data), side, side, 3}};
}

/* Magic, version 1.0, length, and the dictionary, padded so that the numbers begin at a multiple of 64. */
static void put_header(cli_output *output, const cli_rows_export *made, item as)
{
    char shape[128] = "", text[256];
    for (size_t d = 0, used = 0; d < made->dimensions; d++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%zu", d ? ", " : "", made->shape[d]);
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", items[as].descr, shape);
    size_t padded = ((size_t)length + 10 + 1 + 63) / 64 * 64 - 10;
    const unsigned char start[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)padded, 0};
    cli_output_bytes(output, (const char *)start, sizeof start);
    cli_output_print(output, "%-*s\n", (int)padded - 1, text);
}

static void put_value(unsigned char *to, double value, item as)
{
    uint64_t bits = 0;
    float single = (float)value;
    uint32_t single_bits = 0;
    if (as == ITEM_BYTE) bits = byte_of(value);
    else if (as == ITEM_SINGLE) {
        memcpy(&single_bits, &single, sizeof single);
        bits = single_bits;
    } else memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < items[as].bytes; i++) to[i] = (unsigned char)(bits >> 8 * i);
}

static int write_inputs(const cli_rows_export *made, const broad_data *data, item as, const char *path)
{
    size_t inputs = broad_data_inputs(data), bytes = inputs * items[as].bytes;
    unsigned char *row = malloc(bytes + 1);
    if (!row) return cli_fail(BROAD_NO_MEMORY, "out of memory: cannot store a row of %zu inputs", inputs);
    cli_output output;
    cli_output_open(&output, path);
    put_header(&output, made, as);
    for (size_t i = 0; i < broad_data_rows(data) && !cli_interrupted() && !output.status; i++) {
        const double *from = broad_data_row(data, i);
        for (size_t j = 0; j < inputs; j++) put_value(row + j * items[as].bytes, from[j], as);
        cli_output_bytes(&output, (const char *)row, bytes);
    }
    free(row);
    return cli_output_close(&output);
}

/* ---- rows.csv and columns.csv ---- */

static void put_targets(cli_output *output, const broad_data *data, size_t row)
{
    int classify = broad_data_task(data) == BROAD_TASK_CLASSIFY;
    for (size_t c = 0; !classify && c < broad_data_outputs(data); c++) {
        cli_output_bytes(output, ",", 1);
        cli_output_real(output, broad_data_value(data, row, c));
    }
    if (!classify) return;
    cli_output_bytes(output, ",", 1);
    cli_csv_exact(output, broad_data_output_name(data, broad_data_class(data, row)));
}

static int write_rows(const broad_data *data, const char *path)
{
    cli_output output;
    cli_output_open(&output, path);
    cli_output_print(&output, "row,file");
    if (broad_data_task(data) == BROAD_TASK_CLASSIFY) cli_output_print(&output, ",label");
    for (size_t c = 0; broad_data_task(data) == BROAD_TASK_REGRESS && c < broad_data_outputs(data); c++) {
        cli_output_bytes(&output, ",", 1);
        cli_csv_exact(&output, broad_data_output_name(data, c));
    }
    cli_output_print(&output, ",group,copy\n");
    for (size_t i = 0; i < broad_data_rows(data); i++) {
        const broad_photo *photo = broad_data_photo(data, i);
        cli_output_count(&output, i + 1);
        cli_output_bytes(&output, ",", 1);
        cli_csv_exact(&output, photo ? photo->name : "");
        put_targets(&output, data, i);
        cli_output_print(&output, ",%zu,%zu\n", broad_data_group(data, i) + 1, photo ? photo->copy : 0);
    }
    return cli_output_close(&output);
}

static int write_columns(const broad_data *data, const char *path)
{
    cli_output output;
    cli_output_open(&output, path);
    cli_output_print(&output, "column,name\n");
    for (size_t j = 0; j < broad_data_inputs(data); j++) {
        cli_output_count(&output, j + 1);
        cli_output_bytes(&output, ",", 1);
        cli_csv_exact(&output, broad_data_input_name(data, j));
        cli_output_bytes(&output, "\n", 1);
    }
    return cli_output_close(&output);
}

/* ---- the folder ---- */

static int place(char out[PATH_MAX], const char *folder, const char *name)
{
    size_t length = strlen(folder);
    int used = snprintf(out, PATH_MAX, "%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/", name);
    if (used > 0 && used < PATH_MAX) return BROAD_OK;
    return cli_fail(BROAD_CANNOT_WRITE, "%s: the path is too long", folder);
}

int cli_rows_export_write(cli_rows_export *out, const broad_data *data, const cli_folder *folder)
{
    char path[PATH_MAX];
    item as = item_for(data);
    set_shape(out, data, as);
    int status = place(path, folder->temporary, "inputs.npy");
    if (!status) status = write_inputs(out, data, as, path);
    if (!status) status = place(path, folder->temporary, "rows.csv");
    if (!status) status = write_rows(data, path);
    if (!status) status = place(path, folder->temporary, "columns.csv");
    if (!status) status = write_columns(data, path);
    return !status && cli_interrupted() ? BROAD_INTERRUPTED : status;
}

static json_t *path_json(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return place(path, folder, name) ? json_null() : cli_json_text(path);
}

json_t *cli_rows_export_json(const cli_rows_export *made, const char *folder)
{
    json_t *object = json_object(), *shape = json_array();
    for (size_t d = 0; d < made->dimensions; d++) cli_json_append(shape, json_integer((json_int_t)made->shape[d]));
    cli_json_put(object, "folder", cli_json_text(folder));
    cli_json_put(object, "inputs", path_json(folder, "inputs.npy"));
    cli_json_put(object, "type", cli_json_text(made->type));
    cli_json_put(object, "shape", shape);
    cli_json_put(object, "rows", path_json(folder, "rows.csv"));
    cli_json_put(object, "columns", path_json(folder, "columns.csv"));
    return object;
}

void cli_rows_export_print(const cli_rows_export *made, const char *folder)
{
    char inputs[PATH_MAX], rows[PATH_MAX], columns[PATH_MAX];
    if (place(inputs, folder, "inputs.npy") || place(rows, folder, "rows.csv") || place(columns, folder, "columns.csv"))
        return;
    cli_print("wrote    %s (%s", inputs, made->type);
    for (size_t d = 0; d < made->dimensions; d++) cli_print("%s%zu", d ? " x " : ", ", made->shape[d]);
    cli_print("), %s, %s\n", rows, columns);
}
