/* Pictures in memory: resizing against plain sums, turning, cropping, grey; writing and reading back. */
#include "helper.h"

#include "base/memory.h"
#include "image/codec/decode.h"
#include "image/codec/write.h"
#include "image/image.h"
#include "image/resample.h"

#include "image_zoo.h"

static broad__image drawn_image(size_t width, size_t height)
{
    broad__image image;
    assert_ok(broad__image_init(&image, width, height));
    unsigned char *pixels = drawn_pixels(width, height, 3);
    memcpy(image.pixels, pixels, width * height * 3);
    free(pixels);
    return image;
}

static double pixel(const broad__image *image, double x, double y, size_t c)
{
    return image->pixels[((size_t)y * image->width + (size_t)x) * 3 + c];
}

/* The mean over [low, high) of one side, by its definition: an integral over a function that is constant on pixels. */
static double area_mean(const broad__image *image, double x0, double x1, double y0, double y1, size_t c)
{
    double sum = 0;
    for (double y = floor(y0); y < y1; y++)
        for (double x = floor(x0); x < x1; x++) {
            double w = fmin(x + 1, x1) - fmax(x, x0), h = fmin(y + 1, y1) - fmax(y, y0);
            if (w > 1e-12 && h > 1e-12) sum += w * h * pixel(image, x, y, c);
        }
    return sum / ((x1 - x0) * (y1 - y0));
}

static double linear(const broad__image *image, double x, double y, size_t c)
{
    x = fmin(fmax(x, 0), (double)image->width - 1);
    y = fmin(fmax(y, 0), (double)image->height - 1);
    double x0 = floor(x), y0 = floor(y), x1 = fmin(x0 + 1, (double)image->width - 1),
           y1 = fmin(y0 + 1, (double)image->height - 1);
    double upper = pixel(image, x0, y0, c) * (1 - x + x0) + pixel(image, x1, y0, c) * (x - x0);
    double lower = pixel(image, x0, y1, c) * (1 - x + x0) + pixel(image, x1, y1, c) * (x - x0);
    return upper * (1 - y + y0) + lower * (y - y0);
}

