/* Augmented copies: each change against plain loops, the bounds of what is drawn, and that a copy is always the same. */
#include "helper.h"

#include "base/memory.h"
#include "image/augment.h"

#include "image_zoo.h"

static const broad__change nothing = {.zoom_x = 1, .zoom_y = 1, .brightness = 1};

static double pixel(const broad__image *image, long x, long y, size_t c)
{
    long width = (long)image->width, height = (long)image->height;
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return image->pixels[(y * width + x) * 3 + (long)c];
}

static double linear(const broad__image *image, double x, double y, size_t c)
{
    long x0 = (long)floor(x), y0 = (long)floor(y);
    double a = x - floor(x), b = y - floor(y);
    return (1 - b) * ((1 - a) * pixel(image, x0, y0, c) + a * pixel(image, x0 + 1, y0, c)) +
           b * ((1 - a) * pixel(image, x0, y0 + 1, c) + a * pixel(image, x0 + 1, y0 + 1, c));
}

static int same(const broad__image *a, const broad__image *b)
{
    return a->width == b->width && a->height == b->height && !memcmp(a->pixels, b->pixels, a->width * a->height * 3);
}

static broad__image changed(const broad__image *image, const broad__change *change)
{
    broad__image copy;
    assert_ok(broad__change_apply(&copy, image, change));
    assert_int_equal(copy.width, image->width);
    assert_int_equal(copy.height, image->height);
    return copy;
}

static void nothing_changes_nothing(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {7, 1}, {1, 8}, {31, 18}, {256, 191}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        broad__image image = noise_image(sizes[i][0], sizes[i][1], 5), copy;
        broad__augmentation how = {0};
        for (size_t number = 1; number < 4; number++) {
            assert_ok(broad__augment(&copy, &image, &how, 3, "abc", number));
            assert_true(same(&copy, &image));
            broad__image_free(&copy);
        }
        how.darkest = how.lightest = 1;
        assert_ok(broad__augment(&copy, &image, &how, 3, "abc", 1));
        assert_true(same(&copy, &image));
        broad__image_free(&copy);
        broad__image_free(&image);
    }
}

/* Exact: flips, and shifts by whole pixels, which repeat the edge. */
static void flips_and_shifts(void **state)
{
    (void)state;
    broad__image image = noise_image(20, 10, 1);
    for (int flip = 0; flip < 4; flip++) {
        broad__change change = nothing;
        change.flip_x = flip & 1;
        change.flip_y = flip >> 1;
        change.shift_x = 0.15; /* 3 of 20 */
        change.shift_y = -0.2; /* 2 of 10 */
        broad__image copy = changed(&image, &change);
        for (long y = 0; y < 10; y++)
            for (long x = 0; x < 20; x++)
                for (size_t c = 0; c < 3; c++) {
                    long from_x = x - 3, from_y = y + 2;
                    if (change.flip_x) from_x = 19 - from_x;
                    if (change.flip_y) from_y = 9 - from_y;
                    assert_true(fabs(pixel(&copy, x, y, c) - pixel(&image, from_x, from_y, c)) <= 0);
                }
        broad__image_free(&copy);
    }
    broad__image_free(&image);
}

static void quarter_turns(void **state)
{
    (void)state;
    broad__image image = noise_image(9, 9, 2);
    for (int quarters = -1; quarters <= 2; quarters++) {
        broad__change change = nothing;
        change.rotation = quarters * acos(0);
        broad__image copy = changed(&image, &change);
        for (long y = 0; y < 9; y++)
            for (long x = 0; x < 9; x++)
                for (size_t c = 0; c < 3; c++) {
                    /* Clockwise: what was in the upper row comes to the right column. */
                    long fx = quarters == 1 ? y : quarters == -1 ? 8 - y : quarters == 2 ? 8 - x : x;
                    long fy = quarters == 1 ? 8 - x : quarters == -1 ? x : quarters == 2 ? 8 - y : y;
                    assert_true(fabs(pixel(&copy, x, y, c) - pixel(&image, fx, fy, c)) <= 0);
                }
        broad__image_free(&copy);
    }
    broad__image_free(&image);
}

