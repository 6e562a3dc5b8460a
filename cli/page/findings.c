#include "page/findings.h"
#include "io/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"

/* ---- verdicts ---- */

static void judge_class(cli_finding *out, const cli_findings *all, const double *scores, const double *probabilities)
{
    size_t positive = broad_model_positive(all->model);
    out->label = (int)broad_best_class(all->model, scores);
    out->rank = scores[positive];
    if (!probabilities) return;
    out->probability = out->severity = out->rank = probabilities[positive];
    out->certainty = probabilities[out->label];
    out->unsure = out->certainty < CLI_CERTAIN;
}

static void judge_value(cli_finding *out, const double *scores, const double *reach)
{
    out->severity = out->rank = scores[0];
    if (!reach) return;
    out->low = scores[0] - reach[0];
    out->high = scores[0] + reach[0];
}

static int worst_first(const void *a, const void *b)
{
    const cli_finding *one = a, *other = b;
    if (one->rank != other->rank) return one->rank < other->rank ? 1 : -1;
    return (one->row > other->row) - (one->row < other->row);
}

static void *room(int *status, size_t count, size_t bytes)
{
    void *block = *status ? NULL : calloc(count ? count : 1, bytes);
    if (!block && !*status) *status = cli_fail(BROAD_NO_MEMORY, "out of memory: no room for %zu findings", count);
    return block;
}

/* Augmented copies are for training; readers make none for a model. */
static void fill(cli_findings *all, const double *probabilities, const double *reach)
{
    size_t outputs = broad_model_outputs(all->model);
    for (size_t i = 0; i < all->count; i++) {
        cli_finding *item = &all->items[i];
        const double *scores = all->scores + i * outputs;
        *item = (cli_finding){.photo = broad_data_photo(all->data, i),
                              .row = i,
                              .label = CLI_NO_CLASS,
                              .truth = CLI_NO_CLASS,
                              .probability = NAN,
                              .certainty = NAN,
                              .severity = NAN,
                              .low = NAN,
                              .high = NAN,
                              .area = NAN};
        if (all->classes) judge_class(item, all, scores, probabilities ? probabilities + i * outputs : NULL);
        else judge_value(item, scores, reach);
        if (all->truths) item->truth = (int)broad_data_class(all->data, i);
        all->cropped |= item->photo->left > 0 || item->photo->top > 0 ||
                        item->photo->right < (double)item->photo->width ||
                        item->photo->bottom < (double)item->photo->height;
        all->places |= cli_finding_has_place(item);
        all->twins[item->photo->group]++;
    }
}

static int predict(double **out_probabilities, cli_findings *all, size_t threads)
{
    size_t outputs = broad_model_outputs(all->model);
    int status = broad_predict_data(all->scores, all->model, all->data, cli_watch(threads));
    all->probabilities = all->classes && broad_probabilities(NULL, all->model, NULL, 0) == BROAD_OK;
    if (status || !all->probabilities) return status;
    *out_probabilities = room(&status, all->count, outputs * sizeof(double));
    return status ? status : broad_probabilities(*out_probabilities, all->model, all->scores, all->count);
}

int cli_findings_make(cli_findings *out, const broad_model *model, const broad_data *data, size_t threads)
{
    size_t outputs = broad_model_outputs(model);
    double *probabilities = NULL, *reach = NULL;
    int status = BROAD_OK;
    *out = (cli_findings){.model = model, .data = data, .count = broad_data_rows(data)};
    out->classes = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    out->truths = out->classes && broad_data_task(data) == BROAD_TASK_CLASSIFY;
    out->scores = room(&status, out->count, outputs * sizeof *out->scores);
    out->items = room(&status, out->count, sizeof *out->items);
    out->twins = room(&status, out->count, sizeof *out->twins);
    reach = room(&status, outputs, sizeof *reach);
    if (!status) status = predict(&probabilities, out, threads);
    if (!status) {
        out->intervals = !out->classes && broad_interval(reach, model, CLI_INTERVAL) == BROAD_OK;
        fill(out, probabilities, out->intervals ? reach : NULL);
        qsort(out->items, out->count, sizeof *out->items, worst_first);
    }
    free(probabilities);
    free(reach);
    if (status) cli_findings_clear(out);
    return status;
}

void cli_findings_clear(cli_findings *findings)
{
    free(findings->scores);
    free(findings->items);
    free(findings->twins);
    memset(findings, 0, sizeof *findings);
}

int cli_finding_is_positive(const cli_findings *findings, const cli_finding *finding)
{
    return findings->classes && finding->label == (int)broad_model_positive(findings->model);
}

const char *cli_finding_label(const cli_findings *findings, int label)
{
    return label == CLI_NO_CLASS ? "" : broad_model_output_name(findings->model, (size_t)label);
}

int cli_finding_has_place(const cli_finding *finding)
{
    return isfinite(finding->photo->latitude) && isfinite(finding->photo->longitude);
}

const char *cli_finding_group(const cli_findings *findings, const cli_finding *finding)
{
    size_t first = finding->photo->group;
    return findings->twins[first] > 1 ? broad_data_photo(findings->data, first)->name : "";
}

/* ---- CSV ---- */

/* After a comma; nothing for what there is none of. */
static void put_number(cli_output *output, double value, int digits)
{
    cli_output_bytes(output, ",", 1);
    if (isfinite(value)) cli_output_print(output, "%.*f", digits, value);
}

