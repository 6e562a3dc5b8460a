/*
 * A photo is decoded to a longer side of `base`: enough for every map. The part of it that a box cuts out should have as
 * many pixels, so the photo is decoded larger by powers of two, up to its full size, until it has; then the part is brought
 * to `base`. So the inputs of a part depend on the photo, the box and the spec alone.
 */
#include "data/photo/photos_prepare.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "data/photo/photos_cache.h"
#include "image/augment.h"
#include "image/codec/decode.h"
#include "image/quality.h"

enum {
    START_BYTES = 4096, /* looked at to tell what a file is */
    ENTRY_LAYOUT = 2    /* of the key of the cache */
};
static const size_t FILE_MOST = (size_t)512 << 20;
static const double PIXELS_MOST = 64 << 20; /* of a photo that is decoded for a small box */

void broad__prepared_clear(broad__prepared *prepared)
{
    broad__free(prepared->parts);
    broad__free(prepared->inputs);
    *prepared = (broad__prepared){0};
}

/* ---- what a file is -------------------------------------------------------------------------------------------- */

static int has_picture_suffix(const char *name)
{
    static const char *const suffixes[] = {"jpg",  "jpeg", "jpe",  "jfif", "mpo", "png", "gif",  "webp", "heic",
                                           "heif", "tif",  "tiff", "avif", "jp2", "jxl", "bmp",  "dng",  "cr2",
                                           "cr3",  "nef",  "arw",  "orf",  "rw2", "raf", "insp", "svg"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcasecmp(dot + 1, suffixes[i]) == 0) return 1;
    return 0;
}

/* Lists, notes and web pages beside the photos, and what Windows leaves in folders of them. */
static int is_companion(const broad__photo_file *file, const unsigned char *start, size_t count)
{
    const char *slash = strrchr(file->name, '/');
    if (file->given) return 0;
    if (strcasecmp(slash ? slash + 1 : file->name, "Thumbs.db") == 0) return 1;
    for (size_t i = 0; i < count; i++)
        if (start[i] < 0x20 && !isspace(start[i])) return 0;
    return count && !has_picture_suffix(file->name);
}

/* Messages of base/file.h begin with the path, which the reason of a skipped file must not repeat. */
static int fail_without_path(int status, const char *path)
{
    char message[1024];
    size_t length = strlen(path);
    const char *said = broad_error_message();
    if (status == BROAD_NO_MEMORY || strncmp(said, path, length) != 0 || strncmp(said + length, ": ", 2) != 0)
        return status;
    stpncpy(message, said + length + 2, sizeof message - 1)[0] = 0;
    return broad__fail(status, "%s", message);
}

/* Tells photos from other files by their first bytes, so that a video is not read as a whole only to be refused. */
static int look_at_start(int *out_ignored, const broad__photo_file *file)
{
    unsigned char start[START_BYTES];
    size_t count = 0;
    int status = broad__file_read_start(start, &count, file->file, sizeof start);
    if (status < 0) return fail_without_path(status, file->file);
    if (broad__decode_reads(start, count)) return BROAD_OK;
    *out_ignored = is_companion(file, start, count);
    if (*out_ignored) return BROAD_OK;
    broad__decode_options options;
    broad__decode_options_init(&options);
    broad__image none = {0};
    status = broad__decode(&none, NULL, start, count, &options);
    broad__image_free(&none);
    return status < 0 ? status : broad__fail(BROAD_IO, "changed while it was read; try again");
}

/* ---- pictures of parts ----------------------------------------------------------------------------------------- */

/* A photo, decoded at one size after the other. */
typedef struct view {
    const broad__preparing *how;
    const void *bytes;
    size_t count;
    size_t base;          /* side that maps are made from */
    size_t side;          /* that `image` was decoded to; 0: not yet */
    size_t width, height; /* upright, in full */
    broad__image image;
    broad__decode_facts facts;
} view;

/* Whatever the maps are: a model that keeps some of them must see what they were made from. */
static size_t base_side(const broad__photo_spec *spec)
{
    return 2 * spec->side > BROAD__PHOTO_SIDE ? 2 * spec->side : BROAD__PHOTO_SIDE;
}

