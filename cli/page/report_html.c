#include "page/report_html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "page/assets.h"
#include "page/figure.h"
#include "page/page.h"
#include "run/photo_summary.h"

cli_band cli_report_band(const cli_findings *findings, const cli_finding *finding)
{
    if (!findings->classes) return CLI_BAND_NONE;
    if (finding->unsure) return CLI_BAND_UNSURE;
    return cli_finding_is_positive(findings, finding) ? CLI_BAND_POSITIVE : CLI_BAND_NEGATIVE;
}

cli_tally cli_report_count(const cli_findings *findings)
{
    cli_tally found = {0};
    for (size_t i = 0; i < findings->count; i++) {
        cli_band band = cli_report_band(findings, &findings->items[i]);
        found.positive += band == CLI_BAND_POSITIVE;
        found.unsure += band == CLI_BAND_UNSURE;
        found.negative += band == CLI_BAND_NEGATIVE;
        found.placed += cli_finding_has_place(&findings->items[i]) != 0;
    }
    return found;
}

static const char *const band_classes[] = {"neg", "mid", "pos", ""};

static const char *positive_name(const cli_findings *all)
{
    return broad_model_output_name(all->model, broad_model_positive(all->model));
}

/* A template of this page, with slots and without. */
#define PART(output, name, ...) CLI_PAGE_PART(output, cli_asset_report_html, name, __VA_ARGS__)
static void put_plain(cli_output *output, const char *name)
{
    cli_page_part(output, cli_asset_report_html, name, NULL);
}

static void put_value(cli_output *output, double value) { cli_output_print(output, "%.4g", value); }

static const char *photos(cli_number *out, size_t count) { return cli_number_of(out, count, "photo", "photos"); }

static void put_fact(cli_output *output, const char *name, const char *text)
{
    CLI_PAGE_PART(output, cli_asset_page_html, "fact", "name", name, "text", text);
}

/* ---- head ---- */

enum { DAY_LENGTH = 10, NAMES = 1024 };

/* "2024-05-01 09:12" from "2024-05-01T09:12:33"; nothing from "". */
static void format_time(char out[32], const char *time)
{
    out[0] = 0;
    if (*time) snprintf(out, 32, "%.10s %.5s", time, time + DAY_LENGTH + 1);
}

static void put_times(cli_output *output, const cli_findings *all)
{
    const char *first = "", *last = "";
    char begin[32], end[32], text[80];
    for (size_t i = 0; i < all->count; i++) {
        const char *time = all->items[i].photo->time;
        if (!*time) continue;
        if (!*first || strcmp(time, first) < 0) first = time;
        if (!*last || strcmp(time, last) > 0) last = time;
    }
    if (!*first) return;
    format_time(begin, first);
    format_time(end, last);
    int same_day = strncmp(first, last, DAY_LENGTH) == 0;
    if (strcmp(first, last) == 0) snprintf(text, sizeof text, "%s", begin);
    else snprintf(text, sizeof text, "%s to %s", begin, same_day ? end + DAY_LENGTH + 1 : end);
    put_fact(output, "Taken", text);
}

static void put_expectation(cli_output *output, const cli_findings *all)
{
    broad_estimate estimate = {.size = sizeof estimate};
    char text[96];
    if (broad_model_estimate(&estimate, all->model) || !estimate.known) {
        put_fact(output, "How good it is", "not known: the model has no leave-one-out estimate");
        return;
    }
    if (all->classes)
        snprintf(text, sizeof text, "%s of verdicts correct on photos like its own (leave-one-out)",
                 cli_number_percent(&(cli_number){""}, estimate.accuracy));
    else
        snprintf(text, sizeof text, "root mean square error %.4g on photos like its own (leave-one-out)",
                 estimate.rmse);
    put_fact(output, "What to expect", text);
}

static void format_names(char out[NAMES], const broad_model *model)
{
    size_t count = broad_model_outputs(model), used = 0, i = 0;
    out[0] = 0;
    for (; i < count && i < 8 && used + 32 < NAMES; i++)
        used += (size_t)snprintf(out + used, NAMES - used, "%s%s", i ? " / " : "", broad_model_output_name(model, i));
    if (i < count && used < NAMES) snprintf(out + used, NAMES - used, " and %zu more", count - i);
}

