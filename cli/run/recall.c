#include "run/recall.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/output.h"
#include "run/input.h"
#include "values.h"

enum { NAMES_SHOWN = 3, PLACES_MAX = CLI_GIVEN_MAX };

/* A folder that is looked through. */
typedef struct place {
    const char *path, *labels;
    const cli_fresh *fresh;   /* its photos are to be learned; NULL: it has old ones */
    broad_data *rows;         /* NULL: nothing could be used */
    int remembered;           /* not given: the model remembers it */
    const char *const *files; /* these alone, while they are read; NULL: all in the folder */
    size_t file_count;
} place;

/* A photo that is there. */
typedef struct seen {
    size_t place, first, rows;
    const broad_photo *photo;
    int labelled, used, again; /* again: another name of a file that is in the list */
    dev_t device;
    ino_t inode;
} seen;

/* A photo that the model remembers. */
typedef struct known {
    broad_source_photo photo;
    size_t source;
    int present;        /* its file is still there */
    const char *labels; /* the list that its label came from; NULL: none */
    double weight;
    cli_fate fate;
    seen *at; /* NULL: gone */
} known;

struct cli_recall {
    const broad_model *model;
    const cli_arguments *arguments;
    json_t **record;
    size_t place_count, seen_count, known_count;
    place places[PLACES_MAX];
    seen *seen;
    known *known;
};

int cli_recall_possible(const broad_model *model)
{
    const char *group = broad_model_group_name(model);
    size_t rows = 0;
    if (broad_model_task(model) != BROAD_TASK_CLASSIFY || broad_model_weight_name(model)) return 0;
    if (group && strcmp(group, "near-duplicates") && strcmp(group, "photo")) return 0;
    for (size_t i = 0; i < broad_model_sources(model); i++) {
        broad_source source = {.size = sizeof source};
        if (broad_model_source(&source, model, i) || !source.photos) return 0;
        rows += source.rows;
    }
    return rows > 0 && rows == broad_model_rows(model);
}

/* ---- what the model remembers ---- */

static double weight_of_row(const broad_model *model, size_t row)
{
    size_t segment = 0;
    while (segment + 1 < broad_model_segments(model) && row >= broad_model_segment_rows(model, segment))
        row -= broad_model_segment_rows(model, segment++);
    return broad_model_segment_weight(model, segment);
}

static int list_known(cli_recall *recall)
{
    const broad_model *model = recall->model;
    size_t count = 0, row = 0;
    broad_source source = {.size = sizeof source};
    for (size_t i = 0; i < broad_model_sources(model); i++)
        if (!broad_model_source(&source, model, i)) count += source.photos;
    recall->known = calloc(count + 1, sizeof *recall->known);
    if (!recall->known) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < broad_model_sources(model); i++) {
        int status = broad_model_source(&source, model, i);
        for (size_t k = 0; !status && k < source.photos; k++) {
            known *item = &recall->known[recall->known_count++];
            item->photo.size = sizeof item->photo;
            item->source = i;
            item->labels = source.labels;
            status = broad_model_source_photo(&item->photo, model, i, k);
            item->present = !status && access(item->photo.file, F_OK) == 0;
            item->weight = item->photo.held_out ? 1 : weight_of_row(model, row);
            if (!item->photo.held_out) row += item->photo.rows;
        }
        if (status) return status;
    }
    return BROAD_OK;
}

/* ---- what is there ---- */

static int has_place(const cli_recall *recall, const char *path, const char *labels)
{
    for (size_t i = 0; i < recall->place_count; i++) {
        const place *p = &recall->places[i];
        int same_labels = p->labels && labels ? cli_same_file(p->labels, labels) : p->labels == labels;
        if (!p->file_count && same_labels && cli_same_file(p->path, path)) return 1;
    }
    return 0;
}

static const char *is_are(size_t count) { return count == 1 ? "is" : "are"; }

