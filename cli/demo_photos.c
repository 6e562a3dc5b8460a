/*
 * broad demo: photos of panels from making them to the report. The steps are commands of this tool, run in this process
 * with the words that a person would type; what they come to is taken from their JSON.
 */
#include "demo_photos.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"
#include "progress.h"

enum { WORDS_MOST = 24, COUNT_LEAST = 40, COUNT_MOST = 10000, DOUBTS = 3 };

const char *const demo_classes[2] = {"Clean", "Dusty"};

/* ---- commands ---- */

static int run_command(json_t **out, const char *name, int count, char **words)
{
    const cli_command *command = NULL;
    cli_arguments arguments;
    int status = cli_command_named(&command, name);
    if (status) return status;
    status = cli_arguments_parse(&arguments, command, count, words);
    if (!status) {
        cli_json_take(out);
        status = command->run(&arguments);
        cli_json_take(NULL);
    }
    cli_arguments_clear(&arguments);
    return status;
}

/* The words of a command, ending with NULL; ours on top. *out is its result, *out_seconds grows by what it took. */
static int step(json_t **out, double *out_seconds, const demo_story *story, const char *name, ...)
{
    const char *words[WORDS_MOST + 6], *threads = cli_given(story->arguments, "threads");
    int count = 0;
    double start = cli_seconds();
    va_list rest;
    va_start(rest, name);
    for (const char *word; count < WORDS_MOST && (word = va_arg(rest, const char *));) words[count++] = word;
    va_end(rest);
    words[count++] = "--json";
    if (threads) words[count++] = "--threads", words[count++] = threads;
    if (cli_given(story->arguments, "quiet")) words[count++] = "--quiet";
    if (strcmp(name, "render") != 0) words[count++] = "--cache", words[count++] = story->at[DEMO_CACHE];
    int status = run_command(out, name, count, (char **)words);
    *out_seconds += cli_seconds() - start;
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
    int status = step(&made, &story->seconds.render, story, "render", story->at[DEMO_PHOTOS], "--count", count,
                      "--seed", seed, NULL);
    json_decref(made);
    return status ? status : demo_files_part(story);
}

/* Each photo was drawn by itself: whatever looks like a near-duplicate is none. */
static int fit(demo_story *story)
{
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)story->seed);
    return step(&story->fit, &story->seconds.fit, story, "fit", story->at[DEMO_PHOTOS], "--holdout", "0.3",
                "--no-groups", "-o", story->at[DEMO_MODEL], "--seed", seed, NULL);
}

static int take_verdict(demo_story *story, const json_t *prediction, int after)
{
    const char *file = json_string_value(json_object_get(prediction, "file"));
    const char *label = json_string_value(json_object_get(prediction, "label"));
    const json_t *probabilities = json_object_get(prediction, "probabilities");
    const char *slash = file ? strrchr(file, '/') : NULL;
    size_t number = 0;
    if (!slash || !label || sscanf(slash, "/panel-%zu.jpg", &number) != 1 || number < 1 || number > story->fresh_count)
        return cli_fail(BROAD_BUG, "the demonstration does not know the photo %s", file ? file : "of a verdict");
    demo_verdict *verdict = after ? &story->fresh[number - 1].after : &story->fresh[number - 1].before;
    verdict->label = strcmp(label, demo_classes[1]) == 0;
    verdict->probability = json_real_value(json_object_get(probabilities, demo_classes[1]));
    return BROAD_OK;
}

static int take_verdicts(demo_story *story, const json_t *result, int after)
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
    int status = step(&result, &story->seconds.predict, story, "predict", story->at[DEMO_MODEL], story->at[DEMO_NEW],
                      "--proba", "--heatmap", story->at[DEMO_HEATMAPS], NULL);
    if (!status) status = take_verdicts(story, result, 0);
    json_decref(result);
    return status;
}