static void put_head(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    char names[NAMES], maps[96], text[512];
    cli_page_begin(output, page->title, cli_asset_report_css, cli_asset_report_js_sha256);
    PART(output, all->classes ? "lead" : "lead-values", "photos", photos(&(cli_number){""}, all->count));
    put_times(output, all);
    format_names(names, all->model);
    put_fact(output, "Model", page->model_path);
    put_fact(output, all->classes ? "Classes" : "Values", names);
    cli_format_maps(maps, sizeof maps, broad_model_maps(all->model));
    snprintf(text, sizeof text, "%s, seen as %s", photos(&(cli_number){""}, broad_model_rows(all->model)), maps);
    put_fact(output, "Trained on", text);
    put_expectation(output, all);
    put_plain(output, "main");
}

/* ---- summary ---- */

static double part_of(size_t count, size_t all) { return all ? (double)count / (double)all : 0; }

static void put_tile(cli_output *output, const char *band, const char *value, const char *label)
{
    CLI_PAGE_PART(output, cli_asset_page_html, "tile", "band", band, "value", value, "label", label);
}

static void put_count(cli_output *output, const char *band, size_t count, const char *label, size_t of)
{
    char text[512];
    snprintf(text, sizeof text, "%.400s%s%s", label, of ? ", " : "",
             of ? cli_number_percent(&(cli_number){""}, part_of(count, of)) : "");
    put_tile(output, band, cli_number_count(&(cli_number){""}, count), text);
}

static void put_share(cli_output *output, const char *band, double part)
{
    if (part > 0) cli_output_print(output, "<i class=\"%s\" style=\"width:%.2f%%\"></i>", band, 100 * part);
}

/* The other class, if there is just one. */
static const char *negative_name(const cli_findings *all)
{
    if (broad_model_outputs(all->model) != 2) return "other classes";
    return broad_model_output_name(all->model, 1 - broad_model_positive(all->model));
}

static void put_class_summary(cli_output *output, const cli_findings *all)
{
    cli_tally found = cli_report_count(all);
    PART(output, "say", "count", cli_number_count(&(cli_number){""}, found.positive), "photos",
         photos(&(cli_number){""}, all->count), "positive", positive_name(all));
    if (found.unsure)
        PART(output, "say-unsure", "photos", photos(&(cli_number){""}, found.unsure), "these",
             found.unsure == 1 ? "it" : "them");
    cli_html_put(output, "<div class=\"tiles\">\n");
    put_count(output, "pos", found.positive, positive_name(all), all->count);
    if (all->probabilities) put_count(output, "mid", found.unsure, "unsure", all->count);
    put_count(output, "neg", found.negative, negative_name(all), all->count);
    put_count(output, "", broad_data_skipped_count(all->data), "skipped", 0);
    cli_html_put(output, "</div>\n<div class=\"share\" aria-hidden=\"true\">");
    put_share(output, "pos", part_of(found.positive, all->count));
    put_share(output, "mid", part_of(found.unsure, all->count));
    put_share(output, "neg", part_of(found.negative, all->count));
    cli_html_put(output, "</div>\n");
}

static void put_value_tile(cli_output *output, double value, const char *label)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    put_tile(output, "", text, label);
}

static void put_value_summary(cli_output *output, const cli_findings *all)
{
    double sum = 0;
    for (size_t i = 0; i < all->count; i++) sum += all->items[i].severity;
    cli_html_put(output, "<div class=\"tiles\">\n");
    put_count(output, "", all->count, all->count == 1 ? "photo rated" : "photos rated", 0);
    if (all->count) {
        put_value_tile(output, all->items[0].severity, "largest");
        put_value_tile(output, sum / (double)all->count, "mean");
        put_value_tile(output, all->items[all->count / 2].severity, "median");
    }
    put_count(output, "", broad_data_skipped_count(all->data), "skipped", 0);
    cli_html_put(output, "</div>\n");
}

static void put_summary(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    if (all->classes) put_class_summary(output, all);
    else put_value_summary(output, all);
    if (all->count) {
        cli_html_put(output, "<div class=\"charts\">\n");
        cli_figure_put(output, page->charts, "histogram", cli_asset_report_html);
        cli_figure_put(output, page->charts, "map", cli_asset_report_html);
        cli_html_put(output, "</div>\n");
    }
    cli_html_put(output, "</section>\n");
}

/* ---- one finding ---- */