/* One change at a time, where the place in the picture is plain; half a level for rounding, and a little for floats. */
static void single_changes(void **state)
{
    (void)state;
    broad__image image = noise_image(24, 16, 3);
    for (int which = 0; which < 4; which++) {
        broad__change change = nothing;
        if (which == 0) change.zoom_x = 1.25;
        if (which == 1) change.zoom_y = 0.8;
        if (which == 2) change.shear = 0.2;
        if (which == 3) change.shift_x = 0.0625; /* a pixel and a half */
        broad__image copy = changed(&image, &change);
        for (int y = 0; y < 16; y++)
            for (int x = 0; x < 24; x++)
                for (size_t c = 0; c < 3; c++) {
                    double from_x = x, from_y = y;
                    if (which == 0) from_x = 11.5 + (x - 11.5) / 1.25;
                    if (which == 1) from_y = 7.5 + (y - 7.5) / 0.8;
                    if (which == 2) from_x = x - tan(0.2) * (y - 7.5);
                    if (which == 3) from_x = x - 1.5;
                    double right = linear(&image, from_x, from_y, c);
                    assert_true(fabs(pixel(&copy, x, y, c) - right) < 0.501);
                }
        broad__image_free(&copy);
    }
    broad__image_free(&image);
}

/* All at once, forwards: a bright point of a smooth spot must come to rest where the chain of changes puts it. */
static void the_order_of_changes(void **state)
{
    (void)state;
    enum { SIDE = 101 };
    const double at_x = 18, at_y = -11; /* from the centre */
    broad__image image;
    assert_ok(broad__image_init(&image, SIDE, SIDE));
    for (int i = 0; i < SIDE * SIDE; i++) {
        double x = i % SIDE - 50 - at_x, y = (double)(i / SIDE) - 50 - at_y;
        image.pixels[3 * i] = (unsigned char)lround(250 * exp(-(x * x + y * y) / 30));
    }
    const broad__change change = {0.5, 0.2, 1.2, 0.9, 0.1, -0.05, 1, 0, 1};
    broad__image copy = changed(&image, &change);
    double sum = 0, sum_x = 0, sum_y = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        double level = copy.pixels[3 * i];
        sum += level;
        sum_x += level * (i % SIDE - 50);
        sum_y += level * ((double)(i / SIDE) - 50);
    }
    double x = -at_x * 1.2, y = at_y * 0.9;
    x += tan(0.2) * y;
    double turned_x = cos(0.5) * x - sin(0.5) * y + 0.1 * SIDE, turned_y = sin(0.5) * x + cos(0.5) * y - 0.05 * SIDE;
    assert_true(fabs(sum_x / sum - turned_x) < 0.1);
    assert_true(fabs(sum_y / sum - turned_y) < 0.1);
    broad__image_free(&copy);
    broad__image_free(&image);
}

static void brightness(void **state)
{
    (void)state;
    broad__image image = noise_image(13, 11, 4);
    static const double factors[] = {0.75, 1.25, 3};
    for (size_t f = 0; f < 3; f++) {
        broad__change change = nothing;
        change.brightness = factors[f];
        broad__image copy = changed(&image, &change);
        for (size_t i = 0; i < (size_t)3 * 13 * 11; i++)
            assert_int_equal(copy.pixels[i], (int)fmin(255, floor(image.pixels[i] * factors[f] + 0.5)));
        broad__image_free(&copy);
    }
    broad__image_free(&image);
}

