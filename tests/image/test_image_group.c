/* Copies, near-copies and crops of scenes drawn here come together, strangers do not; the search against all pairs. */
#include "helper.h"

#include "base/memory.h"
#include "image/codec/decode.h"
#include "image/codec/write.h"
#include "image/print/group.h"

#include "image_zoo.h"

static uint32_t random_state;

static double random_unit(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state / 4294967296.0;
}

/* Rectangles, large and small, on a gradient: a scene with edges, like roofs and panels. */
static broad__image draw_scene(uint32_t seed, size_t width, size_t height)
{
    broad__image image;
    random_state = seed * 2654435761u + 99;
    assert_ok(broad__image_init(&image, width, height));
    double tilt_x = random_unit(), tilt_y = random_unit();
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            memset(image.pixels + (y * width + x) * 3,
                   (int)(100 + 80 * (tilt_x * (double)x / (double)width - tilt_y * (double)y / (double)height)), 3);
    for (int i = 0; i < 25; i++) {
        size_t w = (size_t)((double)width * (0.03 + 0.4 * random_unit())),
               x0 = (size_t)(random_unit() * (double)(width - w));
        size_t h = (size_t)((double)height * (0.03 + 0.4 * random_unit())),
               y0 = (size_t)(random_unit() * (double)(height - h));
        int red = (int)(256 * random_unit()), green = (int)(256 * random_unit()), blue = (int)(256 * random_unit());
        for (size_t y = y0; y < y0 + h; y++)
            for (size_t x = x0; x < x0 + w; x++) {
                unsigned char *p = image.pixels + (y * width + x) * 3;
                p[0] = (unsigned char)red;
                p[1] = (unsigned char)green;
                p[2] = (unsigned char)blue;
            }
    }
    return image;
}

/* Through a file of this quality, as the pictures of a folder come. */
static broad__print print_of(const broad__image *image, int quality)
{
    void *bytes;
    size_t count;
    broad__image back;
    broad__print print;
    broad__decode_options options;
    broad__decode_options_init(&options);
    options.side = 256;
    assert_ok(broad__write_jpeg(&bytes, &count, image, quality));
    assert_ok(broad__decode(&back, NULL, bytes, count, &options));
    assert_ok(broad__print_make(&print, &back, bytes, count));
    broad__free(bytes);
    broad__image_free(&back);
    return print;
}

enum { SCENES = 24, VARIANTS = 8, WIDTH = 320, HEIGHT = 240 };

static broad__print variant(const broad__image *scene, int kind)
{
    broad__image other = {0};
    int quality = 90;
    size_t w = scene->width, h = scene->height;
    switch (kind) {
    case 0: return print_of(scene, 90);
    case 1: return print_of(scene, 90); /* the same bytes again */
    case 2: return print_of(scene, 30);
    case 3: assert_ok(broad__image_resize(&other, scene, w / 2, h / 2)); break;
    case 4:
    case 5: /* darker, brighter with clipping */
        assert_ok(broad__image_crop(&other, scene, 0, 0, w, h));
        for (size_t i = 0; i < w * h * 3; i++)
            other.pixels[i] = (unsigned char)fmin(255, other.pixels[i] * (kind == 4 ? 0.7 : 1.2));
        break;
    default: { /* crops: of 88 and 94 percent */
        double part = kind == 6 ? 0.88 : 0.94;
        size_t cw = (size_t)(part * (double)w), ch = (size_t)(part * (double)h);
        assert_ok(broad__image_crop(&other, scene, (size_t)(random_unit() * (double)(w - cw)),
                                    (size_t)(random_unit() * (double)(h - ch)), cw, ch));
        quality = 75;
    }
    }
    broad__print print = print_of(&other, quality);
    broad__image_free(&other);
    return print;
}

