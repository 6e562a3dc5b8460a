/* Descriptors against plain loops over their definitions; what must not change them, and what must. */
#include "helper.h"

#include "image/descriptor/descriptors.h"

#include "image_zoo.h"

enum { VIEW_GRID = 5, VIEWS = 14 };

/* Slopes of another direction in each colour, with some noise: all bins of texture and colour get something. */
static broad__image sloped_image(size_t width, size_t height, unsigned noise)
{
    broad__image image = noise_image(width, height, 5);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            unsigned char *p = image.pixels + (y * width + x) * 3;
            const size_t slope[3] = {x * 200 / width, (x + y) * 200 / (width + height), y * 200 / height};
            for (size_t c = 0; c < 3; c++) p[c] = (unsigned char)(slope[c] + p[c] % noise);
        }
    return image;
}

static float *described(const broad__image *image)
{
    float *out = calloc(broad__descriptor_count(), sizeof *out);
    if (!out) fail_msg("no memory");
    assert_ok(broad__descriptors(out, image));
    return out;
}

/* Where the histogram begins whose first bin is called name_0. */
static size_t place_of(const char *name)
{
    char wanted[64], found[BROAD__DESCRIPTOR_NAME_BYTES];
    snprintf(wanted, sizeof wanted, "%s_0", name);
    for (size_t i = 0; i < broad__descriptor_count(); i++) {
        broad__descriptor_name(found, i);
        if (!strcmp(found, wanted)) return i;
    }
    fail_msg("no descriptor %s", wanted);
    return 0;
}

static size_t bins_of(const char *name)
{
    char wanted[64], found[BROAD__DESCRIPTOR_NAME_BYTES];
    size_t first = place_of(name), bins = 1;
    for (; first + bins < broad__descriptor_count(); bins++) {
        broad__descriptor_name(found, first + bins);
        snprintf(wanted, sizeof wanted, "%s_%zu", name, bins);
        if (strcmp(found, wanted) != 0) break;
    }
    return bins;
}

/* ---- plain definitions --------------------------------------------------------------------------------------------- */

typedef struct plain {
    size_t width, height;
    double *values;
} plain;

static plain plain_make(size_t width, size_t height)
{
    plain out = {width, height, calloc(width * height, sizeof *out.values)};
    if (!out.values) fail_msg("no memory");
    return out;
}

/* Means of 2 x 2, in steps of 1 / unit. */
static plain plain_halved(const plain *from, double unit)
{
    plain out = plain_make(from->width / 2, from->height / 2);
    for (size_t y = 0; y < out.height; y++)
        for (size_t x = 0; x < out.width; x++) {
            const double *p = from->values + 2 * y * from->width + 2 * x;
            double mean = (p[0] + p[1] + p[from->width] + p[from->width + 1]) / 4;
            out.values[y * out.width + x] = floor(mean * unit + 0.5) / unit;
        }
    return out;
}

static plain plain_channel(const broad__image *image, size_t c)
{
    plain out = plain_make(image->width, image->height);
    for (size_t i = 0; i < image->width * image->height; i++) out.values[i] = image->pixels[3 * i + c];
    return out;
}

static plain plain_light(const broad__image *image)
{
    plain out = plain_make(image->width, image->height);
    for (size_t i = 0; i < image->width * image->height; i++) {
        const unsigned char *p = image->pixels + 3 * i;
        out.values[i] = floor((77.0 * p[0] + 150.0 * p[1] + 29.0 * p[2]) / 16) / 16;
    }
    return out;
}

static plain plain_haze(const broad__image *image)
{
    plain out = plain_make(image->width, image->height);
    for (size_t i = 0; i < image->width * image->height; i++) {
        const unsigned char *p = image->pixels + 3 * i;
        out.values[i] = fmin(p[0], fmin(p[1], p[2]));
    }
    return out;
}

