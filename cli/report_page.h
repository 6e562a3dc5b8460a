/* The parts of a report's page that are the same in all of them: lines, ending with NULL. */
#ifndef BROAD_CLI_REPORT_PAGE_H
#define BROAD_CLI_REPORT_PAGE_H

extern const char *const cli_report_style[];  /* CSS: light, dark, narrow, wide, print */
extern const char *const cli_report_script[]; /* JavaScript: sorting and filtering of the table */

#endif
