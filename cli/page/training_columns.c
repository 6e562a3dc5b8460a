#include "page/training_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/assets.h"
#include "page/page.h"
#include "run/importance.h"

enum { ROWS_SHOWN = 100 };

/* What is known of one column; NaN: nothing. */
typedef struct column {
    const char *name;
    double importance, spread, share;
} column;

typedef struct columns {
    size_t count, left; /* left: relevant ones that there was no room for */
    int important, relevant;
    double most_important, most_relevant;
    column of[ROWS_SHOWN];
} columns;

/* A template of this page, with slots and without. */
#define PART(output, name, ...) CLI_PAGE_PART(output, cli_asset_training_html, name, __VA_ARGS__)
static void put_plain(cli_output *output, const char *name)
{
    cli_page_part(output, cli_asset_training_html, name, NULL);
}

/* ---- what there is ---- */

static void take_importance(columns *out, const broad_model *model)
{
    broad_importance found[CLI_IMPORTANCE_MOST] = {{0}};
    out->count = cli_importance_sorted(found, model);
    out->important = out->count > 0;
    for (size_t c = 0; c < out->count; c++) {
        out->of[c] = (column){found[c].column, found[c].value, found[c].spread, NAN};
        out->most_important = fmax(out->most_important, found[c].value);
    }
}

static column *find_column(columns *list, const char *name)
{
    for (size_t c = 0; c < list->count; c++)
        if (strcmp(list->of[c].name, name) == 0) return &list->of[c];
    return NULL;
}

static void take_relevance(columns *out, const cli_relevance *relevance)
{
    out->relevant = relevance->count > 0;
    if (out->relevant) out->most_relevant = relevance->parts[0].share;
    for (size_t i = 0; i < relevance->count; i++) {
        const broad_relevance *part = &relevance->parts[i];
        column *same = out->important ? find_column(out, part->part) : NULL;
        if (same) same->share = part->share;
        else if (out->count < ROWS_SHOWN) out->of[out->count++] = (column){part->part, NAN, NAN, part->share};
        else out->left++;
    }
}

/* ---- the table ---- */

static void put_number(cli_output *output, double value)
{
    cli_html_put(output, "<td class=\"n\">");
    if (isfinite(value)) cli_html_put(output, cli_number_real(&(cli_number){""}, value, 'f', 4));
    cli_html_put(output, "</td>");
}

/* A bar whose full length stands for `most`. */
static void put_bar(cli_output *output, double value, double most, int colour)
{
    double length = most > 0 && value > 0 ? 100 * fmin(value / most, 1) : 0;
    cli_output_print(output,
                     "<td class=\"bar\"><svg class=\"chart\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
                     "aria-hidden=\"true\"><rect class=\"k%d\" y=\"1\" width=\"%.1f\" height=\"8\"/></svg></td>",
                     colour, length);
}

static void put_column(cli_output *output, const columns *list, const column *c)
{
    cli_html_put(output, "<tr><th scope=\"row\">");
    cli_html_text(output, c->name);
    cli_html_put(output, "</th>");
    if (list->important) {
        put_number(output, c->importance);
        put_number(output, c->spread);
        put_bar(output, c->importance, list->most_important, 1);
    }
    if (list->relevant) {
        cli_html_put(output, "<td class=\"n\">");
        if (isfinite(c->share)) cli_html_put(output, cli_number_share(&(cli_number){""}, c->share));
        cli_html_put(output, "</td>");
        put_bar(output, c->share, list->most_relevant, 2);
    }
    cli_html_put(output, "</tr>\n");
}

static void put_table(cli_output *output, const columns *list)
{
    put_plain(output, "columns-table");
    if (list->important) put_plain(output, "columns-importance");
    if (list->relevant) put_plain(output, "columns-relevance");
    cli_html_put(output, "</tr></thead>\n<tbody>\n");
    for (size_t c = 0; c < list->count; c++) put_column(output, list, &list->of[c]);
    cli_html_put(output, "</tbody>\n</table></div>\n");
    if (list->left) PART(output, "columns-more", "count", cli_number_count(&(cli_number){""}, list->left));
}

/* ---- directions ---- */

static void put_directions(cli_output *output, const cli_relevance *relevance)
{
    size_t shown = cli_directions_shown(relevance);
    char words[CLI_DIRECTION_TEXT];
    if (!shown) return;
    put_plain(output, "directions");
    for (size_t d = 0; d < shown; d++)
        PART(output, "direction", "share", cli_number_share(&(cli_number){""}, relevance->share[d]), "words",
             cli_direction_words(words, relevance, d));
    cli_html_put(output, "</tbody>\n</table></div>\n");
}

void cli_training_columns(cli_output *output, const cli_training *training)
{
    const broad_model *model = training->model;
    broad_importance suspect = {.size = sizeof suspect};
    columns list = {0};
    take_importance(&list, model);
    take_relevance(&list, &training->relevance);
    if (!list.count) return;
    put_plain(output, broad_model_maps(model) ? "columns-photos" : "columns");
    if (list.important) put_plain(output, "say-importance");
    if (list.relevant) put_plain(output, "say-relevance");
    put_table(output, &list);
    if (!broad_model_importance(&suspect, model, broad_model_suspect(model)))
        PART(output, "suspect", "column", suspect.column);
    put_directions(output, &training->relevance);
    cli_html_put(output, "</section>\n");
}
