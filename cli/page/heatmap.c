#include "page/heatmap.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/enum_names.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/photo/photos_prepare.h"
#include "image/descriptor/windows.h"
#include "image/photo.h"
#include "io/folder.h"
#include "io/jobs.h"
#include "io/json.h"
#include "io/output.h"
#include "io/progress.h"
#include "page/findings.h"
#include "page/picture_file.h"

enum { PICTURE_SIDE = 1024, QUALITY = 90 };
static const size_t ROOM_MAX = (size_t)1 << 32; /* numbers of a batch, of which there are some millions */

struct cli_heat_maker {
    const broad_model *model;
    broad__photo_spec spec;
    broad__photo_maker *photos;
    size_t map_inputs, inputs, outputs; /* numbers that the maps give, that the network takes and gives */
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
        .crop = (broad_crop)broad__enum_find(BROAD__CROPS, json_string_value(json_object_get(photo, "crop"))),
        .each_box = json_is_true(json_object_get(photo, "each_box")),
        .components = (size_t)json_integer_value(json_object_get(photo, "components")),
    };
    json_decref(stored);
    if (broad__photo_columns(out) == broad_model_inputs(model)) return BROAD_OK;
    return cli_fail(BROAD_BUG, "the model's maps do not give the inputs that it has");
}

/* Of values: by the model's usual error; without an estimate the largest of each picture set the scale. */
static void set_scale(cli_heat_maker *maker)
{
    broad_estimate estimate = {.size = sizeof estimate};
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
    maker->map_inputs = broad__photo_inputs(&spec);
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

static double opinion_of(const cli_heat_maker *maker, const double *scores, size_t output)
{
    if (!maker->classes) return scores[output];
    return maker->probabilities ? log_odds(scores, maker->outputs, output) : lead(scores, maker->outputs, output);
}

/* The inputs of many pictures, row by row. */
typedef struct batch {
    size_t rows, room;
    double *x;
} batch;

/* Adds the whole picture, then the whole without each cell. */
static int add_rows(batch *all, const cli_heat_maker *maker, const broad__image *seen, const cli_heat *heat)
{
    size_t rows = heat->width * heat->height + 1, first = all->rows * maker->inputs, count = maker->map_inputs;
    int status = broad__grow(&all->x, &all->room, first + rows * maker->inputs, sizeof *all->x, ROOM_MAX);
    float *maps = status ? NULL : broad__alloc_array(rows * count, sizeof *maps);
    if (!maps) return BROAD_NO_MEMORY;
    status = broad__photo_occlude(maps + count, maps, maker->photos, seen, heat->width, heat->height);
    if (!status) status = broad_photos_inputs(all->x + first, maker->model, maps, rows);
    broad__free(maps);
    if (!status) all->rows += rows;
    return status;
}

static int look_at(cli_heat_task *task, batch *all, const cli_heat_maker *maker)
{
    size_t width = 0, height = 0;
    int status = broad__photo_picture(&task->seen, &maker->spec, task->photo);
    if (status) return broad__fail_in(status, task->photo->file);
    broad__image_fit(&width, &height, task->seen.width, task->seen.height, BROAD__WINDOWS_SIDE);
    task->heat = (cli_heat){.clear = maker->clear, .full = maker->full};
    cli_heat_grid(&task->heat.width, &task->heat.height, width, height);
    return add_rows(all, maker, &task->seen, &task->heat);
}

/* `scores` are those of the whole and of each cell left out. */
static int set_cells(cli_heat_task *task, const cli_heat_maker *maker, const double *scores)
{
    size_t cells = task->heat.width * task->heat.height;
    task->heat.cells = broad__alloc_doubles(cells, 1);
    if (!task->heat.cells) return BROAD_NO_MEMORY;
    double whole = opinion_of(maker, scores, task->output);
    for (size_t i = 0; i < cells; i++) {
        double without = opinion_of(maker, scores + (i + 1) * maker->outputs, task->output);
        double change = (double)(cells - 1) * (whole - without);
        task->heat.cells[i] = maker->classes ? whole + change : change;
    }
    return cli_heat_smooth(&task->heat);
}

int cli_heat_make(cli_heat_task *tasks, size_t count, const cli_heat_maker *maker)
{
    batch all = {0};
    double *scores = NULL;
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < count; i++) status = look_at(&tasks[i], &all, maker);
    if (status) goto cleanup;
    scores = broad__alloc_doubles(all.rows, maker->outputs);
    status = scores ? broad_predict(scores, maker->model, all.x, all.rows, maker->inputs) : BROAD_NO_MEMORY;
    if (!status && maker->probabilities) status = broad_probabilities(scores, maker->model, scores, all.rows);
    for (size_t i = 0, row = 0; !status && i < count; i++) {
        status = set_cells(&tasks[i], maker, scores + row * maker->outputs);
        row += tasks[i].heat.width * tasks[i].heat.height + 1;
    }

cleanup:
    broad__free(scores);
    broad__free(all.x);
    if (status) cli_heat_tasks_clear(tasks, count);
    return status;
}

