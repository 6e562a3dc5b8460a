/* Folders of photos as tables: what is listed, what is left out and why, classes, groups, copies, threads, interrupts. */
#include "photo_folder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "data/folds.h"
#include "data/photo/photos_prepare.h"
#include "data/split.h"
#include "data_helper.h"
#include "image/codec/decode.h"

typedef struct scratch {
    char folder[HELPER_PATH];
    photo_run run;
} scratch;

static int set_up(void **state)
{
    scratch *s = calloc(1, sizeof *s);
    if (!s) return -1;
    temporary_folder(s->folder);
    photo_run_init(&s->run);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scratch *s = *state;
    remove_folder(s->folder);
    free(s);
    return 0;
}

/* ---- what is listed -------------------------------------------------------------------------------------------- */

static void classes_are_folders(void **state)
{
    scratch *s = *state;
    static const char *const names[] = {"Clean/a photo, with blanks.jpg",
                                        "Clean/b.png",
                                        "Clean/it's \"quoted\".jpg",
                                        "Clean/z/deep/er.jpg",
                                        "Dusty/größe €.jpg",
                                        "Dusty/x.jpeg"};
    for (unsigned i = 6; i-- > 0;) save_photo(s->folder, names[i], i);
    broad_data *data = must_read(s->folder, &s->run);
    assert_int_equal(broad_data_rows(data), 6);
    assert_int_equal(broad_data_format(data), BROAD_FORMAT_PHOTOS);
    assert_int_equal(broad_data_task(data), BROAD_TASK_CLASSIFY);
    assert_int_equal(broad_data_outputs(data), 2);
    assert_string_equal(broad_data_output_name(data, 0), "Clean");
    assert_string_equal(broad_data_output_name(data, 1), "Dusty");
    assert_int_equal(broad_data_maps(data), BROAD_PHOTO_MAP_PIXELS);
    assert_string_equal(data->target_name, "class");
    for (size_t i = 0; i < 6; i++) {
        char file[HELPER_PATH];
        const broad_photo *photo = broad_data_photo(data, i);
        join_path(file, s->folder, names[i]);
        assert_string_equal(photo->name, names[i]);
        assert_string_equal(photo->file, file);
        assert_int_equal(broad_data_class(data, i), i > 3);
        assert_int_equal(photo->width, 64);
        assert_int_equal(photo->height, 48);
        assert_true(photo->left == 0 && photo->top == 0 && photo->right == 64 && photo->bottom == 48);
        assert_true(isnan(photo->box_score) && isnan(photo->latitude) && isnan(photo->yaw));
        assert_int_equal(photo->copy, 0);
        assert_int_equal(photo->group, i);
    }
    assert_null(data->groups);
    assert_int_equal(broad_data_skipped_count(data), 0);
    broad_data_free(data);

    broad_data *folder = NULL;
    assert_ok(broad_data_read(&folder, s->folder, &s->run.options));
    assert_int_equal(broad_data_rows(folder), 6);
    broad_data_free(folder);
}

static void inputs_are_those_of_the_picture(void **state)
{
    scratch *s = *state;
    broad__image picture, small;
    draw_flat(&picture, 30, 20, 51, 102, 255);
    save_picture(s->folder, "flat.png", &picture, 0);
    draw_waves(&picture, 7, 64, 48);
    assert_ok(broad__image_resize(&small, &picture, 8, 8));
    save_picture(s->folder, "waves.png", &picture, 0);
    broad_data *data = must_read(s->folder, &s->run);
    assert_int_equal(broad_data_inputs(data), 8 * 8 * 3);
    assert_int_equal(broad_data_task(data), BROAD_TASK_AUTO);
    for (size_t j = 0; j < 192; j++) {
        static const double flat[] = {51 / 255.0, 102 / 255.0, 1};
        assert_true(fabs(broad_data_row(data, 0)[j] - flat[j % 3]) < 1e-6);
        assert_true(fabs(broad_data_row(data, 1)[j] - small.pixels[j] / 255.0) < 1e-6);
    }
    assert_string_equal(broad_data_input_name(data, 0), "pixel 1,1 red");
    broad_data_free(data);
    broad__image_free(&small);
}

static void companions_and_hidden_files(void **state)
{
    scratch *s = *state;
    make_classes(s->folder, 2);
    save_photo(s->folder, ".masks/clean_00.png", 50);
    save_photo(s->folder, "Clean/.hidden.jpg", 51);
    save_photo(s->folder, "Clean/.git/x.jpg", 52);
    save_text(s->folder, "truth.csv", "file,severity\nClean/clean_00.jpg,0\n");
    save_text(s->folder, "notes.txt", "caf\xC3\xA9\n");
    save_text(s->folder, "about.json", "{}\n");
    save_text(s->folder, "Clean/page.html", "<html></html>");
    save_text(s->folder, "Thumbs.db", "\xD0\xCF\x11\xE0\x01\x02");
    broad_data *data = must_read(s->folder, &s->run);
    assert_int_equal(broad_data_rows(data), 4);
    assert_int_equal(broad_data_skipped_count(data), 0);
    broad_data_free(data);
}

static void links(void **state)
{
    scratch *s = *state;
    char target[HELPER_PATH], at[HELPER_PATH];
    make_classes(s->folder, 2);
    join_path(at, s->folder, "Clean/again");
    if (symlink("..", at) != 0) fail_msg("no link");
    join_path(at, s->folder, "Alias");
    if (symlink("Dusty", at) != 0) fail_msg("no link");
    join_path(at, s->folder, "Clean/linked.jpg");
    join_path(target, s->folder, "Dusty/dusty_01.jpg");
    if (symlink(target, at) != 0) fail_msg("no link");
    broad_data *data = must_read(s->folder, &s->run);
    assert_int_equal(broad_data_rows(data), 5);
    assert_int_equal(broad_data_class(data, row_of(data, "Clean/linked.jpg")), 0);
    row_of(data, "Dusty/dusty_00.jpg");
    broad_data_free(data);
}