static int view_at(view *v, size_t side)
{
    if (v->side == side) return BROAD_OK;
    broad__decode_options options;
    broad__decode_options_init(&options);
    options.side = side;
    broad__image_free(&v->image);
    v->side = 0;
    double began = broad__profile_part();
    int status = broad__decode(&v->image, &v->facts, v->bytes, v->count, &options);
    broad__profile_part_done(began, BROAD__STAGE_DECODE, (double)v->count);
    if (status < 0) return status;
    int lying = v->facts.exif.orientation >= 5;
    v->width = lying ? v->facts.height : v->facts.width;
    v->height = lying ? v->facts.width : v->facts.height;
    v->side = side;
    return BROAD_OK;
}

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* Decodes so large that a part of width x height pixels has a longer side of `base`, if the photo is as large as that. */
static int view_for(view *v, double width, double height)
{
    double full = larger((double)v->width, (double)v->height), part = larger(width, height) / full;
    double shape = smaller((double)v->width, (double)v->height) / full;
    size_t side = v->base;
    while ((double)side * part < (double)v->base && (double)side < full &&
           4 * (double)side * (double)side * shape <= PIXELS_MOST)
        side *= 2;
    return view_at(v, side);
}

/* Brings a part to `base`; the picture is replaced. */
static int fit_base(broad__image *picture, size_t base)
{
    size_t width, height;
    broad__image_fit(&width, &height, picture->width, picture->height, base);
    if (width == picture->width && height == picture->height) return BROAD_OK;
    broad__image fitted = {0};
    int status = broad__image_resize(&fitted, picture, width, height);
    if (status < 0) return status;
    broad__image_free(picture);
    *picture = fitted;
    return BROAD_OK;
}