/* Rows of a photo, augmented copies aside. */
static size_t count_boxes(const broad_data *rows, const char *file)
{
    size_t count = 0;
    for (size_t i = 0; i < broad_data_rows(rows); i++) {
        const broad_photo *photo = broad_data_photo(rows, i);
        count += !photo->copy && strcmp(photo->file, file) == 0;
    }
    return count;
}

static int check_boxes(const broad_data *rows, const cli_fresh *fresh)
{
    for (size_t i = 0; i < fresh->count; i++) {
        size_t named = fresh->boxes[i], count = named ? count_boxes(rows, fresh->files[i]) : 0;
        if (count > named)
            return cli_fail(BROAD_BAD_DATA,
                            "%s: only %zu of the %zu boxes of %s %s corrected; if the others show the same, correct "
                            "them too: " CLI_ONE_CLASS,
                            fresh->labels, named, count, fresh->files[i], is_are(named));
    }
    return BROAD_OK;
}

int cli_fresh_read(broad_data **out, json_t **record, const cli_fresh *fresh, const broad_read_options *read,
                   const cli_arguments *arguments)
{
    broad_read_options how = *read;
    how.labels = fresh->list ? fresh->list : fresh->labels;
    const cli_input input = {.paths = fresh->files ? fresh->files : &fresh->path,
                             .count = fresh->files ? fresh->count : 1,
                             .read = &how,
                             .arguments = arguments};
    int status = cli_input_read(out, record, &input);
    if (!status && fresh->boxes) status = check_boxes(*out, fresh);
    if (!status) return BROAD_OK;
    broad_data_free(*out);
    *out = NULL;
    return status;
}

static int read_place(cli_recall *recall, place *p)
{
    broad_read_options read;
    cli_read_options(&read, recall->arguments);
    read.model = recall->model;
    read.training = 1;
    read.target_optional = !p->fresh;
    read.weight = read.group = NULL;
    read.labels = p->labels;
    if (!p->labels || p->fresh) read.target = p->fresh && !p->fresh->files ? read.target : NULL;
    read.new_classes = p->fresh && cli_option_named(recall->arguments->command, "new-classes") &&
                       cli_given(recall->arguments, "new-classes");
    if (p->fresh) return cli_fresh_read(&p->rows, recall->record, p->fresh, &read, recall->arguments);
    cli_fresh some = {.path = p->path, .files = p->files, .count = p->file_count};
    if (p->files) return cli_fresh_read(&p->rows, recall->record, &some, &read, recall->arguments);
    return cli_read(&p->rows, recall->record, p->path, &read, recall->arguments);
}

static int list_seen(cli_recall *recall, size_t number)
{
    const broad_data *rows = recall->places[number].rows;
    size_t count = broad_data_rows(rows);
    seen *more = realloc(recall->seen, (recall->seen_count + count + 1) * sizeof *more);
    if (!more) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    recall->seen = more;
    for (size_t i = 0; i < count; i++) {
        const broad_photo *photo = broad_data_photo(rows, i);
        seen *last = recall->seen_count ? &more[recall->seen_count - 1] : NULL;
        if (last && last->place == number && strcmp(last->photo->file, photo->file) == 0) {
            last->rows++;
            continue;
        }
        struct stat info = {0};
        stat(photo->file, &info);
        more[recall->seen_count++] = (seen){.place = number,
                                            .first = i,
                                            .rows = 1,
                                            .photo = photo,
                                            .labelled = broad_data_task(rows) != BROAD_TASK_AUTO,
                                            .device = info.st_dev,
                                            .inode = info.st_ino};
    }
    return BROAD_OK;
}

static int add_place(cli_recall *recall, place fresh)
{
    if (!fresh.files && has_place(recall, fresh.path, fresh.labels)) return BROAD_OK;
    if (recall->place_count == PLACES_MAX)
        return cli_fail(BROAD_USAGE, "more than %d folders are too many", (int)PLACES_MAX);
    place *p = &recall->places[recall->place_count];
    *p = fresh;
    int status = read_place(recall, p);
    if (status) return status;
    return list_seen(recall, recall->place_count++);
}

