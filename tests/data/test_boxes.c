/* Box files of the three formats, written here and read back; what is wrong with bad ones. */
#include "data_helper.h"
#include "folder.h"

#include <sys/stat.h>

#include "data/photo/boxes.h"

static const char *write_here(const char *name, const char *text)
{
    static char path[HELPER_PATH];
    join_path(path, folder, name);
    write_text(path, text);
    return path;
}

static void make_inner(const char *name)
{
    char path[HELPER_PATH];
    join_path(path, folder, name);
    assert_int_equal(mkdir(path, 0777), 0);
}

static broad_box_list found(const broad__boxes *boxes, const char *name)
{
    broad_box_list list = {0};
    assert_ok(broad__boxes_find(&list, boxes, name));
    return list;
}

/* The boxes of `name`: as many as given, with these sides; score NaN: not told. */
static void expect(const broad__boxes *boxes, const char *name, size_t count, const double (*sides)[5], int relative)
{
    broad_box_list list = found(boxes, name);
    if (list.count != count) fail_msg("%s: %zu boxes and not %zu", name, list.count, count);
    for (size_t i = 0; i < count; i++) {
        const broad__box *box = &list.items[i];
        double have[] = {box->left, box->top, box->right, box->bottom};
        for (size_t k = 0; k < 4; k++)
            if (!(fabs(have[k] - sides[i][k]) < 1e-12))
                fail_msg("%s: side %zu of box %zu is %g and not %g", name, k, i, have[k], sides[i][k]);
        assert_true(isnan(sides[i][4]) ? isnan(box->score) : box->score == sides[i][4]);
        assert_int_equal(box->relative, relative);
    }
    broad__box_list_clear(&list);
}

static void expect_count(const broad__boxes *boxes, const char *name, size_t count)
{
    broad_box_list list = found(boxes, name);
    if (list.count != count) fail_msg("%s: %zu boxes and not %zu", name, list.count, count);
    broad__box_list_clear(&list);
}

static void test_csv(void **state)
{
    (void)state;
    broad__boxes *boxes;
    const char *path = write_here("a.csv", "label,file,left,top,right,bottom,score\n"
                                           "x,Dusty/a.jpg,1,2,30,40,0.5\n"
                                           "y,\"Clean/b, 2.png\",-3,0.5,9,8,\n"
                                           "x,./Dusty/a.jpg,5,6,7,8.25,0.25\n"
                                           "x,Dusty\\c.jpg,5,6,7,8,1\n");
    assert_ok(broad__boxes_read(&boxes, path));
    expect(boxes, "Dusty/a.jpg", 2, (const double[][5]){{1, 2, 30, 40, 0.5}, {5, 6, 7, 8.25, 0.25}}, 0);
    expect(boxes, "Clean/b, 2.png", 1, (const double[][5]){{-3, 0.5, 9, 8, NAN}}, 0);
    expect(boxes, "Dusty/c.jpg", 1, (const double[][5]){{5, 6, 7, 8, 1}}, 0);
    expect_count(boxes, "Dusty/z.jpg", 0);
    broad__boxes_free(boxes);

    /* Parts of the sides, sizes instead of far sides, another separator, names in capitals. */
    path = write_here("b.csv", "\xEF\xBB\xBF"
                               "FileName;X;Y;Width;Height;Confidence\r\na.jpg;0;0.25;0.5;0.75;0.9\r\n\r\n");
    assert_ok(broad__boxes_read(&boxes, path));
    expect(boxes, "a.jpg", 1, (const double[][5]){{0, 0.25, 0.5, 1, 0.9}}, 1);
    broad__boxes_free(boxes);

    path = write_here("c.csv", "image,width,height,xmin,ymin,xmax,ymax\na.jpg,640,480,10,20,30,40\n");
    assert_ok(broad__boxes_read(&boxes, path));
    expect(boxes, "a.jpg", 1, (const double[][5]){{10, 20, 30, 40, NAN}}, 0);
    broad__boxes_free(boxes);

    assert_ok(broad__boxes_read(&boxes, write_here("d.csv", "file,left,top,right,bottom\n")));
    expect_count(boxes, "a.jpg", 0);
    broad__boxes_free(boxes);
}

