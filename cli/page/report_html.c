#include "page/report_html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/assets.h"
#include "page/figure.h"
#include "page/page.h"
#include "page/report_cards.h"
#include "page/report_table.h"
#include "run/measures.h"
#include "run/photo_summary.h"
#include "run/photo_verdict.h"

enum { DAY_LENGTH = 10, NAMES = 1024, TILES = 12 };

cli_band cli_report_band(const cli_findings *findings, const cli_finding *finding)
{
    if (finding->unlike) return CLI_BAND_UNLIKE;
    if (!findings->classes) return CLI_BAND_NONE;
    if (finding->unsure) return CLI_BAND_UNSURE;
    return cli_finding_is_fault(findings, finding) ? CLI_BAND_FAULT : CLI_BAND_NORMAL;
}

const char *cli_report_band_class(const cli_findings *findings, const cli_finding *finding)
{
    static const char *const names[] = {"neg", "mid", "pos", "odd", ""};
    return names[cli_report_band(findings, finding)];
}

const char *cli_report_normal(const cli_findings *findings)
{
    return findings->classes ? broad_model_output_name(findings->model, broad_model_normal(findings->model)) : "";
}

cli_tally cli_report_count(const cli_findings *findings)
{
    cli_tally found = {0};
    for (size_t i = 0; i < findings->count; i++) {
        cli_band band = cli_report_band(findings, &findings->items[i]);
        found.faults += band == CLI_BAND_FAULT;
        found.unsure += band == CLI_BAND_UNSURE;
        found.normal += band == CLI_BAND_NORMAL;
        found.unlike += band == CLI_BAND_UNLIKE;
        found.placed += cli_finding_has_place(&findings->items[i]) != 0;
    }
    return found;
}

size_t cli_report_count_class(const cli_findings *findings, size_t class)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += cli_finding_is_sure(&findings->items[i]) && findings->items[i].label == (int)class;
    return count;
}

void cli_report_time(char out[32], const char *time)
{
    out[0] = 0;
    if (*time) snprintf(out, 32, "%.10s %.5s", time, time + DAY_LENGTH + 1);
}

void cli_report_chip(cli_output *output, const cli_findings *findings, const cli_finding *finding)
{
    if (!findings->classes && !finding->unlike) return;
    cli_output_print(output, "<span class=\"chip %s\">", cli_report_band_class(findings, finding));
    cli_html_text(output, finding->unlike ? CLI_UNLIKE : cli_finding_label(findings, finding->label));
    cli_html_put(output, finding->unsure && !finding->unlike ? "?</span>" : "</span>");
}

/* A template of this page, with slots and without. */
#define PART(output, name, ...) CLI_PAGE_PART(output, cli_asset_report_html, name, __VA_ARGS__)
static void put_plain(cli_output *output, const char *name)
{
    cli_page_part(output, cli_asset_report_html, name, NULL);
}

static const char *photos(cli_number *out, size_t count) { return cli_number_of(out, count, "photo", "photos"); }

static void put_fact(cli_output *output, const char *name, const char *text)
{
    CLI_PAGE_PART(output, cli_asset_page_html, "fact", "name", name, "text", text);
}

/* ---- head ---- */

static void put_times(cli_output *output, const cli_findings *all)
{
    const char *first = "", *last = "";
    char begin[32], end[32], range[80], text[256];
    size_t known = 0;
    for (size_t i = 0; i < all->count; i++) {
        const char *time = all->items[i].photo->time;
        if (!*time) continue;
        known++;
        if (!*first || strcmp(time, first) < 0) first = time;
        if (!*last || strcmp(time, last) > 0) last = time;
    }
    if (!*first) return;
    cli_report_time(begin, first);
    cli_report_time(end, last);
    int same_day = strncmp(first, last, DAY_LENGTH) == 0;
    if (strcmp(first, last) == 0) snprintf(range, sizeof range, "%s", begin);
    else snprintf(range, sizeof range, "%s to %s", begin, same_day ? end + DAY_LENGTH + 1 : end);
    snprintf(text, sizeof text, "%s", range);
    if (known < all->count)
        snprintf(text, sizeof text, "%s (only %s of %s %s a time)", range, cli_number_count(&(cli_number){""}, known),
                 photos(&(cli_number){""}, all->count), known == 1 ? "has" : "have");
    put_fact(output, "Taken", text);
}

static void put_expectation(cli_output *output, const cli_findings *all)
{
    broad_estimate estimate = {.size = sizeof estimate};
    char text[128];
    if (broad_model_estimate(&estimate, all->model) || !estimate.known) {
        put_fact(output, "How good it is", "not known: the model has no estimate of its error");
        return;
    }
    if (all->classes)
        snprintf(text, sizeof text, "%s of verdicts correct on photos like its own (%s)",
                 cli_number_percent(&(cli_number){""}, estimate.accuracy), cli_estimate_name(&estimate));
    else
        snprintf(text, sizeof text, "root mean square error %.4g on photos like its own (%s)", estimate.rmse,
                 cli_estimate_name(&estimate));
    put_fact(output, "What to expect", text);
}

