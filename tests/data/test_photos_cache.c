/* The cache of prepared photos: what it returns, what it does not believe, how it stays small. */
#include "photo_folder.h"

#include <sys/time.h>

#include "base/hash.h"
#include "data/photo/photos_cache.h"

typedef struct scratch {
    char folder[HELPER_PATH], photos[HELPER_PATH], cache[HELPER_PATH];
    photo_run run;
} scratch;

static int set_up(void **state)
{
    scratch *s = calloc(1, sizeof *s);
    if (!s) return -1;
    temporary_folder(s->folder);
    join_path(s->photos, s->folder, "photos");
    join_path(s->cache, s->folder, "made/by/itself");
    make_folder(s->folder, "photos");
    make_classes(s->photos, 3);
    photo_run_init(&s->run);
    s->run.photos.cache = s->cache;
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

static broad_data *without_cache(const scratch *s)
{
    photo_run run = s->run;
    run.options.photos = &run.photos;
    run.photos.cache = NULL;
    return must_read(s->photos, &run);
}

/* ---- looking into it ---- */

static struct {
    size_t files, temporary;
    char last[HELPER_PATH];
} census;

static int count_entry(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    if (kind != FTW_F) return 0;
    census.files++;
    census.temporary += path[place->base] == '.';
    snprintf(census.last, sizeof census.last, "%s", path);
    return 0;
}

static size_t entries(const scratch *s)
{
    memset(&census, 0, sizeof census);
    nftw(s->cache, count_entry, 16, FTW_PHYS);
    assert_int_equal(census.temporary, 0);
    return census.files;
}

static void same_as_without(void **state)
{
    scratch *s = *state;
    broad_data *plain = without_cache(s), *first = must_read(s->photos, &s->run);
    assert_int_equal(entries(s), 6);
    broad_data *second = must_read(s->photos, &s->run);
    assert_same_rows(plain, first);
    assert_same_rows(plain, second);
    broad_data_free(plain);
    broad_data_free(first);
    broad_data_free(second);
}

/* An entry whose numbers were changed, with a seal that fits, shows that entries are what is read. */
static void it_is_used(void **state)
{
    scratch *s = *state;
    size_t count = 0;
    broad_data_free(must_read(s->photos, &s->run));
    assert_int_equal(entries(s), 6);
    char *content = read_file(&count, census.last);
    float changed = 42;
    memcpy(content + count - sizeof changed, &changed, sizeof changed);
    broad__hash_text(content, content + 40, count - 40);
    write_file(census.last, content, count);
    broad_data *data = must_read(s->photos, &s->run);
    size_t found = 0;
    for (size_t i = 0; i < data->rows; i++) found += broad_data_row(data, i)[data->inputs - 1] == 42;
    assert_int_equal(found, 1);
    broad_data_free(data);
    free(content);
}

/* A copy of a photo under another name has the same entry; another photo under an old name has not. */
static void by_content_and_not_by_name(void **state)
{
    scratch *s = *state;
    broad_data_free(must_read(s->photos, &s->run));
    save_photo(s->photos, "Dusty/copy.jpg", 0);
    broad_data_free(must_read(s->photos, &s->run));
    assert_int_equal(entries(s), 6);
    save_photo(s->photos, "Dusty/copy.jpg", 77);
    broad_data *data = must_read(s->photos, &s->run), *plain = without_cache(s);
    assert_same_rows(plain, data);
    assert_int_equal(entries(s), 7);
    broad_data_free(data);
    broad_data_free(plain);
}

static void damage_is_not_believed(void **state)
{
    scratch *s = *state;
    broad_data *plain = without_cache(s);
    size_t count = 0;
    broad_data_free(must_read(s->photos, &s->run));
    entries(s);
    char path[HELPER_PATH];
    snprintf(path, sizeof path, "%s", census.last);
    char *whole = read_file(&count, path);
    for (int kind = 0; kind < 5; kind++) {
        char *bad = read_file(NULL, path);
        size_t length = count;
        if (kind == 0) bad[count / 2] ^= 1;
        if (kind == 1) length = count / 2;
        if (kind == 2) length = 0;
        if (kind == 3) bad[5] ^= 1;
        if (kind == 4) { /* a row too many, well sealed */
            bad[48]++;
            broad__hash_text(bad, bad + 40, count - 40);
        }
        write_file(path, bad, length);
        free(bad);
        broad_data *data = must_read(s->photos, &s->run);
        assert_same_rows(plain, data);
        broad_data_free(data);
        size_t again = 0;
        char *mended = read_file(&again, path);
        assert_int_equal(again, count);
        assert_memory_equal(mended, whole, count);
        free(mended);
    }
    free(whole);
    broad_data_free(plain);
}

/* What the inputs depend on is in the key; maps are not, but come together in one entry. */
static void what_counts(void **state)
{
    scratch *s = *state;
    static const unsigned maps[] = {BROAD_PHOTO_MAP_PIXELS, BROAD_PHOTO_MAP_WINDOWS,
                                    BROAD_PHOTO_MAP_PIXELS | BROAD_PHOTO_MAP_WINDOWS, BROAD_PHOTO_MAP_PIXELS};
    for (size_t i = 0; i < 4; i++) {
        s->run.photos.maps = maps[i];
        broad_data *plain = without_cache(s), *data = must_read(s->photos, &s->run);
        assert_same_rows(plain, data);
        assert_int_equal(entries(s), 6);
        broad_data_free(plain);
        broad_data_free(data);
    }
    s->run.photos.side = 9;
    broad_data_free(must_read(s->photos, &s->run));
    assert_int_equal(entries(s), 12);
    s->run.photos.seed = 4; /* does not matter without copies */
    broad_data_free(must_read(s->photos, &s->run));
    assert_int_equal(entries(s), 12);
    s->run.photos.augment = 1;
    for (int i = 0; i < 2; i++) {
        broad_data *plain = without_cache(s), *data = must_read(s->photos, &s->run);
        assert_same_rows(plain, data);
        broad_data_free(plain);
        broad_data_free(data);
    }
    assert_int_equal(entries(s), 18);
    s->run.photos.seed = 5;
    broad_data_free(must_read(s->photos, &s->run));
    assert_int_equal(entries(s), 24);
}

static void boxes_count(void **state)
{
    scratch *s = *state;
    char boxes[HELPER_PATH], all[4096] = "file,left,top,right,bottom\n";
    join_path(boxes, s->folder, "boxes.csv");
    for (int i = 0; i < 6; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s_%02d.jpg,%d,4,40,30\n", i % 2 ? "dusty" : "clean", i / 2, i);
        strcat(all, line);
    }
    write_text(boxes, all);
    s->run.photos.boxes = boxes;
    for (int i = 0; i < 2; i++) {
        broad_data *plain = without_cache(s), *data = must_read(s->photos, &s->run);
        assert_int_equal(data->rows, 6);
        assert_same_rows(plain, data);
        broad_data_free(plain);
        broad_data_free(data);
    }
    assert_int_equal(entries(s), 6);
    strstr(all, "clean_01.jpg")[15] = '5'; /* its top */
    write_text(boxes, all);
    broad_data *plain = without_cache(s), *data = must_read(s->photos, &s->run);
    assert_same_rows(plain, data);
    assert_int_equal(entries(s), 7);
    broad_data_free(plain);
    broad_data_free(data);
}

static void never_fatal(void **state)
{
    scratch *s = *state;
    char path[HELPER_PATH];
    broad_data *plain = without_cache(s);
    save_text(s->folder, "file", "a file where the folder should be");
    join_path(path, s->folder, "file");
    const char *places[] = {path, "/proc/no-such-place/cache", "", "/dev/null/x"};
    for (size_t i = 0; i < 4; i++) {
        s->run.photos.cache = places[i];
        broad_data *data = must_read(s->photos, &s->run);
        assert_same_rows(plain, data);
        broad_data_free(data);
    }
    /* A folder in the place of an entry's shelf, and a file in the place of a shelf. */
    s->run.photos.cache = s->cache;
    broad_data_free(must_read(s->photos, &s->run));
    entries(s);
    char entry[HELPER_PATH];
    snprintf(entry, sizeof entry, "%s", census.last);
    remove_folder(entry);
    if (mkdir(entry, 0777) != 0) fail_msg("no folder");
    broad_data *data = must_read(s->photos, &s->run);
    assert_same_rows(plain, data);
    broad_data_free(data);
    broad_data_free(plain);
}

static void set_age(const char *path, long seconds)
{
    struct timeval times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    if (utimes(path, times) != 0) fail_msg("no time for %s", path);
}

static void the_oldest_go(void **state)
{
    scratch *s = *state;
    enum { ENTRIES = 20 };
    char path[HELPER_PATH], keys[ENTRIES][BROAD__HASH_TEXT];
    float inputs[12] = {1};
    broad__photo_part part = {.right = 1};
    broad__prepared prepared = {.maps = BROAD_PHOTO_MAP_PIXELS, .rows = 1, .parts = &part, .inputs = inputs}, found;
    broad__photo_cache *cache = NULL;
    assert_ok(broad__photo_cache_open(&cache, s->cache));
    struct stat about;
    for (int i = 0; i < ENTRIES; i++) {
        broad__hash_text(keys[i], &i, sizeof i);
        broad__photo_cache_store(cache, keys[i], &prepared, 2);
        snprintf(path, sizeof path, "%.4000s/%.2s/%s", s->cache, keys[i], keys[i]);
        set_age(path, 1000000000 + 1000L * i);
        if (stat(path, &about) != 0) fail_msg("no %s", path);
    }
    /* What is not an entry stays, whatever its age. */
    save_text(s->cache, "README", "mine");
    set_age((join_path(path, s->cache, "README"), path), 1);
    snprintf(path, sizeof path, "%.4000s/%.2s/notes.txt", s->cache, keys[3]);
    write_text(path, "mine");
    set_age(path, 1);
    /* Entry 2 was used just now. */
    assert_ok(broad__photo_cache_load(&found, cache, keys[2], 2));
    assert_int_equal(found.rows, 1);
    broad__prepared_clear(&found);
    broad__photo_cache_close(cache, 16 * (size_t)about.st_size);
    assert_int_equal(entries(s), 14 + 2);
    assert_ok(broad__photo_cache_open(&cache, s->cache));
    for (int i = 0; i < ENTRIES; i++) {
        assert_ok(broad__photo_cache_load(&found, cache, keys[i], 2));
        assert_int_equal(found.rows, i == 2 || i > 6);
        broad__prepared_clear(&found);
    }
    broad__photo_cache_close(cache, 0); /* nothing was written: nothing is looked through */
    assert_int_equal(entries(s), 14 + 2);
}

static void several_threads(void **state)
{
    scratch *s = *state;
    for (unsigned i = 0; i < 20; i++) {
        char name[64];
        snprintf(name, sizeof name, "Clean/same_%02u.jpg", i);
        save_photo(s->photos, name, i % 2); /* the same entry from several threads */
    }
    broad_data *plain = without_cache(s);
    s->run.photos.threads = 4;
    for (int i = 0; i < 2; i++) {
        broad_data *data = must_read(s->photos, &s->run);
        assert_same_rows(plain, data);
        broad_data_free(data);
    }
    assert_int_equal(entries(s), 6);
    broad_data_free(plain);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(same_as_without),
        TEST(it_is_used),
        TEST(by_content_and_not_by_name),
        TEST(damage_is_not_believed),
        TEST(what_counts),
        TEST(boxes_count),
        TEST(never_fatal),
        TEST(the_oldest_go),
        TEST(several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