static void test_yolo(void **state)
{
    (void)state;
    broad__boxes *boxes;
    make_inner("labels");
    make_inner("labels/Dusty");
    write_here("labels/Dusty/a.txt", "0 0.5 0.5 0.5 0.25\n\n  2\t0.25 0.75 0.5 0.5 0.875\r\n");
    write_here("labels/b.c.txt", "1 0.5 0.5 1 1");
    write_here("labels/none.txt", "");
    write_here("labels/classes.txt", "panel\n");
    write_here("labels/notes.md", "no boxes\n");
    write_here("labels/.hidden.txt", "no boxes\n");
    char path[HELPER_PATH];
    join_path(path, folder, "labels");
    assert_ok(broad__boxes_read(&boxes, path));
    expect(boxes, "Dusty/a.jpg", 2, (const double[][5]){{0.25, 0.375, 0.75, 0.625, NAN}, {0, 0.5, 0.5, 1, 0.875}}, 1);
    expect(boxes, "b.c.png", 1, (const double[][5]){{0, 0, 1, 1, NAN}}, 1);
    expect_count(boxes, "b.jpg", 0);
    expect_count(boxes, "none.jpg", 0);
    expect_count(boxes, "classes.jpg", 0);
    expect_count(boxes, "notes.jpg", 0);
    broad__boxes_free(boxes);
}

static void test_coco(void **state)
{
    (void)state;
    broad__boxes *boxes;
    const char *path = write_here(
        "coco.json", "\n {\"info\": {}, \"images\": [{\"id\": 7, \"file_name\": \"Dusty/a.jpg\", \"width\": 9},"
                     "{\"id\": \"b\", \"file_name\": \"Clean/a.jpg\"}, {\"id\": 8, \"file_name\": \"c.jpg\"}],"
                     "\"annotations\": [{\"id\": 1, \"image_id\": 7, \"bbox\": [1, 2.5, 10, 20], \"score\": 0.5},"
                     "{\"image_id\": \"b\", \"bbox\": [0, 0, 1, 1], \"score\": null, \"category_id\": 3},"
                     "{\"image_id\": 7, \"bbox\": [-1, 2, 10, 20]}]}");
    assert_ok(broad__boxes_read(&boxes, path));
    expect(boxes, "Dusty/a.jpg", 2, (const double[][5]){{1, 2.5, 11, 22.5, 0.5}, {-1, 2, 9, 22, NAN}}, 0);
    expect(boxes, "Clean/a.jpg", 1, (const double[][5]){{0, 0, 1, 1, NAN}}, 0);
    expect_count(boxes, "c.jpg", 0);
    broad__boxes_free(boxes);
}

