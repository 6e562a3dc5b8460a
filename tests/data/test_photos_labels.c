/* Lists that give photos their targets: how lines find their photos, which columns count, what is wrong with them. */
#include "photo_folder.h"

typedef struct scratch {
    char folder[HELPER_PATH], list[HELPER_PATH];
    photo_run run;
} scratch;

/* a.jpg, b.jpg in the folder, day/a.jpg and day/c.png below it. */
static int set_up(void **state)
{
    scratch *s = calloc(1, sizeof *s);
    if (!s) return -1;
    temporary_folder(s->folder);
    join_path(s->list, s->folder, "labels.csv");
    photo_run_init(&s->run);
    s->run.options.labels = s->list;
    save_photo(s->folder, "a.jpg", 1);
    save_photo(s->folder, "b.jpg", 2);
    save_photo(s->folder, "day/a.jpg", 3);
    save_photo(s->folder, "day/c.png", 4);
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

static broad_data *with_list(scratch *s, const char *text)
{
    write_text(s->list, text);
    return must_read(s->folder, &s->run);
}

static void refused(scratch *s, const char *text, const char *fragment)
{
    broad_data *data = NULL;
    write_text(s->list, text);
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_BAD_DATA, fragment);
    assert_null(data);
}

static const char *class_of(const broad_data *data, const char *name)
{
    return broad_data_output_name(data, broad_data_class(data, row_of(data, name)));
}

static void classes_from_a_list(void **state)
{
    scratch *s = *state;
    broad_data *data = with_list(s, "file,label\nday/c.png,dusty\na.jpg,clean\nb.jpg,\"very, \"\"very\"\" dusty\"\n"
                                    "./day/a.jpg,clean\n");
    assert_int_equal(broad_data_rows(data), 4);
    assert_int_equal(broad_data_outputs(data), 3);
    assert_string_equal(class_of(data, "a.jpg"), "clean");
    assert_string_equal(class_of(data, "b.jpg"), "very, \"very\" dusty");
    assert_string_equal(class_of(data, "day/a.jpg"), "clean");
    assert_string_equal(class_of(data, "day/c.png"), "dusty");
    assert_string_equal(data->target_name, "label");
    assert_int_equal(broad_data_skipped_count(data), 0);
    broad_data_free(data);
}

static void without_a_header(void **state)
{
    scratch *s = *state;
    broad_data *data = with_list(s, "a.jpg;x\nb.jpg;y\nday/a.jpg;x\nc.png;y\n");
    assert_int_equal(broad_data_rows(data), 4);
    assert_string_equal(class_of(data, "a.jpg"), "x");
    assert_string_equal(class_of(data, "day/c.png"), "y");
    broad_data_free(data);
    /* A number below a word is a header, whatever it is called. */
    data = with_list(s, "photo,loss\na.jpg,0.5\nb.jpg,1\nday/a.jpg,2\nc.png,-3e-2\n");
    assert_int_equal(broad_data_task(data), BROAD_TASK_REGRESS);
    assert_true(broad_data_value(data, row_of(data, "day/c.png"), 0) == -0.03);
    assert_string_equal(broad_data_output_name(data, 0), "loss");
    broad_data_free(data);
}

