/* Photos of panels: the same from the same numbers, the dirt that was asked for, and classes that colour alone does not
 * tell apart. What the renderer says about a photo is counted again from its maps. */
#include "helper.h"

#include "data_helper.h"
#include "render/render.h"

enum { SIDE = 160, PIXELS = SIDE * SIDE, PHOTOS = 120 };

typedef struct photo {
    unsigned char rgb[3 * PIXELS], panel[PIXELS], dimmed[PIXELS];
    cli_render_truth truth;
} photo;

static void take(photo *out, uint64_t seed, size_t index, cli_render_spec spec)
{
    spec.panel = out->panel;
    spec.dimmed = out->dimmed;
    assert_ok(cli_render_photo(out->rgb, SIDE, SIDE, seed, index, &spec, &out->truth));
}

static photo *new_photo(void)
{
    photo *p = calloc(1, sizeof *p);
    assert_non_null(p);
    return p;
}

static double difference(const unsigned char *a, const unsigned char *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += abs((int)a[i] - (int)b[i]);
    return sum / (double)count;
}

static cli_render_spec severity_of(double severity)
{
    return (cli_render_spec){.use_severity = 1, .severity = severity};
}

static cli_render_spec class_of(cli_render_class wanted) { return (cli_render_spec){.wanted = wanted}; }

/* ---- numbers to bytes ---- */

static void test_reproducible(void **state)
{
    (void)state;
    photo *one = new_photo(), *again = new_photo(), *between = new_photo();
    for (size_t i = 0; i < 12; i++) {
        take(one, 5, i, class_of(CLI_RENDER_ANY));
        take(between, 6, 40 - i, class_of(CLI_RENDER_ANY));
        take(again, 5, i, class_of(CLI_RENDER_ANY));
        assert_memory_equal(one->rgb, again->rgb, sizeof one->rgb);
        assert_memory_equal(one->dimmed, again->dimmed, sizeof one->dimmed);
        /* Without maps and without anything said about it, it is the same photo. */
        assert_ok(cli_render_photo(again->rgb, SIDE, SIDE, 5, i, NULL, NULL));
        assert_memory_equal(one->rgb, again->rgb, sizeof one->rgb);
    }
    free(one), free(again), free(between);
}

static void test_all_different(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    photo *photos = calloc(COUNT, sizeof *photos);
    assert_non_null(photos);
    /* The last ones differ in the high bits of the seed and of the index. */
    for (size_t i = 0; i < COUNT - 2; i++) take(&photos[i], 9, i, class_of(CLI_RENDER_CLEAN));
    take(&photos[COUNT - 2], 9 | (uint64_t)1 << 40, 0, class_of(CLI_RENDER_CLEAN));
    take(&photos[COUNT - 1], 9, (size_t)1 << 33, class_of(CLI_RENDER_CLEAN));
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < i; j++) assert_true(difference(photos[i].rgb, photos[j].rgb, sizeof photos[i].rgb) > 8);
    free(photos);
}

/* A small photo is the large one, seen from afar: 2 x 2 pixels averaged. */
static void test_size_changes_no_scene(void **state)
{
    (void)state;
    enum { LARGE = 2 * SIDE };
    photo *small = new_photo();
    unsigned char *large = malloc(3 * LARGE * LARGE), *halved = malloc(3 * PIXELS);
    assert_true(large && halved);
    for (size_t index = 0; index < 6; index++) {
        take(small, 2, index, class_of(CLI_RENDER_ANY));
        assert_ok(cli_render_photo(large, LARGE, LARGE, 2, index, NULL, NULL));
        for (size_t i = 0; i < 3 * PIXELS; i++) {
            size_t c = i % 3, column = i / 3 % SIDE, row = i / 3 / SIDE;
            const unsigned char *p = large + 3 * (2 * row * LARGE + 2 * column) + c;
            halved[i] = (unsigned char)((p[0] + p[3] + p[3 * LARGE] + p[3 * LARGE + 3] + 2) / 4);
        }
        assert_true(difference(small->rgb, halved, 3 * PIXELS) < 14);
    }
    free(large), free(halved), free(small);
}

