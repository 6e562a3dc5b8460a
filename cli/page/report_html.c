#include "page/report_html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/html.h"
#include "page/report_page.h"
#include "run/photos.h"

cli_band cli_report_band(const cli_findings *findings, const cli_finding *finding)
{
    if (!findings->classes) return CLI_BAND_NONE;
    if (finding->unsure) return CLI_BAND_UNSURE;
    return cli_finding_is_positive(findings, finding) ? CLI_BAND_POSITIVE : CLI_BAND_NEGATIVE;
}

static const char *const band_classes[] = {"neg", "mid", "pos", ""};

static const char *positive_name(const cli_findings *all)
{
    return broad_model_output_name(all->model, broad_model_positive(all->model));
}

static void put_value(cli_output *output, double value) { cli_output_print(output, "%.4g", value); }

/* "3 of 40 photos" */
static void put_photos(cli_output *output, size_t count)
{
    cli_html_count(output, count);
    cli_html_put(output, count == 1 ? " photo" : " photos");
}

/* ---- head ---- */

enum { DAY_LENGTH = 10 };

/* "2024-05-01 09:12" from "2024-05-01T09:12:33"; nothing from "". */
static void put_time(cli_output *output, const char *time)
{
    if (*time) cli_output_print(output, "%.10s %.5s", time, time + DAY_LENGTH + 1);
}

static void put_times(cli_output *output, const cli_findings *all)
{
    const char *first = "", *last = "";
    for (size_t i = 0; i < all->count; i++) {
        const char *time = all->items[i].photo->time;
        if (!*time) continue;
        if (!*first || strcmp(time, first) < 0) first = time;
        if (!*last || strcmp(time, last) > 0) last = time;
    }
    if (!*first) return;
    cli_html_put(output, "<div><dt>Taken</dt><dd>");
    put_time(output, first);
    if (strcmp(first, last) != 0) cli_html_put(output, " to ");
    if (strncmp(first, last, DAY_LENGTH) != 0) put_time(output, last);
    else if (strcmp(first, last) != 0) cli_output_print(output, "%.5s", last + DAY_LENGTH + 1);
    cli_html_put(output, "</dd></div>\n");
}

static void put_expectation(cli_output *output, const cli_findings *all)
{
    broad_estimate estimate = {.size = sizeof estimate};
    if (broad_model_estimate(&estimate, all->model) || !estimate.known) {
        cli_html_put(output,
                     "<div><dt>How good it is</dt><dd>not known: the model has no leave-one-out estimate</dd></div>\n");
        return;
    }
    cli_html_put(output, "<div><dt>Expected of the model</dt><dd>");
    if (all->classes) {
        cli_html_percent(output, estimate.accuracy);
        cli_html_put(output, " of verdicts right on photos like its own (leave-one-out)");
    } else {
        cli_html_put(output, "root mean square error ");
        put_value(output, estimate.rmse);
        cli_html_put(output, " on photos like its own (leave-one-out)");
    }
    cli_html_put(output, "</dd></div>\n");
}

static void put_names(cli_output *output, const broad_model *model)
{
    size_t count = broad_model_outputs(model), most = count < 8 ? count : 8;
    for (size_t i = 0; i < most; i++) {
        if (i) cli_html_put(output, " / ");
        cli_html_text(output, broad_model_output_name(model, i));
    }
    if (most < count) cli_output_print(output, " and %zu more", count - most);
}

static void put_head(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    char maps[96];
    cli_page_begin(output, page->title, NULL, 0);
    cli_html_put(output, "<p class=\"lead\">");
    put_photos(output, all->count);
    cli_html_put(output, " judged by a model, the worst first</p>\n<dl class=\"facts\">\n");
    put_times(output, all);
    cli_html_put(output, "<div><dt>Model</dt><dd>");
    cli_html_text(output, page->model_path);
    cli_html_put(output, ": ");
    put_names(output, all->model);
    cli_html_put(output, "</dd></div>\n<div><dt>Trained on</dt><dd>");
    put_photos(output, broad_model_rows(all->model));
    cli_format_maps(maps, sizeof maps, broad_model_maps(all->model));
    cli_output_print(output, ", seen as %s</dd></div>\n", maps);
    put_expectation(output, all);
    cli_html_put(output, "</dl>\n</header>\n<main>\n");
}

/* ---- summary ---- */

typedef struct counts {
    size_t band[3];
    size_t skipped;
} counts;