/* Sizes that divide and that do not, in both directions, and one side growing while the other shrinks. */
static void resize_against_definition(void **state)
{
    (void)state;
    static const size_t sizes[][4] = {{12, 8, 6, 4},   {17, 3, 5, 2},   {640, 41, 97, 13}, {31, 29, 30, 28},
                                      {5, 4, 11, 9},   {1, 1, 7, 3},    {7, 3, 1, 1},      {9, 9, 9, 9},
                                      {100, 1, 37, 1}, {40, 6, 13, 15}, {6, 40, 15, 13},   {2, 2, 3, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        broad__image from = noise_image(sizes[i][0], sizes[i][1], (unsigned)i), to;
        assert_ok(broad__image_resize(&to, &from, sizes[i][2], sizes[i][3]));
        assert_int_equal(to.width, sizes[i][2]);
        assert_int_equal(to.height, sizes[i][3]);
        double sx = (double)from.width / (double)to.width, sy = (double)from.height / (double)to.height;
        for (size_t y = 0; y < to.height; y++)
            for (size_t x = 0; x < to.width; x++)
                for (size_t c = 0; c < 3; c++) {
                    double u = (double)x, v = (double)y, expected;
                    if (sx >= 1 && sy >= 1) expected = area_mean(&from, u * sx, (u + 1) * sx, v * sy, (v + 1) * sy, c);
                    else if (sx <= 1 && sy <= 1)
                        expected = linear(&from, (u + 0.5) * sx - 0.5, (v + 0.5) * sy - 0.5, c);
                    else continue;
                    /* Half a level for rounding, and what float loses. */
                    assert_true(fabs(pixel(&to, u, v, c) - expected) < 0.501);
                }
        broad__image_free(&from);
        broad__image_free(&to);
    }
}

/* The weights of pixel i of a side, as floats; returns the first source pixel and their number. */
static size_t weights_of(size_t *out_count, float *weights, size_t i, size_t from, size_t to)
{
    if (to > from) {
        double place = ((double)i + 0.5) * (double)from / (double)to - 0.5, whole = place > 0 ? floor(place) : 0;
        double part = place > 0 ? place - whole : 0;
        *out_count = part > 0 && (size_t)whole + 1 < from ? 2 : 1;
        weights[0] = *out_count == 2 ? (float)(1 - part) : 1;
        weights[1] = (float)part;
        return (size_t)whole;
    }
    size_t first = i * from / to, count = 0;
    for (size_t s = first; s * to < (i + 1) * from; s++) {
        size_t low = s * to > i * from ? s * to : i * from;
        size_t high = (s + 1) * to < (i + 1) * from ? (s + 1) * to : (i + 1) * from;
        weights[count++] = (float)((double)(high - low) / (double)from);
    }
    *out_count = count;
    return first;
}

/* In floats and in the order that all inputs of networks are made from: down, then across, each sum from its first pixel on. */
static unsigned char plain_byte(const broad__image *from, size_t width, size_t height, size_t x, size_t y, size_t c)
{
    float down[1000], across[1000], sum = 0;
    size_t rows, columns, top = weights_of(&rows, down, y, from->height, height);
    size_t left = weights_of(&columns, across, x, from->width, width);
    if (width == from->width) across[0] = 1, columns = 1;
    for (size_t k = 0; k < columns; k++) {
        float column = 0;
        for (size_t l = 0; l < rows; l++)
            column += down[l] * (float)from->pixels[((top + l) * from->width + left + k) * 3 + c];
        sum += across[k] * column;
    }
    return (unsigned char)(sum + 0.5f);
}

static void check_bytes(const broad__image *have, const broad__image *from)
{
    for (size_t y = 0; y < have->height; y++)
        for (size_t x = 0; x < have->width; x++)
            for (size_t c = 0; c < 3; c++) {
                int byte = have->pixels[(y * have->width + x) * 3 + c];
                int plain = plain_byte(from, have->width, have->height, x, y, c);
                if (byte != plain)
                    fail_msg("%zu x %zu to %zu x %zu: %d at (%zu, %zu), not %d", from->width, from->height, have->width,
                             have->height, byte, x, y, plain);
            }
}

/* Ratios with up to two, three and more pixels for one, whole and not; rows of a picture, and rows as a decoder puts them. */
static void resize_to_the_byte(void **state)
{
    (void)state;
    static const size_t sizes[][4] = {{97, 61, 96, 60},   {96, 60, 48, 30}, {97, 61, 51, 33}, {131, 67, 61, 31},
                                      {199, 103, 17, 11}, {33, 17, 1, 1},   {64, 45, 64, 13}, {45, 64, 13, 64},
                                      {13, 11, 29, 31},   {40, 6, 13, 15},  {6, 40, 15, 13},  {1, 9, 1, 4},
                                      {2, 3, 1, 2},       {3, 1, 2, 1},     {5, 5, 5, 5},     {720, 30, 384, 16}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        broad__image from = noise_image(sizes[i][0], sizes[i][1], 100 + (unsigned)i), to;
        broad__resample rows;
        assert_ok(broad__image_resize(&to, &from, sizes[i][2], sizes[i][3]));
        check_bytes(&to, &from);
        broad__image_free(&to);
        assert_ok(broad__resample_begin(&rows, from.width, from.height, sizes[i][2], sizes[i][3]));
        for (size_t y = 0; y < from.height; y++) {
            memcpy(broad__resample_next(&rows), from.pixels + y * from.width * 3, from.width * 3);
            broad__resample_done(&rows);
        }
        broad__resample_finish(&to, &rows, 0);
        check_bytes(&to, &from);
        broad__image_free(&to);
        broad__image_free(&from);
    }
}

/* One side at a time must give the same as both: here the one that grows first, so within rounding twice. */
static void resize_mixed(void **state)
{
    (void)state;
    broad__image from = noise_image(40, 6, 7), both, tall, each;
    assert_ok(broad__image_resize(&both, &from, 13, 15));
    assert_ok(broad__image_resize(&tall, &from, 40, 15));
    assert_ok(broad__image_resize(&each, &tall, 13, 15));
    for (size_t i = 0; i < 13 * 15 * 3; i++) assert_true(abs(both.pixels[i] - each.pixels[i]) <= 1);
    broad__image_free(&from);
    broad__image_free(&both);
    broad__image_free(&tall);
    broad__image_free(&each);
}

static void fit_keeps_proportions(void **state)
{
    (void)state;
    static const size_t rows[][5] = {{1600, 1200, 256, 256, 192}, {1200, 1600, 256, 192, 256}, {100, 50, 256, 100, 50},
                                     {100, 50, 0, 100, 50},       {5000, 1, 100, 100, 1},      {3, 2, 2, 2, 1},
                                     {448, 299, 256, 256, 171},   {256, 256, 256, 256, 256}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t width, height;
        broad__image_fit(&width, &height, rows[i][0], rows[i][1], rows[i][2]);
        assert_int_equal(width, rows[i][3]);
        assert_int_equal(height, rows[i][4]);
    }
}

static void crop_and_its_limits(void **state)
{
    (void)state;
    broad__image image = drawn_image(17, 13), part;
    assert_ok(broad__image_crop(&part, &image, 3, 2, 5, 7));
    for (size_t y = 0; y < 7; y++)
        for (size_t x = 0; x < 5; x++)
            for (size_t c = 0; c < 3; c++)
                assert_int_equal(part.pixels[(y * 5 + x) * 3 + c], drawn(x + 3, y + 2, c, 17, 13));
    broad__image_free(&part);
    assert_ok(broad__image_crop(&part, &image, 0, 0, 17, 13));
    assert_memory_equal(part.pixels, image.pixels, 17 * 13 * 3);
    broad__image_free(&part);
    assert_fails(broad__image_crop(&part, &image, 13, 0, 5, 5), BROAD_USAGE, "do not lie inside");
    assert_fails(broad__image_crop(&part, &image, 0, 9, 5, 5), BROAD_USAGE, "17 x 13");
    assert_fails(broad__image_crop(&part, &image, 2, 2, SIZE_MAX, 1), BROAD_USAGE, "inside");
    assert_fails(broad__image_crop(&part, &image, 2, 2, 0, 1), BROAD_USAGE, "inside");
    broad__image_free(&image);
}

/* Where the stored picture's first pixel and the one to its right must end up, from the EXIF standard's table. */
static void orient_by_corners(void **state)
{
    (void)state;
    enum { W = 3, H = 2 };
    /* Upright picture from the stored letters abc/def. */
    static const char *const upright[9] = {NULL,     "abcdef", "cbafed", "fedcba", "defabc",
                                           "adbecf", "daebfc", "fcebda", "cfbead"};
    for (int orientation = 0; orientation <= 9; orientation++) {
        broad__image image;
        assert_ok(broad__image_init(&image, W, H));
        for (size_t i = 0; i < W * H; i++) memset(image.pixels + 3 * i, "abcdef"[i], 3);
        assert_ok(broad__image_orient(&image, orientation));
        int known = orientation >= 1 && orientation <= 8;
        assert_int_equal(image.width, orientation >= 5 && known ? H : W);
        assert_int_equal(image.height, orientation >= 5 && known ? W : H);
        const char *expected = upright[known ? orientation : 1];
        for (size_t i = 0; i < W * H; i++) assert_int_equal(image.pixels[3 * i + 1], expected[i]);
        broad__image_free(&image);
    }
}

static void grey_is_luma(void **state)
{
    (void)state;
    broad__image image = noise_image(33, 9, 3);
    memset(image.pixels, 255, 3);
    memset(image.pixels + 3, 0, 3);
    unsigned char *grey;
    assert_ok(broad__image_grey(&grey, &image));
    assert_int_equal(grey[0], 255);
    assert_int_equal(grey[1], 0);
    for (size_t i = 0; i < 33 * 9; i++) {
        const unsigned char *p = image.pixels + 3 * i;
        assert_true(fabs(grey[i] - (0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2])) < 0.51);
    }
    broad__free(grey);
    broad__image_free(&image);
}

