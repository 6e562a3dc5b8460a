/* What a folder of photos holds. */
#include "run/data_photos.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "run/photo_verdict.h"

enum { FILES_SHOWN = 5, MEMBERS_SHOWN = 4 };
enum { CROWD = 4 }; /* a group of more than one in this number of all photos */
static const size_t FILE_MOST = (size_t)1 << 30;

/* ---- orders ---- */

typedef struct ranked {
    double value;
    size_t row;
} ranked;

static int compare_ranked(const void *one, const void *other)
{
    const ranked *a = one, *b = other;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static double pixels_of(const broad_photo *photo) { return (double)photo->width * (double)photo->height; }
static double aspect_of(const broad_photo *photo) { return (double)photo->width / (double)photo->height; }

static size_t *order_by(const broad_data *data, double (*value)(const broad_photo *))
{
    size_t rows = broad_data_rows(data);
    ranked *list = calloc(rows + 1, sizeof *list);
    size_t *order = calloc(rows + 1, sizeof *order);
    if (list && order) {
        for (size_t i = 0; i < rows; i++) list[i] = (ranked){value(broad_data_photo(data, i)), i};
        qsort(list, rows, sizeof *list, compare_ranked);
        for (size_t i = 0; i < rows; i++) order[i] = list[i].row;
    } else {
        free(order);
        order = NULL;
    }
    free(list);
    return order;
}

static void order_groups(data_photos *p)
{
    size_t rows = broad_data_rows(p->data), count = 0;
    for (size_t i = 0; i < rows; i++) p->members[broad_data_photo(p->data, i)->group]++;
    for (size_t g = 0; g < rows; g++)
        if (p->members[g] > 1) p->groups[count++] = g;
    for (size_t i = 1; i < count; i++) {
        size_t group = p->groups[i], at = i;
        for (; at > 0 && p->members[p->groups[at - 1]] < p->members[group]; at--) p->groups[at] = p->groups[at - 1];
        p->groups[at] = group;
    }
}

/* ---- files ---- */

typedef struct hashed {
    char text[BROAD__HASH_TEXT];
    size_t row;
} hashed;

static int compare_hashed(const void *one, const void *other)
{
    const hashed *a = one, *b = other;
    int order = strcmp(a->text, b->text);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* Files with the same bytes are near-duplicates too: only these are looked at. One that cannot be read again is left. */
static int find_copies(data_photos *p)
{
    size_t rows = broad_data_rows(p->data), count = 0;
    hashed *list = calloc(rows + 1, sizeof *list);
    if (!list) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < rows; i++) {
        const broad_photo *photo = broad_data_photo(p->data, i);
        void *bytes = NULL;
        size_t size = 0;
        p->copy_of[i] = i;
        if (p->members[photo->group] < 2 || broad__file_read(&bytes, &size, photo->file, FILE_MOST)) continue;
        broad__hash_text(list[count].text, bytes, size);
        list[count++].row = i;
        broad__free(bytes);
    }
    qsort(list, count, sizeof *list, compare_hashed);
    for (size_t i = 1, first = 0; i < count; i++) {
        if (strcmp(list[i].text, list[first].text) != 0) first = i;
        p->copy_of[list[i].row] = list[first].row;
        p->copies += first != i;
    }
    free(list);
    return BROAD_OK;
}

/* In text, and as a key of JSON. */
static const char *const format_names[DATA_PHOTO_FORMATS][2] = {
    {"JPEG", "jpeg"}, {"PNG", "png"}, {"HEIC", "heic"}, {"WebP", "webp"}, {"TIFF", "tiff"}};

/* A photo that was read, and so is of one of the formats, has these bytes at this place. */
typedef struct beginning {
    data_photo_format format;
    size_t at, count;
    const char *bytes;
} beginning;

static const beginning beginnings[] = {{DATA_PHOTO_JPEG, 0, 2, "\xff\xd8"}, {DATA_PHOTO_PNG, 0, 4, "\x89PNG"},
                                       {DATA_PHOTO_HEIC, 4, 4, "ftyp"},     {DATA_PHOTO_WEBP, 8, 4, "WEBP"},
                                       {DATA_PHOTO_TIFF, 0, 4, "II*\0"},    {DATA_PHOTO_TIFF, 0, 4, "MM\0*"}};

static void count_format(data_photos *p, const char *path)
{
    unsigned char start[12] = {0};
    size_t bytes = 0;
    if (broad__file_read_start(start, &bytes, path, sizeof start)) return;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (memcmp(start + beginnings[i].at, beginnings[i].bytes, beginnings[i].count) == 0) {
            p->of_format[beginnings[i].format]++;
            return;
        }
}

static void look_at_files(data_photos *p)
{
    for (size_t i = 0; i < broad_data_rows(p->data); i++) {
        const broad_photo *photo = broad_data_photo(p->data, i);
        count_format(p, photo->file);
        p->faulty += photo->faults != 0;
        p->landscape += photo->width > photo->height;
        p->portrait += photo->width < photo->height;
    }
}

static void find_span(data_photos *p)
{
    p->south = p->west = INFINITY;
    p->north = p->east = -INFINITY;
    for (size_t i = 0; i < broad_data_rows(p->data); i++) {
        const broad_photo *photo = broad_data_photo(p->data, i);
        if (photo->time[0]) {
            if (!p->timed || strcmp(photo->time, p->first_time) < 0)
                snprintf(p->first_time, sizeof p->first_time, "%s", photo->time);
            if (!p->timed || strcmp(photo->time, p->last_time) > 0)
                snprintf(p->last_time, sizeof p->last_time, "%s", photo->time);
            p->timed++;
        }
        if (!isfinite(photo->latitude) || !isfinite(photo->longitude)) continue;
        p->placed++;
        p->south = fmin(p->south, photo->latitude), p->north = fmax(p->north, photo->latitude);
        p->west = fmin(p->west, photo->longitude), p->east = fmax(p->east, photo->longitude);
    }
}

int data_photos_make(data_photos *out, const broad_data *data)
{
    size_t rows = broad_data_rows(data);
    memset(out, 0, sizeof *out);
    out->data = data;
    int status = cli_photo_facts_make(&out->facts, data);
    if (status) return status;
    out->class_counts = data_class_counts(data);
    out->by_pixels = order_by(data, pixels_of);
    out->by_aspect = order_by(data, aspect_of);
    out->members = calloc(rows + 1, sizeof *out->members);
    out->groups = calloc(rows + 1, sizeof *out->groups);
    out->copy_of = calloc(rows + 1, sizeof *out->copy_of);
    if (out->by_pixels && out->by_aspect && out->members && out->groups && out->copy_of) {
        order_groups(out);
        status = find_copies(out);
    } else {
        status = BROAD_NO_MEMORY;
    }
    if (status) return cli_fail(status, "out of memory: cannot describe %zu photos", rows);
    look_at_files(out);
    find_span(out);
    return BROAD_OK;
}

void data_photos_clear(data_photos *p)
{
    cli_photo_facts_clear(&p->facts);
    free(p->class_counts);
    free(p->by_pixels);
    free(p->by_aspect);
    free(p->members);
    free(p->groups);
    free(p->copy_of);
    memset(p, 0, sizeof *p);
}

/* ---- advice ---- */

/* Median pixels of the photos of a class. */
static double median_pixels(const data_photos *p, size_t class)
{
    size_t rows = broad_data_rows(p->data), seen = 0;
    for (size_t i = 0; i < rows; i++) {
        if (broad_data_class(p->data, p->by_pixels[i]) != class) continue;
        if (2 * ++seen > p->class_counts[class]) return pixels_of(broad_data_photo(p->data, p->by_pixels[i]));
    }
    return 0;
}

static void advise_sizes(data_advice *advice, const data_photos *p)
{
    enum { ALIKE = 2 };
    size_t classes = broad_data_outputs(p->data), small = 0, large = 0;
    for (size_t c = 0; p->class_counts && c < classes; c++) {
        if (median_pixels(p, c) < median_pixels(p, small)) small = c;
        if (median_pixels(p, c) > median_pixels(p, large)) large = c;
    }
    if (p->class_counts && median_pixels(p, large) > ALIKE * median_pixels(p, small))
        data_advise(advice,
                    "photos of %s are larger than those of %s; if they also come from different sources, the model may "
                    "learn to "
                    "tell the cameras apart: mix the sources",
                    broad_data_output_name(p->data, large), broad_data_output_name(p->data, small));
}

/* What to do about a file that was left out: its reason says so after a semicolon, unless it is damaged, empty or shut. */
static const char *remedy_of(const broad_skipped *skipped)
{
    const char *mark = strchr(skipped->reason, ';');
    return mark ? mark + 1 + strspn(mark + 1, " ") : "make it readable, or remove it";
}

/* One line for all files with the same remedy. */
static void advise_skipped(data_advice *advice, const broad_data *data)
{
    enum { REMEDIES = 5 }; /* leaves room for other advice */
    const broad_skipped *first[REMEDIES];
    size_t count = 0, files[REMEDIES] = {0};
    for (size_t i = 0; i < broad_data_skipped_count(data); i++) {
        const broad_skipped *item = broad_data_skipped(data, i);
        size_t at = 0;
        while (at < count && strcmp(remedy_of(first[at]), remedy_of(item)) != 0) at++;
        if (at == REMEDIES) continue;
        if (at == count) first[count++] = item;
        files[at]++;
    }
    for (size_t k = 0; k < count; k++) {
        char more[64] = "";
        if (files[k] > 1)
            snprintf(more, sizeof more, ", and %zu file%s like it", files[k] - 1, cli_plural(files[k] - 1));
        data_advise(advice, "%.120s%s: %.*s; %s", first[k]->file, more, (int)strcspn(first[k]->reason, ";"),
                    first[k]->reason, remedy_of(first[k]));
    }
}

void data_photos_advise(data_advice *advice, const data_photos *p)
{
    if (broad_data_task(p->data) == BROAD_TASK_AUTO)
        data_advise(advice,
                    "there are no classes: put the photos into one sub-folder per class, or give --labels LIST.csv");
    advise_skipped(advice, p->data);
    if (p->facts.contradictions)
        data_advise(
            advice,
            "near-duplicates have different labels: give them the same label, or remove one; otherwise any model is "
            "wrong about one of them");
    if (p->facts.groups && CROWD * p->members[p->groups[0]] > broad_data_rows(p->data))
        data_advise(
            advice,
            "%zu photos look alike, as if from one fixed camera, and would stay on one side of every split: give a "
            "list with --labels and group by one of its columns, such as --group date, or give --no-groups",
            p->members[p->groups[0]]);
    if (p->faulty)
        data_advise(advice,
                    "look at the photos under 'quality', and remove those that do not show what is to be learned");
    if (p->copies) data_advise(advice, "remove exact copies: they add nothing but count twice");
    data_advise_targets(advice, p->data, p->class_counts);
    advise_sizes(advice, p);
}

/* ---- text ---- */

static const char *name_of(const data_photos *p, size_t row) { return broad_data_photo(p->data, row)->name; }

static void print_classes(const data_photos *p)
{
    size_t classes = broad_data_outputs(p->data), rows = broad_data_rows(p->data);
    cli_print("photos   %zu", rows);
    for (size_t c = 0; p->class_counts && c < classes; c++)
        cli_print("%s %s %zu", c ? "," : ":", broad_data_output_name(p->data, c), p->class_counts[c]);
    cli_print("\nformats ");
    for (size_t f = 0; f < DATA_PHOTO_FORMATS; f++)
        if (f <= DATA_PHOTO_PNG || p->of_format[f])
            cli_print("%s %zu %s", f ? "," : "", p->of_format[f], format_names[f][0]);
    cli_print("\n");
}

static void print_sizes(const data_photos *p)
{
    size_t rows = broad_data_rows(p->data);
    const broad_photo *least = broad_data_photo(p->data, p->by_pixels[0]),
                      *median = broad_data_photo(p->data, p->by_pixels[rows / 2]),
                      *largest = broad_data_photo(p->data, p->by_pixels[rows - 1]);
    cli_print("sizes    %zux%zu to %zux%zu, median %zux%zu\n", least->width, least->height, largest->width,
              largest->height, median->width, median->height);
    cli_print("shapes   %zu landscape, %zu portrait, %zu square; width / height %.2f to %.2f, median %.2f\n",
              p->landscape, p->portrait, rows - p->landscape - p->portrait,
              aspect_of(broad_data_photo(p->data, p->by_aspect[0])),
              aspect_of(broad_data_photo(p->data, p->by_aspect[rows - 1])),
              aspect_of(broad_data_photo(p->data, p->by_aspect[rows / 2])));
}

static void print_span(const data_photos *p)
{
    size_t rows = broad_data_rows(p->data);
    if (p->timed)
        cli_print("times    %s to %s (%zu of %zu photos have a time)\n", p->first_time, p->last_time, p->timed, rows);
    else cli_print("times    not known\n");
    if (p->placed)
        cli_print("places   %zu of %zu photos have coordinates: latitude %.5f to %.5f, longitude %.5f to %.5f\n",
                  p->placed, rows, p->south, p->north, p->west, p->east);
    else cli_print("places   not known\n");
}

static void print_skipped(const data_photos *p, size_t shown)
{
    size_t count = broad_data_skipped_count(p->data);
    cli_print("skipped  %zu file%s\n", count, cli_plural(count));
    for (size_t i = 0; i < count && i < shown; i++)
        cli_print("  %s: %s\n", broad_data_skipped(p->data, i)->file, broad_data_skipped(p->data, i)->reason);
    if (count > shown) cli_print("  and %zu more\n", count - shown);
}

static void print_faults(const data_photos *p, size_t shown)
{
    size_t seen = 0;
    if (!p->faulty) return;
    cli_print("quality  %zu photo%s may show too little\n", p->faulty, p->faulty == 1 ? "" : "s");
    for (size_t i = 0; i < broad_data_rows(p->data); i++) {
        char faults[CLI_FAULTS_BYTES];
        cli_photo_faults(faults, broad_data_photo(p->data, i));
        if (faults[0] && seen++ < shown) cli_print("  %s: %s\n", name_of(p, i), faults);
    }
    if (seen > shown) cli_print("  and %zu more\n", seen - shown);
}

static void print_copies(const data_photos *p, size_t shown)
{
    size_t seen = 0;
    cli_print("copies   %zu file%s identical to another\n", p->copies, p->copies == 1 ? " is" : "s are");
    for (size_t i = 0; i < broad_data_rows(p->data); i++)
        if (p->copy_of[i] != i && seen++ < shown)
            cli_print("  %s is the same as %s\n", name_of(p, i), name_of(p, p->copy_of[i]));
    if (seen > shown) cli_print("  and %zu more\n", seen - shown);
}

static void print_group(const data_photos *p, size_t group, size_t shown)
{
    size_t seen = 0;
    for (size_t i = 0; i < broad_data_rows(p->data); i++)
        if (broad_data_photo(p->data, i)->group == group && seen++ < shown)
            cli_print("%s%s", seen > 1 ? ", " : "  ", name_of(p, i));
    if (seen > shown) cli_print(" and %zu more", seen - shown);
    cli_print("\n");
}

static void print_groups(const data_photos *p, size_t shown, size_t members)
{
    const cli_photo_facts *facts = &p->facts;
    cli_print("groups   %zu photos are near-duplicates, in %zu group%s\n", facts->grouped, facts->groups,
              facts->groups == 1 ? "" : "s");
    for (size_t i = 0; i < facts->groups && i < shown; i++) print_group(p, p->groups[i], members);
    if (facts->groups > shown) cli_print("  and %zu more\n", facts->groups - shown);
}

static void print_contradictions(const data_photos *p, size_t shown)
{
    const cli_photo_facts *facts = &p->facts;
    if (!p->class_counts) return;
    cli_print("labels   %zu photo%s a different label from a near-duplicate\n", facts->contradictions,
              facts->contradictions == 1 ? " has" : "s have");
    for (size_t i = 0; i < facts->contradictions && i < shown; i++)
        for (size_t k = 0; k < 2; k++) {
            size_t row = facts->pairs[i][k];
            cli_print(k ? " and %s (%s)\n" : "  %s (%s)", name_of(p, row),
                      broad_data_output_name(p->data, broad_data_class(p->data, row)));
        }
    if (facts->contradictions > shown) cli_print("  and %zu more\n", facts->contradictions - shown);
}

void data_photos_print(const data_photos *p, int all)
{
    size_t shown = all ? SIZE_MAX : FILES_SHOWN;
    print_classes(p);
    print_sizes(p);
    print_span(p);
    print_skipped(p, shown);
    print_faults(p, shown);
    print_copies(p, shown);
    print_groups(p, shown, all ? SIZE_MAX : MEMBERS_SHOWN);
    print_contradictions(p, shown);
}

/* ---- JSON ---- */

static json_t *size_json(const data_photos *p, size_t place)
{
    const broad_photo *photo = broad_data_photo(p->data, p->by_pixels[place]);
    json_t *size = json_array();
    cli_json_append(size, json_integer((json_int_t)photo->width));
    cli_json_append(size, json_integer((json_int_t)photo->height));
    return size;
}

static json_t *sizes_json(const data_photos *p)
{
    size_t rows = broad_data_rows(p->data);
    json_t *object = json_object();
    cli_json_put(object, "least", size_json(p, 0));
    cli_json_put(object, "median", size_json(p, rows / 2));
    cli_json_put(object, "largest", size_json(p, rows - 1));
    return object;
}

static json_t *shapes_json(const data_photos *p)
{
    size_t rows = broad_data_rows(p->data);
    json_t *object = json_object();
    cli_json_put(object, "landscape", json_integer((json_int_t)p->landscape));
    cli_json_put(object, "portrait", json_integer((json_int_t)p->portrait));
    cli_json_put(object, "square", json_integer((json_int_t)(rows - p->landscape - p->portrait)));
    return object;
}

static json_t *times_json(const data_photos *p)
{
    if (!p->timed) return json_null();
    json_t *object = json_object();
    cli_json_put(object, "photos", json_integer((json_int_t)p->timed));
    cli_json_put(object, "first", cli_json_text(p->first_time));
    cli_json_put(object, "last", cli_json_text(p->last_time));
    return object;
}

static json_t *range_json(double low, double high)
{
    json_t *pair = json_array();
    cli_json_append(pair, cli_json_real(low));
    cli_json_append(pair, cli_json_real(high));
    return pair;
}

static json_t *places_json(const data_photos *p)
{
    if (!p->placed) return json_null();
    json_t *object = json_object();
    cli_json_put(object, "photos", json_integer((json_int_t)p->placed));
    cli_json_put(object, "latitude", range_json(p->south, p->north));
    cli_json_put(object, "longitude", range_json(p->west, p->east));
    return object;
}

static json_t *group_json(const data_photos *p, size_t group)
{
    json_t *list = json_array();
    for (size_t i = 0; i < broad_data_rows(p->data); i++)
        if (broad_data_photo(p->data, i)->group == group)
            cli_json_append(list, cli_json_text(broad_data_photo(p->data, i)->file));
    return list;
}

void data_photos_json(json_t *object, const data_photos *p)
{
    json_t *formats = json_object(), *copies = json_array(), *groups = json_array();
    for (size_t f = 0; f < DATA_PHOTO_FORMATS; f++)
        cli_json_put(formats, format_names[f][1], json_integer((json_int_t)p->of_format[f]));
    cli_json_put(object, "formats", formats);
    cli_json_put(object, "sizes", sizes_json(p));
    cli_json_put(object, "shapes", shapes_json(p));
    cli_json_put(object, "times", times_json(p));
    cli_json_put(object, "places", places_json(p));
    for (size_t i = 0; i < broad_data_rows(p->data); i++) {
        if (p->copy_of[i] == i) continue;
        json_t *pair = json_array();
        cli_json_append(pair, cli_json_text(broad_data_photo(p->data, p->copy_of[i])->file));
        cli_json_append(pair, cli_json_text(broad_data_photo(p->data, i)->file));
        cli_json_append(copies, pair);
    }
    for (size_t i = 0; i < p->facts.groups; i++) cli_json_append(groups, group_json(p, p->groups[i]));
    cli_json_put(object, "exact_copies", copies);
    cli_json_put(object, "near_duplicates", groups);
}