/* As a spreadsheet with another language writes them, with its mark, separators and line ends. */
static void numbers_as_in_tables(void **state)
{
    scratch *s = *state;
    broad_data *data = with_list(s, "\xEF\xBB\xBFphoto;site;loss\r\na.jpg;1;0,142281557077\r\nb.jpg;2;1.250,5\r\n"
                                    "day/a.jpg;3;2\r\nc.png;4;-0,5\r\n");
    assert_int_equal(broad_data_task(data), BROAD_TASK_REGRESS);
    assert_true(broad_data_value(data, row_of(data, "a.jpg"), 0) == 0.142281557077);
    assert_true(broad_data_value(data, row_of(data, "b.jpg"), 0) == 1250.5);
    assert_true(broad_data_value(data, row_of(data, "day/c.png"), 0) == -0.5);
    assert_int_equal(broad_data_note_count(data), 1);
    assert_string_equal(broad_data_note(data, 0), "numbers with a decimal comma: column 'loss'");
    broad_data_free(data);
    /* Separators at the end of every line are no column. */
    data = with_list(s, "photo,loss,\na.jpg,0.1422 %,\nb.jpg,12 %,\nday/a.jpg,3 %,\nc.png,4.5 %,\n");
    assert_true(broad_data_value(data, row_of(data, "a.jpg"), 0) == 0.1422);
    broad_data_free(data);
    /* Several targets, each in its own way, and weights; the names of files are no numbers. */
    s->run.options.target = "gain,loss";
    s->run.options.weight = "trust";
    save_photo(s->folder, "1.000", 5);
    save_photo(s->folder, "2.000", 6);
    data = with_list(s, "file;loss;gain;trust\n1.000;0,5;1;1,5\n2.000;0,25;2;1\n");
    assert_int_equal(broad_data_outputs(data), 2);
    assert_true(broad_data_value(data, row_of(data, "1.000"), 0) == 1);
    assert_true(broad_data_value(data, row_of(data, "1.000"), 1) == 0.5);
    assert_true(broad_data_weight(data, row_of(data, "1.000")) == 1.5);
    broad_data_free(data);
    /* Classes keep the text of the list. */
    s->run.options.target = s->run.options.weight = NULL;
    s->run.options.task = BROAD_TASK_CLASSIFY;
    data = with_list(s, "file;loss\na.jpg;0,5\nb.jpg;0,25\n");
    assert_string_equal(class_of(data, "a.jpg"), "0,5");
    broad_data_free(data);
}

/* Each character becomes so many bytes, low ones first; Latin-1 is one of them. */
static void write_encoded(const char *path, const char *mark, const unsigned short *text, int bytes)
{
    FILE *file = fopen(path, "wb");
    fputs(mark, file);
    for (; *text; text++)
        for (int i = 0; i < bytes; i++) fputc(*text >> 8 * i & 0xFF, file);
    fclose(file);
}

/* The names of files are those of the folder in either encoding, and so are the classes. */
static void encodings_as_in_tables(void **state)
{
    scratch *s = *state;
    static const unsigned short text[] = u"file;Maß\nKüche.jpg;grün\na.jpg;weiß\nb.jpg;weiß\n";
    save_photo(s->folder,
               "K\xC3\xBC"
               "che.jpg",
               5);
    save_photo(s->folder,
               "neu/K\xFC"
               "che.jpg",
               6);
    for (int bytes = 1; bytes < 3; bytes++) {
        write_encoded(s->list, bytes == 2 ? "\xFF\xFE" : "", text, bytes);
        broad_data *data = must_read(s->folder, &s->run);
        const char *name = bytes == 1 ? "neu/K\xFC"
                                        "che.jpg"
                                      : "K\xC3\xBC"
                                        "che.jpg";
        assert_int_equal(broad_data_rows(data), 3);
        assert_string_equal(class_of(data, name), "gr\xC3\xBCn");
        assert_string_equal(data->target_name, "Ma\xC3\x9F");
        assert_int_equal(broad_data_note_count(data), 1);
        assert_non_null(strstr(broad_data_note(data, 0), bytes == 1 ? "Windows-1252" : "UTF-16"));
        broad_data_free(data);
    }
    /* Where no file has those bytes, the one with the same characters is meant. */
    char other[HELPER_PATH];
    join_path(other, s->folder, "neu");
    remove_folder(other);
    write_encoded(s->list, "", text, 1);
    broad_data *data = must_read(s->folder, &s->run);
    assert_string_equal(class_of(data, "K\xC3\xBC"
                                       "che.jpg"),
                        "gr\xC3\xBCn");
    broad_data_free(data);
    /* What is no text stays refused. */
    refused(s, "PK\x03\x04xl/workbook.xml", "labels.csv: ");
    write_file(s->list, "file,label\na.jpg,\0\xFC\n", 21);
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_BAD_DATA, "zero byte");
}

