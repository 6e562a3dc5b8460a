#include "page/findings.h"
#include "io/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "run/photo_verdict.h"

/* ---- verdicts ---- */

static double lead_over_normal(const broad_model *model, const double *scores)
{
    size_t normal = broad_model_normal(model);
    double best = -INFINITY;
    for (size_t i = 0; i < broad_model_outputs(model); i++)
        if (i != normal) best = fmax(best, scores[i]);
    return best - scores[normal];
}

static void judge_class(cli_finding *out, const cli_findings *all, const double *scores, const double *probabilities)
{
    out->label = (int)broad_best_class(all->model, scores);
    out->rank = lead_over_normal(all->model, scores);
    if (!probabilities) return;
    out->probabilities = probabilities;
    out->fault = out->rank = 1 - probabilities[broad_model_normal(all->model)];
    out->certainty = probabilities[out->label];
    out->unsure = out->certainty < CLI_CERTAIN;
}

static void judge_value(cli_finding *out, const double *scores, const double *ends)
{
    out->value = out->rank = scores[0];
    if (!ends) return;
    out->low = ends[0];
    out->high = ends[1];
}

static int largest_first(const void *a, const void *b)
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
static void fill(cli_findings *all, const double *ends)
{
    size_t outputs = broad_model_outputs(all->model);
    const double *probabilities = all->all_probabilities;
    for (size_t i = 0; i < all->count; i++) {
        cli_finding *item = &all->items[i];
        const double *scores = all->scores + i * outputs;
        *item = (cli_finding){.photo = broad_data_photo(all->data, i),
                              .row = i,
                              .label = CLI_NO_CLASS,
                              .truth = CLI_NO_CLASS,
                              .fault = NAN,
                              .certainty = NAN,
                              .value = NAN,
                              .low = NAN,
                              .high = NAN};
        if (all->classes) judge_class(item, all, scores, probabilities ? probabilities + i * outputs : NULL);
        else judge_value(item, scores, ends ? ends + 2 * i * outputs : NULL);
        item->unlike = broad_photo_is_unlike(item->photo);
        if (all->truths) item->truth = (int)broad_data_class(all->data, i);
        all->cropped |= item->photo->left > 0 || item->photo->top > 0 ||
                        item->photo->right < (double)item->photo->width ||
                        item->photo->bottom < (double)item->photo->height;
        all->places |= cli_finding_has_place(item);
        all->twins[item->photo->group]++;
    }
}

static int predict(cli_findings *all, size_t threads)
{
    size_t outputs = broad_model_outputs(all->model);
    int status = broad_predict_data(all->scores, all->model, all->data, cli_watch(threads));
    all->probabilities = all->classes && broad_probabilities(NULL, all->model, NULL, 0) == BROAD_OK;
    if (status || !all->probabilities) return status;
    all->all_probabilities = room(&status, all->count, outputs * sizeof(double));
    return status ? status : broad_probabilities(all->all_probabilities, all->model, all->scores, all->count);
}

int cli_findings_make(cli_findings *out, const broad_model *model, const broad_data *data, size_t threads)
{
    size_t outputs = broad_model_outputs(model);
    double *ends = NULL;
    int status = BROAD_OK;
    *out = (cli_findings){.model = model, .data = data, .count = broad_data_rows(data)};
    out->classes = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    out->truths = out->classes && broad_data_task(data) == BROAD_TASK_CLASSIFY;
    out->scores = room(&status, out->count, outputs * sizeof *out->scores);
    out->items = room(&status, out->count, sizeof *out->items);
    out->twins = room(&status, out->count, sizeof *out->twins);
    ends = room(&status, out->count, 2 * outputs * sizeof *ends);
    if (!status) status = predict(out, threads);
    if (!status) {
        out->intervals =
            !out->classes && broad_intervals(ends, model, out->scores, out->count, CLI_INTERVAL) == BROAD_OK;
        fill(out, out->intervals ? ends : NULL);
        qsort(out->items, out->count, sizeof *out->items, largest_first);
    }
    free(ends);
    if (status) cli_findings_clear(out);
    return status;
}

