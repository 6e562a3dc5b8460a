/* Windows: every node against its formula in plain loops and the C library's cosine, whole and with cells left out. */
#include "helper.h"

#include <pthread.h>

#include "base/memory.h"
#include "image/descriptor/windows_kernel.h"
#include "image/descriptor/windows_local.h"
#include "image/photo.h"
#include "rng/philox.h"

#include "image_zoo.h"

enum { INPUTS = 252, NODES = 2000, MOST = 64 };

/* The weights of floats summed 252 times, and a polynomial for the cosine. */
static const double tolerance = 2e-5;

/* Smooth, with edges and some noise, so that all kinds of patterns come up. */
static broad__image scene(size_t width, size_t height, unsigned seed)
{
    broad__image image = noise_image(width, height, seed);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            for (size_t c = 0; c < 3; c++) {
                unsigned char *p = &image.pixels[(y * width + x) * 3 + c];
                double wave =
                    sin(0.07 * (double)(x + 20 * c)) + cos(0.11 * (double)y) + ((x / 23 + y / 17) % 2 ? 0.4 : 0);
                *p = (unsigned char)(110 + 45 * wave + *p % (3 + 10 * (int)c));
            }
    return image;
}

/* ---- the same in plain loops ------------------------------------------------------------------------------------ */

typedef struct plain {
    size_t windows;
    double centre[MOST][2]; /* parts of the sides */
    double nodes[MOST][NODES];
} plain;

static size_t cuts_of(size_t out[10], size_t side)
{
    size_t count = 0, at = 0;
    while (side - at >= 48) out[count++] = at, at += 32;
    /* What is left has less than 48: one window, as a second one would have less than 16. */
    out[count] = at;
    out[++count] = side;
    return count;
}

static double channel(const broad__image *image, size_t x, size_t y, size_t c)
{
    return image->pixels[(y * image->width + x) * 3 + c] / 255.0;
}

static double least_of(const broad__image *image, size_t x, size_t y)
{
    return fmin(channel(image, x, y, 0), fmin(channel(image, x, y, 1), channel(image, x, y, 2)));
}

/* Level l of the pyramid: the mean over 2^l x 2^l pixels, or what there is of them. */
static double plane_at(const broad__image *image, int level, long x, long y)
{
    long size = 1L << level, width = (long)image->width >> level, height = (long)image->height >> level;
    if (width < 1) width = 1;
    if (height < 1) height = 1;
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    double sum = 0;
    for (long b = 0; b < size; b++)
        for (long a = 0; a < size; a++) {
            long px = x * size + a, py = y * size + b;
            if (px >= (long)image->width) px = (long)image->width - 1;
            if (py >= (long)image->height) py = (long)image->height - 1;
            sum += 255 * least_of(image, (size_t)px, (size_t)py);
        }
    /* Whole numbers over a power of two: rounding takes away what the division by 255 left. */
    return round(sum) / (double)(size * size);
}

/* The number of least patterns below the least one that rotation and mirroring make of this. */
static int class_of(int pattern)
{
    static int classes[256], ready;
    for (int p = 0; p < 256 && !ready; p++) {
        int least = 255;
        for (int mirror = 0; mirror < 2; mirror++)
            for (int turn = 0; turn < 8; turn++) {
                int q = 0;
                for (int i = 0; i < 8; i++)
                    if (p >> i & 1) q |= 1 << ((mirror ? 16 - i + turn : i + turn) % 8);
                if (q < least) least = q;
            }
        classes[p] = least;
    }
    ready = 1;
    int number = 0;
    for (int p = 0; p < classes[pattern]; p++) number += classes[p] == p;
    return number;
}

static int pattern_at(const broad__image *image, int level, long x, long y, double threshold)
{
    static const int circle[8][2] = {{-1, -1}, {0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}};
    double centre = plane_at(image, level, x, y);
    int pattern = 0;
    for (int i = 0; i < 8; i++)
        if (plane_at(image, level, x + circle[i][0], y + circle[i][1]) >= centre + threshold) pattern |= 1 << i;
    return pattern;
}

static void plain_moments(double u[12], const broad__image *image, size_t x0, size_t x1, size_t y0, size_t y1)
{
    double values[6][64 * 64], count = 0;
    for (size_t y = y0; y < y1; y++)
        for (size_t x = x0; x < x1; x++) {
            double r = channel(image, x, y, 0), g = channel(image, x, y, 1), b = channel(image, x, y, 2);
            double most = fmax(r, fmax(g, b)), least = fmin(r, fmin(g, b));
            double six[6] = {0.3 * r + 0.59 * g + 0.11 * b,  r - g, (r + g) / 2 - b,
                             (most - least) / (most + 1e-6), most,  least};
            for (int i = 0; i < 6; i++) values[i][(size_t)count] = six[i];
            count++;
        }
    for (int i = 0; i < 6; i++) {
        double mean = 0, variance = 0;
        for (size_t k = 0; k < (size_t)count; k++) mean += values[i][k] / count;
        for (size_t k = 0; k < (size_t)count; k++) variance += (values[i][k] - mean) * (values[i][k] - mean) / count;
        u[i] = mean;
        u[6 + i] = sqrt(variance);
    }
}

