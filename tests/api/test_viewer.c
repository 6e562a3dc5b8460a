/* Photos from memory: the same bits as from files. */
#include "photo_folder.h"

#include "base/file.h"

enum { PHOTOS = 12, WIDTH = 500, HEIGHT = 333 };

typedef struct scene {
    char folder[HELPER_PATH];
    broad_model *model;
    broad_data *data; /* the photos, read for the model */
} scene;

static int make_scene(void **state)
{
    scene *s = calloc(1, sizeof *s);
    broad_options options;
    broad_data *training = NULL;
    broad_read_options read;
    temporary_folder(s->folder);
    for (unsigned i = 0; i < PHOTOS; i++) {
        char name[32];
        broad__image picture;
        draw_waves(&picture, i, WIDTH, HEIGHT);
        snprintf(name, sizeof name, "%s/p%02u.%s", i % 2 ? "a" : "b", i, i % 3 ? "jpg" : "png");
        save_picture(s->folder, name, &picture, i % 3 ? 90 : 0);
    }
    broad_options_init(&options);
    assert_ok(broad_options_set(&options, "features", "2x5"));
    assert_ok(broad_options_set(&options, "enhance", "10x1"));
    assert_ok(broad_data_read(&training, s->folder, NULL));
    assert_ok(broad_fit(&s->model, NULL, training, &options));
    broad_data_free(training);
    broad_read_options_init(&read);
    read.model = s->model;
    assert_ok(broad_data_read(&s->data, s->folder, &read));
    *state = s;
    return 0;
}

static int free_scene(void **state)
{
    scene *s = *state;
    broad_model_free(s->model);
    broad_data_free(s->data);
    remove_folder(s->folder);
    free(s);
    return 0;
}

static void same_bits(void **state)
{
    const scene *s = *state;
    size_t inputs = broad_model_inputs(s->model);
    double *x = malloc(inputs * sizeof *x);
    broad_viewer *viewer = NULL;
    assert_ok(broad_viewer_open(&viewer, s->model));
    for (size_t i = 0; i < broad_data_rows(s->data); i++) {
        const broad_photo *photo = broad_data_photo(s->data, i);
        broad_photo about;
        broad_picture *picture = NULL;
        void *bytes = NULL;
        size_t count = 0;
        assert_ok(broad__file_read(&bytes, &count, photo->file, 1 << 24));
        assert_ok(broad_viewer_file(x, &about, viewer, bytes, count));
        assert_memory_equal(x, broad_data_row(s->data, i), inputs * sizeof *x);
        assert_true(about.distance == photo->distance && about.faults == photo->faults && about.width == WIDTH);
        assert_true(isfinite(about.distance));
        /* Pixels are those of a file that loses nothing. */
        assert_ok(broad_picture_decode(&picture, bytes, count, 0));
        assert_ok(broad_viewer_picture(x, &about, viewer, picture));
        if (strstr(photo->file, ".png")) {
            assert_memory_equal(x, broad_data_row(s->data, i), inputs * sizeof *x);
            assert_true(about.distance == photo->distance && about.height == HEIGHT);
        }
        broad_picture_free(picture);
        broad__free(bytes);
    }
    broad_viewer_close(viewer);
    free(x);
}

/* One decoding gives inputs and picture; without a model the picture is there as well. */
static void shown(void **state)
{
    const scene *s = *state;
    size_t inputs = broad_model_inputs(s->model), count = 0;
    const broad_photo *photo = broad_data_photo(s->data, 0);
    double *x = malloc(inputs * sizeof *x);
    broad_viewer *viewer = NULL;
    broad_picture *picture = NULL, *alone = NULL, *small = NULL;
    broad_photo about;
    void *bytes = NULL;
    uint64_t one = 0, other = 0;
    assert_ok(broad_viewer_open(&viewer, s->model));
    assert_ok(broad__file_read(&bytes, &count, photo->file, 1 << 24));
    assert_ok(broad_viewer_show(x, &about, &picture, viewer, bytes, count));
    assert_memory_equal(x, broad_data_row(s->data, 0), inputs * sizeof *x);
    assert_ok(broad_photo_look(&about, &alone, bytes, count));
    assert_true(about.width == WIDTH && about.height == HEIGHT && about.faults == photo->faults);
    assert_int_equal(broad_picture_width(alone), broad_picture_width(picture));
    assert_ok(broad_picture_fit(&small, picture, WIDTH / 2));
    assert_ok(broad_picture_print(&one, alone));
    assert_ok(broad_picture_print(&other, small));
    assert_true(__builtin_popcountll(one ^ other) <= 6); /* reduced to half its size it is still the same picture */
    broad_picture_free(alone);
    assert_fails(broad_photo_look(&about, &alone, "GIF89a", 6), BROAD_BAD_DATA, "a GIF picture");
    assert_null(alone);
    broad_picture_free(small);
    broad_picture_free(picture);
    broad_viewer_close(viewer);
    broad__free(bytes);
    free(x);
}

