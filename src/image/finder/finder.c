/*
 * Cells that look like panel, by a logistic rule over what finder_cells.h tells of them; then what the picture itself says: its
 * panel and its surroundings each have a colour and a texture of their own, learned from the first guess and used for a better
 * one. Connected cells make a region; a quadrilateral around it gives its corners.
 */
#include "image/finder/finder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "image/finder/finder_cells.h"

enum { FACTS = BROAD__FINDER_FACTS, OWN = 6, COLOURS = 3, ROUNDS = 3, PEEL_ROUNDS = 2 };

/* From 1,200 rendered photos, whose panels are known to the pixel: bench_finder fit. */
/* clang-format off */
static const float rule[FACTS] = {
    -14.5f, 3.238f, -3.359f, 1.536f, -0.008923f, -0.6354f, -9.426f, -1.307f, 6.22f, 0.7548f, 0.005555f, -0.194f,
    1.804f, 11.09f, -23.02f, 28.32f, -25.45f, -2.986f, -0.3813f, 0.1761f, 2.475f, 4.756f, 1.809f, 5.645f, -4.552f,
    -3.877f,
};
/* clang-format on */

/* The facts that a panel has in common with itself all over, and not with what is around it. */
static const size_t own_facts[OWN] = {BROAD__FACT_BRIGHT, BROAD__FACT_BLUE, BROAD__FACT_GREEN,
                                      BROAD__FACT_ENERGY, BROAD__FACT_EVEN, BROAD__FACT_QUIET};

#define EDGE_LOGIT -1.0f   /* a region goes as far as its cells are above this */
#define OWN_WEIGHT 0.5f    /* of what the picture says against the rule */
#define OWN_LIMIT 4.0f     /* no cell is judged by that alone */
#define SPREAD_LEAST 0.05f /* of a fact, however even it is */
#define SHARE_LEAST 0.08f  /* of the cells, for panel and surroundings, to learn from */
#define REGION_LEAST 0.02f /* of the cells */
#define SCORE_LEAST 0.5f
#define EDGE_LEAST 0.05f /* of the longest column or row of a region, or it is a fringe and cut off */

typedef struct grid {
    size_t columns, rows, count;
    float *facts;
    float *first; /* what the rule says of a cell and its neighbours: above 0 for panel */
    float *logit; /* the same with what the picture says */
    float *spare;
    size_t *part;  /* the region of a cell, from 1; 0: none */
    size_t *queue; /* cells */
} grid;

static void grid_free(grid *g)
{
    broad__free(g->facts);
    broad__free(g->first);
    broad__free(g->logit);
    broad__free(g->spare);
    broad__free(g->part);
    broad__free(g->queue);
    *g = (grid){0};
}

static int grid_init(grid *out, const broad__image *image)
{
    size_t width, height;
    broad__image small = {0};
    broad__image_fit(&width, &height, image->width, image->height, BROAD__FINDER_SIDE);
    int status =
        width == image->width && height == image->height ? BROAD_OK : broad__image_resize(&small, image, width, height);
    if (status == BROAD_OK)
        status = broad__finder_cells(&out->facts, &out->columns, &out->rows, small.pixels ? &small : image);
    broad__image_free(&small);
    if (status < 0) return status;
    out->count = out->columns * out->rows;
    out->first = broad__alloc_array(out->count, sizeof *out->first);
    out->logit = broad__alloc_array(out->count, sizeof *out->logit);
    out->spare = broad__alloc_array(out->count, sizeof *out->spare);
    out->part = broad__alloc_array(out->count, sizeof *out->part);
    out->queue = broad__alloc_array(out->count, sizeof *out->queue);
    return out->first && out->logit && out->spare && out->part && out->queue ? BROAD_OK : BROAD_NO_MEMORY;
}

/* ---- which cells ----------------------------------------------------------------------------------------------- */

static float chance(float logit) { return 1 / (1 + expf(-logit)); }

static void judge_cells(grid *g)
{
    for (size_t i = 0; i < g->count; i++) {
        float sum = 0;
        for (size_t k = 0; k < FACTS; k++) sum += rule[k] * g->facts[i * FACTS + k];
        g->logit[i] = sum;
    }
}

