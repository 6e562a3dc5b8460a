#include "serve/api_exports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "serve/export.h"
#include "serve/tool.h"
#include "serve/versions.h"

static atomic_ullong made;

static int model_path(char out[PATH_MAX], const serve_request *request)
{
    int64_t version = serve_version_now(request->server);
    if (!version) return cli_fail(BROAD_NO_INPUT, "there is no model yet; label photos and learn first");
    return serve_project_model_path(out, &request->server->project, version);
}

static int write_onnx(const serve_request *request, const char *path)
{
    char model[PATH_MAX];
    if (!serve_export_has_onnx())
        return cli_fail(BROAD_NO_INPUT, "this build of broad does not export ONNX; a newer one does");
    int status = model_path(model, request);
    const char *words[] = {"export", model, "--onnx", path, NULL};
    return status ? status : serve_tool_run(NULL, words, &request->server->over);
}

/* Opens it and takes its name away: it is gone when it has been sent. */
static int take_file(serve_answer *out, const char *path)
{
    out->file = open(path, O_RDONLY | O_CLOEXEC);
    int number = errno;
    unlink(path);
    return out->file > 0 ? BROAD_OK : cli_fail(BROAD_IO, "the file cannot be opened: %s", strerror(number));
}

int serve_api_export(serve_answer *out, const serve_request *request)
{
    const serve_export *export = serve_export_named(request->name);
    char path[PATH_MAX];
    if (!export)
        return cli_fail(BROAD_NO_INPUT,
                        "there is no export '%s'; give csv, spreadsheet, geojson, kml, report, tree, model or onnx",
                        request->name);
    int is_model = strcmp(request->name, "model") == 0;
    int status =
        is_model ? model_path(path, request)
                 : serve_project_path(path, &request->server->project, "work/export-%llu", (unsigned long long)made++);
    if (!status && !is_model) status = export->write ? export->write(request, path) : write_onnx(request, path);
    if (status == BROAD_IO)
        status = cli_fail(BROAD_CANNOT_WRITE, "the file cannot be made: the disk is full, or fails (%s)",
                          broad_error_message());
    if (!status && is_model) {
        out->file = open(path, O_RDONLY | O_CLOEXEC);
        if (out->file <= 0) status = cli_fail(BROAD_IO, "the model cannot be opened: %s", strerror(errno));
    } else if (!status) status = take_file(out, path);
    out->type = export->type;
    snprintf(out->download, sizeof out->download, "%s", export->file);
    return status;
}
