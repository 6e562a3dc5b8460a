/* Photos on their way to a network: a program in C gets the bytes that the tool gets, and rows to test on follow. */
#include "helper.h"

#include <stdlib.h>
#include <unistd.h>

enum { COMMAND_BYTES = 3 * HELPER_PATH };

typedef struct panels {
    char folder[HELPER_PATH], photos[HELPER_PATH], model[HELPER_PATH];
    const char *tool;
} panels;

static void run_tool(const panels *p, const char *words)
{
    char command[COMMAND_BYTES];
    int length = snprintf(command, sizeof command, "'%s' %s >'%s/out' 2>&1", p->tool, words, p->folder);
    assert_true(length > 0 && length < (int)sizeof command);
    assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
    static panels p;
    char words[COMMAND_BYTES];
    p.tool = getenv("BROAD_TOOL");
    if (!p.tool) return -1;
    temporary_folder(p.folder);
    join_path(p.photos, p.folder, "panels");
    join_path(p.model, p.folder, "m.broad");
    snprintf(words, sizeof words, "render '%s' --count 24 --size 64 -q", p.photos);
    run_tool(&p, words);
    *state = &p;
    return 0;
}

static int tear_down(void **state)
{
    const panels *p = *state;
    remove_folder(p->folder);
    return 0;
}

static broad_data *read_panels(const panels *p, const broad_photo_options *photos)
{
    broad_read_options read;
    broad_data *data = NULL;
    broad_read_options_init(&read);
    read.photos = photos;
    assert_ok(broad_data_read(&data, p->photos, &read));
    return data;
}

/* The model of broad_fit() against the file that the tool wrote with these words. */
static void assert_same_model(const panels *p, const char *words, const broad_photo_options *photos,
                              const broad_options *options)
{
    char all[COMMAND_BYTES];
    broad_model *model = NULL;
    void *bytes = NULL;
    size_t count = 0, tool_count = 0;
    snprintf(all, sizeof all, "fit '%s' -o '%s' --cache no -q %s", p->photos, p->model, words);
    run_tool(p, all);
    broad_data *data = read_panels(p, photos);
    assert_ok(broad_fit(&model, NULL, data, options));
    assert_ok(broad_model_remember(model, p->photos, NULL, data, NULL)); /* as the tool does */
    assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
    char *tools = read_file(&tool_count, p->model);
    assert_int_equal(count, tool_count);
    assert_memory_equal(bytes, tools, count);
    free(tools);
    broad_free(bytes);
    broad_model_free(model);
    broad_data_free(data);
}

static void fit_as_the_tool_does(void **state)
{
    broad_photo_options photos;
    broad_options options;
    broad_photo_options_init(&photos);
    broad_options_init(&options);
    options.threads = 2;
    assert_same_model(*state, "", &photos, &options);
    photos.maps = BROAD_PHOTO_MAP_DESCRIPTORS;
    photos.components = 3;
    options.seed = photos.seed = 7;
    assert_same_model(*state, "--map descriptors --components 3 --seed 7", &photos, &options);
}

static void fit_as_the_paper_does(void **state)
{
    broad_photo_options photos;
    broad_options options;
    broad_photo_options_init(&photos);
    broad_options_init(&options);
    assert_ok(broad_photo_options_preset(&photos, BROAD_PRESET_PAPER));
    assert_ok(broad_options_preset(&options, BROAD_PRESET_PAPER));
    options.enhance_nodes = 20;
    options.enhance_layers = 2;
    assert_same_model(*state, "--preset paper --enhance 20x2", &photos, &options);
}

/* Prepared by hand or by the trainer: the same model; and rows held out have the components of the others. */
static void rows_held_out_follow(void **state)
{
    broad_data *whole = read_panels(*state, NULL), *train = NULL, *test = NULL, *raw_train = NULL, *raw_test = NULL;
    broad_map_choice choice = {.size = sizeof choice};
    broad_options options;
    broad_split split;
    broad_trainer *trainer = NULL;
    broad_model *one = NULL, *other = NULL;
    void *bytes = NULL, *other_bytes = NULL;
    size_t count = 0, other_count = 0;
    broad_options_init(&options);
    broad_split_init(&split);
    split.holdout = 0.25;
    assert_ok(broad_data_split(&train, &test, whole, &split));
    assert_ok(broad_data_split(&raw_train, &raw_test, whole, &split));
    assert_ok(broad_photos_prepare(&choice, &train, &test, &options));
    assert_int_equal(choice.count, 3);
    assert_int_equal(broad_data_maps(train), choice.maps);
    assert_true(broad_data_components(train) > 0);
    assert_int_equal(broad_data_inputs(test), broad_data_inputs(train));
    assert_ok(broad_photos_prepare(&choice, &train, &test, &options)); /* nothing is left to be done */
    assert_int_equal(choice.count, 0);
    assert_ok(broad_fit(&one, NULL, train, &options));
    assert_ok(broad_trainer_open(&trainer, raw_train, &options));
    assert_ok(broad_trainer_validate(trainer, raw_test));
    assert_ok(broad_trainer_enhance(trainer, options.enhance_nodes, options.enhance_layers));
    broad_trainer_close(&other, trainer);
    assert_ok(broad_model_to_memory(&bytes, &count, one, 0));
    assert_ok(broad_model_to_memory(&other_bytes, &other_count, other, 0));
    assert_int_equal(count, other_count);
    assert_memory_equal(bytes, other_bytes, count);
    broad_free(bytes);
    broad_free(other_bytes);
    broad_model_free(one);
    broad_model_free(other);
    broad_data_free(train);
    broad_data_free(test);
    broad_data_free(raw_train);
    broad_data_free(raw_test);
    broad_data_free(whole);
}

static void other_rows_stay(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 3}, y[] = {0, 1, 2, 3};
    broad_arrays arrays;
    broad_options options;
    broad_data *data = NULL;
    broad_arrays_init(&arrays);
    broad_options_init(&options);
    arrays.rows = 4;
    arrays.inputs = arrays.outputs = 1;
    arrays.x = x;
    arrays.values = y;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    const broad_data *before = data;
    assert_ok(broad_photos_prepare(NULL, &data, NULL, &options));
    assert_ptr_equal(data, before);
    assert_fails(broad_photos_prepare(NULL, NULL, NULL, &options), BROAD_USAGE, "is NULL");
    broad_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fit_as_the_tool_does),
        cmocka_unit_test(fit_as_the_paper_does),
        cmocka_unit_test(rows_held_out_follow),
        cmocka_unit_test(other_rows_stay),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