static int judge_again(demo_story *story)
{
    json_t *result = NULL;
    double seconds = 0;
    int status = step(&result, &seconds, story, "predict", story->at[DEMO_CORRECTED_MODEL], story->at[DEMO_NEW],
                      "--proba", NULL);
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

static int by_error(const void *one, const void *other)
{
    const demo_photo *a = *(demo_photo *const *)one, *b = *(demo_photo *const *)other;
    int a_right = demo_is_right(a, &a->before), b_right = demo_is_right(b, &b->before);
    if (a_right != b_right) return a_right - b_right;
    double less = truth_probability(a) - truth_probability(b);
    return less < 0 ? -1 : less > 0 ? 1 : strcmp(a->name, b->name);
}

/* The wrong ones, those that the model was surest of first; if there are none, some that it was not sure of. */
static int choose_corrections(demo_story *story)
{
    size_t count = story->fresh_count, wrong = 0;
    demo_photo **order = calloc(count, sizeof *order);
    if (!order) return cli_fail(BROAD_NO_MEMORY, "out of memory: no room for %zu photos", count);
    for (size_t i = 0; i < count; i++) order[i] = &story->fresh[i];
    qsort(order, count, sizeof *order, by_error);
    while (wrong < DEMO_CORRECTIONS_MOST && wrong < count && !demo_is_right(order[wrong], &order[wrong]->before))
        wrong++;
    story->corrections = wrong ? wrong : DOUBTS;
    for (size_t i = 0; i < story->corrections; i++) order[i]->corrected = 1;
    free(order);
    return BROAD_OK;
}

static int correct(demo_story *story)
{
    int status = choose_corrections(story);
    if (!status) status = demo_files_correct(story);
    if (!status)
        status =
            step(&story->learn, &story->seconds.learn, story, "learn", story->at[DEMO_MODEL], story->at[DEMO_CORRECTED],
                 "--with", story->at[DEMO_PHOTOS], "-o", story->at[DEMO_CORRECTED_MODEL], NULL);
    return status ? status : judge_again(story);
}

static int verify_and_report(demo_story *story)
{
    int status = step(&story->verify, &story->seconds.verify, story, "verify", story->at[DEMO_CORRECTED_MODEL],
                      story->at[DEMO_PHOTOS], story->at[DEMO_CORRECTED], NULL);
    if (status && status != -BROAD_FAILED) return status; /* if it does not hold, that is for the story to tell */
    return step(&story->report, &story->seconds.report, story, "report", story->at[DEMO_CORRECTED_MODEL],
                story->at[DEMO_NEW], "-o", story->at[DEMO_REPORT], "--title", "Panels of broad demo", NULL);
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
        return cli_fail(BROAD_USAGE, "--count: %zu photos will not do; give %d to %d", story->count, COUNT_LEAST,
                        COUNT_MOST);
    story->fresh_count = story->count / 3;
    story->fresh = calloc(story->fresh_count, sizeof *story->fresh);
    if (!story->fresh) return cli_fail(BROAD_NO_MEMORY, "out of memory: no room for %zu photos", story->fresh_count);
    return demo_files_prepare(story);
}

static int tell_story(demo_story *story, int json)
{
    static const struct {
        int (*act)(demo_story *story);
        void (*tell)(const demo_story *story);
    } chapters[] = {
        {make_photos, demo_tell_photos},    {fit, demo_tell_fit},
        {judge, demo_tell_verdicts},        {correct, demo_tell_correction},
        {verify_and_report, demo_tell_end},
    };
    double start = cli_seconds();
    int status = BROAD_OK;
    for (size_t i = 0; i < sizeof chapters / sizeof chapters[0] && !status; i++) {
        status = chapters[i].act(story);
        story->seconds.total = cli_seconds() - start;
        if (!status && !json) chapters[i].tell(story), fflush(stdout);
    }
    if (!status && json) status = demo_print_json(story);
    return !status && !json_is_true(json_object_get(story->verify, "holds")) ? -BROAD_FAILED : status;
}

int demo_photos(const cli_arguments *arguments)
{
    demo_story *story = calloc(1, sizeof *story);
    if (!story) return cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the demonstration");
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
