/* The finder on pictures drawn here, whose panel is known; and the view from the front. */
#include "helper.h"

#include "base/memory.h"
#include "broad/broad.h"
#include "data_helper.h"
#include "image/finder/finder.h"

typedef struct quad {
    double x[4], y[4]; /* clockwise from the upper left corner, in parts of the sides */
} quad;

/* A small generator of its own: the pictures must not change with the library's. */
static unsigned noise_state;
static int noise(int spread)
{
    noise_state = noise_state * 1664525u + 1013904223u;
    return (int)((noise_state >> 16) % (unsigned)(2 * spread + 1)) - spread;
}

static void put(broad__image *image, size_t x, size_t y, int r, int g, int b)
{
    const int colour[3] = {r, g, b};
    for (size_t c = 0; c < 3; c++)
        image->pixels[(y * image->width + x) * 3 + c] = (unsigned char)(colour[c] < 0     ? 0
                                                                        : colour[c] > 255 ? 255
                                                                                          : colour[c]);
}

/* Light gravel: every pixel by itself. */
static broad__image gravel(size_t width, size_t height)
{
    broad__image image;
    assert_ok(broad__image_init(&image, width, height));
    noise_state = 7;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            int grey = 165 + noise(25);
            put(&image, x, y, grey + 8, grey, grey - 12);
        }
    return image;
}

/* Where (x, y) lies in a parallelogram, from 0 to 1 along both sides; 0 if outside. */
static int inside(double *u, double *v, const quad *q, double x, double y)
{
    double ax = q->x[1] - q->x[0], ay = q->y[1] - q->y[0], bx = q->x[3] - q->x[0], by = q->y[3] - q->y[0];
    double dx = x - q->x[0], dy = y - q->y[0], area = ax * by - ay * bx;
    *u = (dx * by - dy * bx) / area;
    *v = (ax * dy - ay * dx) / area;
    return *u >= 0 && *u < 1 && *v >= 0 && *v < 1;
}

/* A dark blue panel of 8 x 5 cells with light lines between them. */
static void draw_panel(broad__image *image, const quad *q)
{
    for (size_t y = 0; y < image->height; y++)
        for (size_t x = 0; x < image->width; x++) {
            double u, v;
            if (!inside(&u, &v, q, ((double)x + 0.5) / (double)image->width, ((double)y + 0.5) / (double)image->height))
                continue;
            double across = u * 8 - floor(u * 8), down = v * 5 - floor(v * 5);
            int line = across < 0.08 || down < 0.06;
            int wobble = noise(3);
            if (line) put(image, x, y, 190 + wobble, 195 + wobble, 200 + wobble);
            else put(image, x, y, 25 + wobble, 40 + wobble, 90 + wobble);
        }
}

static double overlap(const broad__region *r, const quad *q)
{
    double left = 1, top = 1, right = 0, bottom = 0;
    for (size_t i = 0; i < 4; i++) {
        left = fmin(left, q->x[i]);
        top = fmin(top, q->y[i]);
        right = fmax(right, q->x[i]);
        bottom = fmax(bottom, q->y[i]);
    }
    double w = fmin(right, r->right) - fmax(left, r->left), h = fmin(bottom, r->bottom) - fmax(top, r->top);
    double common = w > 0 && h > 0 ? w * h : 0;
    return common / ((right - left) * (bottom - top) + (r->right - r->left) * (r->bottom - r->top) - common);
}

static void check_region(const broad__region *r)
{
    assert_true(r->left >= 0 && r->top >= 0 && r->right <= 1 && r->bottom <= 1);
    assert_true(r->right > r->left && r->bottom > r->top);
    assert_true(r->score > 0 && r->score <= 1);
    double area = 0;
    for (size_t i = 0; i < 4; i++) {
        const double *a = r->corners + 2 * i, *b = r->corners + 2 * ((i + 1) % 4);
        assert_true(a[0] >= 0 && a[0] <= 1 && a[1] >= 0 && a[1] <= 1);
        assert_true(a[0] + a[1] >= r->corners[0] + r->corners[1]); /* the upper left one is first */
        area += a[0] * b[1] - b[0] * a[1];
    }
    assert_true(area > 0); /* clockwise, as y runs down */
}

static const quad panels[] = {
    {{0.2, 0.8, 0.8, 0.2}, {0.25, 0.25, 0.75, 0.75}},
    {{0.1, 0.6, 0.6, 0.1}, {0.4, 0.4, 0.9, 0.9}},
    {{0.25, 0.8, 0.75, 0.2}, {0.3, 0.2, 0.7, 0.8}},   /* turned a little */
    {{0.5, 0.85, 0.5, 0.15}, {0.15, 0.5, 0.85, 0.5}}, /* standing on a corner */
};