static void files_and_folders_given(void **state)
{
    scratch *s = *state;
    char file[HELPER_PATH], folder[HELPER_PATH + 2];
    make_classes(s->folder, 2);
    save_text(s->folder, "list.txt", "text\n");
    join_path(file, s->folder, "Dusty/dusty_01.jpg");
    snprintf(folder, sizeof folder, "%.4000s/Clean//", s->folder);
    const char *paths[] = {file, folder};
    broad_data *data = NULL;
    assert_ok(broad_data_read_photos(&data, paths, 2, &s->run.options));
    assert_int_equal(broad_data_rows(data), 3);
    assert_string_equal(broad_data_photo(data, 0)->name, file);
    assert_string_equal(broad_data_photo(data, 1)->name, "clean_00.jpg");
    assert_int_equal(broad_data_task(data), BROAD_TASK_AUTO);
    broad_data_free(data);

    char text[HELPER_PATH];
    join_path(text, s->folder, "list.txt");
    paths[1] = text;
    assert_ok(broad_data_read_photos(&data, paths, 2, &s->run.options));
    assert_skipped(data, "list.txt", "a text, not a picture");
    broad_data_free(data);
}

/* ---- what is left out ------------------------------------------------------------------------------------------ */

static void make_odd_files(const char *folder)
{
    char path[HELPER_PATH];
    size_t count = 0;
    save_photo(folder, "Clean/whole.jpg", 90);
    join_path(path, folder, "Clean/whole.jpg");
    char *content = read_file(&count, path);
    join_path(path, folder, "Clean/cut.jpg");
    write_file(path, content, count / 2);
    free(content);
    join_path(path, folder, "Clean/photo.webp");
    write_file(path, "RIFF\x20\0\0\0WEBPVP8 ", 16);
    join_path(path, folder, "Clean/video.dat");
    write_file(path,
               "\0\0\0\x20"
               "ftypmp42",
               12);
    save_text(folder, "Clean/empty.jpg", "");
    save_text(folder, "Clean/page.jpg", "<!DOCTYPE html><html>not found</html>");
    join_path(path, folder, "Clean/nowhere.jpg");
    if (symlink("not-there.jpg", path) != 0) fail_msg("no link");
    join_path(path, folder, "Clean/pipe");
    if (mkfifo(path, 0666) != 0) fail_msg("no pipe");
}

static void skipped_with_reason(void **state)
{
    scratch *s = *state;
    make_classes(s->folder, 2);
    make_odd_files(s->folder);
    broad_data *data = must_read(s->folder, &s->run);
    assert_int_equal(broad_data_rows(data), 5);
    assert_int_equal(broad_data_skipped_count(data), 7);
    assert_skipped(data, "/Clean/cut.jpg", "");
    assert_skipped(data, "/Clean/photo.webp", "WebP");
    assert_skipped(data, "/Clean/video.dat", "an MP4 or QuickTime video");
    assert_skipped(data, "/Clean/empty.jpg", "the file is empty");
    assert_skipped(data, "/Clean/page.jpg", "a web page");
    assert_skipped(data, "/Clean/nowhere.jpg", "cannot be opened: No such file");
    assert_skipped(data, "/Clean/pipe", "no regular file");
    for (size_t i = 0; i < 7; i++) assert_null(strstr(broad_data_skipped(data, i)->reason, s->folder));
    assert_null(broad_data_skipped(data, 7));
    broad_data_free(data);
}

static void strict_names_the_first(void **state)
{
    scratch *s = *state;
    broad_data *data = NULL;
    make_classes(s->folder, 2);
    save_text(s->folder, "notes.txt", "no photo, and not meant to be one\n");
    s->run.photos.strict = 1;
    broad_data_free(must_read(s->folder, &s->run));
    make_odd_files(s->folder);
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_BAD_DATA, "/Clean/cut.jpg: ");
    assert_non_null(strstr(broad_error_message(), "(and 6 more); without option strict"));
    assert_null(data);
}

static void nothing_to_read(void **state)
{
    scratch *s = *state;
    broad_data *data = NULL;
    char path[HELPER_PATH];
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_BAD_DATA, "no photo in it; give a folder with photos");
    save_text(s->folder, "a.txt", "text\n");
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_BAD_DATA, "no photo in it");
    save_text(s->folder, "a.jpg", "");
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_BAD_DATA, "its only file cannot be used, ");
    save_text(s->folder, "b.jpg", "");
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_BAD_DATA, "none of the 2 files can be used; the first, ");
    assert_non_null(strstr(broad_error_message(), "a.jpg: the file is empty"));
    join_path(path, s->folder, "absent");
    assert_fails(read_run(&data, path, &s->run), BROAD_NO_INPUT, "absent: cannot be opened: No such file");
    assert_fails(broad_data_read_photos(&data, NULL, 0, NULL), BROAD_USAGE, "an argument is NULL");
    const char *none[] = {NULL};
    assert_fails(broad_data_read_photos(&data, none, 0, &s->run.options), BROAD_USAGE, "no photos are given");
}

static void folder_that_cannot_be_read(void **state)
{
    scratch *s = *state;
    char path[HELPER_PATH];
    if (geteuid() == 0) skip();
    make_classes(s->folder, 2);
    make_folder(s->folder, "Clean/locked");
    join_path(path, s->folder, "Clean/locked");
    chmod(path, 0);
    broad_data *data = must_read(s->folder, &s->run);
    assert_int_equal(broad_data_rows(data), 4);
    assert_skipped(data, "/Clean/locked", "the folder cannot be read: Permission denied");
    broad_data_free(data);
    assert_fails(read_run(&data, path, &s->run), BROAD_NO_INPUT, "the folder cannot be read");
    chmod(path, 0777);
}