static const char columns[] =
    "day,file,loss,sun,kind,trust\nmon,a.jpg,0.5,1,x,1\nmon,b.jpg,0.25,2,y,2\ntue,day/a.jpg,0.125,"
    "3,x,0.5\ntue,c.png,0,4,y,4\n";

static void columns_by_name(void **state)
{
    scratch *s = *state;
    s->run.options.target = "loss";
    s->run.options.group = "day";
    s->run.options.weight = "trust";
    broad_data *data = with_list(s, columns);
    size_t a = row_of(data, "a.jpg"), b = row_of(data, "b.jpg"), c = row_of(data, "day/c.png");
    assert_int_equal(broad_data_task(data), BROAD_TASK_REGRESS);
    assert_true(broad_data_value(data, b, 0) == 0.25);
    assert_string_equal(data->group_name, "day");
    assert_true(data->groups[a] == data->groups[b] && data->groups[a] != data->groups[c]);
    assert_true(broad_data_weight(data, c) == 4);
    broad_data_free(data);

    s->run.options.target = "sun,loss";
    data = with_list(s, columns);
    assert_int_equal(broad_data_outputs(data), 2);
    assert_true(broad_data_value(data, b, 0) == 2 && broad_data_value(data, b, 1) == 0.25);
    broad_data_free(data);

    s->run.options.target = "kind";
    s->run.options.weight = NULL;
    data = with_list(s, columns);
    assert_int_equal(broad_data_task(data), BROAD_TASK_CLASSIFY);
    assert_string_equal(class_of(data, "b.jpg"), "y");
    broad_data_free(data);

    s->run.options.target = "sun";
    s->run.options.task = BROAD_TASK_CLASSIFY;
    data = with_list(s, columns);
    assert_int_equal(broad_data_outputs(data), 4);
    broad_data_free(data);

    s->run.options.target = "gain";
    refused(s, columns, "there is no column 'gain'");
    s->run.options.target = "loss";
    s->run.options.group = "week";
    refused(s, columns, "there is no column 'week'");
}

static void copies_have_the_targets_of_their_photo(void **state)
{
    scratch *s = *state;
    s->run.options.target = "loss";
    s->run.options.group = "day";
    s->run.photos.augment = 2;
    broad_data *data = with_list(s, columns);
    assert_int_equal(data->rows, 12);
    for (size_t i = 0; i < data->rows; i++) {
        assert_true(broad_data_value(data, i, 0) == broad_data_value(data, i - i % 3, 0));
        assert_int_equal(data->groups[i], data->groups[i - i % 3]);
    }
    broad_data_free(data);
}

static void photos_that_no_line_names(void **state)
{
    scratch *s = *state;
    save_text(s->folder, "broken.jpg", "");
    broad_data *data = with_list(s, "file,label\na.jpg,x\nb.jpg,y\n");
    assert_int_equal(broad_data_rows(data), 2);
    assert_int_equal(broad_data_skipped_count(data), 3); /* the list itself is none of them */
    assert_skipped(data, "day/a.jpg", "not in ");
    assert_skipped(data, "day/c.png", "labels.csv");
    assert_skipped(data, "broken.jpg", "the file is empty");
    broad_data_free(data);
    s->run.photos.strict = 1;
    refused(s, "file,label\na.jpg,x\nb.jpg,y\nday/a.jpg,x\nbroken.jpg,x\n", "(and 1 more)");
}

static void lines_without_a_photo(void **state)
{
    scratch *s = *state;
    const char *text = "file,label\na.jpg,x\ngone.jpg,x\nb.jpg,y\nday/a.jpg,x\nday/c.png,y\n";
    broad_data *data = with_list(s, text);
    assert_int_equal(broad_data_rows(data), 4);
    assert_int_equal(broad_data_skipped_count(data), 1);
    assert_string_equal(broad_data_skipped(data, 0)->file, "gone.jpg");
    assert_skipped(data, "gone.jpg", "labels.csv:3 names it, but there is no such photo");
    broad_data_free(data);
    s->run.photos.strict = 1;
    refused(s, text, "gone.jpg: ");
    s->run.photos.strict = 0;
    refused(s, "file,label\nu.jpg,x\nv.jpg,y\n",
            "none of its 2 lines names a photo that is there; the first has 'u.jpg'");
}