static counts count_all(const cli_findings *all)
{
    counts found = {.skipped = broad_data_skipped_count(all->data)};
    for (size_t i = 0; i < all->count && all->classes; i++) found.band[cli_report_band(all, &all->items[i])]++;
    return found;
}

static double part_of(size_t count, size_t all) { return all ? (double)count / (double)all : 0; }

static void put_tile(cli_output *output, const char *band, size_t count, const char *label, size_t of)
{
    cli_output_print(output, "<div class=\"tile %s\"><b>", band);
    cli_html_count(output, count);
    cli_html_put(output, "</b><span>");
    cli_html_text(output, label);
    if (of) {
        cli_html_put(output, ", ");
        cli_html_percent(output, part_of(count, of));
    }
    cli_html_put(output, "</span></div>\n");
}

static void put_share(cli_output *output, const cli_findings *all, const counts *found)
{
    static const cli_band order[] = {CLI_BAND_POSITIVE, CLI_BAND_UNSURE, CLI_BAND_NEGATIVE};
    cli_html_put(output, "<div class=\"share\" aria-hidden=\"true\">");
    for (size_t i = 0; i < 3; i++)
        if (found->band[order[i]])
            cli_output_print(output, "<i class=\"%s\" style=\"width:%.2f%%\"></i>", band_classes[order[i]],
                             100 * part_of(found->band[order[i]], all->count));
    cli_html_put(output, "</div>\n");
}

/* The other class, if there is just one. */
static const char *negative_name(const cli_findings *all)
{
    if (broad_model_outputs(all->model) != 2) return "other classes";
    return broad_model_output_name(all->model, 1 - broad_model_positive(all->model));
}

static void put_class_summary(cli_output *output, const cli_findings *all)
{
    counts found = count_all(all);
    cli_html_put(output, "<p class=\"say\"><strong>");
    cli_html_count(output, found.band[CLI_BAND_POSITIVE]);
    cli_html_put(output, " of ");
    put_photos(output, all->count);
    cli_html_put(output, "</strong> judged as <strong>");
    cli_html_text(output, positive_name(all));
    cli_html_put(output, "</strong>.");
    if (found.band[CLI_BAND_UNSURE]) {
        cli_html_put(output, " Of ");
        cli_html_count(output, found.band[CLI_BAND_UNSURE]);
        cli_html_put(output, " the model is unsure: look at these yourself.");
    }
    cli_html_put(output, "</p>\n<div class=\"tiles\">\n");
    put_tile(output, "pos", found.band[CLI_BAND_POSITIVE], positive_name(all), all->count);
    if (all->probabilities) put_tile(output, "mid", found.band[CLI_BAND_UNSURE], "unsure", all->count);
    put_tile(output, "neg", found.band[CLI_BAND_NEGATIVE], negative_name(all), all->count);
    put_tile(output, "", found.skipped, "skipped", 0);
    cli_html_put(output, "</div>\n");
    put_share(output, all, &found);
}

static void put_value_tile(cli_output *output, double value, const char *label)
{
    cli_html_put(output, "<div class=\"tile\"><b>");
    put_value(output, value);
    cli_output_print(output, "</b><span>%s</span></div>\n", label);
}

static void put_value_summary(cli_output *output, const cli_findings *all)
{
    double sum = 0;
    for (size_t i = 0; i < all->count; i++) sum += all->items[i].severity;
    cli_html_put(output, "<div class=\"tiles\">\n");
    put_tile(output, "", all->count, all->count == 1 ? "photo judged" : "photos judged", 0);
    if (all->count) {
        put_value_tile(output, all->items[0].severity, "largest");
        put_value_tile(output, sum / (double)all->count, "mean");
        put_value_tile(output, all->items[all->count / 2].severity, "median");
    }
    put_tile(output, "", broad_data_skipped_count(all->data), "skipped", 0);
    cli_html_put(output, "</div>\n");
}

