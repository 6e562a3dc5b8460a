/* JSON results: one object per command, its first member "command". */
#ifndef BROAD_CLI_IO_JSON_H
#define BROAD_CLI_IO_JSON_H

#include <jansson.h>

#include "arguments.h"

json_t *cli_json_object(const char *command); /* {"command": ...} */
json_t *cli_json_text(const char *text);      /* bytes that are no UTF-8 become U+FFFD */
json_t *cli_json_real(double value);          /* null if it is no finite number */
json_t *cli_json_uint(uint64_t value);        /* text where it is too large for a JSON integer of 64 bits */
int cli_json_stored(json_t **out, const broad_model *model); /* everything the model's file says about it */
/* Takes over `value`. That there was no memory for it is kept for this thread: cli_json_print() reports it, and
 * cli_json_lacking() tells and forgets it. */
void cli_json_put(json_t *object, const char *name, json_t *value);
void cli_json_append(json_t *array, json_t *value);
int cli_json_lacking(void);
/* Prints it to standard output and frees it. */
int cli_json_print(json_t *object);
/* The result of a command, taken over: to the caller of the command (cli_arguments.result), or to standard output. */
int cli_json_give(const cli_arguments *arguments, json_t *object);

#endif