static void plain_patterns(double u[240], const broad__image *image, size_t x0, size_t x1, size_t y0, size_t y1)
{
    for (int level = 0; level < 4; level++) {
        long width = (long)image->width >> level, height = (long)image->height >> level;
        long right = x1 == image->width ? (width < 1 ? 1 : width) : (long)x1 >> level;
        long bottom = y1 == image->height ? (height < 1 ? 1 : height) : (long)y1 >> level;
        for (int t = 0; t < 2; t++) {
            double *parts = u + (level * 2 + t) * 30, total = 0;
            for (long y = (long)y0 >> level; y < bottom; y++)
                for (long x = (long)x0 >> level; x < right; x++) {
                    parts[class_of(pattern_at(image, level, x, y, t ? -8 : 2))]++;
                    total++;
                }
            for (int i = 0; i < 30; i++) parts[i] = sqrt(parts[i] / total);
        }
    }
}

static const double *plain_weights(void) /* nodes x (inputs + 1), the last being b in radians */
{
    static double *weights;
    if (weights) return weights;
    weights = malloc(sizeof(double) * NODES * (INPUTS + 1));
    assert_non_null(weights);
    const broad__stream stream = {.purpose = BROAD__FOR_WINDOWS};
    for (size_t i = 0; i < (size_t)NODES * (INPUTS + 1); i++) {
        double u[4];
        for (size_t j = 0; j < 4; j++) u[j] = broad__random_at(&stream, 4 * i + j);
        weights[i] = i % (INPUTS + 1) == INPUTS ? 2 * acos(-1) * u[0] : sqrt(3) * (u[0] + u[1] + u[2] + u[3] - 2);
    }
    return weights;
}

static plain *plain_windows(const broad__image *image)
{
    plain *all = calloc(1, sizeof *all);
    assert_non_null(all);
    broad__image small = *image;
    size_t width, height, across[10], down[10];
    broad__image_fit(&width, &height, image->width, image->height, 256);
    assert_ok(broad__image_resize(&small, image, width, height));
    size_t columns = cuts_of(across, width), rows = cuts_of(down, height);
    const double *weights = plain_weights();
    for (size_t w = 0; w < columns * rows; w++, all->windows++) {
        size_t x0 = across[w % columns], x1 = across[w % columns + 1], y0 = down[w / columns],
               y1 = down[w / columns + 1];
        double u[INPUTS] = {0};
        plain_moments(u, &small, x0, x1, y0, y1);
        plain_patterns(u + 12, &small, x0, x1, y0, y1);
        for (int i = 0; i < INPUTS; i++)
            u[i] =
                fmin(fmax((u[i] - (double)broad__window_mean[i]) / (double)broad__window_sd[i], -5), 5) / sqrt(INPUTS);
        for (int k = 0; k < NODES; k++) {
            double sum = 0;
            for (int i = 0; i < INPUTS; i++) sum += weights[k * (INPUTS + 1) + i] * u[i];
            all->nodes[w][k] = cos(sqrt(3) * sum + weights[k * (INPUTS + 1) + INPUTS]);
        }
        all->centre[w][0] = (double)(x0 + x1) / 2 / (double)width;
        all->centre[w][1] = (double)(y0 + y1) / 2 / (double)height;
    }
    broad__image_free(&small);
    return all;
}

/* Means over the windows whose centre does not lie in [left, right) x [top, bottom); over all, where there is none. */
static void assert_means(const float *nodes, const plain *all, double left, double right, double top, double bottom)
{
    char out[MOST];
    size_t count = 0;
    for (size_t w = 0; w < all->windows; w++) {
        const double *c = all->centre[w];
        out[w] = c[0] >= left && c[0] < right && c[1] >= top && c[1] < bottom;
        count += !out[w];
    }
    if (!count) memset(out, 0, sizeof out), count = all->windows;
    for (int k = 0; k < NODES; k++) {
        double mean = 0;
        for (size_t w = 0; w < all->windows; w++)
            if (!out[w]) mean += all->nodes[w][k] / (double)count;
        if (!(fabs(mean - (double)nodes[k]) < tolerance))
            fail_msg("node %d: %.7f and not %.7f", k, (double)nodes[k], mean);
    }
}

