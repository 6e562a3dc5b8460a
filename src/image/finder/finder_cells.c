/*
 * Panels are seen by their colour (dark, blue, or grey under dust), and by straight lines in two directions with smooth faces
 * between them. For each cell, from its neighbourhood:
 *   colour       brightness; blue and green against the others, relative to brightness; the same against the whole picture
 *   lines        energy of the gradient; its share in the strongest direction and in the strongest of those across it, for
 *                the lines between cells and, farther around, for the frames
 *   faces        how uneven the gradient is: few strong places (lines) or the same everywhere (gravel, leaves); how quiet the
 *                quietest cell around is
 *   place        photos of panels are not taken with the sky in the middle
 */
#include "image/finder/finder_cells.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum {
    CELL = BROAD__FINDER_CELL,
    FACTS = BROAD__FINDER_FACTS,
    DIRECTIONS = 16, /* of half a turn */
    ACROSS = 4,      /* directions apart from which on a line crosses another: an eighth of a turn */
    NEAR = 0,        /* cells around one that give its colour, */
    FAR = 2,         /* its lines, */
    WIDE = 5         /* and its frames */
};

/* Sums over the pixels of a cell, or of a rectangle of cells. */
typedef struct cell_sums {
    double count, colour[3], strength, squares, directions[DIRECTIONS];
} cell_sums;

typedef struct cell_grid {
    size_t columns, rows;
    cell_sums *cells;
    cell_sums *
        table; /* (columns + 1) x (rows + 1): sums of all cells above and to the left, so that any rectangle takes four */
    float *grey; /* of the pixels, 0 to 1 */
} cell_grid;

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

static void sum_colours(cell_grid *g, const broad__image *image)
{
    for (size_t y = 0; y < image->height; y++)
        for (size_t x = 0; x < image->width; x++) {
            const unsigned char *rgb = image->pixels + (y * image->width + x) * 3;
            cell_sums *cell = &g->cells[y / CELL * g->columns + x / CELL];
            g->grey[y * image->width + x] =
                (0.299f * (float)rgb[0] + 0.587f * (float)rgb[1] + 0.114f * (float)rgb[2]) / 255;
            cell->count++;
            for (size_t c = 0; c < 3; c++) cell->colour[c] += rgb[c] / 255.0;
        }
}

/* Sobel's gradient, a step of 1 over one pixel giving a strength of 1/2. */
static void sum_gradients(cell_grid *g, size_t width, size_t height)
{
    for (size_t y = 1; y + 1 < height; y++)
        for (size_t x = 1; x + 1 < width; x++) {
            const float *up = g->grey + (y - 1) * width + x, *here = up + width, *down = here + width;
            float gx = up[1] - up[-1] + 2 * (here[1] - here[-1]) + down[1] - down[-1];
            float gy = down[-1] - up[-1] + 2 * (down[0] - up[0]) + down[1] - up[1];
            float square = (gx * gx + gy * gy) / 64;
            float strength = sqrtf(square);
            cell_sums *cell = &g->cells[y / CELL * g->columns + x / CELL];
            cell->strength += (double)strength;
            cell->squares += (double)square;
            cell->directions[direction_of(gx, gy)] += (double)strength;
        }
}

static void add_sums(cell_sums *to, const cell_sums *from, double sign)
{
    to->count += sign * from->count;
    for (size_t c = 0; c < 3; c++) to->colour[c] += sign * from->colour[c];
    to->strength += sign * from->strength;
    to->squares += sign * from->squares;
    for (size_t i = 0; i < DIRECTIONS; i++) to->directions[i] += sign * from->directions[i];
}

static void fill_table(cell_grid *g)
{
    size_t wide = g->columns + 1;
    for (size_t y = 0; y < g->rows; y++)
        for (size_t x = 0; x < g->columns; x++) {
            cell_sums *to = &g->table[(y + 1) * wide + x + 1];
            *to = g->cells[y * g->columns + x];
            add_sums(to, &g->table[y * wide + x + 1], 1);
            add_sums(to, &g->table[(y + 1) * wide + x], 1);
            add_sums(to, &g->table[y * wide + x], -1);
        }
}

typedef struct reach {
    size_t left, top, right, bottom; /* the latter two are outside */
} reach;

static reach reach_of(const cell_grid *g, size_t column, size_t row, size_t cells)
{
    return (reach){column > cells ? column - cells : 0, row > cells ? row - cells : 0,
                   column + cells < g->columns ? column + cells + 1 : g->columns,
                   row + cells < g->rows ? row + cells + 1 : g->rows};
}

static cell_sums sums_of(const cell_grid *g, reach r)
{
    size_t wide = g->columns + 1;
    cell_sums sums = g->table[r.bottom * wide + r.right];
    add_sums(&sums, &g->table[r.top * wide + r.right], -1);
    add_sums(&sums, &g->table[r.bottom * wide + r.left], -1);
    add_sums(&sums, &g->table[r.top * wide + r.left], 1);
    return sums;
}

static double log_strength(double strength, double count) { return log(fmax(strength / count, 0) + 0.002); }

