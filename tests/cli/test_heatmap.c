/* Grids of opinions over pictures: smoothing and measures against plain loops, colours by what they must show. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "broad/broad.h"
#include "helper.h"
#include "page/heat.h"

static void fill(cli_heat *heat, size_t width, size_t height, double value)
{
    *heat = (cli_heat){.width = width, .height = height, .full = 1};
    heat->cells = broad__alloc_doubles(width, height);
    if (!heat->cells) fail_msg("no memory");
    for (size_t i = 0; i < width * height; i++) heat->cells[i] = value;
}

static void grids(void **state)
{
    (void)state;
    static const size_t cases[][4] = {{256, 256, 8, 8}, {256, 171, 8, 5}, {144, 256, 5, 8},
                                      {128, 128, 4, 4}, {10, 256, 1, 8},  {1, 1, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t width = 0, height = 0;
        cli_heat_grid(&width, &height, cases[i][0], cases[i][1]);
        assert_int_equal(width, cases[i][2]);
        assert_int_equal(height, cases[i][3]);
    }
}

/* Both directions at once, with the weights (1 2 1) x (1 2 1) of the cells that are there. */
static double smoothed(const double *cells, size_t width, size_t height, size_t x, size_t y)
{
    double sum = 0, weights = 0;
    for (size_t j = y ? y - 1 : 0; j <= y + 1 && j < height; j++)
        for (size_t i = x ? x - 1 : 0; i <= x + 1 && i < width; i++) {
            double weight = (i == x ? 2 : 1) * (j == y ? 2 : 1);
            sum += weight * cells[j * width + i];
            weights += weight;
        }
    return sum / weights;
}

static void smoothing(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{8, 5}, {1, 8}, {3, 1}, {1, 1}, {2, 2}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        cli_heat heat;
        size_t width = sizes[k][0], height = sizes[k][1];
        double before[64];
        fill(&heat, width, height, 0);
        for (size_t i = 0; i < width * height; i++) before[i] = heat.cells[i] = sin((double)(7 * i + k)) * 3;
        assert_int_equal(cli_heat_smooth(&heat), BROAD_OK);
        for (size_t i = 0; i < width * height; i++)
            assert_true(fabs(heat.cells[i] - smoothed(before, width, height, i % width, i / width)) < 1e-14);
        cli_heat_clear(&heat);
    }
}

static void areas_and_units(void **state)
{
    (void)state;
    cli_heat heat;
    fill(&heat, 10, 10, 0);
    heat.clear = 0.5;
    for (size_t i = 0; i < 100; i++) heat.cells[i] = (double)i / 100 - 0.2;
    assert_true(fabs(cli_heat_area(&heat) - 0.29) < 1e-12); /* 0.51 to 0.79 */
    assert_true(cli_heat_unit(&heat) == 1);
    heat.full = 0.5;
    assert_true(fabs(cli_heat_unit(&heat) - 0.75) < 1e-12); /* the 96th by size: five are larger or as large */
    for (size_t i = 0; i < 100; i++) heat.cells[i] *= -1;
    assert_true(fabs(cli_heat_unit(&heat) - 0.75) < 1e-12);
    assert_true(fabs(cli_heat_area(&heat)) < 1e-12);
    cli_heat_clear(&heat);
}

static void grey_picture(broad__image *out, size_t width, size_t height)
{
    assert_int_equal(broad__image_init(out, width, height), BROAD_OK);
    memset(out->pixels, 128, 3 * width * height);
}

static const unsigned char *pixel(const broad__image *picture, size_t x, size_t y)
{
    return picture->pixels + 3 * (y * picture->width + x);
}

