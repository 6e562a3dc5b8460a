#include "page/report_table.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "page/assets.h"
#include "page/page.h"
#include "run/photo_verdict.h"

enum { COLUMNS = 8, CONFUSED = 12 }; /* classes that have a column each; of the comparison with the folders */

static void put_plain(cli_output *output, const char *name)
{
    cli_page_part(output, cli_asset_report_html, name, NULL);
}

/* ---- all findings ---- */

static int has_columns(const cli_findings *all)
{
    return all->probabilities && broad_model_outputs(all->model) <= COLUMNS;
}

static void put_number_cell(cli_output *output, double value, int percent)
{
    if (!isfinite(value)) {
        cli_html_put(output, "<td class=\"n\" data-v=\"\"></td>");
        return;
    }
    cli_output_print(output, "<td class=\"n\" data-v=\"%.6g\">", value);
    if (percent) cli_html_put(output, cli_number_percent(&(cli_number){""}, value));
    else cli_output_print(output, "%.4g", value);
    cli_html_put(output, "</td>");
}

static void put_text_cell(cli_output *output, const char *text)
{
    cli_html_put(output, "<td>");
    cli_html_text(output, text);
    cli_html_put(output, "</td>");
}

/* Where and when it was taken. */
static void put_circumstances(cli_output *output, const cli_findings *all, const cli_finding *item)
{
    char time[32];
    cli_report_time(time, item->photo->time);
    cli_html_put(output, "<td class=\"t wide\">");
    cli_html_text(output, time);
    cli_html_put(output, "</td>");
    if (!all->places) return;
    cli_html_put(output, "<td class=\"t wide\">");
    if (cli_finding_has_place(item))
        cli_output_print(output, "%.6f, %.6f", item->photo->latitude, item->photo->longitude);
    cli_html_put(output, "</td>");
}

static int is_text(const char *name)
{
    size_t left = strlen(name), length = 1;
    for (; left && length; name += length, left -= length)
        length = (unsigned char)*name < ' ' || *name == 0x7F ? 0 : broad__utf8_length(name, left);
    return left == 0 && length;
}

/* What scripts need; the file only where its name survives in a page, with the box where photos were cropped, as findings.csv has it. */
static void put_data(cli_output *output, const cli_findings *all, const cli_finding *item, size_t number)
{
    cli_output_print(output, "<tr data-i=\"%zu\" data-verdict=\"", number);
    cli_html_text(output, cli_finding_verdict(all, item));
    if (all->classes) {
        cli_html_put(output, "\" data-label=\"");
        cli_html_text(output, cli_finding_label(all, item->label));
        cli_output_print(output, "\" data-c=\"%.6g", all->probabilities ? item->certainty : fabs(item->rank));
    }
    if (is_text(item->photo->file)) {
        cli_html_put(output, "\" data-file=\"");
        cli_html_text(output, item->photo->file);
        if (all->cropped)
            cli_output_print(output, "\" data-box=\"%.1f,%.1f,%.1f,%.1f", item->photo->left, item->photo->top,
                             item->photo->right, item->photo->bottom);
    }
    cli_html_put(output, "\">");
}

static void put_row(cli_output *output, const cli_findings *all, size_t index)
{
    const cli_finding *item = &all->items[index];
    put_data(output, all, item, index + 1);
    cli_output_print(output, "<td class=\"n\" data-v=\"%zu\">%zu</td><td class=\"f\"><a href=\"#p%zu\">", index + 1,
                     index + 1, index + 1);
    cli_html_text(output, item->photo->name);
    cli_html_put(output, "</a></td>");
    if (all->classes) {
        cli_html_put(output, "<td>");
        cli_report_chip(output, all, item);
        cli_html_put(output, "</td>");
    } else {
        put_number_cell(output, item->value, 0);
        if (all->intervals) put_number_cell(output, item->low, 0), put_number_cell(output, item->high, 0);
    }
    if (has_columns(all))
        for (size_t i = 0; i < broad_model_outputs(all->model); i++) put_number_cell(output, item->probabilities[i], 1);
    else if (all->probabilities) put_number_cell(output, item->certainty, 1);
    if (all->truths) put_text_cell(output, cli_finding_label(all, item->truth));
    put_circumstances(output, all, item);
    cli_html_put(output, "</tr>\n");
}

static void put_heading(cli_output *output, const char *class, const char *name)
{
    cli_output_print(output, "<th scope=\"col\"%s>", class);
    cli_html_text(output, name);
    cli_html_put(output, "</th>");
}

static void put_headings(cli_output *output, const cli_findings *all)
{
    static const char number[] = " class=\"n\"", wide[] = " class=\"wide\"";
    put_heading(output, number, "#");
    put_heading(output, "", "Photo");
    if (all->classes) put_heading(output, "", "Verdict");
    else {
        put_heading(output, number, broad_model_output_name(all->model, 0));
        if (all->intervals) put_heading(output, number, "from"), put_heading(output, number, "to");
    }
    if (has_columns(all))
        for (size_t i = 0; i < broad_model_outputs(all->model); i++)
            put_heading(output, number, broad_model_output_name(all->model, i));
    else if (all->probabilities) put_heading(output, number, "Probability");
    if (all->truths) put_heading(output, "", "Folder");
    put_heading(output, wide, "Time");
    if (all->places) put_heading(output, wide, "Place");
}

void cli_report_put_tools(cli_output *output, const cli_findings *findings)
{
    if (!findings->count) return;
    put_plain(output, "tools");
    for (size_t i = 0; findings->classes && i < broad_model_outputs(findings->model); i++) {
        cli_html_put(output, "<option data-class>");
        cli_html_text(output, broad_model_output_name(findings->model, i));
        cli_html_put(output, "</option>\n");
    }
    if (findings->probabilities) cli_html_put(output, "<option>unsure</option>\n");
    if (cli_report_count(findings).unlike) cli_html_put(output, "<option>" CLI_UNLIKE "</option>\n");
    put_plain(output, findings->classes ? "tools-end" : "tools-end-values");
}

void cli_report_put_table(cli_output *output, const cli_findings *findings)
{
    cli_html_put(output, "<section id=\"all\">\n<h2>All findings as a table</h2>\n");
    if (findings->count == 0) {
        put_plain(output, "none");
        return;
    }
    cli_html_put(output, "<div class=\"scroll\"><table id=\"findings\">\n<thead><tr>");
    put_headings(output, findings);
    cli_html_put(output, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < findings->count && !output->status; i++) put_row(output, findings, i);
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

void cli_report_put_confusion(cli_output *output, const cli_findings *findings)
{
    size_t classes = broad_model_outputs(findings->model), right = 0;
    if (!findings->truths || classes > CONFUSED) return;
    put_plain(output, "labels");
    for (size_t j = 0; j < classes; j++) {
        cli_html_put(output, "<th scope=\"col\" class=\"n\">judged ");
        cli_html_text(output, broad_model_output_name(findings->model, j));
        cli_html_put(output, "</th>");
    }
    cli_html_put(output, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < classes; i++) {
        cli_html_put(output, "<tr><th scope=\"row\">");
        cli_html_text(output, broad_model_output_name(findings->model, i));
        cli_html_put(output, "</th>");
        for (size_t j = 0; j < classes; j++)
            cli_output_print(output, "<td class=\"n\">%zu</td>", count_pair(findings, i, j));
        cli_html_put(output, "</tr>\n");
        right += count_pair(findings, i, i);
    }
    double part = findings->count ? (double)right / (double)findings->count : 0;
    CLI_PAGE_PART(output, cli_asset_report_html, "labels-end", "part", cli_number_percent(&(cli_number){""}, part));
}
