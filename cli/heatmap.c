#include "heatmap.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/choice.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/photos_prepare.h"
#include "findings.h"
#include "folder.h"
#include "image/photo.h"
#include "jobs.h"
#include "json.h"
#include "output.h"
#include "picture_file.h"
#include "progress.h"

enum { PICTURE_SIDE = 1024, QUALITY = 90 };

struct cli_heat_maker {
    const broad_model *model;
    broad__photo_spec spec;
    broad__photo_maker *photos;
    size_t inputs, outputs;
    int classes, probabilities;
    double clear, full; /* of the heat maps */
};

/* ---- a maker ---- */

/* How the model's photos are read, as its file says it. */
static int spec_of(broad__photo_spec *out, const broad_model *model)
{
    json_t *stored = NULL;
    int status = cli_json_stored(&stored, model);
    if (status) return status;
    const json_t *photo = json_object_get(stored, "photo");
    *out = (broad__photo_spec){
        .version = (size_t)json_integer_value(json_object_get(photo, "version")),
        .maps = (size_t)json_integer_value(json_object_get(photo, "maps")),
        .side = (size_t)json_integer_value(json_object_get(photo, "side")),
        .crop = (broad_crop)broad__choice_find(BROAD__CROPS, json_string_value(json_object_get(photo, "crop"))),
        .each_box = json_is_true(json_object_get(photo, "each_box")),
    };
    json_decref(stored);
    if (broad__photo_inputs(out) == broad_model_inputs(model)) return BROAD_OK;
    return cli_fail(BROAD_BUG, "the model's maps do not give the inputs that it has");
}

/* Of values: by the model's usual error; without an estimate the largest of each picture set the scale. */
static void set_scale(cli_heat_maker *maker)
{
    broad_estimate estimate;
    maker->clear = 0;
    maker->full = maker->probabilities ? 4 : 0.5;
    if (maker->probabilities) maker->clear = log(CLI_CERTAIN / (1 - CLI_CERTAIN));
    if (maker->classes) return;
    int known = broad_model_estimate(&estimate, maker->model) == BROAD_OK && estimate.known;
    maker->clear = known ? estimate.rmse : 0;
    maker->full = 2 * maker->clear;
}

static int needs_photos(const broad_model *model)
{
    if (broad_model_maps(model)) return BROAD_OK;
    return cli_fail(BROAD_USAGE,
                    "the model was not trained on photos; 'broad fit' on a folder of photos makes one that is");
}

int cli_heat_maker_open(cli_heat_maker **out, const broad_model *model)
{
    broad__photo_spec spec;
    *out = NULL;
    int status = needs_photos(model);
    if (!status) status = spec_of(&spec, model);
    if (status) return status;
    cli_heat_maker *maker = broad__alloc(sizeof *maker);
    if (!maker) return BROAD_NO_MEMORY;
    maker->model = model;
    maker->spec = spec;
    maker->inputs = broad_model_inputs(model);
    maker->outputs = broad_model_outputs(model);
    maker->classes = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    maker->probabilities = maker->classes && broad_probabilities(NULL, model, NULL, 0) == BROAD_OK;
    set_scale(maker);
    maker->photos = broad__photo_maker_open(&spec);
    if (!maker->photos) {
        cli_heat_maker_close(maker);
        return BROAD_NO_MEMORY;
    }
    *out = maker;
    return BROAD_OK;
}

void cli_heat_maker_close(cli_heat_maker *maker)
{
    if (!maker) return;
    broad__photo_maker_close(maker->photos);
    broad__free(maker);
}

size_t cli_heat_output(const broad_model *model, const double *scores)
{
    if (broad_model_task(model) != BROAD_TASK_CLASSIFY) return 0;
    return broad_model_outputs(model) == 2 ? broad_model_positive(model) : broad_best_class(model, scores);
}

/* ---- opinions ---- */

static double log_odds(const double *probabilities, size_t count, size_t output)
{
    double others = 0;
    for (size_t i = 0; i < count; i++)
        if (i != output) others += probabilities[i];
    return log(fmax(probabilities[output], DBL_MIN)) - log(fmax(others, DBL_MIN));
}

static double lead(const double *scores, size_t count, size_t output)
{
    double rival = -INFINITY;
    for (size_t i = 0; i < count; i++)
        if (i != output) rival = fmax(rival, scores[i]);
    return count > 1 ? scores[output] - rival : scores[output];
}

