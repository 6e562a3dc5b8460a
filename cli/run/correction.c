#include "run/correction.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "run/measures.h"
#include "run/show.h"

/* More new rows than this part of the old ones are no corrections, and auto must be asked for. */
static const double FEW = 0.2;

enum { NOTES_MOST = 5 };
static const size_t FILE_MOST = (size_t)1 << 30;

void cli_correction_clear(cli_correction *correction)
{
    broad_metrics_clear(&correction->old_before);
    broad_metrics_clear(&correction->fresh_before);
    broad_metrics_clear(&correction->test_before);
    broad_metrics_clear(&correction->old_after);
    free(correction->weights);
    memset(correction, 0, sizeof *correction);
}

/* ---- the weight ---- */

/* Where the weights of the network are solved again as a whole, another weight of the rows costs another solution. */
static int can_search(const cli_run *run, int with_rows)
{
    return with_rows && run->increment.layers == 0 && broad_model_can_correct(run->model);
}

int cli_correction_weight(cli_correction *out, const cli_run *run, int with_rows)
{
    const char *text = cli_given(run->arguments, "weight");
    char *end = NULL;
    out->weight = 1;
    out->given = text != NULL;
    out->automatic = text ? strcmp(text, "auto") == 0 : broad_model_maps(run->model) && can_search(run, with_rows);
    if (out->automatic && !can_search(run, with_rows))
        return cli_fail(BROAD_USAGE,
                        "--weight auto is for classes and joint weights, with the old rows (--with OLD) and without "
                        "--enhance; give a number");
    if (!text || out->automatic) return BROAD_OK;
    out->weight = strtod(text, &end);
    if (end == text || *end || !(out->weight >= 1e-12 && out->weight <= 1e12))
        return cli_fail(BROAD_USAGE, "--weight: '%s' is neither auto nor a number from 1e-12 to 1e12, such as 10",
                        text);
    if (!with_rows && out->weight != 1)
        return cli_fail(BROAD_USAGE, "--weight is relative to the old rows; give them with --with OLD");
    return BROAD_OK;
}

int cli_correction_count(cli_correction *out, const cli_run *run)
{
    const broad_data *rows = run->fresh;
    const broad_model *model = run->model;
    size_t outputs = broad_model_outputs(model);
    out->wrong = 0;
    if (broad_model_task(model) != BROAD_TASK_CLASSIFY) return BROAD_OK;
    double *scores = calloc(broad_data_rows(rows) * outputs, sizeof *scores);
    if (!scores) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    int status = broad_predict_data(scores, model, rows, cli_watch(run->options.threads));
    for (size_t i = 0; !status && i < broad_data_rows(rows); i++) {
        const broad_photo *photo = broad_data_photo(rows, i);
        int copied = photo && photo->copy; /* augmented copies are there to help, not to be judged */
        out->wrong += !copied && broad_best_class(model, scores + i * outputs) != broad_data_class(rows, i);
    }
    free(scores);
    return status;
}

int cli_correction_learn(cli_correction *c, cli_run *run)
{
    broad_correction found = {.size = sizeof found};
    int status = broad_trainer_resume(&run->trainer, run->model, run->train, &run->options,
                                      cli_given(run->arguments, "force") != NULL);
    if (!status) status = broad_trainer_correct(&found, run->trainer, run->fresh, c->weights);
    status = cli_run_settle(run, status);
    if (status) return status;
    c->weight = found.weight;
    if (found.wrong)
        cli_note(run->arguments,
                 "%zu of the %zu new rows are still classified incorrectly at the maximum weight, %g; are their labels "
                 "correct?",
                 found.wrong, broad_data_rows(run->fresh), BROAD_CORRECTION_MOST);
    return BROAD_OK;
}

/* ---- what was there before ---- */

int cli_correction_measure(cli_correction *out, const cli_run *run)
{
    size_t threads = run->options.threads;
    if (broad_data_outputs(run->fresh) > broad_model_outputs(run->model))
        return BROAD_OK; /* it cannot know the new ones */
    int status = cli_judge(&out->fresh_before, run->model, run->fresh, threads);
    if (!status && run->train) status = cli_judge(&out->old_before, run->model, run->train, threads);
    if (!status && run->test) status = cli_judge(&out->test_before, run->model, run->test, threads);
    out->known = !status;
    return status;
}

int cli_correction_measure_after(cli_correction *out, const cli_run *run)
{
    if (!out->known || !run->train) return BROAD_OK;
    return cli_judge(&out->old_after, run->model, run->train, run->options.threads);
}

/* ---- copies ---- */

