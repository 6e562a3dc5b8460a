/*
 * Copies share the hash of their bytes. For the rest, pictures whose hashes differ in at most NEAR_BITS are candidates: A
 * by all its windows (hash.c), B as a whole. Then the grey pixels decide: the window's edges are moved until it
 * correlates best with B, and the correlation must reach NEAR_CORRELATION. Hashes alone would not do: lines and grids make
 * many panels alike in the lowest frequencies, one pair of strangers in some ten thousand, which joins everything with
 * everything in a collection of a hundred thousand.
 *
 * Candidates are found through buckets. Of 5 bands of a hash, two hashes that differ in at most 9 bits have one in which
 * they differ in at most one bit: so 5 x 14 buckets hold every candidate, and nothing is missed.
 *
 * Measured on 302 photos of panels, of which an index names 13 pairs in 11 groups: all are found, and four pairs more,
 * which are indeed the same photo, cropped or with a stock agency's mark; no strangers are joined, the best of them
 * correlating by 0.87. Of the 302 together with an altered copy of each, this many copies are found: JPEG quality 30, half
 * the size, brightness 0.7: all; brightness 1.3, clipped: 301; crops at random places to 95-100, 90-95, 80-90, 75-80
 * percent of each side: 300, 297, 292, 243. No strangers either. 100,000 pictures take half a minute.
 */
#include "image/print/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum {
    SIDE = BROAD__PRINT_SIDE,
    WINDOWS = BROAD__PRINT_WINDOWS,
    NEAR_BITS = 9,
    BANDS = 5,
    BAND_BITS = 13,
    BUCKETS = 1 << BAND_BITS,
    SAMPLES = 20, /* a side, for the correlation */
    ROUNDS = 4,
    MEMBERS = 4, /* of a group that windows are compared for: the others look like them */
};
static const double NEAR_CORRELATION = 0.90;
static const float NEAR_ASPECT = 1.25f; /* a crop keeps the proportions, roughly */

/* The pictures of bucket b of a band stand from start[b] to start[b + 1]. */
typedef struct band {
    uint32_t *start;
    uint32_t *picture;
    uint64_t *hash;
} band;

typedef struct search {
    const broad__print *prints;
    size_t count;
    size_t *parent;   /* of a union-find forest; a root is the first of its group */
    uint32_t *active; /* pictures that are compared */
    size_t actives;
    band bands[BANDS];
    /* Candidates for the current picture: the window with the nearest hash. */
    unsigned char *nearest; /* by picture: bits, NEAR_BITS + 1 if it is not a candidate */
    unsigned char *window;
    uint32_t *found;
    size_t founds;
} search;

/* ---- groups ---- */

static size_t root_of(search *s, size_t i)
{
    while (s->parent[i] != i) i = s->parent[i] = s->parent[s->parent[i]];
    return i;
}

static void join(search *s, size_t a, size_t b)
{
    a = root_of(s, a);
    b = root_of(s, b);
    if (a < b) s->parent[b] = a;
    else s->parent[a] = b;
}

/* ---- correlation ---- */

typedef struct edges {
    double at[4]; /* left, top, right, bottom, from 0 to 1 */
} edges;

/* SAMPLES x SAMPLES values between the edges, linear between pixel centres, of mean 0 and sum of squares 1. */
static void sample(float out[SAMPLES * SAMPLES], const unsigned char *grey, const edges *box)
{
    int at[2][SAMPLES];
    float part[2][SAMPLES], sum = 0, squares = 0;
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < SAMPLES; i++) {
            double low = box->at[d], high = box->at[d + 2];
            double place = (low + (i + 0.5) / SAMPLES * (high - low)) * SIDE - 0.5;
            place = place < 0 ? 0 : place > SIDE - 1 ? SIDE - 1 : place;
            at[d][i] = (int)place < SIDE - 2 ? (int)place : SIDE - 2;
            part[d][i] = (float)(place - at[d][i]);
        }
    for (int y = 0; y < SAMPLES; y++)
        for (int x = 0; x < SAMPLES; x++) {
            const unsigned char *p = grey + at[1][y] * SIDE + at[0][x];
            float fx = part[0][x], fy = part[1][y];
            float upper = (float)p[0] + fx * (float)(p[1] - p[0]);
            float lower = (float)p[SIDE] + fx * (float)(p[SIDE + 1] - p[SIDE]);
            float value = upper + fy * (lower - upper);
            out[y * SAMPLES + x] = value;
            sum += value;
        }
    float mean = sum / (SAMPLES * SAMPLES);
    for (int i = 0; i < SAMPLES * SAMPLES; i++) {
        out[i] -= mean;
        squares += out[i] * out[i];
    }
    float scale = squares > 0 ? 1 / sqrtf(squares) : 0;
    for (int i = 0; i < SAMPLES * SAMPLES; i++) out[i] *= scale;
}