static void check_size(size_t width, size_t height)
{
    enum { GUARD = 64 };
    size_t pixels = width * height;
    unsigned char *rgb = malloc(3 * pixels + GUARD), *panel = malloc(pixels + GUARD), *dimmed = malloc(pixels + GUARD);
    assert_true(rgb && panel && dimmed);
    memset(rgb + 3 * pixels, 0xA5, GUARD), memset(panel + pixels, 0xA5, GUARD), memset(dimmed + pixels, 0xA5, GUARD);
    cli_render_spec spec = {.panel = panel, .dimmed = dimmed};
    cli_render_truth truth;
    assert_ok(cli_render_photo(rgb, width, height, 4, width + height, &spec, &truth));
    for (size_t i = 0; i < GUARD; i++)
        assert_true(rgb[3 * pixels + i] == 0xA5 && panel[pixels + i] == 0xA5 && dimmed[pixels + i] == 0xA5);
    assert_true(truth.transmittance > 0 && truth.transmittance <= 1);
    assert_true(truth.box[2] <= width && truth.box[3] <= height && truth.box[0] < truth.box[2]);
    unsigned char low = 255, high = 0;
    for (size_t i = 0; i < 3 * pixels; i++) {
        if (rgb[i] < low) low = rgb[i];
        if (rgb[i] > high) high = rgb[i];
    }
    assert_true(high - low > 40);
    free(rgb), free(panel), free(dimmed);
}

static void test_sizes(void **state)
{
    (void)state;
    for (size_t side = 16; side <= 48; side++) check_size(side, side);
    for (size_t side = 61; side <= 600; side += 77) check_size(side, 660 - side);
    check_size(16, 1024);
    check_size(1024, 16);
    check_size(1024, 1024);
}

static void test_refused(void **state)
{
    (void)state;
    unsigned char rgb[3 * 16 * 16];
    memset(rgb, 0x5A, sizeof rgb);
    assert_fails(cli_render_photo(NULL, 16, 16, 1, 0, NULL, NULL), BROAD_USAGE, "a place to go");
    assert_fails(cli_render_photo(rgb, 15, 16, 1, 0, NULL, NULL), BROAD_USAGE, "15 x 16 pixels");
    assert_fails(cli_render_photo(rgb, 16, SIZE_MAX, 1, 0, NULL, NULL), BROAD_USAGE, "sides are 16 to 8192");
    static const double wrong[3] = {-0.01, 1.01, (double)NAN};
    for (size_t i = 0; i < 3; i++) {
        cli_render_spec spec = severity_of(wrong[i]);
        assert_fails(cli_render_photo(rgb, 16, 16, 1, 0, &spec, NULL), BROAD_USAGE, "not between 0 and 1");
    }
    for (size_t i = 0; i < sizeof rgb; i++) assert_int_equal(rgb[i], 0x5A);
}

static void test_every_allocation_failed_in_turn(void **state)
{
    (void)state;
    unsigned char rgb[3 * 32 * 32];
    memory_watch watch = {0};
    for (size_t n = 1;; n++) {
        memset(rgb, 0x5A, sizeof rgb);
        watch_start(&watch, n);
        int status = cli_render_photo(rgb, 32, 32, 1, 0, NULL, NULL);
        watch_stop();
        assert_int_equal(watch.live, 0);
        if (status == BROAD_OK) break;
        assert_int_equal(status, BROAD_NO_MEMORY);
        for (size_t i = 0; i < sizeof rgb; i++) assert_int_equal(rgb[i], 0x5A);
        assert_true(n < 20);
    }
    assert_true(watch.requests > 2);
}

/* ---- dirt ---- */