/* On photos that were given to test it with. */
static void put_test(cli_output *output, const broad_metrics *test)
{
    cli_number part, low, high, count;
    char text[256];
    if (!test) return;
    if (test->task == BROAD_TASK_CLASSIFY)
        snprintf(text, sizeof text, "%s of verdicts correct on %s (95 %% interval %s to %s)",
                 cli_number_percent(&part, test->accuracy),
                 cli_number_of(&count, test->rows, "test photo", "test photos"), cli_number_percent(&low, test->low),
                 cli_number_percent(&high, test->high));
    else
        snprintf(text, sizeof text, "root mean square error %.4g on %s", test->rmse,
                 cli_number_of(&count, test->rows, "test photo", "test photos"));
    put_fact(output, "Tested", text);
}

/* The normal class is marked. */
static void format_names(char out[NAMES], const broad_model *model, const char *mark)
{
    size_t count = broad_model_outputs(model), used = 0, i = 0;
    int classify = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    out[0] = 0;
    for (; i < count && i < 8 && used + 64 < NAMES; i++)
        used +=
            (size_t)snprintf(out + used, NAMES - used, "%s%.400s%s", i ? ", " : "", broad_model_output_name(model, i),
                             classify && i == broad_model_normal(model) ? mark : "");
    if (i < count && used < NAMES) snprintf(out + used, NAMES - used, " and %zu more", count - i);
}

/* "Site=Roof 7" */
static void put_notes(cli_output *output, const cli_report_page *page)
{
    for (size_t i = 0; i < page->note_count; i++) {
        char name[256];
        const char *sign = strchr(page->notes[i], '=');
        snprintf(name, sizeof name, "%.*s", sign ? (int)(sign - page->notes[i]) : 0, page->notes[i]);
        put_fact(output, name, sign ? sign + 1 : page->notes[i]);
    }
}

static void put_head(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    char names[NAMES], maps[96], text[512], day[CLI_DAY_BYTES];
    cli_page_begin(output, page->title, cli_asset_report_css, cli_asset_report_js_sha256, 1);
    PART(output, all->classes ? "lead" : "lead-values", "photos", photos(&(cli_number){""}, all->count));
    put_notes(output, page);
    cli_page_day(day);
    put_fact(output, "Report made", day);
    put_times(output, all);
    format_names(names, all->model, " (nothing wrong)");
    put_fact(output, "Model", page->model_path);
    put_fact(output, all->classes ? "Classes" : "Values", names);
    cli_format_maps(maps, sizeof maps, broad_model_maps(all->model));
    snprintf(text, sizeof text, "%s, seen as %s", photos(&(cli_number){""}, broad_model_rows(all->model)), maps);
    put_fact(output, "Trained on", text);
    put_expectation(output, all);
    put_test(output, page->test);
    put_plain(output, "main");
}

/* ---- summary ---- */

static double part_of(size_t count, size_t all) { return all ? (double)count / (double)all : 0; }

static void put_tile(cli_output *output, const char *band, const char *value, const char *label)
{
    CLI_PAGE_PART(output, cli_asset_page_html, "tile", "band", band, "value", value, "label", label);
}

static void put_count(cli_output *output, size_t count, const char *label)
{
    put_tile(output, "", cli_number_count(&(cli_number){""}, count), label);
}

/* A tile that shows these photos alone. */
static void put_choice(cli_output *output, const char *band, size_t count, const char *verdict, size_t of)
{
    PART(output, "choice", "band", band, "verdict", verdict, "count", cli_number_count(&(cli_number){""}, count),
         "part", cli_number_percent(&(cli_number){""}, part_of(count, of)));
}

static void put_share(cli_output *output, const char *band, double part)
{
    if (part > 0) cli_output_print(output, "<i class=\"%s\" style=\"width:%.2f%%\"></i>", band, 100 * part);
}

static const char *band_of(const cli_findings *all, size_t class)
{
    return class == broad_model_normal(all->model) ? "neg" : "pos";
}

/* "20 Dusty, 12 Broken" */
static void format_faults(char out[NAMES], const cli_findings *all)
{
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < broad_model_outputs(all->model) && used + 512 < NAMES; i++) {
        size_t count = i == broad_model_normal(all->model) ? 0 : cli_report_count_class(all, i);
        if (count)
            used += (size_t)snprintf(out + used, NAMES - used, "%s%zu %.400s", used ? ", " : "", count,
                                     broad_model_output_name(all->model, i));
    }
}

static void put_unlike(cli_output *output, size_t count)
{
    if (count)
        PART(output, "say-unlike", "photos", photos(&(cli_number){""}, count), "are", count == 1 ? "is" : "are",
             "these", count == 1 ? "it" : "them");
}