static void put_chip(cli_output *output, const cli_findings *all, const cli_finding *item)
{
    cli_band band = cli_report_band(all, item);
    if (band == CLI_BAND_NONE) return;
    cli_output_print(output, "<span class=\"chip %s\">", band_classes[band]);
    cli_html_text(output, cli_finding_label(all, item->label));
    cli_html_put(output, band == CLI_BAND_UNSURE ? "?</span>" : "</span>");
}

static void put_meter(cli_output *output, const cli_findings *all, const cli_finding *item)
{
    char width[16];
    if (isnan(item->probability)) return;
    snprintf(width, sizeof width, "%.1f", 100 * item->probability);
    PART(output, "meter", "band", band_classes[cli_report_band(all, item)], "positive", positive_name(all), "width",
         width, "probability", cli_number_percent(&(cli_number){""}, item->probability));
}

static void put_picture(cli_output *output, const cli_jpeg *picture, const char *what, const char *name)
{
    cli_output_print(output, "<img width=\"%zu\" height=\"%zu\" alt=\"%s ", picture->width, picture->height, what);
    cli_html_text(output, name);
    cli_html_put(output, "\" src=\"data:image/jpeg;base64,");
    cli_html_base64(output, picture->bytes, picture->count);
    cli_html_put(output, "\">\n");
}