/* Asked for boxes, one thread at a time. */
typedef struct asked {
    atomic_int at_once;
    int times, most, fail;
} asked;

static int left_corner(broad_box_list *out, const char *file, void *context)
{
    asked *about = context;
    assert_null(strstr(file, ".txt"));
    if (atomic_fetch_add(&about->at_once, 1)) about->most = 2;
    about->times++;
    usleep(2000);
    int status = about->fail ? broad_error_set(about->fail, "it is gone") : broad_box_list_add(out, 0, 0, 16, 16, 0.5);
    assert_fails(broad_box_list_add(out, 3, 0, 3, 16, NAN), BROAD_BAD_DATA, "no width");
    if (status < 0) broad_error_set(status, "it is gone");
    atomic_fetch_sub(&about->at_once, 1);
    return status;
}

static void wrong_options(void **state)
{
    scratch *s = *state;
    broad_data *data = NULL;
    photo_run run = s->run;
    make_classes(s->folder, 2);
#define REFUSED(change, fragment)                                                                                      \
    do {                                                                                                               \
        run = s->run;                                                                                                  \
        run.options.photos = &run.photos;                                                                              \
        change;                                                                                                        \
        assert_fails(read_run(&data, s->folder, &run), BROAD_USAGE, fragment);                                         \
    } while (0)
    REFUSED(run.photos.side = 0, "1 to 512; it is 0");
    REFUSED(run.photos.side = 513, "1 to 512; it is 513");
    REFUSED(run.photos.maps = 8, "pixels, descriptors and windows");
    REFUSED(run.photos.augment = 1001, "at most 1000 augmented copies");
    REFUSED(run.photos.size = 1, "_init");
    REFUSED(run.options.size = 1, "_init");
    REFUSED(run.options.group = "day", "option group names a column, and photos have none");
    REFUSED(run.options.target = "x", "option target names a column, and photos have none");
    REFUSED(run.options.weight = "x", "option weight names a column, and photos have none");
    REFUSED(run.options.categorical = "auto", "option categorical names a column");
    REFUSED(run.photos.crop = BROAD_CROP_BOXES, "these photos are cropped to boxes; give these with option boxes");
    REFUSED(run.photos.crop = BROAD_CROP_DETECTOR, "option detector");
    REFUSED((run.photos.crop = BROAD_CROP_NONE, run.photos.boxes = "b.csv"), "looked at as a whole, but boxes");
    REFUSED(run.photos.crop = (broad_crop)1, "the built-in finder of panels was removed");
    REFUSED(run.photos.crop = (broad_crop)5, "no way of cropping number 5");
    REFUSED((run.photos.boxes = "b.csv", run.photos.find_boxes = left_corner), "not from both");
#undef REFUSED
}

/* ---- targets --------------------------------------------------------------------------------------------------- */

static void photo_without_class(void **state)
{
    scratch *s = *state;
    broad_data *data = NULL;
    make_classes(s->folder, 2);
    save_photo(s->folder, "loose.jpg", 70);
    assert_ok(read_run(&data, s->folder, &s->run));
    assert_int_equal(broad_data_rows(data), 4);
    assert_int_equal(broad_data_skipped_count(data), 1);
    assert_non_null(strstr(broad_data_skipped(data, 0)->file, "/loose.jpg"));
    assert_non_null(strstr(broad_data_skipped(data, 0)->reason, "lies in no folder of a class, but other photos do"));
    broad_data_free(data);
    s->run.photos.strict = 1;
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_BAD_DATA, "/loose.jpg: lies in no folder of a class");
}

static void one_class_only(void **state)
{
    scratch *s = *state;
    broad_data *data = NULL;
    save_photo(s->folder, "Clean/a.jpg", 1);
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_BAD_DATA, "only one class, 'Clean'");
    assert_null(strstr(broad_error_message(), "left out"));
    /* Where the others could not be read, that is the reason. */
    make_folder(s->folder, "Dusty");
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "Dusty/%d.gif", i);
        save_text(s->folder, name, "GIF89a and more");
    }
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_BAD_DATA, "two or more; 4 files were left out: ");
    assert_non_null(
        strstr(broad_error_message(), "/Dusty/2.gif: a GIF picture, which broad does not read, and 1 more"));
    /* To be looked at it is enough, to train on it is not. */
    broad_model *model = NULL;
    broad_options options;
    broad_options_init(&options);
    s->run.options.one_class = 1;
    assert_ok(read_run(&data, s->folder, &s->run));
    assert_int_equal(broad_data_outputs(data), 1);
    assert_int_equal(broad_data_skipped_count(data), 4);
    assert_fails(broad_fit(&model, NULL, data, &options), BROAD_BAD_DATA, "only one class, 'Clean'");
    broad_data_free(data);
}

/* Folders with numbers for names are classes, unless a regression is asked for. */
static void folders_with_numbers(void **state)
{
    scratch *s = *state;
    save_photo(s->folder, "10/a.jpg", 1);
    save_photo(s->folder, "9/b.jpg", 2);
    broad_data *data = must_read(s->folder, &s->run);
    assert_int_equal(broad_data_task(data), BROAD_TASK_CLASSIFY);
    assert_string_equal(broad_data_output_name(data, 0), "9");
    broad_data_free(data);
    s->run.options.task = BROAD_TASK_REGRESS;
    data = must_read(s->folder, &s->run);
    assert_int_equal(broad_data_task(data), BROAD_TASK_REGRESS);
    assert_true(broad_data_value(data, 0, 0) == 10 && broad_data_value(data, 1, 0) == 9);
    broad_data_free(data);
}