/* The number of the first of 0 to 255 that turns into `code` by rotation and mirroring, among such first ones. */
static size_t pattern_number(unsigned code)
{
    size_t number = 0;
    for (unsigned first = 0;; first++) {
        int is_first = 1, is_same = 0;
        for (unsigned turn = 0; turn < 16; turn++) {
            unsigned other = 0;
            for (unsigned k = 0; k < 8; k++)
                if (first >> k & 1) other |= 1u << (turn < 8 ? (k + turn) % 8 : (15 + turn - k) % 8);
            is_first = is_first && first <= other;
            is_same = is_same || other == code;
        }
        if (is_same) return number;
        number += (size_t)is_first;
    }
}

static void check_histogram(const char *name, const float *found, const double *counts, size_t bins)
{
    double total = 0;
    assert_int_equal(bins_of(name), bins);
    for (size_t i = 0; i < bins; i++) total += counts[i];
    for (size_t i = 0; i < bins; i++) {
        double expected = total > 0 ? sqrt(counts[i] / total) : 0;
        if (fabs(found[place_of(name) + i] - expected) > 1e-6)
            fail_msg("%s_%zu is %.7f, not %.7f", name, i, (double)found[place_of(name) + i], expected);
    }
}

/* Of 100 rows or more every second one is counted. */
static size_t step_of(const plain *plane) { return plane->height < 100 ? 1 : 2; }

static void check_patterns(const char *family, size_t level, const plain *plane, const float *found)
{
    static const int dx[8] = {-1, 0, 1, 1, 1, 0, -1, -1}, dy[8] = {-1, -1, -1, 0, 1, 1, 1, 0};
    static const char *const kinds[3] = {"below", "above", "beyond"};
    static const double brighter[3] = {-8, 2, 5};
    for (size_t kind = 0; kind < 3; kind++) {
        double counts[30] = {0};
        for (size_t y = 1; y + 1 < plane->height; y += step_of(plane))
            for (size_t x = 1; x + 1 < plane->width; x++) {
                unsigned code = 0;
                double least = plane->values[y * plane->width + x] + brighter[kind];
                for (int k = 0; k < 8; k++)
                    if (plane->values[(y + (size_t)dy[k]) * plane->width + x + (size_t)dx[k]] >= least) code |= 1u << k;
                counts[pattern_number(code)]++;
            }
        char name[32];
        snprintf(name, sizeof name, "%s_lbp%zu_%s", family, level, kinds[kind]);
        check_histogram(name, found, counts, 30);
    }
}

/* Odd sizes at every level, and many rows. */
static void texture_against_definition(void **state)
{
    (void)state;
    broad__image pictures[] = {noise_image(61, 47, 1), sloped_image(203, 111, 9), sloped_image(256, 299, 30)};
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++) {
        float *found = described(&pictures[i]);
        plain light = plain_light(&pictures[i]), haze = plain_haze(&pictures[i]);
        for (size_t level = 0; level < 4; level++) {
            check_patterns("light", level, &light, found);
            check_patterns("haze", level, &haze, found);
            plain next_light = plain_halved(&light, 16), next_haze = plain_halved(&haze, 16);
            free(light.values);
            free(haze.values);
            light = next_light;
            haze = next_haze;
        }
        free(light.values);
        free(haze.values);
        free(found);
        broad__image_free(&pictures[i]);
    }
}

static size_t clipped(double bin, double bins) { return (size_t)fmin(fmax(floor(bin), 0), bins - 1); }

enum { COLOURS = 11 };
static const char *const colour_names[COLOURS] = {"red",    "green",   "blue",        "saturation",
                                                  "light",  "least",   "red_blue",    "red_blue_part",
                                                  "chroma", "magenta", "magenta_part"};

