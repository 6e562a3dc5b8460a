/*
 * NULL, and structs that were never initialised, given to every function of broad.h: a status or a harmless default,
 * never a crash. The functions are counted against the header, so that one without a row here fails.
 */
#include "helper.h"

enum { NAMES_MAX = 600 };

static const char *walked[NAMES_MAX];
static size_t walked_count;

static void walk(const char *name)
{
    assert_true(walked_count < NAMES_MAX);
    walked[walked_count++] = name;
}

/* A call that must be refused; a call whose result is fixed; a call that only has to come back. */
#define REFUSED(function, ...)                                                                                         \
    do {                                                                                                               \
        walk(#function);                                                                                               \
        assert_fails(function(__VA_ARGS__), BROAD_USAGE, #function);                                                   \
    } while (0)
/* A call that must be refused for an argument that is not there, and for no other reason. */
#define MISSING(function, ...)                                                                                         \
    do {                                                                                                               \
        walk(#function);                                                                                               \
        assert_fails(function(__VA_ARGS__), BROAD_USAGE, #function ": an argument is NULL");                           \
    } while (0)
#define IS(expected, function, ...) (walk(#function), assert_true((expected) == function(__VA_ARGS__)))
#define TEXT(expected, function, ...) (walk(#function), assert_string_equal(expected, function(__VA_ARGS__)))
#define COMES_BACK(function, ...) (walk(#function), (void)function(__VA_ARGS__))

#define NOT_INITIALISED(type, call)                                                                                    \
    assert_fails(call, BROAD_USAGE, #type " is not initialised; call " #type "_init() first")

static broad_data *make_data(void)
{
    static double x[40][2], y[40];
    for (int i = 0; i < 40; i++) {
        x[i][0] = i % 7, x[i][1] = i % 5;
        y[i] = x[i][0] - x[i][1];
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = 40;
    arrays.inputs = 2;
    arrays.x = x;
    arrays.values = y;
    arrays.outputs = 1;
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    return data;
}

static broad_options small_options(void)
{
    broad_options options;
    broad_options_init(&options);
    assert_ok(broad_options_preset(&options, BROAD_PRESET_PAPER));
    assert_ok(broad_options_set(&options, "features", "2x3"));
    assert_ok(broad_options_set(&options, "enhance", "4x2"));
    return options;
}

static void walk_basics(void)
{
    walk("broad_error_message");
    assert_non_null(broad_error_message());
    IS(BROAD_FAILED, broad_error_set, BROAD_FAILED, NULL);
    walk("broad_error_reason");
    assert_int_equal(broad_error_reason(), BROAD_REASON_NONE);
    TEXT("unknown", broad_status_name, 12345);
    TEXT("unknown status", broad_status_text, 12345);
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", BROAD_VERSION_MAJOR, BROAD_VERSION_MINOR, BROAD_VERSION_PATCH);
    walk("broad_version");
    assert_string_equal(broad_version(), version);
    walk("broad_version_number");
    assert_int_equal(broad_version_number(), BROAD_VERSION_NUMBER);
    COMES_BACK(broad_set_allocator, NULL);
    COMES_BACK(broad_free, NULL);
    TEXT("unknown", broad_enum_name, (broad_enum)99, 0);
    IS(-1, broad_enum_value, BROAD_ENUM_KIND, NULL);
    COMES_BACK(broad_result_init, NULL, 8);
    COMES_BACK(broad_run_options_init_sized, NULL, 8);
    COMES_BACK(broad_comm_init_sized, NULL, 8);
    COMES_BACK(broad_options_init_sized, NULL, 8);
    COMES_BACK(broad_photo_options_init_sized, NULL, 8);
    COMES_BACK(broad_read_options_init_sized, NULL, 8);
    COMES_BACK(broad_arrays_init_sized, NULL, 8);
    COMES_BACK(broad_split_init_sized, NULL, 8);
    COMES_BACK(broad_folds_init_sized, NULL, 8);
}

static void walk_options(void)
{
    broad_options options = small_options();
    char text[8];
    REFUSED(broad_options_preset, NULL, BROAD_PRESET_AUTO);
    REFUSED(broad_options_set, NULL, "lambda", "1");
    REFUSED(broad_options_set, &options, NULL, "1");
    assert_fails(broad_options_set(&options, "lambda", NULL), BROAD_USAGE, "option lambda needs a value");
    REFUSED(broad_options_get, NULL, 8, &options, "lambda");
    REFUSED(broad_options_get, text, 8, NULL, "lambda");
    REFUSED(broad_options_get, text, 8, &options, NULL);
    walk("broad_option_count");
    assert_true(broad_option_count() > 30);
    IS(NULL, broad_option_at, 9999);
}

static void walk_data(broad_data *data)
{
    broad_data *out = NULL, *other = NULL;
    broad_split split;
    broad_folds folds;
    size_t row = 0;
    const char *paths[] = {NULL};
    broad_split_init(&split);
    broad_folds_init(&folds);
    REFUSED(broad_data_read, NULL, "x", NULL);
    REFUSED(broad_data_read, &out, NULL, NULL);
    REFUSED(broad_data_read_photos, NULL, NULL, 0, NULL);
    REFUSED(broad_data_read_photos, &out, paths, 1, NULL);
    out = (broad_data *)&row; /* a handle is NULL after a failure, whatever it was */
    REFUSED(broad_data_from_arrays, &out, NULL);
    assert_null(out);
    REFUSED(broad_data_from_arrays, NULL, NULL);
    COMES_BACK(broad_data_free, NULL);
    IS(0, broad_data_rows, NULL);
    IS(0, broad_data_inputs, NULL);
    IS(0, broad_data_outputs, NULL);
    IS(BROAD_TASK_AUTO, broad_data_task, NULL);
    IS(BROAD_FORMAT_MEMORY, broad_data_format, NULL);
    TEXT("", broad_data_input_name, NULL, 0);
    IS(0, broad_data_note_count, NULL);
    TEXT("", broad_data_note, NULL, 0);
    TEXT("", broad_data_output_name, NULL, 0);
    IS(NULL, broad_data_row, NULL, 0);
    IS(NULL, broad_data_row, data, 40);
    IS(0, broad_data_class, NULL, 0);
    IS(0, broad_data_normal, NULL);
    walk("broad_data_value");
    assert_true(isnan(broad_data_value(NULL, 0, 0)) && isnan(broad_data_value(data, 99, 0)) &&
                isnan(broad_data_value(data, 0, 9)));
    IS(1, broad_data_weight, NULL, 0);
    IS(3, broad_data_group, NULL, 3);
    IS(0, broad_data_kept_count, NULL);
    TEXT("", broad_data_kept_name, NULL, 0);
    TEXT("", broad_data_kept_text, NULL, 0, 0);
    IS(0, broad_data_unknown_levels, NULL, 0);
    TEXT("", broad_data_unknown_level, NULL, 0);
    IS(NULL, broad_data_photo, NULL, 0);
    IS(0, broad_data_components, NULL);
    IS(0, broad_data_maps, NULL);
    IS(0, broad_data_skipped_count, NULL);
    IS(NULL, broad_data_skipped, NULL, 0);
    REFUSED(broad_photo_options_preset, NULL, BROAD_PRESET_AUTO);
    REFUSED(broad_photos_prepare, NULL, NULL, NULL, NULL);
    REFUSED(broad_photos_choose, NULL, data, NULL);
    REFUSED(broad_photos_narrow, NULL, data, 1);
    REFUSED(broad_photos_project, &out, NULL, 0, NULL);
    REFUSED(broad_photos_inputs, NULL, NULL, NULL, 1);
    REFUSED(broad_data_split, &out, &other, data, NULL);
    REFUSED(broad_data_split, NULL, NULL, data, &split);
    REFUSED(broad_data_fold, &out, NULL, data, &folds);
    REFUSED(broad_data_training_part, &out, data, NULL);
    REFUSED(broad_data_append, &out, data, NULL);
    REFUSED(broad_data_assign, &out, data, NULL, NULL);
    REFUSED(broad_data_pick, &out, data, NULL, 1);
    REFUSED(broad_data_pick, &out, NULL, &row, 1);
    assert_null(out);
}

static void walk_model(void)
{
    broad_model *out = NULL;
    void *bytes = NULL;
    size_t count = 0;
    COMES_BACK(broad_model_free, NULL);
    REFUSED(broad_model_save, NULL, "x", BROAD_FILE_FULL);
    REFUSED(broad_model_load, NULL, "x");
    REFUSED(broad_model_load, &out, NULL);
    REFUSED(broad_model_to_memory, NULL, &count, NULL, BROAD_FILE_FULL);
    REFUSED(broad_model_to_memory, &bytes, &count, NULL, BROAD_FILE_FULL);
    REFUSED(broad_model_from_memory, NULL, "x", 1);
    REFUSED(broad_model_from_memory, &out, NULL, 1);
    IS(0, broad_model_layers, NULL);
    REFUSED(broad_model_layer, NULL, NULL, 0);
    COMES_BACK(broad_model_kind, NULL);
    COMES_BACK(broad_model_precision, NULL);
    IS(BROAD_TASK_AUTO, broad_model_task, NULL);
    COMES_BACK(broad_model_fitting, NULL);
    COMES_BACK(broad_model_outcome, NULL);
    TEXT("", broad_model_reason, NULL);
    IS(0, broad_model_seed, NULL);
    IS(0, broad_model_maps, NULL);
    IS(0, broad_photo_is_unlike, NULL);
    REFUSED(broad_viewer_open, NULL, NULL);
    REFUSED(broad_viewer_picture, NULL, NULL, NULL, NULL);
    REFUSED(broad_viewer_file, NULL, NULL, NULL, NULL, 0);
    REFUSED(broad_viewer_show, NULL, NULL, NULL, NULL, NULL, 0);
    REFUSED(broad_photo_look, NULL, NULL, NULL, 0);
    REFUSED(broad_picture_print, NULL, NULL);
    REFUSED(broad_trainer_leave_out, NULL, NULL);
    REFUSED(broad_explainer_file, NULL, NULL, NULL, 0, 0);
    COMES_BACK(broad_viewer_close, NULL);
    REFUSED(broad_picture_from_pixels, NULL, NULL, 1, 1, 0, BROAD_PIXEL_RGB);
    assert_memory_equal(broad_picture_formats(), "JPEG, PNG", 9);
    walk("broad_picture_formats");
    TEXT("", broad_photo_fault_name, (broad_photo_fault)0);
    IS(0, broad_model_rows, NULL);
    IS(0, broad_model_inputs, NULL);
    IS(0, broad_model_outputs, NULL);
    IS(0, broad_model_nodes, NULL);
    walk("broad_model_feature_range");
    assert_true(isnan(broad_model_feature_range(NULL)));
    IS(1, broad_model_relevance, NULL, 0);
    REFUSED(broad_model_metric, NULL, NULL);
    IS(0, broad_model_relevance_parts, NULL);
    REFUSED(broad_model_find_relevance, NULL, NULL);
    IS(0, broad_model_directions, NULL);
    REFUSED(broad_model_find_directions, NULL, NULL, NULL, 1);
    TEXT("", broad_model_input_name, NULL, 0);
    TEXT("", broad_model_output_name, NULL, 0);
    IS(0, broad_model_positive, NULL);
    IS(0, broad_model_normal, NULL);
    TEXT("", broad_model_normal_reason, NULL);
    REFUSED(broad_model_set_normal, NULL, "ok");
    IS(1, broad_model_class_weight, NULL, 0);
    REFUSED(broad_model_json, NULL, NULL);
    REFUSED(broad_model_joint, NULL, NULL);
    REFUSED(broad_model_estimate, NULL, NULL);
}

static void walk_facts(void)
{
    REFUSED(broad_model_settings, NULL, NULL);
    IS(0, broad_model_is_compact, NULL);
    REFUSED(broad_model_split, NULL, NULL);
    IS(0, broad_model_segments, NULL);
    IS(0, broad_model_segment_rows, NULL, 0);
    IS(1, broad_model_segment_weight, NULL, 0);
    IS(0, broad_model_sources, NULL);
    REFUSED(broad_model_source, NULL, NULL, 0);
    REFUSED(broad_model_source_photo, NULL, NULL, 0, 0);
    REFUSED(broad_model_remember, NULL, NULL, NULL, NULL, NULL);
    COMES_BACK(broad_model_forget, NULL);
    IS(NULL, broad_model_target_name, NULL);
    IS(NULL, broad_model_group_name, NULL);
    IS(NULL, broad_model_weight_name, NULL);
    IS(0, broad_model_weighs_classes, NULL);
    IS(0, broad_model_categories, NULL);
    IS(NULL, broad_model_category_name, NULL, 0);
    IS(0, broad_model_category_levels, NULL, 0);
    IS(NULL, broad_model_category_level, NULL, 0, 0);
    REFUSED(broad_model_photo, NULL, NULL);
    IS(0, broad_model_feature_groups, NULL);
    IS(BROAD_FEATURE_SOURCE_NONE, broad_model_feature_source, NULL);
    REFUSED(broad_model_pilot, NULL, NULL);
    IS(0, broad_model_can_correct, NULL);
}

static void walk_prediction(const broad_model *model, const broad_data *data)
{
    double scores[40], x[2] = {0};
    broad_predictor *out = NULL;
    REFUSED(broad_predict, NULL, model, x, 1, 0);
    REFUSED(broad_predict, scores, model, NULL, 1, 0);
    REFUSED(broad_predict_data, scores, NULL, data, NULL);
    REFUSED(broad_predict_part, scores, model, NULL, 0, 1, NULL);
    IS(BROAD_PATH_KIND_UNKNOWN, broad_path_look, NULL);
    IS(0, broad_best_class, NULL, scores);
    IS(0, broad_best_class, model, NULL);
    REFUSED(broad_probabilities, NULL, NULL, NULL, 1);
    REFUSED(broad_interval, NULL, model, 0.9);
    REFUSED(broad_intervals, NULL, model, scores, 1, 0.9);
    REFUSED(broad_predictor_load, NULL, "x");
    REFUSED(broad_predictor_load, &out, NULL);
    REFUSED(broad_predictor_from_memory, NULL, "x", 1);
    REFUSED(broad_predictor_from_memory, &out, NULL, 1);
    REFUSED(broad_predictor_from_model, NULL, model);
    REFUSED(broad_predictor_from_model, &out, NULL);
    COMES_BACK(broad_predictor_free, NULL);
    IS(BROAD_TASK_AUTO, broad_predictor_task, NULL);
    IS(0, broad_predictor_inputs, NULL);
    IS(0, broad_predictor_outputs, NULL);
    TEXT("", broad_predictor_output_name, NULL, 0);
    IS(0, broad_predictor_bytes, NULL);
    IS(0, broad_predictor_scratch, NULL, 1);
    REFUSED(broad_predictor_row, NULL, NULL, NULL, NULL);
    REFUSED(broad_predictor_rows, NULL, NULL, NULL, 1, 0, NULL, 0);
    IS(0, broad_predictor_best_class, NULL, NULL);
    REFUSED(broad_predictor_probabilities, NULL, NULL, NULL, 1);
    REFUSED(broad_predictor_interval, NULL, NULL, 0.9);
    REFUSED(broad_predictor_intervals, NULL, NULL, NULL, 1, 0.9);
}

static void walk_export(const broad_model *model)
{
    char *text = NULL;
    void *bytes = NULL;
    size_t count = 0;
    COMES_BACK(broad_export_options_init_sized, NULL, 8);
    REFUSED(broad_model_export_onnx, NULL, &count, NULL, model, NULL);
    REFUSED(broad_model_export_onnx, &bytes, NULL, NULL, model, NULL);
    REFUSED(broad_model_export_onnx, &bytes, &count, NULL, NULL, NULL);
    REFUSED(broad_model_export_c, NULL, &count, NULL, model, NULL);
    REFUSED(broad_model_export_c, &text, NULL, NULL, model, NULL);
    REFUSED(broad_model_export_c, &text, &count, NULL, NULL, NULL);
    IS(0, broad_export_columns, NULL);
    REFUSED(broad_export_rows, NULL, NULL, NULL, 0, 0);
    REFUSED(broad_export_rows, NULL, model, NULL, 1, 0);
}

static void walk_work(const broad_model *model, const broad_data *data)
{
    broad_metrics metrics = {.size = sizeof metrics};
    broad_trainer *trainer = NULL;
    broad_model *out = NULL;
    broad_options options = small_options();
    REFUSED(broad_fit, NULL, NULL, data, &options);
    REFUSED(broad_fit, &out, NULL, NULL, &options);
    REFUSED(broad_fit, &out, NULL, data, NULL);
    REFUSED(broad_eval, NULL, model, data, NULL);
    REFUSED(broad_eval, &metrics, NULL, data, NULL);
    REFUSED(broad_eval_level, &metrics, model, NULL, 0.9, NULL);
    REFUSED(broad_eval_with, &metrics, NULL, data, NULL);
    REFUSED(broad_metrics_class, NULL, &metrics, 0);
    REFUSED(broad_metrics_target, NULL, &metrics, 0);
    REFUSED(broad_estimate_class, NULL, model, 0);
    REFUSED(broad_model_find_importance, NULL, data, NULL);
    IS(0, broad_model_importance_count, NULL);
    REFUSED(broad_model_importance, NULL, model, 0);
    IS(0, broad_model_suspect, NULL);
    REFUSED(broad_estimate_target, NULL, model, 0);
    COMES_BACK(broad_eval_options_init_sized, NULL, sizeof(broad_eval_options));
    COMES_BACK(broad_metrics_clear, NULL);
    REFUSED(broad_model_curve, NULL, model, data, NULL);
    REFUSED(broad_model_curve_loo, NULL, model, data, NULL);
    REFUSED(broad_trainer_open, NULL, data, &options);
    REFUSED(broad_trainer_open, &trainer, NULL, &options);
    REFUSED(broad_trainer_resume, &trainer, NULL, data, &options, BROAD_RESUME_CHECKED);
    REFUSED(broad_trainer_resume, &trainer, model, data, NULL, BROAD_RESUME_CHECKED);
    REFUSED(broad_trainer_validate, NULL, data);
    REFUSED(broad_trainer_enhance, NULL, 1, 1);
    REFUSED(broad_trainer_features, NULL, 1, 1, 1);
    REFUSED(broad_trainer_learn, NULL, data, 1, 1, BROAD_LEARN_ALL_ROWS);
    REFUSED(broad_trainer_learn_weighted, NULL, data, NULL, 1, 1, BROAD_LEARN_ALL_ROWS);
    REFUSED(broad_trainer_correct, NULL, NULL, data, NULL);
    IS(NULL, broad_trainer_model, NULL);
    REFUSED(broad_trainer_seconds, NULL, NULL);
    REFUSED(broad_trainer_measure, NULL, NULL, NULL);
    COMES_BACK(broad_trainer_close, NULL, NULL);
    COMES_BACK(broad_trainer_close, &out, NULL);
    assert_null(out);
}

static void walk_pictures(const broad_model *model)
{
    broad_explainer *explainer = NULL;
    broad_picture *picture = NULL;
    void *bytes = NULL;
    size_t count = 0;
    REFUSED(broad_box_list_add, NULL, 0, 0, 1, 1, 0);
    REFUSED(broad_explainer_open, NULL, model);
    REFUSED(broad_explainer_open, &explainer, NULL);
    COMES_BACK(broad_explainer_close, NULL);
    COMES_BACK(broad_explanation_clear, NULL);
    REFUSED(broad_photo_explain, NULL, NULL, NULL, NULL, 1);
    REFUSED(broad_picture_new, NULL, 1, 1);
    COMES_BACK(broad_picture_free, NULL);
    IS(0, broad_picture_width, NULL);
    IS(0, broad_picture_height, NULL);
    IS(NULL, broad_picture_pixels, NULL);
    IS(NULL, broad_picture_bytes, NULL);
    REFUSED(broad_picture_decode, &picture, NULL, 1, 0);
    REFUSED(broad_picture_jpeg, &bytes, &count, NULL, 90);
    REFUSED(broad_picture_thumbnail, &bytes, &count, NULL, 100, 90);
    REFUSED(broad_picture_png, &bytes, &count, NULL);
    REFUSED(broad_picture_fit, &picture, NULL, 8);
    REFUSED(broad_picture_crop, &picture, NULL, 0, 0, 1, 1);
    REFUSED(broad_parallel, 1, 1, NULL, NULL);
    COMES_BACK(broad_random_init_sized, NULL, 8, 0, BROAD_RANDOM_PURPOSE_SEARCH);
    walk("broad_random_at");
    assert_true(isnan(broad_random_at(NULL, 0)) && isnan(broad_random_at(&(broad_random){0}, 0)));
    REFUSED(broad_random_fill, NULL, NULL, 0, 1);
}

static void walk_rest(const broad_model *model, const broad_data *data)
{
    broad_stats *stats = NULL;
    broad_options options = small_options();
    REFUSED(broad_stats_new, NULL, model, data, NULL);
    REFUSED(broad_stats_new, &stats, model, NULL, NULL);
    REFUSED(broad_stats_learn, NULL, NULL, data, NULL);
    REFUSED(broad_stats_save, NULL, "x");
    REFUSED(broad_stats_load, &stats, NULL, model);
    IS(0, broad_stats_rows, NULL);
    COMES_BACK(broad_stats_free, NULL);
    REFUSED(broad_plan_run, NULL, &options, NULL, 1, 1, 1);
    REFUSED(broad_plan_ranks, NULL, &options, 1, 1, 1, 1);
    COMES_BACK(broad_plan_ranks, &(broad_ranks_plan){.size = sizeof(broad_ranks_plan)}, &options, SIZE_MAX, 1, 1, 4);
    assert_fails(
        broad_plan_ranks(&(broad_ranks_plan){.size = sizeof(broad_ranks_plan)}, &options, 1000, 1, 1, SIZE_MAX),
        BROAD_USAGE, "at most 4294967295 ranks");
    REFUSED(broad_plan_ranks, &(broad_ranks_plan){.size = sizeof(broad_ranks_plan)}, NULL, 1, 1, 1, 1);
    REFUSED(broad_verify, NULL, model, data, NULL);
    REFUSED(broad_profile_open, NULL);
    COMES_BACK(broad_profile_close, NULL);
    walk("broad_profile_stages");
    assert_true(broad_profile_stages() > 0);
    REFUSED(broad_profile_stage, NULL, NULL, 0);
    REFUSED(broad_machine_inspect, NULL, 0);
    REFUSED(broad_machine_measure, NULL, 1, 1);
    REFUSED(broad_gpu_inspect, NULL, 0);
}

/* Every name that stands before a bracket in a declaration with BROAD_API. */
static void count_against_header(void)
{
    char path[4096], line[512];
    size_t declared = 0;
    snprintf(path, sizeof path, "%s/include/broad/broad.h", getenv("BROAD_SOURCE_DIR"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *bracket = strchr(line, '('), *name = bracket;
        if (strncmp(line, "BROAD_API ", 10) != 0 || !bracket) continue;
        *bracket = 0;
        while (name > line && (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z'))) name--;
        int found = 0;
        for (size_t i = 0; i < walked_count; i++) found |= strcmp(walked[i], name) == 0;
        if (!found) fail_msg("%s is given NULL nowhere in this test", name);
        declared++;
    }
    fclose(file);
    assert_true(declared > 120);
}

static void null_is_never_a_crash(void **state)
{
    (void)state;
    broad_data *data = make_data();
    broad_options options = small_options();
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, &options));
    walk_basics();
    walk_options();
    walk_data(data);
    walk_model();
    walk_facts();
    walk_prediction(model, data);
    walk_work(model, data);
    walk_export(model);
    walk_rest(model, data);
    walk_pictures(model);
    count_against_header();
    broad_model_free(model);
    broad_data_free(data);
}

/* One wording for all, whether the size is missing or is what lay in memory. */
static void an_uninitialised_struct_is_refused(void **state)
{
    (void)state;
    broad_data *data = make_data(), *train = NULL, *test = NULL;
    broad_options options = small_options();
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, &options));
    for (int fill = 0; fill < 2; fill++) {
        broad_metrics metrics;
        broad_plan plan;
        broad_verdict verdict;
        broad_layer layer;
        broad_curve_point points[2];
        broad_estimate estimate;
        broad_joint joint;
        broad_machine machine;
        broad_split split;
        broad_folds folds;
        broad_arrays arrays;
        broad_read_options read;
        broad_options other;
        broad_run_options run;
        broad_export_options exporting;
        broad_exported exported;
        char *text = NULL;
        size_t count = 0;
        void *all[] = {&exporting, &exported, &metrics, &plan,  &verdict, &layer, points, &estimate,
                       &joint,     &machine,  &split,   &folds, &arrays,  &read,  &other, &run};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) memset(all[i], fill ? 0xff : 0, sizeof(size_t));
        NOT_INITIALISED(broad_metrics, broad_eval(&metrics, model, data, NULL));
        NOT_INITIALISED(broad_plan, broad_plan_run(&plan, &options, NULL, 1, 1, 1));
        NOT_INITIALISED(broad_verdict, broad_verify(&verdict, model, data, NULL));
        NOT_INITIALISED(broad_layer, broad_model_layer(&layer, model, 0));
        NOT_INITIALISED(broad_curve_point, broad_model_curve(points, model, data, NULL));
        NOT_INITIALISED(broad_estimate, broad_model_estimate(&estimate, model));
        NOT_INITIALISED(broad_joint, broad_model_joint(&joint, model));
        NOT_INITIALISED(broad_machine, broad_machine_inspect(&machine, 0));
        NOT_INITIALISED(broad_split, broad_data_split(&train, &test, data, &split));
        NOT_INITIALISED(broad_folds, broad_data_fold(&train, &test, data, &folds));
        NOT_INITIALISED(broad_arrays, broad_data_from_arrays(&train, &arrays));
        NOT_INITIALISED(broad_read_options, broad_data_read(&train, "x.csv", &read));
        NOT_INITIALISED(broad_options, broad_options_set(&other, "lambda", "1"));
        NOT_INITIALISED(broad_export_options, broad_model_export_c(&text, &count, NULL, model, &exporting));
        NOT_INITIALISED(broad_exported, broad_model_export_c(&text, &count, &exported, model, NULL));
        NOT_INITIALISED(broad_run_options, broad_verify(&(broad_verdict){.size = sizeof verdict}, model, data, &run));
    }
    broad_model_free(model);
    broad_data_free(data);
}

/* Where several arguments are needed, each of them is looked at: all are there but one. The others are of no kind at all, since
 * nothing is done before. */
static double storage[8192];
static void *const p = storage, *const none = NULL;

static void missing_data_is_seen(void **state)
{
    (void)state;
    MISSING(broad_data_from_arrays, p, none);
    MISSING(broad_data_read, p, none, none);
    MISSING(broad_data_split, p, none, p, p);
    MISSING(broad_data_split, p, p, none, p);
    MISSING(broad_data_split, p, p, p, none);
    MISSING(broad_data_fold, p, none, p, p);
    MISSING(broad_data_fold, p, p, none, p);
    MISSING(broad_data_fold, p, p, p, none);
    MISSING(broad_data_training_part, p, none, p);
    MISSING(broad_data_training_part, p, p, none);
    MISSING(broad_data_assign, p, none, p, p);
    MISSING(broad_data_assign, p, p, none, p);
    MISSING(broad_data_pick, p, none, p, 1);
    MISSING(broad_data_pick, p, p, none, 1);
    MISSING(broad_data_append, p, none, p);
    MISSING(broad_data_append, p, p, none);
}

static void missing_rows_to_predict_or_to_measure_are_seen(void **state)
{
    (void)state;
    MISSING(broad_predict, p, none, p, 1, 0);
    MISSING(broad_predict, p, p, none, 1, 0);
    MISSING(broad_predict_data, p, none, p, none);
    MISSING(broad_predict_data, p, p, none, none);
    MISSING(broad_predict_part, p, none, p, 0, 1, none);
    MISSING(broad_predict_part, p, p, none, 0, 1, none);
    MISSING(broad_probabilities, none, p, p, 1);
    MISSING(broad_probabilities, p, p, none, 1);
    MISSING(broad_interval, p, none, 0.5);
    MISSING(broad_intervals, none, p, p, 1, 0.5);
    MISSING(broad_intervals, p, p, none, 1, 0.5);
    MISSING(broad_trainer_measure, p, none, p);
    MISSING(broad_trainer_measure, p, p, none);
    MISSING(broad_eval_with, p, none, p, p);
    MISSING(broad_eval_with, p, p, none, p);
    MISSING(broad_eval, p, none, p, none);
    MISSING(broad_eval, p, p, none, none);
    MISSING(broad_eval_level, p, none, p, 0.5, none);
    MISSING(broad_eval_level, p, p, none, 0.5, none);
    MISSING(broad_metrics_class, p, none, 0);
    MISSING(broad_metrics_target, p, none, 0);
    MISSING(broad_model_estimate, p, none);
    MISSING(broad_estimate_class, p, none, 0);
    MISSING(broad_estimate_target, p, none, 0);
    MISSING(broad_explainer_open, p, none);
    MISSING(broad_photo_explain, p, none, p, p, 1);
    MISSING(broad_photo_explain, p, p, none, p, 1);
    MISSING(broad_photo_explain, p, p, p, none, 1);
    MISSING(broad_explainer_file, p, none, p, 1, 0);
    MISSING(broad_explainer_file, p, p, none, 1, 0);
    MISSING(broad_model_export_c, p, none, none, p, none);
    MISSING(broad_model_export_c, p, p, none, none, none);
    MISSING(broad_model_export_onnx, p, none, none, p, none);
    MISSING(broad_model_export_onnx, p, p, none, none, none);
    MISSING(broad_export_rows, none, p, p, 1, 0);
    MISSING(broad_export_rows, p, p, none, 1, 0);
}

static void missing_parts_of_training_are_seen(void **state)
{
    (void)state;
    MISSING(broad_model_settings, p, none);
    MISSING(broad_model_split, p, none);
    MISSING(broad_model_photo, p, none);
    MISSING(broad_model_pilot, p, none);
    MISSING(broad_trainer_open, p, none, p);
    MISSING(broad_trainer_open, p, p, none);
    MISSING(broad_trainer_resume, p, none, p, p, 0);
    MISSING(broad_trainer_resume, p, p, p, none, 0);
    MISSING(broad_trainer_validate, p, none);
    MISSING(broad_trainer_leave_out, p, none);
    MISSING(broad_trainer_learn, p, none, 1, 1, 0);
    MISSING(broad_trainer_learn_weighted, p, none, p, 1, 1, 0);
    MISSING(broad_trainer_learn_weighted, p, p, none, 1, 1, 0);
    MISSING(broad_trainer_correct, p, none, p, none);
    MISSING(broad_trainer_correct, p, p, none, none);
    MISSING(broad_trainer_seconds, p, none);
    MISSING(broad_fit, p, none, none, p);
    MISSING(broad_fit, p, none, p, none);
    MISSING(broad_stats_new, p, none, p, none);
    MISSING(broad_stats_new, p, p, none, none);
    MISSING(broad_stats_learn, p, none, p, none);
    MISSING(broad_stats_learn, p, p, none, none);
    MISSING(broad_stats_save, p, none);
    MISSING(broad_stats_load, p, none, p);
    MISSING(broad_stats_load, p, p, none);
    MISSING(broad_plan_ranks, p, none, 1, 1, 1, 1);
    MISSING(broad_plan_run, p, none, none, 1, 1, 1);
    MISSING(broad_model_find_importance, p, none, none);
    MISSING(broad_model_importance, p, none, 0);
    MISSING(broad_model_set_normal, p, none);
    MISSING(broad_model_layer, p, none, 0);
    MISSING(broad_model_joint, p, none);
    MISSING(broad_model_curve, p, none, p, none);
    MISSING(broad_model_curve, p, p, none, none);
    MISSING(broad_model_curve_loo, p, none, p, none);
    MISSING(broad_model_curve_loo, p, p, none, none);
    MISSING(broad_verify, p, none, p, none);
    MISSING(broad_verify, p, p, none, none);
}

static void missing_photos_and_pictures_are_seen(void **state)
{
    (void)state;
    MISSING(broad_data_read_photos, p, none, 1, none);
    MISSING(broad_photos_prepare, none, (void *)(uintptr_t)&none, none, p);
    MISSING(broad_photos_prepare, none, (void *)(uintptr_t)&p, none, none);
    MISSING(broad_photos_choose, p, none, p);
    MISSING(broad_photos_choose, p, p, none);
    MISSING(broad_photos_narrow, p, none, 1);
    MISSING(broad_photos_project, p, none, 1, none);
    MISSING(broad_photos_inputs, p, none, p, 1);
    MISSING(broad_photos_inputs, p, p, none, 1);
    MISSING(broad_picture_from_pixels, p, none, 1, 1, 0, 0);
    MISSING(broad_picture_decode, p, none, 1, 0);
    MISSING(broad_picture_jpeg, p, none, p, 50);
    MISSING(broad_picture_jpeg, p, p, none, 50);
    MISSING(broad_picture_thumbnail, p, none, p, 9, 50);
    MISSING(broad_picture_thumbnail, p, p, none, 9, 50);
    MISSING(broad_picture_png, p, none, p);
    MISSING(broad_picture_png, p, p, none);
    MISSING(broad_picture_print, p, none);
    MISSING(broad_picture_fit, p, none, 9);
    MISSING(broad_picture_crop, p, none, 0, 0, 1, 1);
}

static void missing_parts_of_predictors_and_files_are_seen(void **state)
{
    (void)state;
    MISSING(broad_predictor_load, p, none);
    MISSING(broad_predictor_from_memory, p, none, 1);
    MISSING(broad_predictor_from_model, p, none);
    MISSING(broad_predictor_row, p, none, p, p);
    MISSING(broad_predictor_row, p, p, none, p);
    MISSING(broad_predictor_row, p, p, p, none);
    MISSING(broad_predictor_rows, p, none, p, 1, 0, p, 1);
    MISSING(broad_predictor_rows, p, p, none, 1, 0, p, 1);
    MISSING(broad_predictor_rows, p, p, p, 1, 0, none, 1);
    MISSING(broad_predictor_probabilities, none, p, p, 1);
    MISSING(broad_predictor_probabilities, p, p, none, 1);
    MISSING(broad_predictor_interval, p, none, 0.5);
    MISSING(broad_predictor_intervals, none, p, p, 1, 0.5);
    MISSING(broad_predictor_intervals, p, p, none, 1, 0.5);
    MISSING(broad_profile_stage, p, none, 0);
    MISSING(broad_model_metric, p, none);
    MISSING(broad_model_find_relevance, p, none);
    MISSING(broad_model_find_directions, p, none, p, 0);
    MISSING(broad_model_find_directions, p, p, none, 0);
    MISSING(broad_model_remember, p, none, none, p, none);
    MISSING(broad_model_remember, p, p, none, none, none);
    MISSING(broad_model_source, p, none, 0);
    MISSING(broad_model_source_photo, p, none, 0, 0);
    MISSING(broad_model_save, p, none, 0);
    MISSING(broad_model_load, p, none);
    MISSING(broad_model_to_memory, p, none, p, 0);
    MISSING(broad_model_to_memory, p, p, none, 0);
    MISSING(broad_model_from_memory, p, none, 1);
    MISSING(broad_model_json, p, none);
    MISSING(broad_options_set, p, none, p);
    MISSING(broad_options_get, p, 9, none, p);
    MISSING(broad_options_get, p, 9, p, none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_never_a_crash),
        cmocka_unit_test(an_uninitialised_struct_is_refused),
        cmocka_unit_test(missing_data_is_seen),
        cmocka_unit_test(missing_rows_to_predict_or_to_measure_are_seen),
        cmocka_unit_test(missing_parts_of_training_are_seen),
        cmocka_unit_test(missing_photos_and_pictures_are_seen),
        cmocka_unit_test(missing_parts_of_predictors_and_files_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