static broad_model *fit_tiny(const broad_data *data)
{
    broad_model *model = NULL;
    broad_options options;
    broad_options_init(&options);
    assert_ok(broad_options_preset(&options, BROAD_PRESET_PAPER));
    options.threads = 1;
    options.feature_groups = options.feature_nodes = options.enhance_nodes = options.enhance_layers = 2;
    assert_ok(broad_fit(&model, NULL, data, &options));
    return model;
}

static void reading_for_a_model(void **state)
{
    scratch *s = *state;
    char known[HELPER_PATH], foreign[HELPER_PATH], loose[HELPER_PATH];
    join_path(known, s->folder, "known");
    join_path(foreign, s->folder, "foreign");
    join_path(loose, s->folder, "loose");
    make_folder(s->folder, "known");
    make_folder(s->folder, "foreign");
    make_folder(s->folder, "loose");
    make_classes(known, 4);
    save_photo(foreign, "Dusty/a.jpg", 30);
    save_photo(foreign, "Cracked/b.jpg", 31);
    save_photo(loose, "c.jpg", 32);
    broad_data *data = must_read(known, &s->run), *other = NULL;
    broad_model *model = fit_tiny(data);
    assert_int_equal(broad_model_maps(model), BROAD_PHOTO_MAP_PIXELS);

    /* Maps and side are the model's, whatever the options say. */
    s->run.options.model = model;
    s->run.photos.maps = BROAD_PHOTO_MAP_WINDOWS;
    s->run.photos.side = 32;
    assert_fails(read_run(&other, foreign, &s->run), BROAD_BAD_DATA, "'Cracked'");
    assert_fails(read_run(&other, loose, &s->run), BROAD_BAD_DATA,
                 "the photos have no targets; put those of each class");
    s->run.options.target_optional = 1;
    other = must_read(foreign, &s->run);
    assert_int_equal(broad_data_task(other), BROAD_TASK_AUTO);
    assert_int_equal(broad_data_inputs(other), 192);
    broad_data_free(other);
    assert_ok(broad_data_read(&other, loose, &s->run.options));
    assert_int_equal(broad_data_rows(other), 1);
    broad_data_free(other);
    s->run.options.target_optional = 0;
    s->run.options.new_classes = 1;
    other = must_read(foreign, &s->run);
    assert_int_equal(broad_data_outputs(other), 3);
    assert_string_equal(broad_data_output_name(other, 2), "Cracked");
    assert_int_equal(broad_data_class(other, row_of(other, "Dusty/a.jpg")), 1);
    broad_data_free(other);

    /* A single file, as a table would be given. */
    char file[HELPER_PATH];
    join_path(file, loose, "c.jpg");
    s->run.options.target_optional = 1;
    assert_ok(broad_data_read(&other, file, &s->run.options));
    assert_int_equal(broad_data_rows(other), 1);
    broad_data_free(other);
    s->run.options.model = NULL;
    assert_fails(broad_data_read(&other, file, &s->run.options), BROAD_BAD_DATA, "photos are read from a folder");
    broad_model_free(model);
    broad_data_free(data);
}

static void table_model_and_photos(void **state)
{
    scratch *s = *state;
    broad_data *table = NULL, *photos = NULL;
    broad_read_options plain;
    broad_read_options_init(&plain);
    make_classes(s->folder, 2);
    assert_ok(read_text(&table, "a,b,y\n1,2,n\n2,1,p\n3,5,n\n4,1,p\n", &plain));
    broad_model *model = fit_tiny(table);
    s->run.options.model = model;
    assert_fails(read_run(&photos, s->folder, &s->run), BROAD_BAD_DATA, "trained on a table, not on photos");
    broad_model_free(model);
    broad_data_free(table);
}

/* Photos of pixels alone are scaled as pictures, others column by column. */
static void automatic_scale(void **state)
{
    scratch *s = *state;
    make_classes(s->folder, 6);
    for (unsigned maps = BROAD_PHOTO_MAP_PIXELS; maps <= BROAD_PHOTO_MAP_WINDOWS; maps += 3) {
        s->run.photos.maps = maps;
        broad_data *data = must_read(s->folder, &s->run);
        broad_model *model = NULL;
        char *json = NULL;
        broad_options options;
        broad_options_init(&options);
        options.threads = 1;
        assert_ok(broad_fit(&model, NULL, data, &options));
        assert_ok(broad_model_json(&json, model));
        assert_non_null(strstr(json, maps == BROAD_PHOTO_MAP_PIXELS ? "\"scale\":\"whole\"" : "\"scale\":\"both\""));
        broad_free(json);
        broad_model_free(model);
        broad_data_free(data);
    }
}

/* ---- groups and copies ----------------------------------------------------------------------------------------- */

/* Number 3 is there three times: as it is, saved again, and smaller, once with the other label. */
static void make_alike(const char *folder)
{
    broad__image picture, small;
    make_classes(folder, 8);
    draw_waves(&picture, 3, 64, 48);
    assert_ok(broad__image_resize(&small, &picture, 48, 36));
    save_picture(folder, "Clean/clean_same.png", &picture, 0);
    save_picture(folder, "Dusty/dusty_small.jpg", &small, 80);
}

