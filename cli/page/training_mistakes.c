#include "page/training_mistakes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/progress.h"
#include "page/assets.h"
#include "page/page.h"
#include "page/picture_file.h"

enum { PICTURES = 24, NAMES_MOST = 300, SIDE = 240, QUALITY = 75 };

#define PART(output, name, ...) CLI_PAGE_PART(output, cli_asset_training_html, name, __VA_ARGS__)

typedef struct mistake {
    size_t row, truth, label;
    double certainty; /* probability of the verdict; NaN: the model gives none */
} mistake;

static int surest_first(const void *a, const void *b)
{
    const mistake *one = a, *other = b;
    if (one->certainty != other->certainty && !isnan(one->certainty)) return one->certainty < other->certainty ? 1 : -1;
    return (one->row > other->row) - (one->row < other->row);
}

/* *out: as many as returned in *out_count, for the caller to free. */
static int find_mistakes(mistake **out, size_t *out_count, const cli_training *t, const broad_data *data)
{
    size_t rows = broad_data_rows(data), outputs = broad_model_outputs(t->model);
    double *scores = calloc(rows * outputs + 1, sizeof *scores);
    *out = calloc(rows + 1, sizeof **out);
    int status =
        scores && *out ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory while listing incorrect verdicts");
    if (!status) status = broad_predict_data(scores, t->model, data, cli_watch(t->threads));
    int known = !status && broad_probabilities(NULL, t->model, NULL, 0) == BROAD_OK;
    for (size_t i = 0; !status && i < rows; i++) {
        double *row = scores + i * outputs;
        size_t truth = broad_data_class(data, i), label = broad_best_class(t->model, row);
        if (label == truth || broad_data_photo(data, i)->copy) continue;
        if (known) status = broad_probabilities(row, t->model, row, 1);
        (*out)[(*out_count)++] = (mistake){i, truth, label, known ? row[label] : NAN};
    }
    free(scores);
    if (!status) qsort(*out, *out_count, sizeof **out, surest_first);
    return status;
}

/* A small picture in the page; a photo that is no longer there has none. */
static void put_picture(cli_output *output, const broad_photo *photo)
{
    broad_picture *whole = NULL, *framed = NULL;
    void *bytes = NULL;
    size_t count = 0;
    int status = cli_photo_decode(&whole, photo, SIDE);
    if (!status) status = cli_photo_framed(&framed, whole, photo, SIDE);
    if (!status) status = broad_picture_jpeg(&bytes, &count, framed, QUALITY);
    if (!status) {
        cli_output_print(output, "<img width=\"%zu\" height=\"%zu\" alt=\"Photo ", broad_picture_width(framed),
                         broad_picture_height(framed));
        cli_html_text(output, photo->name);
        cli_html_put(output, "\" src=\"data:image/jpeg;base64,");
        cli_html_base64(output, bytes, count);
        cli_html_put(output, "\">");
    }
    broad_free(bytes);
    broad_picture_free(framed);
    broad_picture_free(whole);
}

static const char *certainty_text(cli_number *out, const mistake *item)
{
    if (isnan(item->certainty)) out->text[0] = 0;
    else {
        cli_number part;
        snprintf(out->text, sizeof out->text, ", %.20s", cli_number_percent(&part, item->certainty));
    }
    return out->text;
}

static void put_mistake(cli_output *output, const cli_training *t, const broad_data *data, const mistake *item,
                        int picture)
{
    const broad_photo *photo = broad_data_photo(data, item->row);
    const char *truth = broad_model_output_name(t->model, item->truth);
    const char *label = broad_model_output_name(t->model, item->label);
    if (picture) {
        cli_html_put(output, "<figure>");
        put_picture(output, photo);
    }
    PART(output, picture ? "mistake" : "mistake-name", "name", photo->name, "truth", truth, "label", label, "certainty",
         certainty_text(&(cli_number){""}, item));
}

static void put_list(cli_output *output, const cli_training *t, const broad_data *data, const mistake *found,
                     size_t count)
{
    PART(output, "mistakes", "count", cli_number_count(&(cli_number){""}, count), "photos",
         cli_number_of(&(cli_number){""}, broad_data_rows(data), "photo", "photos"), "which",
         t->test ? "that it was tested on" : "that it was trained on");
    for (size_t i = 0; i < count && i < PICTURES; i++) put_mistake(output, t, data, &found[i], 1);
    cli_html_put(output, "</div>\n");
    if (count > PICTURES) cli_html_put(output, "<ul>\n");
    for (size_t i = PICTURES; i < count && i < NAMES_MOST; i++) put_mistake(output, t, data, &found[i], 0);
    if (count > PICTURES) cli_html_put(output, "</ul>\n");
    if (count > NAMES_MOST)
        PART(output, "mistakes-more", "count", cli_number_count(&(cli_number){""}, count - NAMES_MOST));
    cli_html_put(output, "</section>\n");
}

void cli_training_mistakes(cli_output *output, const cli_training *training)
{
    const broad_data *data = training->test ? training->test : training->train;
    mistake *found = NULL;
    size_t count = 0;
    if (!data || broad_model_task(training->model) != BROAD_TASK_CLASSIFY || !broad_data_photo(data, 0)) return;
    int status = find_mistakes(&found, &count, training, data);
    if (status && !output->status) output->status = status;
    if (!status && count) put_list(output, training, data, found, count);
    free(found);
}
