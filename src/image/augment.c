#include "image/augment.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "rng/philox.h"

static const double DEGREE = 0.017453292519943295;

void broad__augmentation_paper(broad__augmentation *out)
{
    *out = (broad__augmentation){
        .rotation = 40, .shift = 0.2, .shear = 0.2, .zoom = 0.2, .flip = 1, .darkest = 0.75, .lightest = 1.25};
}

/* ---- drawing ---------------------------------------------------------------------------------------------------- */

/* The order is part of what a seed means. */
enum { ROTATION, SHEAR, ZOOM_X, ZOOM_Y, SHIFT_X, SHIFT_Y, FLIP_X, FLIP_Y, BRIGHTNESS, DRAWS };

/* In the counter, the content stands for layer, step and draw (64 bits), and the copy for the element. */
static broad__stream stream_of(uint64_t seed, const char *content)
{
    char text[BROAD__HASH_TEXT];
    uint64_t bits = 0;
    broad__hash_text(text, content, strlen(content));
    for (int i = 0; i < 16; i++) bits = bits << 4 | (uint64_t)(text[i] >= 'a' ? text[i] - 'a' + 10 : text[i] - '0');
    return (broad__stream){seed, BROAD__FOR_AUGMENT, (uint32_t)bits, (uint16_t)(bits >> 32), (uint16_t)(bits >> 48)};
}

static double either_way(double u, double most) { return (2 * u - 1) * most; }

void broad__change_draw(broad__change *out, const broad__augmentation *how, uint64_t seed, const char *content,
                        size_t copy)
{
    double u[DRAWS];
    broad__stream stream = stream_of(seed, content);
    broad__random_fill(u, &stream, (uint64_t)copy * 16, DRAWS);
    *out = (broad__change){
        .rotation = either_way(u[ROTATION], how->rotation) * DEGREE,
        .shear = either_way(u[SHEAR], how->shear),
        .zoom_x = 1 + either_way(u[ZOOM_X], how->zoom),
        .zoom_y = 1 + either_way(u[ZOOM_Y], how->zoom),
        .shift_x = either_way(u[SHIFT_X], how->shift),
        .shift_y = either_way(u[SHIFT_Y], how->shift),
        .flip_x = how->flip && u[FLIP_X] < 0.5,
        .flip_y = how->flip && u[FLIP_Y] < 0.5,
        .brightness = 1,
    };
    if (how->lightest > 0) out->brightness = how->darkest + u[BRIGHTNESS] * (how->lightest - how->darkest);
}

/* ---- applying --------------------------------------------------------------------------------------------------- */

/* Pixel (x, y) of the copy is what lies at (x_0 + xx x + xy y, y_0 + yx x + yy y) of the picture. */
typedef struct inverse {
    double x_0, xx, xy;
    double y_0, yx, yy;
} inverse;

/*
 * About the centre, p = R S Z F q + shift for a point q of the picture, with
 *   R = (cos -sin; sin cos), S = (1 tan; 0 1), Z = diag(zoom), F = diag(+-1),
 * hence q = F Z^-1 S^-1 R^-1 (p - shift). Pixel i has its centre at i + 1/2.
 */
static inverse inverse_of(const broad__change *change, size_t width, size_t height)
{
    double c = cos(change->rotation), s = sin(change->rotation), t = tan(change->shear);
    double zoom_x = change->flip_x ? -change->zoom_x : change->zoom_x;
    double zoom_y = change->flip_y ? -change->zoom_y : change->zoom_y;
    double middle_x = (double)width / 2, middle_y = (double)height / 2;
    inverse map = {.xx = (c + t * s) / zoom_x, .xy = (s - t * c) / zoom_x, .yx = -s / zoom_y, .yy = c / zoom_y};
    double x = 0.5 - middle_x - change->shift_x * (double)width, y = 0.5 - middle_y - change->shift_y * (double)height;
    map.x_0 = map.xx * x + map.xy * y + middle_x - 0.5;
    map.y_0 = map.yx * x + map.yy * y + middle_y - 0.5;
    return map;
}

static double within(double place, size_t side)
{
    double last = (double)(side - 1);
    return place > 0 ? place < last ? place : last : 0;
}

static void sample(unsigned char out[3], const broad__image *image, double x, double y, float brightness)
{
    x = within(x, image->width);
    y = within(y, image->height);
    size_t left = (size_t)x, top = (size_t)y;
    float across = (float)(x - (double)left), down = (float)(y - (double)top);
    const unsigned char *upper = image->pixels + (top * image->width + left) * 3;
    const unsigned char *lower = top + 1 < image->height ? upper + image->width * 3 : upper;
    size_t right = left + 1 < image->width ? 3 : 0;
    for (size_t c = 0; c < 3; c++) {
        float above = (float)upper[c] + across * (float)(upper[right + c] - upper[c]);
        float below = (float)lower[c] + across * (float)(lower[right + c] - lower[c]);
        float value = (above + down * (below - above)) * brightness;
        out[c] = (unsigned char)(value < 255 ? value + 0.5F : 255);
    }
}

int broad__change_apply(broad__image *out, const broad__image *image, const broad__change *change)
{
    broad__image copy;
    int status = broad__image_init(&copy, image->width, image->height);
    if (status < 0) return status;
    inverse map = inverse_of(change, image->width, image->height);
    unsigned char *to = copy.pixels;
    for (size_t y = 0; y < copy.height; y++)
        for (size_t x = 0; x < copy.width; x++, to += 3)
            sample(to, image, map.x_0 + map.xx * (double)x + map.xy * (double)y,
                   map.y_0 + map.yx * (double)x + map.yy * (double)y, (float)change->brightness);
    *out = copy;
    return BROAD_OK;
}

int broad__augment(broad__image *out, const broad__image *image, const broad__augmentation *how, uint64_t seed,
                   const char *content, size_t copy)
{
    broad__change change;
    broad__change_draw(&change, how, seed, content, copy);
    return broad__change_apply(out, image, &change);
}