/* Over many copies: inside the bounds, near both of them, on average in the middle, and each by itself. */
static void what_is_drawn(void **state)
{
    (void)state;
    enum { COPIES = 4000, KINDS = 9 };
    broad__augmentation how;
    broad__augmentation_paper(&how);
    const double degrees_40 = 0.69813170079773184;
    const double low[KINDS] = {-degrees_40, -0.2, 0.8, 0.8, -0.2, -0.2, 0, 0, 0.75};
    const double high[KINDS] = {degrees_40, 0.2, 1.2, 1.2, 0.2, 0.2, 1, 1, 1.25};
    double least[KINDS], most[KINDS], sum[KINDS] = {0}, product[KINDS][KINDS] = {0};
    for (size_t copy = 1; copy <= COPIES; copy++) {
        broad__change c;
        broad__change_draw(&c, &how, 7, "f00d", copy);
        const double v[KINDS] = {c.rotation, c.shear,  c.zoom_x, c.zoom_y,    c.shift_x,
                                 c.shift_y,  c.flip_x, c.flip_y, c.brightness};
        for (size_t i = 0; i < KINDS; i++) {
            if (copy == 1 || v[i] < least[i]) least[i] = v[i];
            if (copy == 1 || v[i] > most[i]) most[i] = v[i];
            double part = (v[i] - low[i]) / (high[i] - low[i]);
            sum[i] += part;
            for (size_t j = 0; j < i; j++) product[i][j] += (part - 0.5) * ((v[j] - low[j]) / (high[j] - low[j]) - 0.5);
        }
    }
    for (size_t i = 0; i < KINDS; i++) {
        double width = high[i] - low[i];
        assert_true(least[i] >= low[i] && least[i] < low[i] + 0.01 * width);
        assert_true(most[i] <= high[i] && most[i] > high[i] - 0.01 * width);
        assert_true(fabs(sum[i] / COPIES - 0.5) < 5 * 0.5 / sqrt(COPIES));
        /* of variance 1/12 each, or 1/4 for a flip */
        for (size_t j = 0; j < i; j++) assert_true(fabs(product[i][j] / COPIES) < 5 * 0.25 / sqrt(COPIES));
    }
}

static void copies_are_the_same_and_differ(void **state)
{
    (void)state;
    broad__image image = noise_image(60, 40, 6);
    broad__augmentation how;
    broad__augmentation_paper(&how);
    static const struct {
        uint64_t seed;
        const char *content;
        size_t copy;
    } cases[] = {{1, "aa", 1}, {1, "aa", 2}, {1, "ab", 1}, {2, "aa", 1}, {1, "", 1}, {1, "aa", ((size_t)1 << 40) + 1}};
    enum { CASES = sizeof cases / sizeof cases[0] };
    broad__image copies[CASES];
    for (size_t i = 0; i < CASES; i++) {
        broad__image again;
        assert_ok(broad__augment(&copies[i], &image, &how, cases[i].seed, cases[i].content, cases[i].copy));
        assert_ok(broad__augment(&again, &image, &how, cases[i].seed, cases[i].content, cases[i].copy));
        assert_true(same(&copies[i], &again));
        broad__image_free(&again);
        assert_false(same(&copies[i], &image));
        for (size_t j = 0; j < i; j++) assert_false(same(&copies[i], &copies[j]));
    }
    for (size_t i = 0; i < CASES; i++) broad__image_free(&copies[i]);
    broad__image_free(&image);
}

static void without_memory(void **state)
{
    (void)state;
    broad__image image = noise_image(5, 4, 1), copy = {0};
    zoo_memory memory;
    zoo_watch(&memory, 0);
    int status = broad__change_apply(&copy, &image, &nothing);
    broad_set_allocator(NULL);
    assert_int_equal(status, BROAD_NO_MEMORY);
    assert_null(copy.pixels);
    broad__image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changes_nothing), cmocka_unit_test(flips_and_shifts),
        cmocka_unit_test(quarter_turns),           cmocka_unit_test(single_changes),
        cmocka_unit_test(the_order_of_changes),    cmocka_unit_test(brightness),
        cmocka_unit_test(what_is_drawn),           cmocka_unit_test(copies_are_the_same_and_differ),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
