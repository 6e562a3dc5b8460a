#include "page/figure.h"

#include <math.h>

#include "page/page.h"

static void put_legend(cli_output *output, const cli_chart *chart)
{
    static const char *const classes[] = {
        [CLI_LINE] = "",          [CLI_DASHED] = " dashed",      [CLI_DOTTED] = " dotted", [CLI_STEPS] = "",
        [CLI_POINTS] = " points", [CLI_LINE_POINTS] = " points", [CLI_BARS] = " bars",     [CLI_BAND] = " band",
    };
    cli_html_put(output, "<ul class=\"legend\">");
    for (size_t i = 0; i < chart->series_count; i++) {
        const cli_series *series = &chart->series[i];
        cli_output_print(output, "<li class=\"k%d%s\"><i></i>", series->colour, classes[series->mark]);
        cli_html_text(output, series->name);
        cli_html_put(output, "</li>");
    }
    if (chart->diagonal) cli_html_put(output, "<li class=\"k4 dashed\"><i></i>where both are equal</li>");
    cli_html_put(output, "</ul>\n");
}

static void put_head_cell(cli_output *output, const char *name, const char *more)
{
    cli_html_put(output, "<th scope=\"col\" class=\"n\">");
    cli_html_text(output, name);
    cli_html_put(output, more);
    cli_html_put(output, "</th>");
}

static void put_cell(cli_output *output, double value)
{
    if (isfinite(value)) cli_output_print(output, "<td class=\"n\">%.6g</td>", value);
    else cli_html_put(output, "<td class=\"n\"></td>");
}

static void put_table(cli_output *output, const cli_chart *chart)
{
    cli_html_put(output, "<details><summary>The same as a table</summary>\n<div class=\"scroll tall\"><table>\n"
                         "<thead><tr>");
    cli_html_put(output, "<th scope=\"col\" class=\"n\">");
    cli_axis_name(output, &chart->x);
    cli_html_put(output, "</th>");
    for (size_t j = 0; j < chart->series_count; j++) {
        if (chart->series[j].low) put_head_cell(output, chart->series[j].name, ", from");
        put_head_cell(output, chart->series[j].name, chart->series[j].low ? ", to" : "");
    }
    cli_html_put(output, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < chart->count; i++) {
        if (isnan(chart->at[i])) continue;
        cli_html_put(output, "<tr>");
        put_cell(output, chart->at[i]);
        for (size_t j = 0; j < chart->series_count; j++) {
            if (chart->series[j].low) put_cell(output, chart->series[j].low[i]);
            put_cell(output, chart->series[j].values[i]);
        }
        cli_html_put(output, "</tr>\n");
    }
    cli_html_put(output, "</tbody>\n</table></div>\n</details>\n");
}

/* The caption can say how many of all figures have a mark. */
static void put_words(cli_output *output, const cli_chart *chart, const char *asset)
{
    size_t shown = 0;
    for (size_t i = 0; i < chart->count; i++) shown += isfinite(chart->at[i]) && isfinite(chart->series[0].values[i]);
    CLI_PAGE_PART(output, asset, chart->words, "shown", cli_number_count(&(cli_number){""}, shown), "all",
                  cli_number_count(&(cli_number){""}, chart->count));
    if (chart->start_count) cli_page_part(output, asset, "starts", NULL);
}

void cli_figure_put(cli_output *output, const cli_charts *charts, const char *id, const char *asset)
{
    const cli_chart *chart = cli_charts_find(charts, id);
    if (!chart) return;
    cli_output_print(output, "<figure id=\"%s\">\n<div><h3>", id);
    cli_html_text(output, chart->heading);
    cli_html_put(output, "</h3>\n");
    if (!chart->tags) put_legend(output, chart); /* what has colours of its own has them explained in words */
    cli_html_put(output, "</div>\n");
    cli_chart_svg(output, chart);
    cli_html_put(output, "<figcaption>");
    put_words(output, chart, asset);
    cli_html_put(output, "</figcaption>\n");
    if (!chart->untabled) put_table(output, chart);
    cli_html_put(output, "</figure>\n");
}