static void near_duplicates_are_groups(void **state)
{
    scratch *s = *state;
    make_alike(s->folder);
    broad_data *data = must_read(s->folder, &s->run);
    size_t a = row_of(data, "Clean/clean_same.png"), b = row_of(data, "Dusty/dusty_01.jpg");
    size_t c = row_of(data, "Dusty/dusty_small.jpg");
    assert_string_equal(data->group_name, "near-duplicates");
    assert_true(data->groups[a] == data->groups[b] && data->groups[b] == data->groups[c]);
    assert_true(data->photos.items[a].group == a && data->photos.items[b].group == a);
    assert_true(data->classes[a] != data->classes[b]); /* and neither is taken to be right */
    for (size_t i = 0; i < data->rows; i++)
        if (i != a && i != b && i != c) assert_int_equal(data->photos.items[i].group, i);
    for (uint64_t seed = 0; seed < 20; seed++) {
        broad_data *train = NULL, *test = NULL;
        assert_ok(broad__split(&train, &test, data, 0.3, seed));
        size_t apart = 0;
        for (size_t i = 0; i < test->rows; i++) apart += test->photos.items[i].group == a;
        assert_true(apart == 0 || apart == 3);
        broad__table_free(train);
        broad__table_free(test);
    }
    broad_data_free(data);
    s->run.photos.no_groups = 1;
    data = must_read(s->folder, &s->run);
    assert_null(data->groups);
    assert_int_equal(data->photos.items[b].group, b);
    broad_data_free(data);
}

static void all_alike_cannot_be_split(void **state)
{
    scratch *s = *state;
    broad_data *train = NULL, *test = NULL;
    size_t folds[4];
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s/%d.jpg", i % 2 ? "b" : "a", i);
        save_photo(s->folder, name, 5);
    }
    broad_data *data = must_read(s->folder, &s->run);
    assert_fails(broad__split(&train, &test, data, 0.3, 0), BROAD_BAD_DATA, "leaves nothing to train on");
    assert_non_null(strstr(broad_error_message(), "group by a column of option labels instead (option group)"));
    assert_non_null(strstr(broad_error_message(), "option no-groups"));
    assert_fails(broad__folds(folds, data, 2, 0), BROAD_BAD_DATA, "option no-groups");
    broad_data_free(data);
    s->run.photos.no_groups = 1;
    data = must_read(s->folder, &s->run);
    assert_ok(broad__split(&train, &test, data, 0.5, 0));
    broad__table_free(train);
    broad__table_free(test);
    broad_data_free(data);
}

/* No copy is tested on, and no copy of a tested photo is trained on. */
static void check_parts(const broad_data *whole, broad_data *train, broad_data *test, size_t copies)
{
    assert_true(train->rows > 0 && test->rows > 0);
    assert_int_equal(train->rows % (copies + 1), 0);
    assert_int_equal(train->rows + (copies + 1) * test->rows, whole->rows);
    for (size_t i = 0; i < test->rows; i++) {
        assert_int_equal(test->photos.items[i].copy, 0);
        for (size_t j = 0; j < train->rows; j++)
            assert_string_not_equal(test->photos.items[i].name, train->photos.items[j].name);
    }
    broad__table_free(train);
    broad__table_free(test);
}

static void copies_are_for_training(void **state)
{
    scratch *s = *state;
    make_classes(s->folder, 6);
    s->run.photos.augment = 2;
    s->run.photos.seed = 5;
    broad_data *plain_copies = NULL;
    for (int alike = 0; alike < 2; alike++) {
        if (alike) make_alike(s->folder);
        s->run.photos.no_groups = alike;
        broad_data *data = must_read(s->folder, &s->run);
        assert_int_equal(data->rows, 3 * (alike ? 18 : 12));
        assert_string_equal(data->group_name, "photo");
        for (size_t i = 0; i < data->rows; i++) {
            assert_int_equal(data->photos.items[i].copy, i % 3);
            assert_int_equal(data->photos.items[i].group, i - i % 3);
            assert_int_equal(data->groups[i], data->groups[i - i % 3]);
            assert_int_equal(data->classes[i], data->classes[i - i % 3]);
            if (i % 3)
                assert_memory_not_equal(data->x + i * data->inputs, data->x + (i - 1) * data->inputs,
                                        data->inputs * sizeof *data->x);
        }
        for (uint64_t seed = 0; seed < 5; seed++) {
            broad_data *train = NULL, *test = NULL;
            assert_ok(broad__split(&train, &test, data, 0.3, seed));
            check_parts(data, train, test, 2);
            assert_ok(broad__fold(&train, &test, data, 3, (size_t)seed % 3, seed));
            check_parts(data, train, test, 2);
        }
        if (!alike) plain_copies = data;
        else broad_data_free(data);
    }
    /* The copies of a photo do not depend on what else is there, but on the seed. */
    broad_data *one = must_read(s->folder, &s->run);
    size_t row = row_of(one, "Dusty/dusty_03.jpg") + 1, before = row_of(plain_copies, "Dusty/dusty_03.jpg") + 1;
    size_t row_bytes = one->inputs * sizeof *one->x;
    assert_memory_equal(one->x + row * one->inputs, plain_copies->x + before * one->inputs, row_bytes);
    broad_data_free(one);
    s->run.photos.seed = 6;
    one = must_read(s->folder, &s->run);
    assert_memory_not_equal(one->x + row * one->inputs, plain_copies->x + before * one->inputs, row_bytes);
    broad_data_free(one);
    broad_data_free(plain_copies);
}

static void copies_of_near_duplicates(void **state)
{
    scratch *s = *state;
    make_alike(s->folder);
    s->run.photos.augment = 1;
    broad_data *data = must_read(s->folder, &s->run);
    size_t a = row_of(data, "Clean/clean_same.png"), b = row_of(data, "Dusty/dusty_01.jpg");
    assert_string_equal(data->group_name, "near-duplicates");
    assert_int_equal(data->groups[b + 1], data->groups[a]);
    assert_int_equal(data->photos.items[b + 1].group, a);
    assert_int_equal(data->photos.items[b + 1].copy, 1);
    broad_data_free(data);
}

