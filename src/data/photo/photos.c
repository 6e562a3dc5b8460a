#include "data/photo/photos.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "compute/pool.h"
#include "data/photo/photo_rows.h"
#include "data/photo/photos_cache.h"
#include "data/photo/photos_labels.h"
#include "data/photo/photos_prepare.h"
#include "data/photo/photos_share.h"
#include "data/targets.h"
#include "image/print/group.h"

enum { MESSAGE_BYTES = 1024 };
static const size_t CACHE_MOST = (size_t)1 << 30;

/* A set of photos on its way to a table. */
typedef struct reading {
    const char *first_path; /* of those given, for messages */
    const broad_read_options *options;
    const broad_photo_options *how;
    const broad__columns *columns;
    broad__photo_spec spec; /* of the table */
    broad__preparing preparing;
    broad__photo_maker *maker;
    broad__boxes *boxes;
    pthread_mutex_t lock; /* of the function that finds boxes */
    broad__photo_list list;
    broad__photo_labels labels;
    /* One for each file of the list. */
    broad__prepared *prepared;
    char **reasons;            /* why it was left out; NULL: it was not, or it is none */
    size_t first, step, total; /* of several ranks this one decodes so many files: every step-th from the first on */
    atomic_size_t done;        /* of these */
    size_t reported;           /* of the thread that called in alone */
    atomic_int status;         /* what ended it early */
    char message[MESSAGE_BYTES];
    /* The photos that can be used, and the rows. */
    size_t photos, rows;
    size_t *photo_files; /* photos: which file of the list */
    size_t *row_photos;  /* rows: which photo */
    size_t *row_files;   /* rows: which file of the list */
} reading;

static void reading_clear(reading *r)
{
    for (size_t i = 0; i < r->list.count; i++) {
        if (r->prepared) broad__prepared_clear(&r->prepared[i]);
        if (r->reasons) broad__free(r->reasons[i]);
    }
    broad__free(r->prepared);
    broad__free(r->reasons);
    broad__free(r->photo_files);
    broad__free(r->row_photos);
    broad__free(r->row_files);
    broad__photo_labels_clear(&r->labels);
    broad__photo_list_clear(&r->list);
    broad__photo_maker_close(r->maker);
    broad__boxes_free(r->boxes);
    broad__photo_cache_close(r->preparing.cache, CACHE_MOST);
}

/* ---- how ------------------------------------------------------------------------------------------------------- */

static int check_how(const broad_photo_options *how)
{
    if (how->maps > BROAD_PHOTO_MAP_ALL)
        return broad__fail(BROAD_USAGE, "the maps of photos are pixels, descriptors and windows; %u is more than these",
                           how->maps);
    if (!how->side || how->side > BROAD__PIXELS_MOST)
        return broad__fail(BROAD_USAGE, "the side of the square of pixels is 1 to %d; it is %zu", BROAD__PIXELS_MOST,
                           how->side);
    if (how->augment > BROAD__COPIES_MOST)
        return broad__fail(BROAD_USAGE, "at most %d augmented copies of each photo can be made, not %zu",
                           BROAD__COPIES_MOST, how->augment);
    if (how->boxes && how->find_boxes)
        return broad__fail(BROAD_USAGE, "boxes come from a file or from a detector, not from both");
    if (how->crop == BROAD__CROP_FIND) return broad__fail(BROAD_USAGE, "%s", BROAD__FINDER_REMOVED);
    if (how->crop > BROAD_CROP_MODEL)
        return broad__fail(BROAD_USAGE, "there is no way of cropping number %d", (int)how->crop);
    return BROAD_OK;
}

static int fail_boxes(broad_crop crop, const char *whose)
{
    if (crop == BROAD_CROP_BOXES || crop == BROAD_CROP_DETECTOR)
        return broad__fail(BROAD_USAGE,
                           "%s photos are cropped to boxes; give these with option boxes, or a program that "
                           "finds them with option detector",
                           whose);
    return broad__fail(BROAD_USAGE,
                       "%s photos are looked at as a whole, but boxes or a detector are given; leave these out", whose);
}

