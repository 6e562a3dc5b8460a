/*
 * Options as text. The first line is a command and the others are its words; or every line is an option of training, name and
 * value with = between. A line $NAME=VALUE sets a variable of the environment that the tool or the library reads. What is taken can be printed and is then taken again, with the same meaning; what is refused is
 * refused with a reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "base/spill.h"
#include "model/options_check.h"
#include "page/page.h"
#include "values.h"

enum { LINES = 24, TEXT = 8192 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void must(int holds)
{
    if (!holds) abort();
}

static int refused(int status)
{
    if (status) must(status < 0 && status != BROAD_BUG && broad_error_message()[0]);
    return status != BROAD_OK;
}

/* ---- the library ---- */

static void try_training(char *const lines[], size_t count)
{
    broad_options options;
    broad_options_init(&options);
    for (size_t i = 0; i < count; i++) {
        char name[64], once[TEXT], twice[TEXT];
        const char *value = strchr(lines[i], '=');
        size_t length = value ? (size_t)(value - lines[i]) : sizeof name;
        if (length >= sizeof name) continue;
        memcpy(name, lines[i], length);
        name[length] = 0;
        if (refused(broad_options_set(&options, name, value + 1))) continue;
        must(broad_options_get(once, sizeof once, &options, name) == BROAD_OK);
        broad_options copy = options;
        if (!once[0] || strlen(once) + 1 == sizeof once) continue;
        must(broad_options_set(&copy, name, once) == BROAD_OK);
        must(broad_options_get(twice, sizeof twice, &copy, name) == BROAD_OK && strcmp(once, twice) == 0);
    }
    refused(broad__options_check(&options));
}

/* ---- the tool ---- */

static void try_values(const cli_arguments *given)
{
    broad_options options;
    broad_read_options reading;
    size_t whole;
    uint64_t seed;
    double part;
    const broad_option *all[CLI_OPTIONS_MAX];
    size_t count = cli_command_options(all, given->command);
    for (size_t i = 0; i < count; i++) {
        const char *name = all[i]->name;
        cli_value(given, name);
        if (all[i]->choices) cli_choice(given, name);
        if (strcmp(name, "threads") == 0) refused(cli_threads(&whole, given));
        if (strcmp(name, "memory") == 0) refused(cli_memory(&whole, given));
        if (strcmp(name, "seed") == 0) refused(cli_seed(&seed, given));
        if (strcmp(name, "holdout") == 0 && !refused(cli_holdout(&part, given))) must(part >= 0 && part < 1);
        if (strcmp(name, "interval") == 0 && !refused(cli_level(&part, given))) must(part >= 0 && part < 1);
    }
    if (strcmp(given->command->name, "fit") != 0) return;
    refused(cli_training_options(&options, given));
    cli_read_options(&reading, given);
}

static void try_tool(char **lines, size_t count)
{
    const cli_command *command = NULL;
    cli_arguments given = {0};
    if (refused(cli_command_named(&command, lines[0]))) return;
    if (refused(cli_arguments_parse(&given, command, (int)count - 1, lines + 1))) must(cli_error()[0]);
    else try_values(&given);
    cli_arguments_clear(&given);
}

/* ---- the environment ---- */

static void try_day(void)
{
    char day[CLI_DAY_BYTES];
    memset(day, 1, sizeof day);
    cli_page_day(day);
    must(memchr(day, 0, sizeof day) != NULL);
    for (const char *at = day; *at; at++) must((*at >= '0' && *at <= '9') || *at == '-');
}

static void try_spill(void)
{
    broad__spill *spill = NULL;
    if (!refused(broad__spill_open(&spill, 1 << 20))) broad__spill_close(spill);
}

static void set_environment(char *line)
{
    char *value = strchr(line, '=');
    if (!value) return;
    *value = 0;
    if (strcmp(line, "SOURCE_DATE_EPOCH") == 0 || strcmp(line, "TMPDIR") == 0) setenv(line, value + 1, 1);
    *value = '=';
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *text = malloc(count + 1), *lines[LINES], *rest = text;
    size_t used = 0;
    memcpy(text, bytes, count);
    text[count] = 0;
    for (char *line; used < LINES && (line = strsep(&rest, "\n"));) {
        if (line[0] == '$') set_environment(line + 1);
        else lines[used++] = line;
    }
    if (used && strchr(lines[0], '=')) try_training(lines, used);
    else if (used) try_tool(lines, used);
    if (getenv("SOURCE_DATE_EPOCH")) try_day();
    if (getenv("TMPDIR")) try_spill();
    unsetenv("SOURCE_DATE_EPOCH");
    unsetenv("TMPDIR");
    free(text);
    return 0;
}