/* `x` is rows x inputs, `out` has room for them. */
static int judge(double *out, const cli_heat_maker *maker, const double *x, size_t rows, size_t output)
{
    double *scores = broad__alloc_doubles(rows, maker->outputs);
    if (!scores) return BROAD_NO_MEMORY;
    int status = broad_predict(scores, maker->model, x, rows, maker->inputs);
    if (!status && maker->probabilities) status = broad_probabilities(scores, maker->model, scores, rows);
    for (size_t i = 0; !status && i < rows; i++) {
        const double *row = scores + i * maker->outputs;
        if (!maker->classes) out[i] = row[output];
        else out[i] = maker->probabilities ? log_odds(row, maker->outputs, output) : lead(row, maker->outputs, output);
    }
    broad__free(scores);
    return status;
}

/* The whole, then the whole without each cell, as inputs of the network. */
static int occlude(double **out, const cli_heat_maker *maker, const broad__image *picture, size_t width, size_t height)
{
    size_t rows = width * height + 1, numbers = 0;
    if (broad__multiply(&numbers, rows, maker->inputs)) return broad__fail_memory(SIZE_MAX);
    float *inputs = broad__alloc_array(numbers, sizeof *inputs);
    double *x = broad__alloc_doubles(rows, maker->inputs);
    int status = inputs && x ? BROAD_OK : BROAD_NO_MEMORY;
    if (!status) status = broad__photo_occlude(inputs + maker->inputs, inputs, maker->photos, picture, width, height);
    for (size_t i = 0; !status && i < numbers; i++) x[i] = (double)inputs[i];
    broad__free(inputs);
    if (status) broad__free(x);
    else *out = x;
    return status;
}

/* Of the picture that the model was shown. */
static int heat_of(cli_heat *out, const cli_heat_maker *maker, const broad__image *seen, size_t output)
{
    size_t width = 0, height = 0;
    double *x = NULL, *opinions = NULL;
    broad__image_fit(&width, &height, seen->width, seen->height, BROAD__PHOTO_SIDE);
    *out = (cli_heat){.clear = maker->clear, .full = maker->full};
    cli_heat_grid(&out->width, &out->height, width, height);
    size_t cells = out->width * out->height;
    int status = occlude(&x, maker, seen, out->width, out->height);
    if (status) goto cleanup;
    opinions = broad__alloc_doubles(cells + 1, 1);
    out->cells = broad__alloc_doubles(cells, 1);
    status = opinions && out->cells ? judge(opinions, maker, x, cells + 1, output) : BROAD_NO_MEMORY;
    if (status) goto cleanup;
    for (size_t i = 0; i < cells; i++) {
        double change = (double)(cells - 1) * (opinions[0] - opinions[i + 1]);
        out->cells[i] = maker->classes ? opinions[0] + change : change;
    }
    status = cli_heat_smooth(out);

cleanup:
    broad__free(x);
    broad__free(opinions);
    if (status) cli_heat_clear(out);
    return status;
}

int cli_heat_make(cli_heat *out, broad__image *out_seen, const cli_heat_maker *maker, const broad_photo *photo,
                  size_t output)
{
    broad__image seen = {0};
    int status = broad__photo_picture(&seen, &maker->spec, photo);
    if (status) return broad__fail_in(status, photo->file);
    status = heat_of(out, maker, &seen, output);
    if (status || !out_seen) broad__image_free(&seen);
    else *out_seen = seen;
    return status;
}

int cli_heat_canvas(broad__image *out, const cli_heat_maker *maker, const broad_photo *photo, const broad__image *seen,
                    const broad__image *whole, size_t side)
{
    size_t width = 0, height = 0;
    /* What the finder found was shown from the front, and only the reader knows how. */
    int straight = maker->spec.crop != BROAD_CROP_FIND || !cli_photo_is_cropped(photo);
    if (straight) return cli_photo_part(out, whole, photo, side);
    broad__image_fit(&width, &height, seen->width, seen->height, side);
    return broad__image_resize(out, seen, width, height);
}

/* ---- predict --heatmap ---- */

typedef struct heatmaps {
    const broad_model *model;
    const broad_data *data;
    const double *scores;
    cli_heat_maker *maker;
    cli_folder folder;
    cli_heat *heats; /* of all rows, for cells.csv */
} heatmaps;

/* "000012-roof.jpg" for row 12: unique, in order, and safe whatever the photo's name is. */
static void heatmap_name(char out[NAME_MAX], const broad_data *data, size_t row)
{
    const char *name = broad_data_photo(data, row)->name, *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name, *dot = strrchr(base, '.');
    size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    if (length > 200) length = 200;
    while (length && (base[length] & 0xC0) == 0x80) length--; /* not within a character of UTF-8 */
    snprintf(out, NAME_MAX, "%06zu-%.*s.jpg", row + 1, (int)length, base);
}

