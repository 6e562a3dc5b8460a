/* The parts of a report's page that are the same in all of them: lines, ending with NULL. */
#ifndef BROAD_CLI_PAGE_REPORT_PAGE_H
#define BROAD_CLI_PAGE_REPORT_PAGE_H

#include "io/output.h"

/* Everything up to the heading: no more than this is in the page's header yet. `styles`: further lines of CSS. */
void cli_page_begin(cli_output *output, const char *title, const char *const *const *styles, size_t count);

extern const char *const cli_report_script[]; /* JavaScript: sorting and filtering of the table of findings */

#endif