static int cut_part(broad__image *out, view *v, const broad__photo_part *part)
{
    int status = view_for(v, part->right - part->left, part->bottom - part->top);
    if (status < 0) return status;
    double across = (double)v->image.width / (double)v->width, down = (double)v->image.height / (double)v->height;
    size_t left = (size_t)smaller(floor(part->left * across + 0.5), (double)v->image.width - 1);
    size_t top = (size_t)smaller(floor(part->top * down + 0.5), (double)v->image.height - 1);
    size_t right = (size_t)smaller(floor(part->right * across + 0.5), (double)v->image.width);
    size_t bottom = (size_t)smaller(floor(part->bottom * down + 0.5), (double)v->image.height);
    if (right <= left) right = left + 1;
    if (bottom <= top) bottom = top + 1;
    status = broad__image_crop(out, &v->image, left, top, right - left, bottom - top);
    return status < 0 ? status : fit_base(out, v->base);
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static int room_for(broad__prepared *out, size_t rows, const broad__photo_spec *spec)
{
    size_t numbers;
    if (broad__multiply(&numbers, rows, broad__photo_inputs(spec)) < 0) return broad__fail_memory(SIZE_MAX);
    out->parts = broad__alloc_array(rows, sizeof *out->parts);
    out->inputs = broad__alloc_array(numbers, sizeof *out->inputs);
    return out->parts && out->inputs ? BROAD_OK : BROAD_NO_MEMORY;
}

/* The row of a part and those of its copies. */
static int add_rows(broad__prepared *out, const view *v, broad__photo_part part, const broad__image *picture)
{
    const broad__photo_maker *maker = v->how->maker;
    size_t inputs = broad__photo_inputs(&v->how->spec);
    broad__augmentation changes;
    unsigned faults = 0;
    broad__augmentation_paper(&changes);
    double began = broad__profile_part();
    int status = broad__photo_map(out->inputs + out->rows * inputs, maker, picture);
    if (status == BROAD_OK)
        status = broad__image_faults(&faults, picture, smaller(part.right - part.left, part.bottom - part.top));
    part.faults = faults;
    out->parts[out->rows++] = part;
    for (size_t k = 1; status == BROAD_OK && k <= v->how->augment; k++) {
        broad__image copy = {0};
        status = broad__augment(&copy, picture, &changes, v->how->seed, out->print.content, k);
        if (status == BROAD_OK) status = broad__photo_map(out->inputs + out->rows * inputs, maker, &copy);
        broad__image_free(&copy);
        part.copy = k;
        out->parts[out->rows++] = part;
    }
    broad__profile_part_done(began, BROAD__STAGE_MAPS, 0);
    return status;
}

static broad__photo_part whole_part(const view *v)
{
    return (broad__photo_part){.right = (double)v->width, .bottom = (double)v->height, .score = (double)NAN};
}

static int rows_of_whole(broad__prepared *out, view *v)
{
    int status = view_at(v, v->base);
    return status < 0 ? status : add_rows(out, v, whole_part(v), &v->image);
}

/* In pixels, without what lies outside of the photo. */
static int part_of_box(broad__photo_part *out, const broad__box *box, const view *v)
{
    double across = box->relative ? (double)v->width : 1, down = box->relative ? (double)v->height : 1;
    *out = (broad__photo_part){.left = larger(box->left * across, 0),
                               .top = larger(box->top * down, 0),
                               .right = smaller(box->right * across, (double)v->width),
                               .bottom = smaller(box->bottom * down, (double)v->height),
                               .score = box->score};
    if (out->left < out->right && out->top < out->bottom) return BROAD_OK;
    return broad__fail(BROAD_BAD_DATA,
                       "the box from %g, %g to %g, %g holds nothing of the photo, which has %zu x %zu pixels when "
                       "upright",
                       box->left * across, box->top * down, box->right * across, box->bottom * down, v->width,
                       v->height);
}

static int rows_of_boxes(broad__prepared *out, view *v, const broad_box_list *boxes)
{
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < boxes->count; i++) {
        broad__photo_part part;
        broad__image picture = {0};
        status = part_of_box(&part, &boxes->items[i], v);
        if (status == BROAD_OK) status = cut_part(&picture, v, &part);
        if (status == BROAD_OK) status = add_rows(out, v, part, &picture);
        broad__image_free(&picture);
    }
    return status;
}

static void set_facts(broad_photo *out, const view *v)
{
    const broad__exif *exif = &v->facts.exif;
    *out = (broad_photo){.width = v->width,
                         .height = v->height,
                         .latitude = exif->latitude,
                         .longitude = exif->longitude,
                         .altitude = exif->altitude,
                         .relative_altitude = exif->relative_altitude,
                         .yaw = isnan(exif->gimbal_yaw) ? exif->flight_yaw : exif->gimbal_yaw,
                         .distance = (double)NAN};
    memcpy(out->time, exif->time, sizeof out->time);
}

static int make_rows(broad__prepared *out, view *v, const broad_box_list *boxes)
{
    const broad__photo_spec *spec = &v->how->spec;
    out->maps = spec->maps;
    int status = view_at(v, v->base);
    if (status == BROAD_OK) status = broad__print_make(&out->print, &v->image, v->bytes, v->count);
    if (status < 0) return status;
    set_facts(&out->facts, v);
    status = room_for(out, (boxes->count ? boxes->count : 1) * (1 + v->how->augment), spec);
    if (status < 0) return status;
    return boxes->count ? rows_of_boxes(out, v, boxes) : rows_of_whole(out, v);
}

/* ---- boxes ----------------------------------------------------------------------------------------------------- */

/* The one of the highest score, of equal ones the largest. */
static void keep_best(broad_box_list *boxes)
{
    size_t best = 0;
    double best_score = -INFINITY, best_area = -INFINITY;
    for (size_t i = 0; i < boxes->count; i++) {
        const broad__box *box = &boxes->items[i];
        double score = isnan(box->score) ? -INFINITY : box->score;
        double area = (box->right - box->left) * (box->bottom - box->top);
        if (score < best_score || (score == best_score && !(area > best_area))) continue;
        best = i;
        best_score = score;
        best_area = area;
    }
    boxes->items[0] = boxes->items[best];
    boxes->count = 1;
}