static void add_colour(double counts[COLOURS][16], double joint[96], double r, double g, double b, double light)
{
    double most = fmax(r, fmax(g, b)), least = fmin(r, fmin(g, b)), sum = r + g + b + 30;
    double saturation = most > 0 ? floor(255 * (most - least) / most + 0.5) : 0;
    const double bins[COLOURS] = {r / 16,
                                  g / 16,
                                  b / 16,
                                  saturation / 16,
                                  light / 16,
                                  least / 16,
                                  (r - b + 96) / 12,
                                  255 * (r - b) / sum / 10 + 8,
                                  (most - least) / 8,
                                  (r + b - 2 * g + 64) / 8,
                                  255 * (r + b - 2 * g) / 2 / sum / 3 + 8};
    for (size_t k = 0; k < COLOURS; k++) counts[k][clipped(bins[k], 16)]++;
    joint[clipped((r - b + 96) / 16, 12) * 8 + clipped(light / 32, 8)]++;
}

static void colour_against_definition(void **state)
{
    (void)state;
    broad__image pictures[] = {noise_image(61, 47, 2), sloped_image(203, 111, 40), sloped_image(90, 231, 40)};
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++) {
        float *found = described(&pictures[i]);
        double counts[COLOURS][16] = {{0}}, joint[96] = {0};
        plain full[4] = {plain_channel(&pictures[i], 0), plain_channel(&pictures[i], 1), plain_channel(&pictures[i], 2),
                         plain_light(&pictures[i])};
        plain half[4];
        for (size_t c = 0; c < 4; c++) half[c] = plain_halved(&full[c], c < 3 ? 1 : 16);
        for (size_t k = 0; k < half[0].width * half[0].height; k++) {
            if (k / half[0].width % step_of(&half[0])) continue;
            add_colour(counts, joint, half[0].values[k], half[1].values[k], half[2].values[k],
                       floor(half[3].values[k]));
        }
        for (size_t k = 0; k < COLOURS; k++) check_histogram(colour_names[k], found, counts[k], 16);
        check_histogram("red_blue_by_light", found, joint, 96);
        for (size_t c = 0; c < 4; c++) {
            free(full[c].values);
            free(half[c].values);
        }
        free(found);
        broad__image_free(&pictures[i]);
    }
}

/* Against the mean of the 2^scale x 2^scale pixels around, of a picture of half the size. */
static void check_contrast(size_t scale, const plain *half, const plain *coarse, const float *found)
{
    static const double begin[10] = {-40, -20, -10, -5, -2, 2, 5, 10, 20, 40};
    double counts[11] = {0};
    for (size_t y = 0; y < half->height; y += step_of(half))
        for (size_t x = 0; x < half->width; x++) {
            size_t cy = y >> scale, cx = x >> scale, bin = 0;
            if (cy >= coarse->height) cy = coarse->height - 1;
            if (cx >= coarse->width) cx = coarse->width - 1;
            double difference = half->values[y * half->width + x] - coarse->values[cy * coarse->width + cx];
            while (bin < 10 && difference >= begin[bin]) bin++;
            counts[bin]++;
        }
    char name[32];
    snprintf(name, sizeof name, "contrast%zu_light", scale - 2);
    check_histogram(name, found, counts, 11);
}

static void contrast_against_definition(void **state)
{
    (void)state;
    broad__image pictures[] = {sloped_image(150, 90, 60), sloped_image(70, 250, 60)};
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++) {
        float *found = described(&pictures[i]);
        plain light = plain_light(&pictures[i]), half = plain_halved(&light, 16), coarse = plain_halved(&half, 16);
        for (size_t scale = 2; scale <= 4; scale++) {
            plain next = plain_halved(&coarse, 16);
            free(coarse.values);
            coarse = next;
            check_contrast(scale, &half, &coarse, found);
        }
        free(coarse.values);
        free(half.values);
        free(light.values);
        free(found);
        broad__image_free(&pictures[i]);
    }
}

/* ---- what must hold ------------------------------------------------------------------------------------------------ */