/* The rows a model was trained on are found again, also where photos that look alike were not kept together. */
static void training_rows_again(void **state)
{
    scratch *s = *state;
    broad_split cut;
    broad_split_init(&cut);
    make_alike(s->folder);
    for (int kind = 0; kind < 3; kind++) {
        photo_run run = s->run;
        run.options.photos = &run.photos;
        run.photos.no_groups = kind > 0;
        run.photos.augment = kind == 2;
        broad_data *train = NULL, *test = NULL, *again = NULL, *data = must_read(s->folder, &run);
        assert_ok(broad_data_split(&train, &test, data, &cut));
        broad_model *model = fit_tiny(train);
        broad_data_free(data);
        run.photos.no_groups = 0;
        run.options.model = model;
        data = must_read(s->folder, &run);
        assert_string_equal(data->group_name, "near-duplicates");
        assert_ok(broad_data_training_part(&again, data, model));
        assert_int_equal(train->rows, again->rows);
        assert_memory_equal(train->x, again->x, train->rows * train->inputs * sizeof *train->x);
        assert_true(!train->groups == !again->groups);
        for (size_t i = 0; i < train->rows; i++)
            assert_string_equal(train->photos.items[i].name, again->photos.items[i].name);
        for (size_t i = 0; train->groups && i < train->rows; i++) assert_int_equal(train->groups[i], again->groups[i]);
        broad_data_free(again);
        if (kind == 0) {
            run.photos.no_groups = 1;
            broad_data *ungrouped = must_read(s->folder, &run);
            assert_fails(broad_data_training_part(&again, ungrouped, model), BROAD_USAGE,
                         "grouped by 'near-duplicates'");
            broad_data_free(ungrouped);
        }
        broad_data_free(train);
        broad_data_free(test);
        broad_data_free(data);
        broad_model_free(model);
    }
}

/* ---- boxes ----------------------------------------------------------------------------------------------------- */

/* Left half red, right half blue, and in the middle of the right half a green square. */
static void save_halves(const char *folder, const char *name, size_t width, size_t height)
{
    broad__image picture;
    draw_flat(&picture, width, height, 255, 0, 0);
    for (size_t y = 0; y < height; y++)
        for (size_t x = width / 2; x < width; x++) {
            int green = x >= width * 11 / 16 && x < width * 13 / 16 && y >= height * 3 / 8 && y < height * 5 / 8;
            unsigned char *pixel = picture.pixels + 3 * (y * width + x);
            pixel[0] = 0;
            pixel[green ? 1 : 2] = 255;
        }
    save_picture(folder, name, &picture, 0);
}

static void assert_colour(const broad_data *data, size_t row, double red, double green, double blue)
{
    const double *x = broad_data_row(data, row);
    for (size_t j = 0; j < data->inputs; j += 3)
        assert_true(fabs(x[j] - red) + fabs(x[j + 1] - green) + fabs(x[j + 2] - blue) < 1e-6);
}

static void boxes_are_cut_out(void **state)
{
    scratch *s = *state;
    char boxes[HELPER_PATH], list[1024];
    broad_data *data = NULL;
    save_halves(s->folder, "a.png", 64, 32);
    save_halves(s->folder, "large.png", 1600, 800);
    save_halves(s->folder, "none.png", 64, 64);
    save_halves(s->folder, "outside.png", 64, 48);
    snprintf(list, sizeof list,
             "file,left,top,right,bottom,score\na.png,0,0,32,32,0.5\na.png,44,12,52,20,0.9\na.png,-5,-5,16,900,0.1\n"
             "large.png,1100,300,1300,500,0.7\noutside.png,70,0,90,20,1\n");
    save_text(s->folder, "boxes.csv", list);
    join_path(boxes, s->folder, "boxes.csv");
    s->run.photos.boxes = boxes;
    data = must_read(s->folder, &s->run);
    assert_int_equal(data->rows, 2);
    assert_colour(data, 0, 0, 1, 0);
    assert_colour(data, 1, 0, 1, 0);
    assert_true(data->photos.items[0].left == 44 && data->photos.items[0].bottom == 20);
    assert_true(data->photos.items[0].box_score == 0.9);
    assert_skipped(data, "none.png", "no box in ");
    assert_skipped(data, "outside.png", "holds nothing of the photo, which has 64 x 48 pixels");
    /* A box of 200 pixels in a photo of 1600 is seen with all its pixels. */
    broad__image picture;
    assert_ok(broad__photo_picture(&picture, &data->photos.spec, &data->photos.items[1]));
    assert_true(picture.width == 200 && picture.height == 200);
    broad__image_free(&picture);
    broad_data_free(data);

    s->run.photos.each_box = 1;
    data = must_read(s->folder, &s->run);
    assert_int_equal(data->rows, 4);
    assert_colour(data, 0, 1, 0, 0);
    assert_colour(data, 1, 0, 1, 0);
    assert_colour(data, 2, 1, 0, 0);
    assert_true(data->photos.items[2].left == 0 && data->photos.items[2].bottom == 32);
    assert_int_equal(data->groups[0], data->groups[2]);
    broad_data_free(data);
}

