#include "page/picture_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "io/output.h"

enum { FILE_BYTES_MAX = 1 << 30, DECODED_SIDE_MAX = 8192 };

/* In pixels of a picture of the photo. */
typedef struct part {
    size_t left, top, width, height;
} part;

static size_t pixel_at(double place, size_t photo_side, size_t side)
{
    double at = photo_side ? floor(place * (double)side / (double)photo_side + 0.5) : 0;
    return at < 0 ? 0 : at > (double)side ? side : (size_t)at;
}

/* Boxes may lie anywhere; at least one pixel is left. */
static void find_range(size_t *out_first, size_t *out_count, double from, double to, size_t photo_side, size_t side)
{
    size_t first = pixel_at(from, photo_side, side), end = pixel_at(to, photo_side, side);
    if (first >= side) first = side - 1;
    *out_first = first;
    *out_count = end > first ? end - first : 1;
}

static part part_of(const broad_photo *photo, const broad_picture *whole)
{
    part found;
    find_range(&found.left, &found.width, photo->left, photo->right, photo->width, broad_picture_width(whole));
    find_range(&found.top, &found.height, photo->top, photo->bottom, photo->height, broad_picture_height(whole));
    return found;
}

int cli_photo_is_cropped(const broad_photo *photo)
{
    return photo->left > 0 || photo->top > 0 || photo->right < (double)photo->width ||
           photo->bottom < (double)photo->height;
}

/* The longer side of the whole photo for which its part has one of `side`. */
static size_t side_to_decode(const broad_photo *photo, size_t side)
{
    double longer = (double)(photo->width > photo->height ? photo->width : photo->height);
    double part_longer = fmax(photo->right - photo->left, photo->bottom - photo->top);
    if (!(part_longer > 0) || part_longer > longer) part_longer = longer;
    double wanted = ceil(longer / part_longer * (double)side);
    return wanted < DECODED_SIDE_MAX ? (size_t)wanted : DECODED_SIDE_MAX;
}

int cli_photo_decode(broad_picture **out, const broad_photo *photo, size_t side)
{
    void *bytes = NULL;
    size_t count = 0;
    int status = broad__file_read(&bytes, &count, photo->file, FILE_BYTES_MAX);
    if (status) return status;
    status = broad_picture_decode(out, bytes, count, side_to_decode(photo, side));
    broad__free(bytes);
    return status ? broad__fail_in(status, photo->file) : BROAD_OK;
}

int cli_photo_part(broad_picture **out, const broad_picture *whole, const broad_photo *photo, size_t side)
{
    broad_picture *cut = NULL;
    if (!cli_photo_is_cropped(photo)) return broad_picture_fit(out, whole, side);
    part found = part_of(photo, whole);
    int status = broad_picture_crop(&cut, whole, found.left, found.top, found.width, found.height);
    if (!status) status = broad_picture_fit(out, cut, side);
    broad_picture_free(cut);
    return status;
}

/* ---- frames ---- */

static void paint(broad_picture *picture, size_t left, size_t top, size_t width, size_t height, unsigned char grey)
{
    size_t across = broad_picture_width(picture), down = broad_picture_height(picture);
    unsigned char *pixels = broad_picture_pixels(picture);
    for (size_t y = top; y < top + height && y < down; y++)
        for (size_t x = left; x < left + width && x < across; x++) memset(pixels + 3 * (y * across + x), grey, 3);
}

/* `inset` pixels inside the part, `thick` pixels thick. */
static void draw_frame(broad_picture *picture, part at, size_t inset, size_t thick, unsigned char grey)
{
    if (at.width <= 2 * (inset + thick) || at.height <= 2 * (inset + thick)) return;
    size_t left = at.left + inset, top = at.top + inset, width = at.width - 2 * inset, height = at.height - 2 * inset;
    paint(picture, left, top, width, thick, grey);
    paint(picture, left, top + height - thick, width, thick, grey);
    paint(picture, left, top, thick, height, grey);
    paint(picture, left + width - thick, top, thick, height, grey);
}

int cli_photo_framed(broad_picture **out, const broad_picture *whole, const broad_photo *photo, size_t side)
{
    int status = broad_picture_fit(out, whole, side);
    if (status || !cli_photo_is_cropped(photo)) return status;
    /* White on black shows on any ground. */
    draw_frame(*out, part_of(photo, *out), 0, 3, 0);
    draw_frame(*out, part_of(photo, *out), 1, 1, 255);
    return BROAD_OK;
}

/* ---- writing ---- */

int cli_picture_write(const char *path, const broad_picture *picture, int quality)
{
    void *bytes = NULL;
    size_t count = 0;
    int status = broad_picture_jpeg(&bytes, &count, picture, quality);
    if (!status) status = cli_write_new(path, bytes, count);
    broad_free(bytes);
    return status;
}
