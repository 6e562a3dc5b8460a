/* Photos that ranks read together: each decodes some of them, and everything comes out as on one process. */
#include "photo_folder.h"
#include "wired_ranks.h"

#include "base/hash.h"
#include "base/status.h"

enum { PER_CLASS = 5 };

static char folder[HELPER_PATH];

static int make_photos(void **state)
{
    (void)state;
    temporary_folder(folder);
    make_classes(folder, PER_CLASS);
    save_photo(folder, "Clean/again.jpg", 2); /* a near-duplicate of clean_01.jpg */
    save_text(folder, "Dusty/broken.jpg", "\xff\xd8\xff no photo\n");
    save_text(folder, "Clean/notes.txt", "no photo, and not meant to be one\n");
    save_photo(folder, "stray.png", 40); /* in no folder of a class */
    return 0;
}

static int drop_photos(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

typedef struct photo_case {
    const char *name;
    size_t threads, augment;
    int boxes; /* a detector is asked for them */
    int fail;  /* what it says of dusty_03.jpg, and of everything if it is not BROAD_BAD_DATA */
    int strict, other_folder;
} photo_case;

typedef struct asking {
    int fail;
    size_t times;
} asking;

static int two_boxes(broad_box_list *out, const char *file, void *context)
{
    asking *about = context;
    about->times++;
    if (about->fail && strstr(file, "dusty_03")) return broad_error_set(about->fail, "the detector is gone");
    int status = broad_box_list_add(out, 0, 0, 40, 40, 0.5);
    return status < 0 ? status : broad_box_list_add(out, 8, 8, 60, 44, 0.75);
}

static void add_rows(broad__hash *hash, const broad_data *data)
{
    broad__hash_add(hash, data->x, data->rows * data->inputs * sizeof *data->x);
    if (data->groups) broad__hash_add(hash, data->groups, data->rows * sizeof *data->groups);
    for (size_t i = 0; i < data->rows; i++) {
        const broad_photo *p = broad_data_photo(data, i);
        size_t about[] = {p->width, p->height, p->copy, p->group, p->faults, broad_data_class(data, i)};
        double box[] = {p->left, p->top, p->right, p->bottom};
        broad__hash_add(hash, p->name, strlen(p->name));
        broad__hash_add(hash, p->content, sizeof p->content);
        broad__hash_add(hash, about, sizeof about);
        broad__hash_add(hash, box, sizeof box);
    }
    for (size_t i = 0; i < broad_data_skipped_count(data); i++) {
        broad__hash_add(hash, broad_data_skipped(data, i)->file, strlen(broad_data_skipped(data, i)->file));
        broad__hash_add(hash, broad_data_skipped(data, i)->reason, strlen(broad_data_skipped(data, i)->reason));
    }
}

/* A rank has asked for the boxes of its share of the files alone. */
static void check_times(size_t times, const broad_comm *comm)
{
    enum { LOOKED_INTO = 2 * PER_CLASS + 3, FILES = LOOKED_INTO + 1 };
    size_t most = comm ? (FILES + comm->ranks - 1) / comm->ranks : LOOKED_INTO;
    if (times > most || (!comm && times < LOOKED_INTO - 1))
        must(broad__fail(BROAD_BUG, "%zu photos were looked into, not %zu", times, most));
}

static void photo_job(char out[RESULT], const broad_comm *comm, const void *context)
{
    const photo_case *c = context;
    photo_run run;
    asking about = {.fail = c->fail};
    broad_data *data = NULL;
    char text[BROAD__HASH_TEXT] = "", path[HELPER_PATH];
    photo_run_init(&run);
    run.options.comm = comm;
    run.photos.threads = c->threads;
    run.photos.augment = c->augment;
    run.photos.strict = c->strict;
    run.photos.each_box = c->boxes;
    run.photos.find_boxes = c->boxes ? two_boxes : NULL;
    run.photos.find_boxes_context = &about;
    if (c->boxes) run.photos.crop = BROAD_CROP_DETECTOR;
    join_path(path, folder, c->other_folder && comm && comm->rank == 1 ? "Dusty" : "");
    int status = read_run(&data, path, &run);
    if (c->boxes && !c->fail) check_times(about.times, comm);
    if (status == BROAD_OK) {
        broad__hash *hash = broad__hash_open();
        add_rows(hash, data);
        broad__hash_close(text, hash);
        snprintf(out, RESULT, "%s %zu rows, %zu left out", text, data->rows, broad_data_skipped_count(data));
    } else
        snprintf(out, RESULT, "%d %.130s", status, broad_error_message() + strlen(folder) * (status == BROAD_BAD_DATA));
    broad_data_free(data);
}

static const photo_case CASES[] = {
    {.name = "plain", .threads = 1},
    {.name = "copies, threads", .threads = 2, .augment = 2},
    {.name = "boxes", .threads = 2, .boxes = 1},
    {.name = "one photo cannot be used", .threads = 1, .boxes = 1, .fail = BROAD_BAD_DATA},
    {.name = "a detector fails for good", .threads = 1, .boxes = 1, .fail = BROAD_FAILED},
    {.name = "strict", .threads = 1, .strict = 1},
};

static void photos_are_read_as_by_one_process(void **state)
{
    (void)state;
    const size_t ranks[] = {2, 3, 8, 20}; /* more ranks than files: some have none */
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char alone[RESULT];
        photo_job(alone, NULL, &CASES[i]);
        print_message("%s: %s\n", CASES[i].name, alone);
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
            run_ranks(ranks[r], r % 2, photo_job, &CASES[i], alone);
    }
}

/* A folder that is not shared, or not yet the same everywhere. */
static void ranks_that_see_other_photos_are_refused(void **state)
{
    (void)state;
    const photo_case c = {.threads = 1, .other_folder = 1};
    run_ranks(
        3, 0, photo_job, &c,
        "-65 /Dusty: rank 1 finds 6 files there and rank 0 finds 14, or others; all ranks must see the same photos");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(photos_are_read_as_by_one_process),
        cmocka_unit_test(ranks_that_see_other_photos_are_refused),
    };
    return cmocka_run_group_tests(tests, make_photos, drop_photos);
}