static void names_are_unique(void **state)
{
    (void)state;
    size_t count = broad__descriptor_count();
    char(*names)[BROAD__DESCRIPTOR_NAME_BYTES] = calloc(count, sizeof *names);
    assert_non_null(names);
    for (size_t i = 0; i < count; i++) {
        broad__descriptor_name(names[i], i);
        assert_true(strlen(names[i]) > 2 && strlen(names[i]) < BROAD__DESCRIPTOR_NAME_BYTES - 1);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(names[i], names[k]);
    }
    assert_string_equal(names[0], "light_lbp0_below_0");
    assert_string_equal(names[count - 1], "contrast2_saturation_10");
    free(names);
}

/* Sides that halve without rest five times: a mirror or a turn moves nothing between pixels. */
static void turning_changes_nothing(void **state)
{
    (void)state;
    broad__image image = sloped_image(96, 64, 25);
    float *expected = described(&image);
    for (int orientation = 2; orientation <= 8; orientation++) {
        broad__image turned;
        assert_ok(broad__image_crop(&turned, &image, 0, 0, image.width, image.height));
        assert_ok(broad__image_orient(&turned, orientation));
        float *found = described(&turned);
        assert_memory_equal(found, expected, broad__descriptor_count() * sizeof *found);
        free(found);
        broad__image_free(&turned);
    }
    free(expected);
    broad__image_free(&image);
}

/* Parts of the picture that overlap, each from the counts of its cells: all of it, its four corners of 4/5 of each side, and nine
 * parts of 3/5, row by row. */
static int make_views(float *out, const broad__image *image)
{
    broad__descriptor_grid grid;
    int status = broad__descriptor_grid_make(&grid, image, VIEW_GRID, VIEW_GRID);
    if (status < 0) return status;
    for (size_t side = VIEW_GRID; side >= 3; side--)
        for (size_t y = 0; y + side <= VIEW_GRID; y++)
            for (size_t x = 0; x + side <= VIEW_GRID; x++, out += broad__descriptor_count())
                broad__descriptor_grid_read(out, &grid, (broad__grid_area){x, y, x + side, y + side}, 0);
    broad__descriptor_grid_free(&grid);
    return BROAD_OK;
}

static float *views_of(const broad__image *image)
{
    float *out = calloc(VIEWS * broad__descriptor_count(), sizeof *out);
    if (!out) fail_msg("no memory");
    assert_ok(make_views(out, image));
    return out;
}

/* 160 pixels are five cells of whole pixels at every size. */
static void views_are_mirrored(void **state)
{
    (void)state;
    static const size_t mirrored[VIEWS] = {0, 2, 1, 4, 3, 7, 6, 5, 10, 9, 8, 13, 12, 11};
    size_t row = broad__descriptor_count();
    broad__image image = sloped_image(160, 160, 25);
    float *whole = described(&image), *views = views_of(&image);
    assert_memory_equal(views, whole, row * sizeof *views);
    assert_ok(broad__image_orient(&image, 2));
    float *other = views_of(&image);
    for (size_t v = 0; v < VIEWS; v++) {
        assert_memory_equal(other + v * row, views + mirrored[v] * row, row * sizeof *other);
        for (size_t u = 0; u < v; u++) assert_true(memcmp(views + v * row, views + u * row, row * sizeof *views) != 0);
    }
    free(other);
    free(views);
    free(whole);
    broad__image_free(&image);
}

/* Colours of a view are those of that part of the picture alone. */
static void a_view_is_a_part(void **state)
{
    (void)state;
    broad__image image = sloped_image(160, 160, 25), corner;
    assert_ok(broad__image_crop(&corner, &image, 32, 0, 128, 128));
    float *views = views_of(&image), *part = described(&corner);
    size_t first = place_of("red"), last = place_of("red_blue_by_light") + 96;
    assert_memory_equal(views + 2 * broad__descriptor_count() + first, part + first, (last - first) * sizeof *part);
    free(part);
    free(views);
    broad__image_free(&corner);
    broad__image_free(&image);
}