/* One file by two names counts once: that with a label, else the first. */
/* For sorting without moving them. */
typedef struct place_in_order {
    seen *item;
} place_in_order;

static int by_file(const void *a, const void *b)
{
    const seen *one = ((const place_in_order *)a)->item, *other = ((const place_in_order *)b)->item;
    if (one->device != other->device) return one->device < other->device ? -1 : 1;
    if (one->inode != other->inode) return one->inode < other->inode ? -1 : 1;
    if (one->labelled != other->labelled) return one->labelled ? -1 : 1;
    return one < other ? -1 : one > other;
}

static int by_content(const void *a, const void *b)
{
    const seen *one = ((const place_in_order *)a)->item, *other = ((const place_in_order *)b)->item;
    int order = strcmp(one->photo->content, other->photo->content);
    return order ? order : one < other ? -1 : one > other;
}

static int by_name(const void *a, const void *b)
{
    const seen *one = ((const place_in_order *)a)->item, *other = ((const place_in_order *)b)->item;
    int order = strcmp(one->photo->file, other->photo->file);
    return order ? order : one < other ? -1 : one > other;
}

/* ---- matching ---- */

static size_t class_of(const cli_recall *recall, const seen *item)
{
    return broad_data_class(recall->places[item->place].rows, item->first);
}

/* Its label is another one: by a list, or by its folder where that was its label in training. */
static int differs(const known *k, const seen *item, const cli_recall *recall)
{
    return item->labelled && k->photo.has_class && class_of(recall, item) != k->photo.class_number &&
           (recall->places[item->place].labels || !k->labels);
}

static void take(known *k, seen *item, const cli_recall *recall)
{
    int same = strcmp(k->photo.content, item->photo->content) == 0, other_label = differs(k, item, recall);
    int rows_differ = !k->photo.held_out && item->rows != k->photo.rows;
    item->used = 1;
    k->at = item;
    k->fate = !same || rows_differ ? CLI_FATE_CHANGED : other_label ? CLI_FATE_RELABELLED : CLI_FATE_FOUND;
}

