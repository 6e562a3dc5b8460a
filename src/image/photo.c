#include "image/photo.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"
#include "image/descriptor/descriptors.h"
#include "image/descriptor/windows.h"

struct broad__photo_maker {
    broad__photo_spec spec;
    broad__window_weights *weights; /* NULL: the spec has no windows */
};

/* ---- pixels ----------------------------------------------------------------------------------------------------- */

static size_t pixel_inputs(size_t side) { return side * side * 3; }

static void pixel_name(char out[BROAD__INPUT_NAME_BYTES], size_t side, size_t input)
{
    static const char *const channels[] = {"red", "green", "blue"};
    size_t point = input / 3;
    snprintf(out, BROAD__INPUT_NAME_BYTES, "pixel %zu,%zu %s", point % side + 1, point / side + 1, channels[input % 3]);
}

static int pixel_map(float *out, const broad__photo_maker *maker, const broad__image *image)
{
    broad__image small;
    size_t side = maker->spec.side;
    int status = broad__image_resize(&small, image, side, side);
    if (status < 0) return status;
    for (size_t i = 0; i < side * side * 3; i++) out[i] = (float)small.pixels[i] / 255.0F;
    broad__image_free(&small);
    return BROAD_OK;
}

/* Pixels of the small square belong to the cell that their centre lies in. */
static void pixel_leave_out(float *out, const float mean[3], const broad__occlusion *how, size_t side)
{
    for (size_t y = 0; y < side; y++)
        for (size_t x = 0; x < side; x++) {
            size_t cell = (2 * y + 1) * how->height / (2 * side) * how->width + (2 * x + 1) * how->width / (2 * side);
            for (size_t c = 0; c < 3; c++) out[cell * how->stride + (y * side + x) * 3 + c] = mean[c];
        }
}

static int pixel_occlude(const broad__occlusion *how, const broad__photo_maker *maker, const broad__image *image)
{
    size_t side = maker->spec.side, points = side * side;
    double sum[3] = {0};
    float mean[3];
    int status = pixel_map(how->whole, maker, image);
    if (status < 0) return status;
    for (size_t i = 0; i < points * 3; i++) sum[i % 3] += how->whole[i];
    for (size_t c = 0; c < 3; c++) mean[c] = (float)(sum[c] / (double)points);
    for (size_t cell = 0; cell < how->width * how->height; cell++)
        for (size_t i = 0; i < points * 3; i++) how->out[cell * how->stride + i] = how->whole[i];
    pixel_leave_out(how->out, mean, how, side);
    return BROAD_OK;
}

/* ---- descriptors ------------------------------------------------------------------------------------------------ */

static size_t descriptor_inputs(size_t side)
{
    (void)side;
    return broad__descriptor_count();
}

static void descriptor_name(char out[BROAD__INPUT_NAME_BYTES], size_t side, size_t input)
{
    (void)side;
    char name[BROAD__DESCRIPTOR_NAME_BYTES];
    broad__descriptor_name(name, input);
    snprintf(out, BROAD__INPUT_NAME_BYTES, "descriptor %s", name);
}

static int descriptor_map(float *out, const broad__photo_maker *maker, const broad__image *image)
{
    (void)maker;
    return broad__descriptors(out, image);
}