static void test_names(void **state)
{
    (void)state;
    static const char text[] = "file,left,top,right,bottom\n"
                               "run/Dusty/a.jpg,1,0,9,9\n"
                               "run/Clean/a.jpg,2,0,9,9\n"
                               "b.jpg,3,0,9,9\n"
                               "old/c.png,4,0,9,9\n"
                               "d.jpg,5,0,9,9\n"
                               "d.png,6,0,9,9\n"
                               "x/e.jpg,7,0,9,9\n"
                               "y/e.jpg,8,0,9,9\n"
                               "xy/f.jpg,9,0,10,9\n"
                               "z/f.jpg,9,0,10,9\n";
    /* Name of the photo, and the left side of the box that is its; 0: none, -1: ambiguous. */
    static const struct {
        const char *name;
        double left;
    } cases[] = {
        {"run/Dusty/a.jpg", 1},
        {"Dusty/a.jpg", 1},
        {"Clean/a.jpg", 2},
        {"Clean/a.png", 2},
        {"a.jpg", -1},
        {"other/a.jpg", -1},
        {"b.jpg", 3},
        {"Dusty/b.jpg", 3},
        {"b.jpeg", 3},
        {"new/c.png", 4},
        {"new/c.jpg", 4},
        {"d.jpg", 5},
        {"d.png", 6},
        {"z/d.png", 6},
        {"d.jpeg", -1},
        {"z/e.jpg", -1},
        {"more/than/x/e.jpg", 7},
        {"xb.jpg", 0},
        {"y/f.jpg", -1},
        {"", 0},
        {"b", 3},
        {"/b.jpg", 3},
        {"elsewhere/y/e.jpeg", 8},
        {"C:\\y\\e.jpg", 8},
    };
    broad__boxes *boxes;
    assert_ok(broad__boxes_read_bytes(&boxes, "boxes.csv", text, strlen(text), 0));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        broad_box_list list = {0};
        int status = broad__boxes_find(&list, boxes, cases[i].name);
        if (cases[i].left < 0) {
            if (status != BROAD_BAD_DATA) fail_msg("%s is not ambiguous: %d", cases[i].name, status);
            assert_non_null(strstr(broad_error_message(), "boxes.csv: '"));
            assert_non_null(strstr(broad_error_message(), " may be '"));
        } else {
            double left = list.count ? list.items[0].left : 0;
            if (status != BROAD_OK || left != cases[i].left || list.count > 1)
                fail_msg("%s: %d, box %g and not %g", cases[i].name, status, left, cases[i].left);
        }
        broad__box_list_clear(&list);
    }
    broad__boxes_free(boxes);
}

typedef struct bad_case {
    const char *text, *message;
} bad_case;

#define SIDES "file,left,top,right,bottom\n"

static const bad_case bad_files[] = {
    {"", "bad: the file is empty"},
    {"file,left,top,right\na,1,2,3\n", "no columns left, top, right, bottom"},
    {"file,left,top,right\na,1,2,3\n", "there are 'file', 'left', 'top', 'right'"},
    {"0 0.5 0.5 1 1\n", "YOLO's text files are given as their folder"},
    {"name,left,top,right,bottom\na,1,2,3,4\n", "no column is called file"},
    {"file,image,left,top,right,bottom\n", "both 'file' and 'image' are columns"},
    {"file,left,Left,top,right,bottom\n", "columns 2 and 3 are both called 'left'"},
    {"file,left,top,right,bottom,x,y,width,height\n", "both 'left' and 'x'"},
    {SIDES "a,1,2,3,4\nb,1,2,x,4\n", "bad:3:4: 'x' in column 'right' is no number"},
    {SIDES "a,1,2,3,4\nb,1,2,nan,4\n", "bad:3:4: 'nan' in column 'right' is missing"},
    {SIDES "a,1,2,inf,4\n", "bad:2:4: 'inf' in column 'right' is no number"},
    {SIDES "a,1,2,,4\n", "bad:2:4: '' in column 'right' is missing"},
    {SIDES "a,5,2,5,4\n", "bad:2: the box has no width"},
    {SIDES "a,5,2,3,4\n", "its right side must be greater than its left one"},
    {SIDES "a,1,2,3,2\n", "bad:2: the box has no height"},
    {SIDES "a,1,2,3e12,2\n", "bad:2: a side of the box lies beyond any photo"},
    {SIDES "a,1,2,3\n", "bad:2: 4 cells where the first line has 5"},
    {SIDES "a,1,2,3,4,5\n", "bad:2: 6 cells where the first line has 5"},
    {SIDES ",1,2,3,4\n", "bad:2:1: '' in column 'file' is no name of a photo"},
    {SIDES "\xE9.jpg,1,2,3,4\n", "is not UTF-8 text; convert the file with iconv"},
    {SIDES "\"a,1,2,3,4\n", "bad:2:1: a quote is opened here and never closed"},
    {SIDES "a,0,0,0.5,1.25\n", "bad: no side goes beyond 1.25"},
    {"file,x,y,width,height\na,1,2,-3,4\n", "bad:2: the box has no width"},
    {"file,left,top,right,bottom,score\na,1,2,3,4,high\n", "bad:2:6: 'high' in column 'score' is no number"},
    {"{", "bad:1:1: no valid JSON"},
    {"{\"images\": [],\n \"annotations\": [1,]}", "bad:2:"},
    {"[{\"image_id\": 1}]", "a list of results without the images"},
    {"{\"annotations\": []}", "no list \"images\""},
    {"{\"images\": []}", "no list \"annotations\""},
    {"{\"images\": {}, \"annotations\": []}", "no list \"images\""},
    {"{\"images\": [], \"images\": []}", "duplicate object key"},
    {"{\"images\": [1], \"annotations\": []}", "images[0] is no object"},
    {"{\"images\": [{\"file_name\": \"a\"}], \"annotations\": []}", "images[0].id must be a whole number or text"},
    {"{\"images\": [{\"id\": 1.5, \"file_name\": \"a\"}], \"annotations\": []}", "images[0].id must be"},
    {"{\"images\": [{\"id\": 1, \"file_name\": 1}], \"annotations\": []}", "images[0].file_name must be"},
    {"{\"images\": [{\"id\": 1, \"file_name\": \"\"}], \"annotations\": []}", "images[0].file_name must be"},
    {"{\"images\": [{\"id\": 1, \"file_name\": \"a\"}, {\"id\": 1, \"file_name\": \"b\"}], \"annotations\": []}",
     "images[1].id is that of another image"},
    {"{\"images\": [{\"id\": 1, \"file_name\": \"a\"}, {\"id\": 2, \"file_name\": \"a\"}], \"annotations\": []}",
     "images[1].file_name is that of another image"},
};