/* Where the boxes of a run come from; the boxes of a file do as well as those of a program. */
static int settle_crop(broad_crop *out, broad_crop asked, const broad_photo_options *how, const char *whose)
{
    int by_boxes = asked == BROAD_CROP_BOXES || asked == BROAD_CROP_DETECTOR;
    *out = how->boxes ? BROAD_CROP_BOXES : how->find_boxes ? BROAD_CROP_DETECTOR : asked;
    if (by_boxes != (how->boxes || how->find_boxes)) return fail_boxes(asked, whose);
    return BROAD_OK;
}

static int settle_spec(reading *r)
{
    const broad_photo_options *how = r->how;
    const broad__columns *model = r->columns;
    int status = check_how(how);
    if (status < 0) return status;
    if (model && !model->photo.maps)
        return broad__fail(BROAD_BAD_DATA,
                           "%s: the model was trained on a table, not on photos; give it a table with "
                           "the same columns",
                           r->first_path);
    broad_crop asked = how->crop;
    if (asked == BROAD_CROP_MODEL)
        asked = how->boxes ? BROAD_CROP_BOXES : how->find_boxes ? BROAD_CROP_DETECTOR : BROAD_CROP_NONE;
    r->spec = (broad__photo_spec){.version = BROAD__MAPS_VERSION,
                                  .maps = how->maps ? how->maps : BROAD_PHOTO_MAP_DESCRIPTORS | BROAD_PHOTO_MAP_WINDOWS,
                                  .side = how->side,
                                  .crop = asked,
                                  .each_box = how->each_box && asked != BROAD_CROP_NONE,
                                  .augment = how->augment};
    if (model) r->spec = model->photo;
    r->spec.components = 0; /* until all inputs are there */
    if (r->spec.version != BROAD__MAPS_VERSION)
        return broad__fail(BROAD_BAD_MODEL,
                           "the model reads photos in version %zu, and this program in version %d; "
                           "train it again",
                           r->spec.version, BROAD__MAPS_VERSION);
    r->preparing.spec = r->spec;
    return settle_crop(&r->preparing.spec.crop, r->spec.crop, how, model ? "the model's" : "these");
}

