#include "image/image.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/vector.h"
#include "image/resample.h"

#define INLINE static inline __attribute__((always_inline))

int broad__image_init(broad__image *out, size_t width, size_t height)
{
    size_t count;
    if (!width || !height) return broad__fail(BROAD_BUG, "a picture of %zu x %zu pixels", width, height);
    if (broad__multiply(&count, width, height) < 0) return broad__fail_memory((size_t)-1);
    unsigned char *pixels = broad__alloc_array(count, 3);
    if (!pixels) return BROAD_NO_MEMORY;
    *out = (broad__image){width, height, pixels};
    return BROAD_OK;
}

void broad__image_free(broad__image *image)
{
    broad__free(image->pixels);
    *image = (broad__image){0};
}

void broad__image_fit(size_t *out_width, size_t *out_height, size_t width, size_t height, size_t side)
{
    size_t longer = width > height ? width : height;
    *out_width = width;
    *out_height = height;
    if (!side || longer <= side) return;
    /* The shorter side is rounded, and never vanishes. */
    size_t shorter = ((width < height ? width : height) * side * 2 + longer) / (longer * 2);
    if (!shorter) shorter = 1;
    *out_width = width >= height ? side : shorter;
    *out_height = width >= height ? shorter : side;
}

int broad__image_resize(broad__image *out, const broad__image *image, size_t width, size_t height)
{
    broad__resample rows;
    int status = broad__resample_begin(&rows, image->width, image->height, width, height);
    if (status < 0) return status;
    for (size_t y = 0; y < image->height; y++) broad__resample_take(&rows, image->pixels + y * image->width * 3);
    broad__resample_finish(out, &rows, 0);
    return BROAD_OK;
}

int broad__image_crop(broad__image *out, const broad__image *image, size_t x, size_t y, size_t width, size_t height)
{
    if (!width || !height || x > image->width || y > image->height || width > image->width - x ||
        height > image->height - y)
        return broad__fail(BROAD_USAGE, "%zu x %zu pixels from (%zu, %zu) on do not lie inside a picture of %zu x %zu",
                           width, height, x, y, image->width, image->height);
    broad__image part;
    int status = broad__image_init(&part, width, height);
    if (status < 0) return status;
    for (size_t row = 0; row < height; row++)
        memcpy(part.pixels + row * width * 3, image->pixels + ((y + row) * image->width + x) * 3, width * 3);
    *out = part;
    return BROAD_OK;
}

/* Upright pixel (x, y) is stored pixel (a, b), where a = x or y, counted from the left or from the right, and so b. */
typedef struct turn {
    int swap; /* stored rows are upright columns */
    int flip_x, flip_y;
} turn;

/* From the EXIF table: where the stored picture's row 0 and column 0 belong. */
static const turn turns[9] = {
    {0, 0, 0}, {0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1}, {1, 0, 0}, {1, 0, 1}, {1, 1, 1}, {1, 1, 0},
};

int broad__image_orient(broad__image *image, int orientation)
{
    if (orientation < 2 || orientation > 8) return BROAD_OK;
    turn how = turns[orientation];
    broad__image upright;
    int status =
        broad__image_init(&upright, how.swap ? image->height : image->width, how.swap ? image->width : image->height);
    if (status < 0) return status;
    size_t width = image->width, height = image->height;
    unsigned char *to = upright.pixels;
    for (size_t y = 0; y < upright.height; y++)
        for (size_t x = 0; x < upright.width; x++, to += 3) {
            size_t a = how.swap ? y : x, b = how.swap ? x : y;
            if (how.flip_x) a = width - 1 - a;
            if (how.flip_y) b = height - 1 - b;
            memcpy(to, image->pixels + (b * width + a) * 3, 3);
        }
    broad__image_free(image);
    *image = upright;
    return BROAD_OK;
}

INLINE void grey_loop(unsigned char *restrict grey, const unsigned char *restrict rgb, size_t count)
{
    for (size_t i = 0; i < count; i++)
        grey[i] =
            (unsigned char)((19595u * rgb[3 * i] + 38470u * rgb[3 * i + 1] + 7471u * rgb[3 * i + 2] + 32768u) >> 16);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void grey_avx2(unsigned char *grey, const unsigned char *rgb, size_t count)
{
    grey_loop(grey, rgb, count);
}
#endif

int broad__image_grey(unsigned char **out, const broad__image *image)
{
    size_t count = image->width * image->height;
    unsigned char *grey = broad__alloc(count);
    if (!grey) return BROAD_NO_MEMORY;
    *out = grey;
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        grey_avx2(grey, image->pixels, count);
        return BROAD_OK;
    }
#endif
    grey_loop(grey, image->pixels, count);
    return BROAD_OK;
}
