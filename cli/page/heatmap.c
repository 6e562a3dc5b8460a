#include "page/heatmap.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/folder.h"
#include "io/jobs.h"
#include "io/output.h"
#include "io/progress.h"
#include "io/ranks.h"
#include "page/findings.h"
#include "page/picture_file.h"

enum { PICTURE_SIDE = 1024, QUALITY = 90 };

struct cli_heat_maker {
    const broad_model *model;
    broad_explainer *explainer;
    double full; /* of the heat maps */
};

/* ---- a maker ---- */

double cli_heat_full(const broad_model *model)
{
    broad_estimate estimate = {.size = sizeof estimate};
    if (broad_model_task(model) == BROAD_TASK_CLASSIFY)
        return broad_probabilities(NULL, model, NULL, 0) == BROAD_OK ? 4 : 0.5;
    int known = broad_model_estimate(&estimate, model) == BROAD_OK && estimate.known;
    return known ? 2 * estimate.rmse : 0;
}

static int needs_photos(const broad_model *model)
{
    if (broad_model_maps(model)) return BROAD_OK;
    return cli_fail(BROAD_USAGE,
                    "the model was not trained on photos; 'broad fit' on a folder of photos makes one that is");
}

int cli_heat_maker_open(cli_heat_maker **out, const broad_model *model)
{
    *out = NULL;
    int status = needs_photos(model);
    if (status) return status;
    cli_heat_maker *maker = broad__alloc(sizeof *maker);
    if (!maker) return BROAD_NO_MEMORY;
    maker->model = model;
    maker->full = cli_heat_full(model);
    status = broad_explainer_open(&maker->explainer, model);
    if (status) cli_heat_maker_close(maker);
    else *out = maker;
    return status;
}

void cli_heat_maker_close(cli_heat_maker *maker)
{
    if (!maker) return;
    broad_explainer_close(maker->explainer);
    broad__free(maker);
}

size_t cli_heat_output(const broad_model *model, const double *scores)
{
    if (broad_model_task(model) != BROAD_TASK_CLASSIFY) return 0;
    size_t normal = broad_model_normal(model), best = normal ? 0 : 1;
    for (size_t i = 0; i < broad_model_outputs(model); i++)
        if (i != normal && scores[i] > scores[best]) best = i;
    return best;
}

int cli_heat_make(cli_heat_task *tasks, size_t count, const cli_heat_maker *maker)
{
    const broad_photo *photos[CLI_HEAT_BATCH] = {0};
    size_t outputs[CLI_HEAT_BATCH] = {0};
    broad_explanation grids[CLI_HEAT_BATCH];
    for (size_t i = 0; i < count; i++) {
        photos[i] = tasks[i].photo;
        outputs[i] = tasks[i].output;
        broad_explanation_init(&grids[i]);
    }
    int status = broad_photo_explain(grids, maker->explainer, photos, outputs, count);
    for (size_t i = 0; !status && i < count; i++) tasks[i].heat = (cli_heat){.grid = grids[i], .full = maker->full};
    return status;
}

void cli_heat_tasks_clear(cli_heat_task *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++) broad_explanation_clear(&tasks[i].heat.grid);
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

void cli_heatmap_name(char out[NAME_MAX], const broad_photo *photo, size_t row)
{
    const char *name = photo->name, *slash = strrchr(name, '/');
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

/* "Dusty 87 %", "against Dusty", "for Dusty"; of a value "power_loss 0.81", and what pushes it. */
static int add_words(broad_picture **canvas, const heatmaps *all, size_t output, size_t row)
{
    size_t outputs = broad_model_outputs(all->model);
    const double *scores = all->scores + row * outputs;
    const char *name = broad_model_output_name(all->model, output);
    char verdict[160], against[160], in_favour[160];
    if (broad_model_task(all->model) != BROAD_TASK_CLASSIFY) {
        snprintf(verdict, sizeof verdict, "%.100s %.4g", name, scores[output]);
        return cli_heat_strip(canvas, &(cli_heat_words){verdict, "pushes it down", "pushes it up"});
    }
    size_t label = broad_best_class(all->model, scores);
    int used = snprintf(verdict, sizeof verdict, "%.100s", broad_model_output_name(all->model, label));
    double *probabilities = broad__alloc_doubles(outputs, 1);
    if (!probabilities) return BROAD_NO_MEMORY;
    if (broad_probabilities(probabilities, all->model, scores, 1) == BROAD_OK)
        snprintf(verdict + used, sizeof verdict - (size_t)used, " %.0f %%", 100 * probabilities[label]);
    broad__free(probabilities);
    snprintf(against, sizeof against, "against %.100s", name);
    snprintf(in_favour, sizeof in_favour, "for %.100s", name);
    return cli_heat_strip(canvas, &(cli_heat_words){verdict, against, in_favour});
}

static int draw(heatmaps *all, cli_heat_task *task, size_t row)
{
    broad_picture *whole = NULL, *canvas = NULL;
    char name[NAME_MAX], path[PATH_MAX];
    cli_heatmap_name(name, broad_data_photo(all->data, row), row);
    int status = cli_photo_decode(&whole, task->photo, PICTURE_SIDE);
    if (!status) status = cli_photo_part(&canvas, whole, task->photo, PICTURE_SIDE);
    if (!status) status = cli_heat_draw(canvas, &task->heat);
    if (!status) status = add_words(&canvas, all, task->output, row);
    if (!status) status = place(path, all, name);
    if (!status) status = cli_picture_write(path, canvas, QUALITY);
    broad_picture_free(whole);
    broad_picture_free(canvas);
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
        const broad_explanation *heat = &all->heats[row].grid;
        double width = (double)heat->width, height = (double)heat->height;
        cli_heatmap_name(name, broad_data_photo(all->data, row), row);
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
    if (status || !cli_writes()) return status;
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
    for (size_t i = 0; all->heats && i < rows; i++) broad_explanation_clear(&all->heats[i].grid);
    broad__free(all->heats);
    return status;
}

int cli_heatmaps_write(const cli_arguments *arguments, const broad_model *model, const broad_data *data,
                       const double *scores, size_t threads)
{
    const char *path = cli_given(arguments, "heatmap");
    heatmaps all = {.model = model, .data = data, .scores = scores};
    if (!path || !cli_writes()) return BROAD_OK;
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