/* The first of those in order whose key is not less. */
static size_t lower(const place_in_order *sorted, size_t count, const char *key, int name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const broad_photo *photo = sorted[middle].item->photo;
        if (strcmp(name ? photo->file : photo->content, key) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Rounds of matching, from the surest on. */
enum { SAME_ALL, SAME_CONTENT_AND_LABEL, SAME_CONTENT, SAME_NAME, ROUNDS };

static int fits(const known *k, const seen *item, int round, const cli_recall *recall)
{
    int content = strcmp(k->photo.content, item->photo->content) == 0;
    int name = strcmp(k->photo.file, item->photo->file) == 0;
    int other_label = differs(k, item, recall);
    if (item->used || item->again) return 0;
    int fresh = recall->places[item->place].fresh != NULL;
    if (fresh && k->photo.held_out) return name && content;
    /* A copy that is to be learned, or is labelled otherwise, does not stand for a photo that is still there. */
    if (k->present && !name && (fresh || other_label)) return 0;
    switch (round) {
    case SAME_ALL: return name && content;
    case SAME_CONTENT_AND_LABEL: return content && !other_label;
    case SAME_CONTENT: return content;
    default: return name;
    }
}

static void match_round(cli_recall *recall, const place_in_order *sorted, int round)
{
    int name = round == SAME_NAME;
    for (size_t i = 0; i < recall->known_count; i++) {
        known *k = &recall->known[i];
        const char *key = name ? k->photo.file : k->photo.content;
        for (size_t at = k->at ? recall->seen_count : lower(sorted, recall->seen_count, key, name);
             at < recall->seen_count; at++) {
            if (strcmp(name ? sorted[at].item->photo->file : sorted[at].item->photo->content, key)) break;
            if (!fits(k, sorted[at].item, round, recall)) continue;
            take(k, sorted[at].item, recall);
            break;
        }
    }
}

static int same_file(const seen *one, const seen *other)
{
    return one->inode == other->inode && one->device == other->device;
}

static int match(cli_recall *recall)
{
    size_t count = recall->seen_count;
    place_in_order *sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        sorted[i].item = &recall->seen[i];
        recall->seen[i].used = recall->seen[i].again = 0;
    }
    for (size_t i = 0; i < recall->known_count; i++) {
        recall->known[i].at = NULL;
        recall->known[i].fate = CLI_FATE_GONE;
    }
    qsort(sorted, count, sizeof *sorted, by_file);
    for (size_t i = 1; i < count; i++)
        sorted[i].item->again = sorted[i].item->inode && same_file(sorted[i].item, sorted[i - 1].item);
    qsort(sorted, count, sizeof *sorted, by_content);
    for (int round = SAME_ALL; round < SAME_NAME; round++) match_round(recall, sorted, round);
    qsort(sorted, count, sizeof *sorted, by_name);
    match_round(recall, sorted, SAME_NAME);
    free(sorted);
    return BROAD_OK;
}

/* Photos of a source that are missing and lie where they lay in training. */
static size_t list_missing(const char **out, const cli_recall *recall, size_t source)
{
    size_t count = 0;
    for (size_t i = 0; i < recall->known_count; i++) {
        const known *k = &recall->known[i];
        if (k->source == source && !k->at && access(k->photo.file, R_OK) == 0) out[count++] = k->photo.file;
    }
    return count;
}

/* Where boxes are looked up by name, photos are read with their folders: so they were named in training. */
static int needs_folders(const broad_model *model)
{
    broad_photo_spec spec = {.size = sizeof spec};
    return broad_model_photo(&spec, model) || spec.crop != BROAD_CROP_NONE;
}

/* Missing photos, one by one. */
static int look_for_files(cli_recall *recall)
{
    const char **files = calloc(recall->known_count + 1, sizeof *files);
    if (!files) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    int status = BROAD_OK, folders = needs_folders(recall->model);
    for (size_t i = 0; !status && !folders && i < broad_model_sources(recall->model); i++) {
        broad_source source = {.size = sizeof source};
        size_t count = list_missing(files, recall, i);
        if (!count) continue;
        status = broad_model_source(&source, recall->model, i);
        if (status) break;
        cli_note(recall->arguments, "also reading %zu photo%s of %s, which the model was trained on", count,
                 cli_plural(count), source.path);
        status = add_place(recall, (place){.path = source.path, .files = files, .file_count = count, .remembered = 1});
        if (!status) status = match(recall);
    }
    free(files);
    return status;
}

/* Folders of photos that are not where they were, if the folders still exist. A folder that a list chose from is not searched. */
static int look_in_folders(cli_recall *recall)
{
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < recall->known_count; i++) {
        broad_source source = {.size = sizeof source};
        if (recall->known[i].at) continue;
        status = broad_model_source(&source, recall->model, recall->known[i].source);
        if (status || (source.labels && !needs_folders(recall->model)) || access(source.path, R_OK) ||
            has_place(recall, source.path, NULL))
            continue;
        cli_note(recall->arguments, "also looking in %s, which the model was trained on", source.path);
        status = add_place(recall, (place){.path = source.path, .remembered = 1});
        if (!status) status = match(recall);
    }
    return status;
}

int cli_recall_open(cli_recall **out, json_t **record, const broad_model *model, const cli_arguments *arguments,
                    const cli_files *files, const cli_fresh *fresh)
{
    cli_recall *recall = calloc(1, sizeof *recall);
    *out = NULL;
    if (!recall) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    recall->model = model;
    recall->arguments = arguments;
    recall->record = record;
    int status = list_known(recall);
    if (!status && fresh)
        status = add_place(recall, (place){.path = fresh->path, .labels = fresh->labels, .fresh = fresh});
    for (size_t i = 0; !status && i < files->count; i++)
        status = add_place(recall, (place){.path = files->paths[i], .labels = files->labels[i]});
    if (!status) status = match(recall);
    if (!status) status = look_for_files(recall);
    if (!status) status = look_in_folders(recall);
    if (status) cli_recall_close(recall);
    else *out = recall;
    return status;
}