#define ONE_IMAGE "{\"images\": [{\"id\": 1, \"file_name\": \"a\"}], \"annotations\": [{"

static const bad_case bad_annotations[] = {
    {"\"bbox\": [1, 2, 3, 4]", "annotations[0].image_id must be"},
    {"\"image_id\": 2, \"bbox\": [1, 2, 3, 4]", "annotations[0].image_id is that of no image"},
    {"\"image_id\": 1", "annotations[0].bbox must be four numbers"},
    {"\"image_id\": 1, \"bbox\": [1, 2, 3]", "annotations[0].bbox must be four numbers"},
    {"\"image_id\": 1, \"bbox\": [1, 2, 3, \"4\"]", "annotations[0].bbox must be four numbers"},
    {"\"image_id\": 1, \"bbox\": [1, 2, 0, 4]", "annotations[0].bbox: the box has no width"},
    {"\"image_id\": 1, \"bbox\": [1, 2, 3, -4]", "annotations[0].bbox: the box has no height"},
    {"\"image_id\": 1, \"bbox\": [1, 2, 3, 4], \"score\": \"0.5\"", "annotations[0].score must be a number"},
};

static const bad_case bad_yolo[] = {
    {"0 0.5 0.5 0.5\n", "a.txt:1: 4 numbers where"},
    {"\n0 0 0 1 0 1 1 0 1\n", "a.txt:2: 9 numbers where"},
    {"0 0 0 1 0 1 1 0 1\n", "outlines of more corners are not read"},
    {"panel 0.5 0.5 1 1\n", "a.txt:1:1: 'panel' is no number of a class"},
    {"0 0.5 nan 1 1\n", "a.txt:1:3: 'nan' is no number"},
    {"0 0.5 -0.5 1 1\n", "a.txt:1:3: '-0.5' is negative"},
    {"0 0.5 0.5 120 1\n", "a.txt:1:4: '120' is above 1: YOLO's boxes are parts"},
    {"0 0.5 0.5 0 1\n", "a.txt:1: the box has no width"},
    {"0 0.5 0.5 1 1 high\n", "a.txt:1:6: 'high' is no number"},
};