static void write_and_read_back(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {17, 3}, {64, 48}, {300, 211}};
    broad__decode_options options;
    broad__decode_options_init(&options);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        broad__image image = drawn_image(sizes[i][0], sizes[i][1]), back;
        size_t values = image.width * image.height * 3, count, again_count;
        void *bytes, *again;
        assert_ok(broad__write_png(&bytes, &count, &image));
        assert_ok(broad__write_png(&again, &again_count, &image));
        assert_int_equal(count, again_count);
        assert_memory_equal(bytes, again, count);
        assert_ok(broad__decode(&back, NULL, bytes, count, &options));
        assert_int_equal(back.width, image.width);
        assert_memory_equal(back.pixels, image.pixels, values);
        broad__image_free(&back);
        broad__free(bytes);
        broad__free(again);
        assert_ok(broad__write_jpeg(&bytes, &count, &image, 95));
        assert_ok(broad__decode(&back, NULL, bytes, count, &options));
        assert_int_equal(back.height, image.height);
        /* Colours are stored at half the size: 17 x 3 has steep gradients. */
        for (size_t k = 0; k < values; k++) assert_true(abs(back.pixels[k] - image.pixels[k]) <= (i == 1 ? 60 : 8));
        broad__image_free(&back);
        broad__free(bytes);
        broad__image_free(&image);
    }
}