/* As rows of tables: they are left out, unless nothing may be missing. */
static void lines_without_a_target(void **state)
{
    scratch *s = *state;
    const char *classes = "file,label\na.jpg,x\nb.jpg,\nday/a.jpg,y\nday/c.png,n/a\n";
    broad_data *data = with_list(s, classes);
    assert_int_equal(broad_data_rows(data), 2);
    assert_int_equal(broad_data_outputs(data), 2);
    assert_int_equal(broad_data_skipped_count(data), 2);
    assert_skipped(data, "b.jpg", "labels.csv:3 has no target for it");
    assert_skipped(data, "day/c.png", "labels.csv:5 has no target for it");
    broad_data_free(data);
    /* In a column of numbers with marks further words stand for none; one of several targets is enough. */
    data = with_list(s, "file;loss\na.jpg;0,5\nb.jpg;unknown\nday/a.jpg;2,5\n");
    assert_int_equal(broad_data_task(data), BROAD_TASK_REGRESS);
    assert_int_equal(broad_data_rows(data), 2);
    broad_data_free(data);
    s->run.options.target = "loss,gain";
    data = with_list(s, "file,loss,gain\na.jpg,1,2\nb.jpg,,4\nday/a.jpg,5,\nday/c.png,7,8\n");
    assert_int_equal(broad_data_rows(data), 2);
    assert_true(broad_data_value(data, row_of(data, "day/c.png"), 1) == 8);
    broad_data_free(data);
    s->run.options.target = NULL;
    refused(s, "file,label\na.jpg,\nb.jpg,\n", "none of the 4 files can be used; the first, ");
    s->run.photos.strict = 1;
    refused(s, classes, "b.jpg: ");
    s->run.photos.strict = 0;
    s->run.options.missing = BROAD_MISSING_ERROR;
    refused(s, classes, "labels.csv:3: the target 'label' is missing");
}

/* A file that a line names and that cannot be read has its own reason. */
static void lines_of_unreadable_photos(void **state)
{
    scratch *s = *state;
    save_text(s->folder, "broken.jpg", "");
    broad_data *data = with_list(s, "file,label\na.jpg,x\nb.jpg,y\nday/a.jpg,x\nday/c.png,y\nbroken.jpg,x\n");
    assert_int_equal(broad_data_skipped_count(data), 1);
    assert_skipped(data, "broken.jpg", "the file is empty");
    broad_data_free(data);
}

static void wrong_lists(void **state)
{
    scratch *s = *state;
    broad_data *data = NULL;
    save_photo(s->folder, "night/c.png", 9);
    refused(s, "file,label\nc.png,x\n", "labels.csv:2: several photos are called 'c.png', day/c.png is the first");
    refused(s, "file,label\na.jpg,x\nb.jpg,y\n./a.jpg,x\n", "labels.csv:4: a second line for a.jpg, which line 2 has");
    refused(s, "file\na.jpg\nb.jpg\n", "a list of photos needs a column of file names and 1 target column");
    refused(s, "file,label\na.jpg,x\nb.jpg,y,z\n", "labels.csv:3: 3 cells");
    refused(s, "file,label\na.jpg,x\nb.jpg,\"y\n", "labels.csv:3:2");
    refused(s, "file,label\na.jpg,x\nb.jpg,x\n", "only one class, 'x'");
    refused(s, "", "the file is empty");
    refused(s, "file,label\n", "a header and no rows");
    s->run.options.task = BROAD_TASK_REGRESS;
    refused(s, "file,label\na.jpg,x\nb.jpg,y\n", "labels.csv:2: 'x' in the target 'label' is not a finite number");
    s->run.options.labels = "/does/not/exist.csv";
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_NO_INPUT, "cannot be opened");
    s->run.options.labels = s->folder;
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_NO_INPUT, "is a folder");
}