void cli_recall_close(cli_recall *recall)
{
    if (!recall) return;
    for (size_t i = 0; i < recall->place_count; i++) broad_data_free(recall->places[i].rows);
    free(recall->seen);
    free(recall->known);
    free(recall);
}

/* ---- what came of it ---- */

/* In a folder that was given: of others only the old ones are of interest. */
static int is_new(const cli_recall *recall, const seen *item)
{
    return !item->used && !item->again && item->labelled && !recall->places[item->place].remembered;
}

size_t cli_recall_count(const cli_recall *recall, cli_fate fate)
{
    size_t count = 0;
    for (size_t i = 0; i < recall->known_count; i++)
        count += !recall->known[i].photo.held_out && recall->known[i].fate == fate;
    return count;
}

/* A list of names as text and as JSON at once. */
typedef struct naming {
    char text[512];
    size_t used, count;
    json_t *list;
} naming;

static void name_one(naming *out, const char *name, const char *more)
{
    if (out->count++ < NAMES_SHOWN) {
        int length = snprintf(out->text + out->used, sizeof out->text - out->used, "%s%.120s%s", out->used ? ", " : "",
                              name, more);
        if (length > 0) out->used += (size_t)length;
        if (out->used >= sizeof out->text) out->used = sizeof out->text - 1;
    }
    if (out->list) cli_json_append(out->list, cli_json_text(name));
}

static void name_rest(naming *out)
{
    if (out->count > NAMES_SHOWN)
        snprintf(out->text + out->used, sizeof out->text - out->used, " and %zu more", out->count - NAMES_SHOWN);
}

/* Of the photos that were trained on, or of those held out. */
static void name_fate(naming *out, const cli_recall *recall, cli_fate fate, int held_out)
{
    for (size_t i = 0; i < recall->known_count; i++) {
        const known *k = &recall->known[i];
        char more[200] = "";
        if (k->photo.held_out != held_out || k->fate != fate) continue;
        if (fate == CLI_FATE_RELABELLED)
            snprintf(more, sizeof more, " (%.80s, now %.80s)",
                     broad_model_output_name(recall->model, k->photo.class_number),
                     broad_data_output_name(recall->places[k->at->place].rows, class_of(recall, k->at)));
        name_one(out, fate == CLI_FATE_RELABELLED ? k->at->photo->file : k->photo.file, more);
    }
    name_rest(out);
}

static void name_surprises(naming *out, const cli_recall *recall)
{
    for (size_t i = 0; i < recall->seen_count; i++) {
        const seen *item = &recall->seen[i];
        if (is_new(recall, item) && !recall->places[item->place].fresh) name_one(out, item->photo->file, "");
    }
    name_rest(out);
}

static const char *has_have(size_t count) { return count == 1 ? "has" : "have"; }

/* "3 photos ... are gone: a, b, c"; 0: there is nothing to say. */
static int fate_text(char *out, size_t bytes, const cli_recall *recall, cli_fate fate)
{
    naming names = {0};
    name_fate(&names, recall, fate, 0);
    size_t n = names.count;
    if (!n) return 0;
    if (fate == CLI_FATE_GONE)
        snprintf(out, bytes, "%zu photo%s that the model was trained on %s gone: %s", n, cli_plural(n), is_are(n),
                 names.text);
    else if (fate == CLI_FATE_CHANGED)
        snprintf(out, bytes, "%zu photo%s %s changed since the model was trained: %s", n, cli_plural(n), has_have(n),
                 names.text);
    else snprintf(out, bytes, "%zu photo%s %s another label now: %s", n, cli_plural(n), has_have(n), names.text);
    return 1;
}