static void put_bit(cli_output *output, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void put_bit(cli_output *output, const char *name, const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    PART(output, "bit", "name", name, "text", text);
}

static void put_bits(cli_output *output, const cli_findings *all, const cli_finding *item)
{
    const broad_photo *photo = item->photo;
    const char *twin = cli_finding_group(all, item), *name = broad_model_output_name(all->model, 0);
    char time[32];
    format_time(time, photo->time);
    cli_html_put(output, "<dl class=\"bits\">\n");
    if (!all->classes && isfinite(item->low))
        put_bit(output, name, "%.4g (%.4g to %.4g)", item->severity, item->low, item->high);
    else if (!all->classes) put_bit(output, name, "%.4g", item->severity);
    if (isfinite(item->area)) put_bit(output, "Area", "%s", cli_number_percent(&(cli_number){""}, item->area));
    if (*time) put_bit(output, "Time", "%s", time);
    if (cli_finding_has_place(item)) put_bit(output, "Place", "%.6f, %.6f", photo->latitude, photo->longitude);
    if (isfinite(photo->relative_altitude)) put_bit(output, "Height", "%.1f m", photo->relative_altitude);
    if (*twin && strcmp(twin, photo->name) != 0) PART(output, "twin", "name", twin);
    cli_html_put(output, "</dl>\n");
}

static void put_card(cli_output *output, const cli_report_page *page, size_t index)
{
    const cli_finding *item = &page->findings->items[index];
    const cli_report_card *card = &page->cards[index];
    char number[24];
    snprintf(number, sizeof number, "%zu", index + 1);
    cli_output_print(output, "<article class=\"card\" id=\"p%s\">\n<div class=\"pics\">\n", number);
    put_picture(output, &card->photo, "Photo", item->photo->name);
    put_picture(output, &card->heat, "Heat map of", item->photo->name);
    PART(output, "card", "number", number, "name", item->photo->name);
    put_chip(output, page->findings, item);
    cli_html_put(output, "</div>\n");
    put_meter(output, page->findings, item);
    put_bits(output, page->findings, item);
    cli_html_put(output, "</div>\n</article>\n");
}

static void put_cards(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    if (page->card_count == 0) return;
    PART(output, "worst", "positive", all->classes ? positive_name(all) : "a large value");
    for (size_t i = 0; i < page->card_count; i++) put_card(output, page, i);
    cli_html_put(output, "</div>\n</section>\n");
}

/* ---- the table ---- */

static void put_number_cell(cli_output *output, double value, int percent)
{
    if (!isfinite(value)) {
        cli_html_put(output, "<td class=\"n\" data-v=\"\"></td>");
        return;
    }
    cli_output_print(output, "<td class=\"n\" data-v=\"%.6g\">", value);
    if (percent) cli_html_put(output, cli_number_percent(&(cli_number){""}, value));
    else put_value(output, value);
    cli_html_put(output, "</td>");
}

/* Where and when it was taken. */
static void put_circumstances(cli_output *output, const cli_findings *all, const cli_finding *item)
{
    char time[32];
    format_time(time, item->photo->time);
    cli_html_put(output, "<td class=\"t wide\">");
    cli_html_text(output, time);
    cli_html_put(output, "</td>");
    if (!all->places) return;
    cli_html_put(output, "<td class=\"t wide\">");
    if (cli_finding_has_place(item))
        cli_output_print(output, "%.6f, %.6f", item->photo->latitude, item->photo->longitude);
    cli_html_put(output, "</td>");
}

static void put_row(cli_output *output, const cli_report_page *page, size_t index)
{
    const cli_findings *all = page->findings;
    const cli_finding *item = &all->items[index];
    cli_html_put(output, "<tr data-verdict=\"");
    cli_html_text(output, item->unsure ? "?" : cli_finding_label(all, item->label));
    cli_output_print(output, "\"><td class=\"n\" data-v=\"%zu\">%zu</td><td class=\"f\">", index + 1, index + 1);
    if (index < page->card_count) cli_output_print(output, "<a href=\"#p%zu\">", index + 1);
    cli_html_text(output, item->photo->name);
    cli_html_put(output, index < page->card_count ? "</a></td>" : "</td>");
    if (all->classes) {
        cli_html_put(output, "<td>");
        put_chip(output, all, item);
        cli_html_put(output, "</td>");
    }
    if (all->probabilities || !all->classes) put_number_cell(output, item->severity, all->classes);
    if (all->classes) put_number_cell(output, item->area, 1);
    if (all->truths) {
        cli_html_put(output, "<td>");
        cli_html_text(output, cli_finding_label(all, item->truth));
        cli_html_put(output, "</td>");
    }
    put_circumstances(output, all, item);
    cli_html_put(output, "</tr>\n");
}

static void put_tools(cli_output *output, const cli_findings *all)
{
    put_plain(output, "tools");
    for (size_t i = 0; all->classes && i < broad_model_outputs(all->model); i++) {
        cli_html_put(output, "<option>");
        cli_html_text(output, broad_model_output_name(all->model, i));
        cli_html_put(output, "</option>\n");
    }
    if (all->probabilities) cli_html_put(output, "<option value=\"?\">unsure</option>\n");
    put_plain(output, "tools-end");
}

static void put_table(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    cli_html_put(output, "<section id=\"all\">\n<h2>All findings</h2>\n");
    if (all->count == 0) {
        put_plain(output, "none");
        return;
    }
    put_tools(output, all);
    cli_html_put(output,
                 "<div class=\"scroll\"><table id=\"findings\">\n<thead><tr><th scope=\"col\" class=\"n\">#</th>"
                 "<th scope=\"col\">Photo</th>");
    if (all->classes) cli_html_put(output, "<th scope=\"col\">Verdict</th>");
    if (all->probabilities || !all->classes) {
        cli_html_put(output, "<th scope=\"col\" class=\"n\">");
        cli_html_text(output, all->classes ? positive_name(all) : broad_model_output_name(all->model, 0));
        cli_html_put(output, "</th>");
    }
    if (all->classes) cli_html_put(output, "<th scope=\"col\" class=\"n\">Area</th>");
    if (all->truths) cli_html_put(output, "<th scope=\"col\">Folder</th>");
    cli_html_put(output, "<th scope=\"col\" class=\"wide\">Time</th>");
    if (all->places) cli_html_put(output, "<th scope=\"col\" class=\"wide\">Place</th>");
    cli_html_put(output, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < all->count && !output->status; i++) put_row(output, page, i);
    cli_html_put(output, "</tbody>\n</table></div>\n</section>\n");
}

/* ---- labels that were there ---- */

static size_t count_pair(const cli_findings *all, size_t truth, size_t label)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        count += all->items[i].truth == (int)truth && all->items[i].label == (int)label;
    return count;
}

static void put_confusion(cli_output *output, const cli_findings *all)
{
    size_t classes = broad_model_outputs(all->model), right = 0;
    if (!all->truths || classes > 12) return;
    put_plain(output, "labels");
    for (size_t j = 0; j < classes; j++) {
        cli_html_put(output, "<th scope=\"col\" class=\"n\">judged ");
        cli_html_text(output, broad_model_output_name(all->model, j));
        cli_html_put(output, "</th>");
    }
    cli_html_put(output, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < classes; i++) {
        cli_html_put(output, "<tr><th scope=\"row\">");
        cli_html_text(output, broad_model_output_name(all->model, i));
        cli_html_put(output, "</th>");
        for (size_t j = 0; j < classes; j++)
            cli_output_print(output, "<td class=\"n\">%zu</td>", count_pair(all, i, j));
        cli_html_put(output, "</tr>\n");
        right += count_pair(all, i, i);
    }
    PART(output, "labels-end", "part", cli_number_percent(&(cli_number){""}, part_of(right, all->count)));
}