static double correlation(const unsigned char *grey, const edges *box, const float other[SAMPLES * SAMPLES])
{
    float values[SAMPLES * SAMPLES];
    double sum = 0;
    sample(values, grey, box);
    for (int i = 0; i < SAMPLES * SAMPLES; i++) sum += (double)values[i] * other[i];
    return sum;
}

/* One edge at a time goes where the correlation grows, by ever smaller steps. */
static int is_same(const broad__print *a, broad__print_window window, const broad__print *b)
{
    static const double steps[] = {0.03, 0.015, 0.0075};
    float whole[SAMPLES * SAMPLES];
    edges all = {{0, 0, 1, 1}}, box;
    sample(whole, b->grey, &all);
    box.at[0] = (double)window.x / SIDE;
    box.at[1] = (double)window.y / SIDE;
    box.at[2] = (double)(window.x + window.side) / SIDE;
    box.at[3] = (double)(window.y + window.side) / SIDE;
    double best = correlation(a->grey, &box, whole);
    for (size_t step = 0; step < sizeof steps / sizeof steps[0]; step++) {
        int moved = 1;
        for (int round = 0; moved && round < ROUNDS; round++) {
            moved = 0;
            for (int way = 0; way < 8; way++) {
                edges tried = box;
                double *edge = &tried.at[way / 2];
                *edge += way & 1 ? steps[step] : -steps[step];
                if (*edge < 0 || *edge > 1) continue;
                double value = correlation(a->grey, &tried, whole);
                if (value <= best) continue;
                best = value;
                box = tried;
                moved = 1;
            }
        }
    }
    return best >= NEAR_CORRELATION;
}

/* ---- buckets ---- */

static uint32_t bucket_of(uint64_t hash, int b) { return (uint32_t)(hash >> (b * BAND_BITS)) & (BUCKETS - 1); }

/* The last band has 12 bits: its upper half of buckets stays empty. */
static void bands_fill(search *s)
{
    for (int b = 0; b < BANDS; b++) {
        band *to = &s->bands[b];
        memset(to->start, 0, (BUCKETS + 1) * sizeof *to->start);
        for (size_t i = 0; i < s->actives; i++) to->start[bucket_of(s->prints[s->active[i]].hash, b) + 1]++;
        for (size_t i = 0; i < BUCKETS; i++) to->start[i + 1] += to->start[i];
        /* start[b] serves as the place to fill, and so ends as start[b + 1] was. */
        for (size_t i = 0; i < s->actives; i++) {
            uint64_t hash = s->prints[s->active[i]].hash;
            uint32_t place = to->start[bucket_of(hash, b)]++;
            to->picture[place] = s->active[i];
            to->hash[place] = hash;
        }
        memmove(to->start + 1, to->start, BUCKETS * sizeof *to->start);
        to->start[0] = 0;
    }
}

#define INLINE static inline __attribute__((always_inline))

INLINE void bands_look(search *s, uint64_t hash, int window)
{
    for (int b = 0; b < BANDS; b++) {
        const band *from = &s->bands[b];
        uint32_t own = bucket_of(hash, b);
        for (int bit = -1; bit < BAND_BITS; bit++) {
            uint32_t bucket = bit < 0 ? own : own ^ 1u << bit;
            for (uint32_t i = from->start[bucket]; i < from->start[bucket + 1]; i++) {
                int bits = __builtin_popcountll(hash ^ from->hash[i]);
                if (bits > NEAR_BITS) continue;
                uint32_t picture = from->picture[i];
                if (s->nearest[picture] > NEAR_BITS) s->found[s->founds++] = picture;
                if (bits >= s->nearest[picture]) continue;
                s->nearest[picture] = (unsigned char)bits;
                s->window[picture] = (unsigned char)window;
            }
        }
    }
}

static void look_plain(search *s, uint64_t hash, int window) { bands_look(s, hash, window); }

#if defined(__x86_64__)
__attribute__((target("popcnt"))) static void look_fast(search *s, uint64_t hash, int window)
{
    bands_look(s, hash, window);
}
#endif

static void look(search *s, uint64_t hash, int window)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("popcnt")) {
        look_fast(s, hash, window);
        return;
    }
#endif
    look_plain(s, hash, window);
}