static void test_found(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{256, 256}, {256, 192}, {190, 256}, {1000, 800}};
    for (size_t s = 0; s < 4; s++)
        for (size_t i = 0; i < sizeof panels / sizeof panels[0]; i++) {
            broad__image image = gravel(sizes[s][0], sizes[s][1]);
            broad__region regions[3], again[3];
            size_t count = 0, same = 0;
            draw_panel(&image, &panels[i]);
            assert_ok(broad__find_panels(regions, &count, 3, &image));
            if (!count) fail_msg("panel %zu at size %zu is not found", i, s);
            for (size_t k = 0; k < count; k++) check_region(&regions[k]);
            double common = overlap(&regions[0], &panels[i]);
            if (common < 0.7) fail_msg("panel %zu at size %zu: overlap %.2f", i, s, common);
            assert_ok(broad__find_panels(again, &same, 3, &image));
            assert_int_equal(same, count);
            assert_memory_equal(again, regions, count * sizeof *regions);
            broad__image_free(&image);
        }
}

/* The corners are those of the panel, give or take a cell and a half of the grid. */
static void test_corners(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof panels / sizeof panels[0]; i++) {
        broad__image image = gravel(256, 256);
        broad__region region;
        size_t count = 0;
        draw_panel(&image, &panels[i]);
        assert_ok(broad__find_panels(&region, &count, 1, &image));
        assert_int_equal(count, 1);
        for (size_t k = 0; k < 4; k++) {
            double nearest = 1;
            for (size_t m = 0; m < 4; m++)
                nearest = fmin(
                    nearest, hypot(region.corners[2 * m] - panels[i].x[k], region.corners[2 * m + 1] - panels[i].y[k]));
            if (nearest > 0.12) fail_msg("panel %zu: corner %zu is %.2f away", i, k, nearest);
        }
        broad__image_free(&image);
    }
}

static void expect_none(broad__image *image, const char *what)
{
    broad__region region;
    size_t count = 9;
    assert_ok(broad__find_panels(&region, &count, 1, image));
    if (count) fail_msg("%s: a panel with score %.2f", what, region.score);
    broad__image_free(image);
}

static void test_none(void **state)
{
    (void)state;
    broad__image image = gravel(256, 256);
    expect_none(&image, "gravel");
    static const int colours[][3] = {{0, 0, 0}, {255, 255, 255}, {128, 128, 128}, {120, 170, 230}, {40, 50, 80}};
    for (size_t i = 0; i < 5; i++) {
        assert_ok(broad__image_init(&image, 256, 200));
        for (size_t y = 0; y < 200; y++)
            for (size_t x = 0; x < 256; x++) put(&image, x, y, colours[i][0], colours[i][1], colours[i][2]);
        expect_none(&image, "one colour");
    }
    assert_ok(broad__image_init(&image, 256, 256)); /* a sky */
    for (size_t y = 0; y < 256; y++)
        for (size_t x = 0; x < 256; x++)
            put(&image, x, y, 90 + (int)y / 3 + noise(2), 140 + (int)y / 4 + noise(2), 220 + noise(2));
    expect_none(&image, "sky");
}

static void test_sizes(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {2, 1}, {1, 300}, {300, 1}, {7, 7}, {8, 8}, {9, 17}, {3000, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        broad__image image = gravel(sizes[i][0], sizes[i][1]);
        broad__region regions[2];
        size_t count = 9;
        assert_ok(broad__find_panels(regions, &count, 2, &image));
        assert_true(count <= 2);
        for (size_t k = 0; k < count; k++) check_region(&regions[k]);
        assert_ok(broad__find_panels(NULL, &count, 0, &image));
        assert_int_equal(count, 0);
        broad__image_free(&image);
    }
}

/* Blocks of random colours and grids of any pitch: whatever is found must be sound and can be seen from the front. */
static void test_any(void **state)
{
    (void)state;
    size_t found = 0;
    noise_state = 3;
    for (size_t i = 0; i < 400; i++) {
        broad__image image, front = {0};
        broad__region regions[4];
        size_t count = 0, block = 1 + (size_t)(noise(20) + 20), width = 1 + (size_t)(noise(140) + 140),
               height = 1 + (size_t)(noise(100) + 100);
        int dark = noise(60) + 60, spread = noise(30) + 31;
        assert_ok(broad__image_init(&image, width, height));
        for (size_t y = 0; y < height; y++)
            for (size_t x = 0; x < width; x++) {
                const unsigned char *corner = image.pixels + (y / block * block * width + x / block * block) * 3;
                int grid = i % 3 && x * 4 > width * (i % 4);
                if (grid && (x % block < 2 || y % block < 2)) put(&image, x, y, 200, 200, 210);
                else if (grid) put(&image, x, y, dark, dark, dark + 30 + noise(4));
                else if (x % block || y % block) put(&image, x, y, corner[0], corner[1], corner[2]);
                else put(&image, x, y, dark + noise(spread), dark + noise(spread), dark + 30 + noise(spread));
            }
        assert_ok(broad__find_panels(regions, &count, 4, &image));
        for (size_t k = 0; k < count; k++) {
            check_region(&regions[k]);
            assert_ok(broad__region_rectify(&front, &regions[k], &image));
            broad__image_free(&front);
        }
        found += count;
        broad__image_free(&image);
    }
    assert_true(found > 100); /* else it proves little */
}