/* ---- what was left out, what it all means ---- */

static void put_skipped(cli_output *output, const cli_findings *all)
{
    enum { LISTED = 200 };
    size_t count = broad_data_skipped_count(all->data);
    if (count == 0) return;
    PART(output, "skipped", "files", cli_number_of(&(cli_number){""}, count, "file", "files"), "more",
         count > LISTED ? " These are the first 200; skipped.csv has all." : "");
    for (size_t i = 0; i < count && i < LISTED; i++) {
        cli_html_put(output, "<tr><td class=\"f\">");
        cli_html_text(output, broad_data_skipped(all->data, i)->file);
        cli_html_put(output, "</td><td>");
        cli_html_text(output, broad_data_skipped(all->data, i)->reason);
        cli_html_put(output, "</td></tr>\n");
    }
    cli_html_put(output, "</tbody>\n</table></div>\n</section>\n");
}

static void put_words(cli_output *output, const cli_findings *all)
{
    put_plain(output, "words");
    if (!all->classes) PART(output, "words-values", "name", broad_model_output_name(all->model, 0));
    else {
        if (all->probabilities) PART(output, "words-probability", "positive", positive_name(all));
        else put_plain(output, "words-verdict");
        PART(output, "words-area", "positive", positive_name(all), "level",
             all->probabilities ? " with at least 65\302\240%" : "");
    }
    put_plain(output, "words-end");
}

static size_t count_twins(const cli_findings *all)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) count += *cli_finding_group(all, &all->items[i]) != 0;
    return count;
}

static void put_limits(cli_output *output, const cli_findings *all)
{
    broad_estimate estimate = {.size = sizeof estimate};
    char names[NAMES], text[32];
    size_t twins = count_twins(all);
    int known = broad_model_estimate(&estimate, all->model) == BROAD_OK && estimate.known;
    format_names(names, all->model);
    PART(output, "limits", "photos", photos(&(cli_number){""}, broad_model_rows(all->model)), "of",
         all->classes ? "of the classes" : "with values of", "names", names);
    if (known && all->classes) {
        snprintf(text, sizeof text, "%.3f", estimate.calibration_error);
        PART(output, "limits-classes", "accuracy", cli_number_percent(&(cli_number){""}, estimate.accuracy), "error",
             text);
    } else if (known) {
        snprintf(text, sizeof text, "%.4g", estimate.rmse);
        PART(output, "limits-values", "rmse", text, "part",
             cli_number_percent(&(cli_number){""}, fmax(estimate.r2, 0)));
    } else put_plain(output, "limits-unknown");
    if (twins) PART(output, "limits-twins", "photos", photos(&(cli_number){""}, twins));
    put_plain(output, "limits-end");
}

static void put_correction(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    if (!all->classes) {
        PART(output, "correct-values", "name", broad_model_output_name(all->model, 0));
        cli_html_put(output, "<pre>broad learn ");
        cli_html_shell(output, page->model_path);
        cli_html_put(output,
                     " corrected --labels corrected.csv --with TRAINING_PHOTOS --with-labels TRAINING_LABELS</pre>\n");
        return;
    }
    put_plain(output, "correct-classes");
    cli_html_put(output, "<pre>mkdir -p");
    for (size_t i = 0; i < broad_model_outputs(all->model) && i < 8; i++) {
        char folder[512];
        snprintf(folder, sizeof folder, "corrected/%s", broad_model_output_name(all->model, i));
        cli_html_put(output, " ");
        cli_html_shell(output, folder);
    }
    cli_html_put(output, "\n# copy the photos there, then\nbroad learn ");
    cli_html_shell(output, page->model_path);
    cli_html_put(output, " corrected --with TRAINING_PHOTOS</pre>\n");
}

int cli_report_write_html(const cli_report_page *page, const char *path)
{
    cli_output output;
    cli_output_open(&output, path);
    put_head(&output, page);
    put_summary(&output, page);
    put_cards(&output, page);
    put_table(&output, page);
    put_confusion(&output, page->findings);
    put_skipped(&output, page->findings);
    put_words(&output, page->findings);
    put_limits(&output, page->findings);
    put_correction(&output, page);
    PART(&output, "foot", "version", broad_version(), "script", cli_asset_report_js);
    return cli_output_close(&output);
}
