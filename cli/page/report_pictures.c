#include "page/report_pictures.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "io/jobs.h"
#include "io/relative_path.h"
#include "page/picture_file.h"

enum { LARGE_SIDE = 1024, CARD_SIDE = 320, THUMB_SIDE = 112, QUALITY = 80, THUMB_QUALITY = 65, EXTRA_CARDS = 12 };

/* ---- which photos have a card ---- */

typedef int (*chooser)(const cli_findings *, const cli_finding *);

static int is_sure_fault(const cli_findings *all, const cli_finding *item)
{
    return cli_finding_is_sure(item) && (!all->classes || cli_finding_is_fault(all, item));
}

static int is_unsure(const cli_findings *all, const cli_finding *item)
{
    (void)all;
    return item->unsure && !item->unlike;
}

static int is_unlike(const cli_findings *all, const cli_finding *item)
{
    (void)all;
    return item->unlike;
}

static int is_sure_normal(const cli_findings *all, const cli_finding *item)
{
    return all->classes && cli_finding_is_sure(item) && !cli_finding_is_fault(all, item);
}

/* The first ones of a kind, in the order of the findings. */
static size_t take(cli_report_pictures *out, cli_card card, chooser fits, size_t most)
{
    size_t taken = 0;
    for (size_t i = 0; i < out->findings->count && taken < most; i++) {
        if (out->items[i].card || !fits(out->findings, &out->findings->items[i])) continue;
        out->items[i].card = card;
        taken++;
    }
    return taken;
}

typedef struct draw {
    char hash[BROAD__HASH_TEXT];
    size_t index;
} draw;

static int by_hash(const void *a, const void *b) { return strcmp(((const draw *)a)->hash, ((const draw *)b)->hash); }