static int open_helpers(reading *r)
{
    const broad_photo_options *how = r->how;
    broad__preparing *p = &r->preparing;
    r->maker = broad__photo_maker_open(&r->spec);
    int status = r->maker ? BROAD_OK : BROAD_NO_MEMORY;
    p->maker = r->maker;
    p->augment = r->columns && r->options->training ? r->spec.augment : how->augment;
    p->seed = how->seed;
    p->labels = r->options->labels;
    p->boxes_path = how->boxes;
    p->find_boxes = how->find_boxes;
    p->find_boxes_context = how->find_boxes_context;
    p->lock = &r->lock;
    if (status == BROAD_OK && how->cache) status = broad__photo_cache_open(&p->cache, how->cache);
    if (status == BROAD_OK && p->spec.crop == BROAD_CROP_BOXES) status = broad__boxes_read(&r->boxes, how->boxes);
    p->boxes = r->boxes;
    return status;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* The first that fails for good decides; the lock also keeps its message whole. */
static void give_up(reading *r, int status)
{
    pthread_mutex_lock(&r->lock);
    if (atomic_load(&r->status) == BROAD_OK) {
        snprintf(r->message, sizeof r->message, "%s", broad_error_message());
        atomic_store(&r->status, status);
    }
    pthread_mutex_unlock(&r->lock);
}

static void report(reading *r)
{
    size_t done = atomic_load(&r->done);
    if (!r->options->progress || (done && done == r->reported)) return;
    r->reported = done;
    broad_progress progress = {.stage = "photos", .done = done, .total = r->total};
    if (!r->options->progress(&progress, r->options->progress_context)) return;
    give_up(r, broad__fail(BROAD_INTERRUPTED, "interrupted after %zu of %zu files", done, r->total));
}

static void prepare_one(void *context, size_t job, size_t worker)
{
    reading *r = context;
    size_t index = r->first + job * r->step;
    const broad__photo_file *file = &r->list.items[index];
    int ignored = 0;
    if (atomic_load(&r->status) != BROAD_OK) return;
    int status = broad__prepare(&r->prepared[index], &ignored, file, &r->preparing);
    int this_alone = status == BROAD_BAD_DATA || status == BROAD_NO_INPUT || status == BROAD_IO;
    if (this_alone) r->reasons[index] = broad__copy_text(broad_error_message());
    if (this_alone && !r->reasons[index]) status = BROAD_NO_MEMORY;
    /* A detector that fails has named the photo itself. */
    if (status == BROAD_FAILED) give_up(r, status);
    else if (status < 0 && (!this_alone || !r->reasons[index])) give_up(r, broad__fail_in(status, file->file));
    atomic_fetch_add(&r->done, 1);
    if (worker == 0) report(r);
}

/* The files of this rank. */
static int prepare_own(reading *r)
{
    size_t threads = r->how->threads;
    broad__pool *pool = NULL;
    if (!r->total) return BROAD_OK;
    int status = broad__pool_open(&pool, threads > r->total ? r->total : threads);
    if (status < 0) return status;
    report(r);
    broad__watch *before = broad__watch_enter(NULL); /* progress is in photos: report() */
    broad__pool_run(pool, r->total, prepare_one, r);
    broad__watch_leave(before);
    broad__pool_close(pool);
    if (atomic_load(&r->status) == BROAD_OK) report(r);
    status = atomic_load(&r->status);
    return status < 0 ? broad__fail(status, "%s", r->message) : BROAD_OK;
}

static int prepare_all(reading *r)
{
    r->prepared = broad__alloc_array(r->list.count, sizeof *r->prepared);
    r->reasons = broad__alloc_array(r->list.count, sizeof *r->reasons);
    broad__photos_share_own(&r->first, &r->step, &r->total, r->list.count);
    int status = broad__comm_settle(r->prepared && r->reasons ? prepare_own(r) : BROAD_NO_MEMORY);
    if (status < 0) return status;
    return broad__photos_share(r->prepared, r->reasons, r->list.count, broad__photo_inputs(&r->spec));
}

static int fail_strict(const reading *r, size_t first, size_t count)
{
    char more[64] = "";
    if (count > 1) snprintf(more, sizeof more, " (and %zu more)", count - 1);
    return broad__fail(BROAD_BAD_DATA, "%.300s: %.500s%s; without option strict such files are left out",
                       r->list.items[first].file, r->reasons[first], more);
}

static int fail_empty(const reading *r, size_t first, size_t count)
{
    if (!count) return broad__fail(BROAD_BAD_DATA, "%s: no photo in it; give a folder with photos", r->first_path);
    if (count == 1)
        return broad__fail(BROAD_BAD_DATA, "%s: its only file cannot be used, %.300s: %.400s", r->first_path,
                           r->list.items[first].file, r->reasons[first]);
    return broad__fail(BROAD_BAD_DATA, "%s: none of the %zu files can be used; the first, %.300s: %.400s",
                       r->first_path, count, r->list.items[first].file, r->reasons[first]);
}

/* Where folders are the classes, photos that lie in none of them are left out like files that cannot be read. */
static int leave_out_strays(reading *r)
{
    size_t labelled = 0;
    if (r->options->labels || (r->columns && r->options->target_optional)) return BROAD_OK;
    for (size_t i = 0; i < r->list.count; i++) labelled += r->prepared[i].rows > 0 && r->list.items[i].folder.count > 0;
    for (size_t i = 0; labelled && i < r->list.count; i++) {
        if (!r->prepared[i].rows || r->list.items[i].folder.count) continue;
        broad__prepared_clear(&r->prepared[i]);
        r->reasons[i] = broad__copy_text("lies in no folder of a class, but other photos do; move it into one");
        if (!r->reasons[i]) return BROAD_NO_MEMORY;
    }
    return BROAD_OK;
}

/* Which photos there are, and whether there are enough of them. */
static int count_photos(reading *r)
{
    size_t skipped = 0, first = 0;
    for (size_t i = r->list.count; i-- > 0;) {
        if (r->reasons[i]) first = i;
        skipped += r->reasons[i] != NULL;
        r->photos += r->prepared[i].rows > 0;
        r->rows += r->prepared[i].rows;
    }
    if (skipped && r->how->strict) return fail_strict(r, first, skipped);
    if (!r->photos) return fail_empty(r, first, skipped);
    r->photo_files = broad__alloc_array(r->photos, sizeof *r->photo_files);
    r->row_photos = broad__alloc_array(r->rows, sizeof *r->row_photos);
    r->row_files = broad__alloc_array(r->rows, sizeof *r->row_files);
    if (!r->photo_files || !r->row_photos || !r->row_files) return BROAD_NO_MEMORY;
    for (size_t i = 0, photo = 0, row = 0; i < r->list.count; i++) {
        for (size_t k = 0; k < r->prepared[i].rows; k++, row++) {
            r->row_photos[row] = photo;
            r->row_files[row] = i;
        }
        if (r->prepared[i].rows) r->photo_files[photo++] = i;
    }
    return BROAD_OK;
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

static int name_inputs(broad_data *table)
{
    char(*names)[BROAD__INPUT_NAME_BYTES] = broad__alloc_array(table->inputs, sizeof *names);
    broad__text *texts = broad__alloc_array(table->inputs, sizeof *texts);
    for (size_t i = 0; names && texts && i < table->inputs; i++) {
        broad__photo_input_name(names[i], &table->photos.spec, i);
        texts[i] = broad__text_of(names[i]);
    }
    if (names && texts) table->input_names = broad__names_copy(texts, table->inputs);
    broad__free(texts);
    broad__free(names);
    table->named = 1;
    return table->input_names ? BROAD_OK : BROAD_NO_MEMORY;
}

/* Inputs and facts of the rows. The floats of each photo go when they are copied. */
static int fill_rows(broad_data *table, reading *r)
{
    broad__photos *photos = &table->photos;
    size_t inputs = table->inputs, row = 0;
    broad__text *texts = broad__alloc_array(r->rows, 2 * sizeof *texts);
    photos->items = broad__alloc_array(r->rows, sizeof *photos->items);
    for (size_t i = 0; texts && i < r->rows; i++) {
        texts[2 * i] = broad__text_of(r->list.items[r->row_files[i]].file);
        texts[2 * i + 1] = broad__text_of(r->list.items[r->row_files[i]].name);
    }
    if (texts) photos->texts = broad__names_copy(texts, 2 * r->rows);
    broad__free(texts);
    if (!photos->items || !photos->texts) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < r->photos; i++) {
        broad__prepared *from = &r->prepared[r->photo_files[i]];
        size_t first = row;
        for (size_t k = 0; k < from->rows; k++, row++) {
            const broad__photo_part *part = &from->parts[k];
            broad_photo *item = &photos->items[row];
            *item = from->facts;
            item->file = photos->texts[2 * row];
            item->name = photos->texts[2 * row + 1];
            item->left = part->left;
            item->top = part->top;
            item->right = part->right;
            item->bottom = part->bottom;
            item->box_score = part->score;
            item->copy = (size_t)part->copy;
            item->faults = (unsigned)part->faults;
            item->group = first;
            memcpy(item->content, from->print.content, sizeof item->content);
            for (size_t j = 0; j < inputs; j++) table->x[row * inputs + j] = (double)from->inputs[k * inputs + j];
        }
        broad__free(from->inputs);
        from->inputs = NULL;
    }
    return BROAD_OK;
}

static int fill_skipped(broad__photos *photos, const reading *r)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < r->list.count; i++) count += r->reasons[i] != NULL;
    if (!count) return BROAD_OK;
    broad__text *texts = broad__alloc_array(count, 2 * sizeof *texts);
    if (!texts) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < r->list.count; i++) {
        if (!r->reasons[i]) continue;
        texts[at++] = broad__text_of(r->list.items[i].file);
        texts[at++] = broad__text_of(r->reasons[i]);
    }
    int status = broad__photos_set_skipped(photos, texts, count);
    broad__free(texts);
    return status;
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