void cli_recall_note_held_out(const cli_recall *recall)
{
    static const char *const what[] = {[CLI_FATE_GONE] = "gone and no longer tested on",
                                       [CLI_FATE_CHANGED] = "changed since the model was trained",
                                       [CLI_FATE_RELABELLED] = "another label now, which counts in the test"};
    for (size_t fate = 0; fate < sizeof what / sizeof *what; fate++) {
        naming names = {0};
        if (!what[fate]) continue;
        name_fate(&names, recall, (cli_fate)fate, 1);
        if (names.count)
            cli_note(recall->arguments, "of the held-out photos, %zu %s %s: %s", names.count,
                     fate == CLI_FATE_GONE ? is_are(names.count) : has_have(names.count), what[fate], names.text);
    }
}

void cli_recall_note(const cli_recall *recall, int learned)
{
    char text[900];
    naming names = {0};
    name_surprises(&names, recall);
    if (names.count)
        cli_note(recall->arguments, "%zu photo%s %s new since the model was trained and %s: %s", names.count,
                 cli_plural(names.count), is_are(names.count), learned ? "will be learned too" : "left out",
                 names.text);
    for (int fate = CLI_FATE_GONE; learned && fate <= CLI_FATE_RELABELLED; fate++)
        if (fate != CLI_FATE_FOUND && fate_text(text, sizeof text, recall, (cli_fate)fate))
            cli_note(recall->arguments, "%s", text);
}

int cli_recall_check(const cli_recall *recall)
{
    char text[2048] = "", one[900];
    size_t used = 0, photos = cli_recall_count(recall, CLI_FATE_FOUND);
    for (int fate = CLI_FATE_GONE; fate <= CLI_FATE_RELABELLED; fate++)
        if (fate != CLI_FATE_FOUND && fate_text(one, sizeof one, recall, (cli_fate)fate) && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "; " : "", one);
    if (!used) return BROAD_OK;
    return cli_fail(BROAD_BAD_DATA,
                    "%s. %zu photo%s as in training. Bring the others back, give the folders they are in now, or let "
                    "'broad learn' go on with what is there",
                    text, photos, photos == 1 ? " is" : "s are");
}

static void put_fates(json_t *object, const cli_recall *recall, int held_out)
{
    static const char *const names[] = {
        [CLI_FATE_GONE] = "gone", [CLI_FATE_CHANGED] = "changed", [CLI_FATE_RELABELLED] = "relabelled"};
    for (size_t fate = 0; fate < sizeof names / sizeof *names; fate++) {
        naming list = {.list = names[fate] ? json_array() : NULL};
        if (!names[fate]) continue;
        name_fate(&list, recall, (cli_fate)fate, held_out);
        cli_json_put(object, names[fate], list.list);
    }
}

json_t *cli_recall_json(const cli_recall *recall)
{
    json_t *object = json_object(), *held_out = json_object();
    naming fresh = {.list = json_array()};
    cli_json_put(object, "found", json_integer((json_int_t)cli_recall_count(recall, CLI_FATE_FOUND)));
    put_fates(object, recall, 0);
    put_fates(held_out, recall, 1);
    cli_json_put(object, "held_out", held_out);
    name_surprises(&fresh, recall);
    cli_json_put(object, "new", fresh.list);
    return object;
}

/* ---- rows ---- */

/* Rows of several places in some order. */
typedef struct gathering {
    const cli_recall *recall;
    size_t count, most;
    struct gathered {
        size_t place, row, class_number, at; /* at: where it comes in the table of all places */
    } * items;
} gathering;

static int gather_open(gathering *out, const cli_recall *recall)
{
    size_t most = 1;
    for (size_t i = 0; i < recall->place_count; i++) most += broad_data_rows(recall->places[i].rows);
    *out = (gathering){.recall = recall, .most = most, .items = calloc(most, sizeof *out->items)};
    return out->items ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory");
}

