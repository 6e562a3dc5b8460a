/* Text output to standard output or to a file that appears complete or not at all. */
#ifndef BROAD_CLI_IO_OUTPUT_H
#define BROAD_CLI_IO_OUTPUT_H

#include "base/file.h"
#include "cli.h"

typedef struct cli_output {
    int to_file;
    broad__replacement file;
    char *buffer;
    size_t used;
    int status; /* first failure; later writes do nothing */
} cli_output;

int cli_output_open(cli_output *out, const char *path); /* "-": standard output */
void cli_output_bytes(cli_output *output, const char *bytes, size_t count);
void cli_output_print(cli_output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_output_count(cli_output *output, size_t count);
void cli_output_real(cli_output *output, double value); /* shortest text that reads back as the same number */
/* Puts the file in place, or removes it if anything failed, now or before. */
int cli_output_close(cli_output *output);
/* Gives up: nothing appears. */
void cli_output_abandon(cli_output *output);

#endif