/* A cell and all the others make up the whole, weighted by their pixels. */
static void cells_and_the_others(void **state)
{
    (void)state;
    enum { W = 7, H = 3 };
    broad__image image = sloped_image(250, 170, 25);
    size_t count = broad__descriptor_count(), red = place_of("red"), joint = place_of("red_blue_by_light");
    float *whole = described(&image), *cell = calloc(count, sizeof *cell), *others = calloc(count, sizeof *others);
    broad__descriptor_grid grid;
    assert_ok(broad__descriptor_grid_make(&grid, &image, W, H));
    broad__descriptor_grid_read(cell, &grid, (broad__grid_area){0, 0, W, H}, 0);
    assert_memory_equal(cell, whole, count * sizeof *cell);
    double pixels = 0;
    for (size_t y = 0; y < H; y++)
        for (size_t x = 0; x < W; x++) {
            broad__descriptor_grid_read(cell, &grid, (broad__grid_area){x, y, x + 1, y + 1}, 0);
            broad__descriptor_grid_read(others, &grid, (broad__grid_area){x, y, x + 1, y + 1}, 1);
            /* At half the size: pixel p belongs to cell p * W / 125. */
            double across = 0, along = 0;
            for (size_t p = 0; p < 125; p++) across += p * W / 125 == x;
            for (size_t p = 0; p < 85; p++) along += p * H / 85 == y;
            double part = across * along / (125.0 * 85.0);
            pixels += part;
            for (size_t i = red; i < joint + 96; i++)
                assert_true(fabs((double)whole[i] * whole[i] - part * cell[i] * cell[i] -
                                 (1 - part) * others[i] * others[i]) < 1e-5);
        }
    assert_true(fabs(pixels - 1) < 1e-12);
    /* Without any cell it is the whole. */
    broad__descriptor_grid_read(others, &grid, (broad__grid_area){0, 0, W, H}, 1);
    assert_memory_equal(others, whole, count * sizeof *others);
    broad__descriptor_grid_free(&grid);
    free(whole);
    free(cell);
    free(others);
    broad__image_free(&image);
}

static void check_sound(const float *row, int textured)
{
    char name[BROAD__DESCRIPTOR_NAME_BYTES], next[BROAD__DESCRIPTOR_NAME_BYTES];
    double sum = 0;
    for (size_t i = 0; i < broad__descriptor_count(); i++) {
        assert_true(isfinite(row[i]) && row[i] >= 0 && row[i] <= 1);
        sum += (double)row[i] * row[i];
        broad__descriptor_name(name, i);
        broad__descriptor_name(next, i + 1);
        if (i + 1 < broad__descriptor_count() && strcmp(strrchr(next, '_'), "_0") != 0) continue;
        if (fabs(sum - 1) > 1e-4 && (sum > 0 || textured || !strstr(name, "lbp")))
            fail_msg("squares up to %s sum to %g", name, sum);
        sum = 0;
    }
}

static void degenerate_pictures(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {1, 2},     {2, 1},     {2, 2},   {3, 3},   {1, 7},   {7, 1},
                                      {5, 4}, {10000, 1}, {1, 10000}, {3, 400}, {31, 33}, {64, 64}, {500, 200}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int kind = 0; kind < 4; kind++) {
            broad__image image = noise_image(sizes[i][0], sizes[i][1], (unsigned)i);
            if (kind == 1 || kind == 2) memset(image.pixels, kind == 1 ? 0 : 255, sizes[i][0] * sizes[i][1] * 3);
            for (size_t p = 0; kind == 3 && p < sizes[i][0] * sizes[i][1]; p++)
                memcpy(image.pixels + 3 * p, "\xff\x00\x10", 3);
            float *whole = described(&image), *views = views_of(&image);
            check_sound(whole, sizes[i][0] >= 31 && sizes[i][1] >= 31);
            for (size_t v = 0; v < VIEWS; v++)
                check_sound(views + v * broad__descriptor_count(), sizes[i][0] >= 31 && sizes[i][1] >= 31);
            free(whole);
            free(views);
            broad__image_free(&image);
        }
}