/* What is said of the photo, counted again from its maps, whose bytes are rounded to 1/255. */
static void check_truth(const photo *p)
{
    double panel = 0, through = 0, covered = 0, doubtful = 0;
    size_t box[4] = {SIDE, SIDE, 0, 0};
    for (size_t i = 0; i < PIXELS; i++) {
        size_t column = i % SIDE, row = i / SIDE;
        if (p->panel[i] == 0) assert_int_equal(p->dimmed[i], 0);
        if (p->panel[i] < 128) continue;
        panel++;
        through += 1 - p->dimmed[i] / 255.0;
        covered += p->dimmed[i] > 25;
        doubtful += p->dimmed[i] >= 25 && p->dimmed[i] <= 26;
        if (column < box[0]) box[0] = column;
        if (row < box[1]) box[1] = row;
        if (column >= box[2]) box[2] = column + 1;
        if (row >= box[3]) box[3] = row + 1;
    }
    assert_true(fabs(p->truth.panel_share - panel / PIXELS) < 0.002);
    assert_true(fabs(p->truth.transmittance - through / panel) < 0.003);
    assert_true(fabs(p->truth.coverage - covered / panel) <= doubtful / panel + 0.002);
    for (int i = 0; i < 4; i++) assert_true(p->truth.box[i] + 1 >= box[i] && p->truth.box[i] <= box[i] + 1);
    assert_int_equal(p->truth.class_is, p->truth.severity < CLI_RENDER_BOUNDARY ? CLI_RENDER_CLEAN : CLI_RENDER_DUSTY);
}

static void test_severity(void **state)
{
    (void)state;
    photo *now = new_photo(), *clean = new_photo();
    for (size_t index = 0; index < 14; index++) {
        double before = 2;
        for (int step = 0; step <= 10; step++) {
            double severity = 0.1 * step;
            take(now, 3, index, severity_of(severity < 1 ? severity : 1));
            check_truth(now);
            assert_true(now->truth.transmittance < before);
            before = now->truth.transmittance;
            /* The amount is found on 1,600 points of the photo, and the mean is over all of it. */
            assert_true(fabs(before - (1 - CLI_RENDER_LOSS * severity)) < 0.025);
            if (step == 0) memcpy(clean, now, sizeof *now);
            assert_memory_equal(now->panel, clean->panel, sizeof clean->panel);
        }
        assert_int_equal(clean->truth.dirt, 0);
        assert_true(clean->truth.transmittance > 0.9999 && clean->truth.coverage < 1e-9);
        /* Under a thick film the panel is another picture. */
        assert_true(difference(now->rgb, clean->rgb, sizeof now->rgb) > 6);
    }
    free(now), free(clean);
}

/* Spots are where the map is much darker than the film of the same photo without them. */
static void test_kinds(void **state)
{
    (void)state;
    static const unsigned spots[2] = {CLI_RENDER_DROPPINGS, CLI_RENDER_LEAVES};
    photo *film = new_photo(), *with = new_photo();
    size_t seen[2] = {0}, streaks = 0, pollen = 0;
    for (size_t index = 0; index < 40; index++) {
        cli_render_spec spec = severity_of(0.5);
        spec.dirt = CLI_RENDER_DUST;
        take(film, 8, index, spec);
        assert_int_equal(film->truth.dirt, CLI_RENDER_DUST);
        for (size_t k = 0; k < 2; k++) {
            spec.dirt = CLI_RENDER_DUST | spots[k];
            take(with, 8, index, spec);
            assert_int_equal(with->truth.dirt & ~spec.dirt, 0);
            size_t dark = 0;
            for (size_t i = 0; i < PIXELS; i++) dark += with->dimmed[i] > 215 && film->dimmed[i] < 190;
            if (with->truth.dirt & spots[k]) seen[k] += dark > 0;
            else assert_memory_equal(with->dimmed, film->dimmed, sizeof film->dimmed);
        }
        spec.dirt = CLI_RENDER_POLLEN | CLI_RENDER_STREAKS;
        take(with, 8, index, spec);
        pollen += (with->truth.dirt & ~(unsigned)CLI_RENDER_STREAKS) == CLI_RENDER_POLLEN;
        streaks += (with->truth.dirt & CLI_RENDER_STREAKS) != 0;
    }
    assert_true(seen[0] > 10 && seen[1] > 3);
    assert_int_equal(pollen, 40);
    assert_in_range(streaks, 10, 30);
    free(film), free(with);
}