/* By the hashes of their names: at random, and the same for the same photos. */
static int take_sample(cli_report_pictures *out, size_t most)
{
    size_t count = 0;
    draw *draws = calloc(out->findings->count + 1, sizeof *draws);
    if (!draws) return cli_fail(BROAD_NO_MEMORY, "out of memory while choosing a sample of the photos");
    for (size_t i = 0; i < out->findings->count; i++) {
        const cli_finding *item = &out->findings->items[i];
        char text[PATH_MAX + 32];
        if (out->items[i].card) continue;
        int length = snprintf(text, sizeof text, "%zu %s", item->row, item->photo->name);
        broad__hash_text(draws[count].hash, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
        draws[count++].index = i;
    }
    qsort(draws, count, sizeof *draws, by_hash);
    for (size_t i = 0; i < count && i < most; i++) out->items[draws[i].index].card = CLI_CARD_SAMPLE;
    free(draws);
    return BROAD_OK;
}

static int choose_cards(cli_report_pictures *out, size_t cards)
{
    size_t extra = cards < EXTRA_CARDS ? cards : EXTRA_CARDS;
    size_t unsure = take(out, CLI_CARD_UNSURE, is_unsure, (cards + 1) / 2);
    size_t faults = take(out, CLI_CARD_FAULT, is_sure_fault, cards - unsure);
    take(out, CLI_CARD_UNSURE, is_unsure, cards - unsure - faults);
    take(out, CLI_CARD_UNLIKE, is_unlike, extra);
    take(out, CLI_CARD_BORDERLINE, is_sure_normal, extra);
    int status = take_sample(out, extra);
    for (size_t i = 0; i < out->findings->count; i++) out->card_count += out->items[i].card != CLI_CARD_NONE;
    return status;
}

/* ---- making them: as jobs, which fail through broad__fail() ---- */

static int encode(cli_jpeg *out, const broad_picture *picture, size_t side, int quality)
{
    broad_picture *small = NULL;
    int status = broad_picture_fit(&small, picture, side);
    if (status) return status;
    out->width = broad_picture_width(small);
    out->height = broad_picture_height(small);
    status = broad_picture_jpeg(&out->bytes, &out->count, small, quality);
    broad_picture_free(small);
    return status;
}

static int write_large(const cli_report_pictures *all, const broad_picture *picture, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", all->folder->temporary, name);
    if (length > 0 && (size_t)length < sizeof path) return cli_picture_write(path, picture, QUALITY);
    return broad__fail(BROAD_CANNOT_WRITE, "%s: the path is too long", all->folder->path);
}

static int make_card(cli_report_pictures *all, size_t index, const broad_picture *framed, const broad_picture *whole,
                     const cli_heat_task *task)
{
    cli_report_picture *picture = &all->items[index];
    broad_picture *canvas = NULL;
    int status = encode(&picture->photo, framed, CARD_SIDE, QUALITY);
    if (!status) status = write_large(all, framed, all->links.photo[index]);
    if (!status) status = cli_photo_part(&canvas, whole, task->photo, LARGE_SIDE);
    if (!status) status = cli_heat_draw(canvas, &task->heat);
    if (!status) status = encode(&picture->heat, canvas, CARD_SIDE, QUALITY);
    if (!status) status = write_large(all, canvas, all->links.heat[index]);
    broad_picture_free(canvas);
    return status;
}

/* A file where there are many. */
static int keep_thumb(cli_report_pictures *all, size_t index, const broad_picture *framed)
{
    cli_jpeg *thumb = &all->items[index].thumb;
    char name[CLI_THUMB_NAME], path[PATH_MAX];
    int status = encode(thumb, framed, THUMB_SIDE, THUMB_QUALITY);
    if (status || index < CLI_THUMBS_INSIDE) return status;
    cli_thumb_name(name, index);
    snprintf(path, sizeof path, "%s/%s", all->folder->temporary, name);
    status = cli_write_new(path, thumb->bytes, thumb->count);
    broad_free(thumb->bytes);
    thumb->bytes = NULL;
    return status;
}

/* task: NULL where there is no card. */
static int make_pictures(cli_report_pictures *all, size_t index, const cli_heat_task *task)
{
    const broad_photo *photo = all->findings->items[index].photo;
    size_t side = task ? LARGE_SIDE : THUMB_SIDE;
    broad_picture *whole = NULL, *framed = NULL;
    int status = cli_photo_decode(&whole, photo, side);
    if (!status) status = cli_photo_framed(&framed, whole, photo, side);
    if (!status && task) status = make_card(all, index, framed, whole, task);
    if (!status) status = keep_thumb(all, index, framed);
    broad_picture_free(whole);
    broad_picture_free(framed);
    return status;
}

static int picture_job(void *context, size_t first, size_t count)
{
    cli_report_pictures *all = context;
    const broad_model *model = all->findings->model;
    cli_heat_task tasks[CLI_HEAT_BATCH] = {0};
    size_t task_count = 0;
    for (size_t i = first; i < first + count; i++) {
        const cli_finding *item = &all->findings->items[i];
        if (!all->items[i].card) continue;
        all->items[i].heat_output =
            cli_heat_output(model, all->findings->scores + item->row * broad_model_outputs(model));
        tasks[task_count++] = (cli_heat_task){.photo = item->photo, .output = all->items[i].heat_output};
    }
    int status = task_count ? cli_heat_make(tasks, task_count, all->maker) : BROAD_OK;
    for (size_t i = first, used = 0; !status && i < first + count; i++)
        status = make_pictures(all, i, all->items[i].card ? &tasks[used++] : NULL);
    cli_heat_tasks_clear(tasks, task_count);
    return status;
}

/* ---- all of them ---- */

static char *picture_link(const char *what, size_t index, const cli_finding *item)
{
    char name[NAME_MAX], *link = NULL;
    cli_heatmap_name(name, item->photo, index);
    char *dot = strrchr(name, '.');
    if (asprintf(&link, ".pictures/%.*s%s.jpg", dot ? (int)(dot - name) : (int)strlen(name), name, what) < 0)
        return NULL;
    return link;
}

static int make_links(cli_report_pictures *out)
{
    const cli_findings *all = out->findings;
    out->links.photo = calloc(all->count + 1, sizeof *out->links.photo);
    out->links.heat = calloc(all->count + 1, sizeof *out->links.heat);
    int done = out->links.photo && out->links.heat;
    for (size_t i = 0; done && i < all->count; i++) {
        const cli_finding *item = &all->items[i];
        if (out->items[i].card) {
            out->links.photo[i] = picture_link("", i, item);
            out->links.heat[i] = picture_link("-heat", i, item);
            done = out->links.photo[i] && out->links.heat[i];
        } else done = (out->links.photo[i] = cli_path_from(out->folder->path, item->photo->file)) != NULL;
    }
    return done ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the names of the pictures");
}

int cli_report_pictures_make(cli_report_pictures *out, const cli_findings *findings, cli_heat_maker *maker,
                             const cli_folder *folder, size_t cards, size_t threads, const cli_arguments *arguments)
{
    *out = (cli_report_pictures){.findings = findings, .maker = maker, .folder = folder};
    out->items = calloc(findings->count + 1, sizeof *out->items);
    if (!out->items)
        return cli_fail(BROAD_NO_MEMORY, "out of memory: cannot store the images of %zu photos", findings->count);
    int status = cli_folder_add(folder, ".pictures");
    if (!status) status = choose_cards(out, cards);
    if (!status) status = make_links(out);
    if (status) return status;
    return cli_jobs_run(findings->count, CLI_HEAT_BATCH, cli_heat_threads(threads), picture_job, out, "pictures",
                        arguments);
}

void cli_report_pictures_clear(cli_report_pictures *pictures)
{
    for (size_t i = 0; pictures->items && i < pictures->findings->count; i++) {
        broad_free(pictures->items[i].thumb.bytes);
        broad_free(pictures->items[i].photo.bytes);
        broad_free(pictures->items[i].heat.bytes);
        if (pictures->links.photo) free(pictures->links.photo[i]);
        if (pictures->links.heat) free(pictures->links.heat[i]);
    }
    free(pictures->links.photo);
    free(pictures->links.heat);
    free(pictures->items);
    memset(pictures, 0, sizeof *pictures);
}

void cli_thumb_name(char out[CLI_THUMB_NAME], size_t index)
{
    snprintf(out, CLI_THUMB_NAME, ".pictures/thumb-%06zu.jpg", index + 1);
}