static void put_summary(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    cli_html_put(output, "<section id=\"summary\">\n<h2>Summary</h2>\n");
    if (all->classes) put_class_summary(output, all);
    else put_value_summary(output, all);
    if (all->count) {
        cli_html_put(output, "<div class=\"charts\">\n");
        cli_report_histogram(output, all);
        if (all->places) cli_report_map(output, page);
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
    if (isnan(item->probability)) return;
    cli_output_print(output, "<div class=\"meter %s\" title=\"probability of ",
                     band_classes[cli_report_band(all, item)]);
    cli_html_text(output, positive_name(all));
    cli_output_print(output, "\"><span><i style=\"width:%.1f%%\"></i></span><b>", 100 * item->probability);
    cli_html_percent(output, item->probability);
    cli_html_put(output, "</b></div>\n");
}

static void put_picture(cli_output *output, const cli_jpeg *picture, const char *what, const char *name)
{
    cli_output_print(output, "<img width=\"%zu\" height=\"%zu\" alt=\"%s ", picture->width, picture->height, what);
    cli_html_text(output, name);
    cli_html_put(output, "\" src=\"data:image/jpeg;base64,");
    cli_html_base64(output, picture->bytes, picture->count);
    cli_html_put(output, "\">\n");
}

static void put_place(cli_output *output, const cli_finding *item)
{
    if (cli_finding_has_place(item))
        cli_output_print(output, "%.6f, %.6f", item->photo->latitude, item->photo->longitude);
}

static void put_bits(cli_output *output, const cli_findings *all, const cli_finding *item)
{
    const broad_photo *photo = item->photo;
    const char *twin = cli_finding_group(all, item);
    cli_html_put(output, "<dl class=\"bits\">");
    if (!all->classes) {
        cli_html_put(output, "<div><dt>");
        cli_html_text(output, broad_model_output_name(all->model, 0));
        cli_html_put(output, "</dt><dd>");
        put_value(output, item->severity);
        if (isfinite(item->low)) cli_output_print(output, " (%.4g to %.4g)", item->low, item->high);
        cli_html_put(output, "</dd></div>");
    }
    if (isfinite(item->area)) {
        cli_html_put(output, "<div><dt>Area</dt><dd>");
        cli_html_percent(output, item->area);
        cli_html_put(output, "</dd></div>");
    }
    if (*photo->time) {
        cli_html_put(output, "<div><dt>Time</dt><dd>");
        put_time(output, photo->time);
        cli_html_put(output, "</dd></div>");
    }
    if (cli_finding_has_place(item)) {
        cli_html_put(output, "<div><dt>Place</dt><dd>");
        put_place(output, item);
        cli_html_put(output, "</dd></div>");
    }
    if (isfinite(photo->relative_altitude))
        cli_output_print(output, "<div><dt>Height</dt><dd>%.1f m</dd></div>", photo->relative_altitude);
    if (*twin && strcmp(twin, photo->name) != 0) {
        cli_html_put(output, "<div><dt>Much like</dt><dd>");
        cli_html_text(output, twin);
        cli_html_put(output, "</dd></div>");
    }
    cli_html_put(output, "</dl>\n");
}

static void put_card(cli_output *output, const cli_report_page *page, size_t index)
{
    const cli_finding *item = &page->findings->items[index];
    const cli_report_card *card = &page->cards[index];
    cli_output_print(output, "<article class=\"card\" id=\"p%zu\">\n<div class=\"pics\">\n", index + 1);
    put_picture(output, &card->photo, "Photo", item->photo->name);
    put_picture(output, &card->heat, "Heat map of", item->photo->name);
    cli_output_print(output, "</div>\n<div class=\"about\">\n<div class=\"head\"><h3>%zu. ", index + 1);
    cli_html_text(output, item->photo->name);
    cli_html_put(output, "</h3>");
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
    cli_html_put(
        output,
        "<section id=\"worst\">\n<h2>The worst first</h2>\n<div class=\"key\"><span>Colours of the right pictures, "
        "where the model looked: speaks against ");
    cli_html_text(output, all->classes ? positive_name(all) : "a large value");
    cli_html_put(output, "</span><i></i><span>speaks for it</span></div>\n<div class=\"cards\">\n");
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
    if (percent) cli_html_percent(output, value);
    else put_value(output, value);
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
    cli_html_put(output, "<td class=\"t wide\">");
    put_time(output, item->photo->time);
    cli_html_put(output, "</td>");
    if (all->places) {
        cli_html_put(output, "<td class=\"t wide\">");
        put_place(output, item);
        cli_html_put(output, "</td>");
    }
    cli_html_put(output, "</tr>\n");
}

static void put_tools(cli_output *output, const cli_findings *all)
{
    cli_html_put(output,
                 "<div class=\"tools\" id=\"tools\" hidden><input id=\"find\" type=\"search\" placeholder=\"Search\" "
                 "aria-label=\"Search the table\"><select id=\"verdict\" aria-label=\"Verdicts shown\">"
                 "<option value=\"\">All verdicts</option>");
    for (size_t i = 0; all->classes && i < broad_model_outputs(all->model); i++) {
        cli_html_put(output, "<option>");
        cli_html_text(output, broad_model_output_name(all->model, i));
        cli_html_put(output, "</option>");
    }
    if (all->probabilities) cli_html_put(output, "<option value=\"?\">unsure</option>");
    cli_html_put(output, "</select><span id=\"shown\" role=\"status\"></span></div>\n");
}

static void put_table(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    cli_html_put(output, "<section id=\"all\">\n<h2>All findings</h2>\n");
    if (all->count == 0) {
        cli_html_put(output, "<p>No photo could be judged.</p>\n</section>\n");
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
    cli_html_put(
        output,
        "<section id=\"labels\">\n<h2>Against the folders</h2>\n<p>The photos lie in folders named like the model's "
        "classes. These names had no part in the verdicts; this is how they compare.</p>\n"
        "<div class=\"scroll\"><table class=\"small\">\n<thead><tr><th scope=\"col\">Folder</th>");
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
    cli_html_put(output, "</tbody>\n</table></div>\n<p><strong>");
    cli_html_percent(output, part_of(right, all->count));
    cli_html_put(output,
                 "</strong> agree. If the model was trained on these very photos, this says little about others.</p>\n"
                 "</section>\n");
}

/* ---- what was left out, what it all means ---- */

static void put_skipped(cli_output *output, const cli_findings *all)
{
    enum { LISTED = 200 };
    size_t count = broad_data_skipped_count(all->data);
    if (count == 0) return;
    cli_html_put(output, "<section id=\"skipped\">\n<h2>Skipped</h2>\n<p>");
    cli_html_count(output, count);
    cli_html_put(output, count == 1 ? " file could not be judged." : " files could not be judged.");
    if (count > LISTED) cli_output_print(output, " These are the first %d; <code>skipped.csv</code> has all.", LISTED);
    cli_html_put(
        output,
        "</p>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">File</th><th scope=\"col\">Reason</th></tr>"
        "</thead>\n<tbody>\n");
    for (size_t i = 0; i < count && i < LISTED; i++) {
        cli_html_put(output, "<tr><td class=\"f\">");
        cli_html_text(output, broad_data_skipped(all->data, i)->file);
        cli_html_put(output, "</td><td>");
        cli_html_text(output, broad_data_skipped(all->data, i)->reason);
        cli_html_put(output, "</td></tr>\n");
    }
    cli_html_put(output, "</tbody>\n</table></div>\n</section>\n");
}

static void put_class_words(cli_output *output, const cli_findings *all)
{
    if (all->probabilities) {
        cli_html_put(output, "<div><dt>Probability</dt><dd>How sure the model is that a photo is ");
        cli_html_text(output, positive_name(all));
        cli_html_put(
            output,
            ", calibrated on photos that it was trained on, each judged as if it had been left out. Of all photos "
            "with 80&nbsp;%, about 80 of 100 should be so. Where the verdict has less than 65&nbsp;%, it counts as "
            "unsure and has a question mark.</dd></div>\n");
        cli_html_put(
            output,
            "<div><dt>Severity</dt><dd>In the tables: the same probability. It says how sure the dirt is, not how "
            "thick.</dd></div>\n");
    } else {
        cli_html_put(
            output,
            "<div><dt>Verdict</dt><dd>The class with the largest score. This model has no probabilities, because it "
            "was trained without a leave-one-out estimate.</dd></div>\n");
    }
    cli_html_put(output, "<div><dt>Area</dt><dd>Only where the verdict is ");
    cli_html_text(output, positive_name(all));
    cli_html_put(
        output,
        ": the part of the picture that speaks clearly for it. The picture is cut into cells. From how the verdict "
        "changes when a cell is left out follows what the model thinks of that cell; cells count where this is ");
    cli_html_text(output, positive_name(all));
    cli_html_put(output, all->probabilities ? " with at least 65&nbsp;%.</dd></div>\n" : ".</dd></div>\n");
}

static void put_value_words(cli_output *output, const cli_findings *all)
{
    cli_html_put(output, "<div><dt>");
    cli_html_text(output, broad_model_output_name(all->model, 0));
    cli_html_put(
        output,
        "</dt><dd>What the model predicts; in the tables it is the severity. The range in brackets should hold 9 of 10 "
        "true values of photos like those that it was trained on.</dd></div>\n");
}

static void put_words(cli_output *output, const cli_findings *all)
{
    cli_html_put(output, "<section id=\"words\">\n<h2>What the figures mean</h2>\n<dl class=\"words\">\n");
    if (all->classes) put_class_words(output, all);
    else put_value_words(output, all);
    cli_html_put(
        output,
        "<div><dt>What they are not</dt><dd>None of these figures is a measurement of power loss or of the amount of "
        "dirt on a surface. They rank photos by what a model has seen in others.</dd></div>\n</dl>\n</section>\n");
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
    size_t twins = count_twins(all);
    int known = broad_model_estimate(&estimate, all->model) == BROAD_OK && estimate.known;
    cli_html_put(output, "<section id=\"limits\">\n<h2>Limits of validity</h2>\n<ul>\n<li>The model was trained on ");
    put_photos(output, broad_model_rows(all->model));
    cli_html_put(output, all->classes ? " of the classes " : " with values of ");
    put_names(output, all->model);
    cli_html_put(output,
                 ". It knows nothing else: a photo of something else gets one of these verdicts all the same.</li>\n");
    cli_html_put(
        output,
        "<li>Another camera, another height or angle, low sun, shadows, wet or frosted surfaces and other kinds of "
        "panels can change the verdicts. Check some by eye before relying on photos of a new kind.</li>\n");
    if (known && all->classes) {
        cli_html_put(output, "<li>By leave-one-out ");
        cli_html_percent(output, estimate.accuracy);
        cli_output_print(output,
                         " of its verdicts are right, and its probabilities are off by %.3f on average (calibration "
                         "error). Both hold for photos like those it was trained on.</li>\n",
                         estimate.calibration_error);
    } else if (known) {
        cli_output_print(output,
                         "<li>By leave-one-out its root mean square error is %.4g and it explains %.0f&nbsp;%% of the "
                         "variance. Both hold for photos like those it was trained on.</li>\n",
                         estimate.rmse, 100 * fmax(estimate.r2, 0));
    } else {
        cli_html_put(output, "<li>How often it is right was not estimated when it was trained.</li>\n");
    }
    if (twins) {
        cli_html_put(output, "<li>");
        put_photos(output, twins);
        cli_html_put(
            output,
            " here are near-duplicates of others (column <code>group</code> of the tables): they are no independent "
            "evidence.</li>\n");
    }
    cli_html_put(
        output,
        "<li>The heat maps show what the model's opinion hangs on. That is often, but not always, where the dirt "
        "is.</li>\n</ul>\n</section>\n");
}

static void put_correction(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    cli_html_put(output, "<section id=\"correct\">\n<h2>If a verdict is wrong</h2>\n<p>");
    if (all->classes) {
        cli_html_put(output,
                     "Put copies of the photos into folders named after what they really show, and let the model learn "
                     "them:</p>\n<pre>mkdir -p");
        for (size_t i = 0; i < broad_model_outputs(all->model) && i < 8; i++) {
            char folder[512];
            snprintf(folder, sizeof folder, "corrected/%s", broad_model_output_name(all->model, i));
            cli_html_put(output, " ");
            cli_html_shell(output, folder);
        }
        cli_html_put(output, "\n# copy the photos there, then\nbroad learn ");
        cli_html_shell(output, page->model_path);
        cli_html_put(output, " corrected --with TRAINING_PHOTOS</pre>\n");
    } else {
        cli_html_put(output, "Write the true values into a list with the columns <code>file</code> and <code>");
        cli_html_text(output, broad_model_output_name(all->model, 0));
        cli_html_put(output, "</code>, and let the model learn them:</p>\n<pre>broad learn ");
        cli_html_shell(output, page->model_path);
        cli_html_put(output,
                     " corrected --labels corrected.csv --with TRAINING_PHOTOS --with-labels TRAINING_LABELS</pre>\n");
    }
    cli_html_put(output,
                 "<p><code>TRAINING_PHOTOS</code> is the folder that the model was trained on. It takes a moment, and "
                 "the model is "
                 "then as if it had been trained on all of them.</p>\n</section>\n");
}

static void put_foot(cli_output *output)
{
    cli_html_put(output,
                 "</main>\n<footer>\n<p>The same findings are in <code>findings.csv</code> for spreadsheets and in "
                 "<code>findings.geojson</code> for maps, beside this file. Made by broad ");
    cli_html_text(output, broad_version());
    cli_html_put(output, ".</p>\n</footer>\n<script>\n");
    cli_html_lines(output, cli_report_script);
    cli_html_put(output, "</script>\n</body>\n</html>\n");
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
    put_foot(&output);
    return cli_output_close(&output);
}
