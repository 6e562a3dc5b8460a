/*
 * broad demo: photos of panels from making them to the report. The steps are commands of this tool, run in this process
 * with the words that a person would type; what they come to is taken from their JSON.
 */
#include "demo/demo_photos.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "demo/demo_files.h"
#include "demo/demo_folder.h"
#include "demo/demo_print.h"
#include "io/progress.h"
#include "values.h"

enum { WORDS_MOST = 32, COUNT_LEAST = 40, COUNT_MOST = 10000, DOUBTS = 3 };

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- commands ---- */

static int run_command(json_t **out, const char *name, int count, char **words)
{
    const cli_command *command = NULL;
    cli_arguments arguments;
    int status = cli_command_named(&command, name);
    if (status) return status;
    status = cli_arguments_parse(&arguments, command, count, words);
    arguments.result = out;
    if (!status) status = command->run(&arguments);
    cli_arguments_clear(&arguments);
    return status;
}

/* A command and its words, ending with NULL; ours on top. *out is its result, *out_seconds grows by what it took. */
static int step(json_t **out, double *out_seconds, const demo_story *story, const char *const *given)
{
    const char *words[WORDS_MOST], *name = given[0], *threads = cli_given(story->arguments, "threads");
    int count = 0;
    double start = broad__seconds();
    for (given++; *given && count < WORDS_MOST - 6; given++) words[count++] = *given;
    words[count++] = "--json";
    if (threads) words[count++] = "--threads", words[count++] = threads;
    if (story->noted || cli_given(story->arguments, "quiet")) words[count++] = "--quiet";
    if (strcmp(name, "render") != 0) words[count++] = "--cache", words[count++] = story->at[DEMO_CACHE];
    int status = run_command(out, name, count, (char **)words);
    *out_seconds += broad__seconds() - start;
    if (status <= 0 || !cli_interrupted()) return status;
    return cli_fail(BROAD_INTERRUPTED, "interrupted in the step 'broad %s'; run the demonstration again to start over",
                    name);
}

/* ---- the steps ---- */

static int make_photos(demo_story *story)
{
    char count[32], seed[32];
    json_t *made = NULL;
    snprintf(count, sizeof count, "%zu", story->count + story->fresh_count);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)story->seed);
    int status = step(&made, &story->seconds.render, story,
                      WORDS("render", story->at[DEMO_PHOTOS], "--count", count, "--seed", seed));
    json_decref(made);
    return status ? status : demo_files_part(story);
}

/* Each photo was drawn by itself: whatever looks like a near-duplicate is none. */
static int fit(demo_story *story)
{
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)story->seed);
    return step(&story->fit, &story->seconds.fit, story,
                WORDS("fit", story->at[DEMO_PHOTOS], "--holdout", "0.3", "--no-groups", "-o", story->at[DEMO_MODEL],
                      "--seed", seed));
}

static demo_photo *find_photo(const demo_story *story, const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    for (size_t i = 0; slash && i < story->fresh_count; i++)
        if (strcmp(slash + 1, story->fresh[i].name) == 0) return &story->fresh[i];
    return NULL;
}

static int take_verdict(const demo_story *story, const json_t *prediction, int after)
{
    const char *file = json_string_value(json_object_get(prediction, "file"));
    const char *label = json_string_value(json_object_get(prediction, "label"));
    const json_t *probabilities = json_object_get(prediction, "probabilities");
    demo_photo *photo = find_photo(story, file);
    if (!photo || !label)
        return cli_fail(BROAD_BUG, "a verdict is about an unknown photo, %s", file ? file : "without a name");
    demo_verdict *verdict = after ? &photo->after : &photo->before;
    verdict->label = strcmp(label, demo_classes[1]) == 0;
    verdict->probability = json_real_value(json_object_get(probabilities, demo_classes[1]));
    return BROAD_OK;
}

static int take_verdicts(const demo_story *story, const json_t *result, int after)
{
    const json_t *list = json_object_get(result, "predictions");
    size_t count = json_array_size(list);
    if (count != story->fresh_count)
        return cli_fail(BROAD_BUG, "there are %zu verdicts on %zu photos", count, story->fresh_count);
    int status = BROAD_OK;
    for (size_t i = 0; i < count && !status; i++) status = take_verdict(story, json_array_get(list, i), after);
    return status;
}

static int judge(demo_story *story)
{
    json_t *result = NULL;
    int status = step(
        &result, &story->seconds.predict, story,
        WORDS("predict", story->at[DEMO_MODEL], story->at[DEMO_NEW], "--proba", "--heatmap", story->at[DEMO_HEATMAPS]));
    if (!status) status = take_verdicts(story, result, 0);
    story->noted = 1;
    json_decref(result);
    return status;
}