static double quietest(const cell_grid *g, reach r)
{
    double least = INFINITY;
    for (size_t y = r.top; y < r.bottom; y++)
        for (size_t x = r.left; x < r.right; x++) {
            const cell_sums *cell = &g->cells[y * g->columns + x];
            least = fmin(least, cell->strength / cell->count);
        }
    return log_strength(least, 1);
}

/* Brightness, and how blue and how green for that. */
static void read_colour(double out[3], const cell_sums *sums)
{
    double r = sums->colour[0] / sums->count, g = sums->colour[1] / sums->count, b = sums->colour[2] / sums->count;
    double bright = (r + g + b) / 3;
    out[0] = bright;
    out[1] = (b - (r + g) / 2) / (bright + 0.1);
    out[2] = (g - (r + b) / 2) / (bright + 0.1);
}

/* Of the strongest direction, and of the strongest across it. Three neighbouring directions count as one: no line in a photo
 * is quite straight. */
static void read_directions(double out[2], const cell_sums *sums)
{
    double shares[DIRECTIONS];
    size_t best = 0;
    for (size_t i = 0; i < DIRECTIONS; i++) {
        double sum = 0;
        for (size_t k = 0; k < 3; k++) sum += sums->directions[(i + DIRECTIONS - 1 + k) % DIRECTIONS];
        shares[i] = sum / (sums->strength + 1e-3);
        if (shares[i] > shares[best]) best = i;
    }
    out[0] = shares[best];
    out[1] = 0;
    for (size_t i = ACROSS; i <= DIRECTIONS - ACROSS; i++) out[1] = fmax(out[1], shares[(best + i) % DIRECTIONS]);
}

/* 1: the same everywhere; towards 0: few strong places. */
static double evenness(const cell_sums *sums)
{
    double mean = sums->strength / sums->count;
    return mean * mean / (fmax(sums->squares / sums->count, 0) + 1e-7);
}

static void read_facts(float *out, const cell_grid *g, size_t column, size_t row, const double whole[3])
{
    reach far = reach_of(g, column, row, FAR);
    cell_sums near_sums = sums_of(g, reach_of(g, column, row, NEAR)), far_sums = sums_of(g, far);
    cell_sums wide_sums = sums_of(g, reach_of(g, column, row, WIDE));
    double c[3], lines[2], frames[2], x = ((double)column + 0.5) / (double)g->columns - 0.5;
    double y = ((double)row + 0.5) / (double)g->rows, quiet = quietest(g, far), even = evenness(&far_sums);
    double energy = log_strength(far_sums.strength, far_sums.count);
    read_colour(c, &near_sums);
    read_directions(lines, &far_sums);
    read_directions(frames, &wide_sums);
    const double facts[FACTS] = {
        [BROAD__FACT_ONE] = 1,
        [BROAD__FACT_BRIGHT] = c[0],
        c[0] * c[0],
        [BROAD__FACT_BLUE] = c[1],
        c[1] * c[1],
        [BROAD__FACT_GREEN] = c[2],
        c[2] * c[2],
        [BROAD__FACT_CONTRAST] = c[0] - whole[0],
        c[1] - whole[1],
        c[2] - whole[2],
        [BROAD__FACT_ENERGY] = energy,
        energy * energy,
        [BROAD__FACT_LINES] = lines[0],
        lines[1],
        lines[0] * lines[1],
        [BROAD__FACT_EVEN] = even,
        even * even,
        [BROAD__FACT_QUIET] = quiet,
        quiet * quiet,
        [BROAD__FACT_NEAR_ENERGY] = log_strength(near_sums.strength, near_sums.count),
        [BROAD__FACT_FRAMES] = frames[0],
        frames[1],
        frames[0] * frames[1],
        [BROAD__FACT_PLACE] = y,
        y * y,
        x * x,
    };
    for (size_t i = 0; i < FACTS; i++) out[i] = (float)facts[i];
}

int broad__finder_cells(float **out, size_t *out_columns, size_t *out_rows, const broad__image *image)
{
    cell_grid g = {.columns = (image->width + CELL - 1) / CELL, .rows = (image->height + CELL - 1) / CELL};
    size_t count = g.columns * g.rows;
    g.cells = broad__alloc_array(count, sizeof *g.cells);
    g.table = broad__alloc_array((g.columns + 1) * (g.rows + 1), sizeof *g.table);
    g.grey = broad__alloc_array(image->width * image->height, sizeof *g.grey);
    float *facts = broad__alloc_array(count, FACTS * sizeof *facts);
    int status = g.cells && g.table && g.grey && facts ? BROAD_OK : BROAD_NO_MEMORY;
    if (status < 0) goto cleanup;
    sum_colours(&g, image);
    sum_gradients(&g, image->width, image->height);
    fill_table(&g);
    double whole[3];
    read_colour(whole, &g.table[(g.columns + 1) * (g.rows + 1) - 1]);
    for (size_t i = 0; i < count; i++) read_facts(facts + i * FACTS, &g, i % g.columns, i / g.columns, whole);
    *out = facts;
    *out_columns = g.columns;
    *out_rows = g.rows;
    facts = NULL;
cleanup:
    broad__free(facts);
    broad__free(g.grey);
    broad__free(g.table);
    broad__free(g.cells);
    return status;
}