static void put_row(cli_output *output, const cli_findings *all, const cli_finding *item)
{
    const broad_photo *photo = item->photo;
    cli_csv_text(output, photo->file);
    cli_output_bytes(output, ",", 1);
    cli_csv_text(output, cli_finding_label(all, item->label));
    put_number(output, item->probability, 4);
    put_number(output, item->certainty, 4);
    put_number(output, item->severity, 4);
    put_number(output, item->low, 4);
    put_number(output, item->high, 4);
    put_number(output, item->area, 4);
    cli_output_print(output, ",%s", photo->time);
    put_number(output, photo->latitude, 7);
    put_number(output, photo->longitude, 7);
    put_number(output, photo->altitude, 2);
    put_number(output, photo->relative_altitude, 2);
    put_number(output, photo->yaw, 2);
    cli_output_bytes(output, ",", 1);
    cli_csv_text(output, cli_finding_group(all, item));
    if (all->cropped) {
        const double box[] = {photo->left, photo->top, photo->right, photo->bottom};
        for (size_t i = 0; i < 4; i++) put_number(output, box[i], 1);
        put_number(output, photo->box_score, 4);
    }
    if (all->truths) {
        cli_output_bytes(output, ",", 1);
        cli_csv_text(output, cli_finding_label(all, item->truth));
    }
    cli_output_bytes(output, "\n", 1);
}

int cli_findings_write_csv(const cli_findings *findings, const char *path)
{
    cli_output output;
    cli_output_open(&output, path);
    cli_output_print(&output,
                     "file,label,probability,verdict_probability,severity,low,high,area,time,latitude,longitude,"
                     "altitude,relative_altitude,yaw,group%s%s\n",
                     findings->cropped ? ",left,top,right,bottom,box_score" : "", findings->truths ? ",truth" : "");
    for (size_t i = 0; i < findings->count; i++) put_row(&output, findings, &findings->items[i]);
    return cli_output_close(&output);
}

int cli_skipped_write_csv(const broad_data *data, const char *path)
{
    cli_output output;
    cli_output_open(&output, path);
    cli_output_print(&output, "file,reason\n");
    for (size_t i = 0; i < broad_data_skipped_count(data); i++) {
        const broad_skipped *skipped = broad_data_skipped(data, i);
        cli_csv_text(&output, skipped->file);
        cli_output_bytes(&output, ",", 1);
        cli_csv_text(&output, skipped->reason);
        cli_output_bytes(&output, "\n", 1);
    }
    return cli_output_close(&output);
}

/* ---- GeoJSON ---- */

/* So many digits as mean something, and so few that the text is what a person would write. */
static json_t *rounded(double value, int digits)
{
    double unit = pow(10, digits);
    return cli_json_real(isfinite(value) ? nearbyint(value * unit) / unit : NAN);
}

static json_t *text_or_null(const char *text) { return *text ? cli_json_text(text) : json_null(); }

static json_t *properties_json(const cli_findings *all, const cli_finding *item)
{
    const broad_photo *photo = item->photo;
    json_t *object = json_object();
    cli_json_put(object, "file", cli_json_text(photo->file));
    cli_json_put(object, "label", text_or_null(cli_finding_label(all, item->label)));
    cli_json_put(object, "probability", rounded(item->probability, 4));
    cli_json_put(object, "verdict_probability", rounded(item->certainty, 4));
    cli_json_put(object, "severity", rounded(item->severity, 4));
    cli_json_put(object, "low", rounded(item->low, 4));
    cli_json_put(object, "high", rounded(item->high, 4));
    cli_json_put(object, "area", rounded(item->area, 4));
    cli_json_put(object, "time", text_or_null(photo->time));
    cli_json_put(object, "altitude", rounded(photo->altitude, 2));
    cli_json_put(object, "relative_altitude", rounded(photo->relative_altitude, 2));
    cli_json_put(object, "yaw", rounded(photo->yaw, 2));
    cli_json_put(object, "group", text_or_null(cli_finding_group(all, item)));
    if (all->cropped) {
        json_t *box = json_array();
        const double sides[] = {photo->left, photo->top, photo->right, photo->bottom};
        for (size_t i = 0; i < 4; i++) cli_json_append(box, rounded(sides[i], 1));
        cli_json_put(object, "box", box);
        cli_json_put(object, "box_score", rounded(photo->box_score, 4));
    }
    if (all->truths) cli_json_put(object, "truth", text_or_null(cli_finding_label(all, item->truth)));
    return object;
}

static json_t *feature_json(const cli_findings *all, const cli_finding *item)
{
    json_t *object = json_object(), *geometry = json_object(), *place = json_array();
    cli_json_append(place, rounded(item->photo->longitude, 7));
    cli_json_append(place, rounded(item->photo->latitude, 7));
    if (isfinite(item->photo->altitude)) cli_json_append(place, rounded(item->photo->altitude, 2));
    cli_json_put(geometry, "type", cli_json_text("Point"));
    cli_json_put(geometry, "coordinates", place);
    cli_json_put(object, "type", cli_json_text("Feature"));
    cli_json_put(object, "geometry", geometry);
    cli_json_put(object, "properties", properties_json(all, item));
    return object;
}

int cli_findings_write_geojson(const cli_findings *findings, const char *path)
{
    cli_output output;
    const char *between = "\n";
    cli_output_open(&output, path);
    cli_output_print(&output, "{\"type\": \"FeatureCollection\", \"features\": [");
    for (size_t i = 0; i < findings->count && !output.status; i++) {
        if (!cli_finding_has_place(&findings->items[i])) continue;
        json_t *feature = feature_json(findings, &findings->items[i]);
        char *text = json_dumps(feature, JSON_REAL_PRECISION(12));
        json_decref(feature);
        if (!text) output.status = cli_fail(BROAD_NO_MEMORY, "out of memory while writing %s", path);
        cli_output_bytes(&output, between, strlen(between));
        if (text) cli_output_bytes(&output, text, strlen(text));
        free(text);
        between = ",\n";
    }
    cli_output_print(&output, "\n]}\n");
    return cli_output_close(&output);
}