void cli_findings_clear(cli_findings *findings)
{
    free(findings->scores);
    free(findings->all_probabilities);
    free(findings->items);
    free(findings->twins);
    memset(findings, 0, sizeof *findings);
}

int cli_finding_is_sure(const cli_finding *finding) { return !finding->unsure && !finding->unlike; }

int cli_finding_is_fault(const cli_findings *findings, const cli_finding *finding)
{
    return findings->classes && finding->label != (int)broad_model_normal(findings->model);
}

const char *cli_finding_verdict(const cli_findings *findings, const cli_finding *finding)
{
    if (finding->unlike) return CLI_UNLIKE;
    return finding->unsure ? CLI_UNSURE : cli_finding_label(findings, finding->label);
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

static void put_text(cli_output *output, const char *text)
{
    cli_output_bytes(output, ",", 1);
    if (text) cli_csv_text(output, text);
}

/* What the model says: of classes with an empty correction to be filled in. */
static void put_judgement(cli_output *output, const cli_findings *all, const cli_finding *item)
{
    if (!all->classes) {
        put_number(output, item->value, 4);
        put_number(output, item->low, 4);
        put_number(output, item->high, 4);
        return;
    }
    put_text(output, cli_finding_verdict(all, item));
    put_text(output, "");
    for (size_t i = 0; item->probabilities && i < broad_model_outputs(all->model); i++)
        put_number(output, item->probabilities[i], 4);
    put_text(output, cli_finding_label(all, item->label));
    put_number(output, item->certainty, 4);
    put_text(output, !all->probabilities ? "" : item->unsure ? "yes" : "no");
}

static void put_row(cli_output *output, const cli_findings *all, const cli_finding *item)
{
    const broad_photo *photo = item->photo;
    char faults[CLI_FAULTS_BYTES];
    cli_csv_text(output, photo->file);
    put_judgement(output, all, item);
    cli_output_print(output, ",%s", photo->time);
    put_number(output, photo->latitude, 7);
    put_number(output, photo->longitude, 7);
    put_number(output, photo->altitude, 2);
    put_number(output, photo->relative_altitude, 2);
    put_number(output, photo->yaw, 2);
    put_text(output, cli_finding_group(all, item));
    put_number(output, photo->distance, 4);
    put_text(output, cli_photo_unlike(photo));
    cli_photo_faults(faults, photo);
    put_text(output, faults);
    if (all->cropped) {
        const double box[] = {photo->left, photo->top, photo->right, photo->bottom};
        for (size_t i = 0; i < 4; i++) put_number(output, box[i], 1);
        put_number(output, photo->box_score, 4);
    }
    if (all->truths) put_text(output, cli_finding_label(all, item->truth));
}

static void put_header(cli_output *output, const cli_findings *all)
{
    cli_output_print(output, "\xEF\xBB\xBF"
                             "file");
    if (!all->classes) {
        put_text(output, broad_model_output_name(all->model, 0));
        cli_output_print(output, ",low,high");
    } else {
        cli_output_print(output, ",verdict,correction");
        for (size_t i = 0; all->probabilities && i < broad_model_outputs(all->model); i++) {
            cli_output_bytes(output, ",", 1);
            cli_csv_parts(output, "p_", broad_model_output_name(all->model, i), "");
        }
        cli_output_print(output, ",label,verdict_probability,unsure");
    }
    cli_output_print(
        output,
        ",time,latitude,longitude,altitude,relative_altitude,yaw,group,distance,unlike,faults%s%s,picture,heatmap\n",
        all->cropped ? ",left,top,right,bottom,box_score" : "", all->truths ? ",truth" : "");
}

int cli_findings_write_csv(const cli_findings *findings, const cli_links *links, const char *path)
{
    cli_output output;
    cli_output_open(&output, path);
    put_header(&output, findings);
    for (size_t i = 0; i < findings->count; i++) {
        put_row(&output, findings, &findings->items[i]);
        put_text(&output, links->photo[i]);
        put_text(&output, links->heat[i]);
        cli_output_bytes(&output, "\n", 1);
    }
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

/* The name may be any bytes, a key may not. */
static void put_named(json_t *object, const char *name, double value)
{
    json_t *key = cli_json_text(name);
    if (key) cli_json_put(object, json_string_value(key), rounded(value, 4));
    json_decref(key);
}

static void put_judgement_json(json_t *object, const cli_findings *all, const cli_finding *item)
{
    if (!all->classes) {
        put_named(object, broad_model_output_name(all->model, 0), item->value);
        cli_json_put(object, "low", rounded(item->low, 4));
        cli_json_put(object, "high", rounded(item->high, 4));
        return;
    }
    cli_json_put(object, "verdict", cli_json_text(cli_finding_verdict(all, item)));
    for (size_t i = 0; item->probabilities && i < broad_model_outputs(all->model); i++) {
        char name[256];
        snprintf(name, sizeof name, "p_%.200s", broad_model_output_name(all->model, i));
        put_named(object, name, item->probabilities[i]);
    }
    cli_json_put(object, "label", cli_json_text(cli_finding_label(all, item->label)));
    cli_json_put(object, "verdict_probability", rounded(item->certainty, 4));
    cli_json_put(object, "unsure", all->probabilities ? json_boolean(item->unsure) : json_null());
}

static json_t *properties_json(const cli_findings *all, const cli_finding *item)
{
    const broad_photo *photo = item->photo;
    json_t *object = json_object();
    cli_json_put(object, "file", cli_json_text(photo->file));
    put_judgement_json(object, all, item);
    cli_json_put(object, "time", text_or_null(photo->time));
    cli_json_put(object, "altitude", rounded(photo->altitude, 2));
    cli_json_put(object, "relative_altitude", rounded(photo->relative_altitude, 2));
    cli_json_put(object, "yaw", rounded(photo->yaw, 2));
    cli_json_put(object, "group", text_or_null(cli_finding_group(all, item)));
    cli_json_put(object, "distance", rounded(photo->distance, 4));
    cli_json_put(object, "unlike", cli_photo_unlike_json(photo));
    cli_json_put(object, "faults", cli_photo_faults_json(photo));
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

static json_t *feature_json(const cli_findings *all, const cli_finding *item, const char *photo, const char *heat)
{
    json_t *object = json_object(), *geometry = json_object(), *place = json_array();
    cli_json_append(place, rounded(item->photo->longitude, 7));
    cli_json_append(place, rounded(item->photo->latitude, 7));
    if (isfinite(item->photo->altitude)) cli_json_append(place, rounded(item->photo->altitude, 2));
    cli_json_put(geometry, "type", cli_json_text("Point"));
    cli_json_put(geometry, "coordinates", place);
    cli_json_put(object, "type", cli_json_text("Feature"));
    cli_json_put(object, "geometry", geometry);
    json_t *properties = properties_json(all, item);
    cli_json_put(properties, "picture", photo ? cli_json_text(photo) : json_null());
    cli_json_put(properties, "heatmap", heat ? cli_json_text(heat) : json_null());
    cli_json_put(object, "properties", properties);
    return object;
}

int cli_findings_write_geojson(const cli_findings *findings, const cli_links *links, const char *path)
{
    cli_output output;
    const char *between = "\n";
    cli_output_open(&output, path);
    cli_output_print(&output, "{\"type\": \"FeatureCollection\", \"features\": [");
    for (size_t i = 0; i < findings->count && !output.status; i++) {
        if (!cli_finding_has_place(&findings->items[i])) continue;
        json_t *feature = feature_json(findings, &findings->items[i], links->photo[i], links->heat[i]);
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
