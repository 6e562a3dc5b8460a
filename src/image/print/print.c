/*
 * A picture is reduced to 40 x 40 grey pixels g, whatever its proportions. Its hash has a bit for each of the 64 lowest
 * frequencies (u, v), by u + v, without the mean (0, 0): the sign of the cosine transform
 *   D(v, u) = sum over y, x of g(y, x) cos(pi v (2y + 1) / 2m) cos(pi u (2x + 1) / 2m),   m = 40.
 * Pictures that look alike differ in few bits; brightness and contrast change none.
 *
 * A crop has another transform altogether. So the hashes of windows of m = 40, 38, ... 32 pixels a side, at steps of 2,
 * are made the same way: if B is a crop of A, B's hash is near that of one of A's windows.
 */
#include "image/print/print.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum {
    SIDE = BROAD__PRINT_SIDE,
    STEP = BROAD__PRINT_STEP,
    SIZES = 5,        /* 1 + 4 + 9 + 16 + 25 windows */
    FREQUENCIES = 11, /* the 64 lowest by u + v are all below it */
    LANES = 12,       /* the same, for whole vectors */
    BITS = 64,
};

/* Grey levels of less deviation than noise and compression make. */
static const double FLAT_DEVIATION = 2;

struct broad__print_basis {
    float cosine[SIZES][SIDE][LANES]; /* of window side SIDE - STEP * k: [k][x][u] */
    unsigned char u[BITS], v[BITS];
};

/* For the first `sizes` of the window sizes. */
static broad__print_basis *basis_make(int sizes)
{
    broad__print_basis *basis = broad__alloc(sizeof *basis);
    if (!basis) return NULL;
    for (int k = 0; k < sizes; k++) {
        int m = SIDE - STEP * k;
        for (int x = 0; x < m; x++)
            for (int u = 0; u < FREQUENCIES; u++)
                basis->cosine[k][x][u] = (float)cos(3.14159265358979323846 * u * (2 * x + 1) / (2 * m));
    }
    int bit = 0;
    for (int sum = 1; bit < BITS; sum++)
        for (int v = 0; v <= sum && bit < BITS; v++, bit++) {
            basis->v[bit] = (unsigned char)v;
            basis->u[bit] = (unsigned char)(sum - v);
        }
    return basis;
}

broad__print_basis *broad__print_basis_make(void) { return basis_make(SIZES); }

/* Along the rows: out[y][u] for the columns x to x + m of every row. */
static void transform_rows(float out[SIDE][LANES], const unsigned char *grey, int x, const broad__print_basis *basis,
                           int k)
{
    int m = SIDE - STEP * k;
    memset(out, 0, sizeof(float) * SIDE * LANES);
    for (int y = 0; y < SIDE; y++)
        for (int i = 0; i < m; i++) {
            float value = (float)grey[y * SIDE + x + i] - 128;
            for (int u = 0; u < LANES; u++) out[y][u] += value * basis->cosine[k][i][u];
        }
}

/* Along the columns, and their signs. */
static uint64_t transform_hash(float rows[SIDE][LANES], int y, const broad__print_basis *basis, int k)
{
    int m = SIDE - STEP * k;
    float sums[FREQUENCIES][LANES] = {{0}};
    for (int i = 0; i < m; i++)
        for (int v = 0; v < FREQUENCIES; v++) {
            float weight = basis->cosine[k][i][v];
            for (int u = 0; u < LANES; u++) sums[v][u] += weight * rows[y + i][u];
        }
    uint64_t hash = 0;
    for (int bit = 0; bit < BITS; bit++) hash |= (uint64_t)(sums[basis->v[bit]][basis->u[bit]] > 0) << bit;
    return hash;
}

void broad__print_hashes(uint64_t out[BROAD__PRINT_WINDOWS], broad__print_window windows[BROAD__PRINT_WINDOWS],
                         const broad__print *print, const broad__print_basis *basis)
{
    float rows[SIDE][LANES];
    int window = 0;
    for (int k = 0; k < SIZES; k++) {
        int m = SIDE - STEP * k;
        for (int x = 0; x <= STEP * k; x += STEP) {
            transform_rows(rows, print->grey, x, basis, k);
            for (int y = 0; y <= STEP * k; y += STEP, window++) {
                out[window] = transform_hash(rows, y, basis, k);
                if (windows)
                    windows[window] = (broad__print_window){(unsigned char)x, (unsigned char)y, (unsigned char)m};
            }
        }
    }
}

static int is_flat(const unsigned char *grey)
{
    double sum = 0, squares = 0, count = SIDE * SIDE;
    for (int i = 0; i < SIDE * SIDE; i++) {
        sum += grey[i];
        squares += grey[i] * grey[i];
    }
    return squares / count - sum / count * (sum / count) < FLAT_DEVIATION * FLAT_DEVIATION;
}

int broad__print_make(broad__print *out, const broad__image *image, const void *bytes, size_t count)
{
    broad__image small = {0};
    unsigned char *grey = NULL;
    float rows[SIDE][LANES];
    broad__print_basis *basis = basis_make(1);
    int status = basis ? broad__image_resize(&small, image, SIDE, SIDE) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = broad__image_grey(&grey, &small);
    if (status == BROAD_OK) {
        *out = (broad__print){.flat = (unsigned char)is_flat(grey),
                              .aspect = (float)((double)image->width / (double)image->height)};
        broad__hash_text(out->content, bytes, count);
        memcpy(out->grey, grey, sizeof out->grey);
        transform_rows(rows, grey, 0, basis, 0);
        out->hash = transform_hash(rows, 0, basis, 0);
    }
    broad__free(grey);
    broad__image_free(&small);
    broad__free(basis);
    return status;
}