/* out[photo]: the first photo of its near-duplicates. */
static int find_alike(size_t *out, const reading *r)
{
    broad__print *prints = broad__alloc_array(r->photos, sizeof *prints);
    if (!prints) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < r->photos; i++) prints[i] = r->prepared[r->photo_files[i]].print;
    int status = broad__group_prints(out, prints, r->photos);
    broad__free(prints);
    return status;
}

/* Rows of one photo always belong together; with `name` they are the groups of the table. */
static int set_groups(broad_data *table, const reading *r, const size_t *first_alike, const char *name)
{
    size_t *first_row = broad__alloc_array(r->photos, sizeof *first_row);
    if (!first_row) return BROAD_NO_MEMORY;
    for (size_t i = r->rows; i-- > 0;) first_row[r->row_photos[i]] = i;
    for (size_t i = 0; i < r->rows; i++) table->photos.items[i].group = first_row[first_alike[r->row_photos[i]]];
    broad__free(first_row);
    if (!name) return BROAD_OK;
    table->groups = broad__alloc_array(r->rows, sizeof *table->groups);
    table->group_name = broad__copy_text(name);
    if (!table->groups || !table->group_name) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < r->rows; i++) table->groups[i] = first_alike[r->row_photos[i]];
    return BROAD_OK;
}