/* Sizes of the files that rows come from; -1 where there is none to look at, or the row is a augmented copy. */
static off_t *file_sizes(const broad_data *rows)
{
    off_t *sizes = calloc(broad_data_rows(rows) + 1, sizeof *sizes);
    for (size_t i = 0; sizes && i < broad_data_rows(rows); i++) {
        const broad_photo *photo = broad_data_photo(rows, i);
        struct stat info;
        sizes[i] = photo && !photo->copy && stat(photo->file, &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : -1;
    }
    return sizes;
}

static int same_bytes(const char *a, const char *b)
{
    void *bytes_a = NULL, *bytes_b = NULL;
    size_t count_a = 0, count_b = 0;
    int status = broad__file_read(&bytes_a, &count_a, a, FILE_MOST);
    if (!status) status = broad__file_read(&bytes_b, &count_b, b, FILE_MOST);
    int same = !status && count_a == count_b && memcmp(bytes_a, bytes_b, count_a) == 0;
    broad__free(bytes_a);
    broad__free(bytes_b);
    return same;
}

typedef int (*on_copy)(void *context, size_t fresh, size_t other);

/* Calls for every pair of rows whose files have the same bytes. */
static int each_copy(const broad_data *fresh, const broad_data *others, on_copy found, void *context)
{
    off_t *a = file_sizes(fresh), *b = file_sizes(others);
    int status = a && b ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory");
    for (size_t i = 0; !status && i < broad_data_rows(fresh); i++)
        for (size_t j = 0; !status && a[i] >= 0 && j < broad_data_rows(others); j++)
            if (a[i] == b[j] && same_bytes(broad_data_photo(fresh, i)->file, broad_data_photo(others, j)->file))
                status = found(context, i, j);
    free(a);
    free(b);
    return status;
}

typedef struct comparison {
    cli_correction *correction;
    const cli_run *run;
    char *learned; /* rows of run->test: a new photo, or near-duplicate of one */
} comparison;

static const char *label_of(const broad_data *rows, size_t row)
{
    return broad_data_output_name(rows, broad_data_class(rows, row));
}

static json_t *side_json(const broad_data *rows, size_t row)
{
    json_t *object = json_object();
    cli_json_put(object, "file", cli_json_text(broad_data_photo(rows, row)->file));
    cli_json_put(object, "label", cli_json_text(label_of(rows, row)));
    return object;
}

static int note_contradiction(void *context, size_t fresh, size_t old)
{
    comparison *c = context;
    const cli_run *run = c->run;
    if (strcmp(label_of(run->fresh, fresh), label_of(run->train, old)) == 0) return BROAD_OK;
    json_t *list = json_object_get(run->photos, "contradictions"), *pair = json_array();
    cli_json_append(pair, side_json(run->train, old));
    cli_json_append(pair, side_json(run->fresh, fresh));
    if (list) cli_json_append(list, pair);
    else json_decref(pair);
    if (++c->correction->contradictions <= NOTES_MOST)
        cli_note(run->arguments, "%s (%s) is a copy of %s with another label (%s)",
                 broad_data_photo(run->fresh, fresh)->file, label_of(run->fresh, fresh),
                 broad_data_photo(run->train, old)->file, label_of(run->train, old));
    return BROAD_OK;
}

static int mark_learned(void *context, size_t fresh, size_t other)
{
    comparison *c = context;
    const broad_data *test = c->run->test;
    (void)fresh;
    for (size_t i = 0; i < broad_data_rows(test); i++)
        if (broad_data_photo(test, i)->group == broad_data_photo(test, other)->group) c->learned[i] = 1;
    return BROAD_OK;
}

/* Rows that are learned now, and near-duplicates of them, no longer tell how the model does on others. */
static int drop_learned(cli_correction *out, cli_run *run, const char *learned)
{
    size_t rows = broad_data_rows(run->test), kept = 0, *list = calloc(rows, sizeof *list);
    if (!list) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < rows; i++)
        if (!learned[i]) list[kept++] = i;
    broad_data *rest = NULL;
    int status = kept && kept < rows ? broad_data_pick(&rest, run->test, list, kept) : BROAD_OK;
    free(list);
    if (status) return status;
    out->dropped = rows - kept;
    if (kept == rows) return BROAD_OK;
    broad_data_free(run->test);
    run->test = rest;
    return BROAD_OK;
}

/* Room for the weights, and those of a number that was given. */
static int set_weights(cli_correction *out, cli_run *run)
{
    size_t rows = broad_data_rows(run->fresh);
    if (!out->given && !out->automatic) return BROAD_OK;
    out->weights = calloc(rows, sizeof *out->weights);
    if (!out->weights) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < rows; i++) out->weights[i] = out->weight;
    run->increment.weights = out->weights;
    return BROAD_OK;
}

int cli_correction_compare(cli_correction *out, cli_run *run)
{
    comparison c = {.correction = out, .run = run};
    if (!out->given && run->train && (double)broad_data_rows(run->fresh) > FEW * (double)broad_data_rows(run->train))
        out->automatic = 0;
    int status = set_weights(out, run), classify = broad_data_task(run->fresh) == BROAD_TASK_CLASSIFY;
    if (status) return status;
    if (!broad_data_maps(run->fresh)) return BROAD_OK;
    if (run->train && classify) status = each_copy(run->fresh, run->train, note_contradiction, &c);
    if (out->contradictions > NOTES_MOST)
        cli_note(run->arguments, "%zu more new photos are copies of old ones with another label",
                 out->contradictions - NOTES_MOST);
    if (status || !run->test) return status;
    c.learned = calloc(broad_data_rows(run->test), 1);
    if (!c.learned) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    status = each_copy(run->fresh, run->test, mark_learned, &c);
    if (!status) status = drop_learned(out, run, c.learned);
    free(c.learned);
    return status;
}