static void test_rectify(void **state)
{
    (void)state;
    enum { SIDE = 200 };
    /* A board of 2 x 2 colours in a known perspective: the point (u, v) of the square is seen at
     * (40 + 100 u, 30 + 120 v) / (1 + 0.25 u + 0.1 v). Two linear equations give u and v for a pixel. */
    static const int colours[4][3] = {{200, 30, 30}, {30, 200, 30}, {30, 30, 200}, {200, 200, 30}};
    broad__image image = {0}, front = {0};
    assert_ok(broad__image_init(&image, SIDE, SIDE));
    for (size_t y = 0; y < SIDE; y++)
        for (size_t x = 0; x < SIDE; x++) {
            double px = (double)x + 0.5, py = (double)y + 0.5;
            double a = 0.25 * px - 100, b = 0.1 * px, c = 0.25 * py, d = 0.1 * py - 120, e = 40 - px, f = 30 - py;
            double u = (e * d - b * f) / (a * d - b * c), v = (a * f - e * c) / (a * d - b * c);
            if (u < 0 || u >= 1 || v < 0 || v >= 1) continue;
            const int *colour = colours[(u >= 0.5) + 2 * (v >= 0.5)];
            put(&image, x, y, colour[0], colour[1], colour[2]);
        }
    const double seen[8] = {40, 30, 140 / 1.25, 30 / 1.25, 140 / 1.35, 150 / 1.35, 40 / 1.1, 150 / 1.1};
    broad__region region = {0};
    for (size_t i = 0; i < 8; i++) region.corners[i] = seen[i] / SIDE;
    assert_ok(broad__region_rectify(&front, &region, &image));
    double upper = hypot(seen[2] - seen[0], seen[3] - seen[1]), lower = hypot(seen[4] - seen[6], seen[5] - seen[7]);
    assert_int_equal(front.width, (size_t)((upper + lower) / 2 + 0.5));
    double left = hypot(seen[6] - seen[0], seen[7] - seen[1]), right = hypot(seen[4] - seen[2], seen[5] - seen[3]);
    assert_int_equal(front.height, (size_t)((left + right) / 2 + 0.5));
    size_t wrong = 0;
    for (size_t y = 0; y < front.height; y++)
        for (size_t x = 0; x < front.width; x++) {
            double u = ((double)x + 0.5) / (double)front.width, v = ((double)y + 0.5) / (double)front.height;
            if (fabs(u - 0.5) < 0.04 || fabs(v - 0.5) < 0.04 || fmin(u, v) < 0.03 || fmax(u, v) > 0.97) continue;
            const int *c = colours[(u >= 0.5) + 2 * (v >= 0.5)];
            for (size_t k = 0; k < 3; k++) wrong += front.pixels[(y * front.width + x) * 3 + k] != c[k];
        }
    assert_int_equal(wrong, 0);
    broad__image_free(&front);

    /* The whole picture is itself. */
    region = (broad__region){.corners = {0, 0, 1, 0, 1, 1, 0, 1}};
    assert_ok(broad__region_rectify(&front, &region, &image));
    assert_int_equal(front.width, SIDE);
    assert_int_equal(front.height, SIDE);
    assert_memory_equal(front.pixels, image.pixels, 3 * SIDE * SIDE);
    broad__image_free(&front);
    broad__image_free(&image);
}

static void test_rectify_bad(void **state)
{
    (void)state;
    static const double bad[][8] = {
        {0, 0, 0, 0, 0, 0, 0, 0},     {0, 0, 1, 1, 0.5, 0.5, 0.2, 0.2}, {0, 0, 1, 1, 1, 0, 0, 1}, /* crosses itself */
        {0, 0, 1, 0, 0.1, 0.1, 0, 1}, /* a corner points inwards */
        {0, 0, 1, 0, 1, NAN, 0, 1},
    };
    broad__image image = gravel(64, 64), front = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        broad__region region = {0};
        memcpy(region.corners, bad[i], sizeof bad[i]);
        int status = broad__region_rectify(&front, &region, &image);
        if (status != BROAD_BAD_DATA) fail_msg("corners %zu: status %d", i, status);
        assert_null(front.pixels);
    }
    broad__image_free(&image);
}

static void test_memory(void **state)
{
    (void)state;
    broad__image image = gravel(300, 200);
    draw_panel(&image, &panels[0]);
    for (size_t n = 1;; n++) {
        memory_watch watch;
        broad__region region;
        size_t count = 0;
        watch_start(&watch, n);
        int status = broad__find_panels(&region, &count, 1, &image);
        watch_stop();
        assert_int_equal(watch.live, 0);
        if (status == BROAD_OK) break;
        assert_int_equal(status, BROAD_NO_MEMORY);
    }
    broad__image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),       cmocka_unit_test(test_corners), cmocka_unit_test(test_none),
        cmocka_unit_test(test_sizes),       cmocka_unit_test(test_any),     cmocka_unit_test(test_rectify),
        cmocka_unit_test(test_rectify_bad), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