static void check_image(broad__image image)
{
    static float nodes[NODES], whole[NODES], out[12][NODES + 5];
    broad__window_weights *weights = broad__window_weights_make();
    plain *all = plain_windows(&image);
    assert_ok(broad__windows(nodes, weights, &image));
    assert_means(nodes, all, 2, 2, 2, 2);
    for (size_t c = 0; c < 12; c++)
        for (size_t i = 0; i < 5; i++) out[c][NODES + i] = 77;
    assert_ok(broad__windows_occlude(&(broad__occlusion){out[0], NODES + 5, whole, 4, 3}, weights, &image));
    assert_memory_equal(whole, nodes, sizeof whole);
    for (size_t c = 0; c < 12; c++) {
        double x = (double)(c % 4) / 4, y = (double)(c / 4) / 3;
        assert_means(out[c], all, x, x + 0.25, y, y + 1.0 / 3);
        for (size_t i = 0; i < 5; i++) assert_true(out[c][NODES + i] > 76); /* between the rows nothing is written */
    }
    /* One cell has everything, and then nothing is left out. */
    assert_ok(broad__windows_occlude(&(broad__occlusion){out[0], NODES + 5, NULL, 1, 1}, weights, &image));
    assert_memory_equal(out[0], nodes, sizeof nodes);
    free(all);
    broad__free(weights);
    broad__image_free(&image);
}

static void against_the_formula(void **state)
{
    (void)state;
    check_image(scene(96, 64, 1));
    check_image(scene(256, 171, 2));
    check_image(noise_image(80, 47, 3)); /* one more window of 16, and none for 15 */
    check_image(scene(301, 222, 4));     /* made smaller */
}

static void small_and_odd(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {2, 1}, {1, 3}, {7, 5}, {31, 31}, {33, 9}, {10000, 1}, {1, 700}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_image(scene(sizes[i][0], sizes[i][1], (unsigned)i));
    for (int level = 0; level < 256; level += 85) {
        broad__image image;
        assert_ok(broad__image_init(&image, 70, 50));
        memset(image.pixels, level, (size_t)3 * 70 * 50);
        check_image(image);
    }
}

/* The last window has every width that a vector may not divide: 24 to 31 pixels, and with less than half a window more, 40 to 47. */
static void every_width_of_the_last_window(void **state)
{
    (void)state;
    for (size_t more = 0; more < 8; more++) {
        check_image(noise_image(32 + 24 + more, 17, (unsigned)more));
        check_image(noise_image(40 + more, 19, (unsigned)(9 + more)));
    }
}

/* Cells in which no window has its centre: as the whole. */
static void empty_cells(void **state)
{
    (void)state;
    static float out[25][NODES], whole[NODES];
    broad__image image = scene(64, 64, 9);
    broad__window_weights *weights = broad__window_weights_make();
    assert_ok(broad__windows_occlude(&(broad__occlusion){out[0], NODES, whole, 5, 5}, weights, &image));
    for (size_t c = 0; c < 25; c++) {
        size_t x = c % 5, y = c / 5;
        int has_one = (x == 1 || x == 3) && (y == 1 || y == 3); /* centres at a quarter and three quarters */
        assert_int_equal(!!memcmp(out[c], whole, sizeof whole), has_one);
    }
    broad__free(weights);
    broad__image_free(&image);
}

/* To the bit, by one multiplication and one addition after the other, for every kernel that can run here. */
static void kernels_agree(void **state)
{
    (void)state;
    enum { COUNT = 16, LANES = BROAD__WINDOW_LANES };
    static float z[COUNT][INPUTS], weight[INPUTS][LANES], bias[LANES], right[COUNT][LANES], out[COUNT][LANES];
    const broad__stream stream = {.seed = 5, .purpose = BROAD__FOR_DEMO};
    for (size_t i = 0; i < (size_t)COUNT * INPUTS; i++)
        z[i / INPUTS][i % INPUTS] = (float)(10 * broad__random_at(&stream, i) - 5);
    for (size_t i = 0; i < (size_t)INPUTS * LANES; i++)
        weight[i / LANES][i % LANES] = (float)(0.3 * broad__random_at(&stream, 50000 + i) - 0.15);
    for (size_t i = 0; i < LANES; i++) bias[i] = (float)broad__random_at(&stream, 90000 + i);
    for (size_t w = 0; w < COUNT; w++)
        for (size_t k = 0; k < LANES; k++) {
            float t = bias[k];
            for (size_t i = 0; i < INPUTS; i++) {
                float product = z[w][i] * weight[i][k];
                t = t + product;
            }
            double exact = cos(2 * acos(-1) * (double)t);
            float s = fabsf(t - rintf(t)) - 0.25F, p = 15.094642576822984F;
            static const float taylor[] = {-42.058693944897634F, 76.70585975306136F, -81.60524927607504F,
                                           41.341702240399755F, -6.283185307179586F};
            for (size_t i = 0; i < 5; i++) {
                float product = p * (s * s);
                p = product + taylor[i];
            }
            right[w][k] = p * s;
            assert_true(fabs((double)right[w][k] - exact) < 3e-7);
        }
    broad__window_kernel *kernels[BROAD__WINDOW_KERNELS];
    size_t count = broad__window_kernels(kernels);
    assert_true(count >= 1 && count <= BROAD__WINDOW_KERNELS);
    for (size_t i = 0; i < count; i++) {
        memset(out, 0, sizeof out);
        kernels[i](out, z[0], COUNT, (const float(*)[LANES])weight, bias);
        assert_memory_equal(out, right, sizeof out);
    }
}

