/* Folders of small photos that look different for every number. */
#ifndef BROAD_TESTS_SUPPORT_PHOTO_FOLDER_H
#define BROAD_TESTS_SUPPORT_PHOTO_FOLDER_H

#include "helper.h"

#include <sys/stat.h>

#include "base/memory.h"
#include "data/table.h"
#include "image/codec/write.h"
#include "image/image.h"

static inline double wave_number(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) * 0x1p-24;
}

/* Some waves across the picture, by number. */
static inline void draw_waves(broad__image *out, unsigned number, size_t width, size_t height)
{
    unsigned state = number * 2654435761u + 12345u;
    double waves[8][4];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) waves[i][j] = wave_number(&state);
    assert_ok(broad__image_init(out, width, height));
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            for (size_t c = 0; c < 3; c++) {
                double value = 128;
                for (int i = 0; i < 8; i++)
                    value += 25 * sin(20 * ((waves[i][0] - 0.5) * (double)x / (double)width +
                                            (waves[i][1] - 0.5) * (double)y / (double)height) +
                                      6.3 * waves[i][2] + (double)c * waves[i][3]);
                out->pixels[(y * width + x) * 3 + c] = (unsigned char)fmin(fmax(value, 0), 255);
            }
}

static inline void draw_flat(broad__image *out, size_t width, size_t height, int red, int green, int blue)
{
    assert_ok(broad__image_init(out, width, height));
    for (size_t i = 0; i < width * height; i++) {
        out->pixels[3 * i] = (unsigned char)red;
        out->pixels[3 * i + 1] = (unsigned char)green;
        out->pixels[3 * i + 2] = (unsigned char)blue;
    }
}

/* As JPEG of this quality, or PNG for 0. Frees the picture. */
static inline void save_picture(const char *folder, const char *name, broad__image *picture, int quality)
{
    char path[HELPER_PATH];
    void *bytes = NULL;
    size_t count = 0;
    join_path(path, folder, name);
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    if (quality) assert_ok(broad__write_jpeg(&bytes, &count, picture, quality));
    else assert_ok(broad__write_png(&bytes, &count, picture));
    write_file(path, bytes, count);
    broad__free(bytes);
    broad__image_free(picture);
}

static inline void save_photo(const char *folder, const char *name, unsigned number)
{
    broad__image picture;
    draw_waves(&picture, number, 64, 48);
    size_t length = strlen(name);
    save_picture(folder, name, &picture, length > 4 && strcmp(name + length - 4, ".png") == 0 ? 0 : 90);
}

static inline void save_text(const char *folder, const char *name, const char *text)
{
    char path[HELPER_PATH];
    join_path(path, folder, name);
    write_text(path, text);
}

static inline void make_folder(const char *folder, const char *name)
{
    char path[HELPER_PATH];
    join_path(path, folder, name);
    if (mkdir(path, 0777) != 0) fail_msg("cannot make %s", path);
}

/* `per_class` photos in each of Clean and Dusty: clean_00.jpg, dusty_00.jpg and so on. */
static inline void make_classes(const char *folder, unsigned per_class)
{
    for (unsigned i = 0; i < 2 * per_class; i++) {
        char name[64];
        snprintf(name, sizeof name, i % 2 ? "Dusty/dusty_%02u.jpg" : "Clean/clean_%02u.jpg", i / 2);
        save_photo(folder, name, i);
    }
}

typedef struct photo_run {
    broad_read_options options;
    broad_photo_options photos;
} photo_run;

/* Pixels of 8 x 8, one thread. */
static inline void photo_run_init(photo_run *run)
{
    broad_read_options_init(&run->options);
    broad_photo_options_init(&run->photos);
    run->options.photos = &run->photos;
    run->photos.maps = BROAD_PHOTO_MAP_PIXELS;
    run->photos.side = 8;
    run->photos.components = BROAD_COMPONENTS_NONE;
    run->photos.threads = 1;
}

static inline int read_run(broad_data **out, const char *path, const photo_run *run)
{
    return broad_data_read_photos(out, &path, 1, &run->options);
}

static inline broad_data *must_read(const char *path, const photo_run *run)
{
    broad_data *data = NULL;
    assert_ok(read_run(&data, path, run));
    return data;
}

/* Row of the photo called so. */
static inline size_t row_of(const broad_data *data, const char *name)
{
    for (size_t i = 0; i < data->rows; i++)
        if (strcmp(data->photos.items[i].name, name) == 0) return i;
    fail_msg("no photo is called %s", name);
    return 0;
}

static inline const char *skip_reason(const broad_data *data, const char *name)
{
    for (size_t i = 0; i < broad_data_skipped_count(data); i++) {
        const char *file = broad_data_skipped(data, i)->file;
        size_t length = strlen(file), tail = strlen(name);
        if (length >= tail && strcmp(file + length - tail, name) == 0) return broad_data_skipped(data, i)->reason;
    }
    return NULL;
}

static inline void assert_skipped(const broad_data *data, const char *name, const char *fragment)
{
    const char *reason = skip_reason(data, name);
    if (!reason) fail_msg("%s was not left out", name);
    else if (!strstr(reason, fragment)) fail_msg("%s: no \"%s\" in \"%s\"", name, fragment, reason);
}

static inline void assert_same_rows(const broad_data *a, const broad_data *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->inputs, b->inputs);
    assert_memory_equal(a->x, b->x, a->rows * a->inputs * sizeof *a->x);
    for (size_t i = 0; i < a->rows; i++) {
        const broad_photo *p = &a->photos.items[i], *q = &b->photos.items[i];
        assert_string_equal(p->file, q->file);
        assert_string_equal(p->name, q->name);
        assert_string_equal(p->time, q->time);
        assert_int_equal(p->width, q->width);
        assert_int_equal(p->height, q->height);
        assert_int_equal(p->copy, q->copy);
        assert_int_equal(p->group, q->group);
        assert_true(p->left == q->left && p->top == q->top && p->right == q->right && p->bottom == q->bottom);
        if (a->groups) assert_int_equal(a->groups[i], b->groups[i]);
        if (a->classes) assert_int_equal(a->classes[i], b->classes[i]);
    }
}

#endif
