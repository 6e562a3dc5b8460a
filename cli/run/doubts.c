#include "run/doubts.h"

#include <math.h>
#include <stdlib.h>

#include "io/interrupt.h"

enum { SHOWN = 20 };

static int largest_lead_first(const void *a, const void *b)
{
    const cli_doubt *one = a, *other = b;
    if (one->lead != other->lead) return one->lead < other->lead ? 1 : -1;
    return (one->row > other->row) - (one->row < other->row);
}

/* Augmented copies are there to help, not to be judged. */
static void collect(cli_doubts *out, const double *scores, const broad_model *model, const broad_data *training)
{
    size_t outputs = broad_model_outputs(model);
    for (size_t i = 0; i < broad_data_rows(training); i++) {
        const broad_photo *photo = broad_data_photo(training, i);
        const double *row = scores + i * outputs;
        if (isnan(row[0]) || (photo && photo->copy)) continue;
        size_t label = broad_data_class(training, i), verdict = broad_best_class(model, row);
        if (verdict != label) out->items[out->count++] = (cli_doubt){i, label, verdict, row[verdict] - row[label]};
    }
    qsort(out->items, out->count, sizeof *out->items, largest_lead_first);
}

int cli_doubts_find(cli_doubts *out, const broad_model *model, const broad_data *training, size_t threads)
{
    broad_options run;
    broad_trainer *trainer = NULL;
    size_t rows = broad_data_rows(training);
    *out = (cli_doubts){0};
    if (broad_model_task(model) != BROAD_TASK_CLASSIFY)
        return cli_fail(BROAD_USAGE, "--doubts is for models that tell classes apart");
    broad_options_init(&run);
    run.threads = threads;
    double *scores = calloc(rows * broad_model_outputs(model) + 1, sizeof *scores);
    out->items = calloc(rows + 1, sizeof *out->items);
    int status = scores && out->items ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory");
    if (!status) status = broad_trainer_resume(&trainer, model, training, &run, BROAD_RESUME_CHECKED);
    if (!status) status = broad_trainer_leave_out(scores, trainer);
    if (!status) collect(out, scores, model, training);
    broad_trainer_close(NULL, trainer);
    free(scores);
    if (status) cli_doubts_clear(out);
    return status;
}

void cli_doubts_clear(cli_doubts *doubts)
{
    free(doubts->items);
    *doubts = (cli_doubts){0};
}

json_t *cli_doubts_json(const cli_doubts *doubts, const broad_model *model, const broad_data *training)
{
    json_t *list = json_array();
    for (size_t i = 0; i < doubts->count; i++) {
        const cli_doubt *own = &doubts->items[i];
        const broad_photo *photo = broad_data_photo(training, own->row);
        json_t *object = json_object();
        cli_json_put(object, "row", json_integer((json_int_t)own->row + 1));
        cli_json_put(object, "file", photo ? cli_json_text(photo->file) : json_null());
        cli_json_put(object, "content", photo ? cli_json_text(photo->content) : json_null());
        cli_json_put(object, "label", cli_json_text(broad_model_output_name(model, own->label)));
        cli_json_put(object, "verdict", cli_json_text(broad_model_output_name(model, own->verdict)));
        cli_json_put(object, "lead", cli_json_real(own->lead));
        cli_json_append(list, object);
    }
    return list;
}

void cli_doubts_print(const cli_doubts *doubts, const broad_model *model, const broad_data *training)
{
    cli_print("%zu of %zu training rows would be judged differently, had they not been seen%s\n", doubts->count,
              broad_data_rows(training), doubts->count ? "; are their labels correct?" : "");
    for (size_t i = 0; i < doubts->count && i < SHOWN; i++) {
        const cli_doubt *own = &doubts->items[i];
        const broad_photo *photo = broad_data_photo(training, own->row);
        if (photo) cli_print("  %s", photo->file);
        else cli_print("  row %zu", own->row + 1);
        cli_print(": labelled %s, looks like %s\n", broad_model_output_name(model, own->label),
                  broad_model_output_name(model, own->verdict));
    }
    if (doubts->count > SHOWN) cli_print("  and %zu more; --json lists all of them\n", doubts->count - SHOWN);
}