/* ---- classes ---- */

static double grey(const unsigned char *p) { return 0.3 * p[0] + 0.59 * p[1] + 0.11 * p[2]; }

static double brightness(const photo *p)
{
    double sum = 0;
    for (size_t i = 0; i < PIXELS; i++) sum += grey(&p->rgb[3 * i]);
    return sum / PIXELS;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median over the panel of the deviation of 5 x 5 pixels as a part of their mean. */
static double contrast(const photo *p)
{
    static double values[PIXELS];
    size_t count = 0;
    for (size_t row = 2; row < SIDE - 2; row++) {
        for (size_t column = 2; column < SIDE - 2; column++) {
            double sum = 0, squares = 0;
            if (p->panel[row * SIDE + column] < 255) continue;
            for (size_t k = 0; k < 25; k++) {
                double v = grey(&p->rgb[3 * ((row + k / 5 - 2) * SIDE + column + k % 5 - 2)]);
                sum += v;
                squares += v * v;
            }
            double mean = sum / 25, variance = squares / 25 - mean * mean;
            values[count++] = sqrt(variance > 0 ? variance : 0) / (mean + 12);
        }
    }
    assert_true(count > 0);
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

/* Chance that a clean photo has more of it than a dusty one. */
static double separation(const double *clean, const double *dusty, size_t count)
{
    double wins = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) wins += clean[i] > dusty[j] ? 1 : clean[i] < dusty[j] ? 0 : 0.5;
    return wins / (double)(count * count);
}

static void test_classes(void **state)
{
    (void)state;
    double light[2][PHOTOS], texture[2][PHOTOS];
    size_t paired = 0;
    photo *p = new_photo();
    for (size_t i = 0; i < PHOTOS; i++) {
        for (size_t k = 0; k < 2; k++) {
            take(p, 11, 2 * i + k, class_of(k ? CLI_RENDER_DUSTY : CLI_RENDER_CLEAN));
            check_truth(p);
            assert_int_equal(p->truth.class_is, k ? CLI_RENDER_DUSTY : CLI_RENDER_CLEAN);
            assert_true(k ? p->truth.severity >= 0.999 * CLI_RENDER_DUSTY_LEAST
                          : p->truth.severity <= 1.001 * CLI_RENDER_CLEAN_MOST);
            assert_true(p->truth.panel_share > 0.3);
            light[k][i] = brightness(p);
            texture[k][i] = contrast(p);
        }
        take(p, 11, 2 * i, class_of(CLI_RENDER_DUSTY));
        paired += contrast(p) < texture[0][i];
    }
    double by_light = separation(light[0], light[1], PHOTOS), by_texture = separation(texture[0], texture[1], PHOTOS);
    /* With 120 of each the deviation of such a figure is about 0.03. */
    assert_true(by_light > 0.15 && by_light < 0.85);
    assert_true(by_texture > 0.76);
    assert_true(by_texture - 0.5 > 1.5 * fabs(by_light - 0.5));
    /* Grit and droppings have a contrast of their own, and black panels have little to lose. */
    assert_true(paired > PHOTOS * 8 / 10);
    free(p);
}

static void test_any_class(void **state)
{
    (void)state;
    size_t dusty = 0;
    photo *p = new_photo();
    for (size_t i = 0; i < PHOTOS; i++) {
        take(p, 21, i, class_of(CLI_RENDER_ANY));
        check_truth(p);
        dusty += p->truth.class_is == CLI_RENDER_DUSTY;
    }
    /* 60 expected with a deviation of 5.5. */
    assert_in_range(dusty, 40, 80);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reproducible),
        cmocka_unit_test(test_all_different),
        cmocka_unit_test(test_size_changes_no_scene),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_every_allocation_failed_in_turn),
        cmocka_unit_test(test_severity),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_any_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
