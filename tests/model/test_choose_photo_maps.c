/* The choice of maps: on tables whose maps are told what they know. */
#include "helper.h"

#include "base/memory.h"
#include "data/table.h"
#include "data/text.h"

enum { ROWS = 80, SIDE = 4 };

/* Numbers of no meaning, about normal: a sum of four even ones. */
static double noise(uint64_t *state)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) / 9007199254740992.0 - 0.5;
    }
    return sum * 1.732;
}

/* Columns [first, first + count) of a row: `signal` in each, with as much noise. */
static void fill(broad_data *table, size_t row, size_t first, size_t count, double signal, uint64_t *state)
{
    for (size_t j = 0; j < count; j++) table->x[row * table->inputs + first + j] = signal + noise(state);
}

/* Rows with the target a + b, of which every pixel shows a_share a, and every descriptor b_share b, in noise. What no map
 * shows is part of the target only if something is hidden. */
static broad_data *made_photos(double a_share, double b_share, int hidden, unsigned maps)
{
    broad__photo_spec spec = {.version = BROAD__MAPS_VERSION, .maps = maps, .side = SIDE};
    broad_data *table = NULL;
    uint64_t state = 1;
    assert_ok(broad__table_new(&table, ROWS, broad__photo_inputs(&spec)));
    table->format = "photos";
    table->photos.spec = spec;
    table->photos.items = broad__alloc_array(ROWS, sizeof *table->photos.items);
    table->input_names = broad__names_number("x", 1, table->inputs);
    table->output_names = broad__names_number("y", 1, 1);
    table->values = broad__alloc_doubles(ROWS, 1);
    table->task = BROAD_TASK_REGRESS;
    table->outputs = 1;
    for (size_t i = 0; i < ROWS; i++) {
        double a = noise(&state), b = noise(&state);
        table->photos.items[i] = (broad_photo){.file = "a.jpg", .name = "a.jpg", .group = i};
        table->values[i] = (hidden || a_share > 0 ? a : 0) + (hidden || b_share > 0 ? b : 0);
        for (unsigned map = 1; map < BROAD_PHOTO_MAP_ALL; map *= 2)
            if (maps & map)
                fill(table, i, broad__photo_first(&spec, map), broad__map_inputs(map, SIDE),
                     map == BROAD_PHOTO_MAP_PIXELS        ? a_share * a
                     : map == BROAD_PHOTO_MAP_DESCRIPTORS ? b_share * b
                                                          : 0,
                     &state);
    }
    return table;
}

static broad_map_choice chosen(double a_share, double b_share, int hidden)
{
    broad_map_choice choice = {.size = sizeof choice};
    broad_options options;
    broad_options_init(&options);
    broad_data *data = made_photos(a_share, b_share, hidden, BROAD_PHOTO_MAP_PIXELS | BROAD_PHOTO_MAP_DESCRIPTORS);
    assert_ok(broad_photos_choose(&choice, data, &options));
    broad_data_free(data);
    assert_int_equal(choice.count, 3);
    assert_int_equal(choice.trials[0].maps, BROAD_PHOTO_MAP_PIXELS);
    assert_int_equal(choice.trials[1].maps, BROAD_PHOTO_MAP_DESCRIPTORS);
    assert_int_equal(choice.trials[2].maps, BROAD_PHOTO_MAP_PIXELS | BROAD_PHOTO_MAP_DESCRIPTORS);
    return choice;
}

/* The standard error of a mean of squares of normal numbers, as a part of it. */
static double chance(void) { return sqrt(2.0 / ROWS); }

/* Each knows one half of the target: alone it is wrong about the other half of its square. */
static void maps_that_need_each_other(void **state)
{
    (void)state;
    broad_map_choice choice = chosen(1, 1, 0);
    assert_int_equal(choice.maps, BROAD_PHOTO_MAP_PIXELS | BROAD_PHOTO_MAP_DESCRIPTORS);
    assert_true(choice.trials[0].error > 0.3 && choice.trials[0].error < 0.75);
    assert_true(choice.trials[1].error > 0.3 && choice.trials[1].error < 0.75);
    assert_true(choice.trials[2].error < 0.2);
}

/* What pixels know is faint, and among components of noise as large it gets lost. */
static void a_map_that_only_disturbs(void **state)
{
    (void)state;
    broad_map_choice choice = chosen(0.16, 0, 0);
    assert_true(choice.trials[0].error < (1 - chance()) * choice.trials[2].error);
    assert_int_equal(choice.maps, BROAD_PHOTO_MAP_PIXELS);
    assert_true(choice.trials[1].error > 0.8);
}