static void assert_same_picture(const void *one, size_t one_count, const void *other, size_t other_count)
{
    broad__image a = {0}, b = {0};
    broad__decode_options options;
    broad__decode_options_init(&options);
    assert_ok(broad__decode(&a, NULL, one, one_count, &options));
    assert_ok(broad__decode(&b, NULL, other, other_count, &options));
    assert_int_equal(a.width, b.width);
    assert_memory_equal(a.pixels, b.pixels, a.width * a.height * 3);
    broad__image_free(&a);
    broad__image_free(&b);
}

static void write_quality(void **state)
{
    (void)state;
    broad__image image = noise_image(200, 200, 1);
    void *good, *poor;
    size_t good_count, poor_count;
    assert_ok(broad__write_jpeg(&good, &good_count, &image, 95));
    assert_ok(broad__write_jpeg(&poor, &poor_count, &image, 20));
    assert_true(good_count > 3 * poor_count);
    assert_true(good_count > 40000); /* more than the buffer begins with */
    broad__free(poor);
    assert_ok(broad__write_jpeg_quickly(&poor, &poor_count, &image, 95));
    assert_same_picture(good, good_count, poor, poor_count);
    assert_true(poor_count > good_count);
    broad__free(good);
    broad__free(poor);
    assert_fails(broad__write_jpeg(&good, &good_count, &image, 0), BROAD_USAGE, "quality of 0");
    assert_fails(broad__write_jpeg(&good, &good_count, &image, 101), BROAD_USAGE, "quality of 101");
    broad__image_free(&image);
    assert_ok(broad__image_init(&image, 65501, 1));
    assert_fails(broad__write_jpeg(&good, &good_count, &image, 90), BROAD_USAGE, "at most 65500");
    broad__image_free(&image);
}

/* Every allocation fails in turn; everything allocated is freed. */
static void write_without_memory(void **state)
{
    (void)state;
    broad__image image = drawn_image(80, 60);
    zoo_memory memory;
    void *bytes = NULL;
    size_t count = 0;
    for (int jpeg = 0; jpeg < 2; jpeg++)
        for (long n = 0;; n++) {
            zoo_watch(&memory, n);
            int status =
                jpeg ? broad__write_jpeg(&bytes, &count, &image, 90) : broad__write_png(&bytes, &count, &image);
            if (status == BROAD_OK) broad__free(bytes);
            broad_set_allocator(NULL);
            assert_int_equal(memory.blocks, 0);
            if (!memory.failed) {
                assert_int_equal(status, BROAD_OK);
                assert_true(n > (jpeg ? 1 : 3));
                break;
            }
            assert_int_equal(status, BROAD_NO_MEMORY);
        }
    broad__image_free(&image);
}

static void sides_that_cannot_be(void **state)
{
    (void)state;
    broad__image image;
    assert_fails(broad__image_init(&image, 0, 5), BROAD_BUG, "0 x 5");
    assert_fails(broad__image_init(&image, SIZE_MAX / 2, 5), BROAD_NO_MEMORY, "memory");
    image = drawn_image(2, 2);
    broad__image large;
    assert_fails(broad__image_resize(&large, &image, (size_t)1 << 31, 1), BROAD_BUG, "2 x 2");
    broad__image_free(&image);
    broad__image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resize_against_definition),
        cmocka_unit_test(resize_to_the_byte),
        cmocka_unit_test(resize_mixed),
        cmocka_unit_test(fit_keeps_proportions),
        cmocka_unit_test(crop_and_its_limits),
        cmocka_unit_test(orient_by_corners),
        cmocka_unit_test(grey_is_luma),
        cmocka_unit_test(write_and_read_back),
        cmocka_unit_test(write_quality),
        cmocka_unit_test(write_without_memory),
        cmocka_unit_test(sides_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