static int gather_open_both(gathering *rows, gathering *held, const cli_recall *recall)
{
    int status = gather_open(rows, recall);
    if (status) return status;
    status = gather_open(held, recall);
    if (status) free(rows->items);
    return status;
}

static void gather(gathering *g, const seen *item, size_t class_number, int copies)
{
    const broad_data *rows = g->recall->places[item->place].rows;
    for (size_t i = item->first; i < item->first + item->rows; i++)
        if (copies || !broad_data_photo(rows, i)->copy)
            g->items[g->count++] = (struct gathered){item->place, i, class_number, 0};
}

/* The gathered rows of one place as training rows, added to *all. known: their classes are those that were gathered. */
static int add_rows_of(broad_data **all, gathering *g, size_t number, int known_classes)
{
    const place *p = &g->recall->places[number];
    size_t count = 0, base = broad_data_rows(*all);
    size_t *rows = calloc(2 * g->count + 2, sizeof *rows), *classes = rows ? rows + g->count + 1 : NULL;
    if (!rows) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < g->count; i++) {
        if (g->items[i].place != number) continue;
        g->items[i].at = base + count;
        classes[count] = g->items[i].class_number;
        rows[count++] = g->items[i].row;
    }
    broad_data *part = NULL, *made = NULL, *both = NULL;
    int status = count ? broad_data_pick(&part, p->rows, rows, count) : BROAD_OK;
    if (!status && count) status = broad_data_assign(&made, part, g->recall->model, known_classes ? classes : NULL);
    if (!status && made && *all) status = broad_data_append(&both, *all, made);
    if (!status && both) {
        broad_data_free(*all);
        *all = both;
    } else if (!status && made) {
        *all = made;
        made = NULL;
    }
    broad_data_free(part);
    broad_data_free(made);
    free(rows);
    return status;
}

/* All of them in their order. Frees what was gathered. */
static int gather_close(broad_data **out, gathering *g, int known_classes)
{
    broad_data *all = NULL;
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < g->recall->place_count; i++) status = add_rows_of(&all, g, i, known_classes);
    size_t *order = calloc(g->count + 1, sizeof *order);
    if (!status && !order) status = cli_fail(BROAD_NO_MEMORY, "out of memory");
    for (size_t i = 0; !status && i < g->count; i++) order[i] = g->items[i].at;
    *out = NULL;
    if (!status && g->count) status = broad_data_pick(out, all, order, g->count);
    broad_data_free(all);
    free(order);
    free(g->items);
    return status;
}

/* As it is now: a label that has changed counts. */
static size_t class_now(const cli_recall *recall, const known *k)
{
    return k->fate == CLI_FATE_RELABELLED ? class_of(recall, k->at) : k->photo.class_number;
}

static int all_found(const cli_recall *recall)
{
    for (size_t i = 0; i < recall->known_count; i++)
        if (!recall->known[i].photo.held_out && recall->known[i].fate != CLI_FATE_FOUND) return 0;
    return 1;
}

/* Whether a photo is in this pass: where all are found there is one pass, else one of plain and one of weighted rows. */
static int in_pass(const known *k, int whole, int weighted)
{
    if (k->photo.held_out || !k->at) return 0;
    return whole ? !weighted : (k->weight != 1) == weighted;
}

int cli_recall_training(broad_data **out, size_t *out_plain, double **weights, const cli_recall *recall)
{
    gathering g;
    int whole = all_found(recall), status = gather_open(&g, recall);
    size_t row = 0;
    if (status) return status;
    *weights = calloc(g.most, sizeof **weights);
    for (int weighted = 0; weighted < 2; weighted++) {
        for (size_t i = 0; i < recall->known_count; i++) {
            const known *k = &recall->known[i];
            if (!in_pass(k, whole, weighted)) continue;
            gather(&g, k->at, class_now(recall, k), 1);
            for (; weighted && *weights && row < g.count - *out_plain; row++) (*weights)[row] = k->weight;
        }
        if (!weighted) *out_plain = g.count;
    }
    status = gather_close(out, &g, 1);
    if (!status && !*weights) status = cli_fail(BROAD_NO_MEMORY, "out of memory");
    if (!status && !*out)
        status = cli_fail(BROAD_BAD_DATA, "none of the photos that the model was trained on was found; give their "
                                          "folder, or train on the new ones with 'broad fit'");
    return status;
}

