/*
 * Panels are seen by their colour (dark, blue, or grey under dust), and by straight lines in two directions with smooth faces
 * between them. For each cell, from its neighbourhood:
 *   colour       brightness; blue and green against the others, relative to brightness; the same against the whole picture
 *   lines        energy of the gradient; its share in the strongest direction and in the strongest of those across it
 *   faces        how uneven the gradient is: few strong places (lines) or the same everywhere (gravel, leaves)
 *   place        photos of panels are not taken with the sky in the middle
 */
#include "image/finder_cells.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum {
    CELL = BROAD__FINDER_CELL,
    FACTS = BROAD__FINDER_FACTS,
    DIRECTIONS = 16, /* of half a turn */
    ACROSS = 4,      /* directions apart from which on a line crosses another: an eighth of a turn */
    NEAR = 1,        /* cells around one that give its colour */
    FAR = 2          /* and its lines */
};

/* Sums over the pixels of a cell. */
typedef struct cell_sums {
    float count, colour[3], strength, squares, directions[DIRECTIONS];
} cell_sums;

/* The direction of a gradient, as a number from 0 to DIRECTIONS - 1 of half a turn, without an arc tangent: the tangents of the
 * borders are a table. */
static size_t direction_of(float x, float y)
{
    static const float tangents[DIRECTIONS / 4] = {0.19891237f, 0.41421356f, 0.66817864f, 1.0f};
    if (y < 0 || (y == 0 && x < 0)) {
        x = -x;
        y = -y;
    }
    float along = fabsf(x), up = y, from = 0;
    int steep = up > along;
    if (steep) {
        from = along;
        along = up;
        up = from;
    }
    size_t step = 0;
    while (step + 1 < DIRECTIONS / 4 && up > tangents[step] * along) step++;
    size_t quarter = steep ? DIRECTIONS / 2 - 1 - step : step; /* 0 to 7: of the first quarter of a turn */
    return x < 0 ? DIRECTIONS - 1 - quarter : quarter;
}

static float luma(const unsigned char *rgb) { return 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2]; }

static void sum_colours(cell_sums *cells, size_t columns, const broad__image *image, float *grey)
{
    for (size_t y = 0; y < image->height; y++)
        for (size_t x = 0; x < image->width; x++) {
            const unsigned char *rgb = image->pixels + (y * image->width + x) * 3;
            cell_sums *cell = &cells[y / CELL * columns + x / CELL];
            grey[y * image->width + x] = luma(rgb) / 255.0f;
            cell->count++;
            for (size_t c = 0; c < 3; c++) cell->colour[c] += (float)rgb[c] / 255.0f;
        }
}

static void sum_gradients(cell_sums *cells, size_t columns, size_t width, size_t height, const float *grey)
{
    for (size_t y = 1; y + 1 < height; y++)
        for (size_t x = 1; x + 1 < width; x++) {
            const float *up = grey + (y - 1) * width + x, *here = up + width, *down = here + width;
            /* Sobel */
            float gx = up[1] - up[-1] + 2 * (here[1] - here[-1]) + down[1] - down[-1];
            float gy = down[-1] - up[-1] + 2 * (down[0] - up[0]) + down[1] - up[1];
            float square = (gx * gx + gy * gy) / 64;
            float strength = sqrtf(square);
            cell_sums *cell = &cells[y / CELL * columns + x / CELL];
            cell->strength += strength;
            cell->squares += square;
            cell->directions[direction_of(gx, gy)] += strength;
        }
}

static void add_sums(cell_sums *to, const cell_sums *from)
{
    to->count += from->count;
    for (size_t c = 0; c < 3; c++) to->colour[c] += from->colour[c];
    to->strength += from->strength;
    to->squares += from->squares;
    for (size_t i = 0; i < DIRECTIONS; i++) to->directions[i] += from->directions[i];
}

