/* Photos that are too dark, too bright, blurred or too small. */
#include "photo_folder.h"

#include "image/quality.h"

static unsigned faults_of(broad__image *image)
{
    unsigned faults = 99;
    double shorter = (double)(image->width < image->height ? image->width : image->height);
    assert_ok(broad__image_faults(&faults, image, shorter));
    broad__image_free(image);
    return faults;
}

/* Squares of 6 pixels, with edges as sharp as they can be. */
static void draw_squares(broad__image *out, size_t width, size_t height, int dark, int bright)
{
    draw_flat(out, width, height, dark, dark, dark);
    for (size_t i = 0; i < width * height; i++)
        if ((i % width / 6 + i / width / 6) % 2) memset(out->pixels + 3 * i, bright, 3);
}

/* One pixel to the mean of those around it, in both directions. */
static void soften(broad__image *image)
{
    size_t width = image->width, height = image->height;
    for (size_t direction = 0; direction < 2; direction++) {
        size_t step = direction ? 3 * width : 3;
        for (size_t y = 1; y + 1 < height; y++)
            for (size_t x = 1; x + 1 < width; x++)
                for (size_t c = 0; c < 3; c++) {
                    unsigned char *at = image->pixels + (y * width + x) * 3 + c;
                    *at = (unsigned char)((at[-(ptrdiff_t)step] + 2 * *at + at[step]) / 4);
                }
    }
}

static void light(void **state)
{
    (void)state;
    broad__image image;
    draw_flat(&image, 80, 60, 0, 0, 0);
    assert_int_equal(faults_of(&image), BROAD_PHOTO_FAULT_DARK);
    draw_flat(&image, 80, 60, 255, 255, 255);
    assert_int_equal(faults_of(&image), BROAD_PHOTO_FAULT_BRIGHT);
    draw_squares(&image, 80, 60, 2, 40);
    assert_int_equal(faults_of(&image), BROAD_PHOTO_FAULT_DARK);
    draw_squares(&image, 80, 60, 2, 80);
    assert_int_equal(faults_of(&image), 0);
    draw_squares(&image, 80, 60, 220, 250);
    assert_int_equal(faults_of(&image), BROAD_PHOTO_FAULT_BRIGHT);
    /* One pixel in twenty may be a lamp in the night, one in ten is a picture. */
    draw_flat(&image, 100, 60, 9, 9, 9);
    memset(image.pixels, 250, 3 * 200);
    assert_int_equal(faults_of(&image), BROAD_PHOTO_FAULT_DARK);
    draw_flat(&image, 100, 60, 9, 9, 9);
    memset(image.pixels, 250, 3 * 600);
    assert_int_equal(faults_of(&image) & BROAD_PHOTO_FAULT_DARK, 0);
}

static void blur(void **state)
{
    (void)state;
    broad__image image;
    draw_squares(&image, 120, 90, 60, 180);
    assert_int_equal(faults_of(&image), 0);
    draw_squares(&image, 120, 90, 60, 180);
    soften(&image);
    assert_int_equal(faults_of(&image), 0);
    draw_waves(&image, 3, 240, 180);
    assert_int_equal(faults_of(&image), BROAD_PHOTO_FAULT_BLURRED);
    draw_flat(&image, 120, 90, 128, 128, 128);
    assert_int_equal(faults_of(&image), BROAD_PHOTO_FAULT_BLURRED);
    /* In one direction alone: the camera moved. */
    draw_flat(&image, 120, 90, 0, 0, 0);
    for (size_t i = 0; i < (size_t)120 * 90; i++)
        memset(image.pixels + 3 * i, (int)(100 + 60 * sin((double)(i / 120)) + 20 * sin((double)(i % 120) / 9)), 3);
    assert_int_equal(faults_of(&image), BROAD_PHOTO_FAULT_BLURRED);
}

/* What is left of the differences of neighbours after a mean of 9 in one direction, by plain sums over pixels. */
static double blur_along(const broad__image *image, size_t dx, size_t dy)
{
    double all = 0, lost = 0;
    size_t width = image->width, height = image->height, step = dy * width + dx;
    for (size_t y = 4 * dy; y + 5 * dy < height; y++)
        for (size_t x = 4 * dx; x + 5 * dx < width; x++) {
            const unsigned char *at = image->pixels + 3 * (y * width + x);
            double here = abs(at[3 * step] - at[0]), mean = 0;
            for (size_t k = 0; k < 9; k++)
                mean += at[3 * ((ptrdiff_t)k - 3) * (ptrdiff_t)step] - at[3 * ((ptrdiff_t)k - 4) * (ptrdiff_t)step];
            all += here;
            lost += fmax(here - fabs(mean) / 9, 0);
        }
    return 1 - lost / all;
}

/* Waves and noise of many strengths, on both sides of the limit in either direction. */
static void blur_by_sums(void **state)
{
    (void)state;
    enum { KINDS = 40 };
    size_t blurred[2] = {0};
    broad__image image;
    for (size_t kind = 0; kind < KINDS; kind++) {
        size_t width = 70 + kind, height = 109 - kind, across = kind % 2;
        draw_flat(&image, width, height, 0, 0, 0);
        for (size_t i = 0; i < width * height; i++) {
            size_t along = across ? i % width : i / width, other = across ? i / width : i % width;
            double value = 128 + 50 * sin((double)along / 5) + 30 * sin(2.1 * (double)other) +
                           (double)kind / 2.5 * sin(1.9 * (double)along + (double)(i * i % 97));
            memset(image.pixels + 3 * i, (int)value, 3);
        }
        double most = fmax(blur_along(&image, 1, 0), blur_along(&image, 0, 1));
        blurred[most > 0.55]++;
        assert_true(fabs(most - 0.55) > 1e-6);
        assert_int_equal(faults_of(&image), most > 0.55 ? BROAD_PHOTO_FAULT_BLURRED : 0);
    }
    assert_true(blurred[0] > 5 && blurred[1] > 5);
}

static void size(void **state)
{
    (void)state;
    broad__image image;
    draw_squares(&image, 200, 47, 60, 180);
    assert_int_equal(faults_of(&image), BROAD_PHOTO_FAULT_SMALL);
    draw_squares(&image, 48, 48, 60, 180);
    assert_int_equal(faults_of(&image), 0);
    draw_flat(&image, 1, 1, 0, 0, 0);
    assert_int_equal(faults_of(&image), BROAD_PHOTO_FAULT_SMALL | BROAD_PHOTO_FAULT_DARK);
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(broad_photo_fault_name(BROAD_PHOTO_FAULT_DARK), "too dark");
    assert_string_equal(broad_photo_fault_name(BROAD_PHOTO_FAULT_BRIGHT), "too bright");
    assert_string_equal(broad_photo_fault_name(BROAD_PHOTO_FAULT_BLURRED), "blurred");
    assert_string_equal(broad_photo_fault_name(BROAD_PHOTO_FAULT_SMALL), "too small");
    assert_string_equal(broad_photo_fault_name((broad_photo_fault)16), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(light), cmocka_unit_test(blur),  cmocka_unit_test(blur_by_sums),
        cmocka_unit_test(size),  cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
