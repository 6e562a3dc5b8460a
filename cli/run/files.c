#include "run/files.h"

#include <string.h>

#include "io/output.h"

static int set_labels(cli_files *out, const cli_arguments *arguments, const char *option)
{
    size_t labels = cli_given_all(out->labels, arguments, option);
    if (labels == 0 || labels == out->count) return BROAD_OK;
    return cli_fail(BROAD_USAGE,
                    "--%s was given %zu time%s for %zu file%s of rows; give it once per file, in the same order",
                    option, labels, labels == 1 ? "" : "s", out->count, out->count == 1 ? "" : "s");
}

int cli_files_after_model(cli_files *out, const cli_arguments *arguments)
{
    memset(out, 0, sizeof *out);
    out->count = arguments->positional_count - 1;
    for (size_t i = 0; i < out->count; i++) out->paths[i] = arguments->positional[i + 1];
    return set_labels(out, arguments, "labels");
}

int cli_files_given(cli_files *out, const cli_arguments *arguments, const char *option, const char *labels)
{
    memset(out, 0, sizeof *out);
    out->count = cli_given_all(out->paths, arguments, option);
    return set_labels(out, arguments, labels);
}

int cli_files_apart(const cli_files *files, const char *output)
{
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < files->count; i++) {
        status = cli_check_apart(output, files->paths[i]);
        if (!status) status = cli_check_apart(output, files->labels[i]);
    }
    return status;
}
