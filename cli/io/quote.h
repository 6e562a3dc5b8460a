/* Text that another program reads back: fields of CSV, and words of a shell. */
#ifndef BROAD_CLI_IO_QUOTE_H
#define BROAD_CLI_IO_QUOTE_H

#include <stdio.h>

#include "io/output.h"

/*
 * One CSV field, quoted where RFC 4180 asks for it. A spreadsheet evaluates text that starts with = + - @, a tab or a
 * carriage return as a formula, and names and labels may come from anywhere: such a field begins with an apostrophe, unless
 * it is a number.
 */
void cli_csv_text(cli_output *output, const char *text);
/* The text unchanged, for programs that read it back. */
void cli_csv_exact(cli_output *output, const char *text);
/* As cli_csv_text(), for three parts that make up one field. */
void cli_csv_parts(cli_output *output, const char *prefix, const char *text, const char *suffix);

/* One word that a shell reads back unchanged. */
void cli_shell_word(FILE *out, const char *word);

#endif
