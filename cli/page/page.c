#include "page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "page/assets.h"

/* From behind the template's tag; NULL: there is none. */
static const char *find_template(const char *asset, const char *name, const char **out_end)
{
    char tag[96];
    snprintf(tag, sizeof tag, "<template id=\"%s\">\n", name);
    const char *begin = strstr(asset, tag);
    if (!begin) return NULL;
    begin += strlen(tag);
    *out_end = strstr(begin, "</template>");
    return *out_end ? begin : NULL;
}

static const char *find_slot(const char *const *slots, const char *name, size_t length)
{
    for (; slots && *slots; slots += 2)
        if (strlen(*slots) == length && memcmp(*slots, name, length) == 0) return slots[1];
    return NULL;
}

/* One place; returns what follows it, NULL: there is no text for it. */
static const char *put_slot(cli_output *output, const char *at, const char *const *slots)
{
    int raw = at[2] == '{';
    const char *name = at + 2 + raw;
    size_t length = strcspn(name, "}");
    const char *text = find_slot(slots, name, length);
    if (!text) return NULL;
    if (raw) cli_html_put(output, text);
    else cli_html_text(output, text);
    return name + length + 2 + raw;
}

void cli_page_part(cli_output *output, const char *asset, const char *name, const char *const *slots)
{
    const char *end = NULL, *at = find_template(asset, name, &end);
    while (at && at < end) {
        const char *slot = strstr(at, "{{");
        if (!slot || slot > end) slot = end;
        cli_output_bytes(output, at, (size_t)(slot - at));
        at = slot < end ? put_slot(output, slot, slots) : end;
    }
    if (!at && !output->status)
        output->status = cli_fail(BROAD_BUG, "the part '%s' of a page is not as expected", name);
}

void cli_page_day(char out[CLI_DAY_BYTES])
{
    const char *given = getenv("SOURCE_DATE_EPOCH");
    time_t now = given ? (time_t)strtoll(given, NULL, 10) : time(NULL);
    struct tm parts;
    int known = (given ? gmtime_r(&now, &parts) : localtime_r(&now, &parts)) != NULL;
    /* Of a day that does not fit, strftime() leaves anything in the array. */
    if (!known || strftime(out, CLI_DAY_BYTES, "%Y-%m-%d", &parts) == 0) out[0] = 0;
}

void cli_page_begin(cli_output *output, const char *title, const char *style, const char *script_hash, int pictures)
{
    char scripts[96] = "";
    if (script_hash) snprintf(scripts, sizeof scripts, "; script-src 'sha256-%s'", script_hash);
    CLI_PAGE_PART(output, cli_asset_page_html, "head", "title", title, "images", pictures ? " 'self' file:" : "",
                  "scripts", scripts, "colours", cli_asset_colours_css, "page", cli_asset_page_css, "figure",
                  cli_asset_figure_css, "chart", cli_asset_chart_css, "style", style);
}