static void put_say(cli_output *output, const cli_findings *all)
{
    cli_tally found = cli_report_count(all);
    char faults[NAMES];
    format_faults(faults, all);
    PART(output, "say", "count", cli_number_count(&(cli_number){""}, found.faults), "photos",
         photos(&(cli_number){""}, all->count), "normal", cli_report_normal(all), "faults", *faults ? ": " : "", "list",
         faults);
    if (found.unsure)
        PART(output, "say-unsure", "photos", photos(&(cli_number){""}, found.unsure), "these",
             found.unsure == 1 ? "it" : "them");
    put_unlike(output, found.unlike);
}

/* Classes that were not found are left out where there are many. */
static int has_tile(const cli_findings *all, size_t class)
{
    return broad_model_outputs(all->model) <= TILES || cli_report_count_class(all, class) > 0;
}

static void put_class_summary(cli_output *output, const cli_findings *all)
{
    cli_tally found = cli_report_count(all);
    size_t classes = broad_model_outputs(all->model), normal = broad_model_normal(all->model);
    put_say(output, all);
    cli_html_put(output, "<div class=\"tiles\">\n");
    for (size_t i = 0; i < classes; i++)
        if (i != normal && has_tile(all, i))
            put_choice(output, "pos", cli_report_count_class(all, i), broad_model_output_name(all->model, i),
                       all->count);
    if (all->probabilities) put_choice(output, "mid", found.unsure, "unsure", all->count);
    if (found.unlike) put_choice(output, "odd", found.unlike, CLI_UNLIKE, all->count);
    put_choice(output, "neg", cli_report_count_class(all, normal), cli_report_normal(all), all->count);
    put_count(output, broad_data_skipped_count(all->data), "skipped");
    cli_html_put(output, "</div>\n<div class=\"share\" aria-hidden=\"true\">");
    for (size_t i = 0; i < classes; i++)
        if (i != normal) put_share(output, band_of(all, i), part_of(cli_report_count_class(all, i), all->count));
    put_share(output, "mid", part_of(found.unsure, all->count));
    put_share(output, "odd", part_of(found.unlike, all->count));
    put_share(output, "neg", part_of(found.normal, all->count));
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
    for (size_t i = 0; i < all->count; i++) sum += all->items[i].value;
    put_unlike(output, cli_report_count(all).unlike);
    cli_html_put(output, "<div class=\"tiles\">\n");
    put_count(output, all->count, all->count == 1 ? "photo rated" : "photos rated");
    if (all->count) {
        put_value_tile(output, all->items[0].value, "largest");
        put_value_tile(output, sum / (double)all->count, "mean");
        put_value_tile(output, all->items[all->count / 2].value, "median");
    }
    put_count(output, broad_data_skipped_count(all->data), "skipped");
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
    else if (all->probabilities) PART(output, "words-probability", "normal", cli_report_normal(all));
    else PART(output, "words-verdict", "normal", cli_report_normal(all));
    put_plain(output, all->classes ? "words-heat" : "words-heat-values");
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
    format_names(names, all->model, "");
    PART(output, "limits", "photos", photos(&(cli_number){""}, broad_model_rows(all->model)), "of",
         all->classes ? "of the classes" : "with values of", "names", names);
    if (known && all->classes) {
        snprintf(text, sizeof text, "%.3f", estimate.calibration_error);
        PART(output, "limits-classes", "accuracy", cli_number_percent(&(cli_number){""}, estimate.accuracy), "error",
             text, "source", cli_estimate_source(&estimate));
    } else if (known) {
        snprintf(text, sizeof text, "%.4g", estimate.rmse);
        PART(output, "limits-values", "rmse", text, "part", cli_number_percent(&(cli_number){""}, fmax(estimate.r2, 0)),
             "source", cli_estimate_source(&estimate));
    } else put_plain(output, "limits-unknown");
    if (twins) PART(output, "limits-twins", "photos", photos(&(cli_number){""}, twins));
    put_plain(output, "limits-end");
}

static void put_correction(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    if (all->classes) put_plain(output, "correct-classes");
    else PART(output, "correct-values", "name", broad_model_output_name(all->model, 0));
    cli_html_put(output, "<pre>broad learn ");
    cli_html_shell(output, page->model_path);
    cli_html_put(output, all->classes ? " --corrections corrections.csv</pre>\n"
                                      : " corrected --labels corrected.csv --with TRAINING_PHOTOS --with-labels "
                                        "TRAINING_LABELS</pre>\n");
    put_plain(output, all->classes ? "correct-classes-end" : "correct-values-end");
}

int cli_report_write_html(const cli_report_page *page, const char *path)
{
    cli_output output;
    cli_output_open(&output, path);
    put_head(&output, page);
    put_summary(&output, page);
    cli_report_put_tools(&output, page->findings);
    cli_report_put_cards(&output, page);
    cli_report_put_thumbs(&output, page);
    cli_report_put_table(&output, page->findings);
    cli_report_put_confusion(&output, page->findings);
    put_skipped(&output, page->findings);
    put_words(&output, page->findings);
    put_limits(&output, page->findings);
    put_correction(&output, page);
    PART(&output, "foot", "version", broad_version(), "script", cli_asset_report_js);
    return cli_output_close(&output);
}