static void expect_bad(const char *text, const char *name, int yolo, const char *message)
{
    broad__boxes *boxes = NULL;
    int status = broad__boxes_read_bytes(&boxes, name, text, strlen(text), yolo);
    if (status != BROAD_BAD_DATA) fail_msg("\"%s\": status %d", text, status);
    if (!strstr(broad_error_message(), message)) fail_msg("no \"%s\" in \"%s\"", message, broad_error_message());
    assert_null(boxes);
}

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++)
        expect_bad(bad_files[i].text, "bad", 0, bad_files[i].message);
    for (size_t i = 0; i < sizeof bad_annotations / sizeof bad_annotations[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, ONE_IMAGE "%s}]}", bad_annotations[i].text);
        expect_bad(text, "bad", 0, bad_annotations[i].message);
    }
    for (size_t i = 0; i < sizeof bad_yolo / sizeof bad_yolo[0]; i++)
        expect_bad(bad_yolo[i].text, "a.txt", 1, bad_yolo[i].message);
}

static void test_bad_places(void **state)
{
    (void)state;
    broad__boxes *boxes = NULL;
    char path[HELPER_PATH];
    join_path(path, folder, "nowhere");
    assert_fails(broad__boxes_read(&boxes, path), BROAD_NO_INPUT, "nowhere: cannot be opened");
    assert_fails(broad__boxes_read(&boxes, folder), BROAD_BAD_DATA, "no text file with boxes is in this folder");
    write_here("z.txt", "0 0 0 0.5 0.5\n0 nothing\n");
    assert_fails(broad__boxes_read(&boxes, folder), BROAD_BAD_DATA, "z.txt:2: 2 numbers where");
    assert_null(boxes);
    write_here("z.txt", "");
    join_path(path, folder, "loop");
    assert_int_equal(symlink(".", path), 0);
    assert_fails(broad__boxes_read(&boxes, folder), BROAD_BAD_DATA, "folders inside each other");
}

/* A million rows over 100,000 photos, read and found in time that grows with their number only. */
static void test_many(void **state)
{
    (void)state;
    enum { ROWS = 1000000, PHOTOS = 100000 };
    char *text = malloc((size_t)ROWS * 48), *at = text;
    assert_non_null(text);
    at += sprintf(at, SIDES);
    for (int i = 0; i < ROWS; i++) at += sprintf(at, "set/photo_%d.jpg,%d,2,%d,9\n", i % PHOTOS, i / PHOTOS, i + 10);
    broad__boxes *boxes;
    assert_ok(broad__boxes_read_bytes(&boxes, "many.csv", text, (size_t)(at - text), 0));
    free(text);
    for (int i = 0; i < PHOTOS; i++) {
        char name[64];
        broad_box_list list = {0};
        snprintf(name, sizeof name, "photo_%d.jpg", i);
        assert_ok(broad__boxes_find(&list, boxes, name));
        assert_int_equal(list.count, ROWS / PHOTOS);
        assert_true(list.items[3].left == 3 && list.items[3].right == 3 * PHOTOS + i + 10);
        broad__box_list_clear(&list);
    }
    broad__boxes_free(boxes);
}

static void test_memory(void **state)
{
    (void)state;
    static const char *const texts[] = {
        SIDES "\"a\"\"b\",1,2,3,4\nc,1,2,3,4\n",
        ONE_IMAGE "\"image_id\": 1, \"bbox\": [1, 2, 3, 4]}]}",
    };
    for (size_t t = 0; t < 2; t++)
        for (size_t n = 1;; n++) {
            memory_watch watch;
            broad__boxes *boxes = NULL;
            broad_box_list list = {0};
            watch_start(&watch, n);
            int status = broad__boxes_read_bytes(&boxes, "x", texts[t], strlen(texts[t]), 0);
            if (status == BROAD_OK) status = broad__boxes_find(&list, boxes, "a");
            broad__box_list_clear(&list);
            broad__boxes_free(boxes);
            watch_stop();
            assert_int_equal(watch.live, 0);
            if (status == BROAD_OK) break;
            assert_int_equal(status, BROAD_NO_MEMORY);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_csv, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_yolo, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_coco, make_folder, drop_folder),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_bad),
        cmocka_unit_test_setup_teardown(test_bad_places, make_folder, drop_folder),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