static int judge_again(demo_story *story)
{
    json_t *result = NULL;
    double seconds = 0;
    int status = step(&result, &seconds, story,
                      WORDS("predict", story->at[DEMO_CORRECTED_MODEL], story->at[DEMO_NEW], "--proba"));
    if (!status) status = take_verdicts(story, result, 1);
    json_decref(result);
    return status;
}

/* ---- the correction ---- */

/* What the model gave to the truth. */
static double truth_probability(const demo_photo *photo)
{
    return photo->truth ? photo->before.probability : 1 - photo->before.probability;
}

static int is_worse(const demo_photo *photo, const demo_photo *than)
{
    int right = demo_is_right(photo, &photo->before), than_right = demo_is_right(than, &than->before);
    if (right != than_right) return !right;
    return truth_probability(photo) < truth_probability(than);
}

static demo_photo *worst_left(const demo_story *story)
{
    demo_photo *worst = NULL;
    for (size_t i = 0; i < story->fresh_count; i++) {
        demo_photo *photo = &story->fresh[i];
        if (!photo->corrected && (!worst || is_worse(photo, worst))) worst = photo;
    }
    return worst;
}

/* The wrong ones, those that the model was surest of first; if there are none, some that it was not sure of. */
static void choose_corrections(demo_story *story)
{
    size_t most = DEMO_CORRECTIONS_MOST;
    for (demo_photo *photo; story->corrections < most && (photo = worst_left(story)); story->corrections++) {
        int right = demo_is_right(photo, &photo->before);
        if (right && story->corrections == 0) most = DOUBTS;
        if (right && most != DOUBTS) break;
        photo->corrected = 1;
    }
}

static int correct(demo_story *story)
{
    choose_corrections(story);
    int status = demo_files_correct(story);
    if (!status)
        status = step(&story->learn, &story->seconds.learn, story,
                      WORDS("learn", story->at[DEMO_MODEL], story->at[DEMO_CORRECTED], "--with", story->at[DEMO_PHOTOS],
                            "-o", story->at[DEMO_CORRECTED_MODEL]));
    return status ? status : judge_again(story);
}

static int verify_and_report(demo_story *story)
{
    int status =
        step(&story->verify, &story->seconds.verify, story,
             WORDS("verify", story->at[DEMO_CORRECTED_MODEL], story->at[DEMO_PHOTOS], story->at[DEMO_CORRECTED]));
    if (status && status != -BROAD_FAILED) return status; /* if it does not hold, that is for the story to tell */
    return step(&story->report, &story->seconds.report, story,
                WORDS("report", story->at[DEMO_CORRECTED_MODEL], story->at[DEMO_NEW], "-o", story->at[DEMO_REPORT],
                      "--title", "Panels of broad demo"));
}

/* ---- the command ---- */

static int prepare(demo_story *story, const cli_arguments *arguments)
{
    story->arguments = arguments;
    story->folder = demo_folder(arguments);
    int status = cli_seed(&story->seed, arguments);
    if (!status) status = cli_count(&story->count, arguments, "count");
    if (status) return status;
    if (story->count < COUNT_LEAST || story->count > COUNT_MOST)
        return cli_fail(BROAD_USAGE, "--count: %zu is out of range; give %d to %d", story->count, COUNT_LEAST,
                        COUNT_MOST);
    story->fresh_count = story->count / 3;
    story->fresh = calloc(story->fresh_count, sizeof *story->fresh);
    if (!story->fresh) return cli_fail(BROAD_NO_MEMORY, "out of memory: cannot list %zu photos", story->fresh_count);
    return demo_files_prepare(story);
}

static int tell_story(demo_story *story, int json)
{
    static const struct {
        int (*act)(demo_story *story);
        void (*tell)(const demo_story *story);
    } chapters[] = {
        {make_photos, demo_print_photos},    {fit, demo_print_fit},
        {judge, demo_print_verdicts},        {correct, demo_print_correction},
        {verify_and_report, demo_print_end},
    };
    double start = broad__seconds();
    int status = BROAD_OK;
    for (size_t i = 0; i < sizeof chapters / sizeof chapters[0] && !status; i++) {
        status = chapters[i].act(story);
        story->seconds.total = broad__seconds() - start;
        if (!status && !json) chapters[i].tell(story), fflush(stdout);
    }
    if (!status && json) status = demo_print_json(story);
    return !status && !json_is_true(json_object_get(story->verify, "holds")) ? -BROAD_FAILED : status;
}

int demo_photos(const cli_arguments *arguments)
{
    demo_story *story = calloc(1, sizeof *story);
    if (!story) return cli_fail(BROAD_NO_MEMORY, "out of memory while starting the demonstration");
    int status = prepare(story, arguments);
    if (!status) status = tell_story(story, cli_given(arguments, "json") != NULL);
    json_decref(story->fit);
    json_decref(story->learn);
    json_decref(story->verify);
    json_decref(story->report);
    free(story->fresh);
    free(story);
    return status;
}