static void weights_are_as_normal(void **state)
{
    (void)state;
    broad__window_weights *weights = broad__window_weights_make();
    const double unit = sqrt(3.0 / INPUTS) / (2 * acos(-1));
    double sum = 0, square = 0, fourth = 0, bias = 0;
    for (size_t i = 0; i < (size_t)NODES * INPUTS; i++) {
        double w = (double)weights->weight[i / INPUTS / 16][i / 16 % INPUTS][i % 16] / unit;
        sum += w, square += w * w, fourth += w * w * w * w;
    }
    for (size_t i = 0; i < NODES; i++) {
        double turns = (double)weights->bias[i / 16][i % 16];
        assert_true(turns >= 0 && turns <= 1);
        bias += turns;
    }
    double count = (double)NODES * INPUTS;
    assert_true(fabs(sum / count) < 5 / sqrt(count));
    assert_true(fabs(square / count - 1) < 10 / sqrt(count));
    assert_true(fabs(fourth / count - 2.7) < 0.03); /* 3 - 1.2 / 4 of a sum of four */
    assert_true(fabs(bias / NODES - 0.5) < 5 * 0.29 / sqrt(NODES));
    broad__free(weights);
}

typedef struct task {
    const broad__window_weights *weights;
    const broad__image *image;
    float nodes[NODES];
    int status;
} task;

static void *run_task(void *context)
{
    task *one = context;
    for (int i = 0; i < 5; i++) one->status = broad__windows(one->nodes, one->weights, one->image);
    return NULL;
}

static void threads_share_weights(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    static task tasks[THREADS];
    pthread_t threads[THREADS];
    broad__image images[2] = {scene(200, 150, 1), scene(150, 200, 2)};
    broad__window_weights *weights = broad__window_weights_make();
    for (size_t i = 0; i < THREADS; i++) {
        tasks[i] = (task){.weights = weights, .image = &images[i % 2]};
        assert_int_equal(pthread_create(&threads[i], NULL, run_task, &tasks[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(tasks[i].status, BROAD_OK);
    }
    for (size_t i = 0; i < THREADS; i++) {
        static float nodes[NODES];
        assert_ok(broad__windows(nodes, weights, &images[i % 2]));
        assert_memory_equal(nodes, tasks[i].nodes, sizeof nodes);
    }
    assert_memory_not_equal(tasks[0].nodes, tasks[1].nodes, sizeof tasks[0].nodes);
    broad__free(weights);
    for (size_t i = 0; i < 2; i++) broad__image_free(&images[i]);
}

/* Every allocation fails in turn; everything allocated is freed. */
static void without_memory(void **state)
{
    (void)state;
    static float out[4][NODES], whole[NODES];
    broad__image image = scene(300, 40, 1);
    zoo_memory memory;
    for (long n = 0;; n++) {
        zoo_watch(&memory, n);
        broad__window_weights *weights = broad__window_weights_make();
        int status = weights ? broad__windows_occlude(&(broad__occlusion){out[0], NODES, whole, 2, 2}, weights, &image)
                             : BROAD_NO_MEMORY;
        broad__free(weights);
        broad_set_allocator(NULL);
        assert_int_equal(memory.blocks, 0);
        if (!memory.failed) {
            assert_int_equal(status, BROAD_OK);
            assert_true(n > 8);
            break;
        }
        assert_int_equal(status, BROAD_NO_MEMORY);
    }
    broad__image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_the_formula),
        cmocka_unit_test(small_and_odd),
        cmocka_unit_test(every_width_of_the_last_window),
        cmocka_unit_test(empty_cells),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(weights_are_as_normal),
        cmocka_unit_test(threads_share_weights),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