/* Rows to train a model further are grouped as its own were. */
static int wants_alike(const reading *r)
{
    if (!r->columns || !r->options->training) return !r->how->no_groups;
    return r->columns->group_name && strcmp(r->columns->group_name, BROAD__NEAR_DUPLICATES) == 0;
}

/* A table in which every row is a group of its own has none: then splits can go class by class. */
static int group_rows(broad_data *table, const reading *r)
{
    size_t alike = 0, *first = broad__alloc_array(r->photos, sizeof *first);
    if (!first) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < r->photos; i++) first[i] = i;
    int status = wants_alike(r) ? find_alike(first, r) : BROAD_OK;
    for (size_t i = 0; i < r->photos; i++) alike += first[i] != i;
    const char *name = alike ? BROAD__NEAR_DUPLICATES : r->rows > r->photos ? BROAD__PHOTO_GROUPS : NULL;
    if (table->groups) name = NULL; /* those of the list */
    if (status == BROAD_OK) status = set_groups(table, r, first, name);
    broad__free(first);
    return status;
}

/* ---- targets --------------------------------------------------------------------------------------------------- */

static int fail_unlabelled(const reading *r)
{
    return broad__fail(BROAD_BAD_DATA,
                       "%s: the photos have no targets; put those of each class into a folder of its "
                       "own, or give a list with option labels",
                       r->first_path);
}

/* The folder of each photo is its class. */
static int set_folder_targets(broad_data *table, const reading *r)
{
    int optional = r->columns && r->options->target_optional;
    size_t labelled = 0;
    for (size_t i = 0; i < r->photos; i++) labelled += r->list.items[r->photo_files[i]].folder.count > 0;
    if (optional && labelled < r->photos) return BROAD_OK;
    if (!labelled) return r->columns ? fail_unlabelled(r) : BROAD_OK;
    broad_read_options options = *r->options;
    if (options.task == BROAD_TASK_AUTO) options.task = BROAD_TASK_CLASSIFY;
    char *name[] = {"class"};
    broad__target_facts facts = {.names = name};
    broad__parsed content = {.file = r->first_path, .rows = r->rows, .targets = {.columns = 1}};
    content.targets.texts = broad__alloc_array(r->rows, sizeof *content.targets.texts);
    if (!content.targets.texts) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < r->rows; i++) content.targets.texts[i] = r->list.items[r->row_files[i]].folder;
    int status = broad__targets_set(table, &content, &facts, &options, r->columns);
    if (status == BROAD_BAD_DATA && r->columns && r->columns->task == BROAD_TASK_REGRESS)
        status =
            broad__fail(BROAD_BAD_DATA, "%s: the model predicts numbers; give those of the photos with option labels",
                        r->first_path);
    broad__parsed_clear(&content);
    return status;
}

/* That classes are missing may be the fault of files that were left out: the first ones are named with what is wrong. */
static int fail_with_skipped(const broad__photos *photos)
{
    enum { SHOWN = 3, FILE_SHOWN = 200, REASON_SHOWN = 120 };
    char before[MESSAGE_BYTES], list[SHOWN * (FILE_SHOWN + REASON_SHOWN + 8)] = "", more[32] = "";
    size_t count = photos->skipped_count;
    snprintf(before, sizeof before, "%s", broad_error_message());
    for (size_t i = 0, used = 0; i < count && i < SHOWN; i++) {
        const broad_skipped *item = &photos->skipped[i];
        size_t length = strcspn(item->reason, ";");
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s: %.*s", i ? ", " : "", FILE_SHOWN, item->file,
                                 (int)(length < REASON_SHOWN ? length : REASON_SHOWN), item->reason);
    }
    if (count > SHOWN) snprintf(more, sizeof more, ", and %zu more", count - SHOWN);
    return broad__fail(BROAD_BAD_DATA, "%s; %zu file%s left out: %s%s", before, count, count == 1 ? " was" : "s were",
                       list, more);
}

