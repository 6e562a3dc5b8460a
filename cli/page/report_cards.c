#include "page/report_cards.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "page/assets.h"
#include "page/page.h"
#include "run/photo_verdict.h"

enum { METERS = 3 };
#define SMALL 0.005 /* a probability that would be shown as 0 */

#define PART(output, name, ...) CLI_PAGE_PART(output, cli_asset_report_html, name, __VA_ARGS__)

/* ---- pictures ---- */

static void put_image(cli_output *output, const cli_jpeg *picture, const char *what, const char *name)
{
    cli_output_print(output, "<img width=\"%zu\" height=\"%zu\" alt=\"%s ", picture->width, picture->height, what);
    cli_html_text(output, name);
    cli_html_put(output, "\" src=\"data:image/jpeg;base64,");
    cli_html_base64(output, picture->bytes, picture->count);
    cli_html_put(output, "\">");
}

/* It opens the large one. */
static void put_picture(cli_output *output, const cli_jpeg *picture, const char *link, const char *what,
                        const char *name)
{
    cli_html_put(output, "<a href=\"");
    cli_html_link(output, link);
    cli_html_put(output, "\">");
    put_image(output, picture, what, name);
    cli_html_put(output, "</a>\n");
}

/* ---- one card ---- */

static void put_meter(cli_output *output, const cli_findings *all, size_t class, double probability)
{
    char width[16];
    snprintf(width, sizeof width, "%.1f", 100 * probability);
    PART(output, "meter", "band", class == broad_model_normal(all->model) ? "neg" : "pos", "class",
         broad_model_output_name(all->model, class), "width", width, "probability",
         cli_number_percent(&(cli_number){""}, probability));
}

/* The most probable classes; of two both. */
static void put_meters(cli_output *output, const cli_findings *all, const cli_finding *item)
{
    size_t count = item->probabilities ? broad_model_outputs(all->model) : 0;
    double above = INFINITY;
    size_t last = 0;
    for (size_t k = 0; k < METERS && k < count; k++) {
        size_t best = count;
        for (size_t i = 0; i < count; i++) {
            double p = item->probabilities[i];
            int left = p < above || (p == above && i > last);
            if (left && (best == count || p > item->probabilities[best])) best = i;
        }
        if (best == count || (k && count > 2 && item->probabilities[best] < SMALL)) return;
        put_meter(output, all, best, item->probabilities[best]);
        above = item->probabilities[best];
        last = best;
    }
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
    char time[32], faults[CLI_FAULTS_BYTES];
    cli_report_time(time, photo->time);
    cli_html_put(output, "<dl class=\"bits\">\n");
    if (!all->classes && isfinite(item->low))
        put_bit(output, name, "%.4g (%.4g to %.4g)", item->value, item->low, item->high);
    else if (!all->classes) put_bit(output, name, "%.4g", item->value);
    cli_photo_faults(faults, photo);
    if (*faults) put_bit(output, "Picture", "%s", faults);
    if (*time) put_bit(output, "Time", "%s", time);
    if (cli_finding_has_place(item)) put_bit(output, "Place", "%.6f, %.6f", photo->latitude, photo->longitude);
    if (isfinite(photo->relative_altitude)) put_bit(output, "Height", "%.1f m", photo->relative_altitude);
    if (*twin && strcmp(twin, photo->name) != 0) PART(output, "twin", "name", twin);
    cli_html_put(output, "</dl>\n");
}

static void put_card(cli_output *output, const cli_report_page *page, size_t index)
{
    const cli_findings *all = page->findings;
    const cli_finding *item = &all->items[index];
    const cli_report_picture *picture = &page->pictures->items[index];
    const cli_links *links = &page->pictures->links;
    char number[24];
    snprintf(number, sizeof number, "%zu", index + 1);
    cli_output_print(output, "<article class=\"card\" id=\"p%s\" data-i=\"%s\">\n<div class=\"pics\">\n", number,
                     number);
    put_picture(output, &picture->photo, links->photo[index], "Photo", item->photo->name);
    put_picture(output, &picture->heat, links->heat[index], "Heat map of", item->photo->name);
    if (all->classes) PART(output, "seen", "class", broad_model_output_name(all->model, picture->heat_output));
    PART(output, "card", "number", number, "name", item->photo->name);
    cli_report_chip(output, all, item);
    cli_html_put(output, "</div>\n");
    put_meters(output, all, item);
    put_bits(output, all, item);
    cli_html_put(output, "</div>\n</article>\n");
}

