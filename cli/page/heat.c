#include "page/heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "page/glyphs.h"

static int by_size(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

double cli_heat_unit(const cli_heat *heat)
{
    size_t cells = heat->grid.width * heat->grid.height;
    double *sizes = broad__alloc_doubles(cells, 1);
    if (!sizes) return heat->full;
    for (size_t i = 0; i < cells; i++) sizes[i] = fabs(heat->grid.cells[i]);
    qsort(sizes, cells, sizeof *sizes, by_size);
    double large = sizes[cells * 95 / 100];
    broad__free(sizes);
    return large > heat->full ? large : heat->full;
}

/* ---- colours ---- */

typedef struct ink {
    double part; /* of full strength, 0 to 1 */
    unsigned char colour[3];
    double alpha;
} ink;

/* Sorted by part; the first is clear. */
static const ink inks_for[] = {
    {0.0, {255, 240, 150}, 0.0}, {0.25, {255, 226, 90}, 0.28}, {0.6, {252, 141, 40}, 0.48}, {1.0, {205, 16, 30}, 0.62}};
static const ink inks_against[] = {{0.0, {140, 200, 255}, 0.0}, {1.0, {30, 110, 230}, 0.4}};

static double clamp(double value, double least, double most)
{
    return value > least ? (value < most ? value : most) : least;
}

/* What is left of a pixel, and what is added to it. */
typedef struct tint {
    float keep, add[3];
} tint;

/* Of strengths from -1 to 1, so finely that neighbours differ by less than a level of brightness. */
enum { LEVELS = 1024 };
typedef struct tints {
    tint of[2 * LEVELS + 1];
} tints;

static tint mixed(double strength)
{
    const ink *inks = strength < 0 ? inks_against : inks_for;
    double part = fabs(strength);
    while (inks[1].part < part) inks++;
    double t = (part - inks[0].part) / (inks[1].part - inks[0].part);
    double alpha = inks[0].alpha + t * (inks[1].alpha - inks[0].alpha);
    tint mix = {.keep = (float)(1 - alpha)};
    for (size_t c = 0; c < 3; c++)
        mix.add[c] = (float)(alpha * (inks[0].colour[c] + t * (inks[1].colour[c] - inks[0].colour[c])));
    return mix;
}

static tints *tints_make(void)
{
    tints *all = broad__alloc(sizeof *all);
    for (int i = 0; all && i <= 2 * LEVELS; i++) all->of[i] = mixed((double)(i - LEVELS) / LEVELS);
    return all;
}

static void put_tint(unsigned char pixel[3], const float colour[3], const tints *all, double strength)
{
    const tint *mix = &all->of[(size_t)((clamp(strength, -1, 1) + 1) * LEVELS + 0.5)];
    for (size_t c = 0; c < 3; c++) pixel[c] = (unsigned char)(mix->keep * colour[c] + mix->add[c] + 0.5F);
}

/* Colours of its own would be taken for the map's. */
static void fade(float out[3], const unsigned char pixel[3])
{
    float grey = 0.299F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2];
    for (size_t c = 0; c < 3; c++) out[c] = 0.45F * pixel[c] + 0.55F * grey;
}

/* Where a pixel lies between the centres of cells. */
typedef struct between {
    size_t low, high;
    double t;
} between;

static between place(size_t pixel, size_t pixels, size_t cells)
{
    double at = ((double)pixel + 0.5) * (double)cells / (double)pixels - 0.5;
    at = clamp(at, 0, (double)(cells - 1));
    size_t low = (size_t)at;
    return (between){.low = low, .high = low + 1 < cells ? low + 1 : low, .t = at - (double)low};
}

int cli_heat_draw(broad_picture *picture, const cli_heat *heat)
{
    double unit = cli_heat_unit(heat);
    size_t width = broad_picture_width(picture), height = broad_picture_height(picture);
    unsigned char *pixel = broad_picture_pixels(picture);
    between *columns = broad__alloc_array(width, sizeof *columns);
    tints *all = columns ? tints_make() : NULL;
    if (!all) {
        broad__free(columns);
        return BROAD_NO_MEMORY;
    }
    for (size_t x = 0; x < width; x++) columns[x] = place(x, width, heat->grid.width);
    for (size_t y = 0; y < height; y++) {
        between row = place(y, height, heat->grid.height);
        const double *upper = heat->grid.cells + row.low * heat->grid.width;
        const double *lower = heat->grid.cells + row.high * heat->grid.width;
        for (size_t x = 0; x < width; x++, pixel += 3) {
            between at = columns[x];
            double above = upper[at.low] + at.t * (upper[at.high] - upper[at.low]);
            double below = lower[at.low] + at.t * (lower[at.high] - lower[at.low]);
            float faded[3];
            fade(faded, pixel);
            put_tint(pixel, faded, all, unit > 0 ? (above + row.t * (below - above)) / unit : 0);
        }
    }
    broad__free(all);
    broad__free(columns);
    return BROAD_OK;
}

int cli_heat_strip(broad_picture **picture, const cli_heat_words *words)
{
    static const float middle[3] = {150, 150, 150};
    broad_picture *taller = NULL;
    size_t width = broad_picture_width(*picture), height = broad_picture_height(*picture);
    size_t scale = width / 400 + 1, bar = height / 40 + 4, line = (CLI_GLYPH_HEIGHT + 3) * scale, top = height + line;
    tints *all = tints_make();
    int status = all ? broad_picture_new(&taller, width, top + bar + line) : BROAD_NO_MEMORY;
    if (status) {
        broad__free(all);
        return status;
    }
    unsigned char *pixels = broad_picture_pixels(taller);
    memset(pixels, 255, 3 * width * (top + bar + line));
    memcpy(pixels, broad_picture_bytes(*picture), 3 * width * height);
    for (size_t x = 0; x < width; x++) {
        unsigned char pixel[3];
        put_tint(pixel, middle, all, width > 1 ? 2 * (double)x / (double)(width - 1) - 1 : 0);
        for (size_t y = top; y < top + bar; y++) memcpy(pixels + 3 * (y * width + x), pixel, 3);
    }
    broad__free(all);
    int roomy =
        cli_glyphs_width(words->against, scale) + cli_glyphs_width(words->in_favour, scale) + 12 * scale <= width;
    const char *against = roomy ? words->against : "-", *in_favour = roomy ? words->in_favour : "+";
    size_t last = cli_glyphs_width(in_favour, scale);
    cli_glyphs_draw(taller, 2 * scale, height + 2 * scale, scale, words->verdict);
    cli_glyphs_draw(taller, 2 * scale, top + bar + 2 * scale, scale, against);
    cli_glyphs_draw(taller, width > last ? width - last : 0, top + bar + 2 * scale, scale, in_favour);
    broad_picture_free(*picture);
    *picture = taller;
    return BROAD_OK;
}