static void large_pictures_are_made_smaller(void **state)
{
    (void)state;
    broad__image image = sloped_image(700, 401, 30), small;
    assert_ok(broad__image_resize(&small, &image, BROAD__DESCRIPTOR_SIDE, 220));
    float *large = described(&image), *again = described(&image), *expected = described(&small);
    assert_memory_equal(large, expected, broad__descriptor_count() * sizeof *large);
    assert_memory_equal(large, again, broad__descriptor_count() * sizeof *large);
    free(large);
    free(again);
    free(expected);
    broad__image_free(&image);
    broad__image_free(&small);
}

/* The mean bin of a histogram. */
static double centre_of(const float *row, const char *name)
{
    double sum = 0;
    for (size_t i = 0; i < bins_of(name); i++) sum += (double)i * row[place_of(name) + i] * row[place_of(name) + i];
    return sum;
}

/* A blue panel with bright lines, and the same under a brownish layer with specks. */
static void dust_is_seen(void **state)
{
    (void)state;
    broad__image clean, dusty = noise_image(256, 192, 11);
    assert_ok(broad__image_init(&clean, 256, 192));
    for (size_t i = 0; i < 256 * 192; i++) {
        int line = i % 256 % 16 == 0 || i / 256 % 24 == 0;
        const unsigned char panel[3] = {line ? 190 : 25, line ? 195 : 45, line ? 200 : 110}, dust[3] = {150, 135, 110};
        for (size_t c = 0; c < 3; c++) {
            unsigned char *p = dusty.pixels + 3 * i + c;
            clean.pixels[3 * i + c] = panel[c];
            *p = (unsigned char)((panel[c] * 4 + dust[c] * 6) / 10 + (dusty.pixels[3 * i] % 16));
        }
    }
    float *before = described(&clean), *after = described(&dusty);
    assert_true(centre_of(after, "saturation") < centre_of(before, "saturation") - 2);
    assert_true(centre_of(after, "least") > centre_of(before, "least") + 2);
    assert_true(centre_of(after, "red_blue") > centre_of(before, "red_blue") + 2);
    assert_true(after[place_of("light_lbp0_above")] < before[place_of("light_lbp0_above")] - 0.1f);
    free(before);
    free(after);
    broad__image_free(&clean);
    broad__image_free(&dusty);
}

/* Every allocation fails in turn; everything allocated is freed. */
static void without_memory(void **state)
{
    (void)state;
    broad__image image = noise_image(400, 200, 1);
    float *out = calloc(VIEWS * broad__descriptor_count(), sizeof *out);
    assert_non_null(out);
    zoo_memory memory;
    for (int views = 0; views < 2; views++)
        for (long n = 0;; n++) {
            zoo_watch(&memory, n);
            int status = views ? make_views(out, &image) : broad__descriptors(out, &image);
            broad_set_allocator(NULL);
            assert_int_equal(memory.blocks, 0);
            if (!memory.failed) {
                assert_int_equal(status, BROAD_OK);
                assert_true(n > 2);
                break;
            }
            assert_int_equal(status, BROAD_NO_MEMORY);
        }
    free(out);
    broad__image_free(&image);
    broad__descriptor_grid grid;
    image = noise_image(9, 9, 1);
    assert_fails(broad__descriptor_grid_make(&grid, &image, SIZE_MAX / 2, 3), BROAD_NO_MEMORY, "memory");
    broad__image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texture_against_definition),
        cmocka_unit_test(colour_against_definition),
        cmocka_unit_test(contrast_against_definition),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(turning_changes_nothing),
        cmocka_unit_test(views_are_mirrored),
        cmocka_unit_test(a_view_is_a_part),
        cmocka_unit_test(cells_and_the_others),
        cmocka_unit_test(degenerate_pictures),
        cmocka_unit_test(large_pictures_are_made_smaller),
        cmocka_unit_test(dust_is_seen),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