static void colours(void **state)
{
    (void)state;
    cli_heat heat;
    broad__image picture;
    grey_picture(&picture, 90, 60);
    fill(&heat, 3, 2, 0);
    assert_int_equal(cli_heat_draw(&picture, &heat), BROAD_OK);
    for (size_t i = 0; i < 3 * 90 * 60; i++)
        assert_int_equal(picture.pixels[i], 128); /* nothing speaks: nothing shows */
    heat.cells[0] = 1;                            /* upper left: for */
    heat.cells[5] = -1;                           /* lower right: against */
    assert_int_equal(cli_heat_draw(&picture, &heat), BROAD_OK);
    const unsigned char *hot = pixel(&picture, 14, 14), *cold = pixel(&picture, 75, 45), *none = pixel(&picture, 75, 0);
    assert_true(hot[0] > 160 && hot[1] < 100 && hot[2] < 100);
    assert_true(cold[2] > 150 && cold[0] < 110);
    assert_true(none[0] == 128 && none[1] == 128 && none[2] == 128);
    /* Outside the centre of the corner cell it is as in the centre; towards the next one it fades. */
    assert_memory_equal(pixel(&picture, 0, 0), hot, 3);
    for (size_t x = 15; x < 44; x++) {
        const unsigned char *here = pixel(&picture, x, 5), *next = pixel(&picture, x + 1, 5);
        assert_true(here[0] - here[2] >= next[0] - next[2] - 1); /* less and less red, but for rounding */
    }
    cli_heat_clear(&heat);
    broad__image_free(&picture);
}

/* The colours of the photo itself are weakened, its brightness stays. */
static void fading(void **state)
{
    (void)state;
    cli_heat heat;
    broad__image picture;
    grey_picture(&picture, 4, 4);
    for (size_t i = 0; i < 16; i++) memcpy(picture.pixels + 3 * i, "\x00\x40\xC8", 3);
    fill(&heat, 2, 2, 0);
    heat.full = 0; /* without any scale nothing is divided by it */
    assert_int_equal(cli_heat_draw(&picture, &heat), BROAD_OK);
    const unsigned char *p = pixel(&picture, 1, 1);
    assert_true(p[0] > 20 && p[2] < 140 && p[2] > p[1] && p[1] > p[0]);
    double before = 0.587 * 0x40 + 0.114 * 0xC8, after = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
    assert_true(fabs(before - after) < 1.5);
    cli_heat_clear(&heat);
    broad__image_free(&picture);
}

static void strips(void **state)
{
    (void)state;
    broad__image picture;
    grey_picture(&picture, 100, 80);
    assert_int_equal(cli_heat_strip(&picture), BROAD_OK);
    assert_int_equal(picture.width, 100);
    assert_true(picture.height > 84 && picture.height < 100);
    for (size_t i = 0; i < 3 * 100 * 80; i++) assert_int_equal(picture.pixels[i], 128);
    const unsigned char *left = pixel(&picture, 0, picture.height - 1),
                        *right = pixel(&picture, 99, picture.height - 1);
    assert_true(left[2] > left[0] + 50 && right[0] > right[2] + 50);
    broad__image_free(&picture);
    grey_picture(&picture, 1, 1);
    assert_int_equal(cli_heat_strip(&picture), BROAD_OK);
    broad__image_free(&picture);
}

static void *no_memory(size_t bytes, void *context)
{
    (void)bytes, (void)context;
    return NULL;
}

static void release(void *block, void *context) { (void)block, (void)context; }

static void memory_runs_out(void **state)
{
    (void)state;
    cli_heat heat;
    broad__image picture;
    const broad_allocator none = {.allocate = no_memory, .release = release};
    grey_picture(&picture, 8, 8);
    fill(&heat, 2, 2, 1);
    broad_set_allocator(&none);
    int smooth = cli_heat_smooth(&heat), draw = cli_heat_draw(&picture, &heat), strip = cli_heat_strip(&picture);
    broad_set_allocator(NULL);
    assert_int_equal(smooth, BROAD_NO_MEMORY);
    assert_int_equal(draw, BROAD_NO_MEMORY);
    assert_int_equal(strip, BROAD_NO_MEMORY);
    assert_int_equal(picture.height, 8);
    cli_heat_clear(&heat);
    broad__image_free(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids),           cmocka_unit_test(smoothing), cmocka_unit_test(areas_and_units),
        cmocka_unit_test(colours),         cmocka_unit_test(fading),    cmocka_unit_test(strips),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
