#include "run/files.h"

#include <string.h>
#include <unistd.h>

#include "io/output.h"
#include "run/recall.h"

static int same(const char *one, const char *other) { return one && other ? cli_same_file(one, other) : one == other; }

static int has(const cli_files *files, size_t count, const char *path, const char *labels)
{
    for (size_t i = 0; i < count; i++)
        if (same(files->paths[i], path) && same(files->labels[i], labels)) return 1;
    return 0;
}

/* A file that is given twice counts once. */
static void drop_doubles(cli_files *files)
{
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++) {
        if (has(files, kept, files->paths[i], files->labels[i])) continue;
        files->paths[kept] = files->paths[i];
        files->labels[kept++] = files->labels[i];
    }
    files->count = kept;
}

static int set_labels(cli_files *out, const cli_arguments *arguments, const char *option)
{
    size_t labels = cli_given_all(out->labels, arguments, option);
    if (labels == 0 || labels == out->count) {
        drop_doubles(out);
        return BROAD_OK;
    }
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

/* What the model remembers; count 0: not all of its rows, or files that cannot be read now. */
static void remembered(cli_files *out, const broad_model *model)
{
    size_t rows = 0;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < broad_model_sources(model) && i < CLI_GIVEN_MAX; i++) {
        broad_source source = {.size = sizeof source};
        int usable = !broad_model_source(&source, model, i) && access(source.path, R_OK) == 0 &&
                     (!source.labels || access(source.labels, R_OK) == 0);
        rows += usable ? source.rows : 0;
        out->paths[i] = source.path;
        out->labels[i] = source.labels;
        out->count++;
    }
    if (rows != broad_model_rows(model)) out->count = 0;
}

void cli_files_complete(cli_files *files, const broad_model *model, const cli_arguments *arguments)
{
    cli_files all;
    if (cli_recall_possible(model)) return;
    remembered(&all, model);
    if (all.count <= files->count) return;
    for (size_t i = 0; i < files->count; i++) {
        int known = 0;
        for (size_t k = 0; k < all.count; k++) known |= cli_same_file(all.paths[k], files->paths[i]);
        if (!known) return;
    }
    for (size_t k = 0; k < all.count; k++)
        if (!has(files, files->count, all.paths[k], all.labels[k]))
            cli_note(arguments, "also reading %s, which the model was trained on", all.paths[k]);
    *files = all;
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
