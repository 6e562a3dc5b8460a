/* broad undo: the model that the last run replaced. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "io/interrupt.h"
#include "io/json.h"
#include "run/kept_stats.h"
#include "run/measures.h"
#include "run/model_file.h"
#include "run/show.h"

/* A model as the result tells of it. */
typedef struct told {
    broad_model *model; /* NULL: there is none, or what is there is no model */
    char saved[32];     /* "2026-05-03 14:07:31"; "": unknown */
} told;

static void look(told *out, const char *path)
{
    struct stat info;
    struct tm when;
    if (broad_model_load(&out->model, path)) out->model = NULL;
    if (stat(path, &info) == 0 && localtime_r(&info.st_mtime, &when))
        strftime(out->saved, sizeof out->saved, "%Y-%m-%d %H:%M:%S", &when);
}

static json_t *told_json(const told *what, const char *file)
{
    json_t *object = json_object();
    const broad_model *model = what->model;
    if (!model) {
        json_decref(object);
        return json_null();
    }
    cli_json_put(object, "file", cli_json_text(file));
    cli_json_put(object, "saved", cli_json_text(what->saved));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_model_rows(model)));
    cli_json_put(object, "nodes", json_integer((json_int_t)broad_model_nodes(model)));
    cli_json_put(object, "layers", json_integer((json_int_t)broad_model_layers(model)));
    cli_json_put(object, "loo", cli_estimate_json(model));
    return object;
}

static void print_told(const char *name, const told *what, const char *text)
{
    char size[64], estimate[256];
    cli_format_size(size, sizeof size, what->model);
    cli_print("%-8s %s: saved %s, trained on %zu row%s, %s\n", name, text, what->saved, broad_model_rows(what->model),
              cli_plural(broad_model_rows(what->model)), size);
    if (cli_estimate_line(estimate, sizeof estimate, what->model)) cli_print("         estimate %s\n", estimate);
}

static int report(const cli_arguments *arguments, const char *path, const char *kept, const told *restored,
                  const told *replaced)
{
    if (cli_given(arguments, "json")) {
        json_t *object = cli_json_object("undo");
        cli_json_put(object, "model", cli_json_text(path));
        cli_json_put(object, "restored", told_json(restored, path));
        cli_json_put(object, "replaced", told_json(replaced, kept));
        cli_json_put(object, "stats", json_boolean(cli_stats_exist(path)));
        return cli_json_give(arguments, object);
    }
    print_told("restored", restored, path);
    if (!replaced->model) return BROAD_OK;
    print_told("replaced", replaced, kept);
    cli_print("The same command again brings it back.\n");
    return BROAD_OK;
}

static int check_kept(const cli_model_file *file, const char *kept, const told *restored)
{
    char hash[BROAD__HASH_TEXT];
    if (access(kept, F_OK))
        return cli_fail(BROAD_NO_INPUT,
                        "there is nothing to undo: %s does not exist. fit, grow and learn keep there what they replace",
                        kept);
    if (!restored->model) return cli_fail(BROAD_BAD_MODEL, "%s", cli_error());
    int status = broad__file_hash(hash, kept);
    if (!status && strcmp(hash, file->seen) == 0)
        return cli_fail(BROAD_FAILED, "there is nothing to undo: %s and %s are the same", file->name, kept);
    return status;
}

int cli_undo(const cli_arguments *arguments)
{
    char kept[PATH_MAX + 2], shown[PATH_MAX + 2];
    const char *path = arguments->positional[0];
    told restored = {0}, replaced = {0};
    cli_model_file file = {0};
    int status = cli_model_file_hold(&file, path);
    if (status) return status;
    snprintf(kept, sizeof kept, "%s~", file.path);
    look(&replaced, path);
    look(&restored, kept);
    status = check_kept(&file, kept, &restored);
    cli_signals_catch();
    if (!status) status = cli_model_file_swap(&file);
    cli_signals_release();
    snprintf(shown, sizeof shown, "%s~", path);
    if (!status) status = report(arguments, path, access(shown, F_OK) ? kept : shown, &restored, &replaced);
    cli_model_file_release(&file);
    broad_model_free(restored.model);
    broad_model_free(replaced.model);
    return status;
}
