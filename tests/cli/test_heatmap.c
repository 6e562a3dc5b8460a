/* Grids of evidence over pictures: measures against plain loops, colours by what they must show. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "broad/broad.h"
#include "helper.h"
#include "page/heat.h"

static void fill(cli_heat *heat, size_t width, size_t height, double value)
{
    *heat = (cli_heat){.grid = {.size = sizeof heat->grid, .width = width, .height = height}, .full = 1};
    heat->grid.cells = broad__alloc_doubles(width, height);
    if (!heat->grid.cells) fail_msg("no memory");
    for (size_t i = 0; i < width * height; i++) heat->grid.cells[i] = value;
}

static void units(void **state)
{
    (void)state;
    cli_heat heat;
    fill(&heat, 10, 10, 0);
    for (size_t i = 0; i < 100; i++) heat.grid.cells[i] = (double)i / 100 - 0.2;
    assert_true(cli_heat_unit(&heat) == 1);
    heat.full = 0.5;
    assert_true(fabs(cli_heat_unit(&heat) - 0.75) < 1e-12); /* the 96th by size: five are larger or as large */
    for (size_t i = 0; i < 100; i++) heat.grid.cells[i] *= -1;
    assert_true(fabs(cli_heat_unit(&heat) - 0.75) < 1e-12);
    broad_explanation_clear(&heat.grid);
}

static const cli_heat_words words = {"Dusty 87 %", "against Dusty", "for D\xC3\xBCsty"};

static void grey_picture(broad_picture **out, size_t width, size_t height)
{
    assert_int_equal(broad_picture_new(out, width, height), BROAD_OK);
    memset(broad_picture_pixels(*out), 128, 3 * width * height);
}

static const unsigned char *pixel(const broad_picture *picture, size_t x, size_t y)
{
    return broad_picture_bytes(picture) + 3 * (y * broad_picture_width(picture) + x);
}

static void colours(void **state)
{
    (void)state;
    cli_heat heat;
    broad_picture *picture = NULL;
    grey_picture(&picture, 90, 60);
    fill(&heat, 3, 2, 0);
    assert_int_equal(cli_heat_draw(picture, &heat), BROAD_OK);
    for (size_t i = 0; i < 3 * 90 * 60; i++)
        assert_int_equal(broad_picture_pixels(picture)[i], 128); /* nothing speaks: nothing shows */
    heat.grid.cells[0] = 1;                                      /* upper left: for */
    heat.grid.cells[5] = -1;                                     /* lower right: against */
    assert_int_equal(cli_heat_draw(picture, &heat), BROAD_OK);
    const unsigned char *hot = pixel(picture, 14, 14), *cold = pixel(picture, 75, 45), *none = pixel(picture, 75, 0);
    assert_true(hot[0] > 160 && hot[1] < 100 && hot[2] < 100);
    assert_true(cold[2] > 150 && cold[0] < 110);
    assert_true(none[0] == 128 && none[1] == 128 && none[2] == 128);
    /* Outside the centre of the corner cell it is as in the centre; towards the next one it fades. */
    assert_memory_equal(pixel(picture, 0, 0), hot, 3);
    for (size_t x = 15; x < 44; x++) {
        const unsigned char *here = pixel(picture, x, 5), *next = pixel(picture, x + 1, 5);
        assert_true(here[0] - here[2] >= next[0] - next[2] - 1); /* less and less red, but for rounding */
    }
    broad_explanation_clear(&heat.grid);
    broad_picture_free(picture);
}

/* The colours of the photo itself are weakened, its brightness stays. */
static void fading(void **state)
{
    (void)state;
    cli_heat heat;
    broad_picture *picture = NULL;
    grey_picture(&picture, 4, 4);
    for (size_t i = 0; i < 16; i++) memcpy(broad_picture_pixels(picture) + 3 * i, "\x00\x40\xC8", 3);
    fill(&heat, 2, 2, 0);
    heat.full = 0; /* without any scale nothing is divided by it */
    assert_int_equal(cli_heat_draw(picture, &heat), BROAD_OK);
    const unsigned char *p = pixel(picture, 1, 1);
    assert_true(p[0] > 20 && p[2] < 140 && p[2] > p[1] && p[1] > p[0]);
    double before = 0.587 * 0x40 + 0.114 * 0xC8, after = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
    assert_true(fabs(before - after) < 1.5);
    broad_explanation_clear(&heat.grid);
    broad_picture_free(picture);
}

static void strips(void **state)
{
    (void)state;
    broad_picture *picture = NULL;
    grey_picture(&picture, 200, 80);
    assert_int_equal(cli_heat_strip(&picture, &words), BROAD_OK);
    assert_int_equal(broad_picture_width(picture), 200);
    assert_true(broad_picture_height(picture) > 84 && broad_picture_height(picture) < 120);
    for (size_t i = 0; i < 3 * 200 * 80; i++) assert_int_equal(broad_picture_pixels(picture)[i], 128);
    const unsigned char *left = pixel(picture, 0, 80 + 12 + 3), *right = pixel(picture, 199, 80 + 12 + 3);
    assert_true(left[2] > left[0] + 50 && right[0] > right[2] + 50);
    /* The D of "Dusty" has a straight back, and below the colours there are words as well. */
    for (size_t y = 0; y < 7; y++) assert_true(*pixel(picture, 2, 82 + y) < 60);
    size_t dark = 0;
    for (size_t y = 80 + 12 + 6; y < broad_picture_height(picture); y++)
        for (size_t x = 0; x < 200; x++) dark += *pixel(picture, x, y) < 60;
    assert_true(dark > 100);
    broad_picture_free(picture);
    grey_picture(&picture, 1, 1);
    assert_int_equal(cli_heat_strip(&picture, &words), BROAD_OK);
    broad_picture_free(picture);
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
    broad_picture *picture = NULL;
    const broad_allocator none = {.allocate = no_memory, .release = release};
    grey_picture(&picture, 8, 8);
    fill(&heat, 2, 2, 1);
    broad_set_allocator(&none);
    int draw = cli_heat_draw(picture, &heat), strip = cli_heat_strip(&picture, &words);
    broad_set_allocator(NULL);
    assert_int_equal(draw, BROAD_NO_MEMORY);
    assert_int_equal(strip, BROAD_NO_MEMORY);
    assert_int_equal(broad_picture_height(picture), 8);
    broad_explanation_clear(&heat.grid);
    broad_picture_free(picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units),  cmocka_unit_test(colours),         cmocka_unit_test(fading),
        cmocka_unit_test(strips), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