static void variants_and_strangers(void **state)
{
    (void)state;
    enum { COUNT = SCENES * VARIANTS };
    broad__print *prints = calloc(COUNT, sizeof *prints);
    size_t groups[COUNT];
    /* Variants lie far apart from each other, as in a folder. */
    for (size_t s = 0; s < SCENES; s++) {
        broad__image scene = draw_scene((uint32_t)s, WIDTH, HEIGHT);
        for (int v = 0; v < VARIANTS; v++) prints[(size_t)v * SCENES + s] = variant(&scene, v);
        broad__image_free(&scene);
    }
    assert_ok(broad__group_prints(groups, prints, COUNT));
    int missed[VARIANTS] = {0};
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(groups[i] % SCENES, i % SCENES); /* no strangers */
        assert_true(groups[i] <= i);
        missed[i / SCENES] += groups[i] != i % SCENES;
    }
    for (int v = 0; v < 6; v++) assert_int_equal(missed[v], 0);
    /* A crop may be missed now and then. */
    assert_true(missed[6] <= 2 && missed[7] <= 2);
    free(prints);
}

/* Flat pictures have no structure: white and grey are not the same, nor are two whites in different files. */
static void flat_pictures(void **state)
{
    (void)state;
    broad__print prints[5];
    size_t groups[5];
    for (int i = 0; i < 5; i++) {
        broad__image image;
        assert_ok(broad__image_init(&image, 64, 48));
        memset(image.pixels, i < 2 ? 255 : i * 40, 64 * 48 * 3);
        prints[i] = print_of(&image, i < 4 ? 90 : 80);
        assert_true(prints[i].flat);
        broad__image_free(&image);
    }
    prints[3] = prints[4];
    assert_ok(broad__group_prints(groups, prints, 5));
    const size_t expected[] = {0, 0, 2, 3, 3};
    for (int i = 0; i < 5; i++) assert_int_equal(groups[i], expected[i]);
    assert_ok(broad__group_prints(groups, prints, 0));
    assert_ok(broad__group_prints(groups, prints, 1));
    assert_int_equal(groups[0], 0);
}

static size_t plain_root(const size_t *parent, size_t i)
{
    while (parent[i] != i) i = parent[i];
    return i;
}

/* With equal pixels the hash alone decides: the buckets must give what all pairs give. Hashes are made so that many
 * pairs lie at 8, 9, 10 and 11 bits. */
static void search_against_all_pairs(void **state)
{
    (void)state;
    enum { COUNT = 600 };
    broad__print *prints = calloc(COUNT, sizeof *prints);
    size_t groups[COUNT], parent[COUNT];
    broad__image scene = draw_scene(5, WIDTH, HEIGHT);
    broad__print first = print_of(&scene, 90);
    broad__image_free(&scene);
    for (int far = 0; far < 3; far++) {
        uint64_t base = 0;
        for (size_t i = 0; i < COUNT; i++) {
            prints[i] = first;
            snprintf(prints[i].content, sizeof prints[i].content, "%032zu", i);
            if (i % 4 == 0)
                for (int bit = 0; bit < 64; bit++) base = base << 1 | (random_unit() < 0.5);
            prints[i].hash = base;
            for (int flips = (int)(i % 4 ? 6 + 3 * far + random_unit() * 5 : 0); flips > 0; flips--)
                prints[i].hash ^= (uint64_t)1 << (int)(64 * random_unit());
            parent[i] = i;
        }
        for (size_t i = 0; i < COUNT; i++)
            for (size_t j = 0; j < i; j++) {
                size_t a = plain_root(parent, i), b = plain_root(parent, j);
                if (__builtin_popcountll(prints[i].hash ^ prints[j].hash) <= 9) parent[a < b ? b : a] = a < b ? a : b;
            }
        assert_ok(broad__group_prints(groups, prints, COUNT));
        size_t joined = 0;
        for (size_t i = 0; i < COUNT; i++) {
            assert_int_equal(groups[i], plain_root(parent, i));
            joined += groups[i] != i;
        }
        assert_true(joined < COUNT && (far == 2 || joined > 20));
    }
    free(prints);
}