/* Components as a model knows them, in the place of the inputs. */
static int project(broad_data **table, const broad__columns *columns, size_t threads)
{
    broad_data *made = NULL;
    int status = broad__table_project(&made, *table, columns->photo.components, &columns->projection, threads);
    if (status < 0) return status;
    /* Files that were left out are known to the first table alone. */
    made->photos.skipped = (*table)->photos.skipped;
    made->photos.skipped_texts = (*table)->photos.skipped_texts;
    made->photos.skipped_count = (*table)->photos.skipped_count;
    (*table)->photos.skipped = NULL;
    (*table)->photos.skipped_texts = NULL;
    broad__table_free(*table);
    *table = made;
    return BROAD_OK;
}

static int make_table(broad_data **out, reading *r)
{
    broad_data *table = NULL;
    int status = broad__table_new(&table, r->rows, broad__photo_inputs(&r->spec));
    if (status < 0) return status;
    table->format = "photos";
    table->photos.spec = r->spec;
    if (!r->columns)
        table->photos.plan = (broad__photo_plan){.choose = !r->how->maps,
                                                 .project = r->how->components != BROAD_COMPONENTS_NONE,
                                                 .components = r->how->components};
    status = name_inputs(table);
    if (status == BROAD_OK) status = fill_rows(table, r);
    if (status == BROAD_OK) status = fill_skipped(&table->photos, r);
    table->notes = r->labels.notes;
    r->labels.notes = (broad__notes){0};
    if (status == BROAD_OK && r->options->labels)
        status = broad__photo_labels_set(table, &r->labels, r->row_files, r->options, r->columns);
    else if (status == BROAD_OK) status = set_folder_targets(table, r);
    if (status == BROAD_BAD_DATA && !r->columns && table->photos.skipped_count)
        status = fail_with_skipped(&table->photos);
    if (status == BROAD_OK) status = group_rows(table, r);
    if (status == BROAD_OK && r->columns && r->columns->photo.components)
        status = project(&table, r->columns, r->how->threads);
    if (status < 0) broad__table_free(table);
    else *out = table;
    return status;
}

static int check_options(const broad_read_options *options, const broad__columns *model)
{
    if (!options->labels && model && model->weight_name && options->training)
        return broad__fail(BROAD_USAGE,
                           "the model was trained with weights; give a list with the column '%.100s' with "
                           "option labels",
                           model->weight_name);
    if (!options->labels && (options->group || options->weight || options->target))
        return broad__fail(BROAD_USAGE,
                           "%s names a column, and photos have none; give a list with such a column with "
                           "option labels",
                           options->group    ? "option group"
                           : options->weight ? "option weight"
                                             : "option target");
    if (options->categorical)
        return broad__fail(BROAD_USAGE, "option categorical names a column, and photos have none");
    return BROAD_OK;
}

int broad__read_photos(broad_data **out, const char *const *paths, size_t count, const broad_read_options *options,
                       const broad_photo_options *how, const broad__columns *columns)
{
    *out = NULL;
    reading r = {.first_path = count ? paths[0] : "", .options = options, .how = how, .columns = columns};
    if (!count) return broad__fail(BROAD_USAGE, "no photos are given; name files or folders");
    pthread_mutex_init(&r.lock, NULL);
    int status = check_options(options, columns);
    if (status == BROAD_OK) status = settle_spec(&r);
    if (status == BROAD_OK) status = broad__photo_list_make(&r.list, paths, count);
    if (status == BROAD_OK && options->labels) status = broad__photo_labels_read(&r.labels, &r.list, options, columns);
    if (status == BROAD_OK) status = open_helpers(&r);
    status = broad__comm_settle(status);
    if (status == BROAD_OK) status = broad__photos_share_check(&r.list, r.first_path);
    if (status == BROAD_OK) status = prepare_all(&r);
    if (status == BROAD_OK) status = leave_out_strays(&r);
    if (status == BROAD_OK) status = count_photos(&r);
    if (status == BROAD_OK) status = make_table(out, &r);
    reading_clear(&r);
    pthread_mutex_destroy(&r.lock);
    return status;
}