static int place(char out[PATH_MAX], const heatmaps *all, const char *name)
{
    int written = snprintf(out, PATH_MAX, "%s/%s", all->folder.temporary, name);
    if (written > 0 && written < PATH_MAX) return BROAD_OK;
    return broad__fail(BROAD_CANNOT_WRITE, "%s: the name is too long", all->folder.path);
}

static int heatmap_job(void *context, size_t row)
{
    heatmaps *all = context;
    broad__image seen = {0}, whole = {0}, canvas = {0};
    char name[NAME_MAX], path[PATH_MAX];
    const broad_photo *photo = broad_data_photo(all->data, row);
    size_t output = cli_heat_output(all->model, all->scores + row * broad_model_outputs(all->model));
    heatmap_name(name, all->data, row);
    int status = cli_heat_make(&all->heats[row], &seen, all->maker, photo, output);
    if (!status) status = cli_photo_decode(&whole, photo, PICTURE_SIDE);
    if (!status) status = cli_heat_canvas(&canvas, all->maker, photo, &seen, &whole, PICTURE_SIDE);
    if (!status) status = cli_heat_draw(&canvas, &all->heats[row]);
    if (!status) status = cli_heat_strip(&canvas);
    if (!status) status = place(path, all, name);
    if (!status) status = cli_picture_write(path, &canvas, QUALITY);
    broad__image_free(&seen);
    broad__image_free(&whole);
    broad__image_free(&canvas);
    return status;
}

static int write_cells(const heatmaps *all)
{
    char path[PATH_MAX], name[NAME_MAX];
    cli_output output;
    int status = place(path, all, "cells.csv");
    if (status) return status;
    cli_output_open(&output, path);
    cli_output_print(&output, "picture,left,top,right,bottom,opinion\n");
    for (size_t row = 0; row < broad_data_rows(all->data); row++) {
        const cli_heat *heat = &all->heats[row];
        double width = (double)heat->width, height = (double)heat->height;
        heatmap_name(name, all->data, row);
        for (size_t i = 0; i < heat->width * heat->height; i++) {
            double x = (double)(i % heat->width), y = (double)(i / heat->width);
            cli_csv_text(&output, name);
            cli_output_print(&output, ",%.4f,%.4f,%.4f,%.4f,%.4f\n", x / width, y / height, (x + 1) / width,
                             (y + 1) / height, heat->cells[i]);
        }
    }
    return cli_output_close(&output);
}

int cli_heatmaps_check(const cli_arguments *arguments, const broad_model *model)
{
    cli_folder probe;
    const char *path = cli_given(arguments, "heatmap");
    if (!path) return BROAD_OK;
    int status = needs_photos(model);
    if (status) return status;
    cli_signals_catch(); /* nothing of the probe may stay */
    status = cli_folder_begin(&probe, path);
    return status ? status : cli_folder_abandon(&probe);
}

/* What is left of an unfinished folder is worse than why it is unfinished. */
static int give_up(cli_folder *folder, int status)
{
    int left = cli_folder_abandon(folder);
    return left ? left : status;
}

static int fill_folder(heatmaps *all, const cli_arguments *arguments, size_t threads)
{
    size_t rows = broad_data_rows(all->data);
    all->heats = broad__alloc_array(rows, sizeof *all->heats);
    int status = all->heats ? BROAD_OK : BROAD_NO_MEMORY;
    if (!status) status = cli_jobs_run(rows, threads, heatmap_job, all, "heat maps", arguments);
    if (!status) status = write_cells(all);
    for (size_t i = 0; all->heats && i < rows; i++) cli_heat_clear(&all->heats[i]);
    broad__free(all->heats);
    return status;
}

int cli_heatmaps_write(const cli_arguments *arguments, const broad_model *model, const broad_data *data,
                       const double *scores, size_t threads)
{
    const char *path = cli_given(arguments, "heatmap");
    heatmaps all = {.model = model, .data = data, .scores = scores};
    if (!path) return BROAD_OK;
    cli_signals_catch();
    int status = cli_heat_maker_open(&all.maker, model);
    if (!status) status = cli_folder_begin(&all.folder, path);
    if (!status) status = fill_folder(&all, arguments, threads);
    status = status ? give_up(&all.folder, status) : cli_folder_commit(&all.folder);
    cli_heat_maker_close(all.maker);
    if (status == BROAD_INTERRUPTED && cli_interrupted()) {
        cli_note(arguments, "interrupted; %s was not made", path);
        return 128 + cli_interrupted();
    }
    cli_signals_release();
    if (!status) cli_note(arguments, "drew %zu heat maps into %s", broad_data_rows(data), path);
    return status;
}
