#include "image/photo.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"

static const unsigned maps_in_order[] = {BROAD_MAP_PIXELS, BROAD_MAP_DESCRIPTORS, BROAD_MAP_WINDOWS};
enum { MAP_COUNT = sizeof maps_in_order / sizeof maps_in_order[0] };

size_t broad__map_inputs(unsigned map, size_t side) { return map == BROAD_MAP_PIXELS ? side * side * 3 : 0; }

size_t broad__photo_first(const broad__photo_spec *spec, unsigned map)
{
    size_t first = 0;
    for (size_t i = 0; i < MAP_COUNT && maps_in_order[i] != map; i++)
        if (spec->maps & maps_in_order[i]) first += broad__map_inputs(maps_in_order[i], spec->side);
    return first;
}

size_t broad__photo_inputs(const broad__photo_spec *spec) { return broad__photo_first(spec, 0); }

void broad__photo_input_name(char out[BROAD__INPUT_NAME_BYTES], const broad__photo_spec *spec, size_t input)
{
    static const char *const channels[] = {"red", "green", "blue"};
    size_t point = input / 3;
    snprintf(out, BROAD__INPUT_NAME_BYTES, "pixel %zu,%zu %s", point % spec->side + 1, point / spec->side + 1,
             channels[input % 3]);
}

static int map_pixels(float *out, const broad__photo_spec *spec, const broad__image *image)
{
    broad__image small;
    int status = broad__image_resize(&small, image, spec->side, spec->side);
    if (status < 0) return status;
    for (size_t i = 0; i < spec->side * spec->side * 3; i++) out[i] = (float)small.pixels[i] / 255.0F;
    broad__image_free(&small);
    return BROAD_OK;
}

int broad__photo_map(float *out, const broad__photo_spec *spec, const broad__image *image)
{
    int status = BROAD_OK;
    if (spec->maps & BROAD_MAP_PIXELS) status = map_pixels(out, spec, image);
    return status;
}