/* Means over three by three cells. */
static void smooth(grid *g)
{
    for (size_t y = 0; y < g->rows; y++)
        for (size_t x = 0; x < g->columns; x++) {
            size_t top = y ? y - 1 : 0, left = x ? x - 1 : 0;
            float sum = 0;
            size_t count = 0;
            for (size_t v = top; v < g->rows && v <= y + 1; v++)
                for (size_t u = left; u < g->columns && u <= x + 1; u++, count++) sum += g->logit[v * g->columns + u];
            g->spare[y * g->columns + x] = sum / (float)count;
        }
    memcpy(g->logit, g->spare, g->count * sizeof *g->logit);
}

typedef struct habit {
    float weight, mean[OWN], spread[OWN];
} habit;

static void learn_habit(habit *out, const grid *g, const float *weights)
{
    *out = (habit){0};
    for (size_t i = 0; i < g->count; i++) {
        out->weight += weights[i];
        for (size_t k = 0; k < OWN; k++) out->mean[k] += weights[i] * g->facts[i * FACTS + own_facts[k]];
    }
    for (size_t k = 0; k < OWN; k++) out->mean[k] /= out->weight;
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < OWN; k++) {
            float off = g->facts[i * FACTS + own_facts[k]] - out->mean[k];
            out->spread[k] += weights[i] * off * off;
        }
    for (size_t k = 0; k < OWN; k++) out->spread[k] = out->spread[k] / out->weight + SPREAD_LEAST * SPREAD_LEAST;
}

/* Of the first `count` of the facts that it has. */
static float likeness(const habit *h, const float *facts, size_t count)
{
    float sum = 0;
    for (size_t k = 0; k < count; k++) {
        float off = facts[own_facts[k]] - h->mean[k];
        sum -= off * off / h->spread[k] + logf(h->spread[k]);
    }
    return sum / 2;
}

/* Cells move towards those that they resemble in this picture. */
static void judge_again(grid *g)
{
    habit panel, rest;
    for (size_t i = 0; i < g->count; i++) g->spare[i] = chance(g->logit[i]);
    learn_habit(&panel, g, g->spare);
    for (size_t i = 0; i < g->count; i++) g->spare[i] = 1 - g->spare[i];
    learn_habit(&rest, g, g->spare);
    float least = SHARE_LEAST * (float)g->count;
    if (panel.weight < least || rest.weight < least) return;
    judge_cells(g);
    for (size_t i = 0; i < g->count; i++) {
        const float *facts = g->facts + i * FACTS;
        float more = OWN_WEIGHT * (likeness(&panel, facts, OWN) - likeness(&rest, facts, OWN));
        g->logit[i] += fmaxf(-OWN_LIMIT, fminf(OWN_LIMIT, more));
    }
    smooth(g);
}

/* ---- which regions --------------------------------------------------------------------------------------------- */

typedef struct part {
    size_t number, cells;
    float sum;   /* of the chances of its cells */
    float first; /* of those that the rule alone gives */
} part;

static void fill(grid *g, part *out, size_t start)
{
    size_t head = 0, tail = 0;
    g->queue[tail++] = start;
    g->part[start] = out->number;
    while (head < tail) {
        size_t at = g->queue[head++], x = at % g->columns, y = at / g->columns;
        const size_t next[4] = {x ? at - 1 : at, x + 1 < g->columns ? at + 1 : at, y ? at - g->columns : at,
                                y + 1 < g->rows ? at + g->columns : at};
        out->cells++;
        out->sum += chance(g->logit[at]);
        out->first += chance(g->first[at]);
        for (size_t i = 0; i < 4; i++) {
            if (g->part[next[i]] || !(g->logit[next[i]] > EDGE_LOGIT)) continue;
            g->part[next[i]] = out->number;
            g->queue[tail++] = next[i];
        }
    }
}

static int larger_first(const void *a, const void *b)
{
    const part *p = a, *q = b;
    if (p->sum != q->sum) return p->sum > q->sum ? -1 : 1;
    return p->number < q->number ? -1 : 1;
}

static int find_parts(part **out, size_t *out_count, grid *g)
{
    size_t count = 0, room = 0;
    part *parts = NULL;
    for (size_t i = 0; i < g->count; i++) {
        if (g->part[i] || !(g->logit[i] > EDGE_LOGIT)) continue;
        part made = {.number = count + 1};
        int status = broad__grow(&parts, &room, count + 1, sizeof *parts, g->count);
        if (status < 0) {
            broad__free(parts);
            return status;
        }
        fill(g, &made, i);
        parts[count++] = made;
    }
    if (count) qsort(parts, count, sizeof *parts, larger_first);
    *out = parts;
    *out_count = count;
    return BROAD_OK;
}

