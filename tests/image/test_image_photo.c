/* Photos to inputs: the maps in their order, the names of inputs, and what is left when a cell is left out. */
#include "helper.h"

#include "base/memory.h"
#include "image/descriptor/descriptors.h"
#include "image/descriptor/windows.h"
#include "image/photo.h"

#include "image_zoo.h"

enum { SIDE = 12 };

static broad__photo_spec spec_of(unsigned maps)
{
    return (broad__photo_spec){.version = BROAD__MAPS_VERSION, .maps = maps, .side = SIDE};
}

static broad__image drawn_image(size_t width, size_t height)
{
    broad__image image;
    assert_ok(broad__image_init(&image, width, height));
    unsigned char *pixels = drawn_pixels(width, height, 3);
    memcpy(image.pixels, pixels, width * height * 3);
    free(pixels);
    for (size_t i = 0; i < width * height * 3; i += 5)
        image.pixels[i] = (unsigned char)(image.pixels[i] ^ (i >> 3 & 15));
    return image;
}

static float *numbers(size_t count)
{
    float *block = calloc(count, sizeof *block);
    assert_non_null(block);
    return block;
}

static void inputs_and_order(void **state)
{
    (void)state;
    const size_t pixels = (size_t)SIDE * SIDE * 3, descriptors = broad__descriptor_count(), windows = 2000;
    assert_int_equal(broad__map_inputs(BROAD_PHOTO_MAP_PIXELS, SIDE), pixels);
    assert_int_equal(broad__map_inputs(BROAD_PHOTO_MAP_PIXELS, 64), 64 * 64 * 3);
    assert_int_equal(broad__map_inputs(BROAD_PHOTO_MAP_DESCRIPTORS, SIDE), descriptors);
    assert_int_equal(broad__map_inputs(BROAD_PHOTO_MAP_WINDOWS, SIDE), windows);
    assert_int_equal(broad__map_inputs(8, SIDE), 0);
    for (unsigned maps = 0; maps <= BROAD_PHOTO_MAP_ALL; maps++) {
        broad__photo_spec spec = spec_of(maps);
        size_t p = maps & BROAD_PHOTO_MAP_PIXELS ? pixels : 0, d = maps & BROAD_PHOTO_MAP_DESCRIPTORS ? descriptors : 0;
        assert_int_equal(broad__photo_inputs(&spec), p + d + (maps & BROAD_PHOTO_MAP_WINDOWS ? windows : 0));
        assert_int_equal(broad__photo_first(&spec, BROAD_PHOTO_MAP_PIXELS), 0);
        assert_int_equal(broad__photo_first(&spec, BROAD_PHOTO_MAP_DESCRIPTORS), p);
        assert_int_equal(broad__photo_first(&spec, BROAD_PHOTO_MAP_WINDOWS), p + d);
    }
}

static void names(void **state)
{
    (void)state;
    char name[BROAD__INPUT_NAME_BYTES], expected[BROAD__INPUT_NAME_BYTES], own[BROAD__DESCRIPTOR_NAME_BYTES];
    broad__photo_spec spec = spec_of(BROAD_PHOTO_MAP_ALL);
    size_t pixels = (size_t)SIDE * SIDE * 3, descriptors = broad__descriptor_count();
    broad__photo_input_name(name, &spec, 0);
    assert_string_equal(name, "pixel 1,1 red");
    broad__photo_input_name(name, &spec, (2 * SIDE + 4) * 3 + 1);
    assert_string_equal(name, "pixel 5,3 green");
    broad__photo_input_name(name, &spec, pixels - 1);
    assert_string_equal(name, "pixel 12,12 blue");
    for (size_t i = 0; i < descriptors; i += descriptors - 1) {
        broad__descriptor_name(own, i);
        snprintf(expected, sizeof expected, "descriptor %s", own);
        broad__photo_input_name(name, &spec, pixels + i);
        assert_string_equal(name, expected);
    }
    broad__photo_input_name(name, &spec, pixels + descriptors);
    assert_string_equal(name, "window 1");
    broad__photo_input_name(name, &spec, pixels + descriptors + 1999);
    assert_string_equal(name, "window 2000");
    broad__photo_input_name(name, &spec, pixels + descriptors + 2000);
    assert_string_equal(name, "");
    spec = spec_of(BROAD_PHOTO_MAP_WINDOWS);
    broad__photo_input_name(name, &spec, 16);
    assert_string_equal(name, "window 17");
}