static int descriptor_occlude(const broad__occlusion *how, const broad__photo_maker *maker, const broad__image *image)
{
    (void)maker;
    broad__descriptor_grid grid;
    int status = broad__descriptor_grid_make(&grid, image, how->width, how->height);
    if (status < 0) return status;
    broad__descriptor_grid_read(how->whole, &grid, (broad__grid_area){0, 0, how->width, how->height}, 0);
    for (size_t y = 0; y < how->height; y++)
        for (size_t x = 0; x < how->width; x++)
            broad__descriptor_grid_read(how->out + (y * how->width + x) * how->stride, &grid,
                                        (broad__grid_area){x, y, x + 1, y + 1}, 1);
    broad__descriptor_grid_free(&grid);
    return BROAD_OK;
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

static size_t window_inputs(size_t side)
{
    (void)side;
    return broad__window_nodes();
}

static void window_name(char out[BROAD__INPUT_NAME_BYTES], size_t side, size_t input)
{
    (void)side;
    snprintf(out, BROAD__INPUT_NAME_BYTES, "window %zu", input + 1);
}

static int window_map(float *out, const broad__photo_maker *maker, const broad__image *image)
{
    return broad__windows(out, maker->weights, image);
}

static int window_occlude(const broad__occlusion *how, const broad__photo_maker *maker, const broad__image *image)
{
    return broad__windows_occlude(how, maker->weights, image);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* In the order of their inputs. */
static const struct map {
    unsigned which;
    size_t (*inputs)(size_t side);
    void (*name)(char out[BROAD__INPUT_NAME_BYTES], size_t side, size_t input);
    int (*map)(float *out, const broad__photo_maker *maker, const broad__image *image);
    int (*occlude)(const broad__occlusion *how, const broad__photo_maker *maker, const broad__image *image);
} maps[] = {
    {BROAD_PHOTO_MAP_PIXELS, pixel_inputs, pixel_name, pixel_map, pixel_occlude},
    {BROAD_PHOTO_MAP_DESCRIPTORS, descriptor_inputs, descriptor_name, descriptor_map, descriptor_occlude},
    {BROAD_PHOTO_MAP_WINDOWS, window_inputs, window_name, window_map, window_occlude},
};
enum { MAPS = sizeof maps / sizeof maps[0] };

size_t broad__map_inputs(unsigned map, size_t side)
{
    for (size_t i = 0; i < MAPS; i++)
        if (maps[i].which == map) return maps[i].inputs(side);
    return 0;
}

size_t broad__photo_first(const broad__photo_spec *spec, unsigned map)
{
    size_t first = 0;
    for (size_t i = 0; i < MAPS && maps[i].which != map; i++)
        if (spec->maps & maps[i].which) first += maps[i].inputs(spec->side);
    return first;
}

size_t broad__photo_inputs(const broad__photo_spec *spec) { return broad__photo_first(spec, 0); }

size_t broad__photo_columns(const broad__photo_spec *spec)
{
    return spec->components ? spec->components : broad__photo_inputs(spec);
}

void broad__photo_input_name(char out[BROAD__INPUT_NAME_BYTES], const broad__photo_spec *spec, size_t input)
{
    out[0] = 0;
    for (size_t i = 0; i < MAPS; i++) {
        if (!(spec->maps & maps[i].which)) continue;
        size_t count = maps[i].inputs(spec->side);
        if (input < count) {
            maps[i].name(out, spec->side, input);
            return;
        }
        input -= count;
    }
}

const char *broad__photo_input_kind(const broad__photo_spec *spec, size_t input)
{
    for (size_t i = 0; i < MAPS; i++) {
        if (!(spec->maps & maps[i].which)) continue;
        size_t count = maps[i].inputs(spec->side);
        if (input >= count) {
            input -= count;
            continue;
        }
        if (maps[i].which == BROAD_PHOTO_MAP_DESCRIPTORS) return broad__descriptor_kind(input);
        return maps[i].which == BROAD_PHOTO_MAP_PIXELS ? "pixels" : "windows";
    }
    return "";
}

broad__photo_maker *broad__photo_maker_open(const broad__photo_spec *spec)
{
    broad__photo_maker *maker = broad__alloc(sizeof *maker);
    if (!maker) return NULL;
    maker->spec = *spec;
    if (!(spec->maps & BROAD_PHOTO_MAP_WINDOWS)) return maker;
    maker->weights = broad__window_weights_make();
    if (maker->weights) return maker;
    broad__photo_maker_close(maker);
    return NULL;
}

void broad__photo_maker_close(broad__photo_maker *maker)
{
    if (maker) broad__free(maker->weights);
    broad__free(maker);
}

int broad__photo_map(float *out, const broad__photo_maker *maker, const broad__image *image)
{
    int status = BROAD_OK;
    for (size_t i = 0; i < MAPS && status == BROAD_OK; i++)
        if (maker->spec.maps & maps[i].which)
            status = maps[i].map(out + broad__photo_first(&maker->spec, maps[i].which), maker, image);
    return status;
}

int broad__photo_occlude(float *out, float *whole, const broad__photo_maker *maker, const broad__image *image,
                         size_t grid_width, size_t grid_height)
{
    size_t inputs = broad__photo_inputs(&maker->spec);
    float *own = whole ? NULL : broad__alloc_array(inputs, sizeof *own);
    int status = whole || own ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t i = 0; i < MAPS && status == BROAD_OK; i++) {
        if (!(maker->spec.maps & maps[i].which)) continue;
        size_t first = broad__photo_first(&maker->spec, maps[i].which);
        const broad__occlusion how = {out + first, inputs, (whole ? whole : own) + first, grid_width, grid_height};
        status = maps[i].occlude(&how, maker, image);
    }
    broad__free(own);
    return status;
}
