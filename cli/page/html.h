/* Text, numbers and pictures as parts of an HTML file. */
#ifndef BROAD_CLI_PAGE_HTML_H
#define BROAD_CLI_PAGE_HTML_H

#include "io/output.h"

/* HTML as it stands. */
void cli_html_put(cli_output *output, const char *html);
/* As content or within the quotes of an attribute: what has a meaning in HTML is escaped, bytes that are no UTF-8 become
 * U+FFFD, control characters a blank. */
void cli_html_text(cli_output *output, const char *text);
/* The same as one word of a shell. */
void cli_html_shell(cli_output *output, const char *word);
/* A path as the address of a link. */
void cli_html_link(cli_output *output, const char *path);
void cli_html_base64(cli_output *output, const void *bytes, size_t count);

/* ---- numbers, for the slots of a template; each returns out->text ---- */

typedef struct cli_number {
    char text[128];
} cli_number;

const char *cli_number_count(cli_number *out, size_t count);                                        /* "1,234" */
const char *cli_number_of(cli_number *out, size_t count, const char *singular, const char *plural); /* "1,234 rows" */
const char *cli_number_percent(cli_number *out, double part);                                       /* "97 %" */
/* As HTML: with all its digits for programs and some of them for people; 'f': after the point, 'g': in all. */
const char *cli_number_real(cli_number *out, double value, char form, int digits);
const char *cli_number_share(cli_number *out, double part); /* "57.1 %", likewise */

#endif