static void boxes_are_asked_for(void **state)
{
    scratch *s = *state;
    asked about = {0};
    save_halves(s->folder, "a.png", 64, 32);
    save_halves(s->folder, "b.png", 128, 64);
    save_text(s->folder, "notes.txt", "not a photo\n");
    s->run.photos.threads = 2;
    s->run.photos.find_boxes = left_corner;
    s->run.photos.find_boxes_context = &about;
    broad_data *data = must_read(s->folder, &s->run);
    assert_int_equal(data->rows, 2);
    assert_int_equal(about.times, 2);
    assert_int_equal(about.most, 0);
    assert_colour(data, 0, 1, 0, 0);
    assert_true(data->photos.items[1].right == 16);
    assert_int_equal(data->photos.spec.crop, BROAD_CROP_DETECTOR);
    broad_data_free(data);
    data = NULL;
    about.fail = BROAD_FAILED; /* for good */
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_FAILED, "it is gone");
    assert_null(data);
    about.fail = BROAD_BAD_DATA; /* of each photo */
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_BAD_DATA, "none of the 2 files can be used");
    assert_null(data);
}

/* The picture of a row, decoded again from the file, gives the inputs of the row. */
static void assert_pictures(const broad_data *data)
{
    broad__photo_maker *maker = broad__photo_maker_open(&data->photos.spec);
    float *inputs = calloc(data->inputs, sizeof *inputs);
    if (!maker || !inputs) fail_msg("no memory");
    for (size_t i = 0; i < data->rows; i++) {
        broad__image picture = {0};
        assert_ok(broad__photo_picture(&picture, &data->photos.spec, &data->photos.items[i]));
        assert_ok(broad__photo_map(inputs, maker, &picture));
        for (size_t j = 0; j < data->inputs; j++) assert_true((double)inputs[j] == broad_data_row(data, i)[j]);
        broad__image_free(&picture);
    }
    free(inputs);
    broad__photo_maker_close(maker);
}

/* A dark panel with bright lines, seen from the front, before a bright wall. */
static void save_panel(const char *folder, const char *name, size_t left)
{
    broad__image picture;
    draw_flat(&picture, 640, 480, 190, 180, 160);
    for (size_t y = 100; y < 380; y++)
        for (size_t x = left; x < left + 320; x++) {
            int line = (x - left) % 40 < 3 || (y - 100) % 40 < 3;
            unsigned char *pixel = picture.pixels + 3 * (y * 640 + x);
            pixel[0] = line ? 200 : 20;
            pixel[1] = line ? 200 : 30;
            pixel[2] = line ? 205 : 80;
        }
    save_picture(folder, name, &picture, 90);
}

static void pictures_of_rows(void **state)
{
    scratch *s = *state;
    save_panel(s->folder, "a.jpg", 40);
    save_panel(s->folder, "b.jpg", 240);
    save_photo(s->folder, "c.jpg", 9);
    s->run.photos.maps = BROAD_PHOTO_MAP_ALL;
    broad_data *data = must_read(s->folder, &s->run);
    assert_pictures(data);
    broad_data_free(data);
    char boxes[HELPER_PATH];
    save_text(s->folder, "boxes.csv",
              "file,x,y,width,height\na.jpg,50,110,30,60\nb.jpg,250,110,300,200\nc.jpg,1,1,9,9\n");
    join_path(boxes, s->folder, "boxes.csv");
    s->run.photos.crop = BROAD_CROP_MODEL;
    s->run.photos.boxes = boxes;
    data = must_read(s->folder, &s->run);
    assert_int_equal(data->rows, 3);
    assert_pictures(data);
    broad__image picture = {0};
    broad_photo moved = data->photos.items[0];
    moved.file = "/does/not/exist.jpg";
    assert_fails(broad__photo_picture(&picture, &data->photos.spec, &moved), BROAD_NO_INPUT, "cannot be opened");
    moved = data->photos.items[0];
    moved.width++;
    assert_fails(broad__photo_picture(&picture, &data->photos.spec, &moved), BROAD_IO, "no longer what it was");
    broad_data_free(data);
}

/* Time and place come from EXIF, and a photo that lies on its side is turned before its box is cut out. */
static void what_the_camera_says(void **state)
{
    scratch *s = *state;
    char path[HELPER_PATH], boxes[HELPER_PATH];
    /* TIFF, Motorola order: orientation 6 (turn right), DateTime "2016:01:19 17:00:07". */
    static const unsigned char exif[] = "\xFF\xE1\x00\x42"
                                        "Exif\0\0"
                                        "MM\0\x2A\0\0\0\x08"
                                        "\0\x02"
                                        "\x01\x12\0\x03\0\0\0\x01\0\x06\0\0"
                                        "\x01\x32\0\x02\0\0\0\x14\0\0\0\x26"
                                        "\0\0\0\0"
                                        "2016:01:19 17:00:07";
    broad__image picture;
    draw_flat(&picture, 64, 32, 255, 0, 0); /* stored: red above, blue below; upright: blue left, red right */
    for (size_t i = 64 * 16; i < 64 * 32; i++) {
        picture.pixels[3 * i] = 0;
        picture.pixels[3 * i + 2] = 255;
    }
    save_picture(s->folder, "a.jpg", &picture, 100);
    join_path(path, s->folder, "a.jpg");
    size_t count = 0;
    char *content = read_file(&count, path);
    FILE *file = fopen(path, "wb");
    if (!file) fail_msg("no file");
    fwrite(content, 1, 2, file);
    fwrite(exif, 1, sizeof exif, file);
    fwrite(content + 2, 1, count - 2, file);
    fclose(file);
    free(content);
    save_text(s->folder, "boxes.csv", "file,left,top,right,bottom\na.jpg,2,2,14,62\n");
    join_path(boxes, s->folder, "boxes.csv");
    s->run.photos.boxes = boxes;
    broad_data *data = must_read(s->folder, &s->run);
    const broad_photo *photo = broad_data_photo(data, 0);
    assert_int_equal(photo->width, 32);
    assert_int_equal(photo->height, 64);
    assert_string_equal(photo->time, "2016-01-19T17:00:07");
    assert_true(isnan(photo->latitude) && isnan(photo->altitude));
    for (size_t j = 0; j < data->inputs; j += 3)
        assert_true(broad_data_row(data, 0)[j] < 0.1 && broad_data_row(data, 0)[j + 2] > 0.9);
    broad_data_free(data);
}

