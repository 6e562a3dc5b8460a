/* The pictures within the page of `broad report`. */
#ifndef BROAD_CLI_PAGE_REPORT_CARDS_H
#define BROAD_CLI_PAGE_REPORT_CARDS_H

#include "page/report_html.h"

/* Cards with heat maps, in sections by why they are shown. */
void cli_report_put_cards(cli_output *output, const cli_report_page *page);
/* A thumbnail of every photo. */
void cli_report_put_thumbs(cli_output *output, const cli_report_page *page);

#endif