/* Strangers whose hashes happen to agree: the pixels decide. */
static void pixels_decide(void **state)
{
    (void)state;
    broad__print prints[20];
    size_t groups[20];
    for (uint32_t i = 0; i < 20; i++) {
        broad__image scene = draw_scene(100 + i, WIDTH, HEIGHT);
        prints[i] = print_of(&scene, 90);
        prints[i].hash = prints[0].hash ^ i;
        broad__image_free(&scene);
    }
    assert_ok(broad__group_prints(groups, prints, 20));
    for (size_t i = 0; i < 20; i++) assert_int_equal(groups[i], i);
}

/* Proportions that no crop has. */
static void other_proportions(void **state)
{
    (void)state;
    broad__image scene = draw_scene(5, WIDTH, HEIGHT), wide;
    assert_ok(broad__image_resize(&wide, &scene, WIDTH, HEIGHT / 2));
    broad__print prints[2] = {print_of(&scene, 90), print_of(&wide, 90)};
    size_t groups[2];
    assert_ok(broad__group_prints(groups, prints, 2));
    assert_int_equal(groups[1], 1);
    broad__image_free(&scene);
    broad__image_free(&wide);
}

static void windows_cover(void **state)
{
    (void)state;
    broad__image scene = draw_scene(5, WIDTH, HEIGHT);
    broad__print print = print_of(&scene, 90);
    broad__print_window places[BROAD__PRINT_WINDOWS];
    uint64_t hashes[BROAD__PRINT_WINDOWS];
    broad__print_basis *basis = broad__print_basis_make();
    broad__print_hashes(hashes, places, &print, basis);
    assert_true(hashes[0] == print.hash);
    for (int i = 0; i < BROAD__PRINT_WINDOWS; i++) {
        assert_true(places[i].x + places[i].side <= BROAD__PRINT_SIDE &&
                    places[i].y + places[i].side <= BROAD__PRINT_SIDE);
        /* By its definition, in double. A sign may differ where the sum is next to nothing. */
        int m = places[i].side, bit = 0;
        for (int sum = 1; bit < 64; sum++)
            for (int v = 0; v <= sum && bit < 64; v++, bit++) {
                double value = 0;
                for (int y = 0; y < m; y++)
                    for (int x = 0; x < m; x++)
                        value += print.grey[(places[i].y + y) * BROAD__PRINT_SIDE + places[i].x + x] *
                                 cos(M_PI * v * (2 * y + 1) / (2 * m)) * cos(M_PI * (sum - v) * (2 * x + 1) / (2 * m));
                if (fabs(value) > 0.5) assert_int_equal(hashes[i] >> bit & 1, value > 0);
            }
        for (int j = 0; j < i; j++) assert_true(memcmp(&places[i], &places[j], sizeof places[i]) != 0);
    }
    broad__free(basis);
    broad__image_free(&scene);
}

static void without_memory(void **state)
{
    (void)state;
    broad__image scene = draw_scene(1, WIDTH, HEIGHT);
    broad__print prints[3];
    for (int i = 0; i < 3; i++) prints[i] = print_of(&scene, 60 + i);
    for (int kind = 0; kind < 2; kind++)
        for (long n = 0;; n++) {
            zoo_memory memory;
            size_t groups[3] = {9, 9, 9};
            broad__print print;
            zoo_watch(&memory, n);
            int status = kind ? broad__group_prints(groups, prints, 3) : broad__print_make(&print, &scene, "x", 1);
            broad_set_allocator(NULL);
            assert_int_equal(memory.blocks, 0);
            if (!memory.failed) {
                assert_int_equal(status, BROAD_OK);
                assert_int_equal(groups[2], kind ? 0 : 9);
                assert_true(n > 5);
                break;
            }
            assert_int_equal(status, BROAD_NO_MEMORY);
            assert_int_equal(groups[2], 9);
        }
    broad__image_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_and_strangers),   cmocka_unit_test(flat_pictures),
        cmocka_unit_test(search_against_all_pairs), cmocka_unit_test(pixels_decide),
        cmocka_unit_test(other_proportions),        cmocka_unit_test(windows_cover),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
