/* Text, numbers and pictures as parts of an HTML file. */
#ifndef BROAD_CLI_PAGE_HTML_H
#define BROAD_CLI_PAGE_HTML_H

#include "io/output.h"

/* HTML as it stands, and lines of it that end with NULL. */
void cli_html_put(cli_output *output, const char *html);
void cli_html_lines(cli_output *output, const char *const *lines);
/* As content or within the quotes of an attribute: what has a meaning in HTML is escaped, bytes that are no UTF-8 become
 * U+FFFD, control characters a blank. */
void cli_html_text(cli_output *output, const char *text);
/* The same as one word of a shell. */
void cli_html_shell(cli_output *output, const char *word);
void cli_html_base64(cli_output *output, const void *bytes, size_t count);
/* "1,234" */
void cli_html_count(cli_output *output, size_t count);
/* "97 %" */
void cli_html_percent(cli_output *output, double part);

#endif