/* Every choice of maps gives the numbers of each map by itself, one after the other. */
static void maps_are_joined(void **state)
{
    (void)state;
    broad__image image = drawn_image(150, 90), small;
    broad__window_weights *weights = broad__window_weights_make();
    const size_t pixels = (size_t)SIDE * SIDE * 3, descriptors = broad__descriptor_count(), windows = 2000;
    float *alone = numbers(pixels + descriptors + windows);
    assert_ok(broad__image_resize(&small, &image, SIDE, SIDE));
    for (size_t i = 0; i < pixels; i++) alone[i] = (float)small.pixels[i] / 255.0F;
    assert_ok(broad__descriptors(alone + pixels, &image));
    assert_ok(broad__windows(alone + pixels + descriptors, weights, &image));
    for (unsigned maps = 1; maps <= BROAD_PHOTO_MAP_ALL; maps++) {
        broad__photo_spec spec = spec_of(maps);
        broad__photo_maker *maker = broad__photo_maker_open(&spec);
        assert_non_null(maker);
        size_t inputs = broad__photo_inputs(&spec), at = 0;
        float *joined = numbers(inputs);
        assert_ok(broad__photo_map(joined, maker, &image));
        const size_t begin[] = {0, pixels, pixels + descriptors, pixels + descriptors + windows};
        for (unsigned k = 0; k < 3; k++) {
            if (!(maps >> k & 1)) continue;
            size_t count = begin[k + 1] - begin[k];
            assert_memory_equal(joined + at, alone + begin[k], count * sizeof *joined);
            at += count;
        }
        assert_int_equal(at, inputs);
        free(joined);
        broad__photo_maker_close(maker);
    }
    broad__photo_maker_close(NULL);
    free(alone);
    broad__free(weights);
    broad__image_free(&small);
    broad__image_free(&image);
}

/* Pixels whose centre lies in the cell have the mean colour, the others are as they were. */
static void pixels_left_out(void **state)
{
    (void)state;
    enum { WIDTH = 5, HEIGHT = 2, INPUTS = SIDE * SIDE * 3 };
    static float out[WIDTH * HEIGHT][INPUTS], whole[INPUTS], plain[INPUTS];
    broad__image image = drawn_image(100, 60);
    broad__photo_spec spec = spec_of(BROAD_PHOTO_MAP_PIXELS);
    broad__photo_maker *maker = broad__photo_maker_open(&spec);
    assert_non_null(maker);
    assert_ok(broad__photo_map(plain, maker, &image));
    assert_ok(broad__photo_occlude(out[0], whole, maker, &image, WIDTH, HEIGHT));
    assert_memory_equal(whole, plain, sizeof whole);
    for (size_t i = 0; i < INPUTS; i++) {
        double mean = 0;
        for (size_t j = i % 3; j < INPUTS; j += 3) mean += (double)plain[j] / (SIDE * SIDE);
        double x = ((double)(i / 3 % SIDE) + 0.5) / SIDE, y = ((double)(i / 3 / SIDE) + 0.5) / SIDE;
        for (size_t c = 0; c < (size_t)WIDTH * HEIGHT; c++) {
            int inside = floor(x * WIDTH) == (double)(c % WIDTH) && floor(y * HEIGHT) == (double)(c / WIDTH);
            assert_true(fabs((double)out[c][i] - (inside ? mean : (double)plain[i])) < 1e-6);
        }
    }
    /* More cells than pixels: those without any change nothing. */
    float *many = numbers((size_t)30 * INPUTS);
    assert_ok(broad__photo_occlude(many, NULL, maker, &image, 30, 1));
    size_t changed = 0;
    for (size_t c = 0; c < 30; c++) changed += memcmp(many + c * INPUTS, plain, sizeof plain) != 0;
    assert_int_equal(changed, SIDE);
    free(many);
    broad__photo_maker_close(maker);
    broad__image_free(&image);
}

