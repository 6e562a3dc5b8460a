/* Text to standard output or to a file that appears complete or not at all; and checks of output paths. */
#ifndef BROAD_CLI_IO_OUTPUT_H
#define BROAD_CLI_IO_OUTPUT_H

#include "base/file.h"
#include "message.h"

typedef struct cli_output {
    int to_file;
    int terminal; /* control characters of names and labels are shown, not sent */
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

/* A new file with these bytes; a file that exists is an error. */
int cli_write_new(const char *path, const void *bytes, size_t count);

int cli_copy_file(const char *to, const char *from); /* appears complete or not at all; replaces what is there */
/* The same; what it replaces is shown to `look` before it is gone (broad__replace_commit_looking()). */
int cli_replace_file(const char *to, const char *from, broad__replaced look, void *context);
int cli_move_file(const char *from, const char *to); /* within a file system; replaces what is there */
/* Two files change places, in one step where the system can; one that is not there leaves its place to the other. */
int cli_exchange_files(const char *one, const char *other);

/* ---- files that must not be mixed up ---- */

int cli_same_file(const char *one, const char *other);
/* Fails if the output path names the same file as an input. Either may be NULL or "-". */
int cli_check_apart(const char *output, const char *input);
/* Fails now, not after the work, if nothing can be written there. */
int cli_check_writable(const char *path);

#endif