static int find_boxes(broad_box_list *out, const broad__photo_file *file, const broad__preparing *how)
{
    int status = BROAD_OK;
    if (how->spec.crop == BROAD_CROP_BOXES) {
        status = broad__boxes_find(out, how->boxes, file->name);
        if (status == BROAD_OK && !out->count)
            status = broad__fail(BROAD_BAD_DATA, "no box in %s; add one", how->boxes_path);
    } else if (how->spec.crop == BROAD_CROP_DETECTOR) {
        pthread_mutex_lock(how->lock);
        status = how->find_boxes(out, file->file, how->find_boxes_context);
        pthread_mutex_unlock(how->lock);
        if (status == BROAD_OK && !out->count)
            status = broad__fail(BROAD_BAD_DATA, "the detector found nothing in it; remove it, or give boxes");
    }
    if (status == BROAD_OK && out->count && !how->spec.each_box) keep_best(out);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

static int make_key(char out[BROAD__HASH_TEXT], const view *v, const broad_box_list *boxes)
{
    const broad__photo_spec *spec = &v->how->spec;
    char content[BROAD__HASH_TEXT];
    broad__hash *hash = broad__hash_open();
    if (!hash) return BROAD_NO_MEMORY;
    broad__hash_text(content, v->bytes, v->count);
    uint64_t about[] = {ENTRY_LAYOUT,
                        sizeof(broad__prepared),
                        sizeof(broad__photo_part),
                        0x0102030405060708, /* the order of bytes */
                        spec->version,
                        v->base,
                        spec->side,
                        (uint64_t)spec->crop,
                        (uint64_t)spec->each_box,
                        v->how->augment,
                        v->how->augment ? v->how->seed : 0,
                        boxes->count};
    broad__hash_add(hash, content, sizeof content);
    broad__hash_add(hash, about, sizeof about);
    for (size_t i = 0; i < boxes->count; i++) {
        const broad__box *box = &boxes->items[i];
        double numbers[] = {box->left, box->top, box->right, box->bottom, box->score, box->relative};
        broad__hash_add(hash, numbers, sizeof numbers);
    }
    broad__hash_close(out, hash);
    return BROAD_OK;
}

/* The inputs of `maps`, each map from `a` if it has it, else from `b`, which has the same rows. `a` is replaced. */
static int join_maps(broad__prepared *a, const broad__prepared *b, size_t maps, size_t side)
{
    broad__photo_spec to = {.maps = maps, .side = side};
    size_t width = broad__photo_inputs(&to);
    float *inputs = broad__alloc_array(a->rows, width * sizeof *inputs);
    if (!inputs) return BROAD_NO_MEMORY;
    for (unsigned map = 1; map < BROAD_PHOTO_MAP_ALL; map *= 2) {
        if (!(maps & map)) continue;
        const broad__prepared *from = a->maps & map ? a : b;
        broad__photo_spec had = {.maps = from->maps, .side = side};
        size_t count = broad__map_inputs(map, side), stride = broad__photo_inputs(&had);
        size_t at = broad__photo_first(&to, map), from_at = broad__photo_first(&had, map);
        for (size_t i = 0; i < a->rows; i++)
            memcpy(inputs + i * width + at, from->inputs + i * stride + from_at, count * sizeof *inputs);
    }
    broad__free(a->inputs);
    a->inputs = inputs;
    a->maps = maps;
    return BROAD_OK;
}

/* What the cache has; where that is not all, the rows are made and stored, with the other maps that it had. */
static int take_or_make(broad__prepared *out, view *v, const broad_box_list *boxes)
{
    const broad__photo_spec *spec = &v->how->spec;
    broad__photo_cache *cache = v->how->cache;
    char key[BROAD__HASH_TEXT] = "";
    broad__prepared made = {0};
    int status = cache ? make_key(key, v, boxes) : BROAD_OK;
    if (status == BROAD_OK && cache) status = broad__photo_cache_load(out, cache, key, spec->side);
    if (status == BROAD_OK && spec->maps & ~out->maps) {
        status = make_rows(&made, v, boxes);
        if (status == BROAD_OK && out->rows == made.rows) {
            status = join_maps(out, &made, out->maps | spec->maps, spec->side);
        } else if (status == BROAD_OK) {
            broad__prepared_clear(out);
            *out = made;
            made = (broad__prepared){0};
        }
        if (status == BROAD_OK && cache) broad__photo_cache_store(cache, key, out, spec->side);
    }
    if (status == BROAD_OK && out->maps != spec->maps) status = join_maps(out, NULL, spec->maps, spec->side);
    broad__prepared_clear(&made);
    return status;
}

int broad__prepare(broad__prepared *out, int *out_ignored, const broad__photo_file *file, const broad__preparing *how)
{
    *out = (broad__prepared){0};
    *out_ignored = 0;
    if (file->fault) return broad__fail(BROAD_BAD_DATA, "%s", file->fault);
    int status = look_at_start(out_ignored, file);
    if (status < 0 || *out_ignored) return status;
    if (file->unlisted) return broad__fail(BROAD_BAD_DATA, "not in %s; add a line for it", how->labels);
    view v = {.how = how, .base = base_side(&how->spec)};
    broad_box_list boxes = {0};
    void *bytes = NULL;
    status = broad__file_read(&bytes, &v.count, file->file, FILE_MOST);
    if (status < 0) return fail_without_path(status, file->file);
    v.bytes = bytes;
    status = find_boxes(&boxes, file, how);
    if (status == BROAD_OK) status = take_or_make(out, &v, &boxes);
    if (status < 0) broad__prepared_clear(out);
    broad__image_free(&v.image);
    broad__box_list_clear(&boxes);
    broad__free(bytes);
    return status;
}

/* ---- from memory ----------------------------------------------------------------------------------------------- */

int broad__photo_decode(broad__image *out, broad_photo *out_facts, const broad__photo_spec *spec, const void *bytes,
                        size_t count)
{
    view v = {.base = base_side(spec), .bytes = bytes, .count = count};
    int status = view_at(&v, v.base);
    if (status < 0) return status;
    set_facts(out_facts, &v);
    out_facts->file = out_facts->name = "";
    out_facts->right = (double)v.width;
    out_facts->bottom = (double)v.height;
    out_facts->box_score = (double)NAN;
    *out = v.image;
    return BROAD_OK;
}

int broad__photo_reduce(broad__image *out, const broad__photo_spec *spec, const broad__image *picture)
{
    size_t width, height;
    broad__image_fit(&width, &height, picture->width, picture->height, base_side(spec));
    return broad__image_resize(out, picture, width, height);
}

/* ---- again ----------------------------------------------------------------------------------------------------- */

int broad__photo_picture(broad__image *out, const broad__photo_spec *spec, const broad_photo *photo)
{
    view v = {.base = base_side(spec)};
    void *bytes = NULL;
    broad__image picture = {0};
    int status = broad__file_read(&bytes, &v.count, photo->file, FILE_MOST);
    if (status < 0) return fail_without_path(status, photo->file);
    v.bytes = bytes;
    status = view_at(&v, v.base);
    if (status == BROAD_OK && (v.width != photo->width || v.height != photo->height))
        status = broad__fail(BROAD_IO, "the photo is no longer what it was");
    if (status == BROAD_OK && (spec->crop == BROAD_CROP_BOXES || spec->crop == BROAD_CROP_DETECTOR)) {
        broad__photo_part part = {photo->left, photo->top, photo->right, photo->bottom, photo->box_score, 0, 0};
        status = cut_part(&picture, &v, &part);
    }
    if (status == BROAD_OK && !picture.pixels) { /* as a whole */
        picture = v.image;
        v.image = (broad__image){0};
    }
    if (status == BROAD_OK) *out = picture;
    else broad__image_free(&picture);
    broad__image_free(&v.image);
    broad__free(bytes);
    return status;
}
