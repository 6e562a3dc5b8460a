#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ranks.h"

/* Only a row of the library's table: a command may have one of its own by the same name. */
static int set_training(broad_options *out, const cli_arguments *arguments, const char *name)
{
    const char *value =
        cli_option_named(arguments->command, name) == cli_library_option(name) ? cli_given(arguments, name) : NULL;
    int status = value ? broad_options_set(out, name, value) : BROAD_OK;
    return status ? cli_fail_usage(arguments->command, cli_error()) : BROAD_OK;
}

int cli_training_details(broad_options *options, const cli_arguments *arguments)
{
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < broad_option_count(); i++) {
        const char *name = broad_option_at(i)->name;
        if (strcmp(name, "preset") && strcmp(name, "kind")) status = set_training(options, arguments, name);
    }
    return status;
}

int cli_training_options(broad_options *out, const cli_arguments *arguments)
{
    broad_options_init(out);
    int status = set_training(out, arguments, "preset");
    if (!status) status = set_training(out, arguments, "kind");
    if (!status) status = cli_training_details(out, arguments);
    out->comm = cli_comm();
    out->threads = cli_ranks_threads(out->threads);
    return status;
}

int cli_increment_options(broad_options *out, const cli_arguments *arguments)
{
    char text[64];
    const char *enhance = cli_given(arguments, "enhance"), *features = cli_given(arguments, "features");
    int status = cli_training_options(out, arguments);
    if (!status && enhance && strlen(enhance) + 2 < sizeof text) {
        snprintf(text, sizeof text, "%s%s", enhance, strpbrk(enhance, "xX") ? "" : "x1");
        enhance = text;
    }
    if (status) return status;
    if (enhance) status = broad_options_set(out, "enhance", enhance);
    if (!status && features) status = broad_options_set(out, "features", features);
    return status ? cli_fail_usage(arguments->command, cli_error()) : BROAD_OK;
}

int cli_count(size_t *out, const cli_arguments *arguments, const char *name)
{
    const char *value = cli_value(arguments, name);
    char *end = NULL;
    *out = 0;
    if (!value) return BROAD_OK;
    unsigned long long number = strtoull(value, &end, 10);
    *out = (size_t)number;
    if (value[0] >= '0' && value[0] <= '9' && *end == 0 && number >= 1 && number <= 1000000000) return BROAD_OK;
    return cli_fail(BROAD_USAGE, "--%s: '%s' is not a whole number from 1 to 1000000000 (see 'broad help %s')", name,
                    value, arguments->command->name);
}

/* A number between 0 and 1; 0: not given. */
static int parse_fraction(double *out, const cli_arguments *arguments, const char *name, const char *what)
{
    const char *text = cli_given(arguments, name);
    char *end = NULL;
    *out = 0;
    if (!text) return BROAD_OK;
    *out = strtod(text, &end);
    if (end != text && *end == 0 && *out > 0 && *out < 1) return BROAD_OK;
    return cli_fail(BROAD_USAGE, "--%s: '%s' is not a %s", name, text, what);
}

int cli_holdout(double *out, const cli_arguments *arguments)
{
    return parse_fraction(out, arguments, "holdout", "fraction; give a number above 0 and below 1, such as 0.3");
}

int cli_level(double *out, const cli_arguments *arguments)
{
    return parse_fraction(out, arguments, "interval", "level; give a number above 0 and below 1, such as 0.9");
}

int cli_threshold(double *out, const cli_arguments *arguments)
{
    return parse_fraction(out, arguments, "threshold", "probability; give a number above 0 and below 1, such as 0.3");
}

void cli_read_options(broad_read_options *out, const cli_arguments *arguments)
{
    broad_read_options_init(out);
    out->in_place = 1;
    out->comm = cli_comm();
    out->target = cli_given(arguments, "target");
    out->labels = cli_given(arguments, "labels");
    out->group = cli_given(arguments, "group");
    out->weight = cli_given(arguments, "weight");
    out->categorical = cli_given(arguments, "categorical");
    out->header = cli_value(arguments, "header");
    out->separator = cli_value(arguments, "separator");
    out->task = (broad_task)cli_choice(arguments, "task");
    if (cli_value(arguments, "missing")) out->missing = (broad_missing)cli_choice(arguments, "missing");
    out->inputs = cli_given(arguments, "inputs");
    out->ignore = cli_given(arguments, "ignore");
    out->no_groups = cli_given(arguments, "no-groups") != NULL;
}

int cli_threads(size_t *out, const cli_arguments *arguments)
{
    broad_options options;
    broad_options_init(&options);
    int status = set_training(&options, arguments, "threads");
    if (!status) *out = cli_ranks_threads(options.threads);
    return status;
}

int cli_device(broad_device *out, const cli_arguments *arguments)
{
    broad_options options;
    broad_options_init(&options);
    int status = set_training(&options, arguments, "device");
    if (!status) *out = options.device;
    return status;
}

int cli_memory(size_t *out, const cli_arguments *arguments)
{
    broad_options options;
    broad_options_init(&options);
    int status = set_training(&options, arguments, "memory");
    if (!status) *out = options.memory;
    return status;
}

int cli_seed(uint64_t *out, const cli_arguments *arguments)
{
    broad_options options;
    broad_options_init(&options);
    int status = set_training(&options, arguments, "seed");
    if (!status) *out = options.seed;
    return status;
}