/* Cells at the edge of a region, the edge of the picture apart, that have rather the colours of the rest; into g->queue. */
static size_t find_strangers(grid *g, size_t number, const habit *panel, const habit *rest)
{
    size_t count = 0;
    for (size_t at = 0; at < g->count; at++) {
        size_t x = at % g->columns, y = at / g->columns;
        if (g->part[at] != number) continue;
        int edge = (x && g->part[at - 1] != number) || (x + 1 < g->columns && g->part[at + 1] != number) ||
                   (y && g->part[at - g->columns] != number) || (y + 1 < g->rows && g->part[at + g->columns] != number);
        const float *facts = g->facts + at * FACTS;
        if (edge && likeness(panel, facts, COLOURS) < likeness(rest, facts, COLOURS)) g->queue[count++] = at;
    }
    return count;
}

/* The windows of the rule reach over the edge of a panel, and so does what they find: it is peeled from outside in, and half of
 * it stays in any case. */
static void peel(grid *g, const part *p)
{
    habit panel, rest;
    size_t left = p->cells;
    if (left == g->count) return;
    for (size_t i = 0; i < g->count; i++) g->spare[i] = g->part[i] == p->number ? 1 : 0;
    learn_habit(&panel, g, g->spare);
    for (size_t i = 0; i < g->count; i++) g->spare[i] = 1 - g->spare[i];
    learn_habit(&rest, g, g->spare);
    for (int i = 0; i < PEEL_ROUNDS; i++) {
        size_t count = find_strangers(g, p->number, &panel, &rest);
        if (2 * (left - count) < p->cells) return;
        for (size_t k = 0; k < count; k++) g->part[g->queue[k]] = 0;
        left -= count;
    }
}

/* ---- its corners ----------------------------------------------------------------------------------------------- */

typedef struct point {
    double x, y;
} point;