void cli_heat_tasks_clear(cli_heat_task *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cli_heat_clear(&tasks[i].heat);
        broad__image_free(&tasks[i].seen);
    }
}

int cli_heat_canvas(broad__image *out, const cli_heat_maker *maker, const broad_photo *photo, const broad__image *seen,
                    const broad__image *whole, size_t side)
{
    (void)maker, (void)seen;
    return cli_photo_part(out, whole, photo, side);
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

static int draw(heatmaps *all, cli_heat_task *task, size_t row)
{
    broad__image whole = {0}, canvas = {0};
    char name[NAME_MAX], path[PATH_MAX];
    heatmap_name(name, all->data, row);
    int status = cli_photo_decode(&whole, task->photo, PICTURE_SIDE);
    if (!status) status = cli_heat_canvas(&canvas, all->maker, task->photo, &task->seen, &whole, PICTURE_SIDE);
    if (!status) status = cli_heat_draw(&canvas, &task->heat);
    if (!status) status = cli_heat_strip(&canvas);
    if (!status) status = place(path, all, name);
    if (!status) status = cli_picture_write(path, &canvas, QUALITY);
    broad__image_free(&whole);
    broad__image_free(&canvas);
    if (status) return status;
    all->heats[row] = task->heat;
    task->heat = (cli_heat){0};
    return BROAD_OK;
}

static int heatmap_job(void *context, size_t first, size_t count)
{
    heatmaps *all = context;
    size_t outputs = broad_model_outputs(all->model);
    cli_heat_task tasks[CLI_HEAT_BATCH] = {0};
    for (size_t i = 0; i < count; i++) {
        tasks[i].photo = broad_data_photo(all->data, first + i);
        tasks[i].output = cli_heat_output(all->model, all->scores + (first + i) * outputs);
    }
    int status = cli_heat_make(tasks, count, all->maker);
    for (size_t i = 0; !status && i < count; i++) status = draw(all, &tasks[i], first + i);
    cli_heat_tasks_clear(tasks, count);
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
            size_t x = i % heat->width, y = i / heat->width;
            cli_csv_text(&output, name);
            cli_output_print(&output, ",%.4f,%.4f,%.4f,%.4f,%.4f\n", (double)x / width, (double)y / height,
                             (double)(x + 1) / width, (double)(y + 1) / height, heat->cells[i]);
        }
    }
    return cli_output_close(&output);
}

size_t cli_heat_threads(size_t threads)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0) threads = processors > 0 ? (size_t)processors : 1;
    return threads < CLI_HEAT_THREADS ? threads : CLI_HEAT_THREADS;
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
    if (!status)
        status =
            cli_jobs_run(rows, CLI_HEAT_BATCH, cli_heat_threads(threads), heatmap_job, all, "heat maps", arguments);
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
    if (!status && !cli_given(arguments, "json"))
        cli_note(arguments, "drew %zu heat maps into %s", broad_data_rows(data), path);
    return status;
}
