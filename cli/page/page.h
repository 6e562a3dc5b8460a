/* Pages from the parts in assets/: an HTML file there is a list of <template id="NAME">, each with places for text. */
#ifndef BROAD_CLI_PAGE_PAGE_H
#define BROAD_CLI_PAGE_PAGE_H

#include "io/output.h"
#include "page/html.h"

/* Everything up to the heading: no more than this is in the page's header yet. `style`: CSS besides that of all pages;
 * `script_hash`: of the script that may run, NULL: none may; `pictures`: pictures may lie beside the page. */
void cli_page_begin(cli_output *output, const char *title, const char *style, const char *script_hash, int pictures);
/* Today, as 2024-05-31, or the day of SOURCE_DATE_EPOCH where that is set. */
enum { CLI_DAY_BYTES = 16 };
void cli_page_day(char out[CLI_DAY_BYTES]);
/* The template `name` of an asset. `slots`: names and texts in turn, ending with NULL; {{name}} becomes its text, escaped, and
 * {{{name}}} becomes it as it stands. A template or a slot that is not there is a fault of the program. */
void cli_page_part(cli_output *output, const char *asset, const char *name, const char *const *slots);
/* The same with the slots as arguments. */
#define CLI_PAGE_PART(output, asset, name, ...)                                                                        \
    cli_page_part(output, asset, name, (const char *const[]){__VA_ARGS__, NULL})

#endif