int cli_recall_held_out(broad_data **out, const cli_recall *recall)
{
    gathering g;
    int status = gather_open(&g, recall);
    if (status) return status;
    for (size_t i = 0; i < recall->known_count; i++) {
        const known *k = &recall->known[i];
        if (k->photo.held_out && k->at) gather(&g, k->at, class_now(recall, k), 0);
    }
    return gather_close(out, &g, 1);
}

int cli_recall_new(broad_data **out, const cli_recall *recall)
{
    gathering g;
    int status = gather_open(&g, recall);
    if (status) return status;
    for (size_t i = 0; i < recall->seen_count; i++)
        if (is_new(recall, &recall->seen[i])) gather(&g, &recall->seen[i], 0, 1);
    return gather_close(out, &g, 0);
}

/* ---- remembering ---- */

/* The gathered photos, all of one place, as a source of the model. */
static int remember_part(broad_model *model, const place *p, const char *labels, gathering *rows, gathering *held,
                         int known_classes)
{
    broad_data *train = NULL, *apart = NULL;
    int any = rows->count || held->count, status = gather_close(&train, rows, known_classes);
    int status_held = gather_close(&apart, held, 1);
    if (!status) status = status_held;
    if (!status && any) status = broad_model_remember(model, p->path, labels, train, apart);
    broad_data_free(train);
    broad_data_free(apart);
    return status;
}

/* The list that its label is from; NULL: its folder. */
static const char *labels_of(const cli_recall *recall, const known *k)
{
    return k->fate == CLI_FATE_RELABELLED ? recall->places[k->at->place].labels : k->labels;
}

/* Of a place: the photos of one pass, in the order of the training rows. */
static int remember_known(broad_model *model, const cli_recall *recall, int whole, int weighted)
{
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < recall->known_count;) {
        gathering rows, held;
        const known *first = NULL;
        status = gather_open_both(&rows, &held, recall);
        if (status) return status;
        for (; i < recall->known_count; i++) {
            const known *k = &recall->known[i];
            if (!k->at || (k->photo.held_out ? weighted : !in_pass(k, whole, weighted))) continue;
            if (!first) first = k;
            if (k->at->place != first->at->place || labels_of(recall, k) != labels_of(recall, first)) break;
            gather(k->photo.held_out ? &held : &rows, k->at, class_now(recall, k), !k->photo.held_out);
        }
        status = remember_part(model, &recall->places[first ? first->at->place : 0],
                               first ? labels_of(recall, first) : NULL, &rows, &held, 1);
    }
    return status;
}

static int remember_new(broad_model *model, const cli_recall *recall)
{
    int status = BROAD_OK;
    for (size_t number = 0; !status && number < recall->place_count; number++) {
        gathering rows, held;
        status = gather_open_both(&rows, &held, recall);
        if (status) return status;
        for (size_t i = 0; i < recall->seen_count; i++)
            if (recall->seen[i].place == number && is_new(recall, &recall->seen[i]))
                gather(&rows, &recall->seen[i], class_of(recall, &recall->seen[i]), 1);
        status = remember_part(model, &recall->places[number], recall->places[number].labels, &rows, &held, 0);
    }
    return status;
}

int cli_recall_remember(broad_model *model, const cli_recall *recall)
{
    int whole = all_found(recall);
    broad_model_forget(model);
    int status = remember_known(model, recall, whole, 0);
    if (!status) status = remember_known(model, recall, whole, 1);
    return status ? status : remember_new(model, recall);
}