/* ---- sections ---- */

static void put_section(cli_output *output, const cli_report_page *page, cli_card card, int first)
{
    static const char *const names[] = {[CLI_CARD_FAULT] = "faults",
                                        [CLI_CARD_UNLIKE] = "unlike",
                                        [CLI_CARD_UNSURE] = "unsure",
                                        [CLI_CARD_BORDERLINE] = "borderline",
                                        [CLI_CARD_SAMPLE] = "sample"};
    const cli_findings *all = page->findings;
    PART(output, all->classes || card != CLI_CARD_FAULT ? names[card] : "largest", "normal", cli_report_normal(all));
    if (first) cli_page_part(output, cli_asset_report_html, all->classes ? "key" : "key-values", NULL);
    cli_html_put(output, "<div class=\"cards\">\n");
    for (size_t i = 0; i < all->count && !output->status; i++)
        if (page->pictures->items[i].card == card) put_card(output, page, i);
    cli_html_put(output, "</div>\n</section>\n");
}

void cli_report_put_cards(cli_output *output, const cli_report_page *page)
{
    int first = 1;
    for (int card = CLI_CARD_NONE + 1; card < CLI_CARD_COUNT; card++) {
        size_t count = 0;
        for (size_t i = 0; i < page->findings->count; i++) count += page->pictures->items[i].card == (cli_card)card;
        if (!count) continue;
        put_section(output, page, (cli_card)card, first);
        first = 0;
    }
}

/* ---- thumbnails ---- */

static void put_thumb(cli_output *output, const cli_report_page *page, size_t index)
{
    const cli_findings *all = page->findings;
    const cli_finding *item = &all->items[index];
    const cli_report_picture *picture = &page->pictures->items[index];
    const cli_links *links = &page->pictures->links;
    char name[CLI_THUMB_NAME];
    cli_output_print(output, "<a class=\"thumb %s\" data-i=\"%zu\"", cli_report_band_class(all, item), index + 1);
    if (!picture->card) cli_output_print(output, " id=\"p%zu\"", index + 1);
    cli_html_put(output, " href=\"");
    cli_html_link(output, links->photo[index]);
    if (links->heat[index]) {
        cli_html_put(output, "\" data-heat=\"");
        cli_html_link(output, links->heat[index]);
    }
    cli_html_put(output, "\" title=\"");
    cli_html_text(output, item->photo->name);
    cli_html_put(output, "\">");
    if (picture->thumb.bytes) put_image(output, &picture->thumb, "Thumbnail of", item->photo->name);
    else {
        cli_thumb_name(name, index);
        cli_output_print(output, "<img loading=\"lazy\" width=\"%zu\" height=\"%zu\" alt=\"Thumbnail of ",
                         picture->thumb.width, picture->thumb.height);
        cli_html_text(output, item->photo->name);
        cli_output_print(output, "\" src=\"%s\">", name);
    }
    cli_html_put(output, "<span>");
    if (item->unlike) cli_html_put(output, CLI_UNLIKE);
    else if (all->classes) cli_html_text(output, cli_finding_label(all, item->label));
    if (item->probabilities && !item->unlike) cli_html_put(output, item->unsure ? "? " : " ");
    if (item->probabilities && !item->unlike)
        cli_html_put(output, cli_number_percent(&(cli_number){""}, item->certainty));
    if (!all->classes) cli_output_print(output, "%.4g", item->value);
    cli_html_put(output, "</span></a>\n");
}

void cli_report_put_thumbs(cli_output *output, const cli_report_page *page)
{
    if (!page->findings->count) return;
    cli_page_part(output, cli_asset_report_html, page->findings->classes ? "thumbs" : "thumbs-values", NULL);
    for (size_t i = 0; i < page->findings->count && !output->status; i++) put_thumb(output, page, i);
    cli_html_put(output, "</div>\n</section>\n");
}