static void sum_around(cell_sums *out, const cell_sums *cells, size_t columns, size_t rows, size_t column, size_t row,
                       size_t reach)
{
    size_t top = row > reach ? row - reach : 0, left = column > reach ? column - reach : 0;
    *out = (cell_sums){0};
    for (size_t y = top; y < rows && y <= row + reach; y++)
        for (size_t x = left; x < columns && x <= column + reach; x++) add_sums(out, &cells[y * columns + x]);
}

/* Brightness, and how blue and how green for that. */
static void read_colour(float out[3], const cell_sums *sums)
{
    float r = sums->colour[0] / sums->count, g = sums->colour[1] / sums->count, b = sums->colour[2] / sums->count;
    float bright = (r + g + b) / 3;
    out[0] = bright;
    out[1] = (b - (r + g) / 2) / (bright + 0.1f);
    out[2] = (g - (r + b) / 2) / (bright + 0.1f);
}

/* Three neighbouring directions count as one: no line is drawn with a ruler. */
static float share_at(const cell_sums *sums, size_t direction)
{
    float sum = 0;
    for (size_t i = 0; i < 3; i++) sum += sums->directions[(direction + DIRECTIONS - 1 + i) % DIRECTIONS];
    return sum / (sums->strength + 1e-6f);
}

static void read_lines(float out[4], const cell_sums *sums)
{
    size_t best = 0;
    float across = 0;
    for (size_t i = 1; i < DIRECTIONS; i++)
        if (share_at(sums, i) > share_at(sums, best)) best = i;
    for (size_t i = ACROSS; i <= DIRECTIONS - ACROSS; i++)
        across = fmaxf(across, share_at(sums, (best + i) % DIRECTIONS));
    float mean = sums->strength / sums->count, square = sums->squares / sums->count;
    out[0] = logf(mean + 0.002f);
    out[1] = share_at(sums, best);
    out[2] = across;
    out[3] = mean * mean / (square + 1e-7f);
}

static void read_facts(float *out, const cell_sums *near, const cell_sums *far, const float whole[3], float x, float y)
{
    float colour[3], lines[4];
    read_colour(colour, near);
    read_lines(lines, far);
    const float facts[FACTS] = {
        1,
        colour[0],
        colour[0] * colour[0],
        colour[1],
        colour[1] * colour[1],
        colour[2],
        colour[2] * colour[2],
        colour[0] - whole[0],
        colour[1] - whole[1],
        colour[2] - whole[2],
        lines[0],
        lines[0] * lines[0],
        lines[1],
        lines[2],
        lines[1] * lines[2],
        lines[3],
        lines[3] * lines[3],
        y,
        y * y,
        (x - 0.5f) * (x - 0.5f),
    };
    memcpy(out, facts, sizeof facts);
}

int broad__finder_cells(float **out, size_t *out_columns, size_t *out_rows, const broad__image *image)
{
    size_t columns = (image->width + CELL - 1) / CELL, rows = (image->height + CELL - 1) / CELL;
    cell_sums *cells = broad__alloc_array(columns * rows, sizeof *cells);
    float *grey = broad__alloc_array(image->width * image->height, sizeof *grey);
    float *facts = broad__alloc_array(columns * rows, FACTS * sizeof *facts);
    int status = cells && grey && facts ? BROAD_OK : BROAD_NO_MEMORY;
    if (status < 0) goto cleanup;
    sum_colours(cells, columns, image, grey);
    sum_gradients(cells, columns, image->width, image->height, grey);
    cell_sums near, far, all = {0};
    float whole[3];
    for (size_t i = 0; i < columns * rows; i++) add_sums(&all, &cells[i]);
    read_colour(whole, &all);
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++) {
            sum_around(&near, cells, columns, rows, column, row, NEAR);
            sum_around(&far, cells, columns, rows, column, row, FAR);
            read_facts(facts + (row * columns + column) * FACTS, &near, &far, whole,
                       ((float)column + 0.5f) / (float)columns, ((float)row + 0.5f) / (float)rows);
        }
    *out = facts;
    *out_columns = columns;
    *out_rows = rows;
    facts = NULL;
cleanup:
    broad__free(facts);
    broad__free(grey);
    broad__free(cells);
    return status;
}