/* Better alone, but by less than a mean over so few rows varies by chance: all stay. */
static void a_gain_within_chance(void **state)
{
    (void)state;
    size_t found = 0;
    for (double share = 0.2; share < 0.5; share += 0.02) {
        broad_map_choice choice = chosen(share, 0, 0);
        double part = choice.trials[0].error / choice.trials[2].error;
        int is_better = part < 1 - chance();
        found += part < 0.95 && !is_better;
        assert_int_equal(choice.maps == BROAD_PHOTO_MAP_PIXELS, is_better);
    }
    assert_true(found >= 2);
}

/* What descriptors know is plain: alone they are hardly better, and all stay. */
static void a_map_that_hardly_disturbs(void **state)
{
    (void)state;
    broad_map_choice choice = chosen(0, 1, 1);
    assert_true(choice.trials[1].error > (1 - chance()) * choice.trials[2].error);
    assert_int_equal(choice.maps, BROAD_PHOTO_MAP_PIXELS | BROAD_PHOTO_MAP_DESCRIPTORS);
}

static int stop_at(const broad_progress *progress, void *context)
{
    assert_string_equal(progress->stage, "maps");
    assert_int_equal(progress->total, 3);
    return progress->done == *(size_t *)context;
}

static void progress_and_stop(void **state)
{
    (void)state;
    size_t last = 1;
    broad_map_choice choice = {.size = sizeof choice, .maps = 99};
    broad_options options;
    broad_options_init(&options);
    options.progress = stop_at;
    options.progress_context = &last;
    broad_data *data = made_photos(1, 1, 0, BROAD_PHOTO_MAP_PIXELS | BROAD_PHOTO_MAP_DESCRIPTORS);
    assert_fails(broad_photos_choose(&choice, data, &options), BROAD_INTERRUPTED,
                 "stopped by the progress function (maps)");
    assert_int_equal(choice.maps, 99);
    broad_data_free(data);
}

static void same_by_any_number_of_threads(void **state)
{
    (void)state;
    broad_map_choice one = {.size = sizeof one}, other = {.size = sizeof other};
    broad_options options;
    broad_options_init(&options);
    broad_data *data = made_photos(1, 1, 0, BROAD_PHOTO_MAP_PIXELS | BROAD_PHOTO_MAP_DESCRIPTORS);
    options.threads = 1;
    assert_ok(broad_photos_choose(&one, data, &options));
    options.threads = 3;
    assert_ok(broad_photos_choose(&other, data, &options));
    for (size_t i = 0; i < one.count; i++)
        assert_memory_equal(&one.trials[i].error, &other.trials[i].error, sizeof(double));
    broad_data_free(data);
}

static void nothing_to_choose(void **state)
{
    (void)state;
    double x[] = {1, 2, 3, 4};
    broad_map_choice choice = {.size = sizeof choice};
    broad_options options;
    broad_arrays arrays;
    broad_options_init(&options);
    broad_data *data = made_photos(1, 1, 0, BROAD_PHOTO_MAP_PIXELS);
    assert_ok(broad_photos_choose(&choice, data, &options));
    assert_int_equal(choice.count, 1);
    assert_int_equal(choice.maps, BROAD_PHOTO_MAP_PIXELS);
    assert_fails(broad_photos_choose(NULL, data, &options), BROAD_USAGE, "broad_photos_choose");
    assert_fails(broad_photos_choose(&choice, NULL, &options), BROAD_USAGE, "broad_photos_choose");
    assert_fails(broad_photos_choose(&choice, data, NULL), BROAD_USAGE, "broad_photos_choose");
    broad_data_free(data);
    broad_arrays_init(&arrays);
    arrays.rows = arrays.inputs = 2;
    arrays.x = x;
    arrays.values = x;
    arrays.outputs = 1;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_fails(broad_photos_choose(&choice, data, &options), BROAD_USAGE, "not photos");
    broad_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_that_need_each_other), cmocka_unit_test(a_map_that_only_disturbs),
        cmocka_unit_test(a_gain_within_chance),      cmocka_unit_test(a_map_that_hardly_disturbs),
        cmocka_unit_test(progress_and_stop),         cmocka_unit_test(same_by_any_number_of_threads),
        cmocka_unit_test(nothing_to_choose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