/* ---- threads, progress, memory --------------------------------------------------------------------------------- */

static void threads_do_not_matter(void **state)
{
    scratch *s = *state;
    make_alike(s->folder);
    make_odd_files(s->folder);
    s->run.photos.augment = 1;
    broad_data *one = must_read(s->folder, &s->run);
    s->run.photos.threads = 3;
    broad_data *three = must_read(s->folder, &s->run);
    assert_same_rows(one, three);
    assert_int_equal(broad_data_skipped_count(one), broad_data_skipped_count(three));
    for (size_t i = 0; i < broad_data_skipped_count(one); i++)
        assert_string_equal(broad_data_skipped(one, i)->file, broad_data_skipped(three, i)->file);
    broad_data_free(one);
    broad_data_free(three);
}

typedef struct watcher {
    pthread_t thread;
    size_t calls, last, total, stop_at;
} watcher;

static int watch(const broad_progress *progress, void *context)
{
    watcher *w = context;
    size_t done = progress->done, total = progress->total;
    assert_string_equal(progress->stage, "photos");
    assert_true(pthread_equal(w->thread, pthread_self()));
    assert_true(done >= w->last && done <= total);
    w->calls++;
    w->last = done;
    w->total = total;
    return w->stop_at && done >= w->stop_at;
}

static void progress_and_interrupt(void **state)
{
    scratch *s = *state;
    watcher w = {.thread = pthread_self()};
    make_classes(s->folder, 10);
    s->run.options.progress = watch;
    s->run.options.progress_context = &w;
    for (size_t threads = 1; threads <= 2; threads++) {
        s->run.photos.threads = threads;
        w = (watcher){.thread = pthread_self()};
        broad_data_free(must_read(s->folder, &s->run));
        assert_true(w.calls >= 2 && w.last == 20 && w.total == 20);
        broad_data *data = NULL;
        w = (watcher){.thread = pthread_self(), .stop_at = 1};
        assert_fails(read_run(&data, s->folder, &s->run), BROAD_INTERRUPTED, "of 20 files");
        assert_null(data);
    }
    s->run.options.progress_context = NULL;
}

/* Whichever request for memory fails, all is released. */
static void memory_runs_out(void **state)
{
    scratch *s = *state;
    memory_watch memory;
    make_classes(s->folder, 2);
    save_photo(s->folder, "Clean/again.png", 0);
    save_text(s->folder, "Clean/bad.jpg", "");
    s->run.photos.augment = 1;
    size_t failed_at = 0;
    for (size_t n = 1;; n++) {
        broad_data *data = NULL;
        watch_start(&memory, n);
        int status = read_run(&data, s->folder, &s->run);
        broad_data_free(data);
        watch_stop();
        if (memory.live) fail_msg("request %zu: %zu blocks are left", n, memory.live);
        if (memory.requests < n) break;
        if (status != BROAD_NO_MEMORY)
            fail_msg("request %zu: %s: %s", n, broad_status_name(status), broad_error_message());
        failed_at = n;
    }
    assert_true(failed_at > 50);
}

/* ---- damage ---------------------------------------------------------------------------------------------------- */

static void mutated_files(void **state)
{
    scratch *s = *state;
    enum { FILES = 200 };
    unsigned noise = 77;
    char path[HELPER_PATH];
    for (unsigned i = 0; i < FILES; i++) {
        char name[32];
        size_t count = 0;
        snprintf(name, sizeof name, "%03u.%s", i, i % 2 ? "png" : "jpg");
        save_photo(s->folder, name, i % 8);
        join_path(path, s->folder, name);
        char *content = read_file(&count, path);
        for (unsigned k = 0; k < 1 + i % 7; k++) {
            size_t at = (size_t)(wave_number(&noise) * (double)count);
            content[at < 3 ? 3 : at] = (char)(wave_number(&noise) * 256);
        }
        if (i % 5 == 0) count = (size_t)((double)count * wave_number(&noise));
        write_file(path, content, count);
        free(content);
    }
    s->run.photos.threads = 2;
    broad_data *data = must_read(s->folder, &s->run);
    assert_int_equal(broad_data_rows(data) + broad_data_skipped_count(data), FILES);
    assert_true(broad_data_rows(data) > 10 && broad_data_skipped_count(data) > 20);
    for (size_t i = 0; i < broad_data_skipped_count(data); i++) assert_true(*broad_data_skipped(data, i)->reason != 0);
    broad_data_free(data);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(classes_are_folders),
        TEST(inputs_are_those_of_the_picture),
        TEST(companions_and_hidden_files),
        TEST(links),
        TEST(files_and_folders_given),
        TEST(skipped_with_reason),
        TEST(strict_names_the_first),
        TEST(nothing_to_read),
        TEST(folder_that_cannot_be_read),
        TEST(wrong_options),
        TEST(photo_without_class),
        TEST(one_class_only),
        TEST(folders_with_numbers),
        TEST(reading_for_a_model),
        TEST(table_model_and_photos),
        TEST(automatic_scale),
        TEST(near_duplicates_are_groups),
        TEST(all_alike_cannot_be_split),
        TEST(copies_are_for_training),
        TEST(copies_of_near_duplicates),
        TEST(training_rows_again),
        TEST(boxes_are_cut_out),
        TEST(boxes_are_asked_for),
        TEST(pictures_of_rows),
        TEST(what_the_camera_says),
        TEST(threads_do_not_matter),
        TEST(progress_and_interrupt),
        TEST(memory_runs_out),
        TEST(mutated_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