/* Everything that picture i's windows `first` to `last` are near to. */
static void compare(search *s, size_t i, const uint64_t *hashes, const broad__print_window *places, int first, int last)
{
    const broad__print *own = &s->prints[i];
    s->founds = 0;
    for (int w = first; w <= last; w++) look(s, hashes[w], w);
    for (size_t k = 0; k < s->founds; k++) {
        size_t other = s->found[k];
        s->nearest[other] = NEAR_BITS + 1;
        float ratio = own->aspect / s->prints[other].aspect;
        if (ratio > NEAR_ASPECT || ratio < 1 / NEAR_ASPECT || root_of(s, i) == root_of(s, other)) continue;
        if (is_same(own, places[s->window[other]], &s->prints[other])) join(s, i, other);
    }
}

/* ---- the three steps ---- */

static int compare_content(const void *a, const void *b, void *context)
{
    const broad__print *prints = context;
    uint32_t i, j;
    memcpy(&i, a, sizeof i);
    memcpy(&j, b, sizeof j);
    int order = strcmp(prints[i].content, prints[j].content);
    return order ? order : (i > j) - (i < j);
}

/* Copies; what is left to compare is one of each, if it has any structure. */
static void group_copies(search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        s->parent[i] = i;
        s->active[i] = (uint32_t)i;
        s->nearest[i] = NEAR_BITS + 1;
    }
    qsort_r(s->active, s->count, sizeof *s->active, compare_content, (void *)s->prints);
    for (size_t i = 0, first = 0; i < s->count; i++) {
        const broad__print *print = &s->prints[s->active[i]];
        int copy = i > 0 && strcmp(print->content, s->prints[s->active[first]].content) == 0;
        if (!copy) first = i;
        if (copy) join(s, s->active[first], s->active[i]);
        else if (!print->flat) s->active[s->actives++] = s->active[first];
    }
}

static void group_whole(search *s)
{
    static const broad__print_window whole = {0, 0, SIDE};
    bands_fill(s);
    for (size_t i = 0; i < s->actives; i++) compare(s, s->active[i], &s->prints[s->active[i]].hash, &whole, 0, 0);
}

static void group_crops(search *s, const broad__print_basis *basis)
{
    uint64_t hashes[WINDOWS];
    broad__print_window places[WINDOWS];
    /* `found` is free here, and counts the members that a group has among those kept. */
    size_t kept = 0;
    memset(s->found, 0, s->count * sizeof *s->found);
    for (size_t i = 0; i < s->actives; i++)
        if (s->found[root_of(s, s->active[i])]++ < MEMBERS) s->active[kept++] = s->active[i];
    s->actives = kept;
    bands_fill(s);
    for (size_t i = 0; i < s->actives; i++) {
        broad__print_hashes(hashes, places, &s->prints[s->active[i]], basis);
        compare(s, s->active[i], hashes, places, 1, WINDOWS - 1);
    }
}

static int search_open(search *s)
{
    s->active = broad__alloc_array(s->count, sizeof *s->active);
    s->found = broad__alloc_array(s->count, sizeof *s->found);
    s->nearest = broad__alloc_array(s->count, 1);
    s->window = broad__alloc_array(s->count, 1);
    if (!s->active || !s->found || !s->nearest || !s->window) return BROAD_NO_MEMORY;
    for (int b = 0; b < BANDS; b++) {
        band *to = &s->bands[b];
        to->start = broad__alloc_array(BUCKETS + 1, sizeof *to->start);
        to->picture = broad__alloc_array(s->count, sizeof *to->picture);
        to->hash = broad__alloc_array(s->count, sizeof *to->hash);
        if (!to->start || !to->picture || !to->hash) return BROAD_NO_MEMORY;
    }
    return BROAD_OK;
}

static void search_close(search *s)
{
    broad__free(s->active);
    broad__free(s->found);
    broad__free(s->nearest);
    broad__free(s->window);
    for (int b = 0; b < BANDS; b++) {
        broad__free(s->bands[b].start);
        broad__free(s->bands[b].picture);
        broad__free(s->bands[b].hash);
    }
}

int broad__group_prints(size_t *out, const broad__print *prints, size_t count)
{
    search s = {.prints = prints, .count = count, .parent = out};
    if (count >> 32) return broad__fail(BROAD_USAGE, "%zu pictures are too many to compare", count);
    broad__print_basis *basis = broad__print_basis_make();
    int status = basis ? search_open(&s) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        group_copies(&s);
        group_whole(&s);
        group_crops(&s, basis);
        for (size_t i = 0; i < count; i++) out[i] = root_of(&s, i);
    }
    search_close(&s);
    broad__free(basis);
    return status;
}