static double cross(point a, point b, point c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

static int by_place(const void *a, const void *b)
{
    const point *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return p->y < q->y ? -1 : p->y > q->y;
}

/* The convex hull, without points on its edges (Andrew's monotone chain); `out` has room for 2 * count. */
static size_t hull_of(point *out, point *points, size_t count)
{
    size_t used = 0;
    qsort(points, count, sizeof *points, by_place);
    for (size_t i = 0; i < count; i++) {
        while (used >= 2 && cross(out[used - 2], out[used - 1], points[i]) <= 0) used--;
        out[used++] = points[i];
    }
    size_t lower = used + 1;
    for (size_t i = count - 1; i-- > 0;) {
        while (used >= lower && cross(out[used - 2], out[used - 1], points[i]) <= 0) used--;
        out[used++] = points[i];
    }
    return used - 1;
}

/* Where the edges before and after the edge from hull[i] on meet; 0: behind it, or never. *area: what is added by that. */
static int edge_apex(point *out, double *area, const point *hull, size_t count, size_t i)
{
    point a = hull[(i + count - 1) % count], b = hull[i], c = hull[(i + 1) % count], d = hull[(i + 2) % count];
    double ux = b.x - a.x, uy = b.y - a.y, vx = c.x - d.x, vy = c.y - d.y, turn = ux * vy - uy * vx;
    if (fabs(turn) < 1e-12) return 0;
    double t = ((c.x - b.x) * vy - (c.y - b.y) * vx) / turn, s = ((c.x - b.x) * uy - (c.y - b.y) * ux) / turn;
    if (t < 0 || s < 0) return 0;
    *out = (point){b.x + t * ux, b.y + t * uy};
    *area = fabs(cross(b, *out, c)) / 2;
    return 1;
}

/* Leaves out the edge that costs the least area, until four are left. */
static size_t to_four(point *hull, size_t count)
{
    while (count > 4) {
        size_t best = count;
        double least = INFINITY, area;
        point apex = {0}, at;
        for (size_t i = 0; i < count; i++)
            if (edge_apex(&at, &area, hull, count, i) && area < least) {
                best = i;
                least = area;
                apex = at;
            }
        if (best == count) break;
        size_t after = (best + 1) % count;
        hull[best] = apex;
        memmove(hull + after, hull + after + 1, (count - after - 1) * sizeof *hull);
        count--;
    }
    return count;
}

static double within(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

/* From the upper left one clockwise, as y runs down the picture and the hull runs that way. */
static void put_corners(broad__region *region, const point *four)
{
    size_t first = 0;
    for (size_t i = 1; i < 4; i++)
        if (four[i].x + four[i].y < four[first].x + four[first].y) first = i;
    for (size_t i = 0; i < 4; i++) {
        point p = four[(first + i) % 4];
        region->corners[2 * i] = within(p.x, 0, 1);
        region->corners[2 * i + 1] = within(p.y, 0, 1);
    }
}

/* Cutting at the edge of the picture can leave less than four corners. */
static int is_convex(const broad__region *region)
{
    const double *c = region->corners;
    for (size_t i = 0; i < 8; i += 2) {
        size_t next = (i + 2) % 8, last = (i + 4) % 8;
        if (!(cross((point){c[i], c[i + 1]}, (point){c[next], c[next + 1]}, (point){c[last], c[last + 1]}) > 1e-6))
            return 0;
    }
    return 1;
}

static int find_corners(broad__region *region, const grid *g, size_t number)
{
    size_t count = 0;
    point *points = broad__alloc_array(g->count, 4 * sizeof *points);
    point *hull = broad__alloc_array(g->count, 8 * sizeof *hull);
    int status = points && hull ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t i = 0; i < g->count && status == BROAD_OK; i++) {
        if (g->part[i] != number) continue;
        size_t column = i % g->columns, row = i / g->columns;
        double left = (double)column / (double)g->columns, top = (double)row / (double)g->rows;
        double right = left + 1 / (double)g->columns, bottom = top + 1 / (double)g->rows;
        if (left < region->left - 1e-9 || right > region->right + 1e-9) continue;
        if (top < region->top - 1e-9 || bottom > region->bottom + 1e-9) continue;
        const point corners[4] = {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
        memcpy(points + count, corners, sizeof corners);
        count += 4;
    }
    const point box[4] = {{region->left, region->top},
                          {region->right, region->top},
                          {region->right, region->bottom},
                          {region->left, region->bottom}};
    if (status == BROAD_OK && count) count = to_four(hull, hull_of(hull, points, count));
    if (status == BROAD_OK && count == 4) put_corners(region, hull);
    if (status == BROAD_OK && (count != 4 || !is_convex(region))) put_corners(region, box);
    broad__free(points);
    broad__free(hull);
    return status;
}

/* ---- its box --------------------------------------------------------------------------------------------------- */

/* First and last of the columns (or rows) that hold enough cells of the region; fringes do not count. */
static void trim(size_t *out_first, size_t *out_last, const size_t *counts, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (counts[i] > most) most = counts[i];
    float least = EDGE_LEAST * (float)most;
    *out_first = 0;
    *out_last = count - 1;
    while ((float)counts[*out_first] < least || !counts[*out_first]) ++*out_first;
    while ((float)counts[*out_last] < least || !counts[*out_last]) --*out_last;
}

static int describe(broad__region *out, const grid *g, const part *p)
{
    size_t *counts = broad__alloc_array(g->columns + g->rows, sizeof *counts);
    if (!counts) return BROAD_NO_MEMORY;
    size_t first, last;
    for (size_t i = 0; i < g->count; i++) {
        counts[i % g->columns] += g->part[i] == p->number;
        counts[g->columns + i / g->columns] += g->part[i] == p->number;
    }
    *out = (broad__region){.score = (double)(p->first / (float)p->cells)};
    trim(&first, &last, counts, g->columns);
    out->left = (double)first / (double)g->columns;
    out->right = (double)(last + 1) / (double)g->columns;
    trim(&first, &last, counts + g->columns, g->rows);
    out->top = (double)first / (double)g->rows;
    out->bottom = (double)(last + 1) / (double)g->rows;
    broad__free(counts);
    return find_corners(out, g, p->number);
}

int broad__find_panels(broad__region *out, size_t *out_count, size_t most, const broad__image *image)
{
    grid g = {0};
    part *parts = NULL;
    size_t count = 0, found = 0;
    int status = grid_init(&g, image);
    if (status < 0) goto cleanup;
    judge_cells(&g);
    smooth(&g);
    memcpy(g.first, g.logit, g.count * sizeof *g.first);
    for (int i = 0; i < ROUNDS; i++) judge_again(&g);
    status = find_parts(&parts, &count, &g);
    for (size_t i = 0; i < count && found < most && status == BROAD_OK; i++) {
        if ((float)parts[i].cells < REGION_LEAST * (float)g.count) break;
        if (parts[i].first < SCORE_LEAST * (float)parts[i].cells) continue;
        peel(&g, &parts[i]);
        status = describe(&out[found++], &g, &parts[i]);
    }
    if (status == BROAD_OK) *out_count = found;
cleanup:
    broad__free(parts);
    grid_free(&g);
    return status;
}