/* Of all maps together: the columns of each map are those that it gives alone; the whole is the whole. */
static void occlusions_are_joined(void **state)
{
    (void)state;
    enum { WIDTH = 3, HEIGHT = 2, CELLS = WIDTH * HEIGHT };
    broad__image image = drawn_image(300, 200);
    broad__photo_spec spec = spec_of(BROAD_PHOTO_MAP_ALL);
    broad__photo_maker *maker = broad__photo_maker_open(&spec);
    assert_non_null(maker);
    size_t inputs = broad__photo_inputs(&spec);
    float *out = numbers(CELLS * inputs), *whole = numbers(inputs), *plain = numbers(inputs),
          *part = numbers(CELLS * inputs);
    assert_ok(broad__photo_map(plain, maker, &image));
    assert_ok(broad__photo_occlude(out, whole, maker, &image, WIDTH, HEIGHT));
    assert_memory_equal(whole, plain, inputs * sizeof *whole);
    for (unsigned map = 1; map <= BROAD_PHOTO_MAP_WINDOWS; map *= 2) {
        broad__photo_spec single = spec_of(map);
        broad__photo_maker *one = broad__photo_maker_open(&single);
        assert_non_null(one);
        size_t count = broad__photo_inputs(&single), first = broad__photo_first(&spec, map);
        assert_ok(broad__photo_occlude(part, NULL, one, &image, WIDTH, HEIGHT));
        for (size_t c = 0; c < CELLS; c++) {
            assert_memory_equal(out + c * inputs + first, part + c * count, count * sizeof *part);
            assert_memory_not_equal(part + c * count, plain + first, count * sizeof *part);
        }
        broad__photo_maker_close(one);
    }
    free(out), free(whole), free(plain), free(part);
    broad__photo_maker_close(maker);
    broad__image_free(&image);
}

/* The left half is black, the right half is red: what is left out is gone, and the rest is all there is. */
static void descriptors_left_out(void **state)
{
    (void)state;
    broad__image image;
    assert_ok(broad__image_init(&image, 128, 96));
    for (size_t i = 0; i < (size_t)128 * 96; i++) image.pixels[3 * i] = i % 128 < 64 ? 0 : 255;
    broad__photo_spec spec = spec_of(BROAD_PHOTO_MAP_DESCRIPTORS);
    broad__photo_maker *maker = broad__photo_maker_open(&spec);
    assert_non_null(maker);
    size_t count = broad__photo_inputs(&spec), dark = 0, bright = 0;
    float *out = numbers(2 * count), *whole = numbers(count);
    for (size_t i = 0; i < count; i++) {
        char name[BROAD__INPUT_NAME_BYTES];
        broad__photo_input_name(name, &spec, i);
        if (!strcmp(name, "descriptor red_0")) dark = i;
        if (!strcmp(name, "descriptor red_15")) bright = i;
    }
    assert_true(dark && bright);
    assert_ok(broad__photo_occlude(out, whole, maker, &image, 2, 1));
    const float *without_left = out, *without_right = out + count;
    assert_true(fabs((double)whole[dark] - sqrt(0.5)) < 1e-6 && fabs((double)whole[bright] - sqrt(0.5)) < 1e-6);
    assert_true(fabs((double)without_left[dark]) < 1e-6 && fabs((double)without_left[bright] - 1) < 1e-6);
    assert_true(fabs((double)without_right[dark] - 1) < 1e-6 && fabs((double)without_right[bright]) < 1e-6);
    free(out), free(whole);
    broad__photo_maker_close(maker);
    broad__image_free(&image);
}

/* Every allocation fails in turn; everything allocated is freed. */
static void without_memory(void **state)
{
    (void)state;
    broad__image image = drawn_image(60, 40);
    broad__photo_spec spec = spec_of(BROAD_PHOTO_MAP_ALL);
    float *out = numbers(4 * broad__photo_inputs(&spec));
    zoo_memory memory;
    for (long n = 0;; n++) {
        zoo_watch(&memory, n);
        broad__photo_maker *maker = broad__photo_maker_open(&spec);
        int status = maker ? broad__photo_map(out, maker, &image) : BROAD_NO_MEMORY;
        if (status == BROAD_OK) status = broad__photo_occlude(out, NULL, maker, &image, 2, 2);
        broad__photo_maker_close(maker);
        broad_set_allocator(NULL);
        assert_int_equal(memory.blocks, 0);
        if (!memory.failed) {
            assert_int_equal(status, BROAD_OK);
            assert_true(n > 12);
            break;
        }
        assert_int_equal(status, BROAD_NO_MEMORY);
    }
    free(out);
    broad__image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_and_order),      cmocka_unit_test(names),
        cmocka_unit_test(maps_are_joined),       cmocka_unit_test(pixels_left_out),
        cmocka_unit_test(occlusions_are_joined), cmocka_unit_test(descriptors_left_out),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