/* The folder of the list may differ from the one read. */
static void by_path_and_by_last_part(void **state)
{
    scratch *s = *state;
    char text[3 * HELPER_PATH], day[HELPER_PATH];
    join_path(day, s->folder, "day");
    snprintf(text, sizeof text, "file,label\n%s/a.jpg,x\nimages/2016/c.png,y\n", day);
    write_text(s->list, text);
    broad_data *data = must_read(day, &s->run);
    assert_int_equal(broad_data_rows(data), 2);
    assert_string_equal(class_of(data, "a.jpg"), "x");
    assert_string_equal(class_of(data, "c.png"), "y");
    broad_data_free(data);
}

static void lists_for_a_model(void **state)
{
    scratch *s = *state;
    broad_model *model = NULL;
    broad_options options;
    broad_options_init(&options);
    assert_ok(broad_options_preset(&options, BROAD_PRESET_PAPER));
    options.threads = 1;
    options.feature_groups = options.feature_nodes = options.enhance_nodes = options.enhance_layers = 2;
    s->run.options.target = "loss";
    broad_data *data = with_list(s, columns);
    assert_ok(broad_fit(&model, NULL, data, &options));
    broad_data_free(data);
    s->run.options.target = NULL;
    s->run.options.model = model;
    /* Its target by name, where it is not the last column. */
    data = with_list(s, columns);
    assert_true(broad_data_value(data, row_of(data, "b.jpg"), 0) == 0.25);
    broad_data_free(data);
    data = with_list(s, "file,other,power\na.jpg,9,1\nb.jpg,9,2\n");
    assert_true(broad_data_value(data, row_of(data, "b.jpg"), 0) == 2);
    assert_string_equal(broad_data_output_name(data, 0), "loss");
    broad_data_free(data);
    /* Its group and its weights by name. */
    broad_model_free(model);
    s->run.options.model = NULL;
    s->run.options.target = "loss";
    s->run.options.group = "day";
    s->run.options.weight = "trust";
    data = with_list(s, columns);
    assert_ok(broad_fit(&model, NULL, data, &options));
    broad_data_free(data);
    s->run.options.target = s->run.options.group = s->run.options.weight = NULL;
    s->run.options.model = model;
    s->run.options.training = 1;
    data = with_list(s, columns);
    assert_string_equal(data->group_name, "day");
    assert_true(broad_data_weight(data, row_of(data, "b.jpg")) == 2);
    broad_data_free(data);
    refused(s, "file,loss\na.jpg,1\nb.jpg,2\n", "the column of weights 'trust' that the model was trained with");
    s->run.options.labels = NULL;
    assert_fails(read_run(&data, s->folder, &s->run), BROAD_USAGE, "give a list with the column 'trust'");
    s->run.options.training = 0;
    char day[HELPER_PATH];
    join_path(day, s->folder, "day");
    save_photo(day, "x/1.jpg", 5);
    save_photo(day, "y/2.jpg", 6);
    remove_folder(s->list);
    char both[HELPER_PATH];
    join_path(both, s->folder, "day/a.jpg");
    remove_folder(both);
    join_path(both, s->folder, "day/c.png");
    remove_folder(both);
    assert_fails(read_run(&data, day, &s->run), BROAD_BAD_DATA, "the model predicts numbers; give those of the photos");
    broad_model_free(model);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(classes_from_a_list),        TEST(without_a_header),      TEST(numbers_as_in_tables),
        TEST(encodings_as_in_tables),     TEST(columns_by_name),       TEST(copies_have_the_targets_of_their_photo),
        TEST(photos_that_no_line_names),  TEST(lines_without_a_photo), TEST(lines_without_a_target),
        TEST(lines_of_unreadable_photos), TEST(wrong_lists),           TEST(by_path_and_by_last_part),
        TEST(lists_for_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