/* From bytes as from the file. */
static void explained(void **state)
{
    const scene *s = *state;
    const broad_photo *photo = broad_data_photo(s->data, 0);
    broad_explainer *explainer = NULL;
    broad_explanation file = {.size = sizeof file}, memory = {.size = sizeof memory};
    size_t output = 1, count = 0;
    void *bytes = NULL;
    assert_ok(broad_explainer_open(&explainer, s->model));
    assert_ok(broad__file_read(&bytes, &count, photo->file, 1 << 24));
    assert_ok(broad_photo_explain(&file, explainer, &photo, &output, 1));
    assert_ok(broad_explainer_file(&memory, explainer, bytes, count, output));
    assert_true(file.width == memory.width && file.height == memory.height);
    assert_memory_equal(file.cells, memory.cells, file.width * file.height * sizeof *file.cells);
    broad_explanation_clear(&memory);
    assert_fails(broad_explainer_file(&memory, explainer, bytes, count, 99), BROAD_USAGE, "no output number 99");
    assert_fails(broad_explainer_file(&memory, explainer, "GIF89a", 6, 0), BROAD_BAD_DATA, "a GIF picture");
    broad_explanation_clear(&file);
    broad_explainer_close(explainer);
    broad__free(bytes);
}

/* Every order of bytes, with gaps between the rows, is the same picture. */
static void frames(void **state)
{
    (void)state;
    static const size_t order[][4] = {{0, 1, 2, 3}, {2, 1, 0, 3}, {0, 1, 2, 3}, {2, 1, 0, 3}};
    unsigned char rgb[3 * 4 * 3], frame[3 * 40];
    for (size_t i = 0; i < sizeof rgb; i++) rgb[i] = (unsigned char)(7 * i + 5);
    for (int pixel = BROAD_PIXEL_RGB; pixel <= BROAD_PIXEL_BGRA; pixel++) {
        size_t step = pixel < BROAD_PIXEL_RGBA ? 3 : 4;
        broad_picture *picture = NULL;
        memset(frame, 255, sizeof frame);
        for (size_t i = 0; i < 12; i++)
            for (size_t c = 0; c < 3; c++) frame[i / 4 * 40 + i % 4 * step + order[pixel][c]] = rgb[3 * i + c];
        assert_ok(broad_picture_from_pixels(&picture, frame, 4, 3, 40, (broad_pixel)pixel));
        assert_memory_equal(broad_picture_bytes(picture), rgb, sizeof rgb);
        broad_picture_free(picture);
    }
    broad_picture *grey = NULL;
    assert_ok(broad_picture_from_pixels(&grey, rgb, 4, 3, 0, BROAD_PIXEL_GREY));
    for (size_t i = 0; i < 36; i++) assert_int_equal(broad_picture_bytes(grey)[i], rgb[i / 3]);
    broad_picture_free(grey);
    /* Half transparent black over white. */
    assert_ok(broad_picture_from_pixels(&grey, (const unsigned char[]){0, 0, 0, 128}, 1, 1, 0, BROAD_PIXEL_RGBA));
    assert_int_equal(broad_picture_bytes(grey)[0], 127);
    broad_picture_free(grey);
    assert_fails(broad_picture_from_pixels(&grey, rgb, 4, 3, 11, BROAD_PIXEL_RGB), BROAD_USAGE, "more than 11 bytes");
    assert_fails(broad_picture_from_pixels(&grey, rgb, 4, 3, 0, (broad_pixel)9), BROAD_USAGE, "number 9");
}

static void what_is_no_photo(void **state)
{
    const scene *s = *state;
    broad_viewer *viewer = NULL;
    double *x = malloc(broad_model_inputs(s->model) * sizeof *x);
    assert_ok(broad_viewer_open(&viewer, s->model));
    assert_fails(broad_viewer_file(x, NULL, viewer, "GIF89a", 6), BROAD_BAD_DATA, "a GIF picture");
    broad_picture *black = NULL;
    broad_photo about;
    assert_ok(broad_picture_new(&black, 64, 48));
    assert_ok(broad_viewer_picture(x, &about, viewer, black));
    assert_int_equal(about.faults, BROAD_PHOTO_FAULT_DARK);
    assert_true(broad_photo_is_unlike(&about));
    broad_picture_free(black);
    broad_viewer_close(viewer);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits),        cmocka_unit_test(shown),
        cmocka_unit_test(explained),        cmocka_unit_test(frames),
        cmocka_unit_test(what_is_no_photo),
    };
    return cmocka_run_group_tests(tests, make_scene, free_scene);
}
