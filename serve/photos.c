#include "serve/photos.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "io/json.h"

void serve_clean_text(char *out, size_t bytes, const char *text)
{
    size_t used = 0;
    for (size_t left = strlen(text), step; left; text += step, left -= step) {
        step = broad__utf8_length(text, left);
        const char *from = step ? text : "?";
        size_t count = step ? step : 1;
        if (!step) step = 1;
        if (count == 1 && ((unsigned char)*from < 32 || *from == 127)) from = " ";
        if (used + count >= bytes) break;
        memcpy(out + used, from, count);
        used += count;
    }
    out[used] = 0;
}

/* ---- files ---- */

static int read_all(void *to, size_t count, int from)
{
    for (char *at = to; count;) {
        ssize_t got = read(from, at, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        at += got;
        count -= (size_t)got;
    }
    return 0;
}

/* For reading. A regular file that is not a link, and has neither no bytes nor too many. */
static int open_file(int *out, size_t *out_bytes, const char *path)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), status = BROAD_OK;
    if (file < 0)
        return cli_fail(BROAD_NO_INPUT, "%s",
                        errno == ENOENT  ? "the file of this photo is gone"
                        : errno == ELOOP ? "it is a symbolic link"
                                         : strerror(errno));
    if (fstat(file, &info) || !S_ISREG(info.st_mode)) status = cli_fail(BROAD_BAD_DATA, "it is not a regular file");
    else if (info.st_size == 0) status = cli_fail(BROAD_BAD_DATA, "the file is empty");
    else if (info.st_size > SERVE_PHOTO_BYTES_MOST)
        status = cli_fail(BROAD_BAD_DATA, "the file is larger than %d MB", SERVE_PHOTO_BYTES_MOST >> 20);
    if (status) {
        close(file);
        return status;
    }
    *out = file;
    *out_bytes = (size_t)info.st_size;
    return BROAD_OK;
}

int serve_file_read(void **out, size_t *out_bytes, const char *path)
{
    int file = -1;
    size_t count = 0;
    int status = open_file(&file, &count, path);
    if (status) return status;
    void *bytes = malloc(count + 1);
    if (!bytes) status = cli_fail(BROAD_NO_MEMORY, "out of memory");
    if (!status && read_all(bytes, count, file)) status = cli_fail(BROAD_IO, "the file cannot be read");
    close(file);
    if (status) {
        free(bytes);
        return status;
    }
    *out = bytes;
    *out_bytes = count;
    return BROAD_OK;
}

static int find_path(char out[PATH_MAX], serve_project *project, int64_t id, int inside)
{
    sqlite3_stmt *query = NULL;
    serve_database_lock(&project->database);
    int status = serve_query_open(&query, &project->database, "SELECT path, content FROM photos WHERE id=?", "i", id);
    if (!status) status = serve_query_row(query);
    if (status == 0) status = cli_fail(BROAD_NO_INPUT, "there is no photo number %lld", (long long)id);
    if (status > 0 && !inside && sqlite3_column_type(query, 0) != SQLITE_NULL) {
        snprintf(out, PATH_MAX, "%s", serve_query_text(query, 0));
        status = BROAD_OK;
    } else if (status > 0) status = serve_project_path(out, project, "photos/%s", serve_query_text(query, 1));
    serve_query_close(query);
    serve_database_unlock(&project->database);
    return status;
}

int serve_photo_path(char out[PATH_MAX], serve_project *project, int64_t id) { return find_path(out, project, id, 0); }

int serve_photo_tool_path(char out[PATH_MAX], serve_project *project, int64_t id)
{
    return find_path(out, project, id, 1);
}

int serve_photo_open(int *out, size_t *out_bytes, serve_project *project, int64_t id)
{
    char path[PATH_MAX];
    int status = serve_photo_path(path, project, id);
    return status ? status : open_file(out, out_bytes, path);
}

int serve_photo_read(void **out, size_t *out_bytes, serve_project *project, int64_t id)
{
    char path[PATH_MAX];
    int status = serve_photo_path(path, project, id);
    return status ? status : serve_file_read(out, out_bytes, path);
}

int serve_photo_put_name(void *context, sqlite3_stmt *row)
{
    cli_json_put(context, "name", cli_json_text(serve_query_text(row, 0)));
    cli_json_put(context, "folder", cli_json_text(serve_query_text(row, 1)));
    return BROAD_OK;
}

/* ---- coming in ---- */

static int find_content(serve_added *out, serve_project *project, const char *content)
{
    out->id = 0;
    int status = serve_number(&out->id, &project->database, "SELECT id FROM photos WHERE content=?", "t", content);
    out->known = out->id != 0;
    return status;
}

/* One that was known from training alone joins the photos of the project. */
static int reveal(serve_project *project, int64_t id)
{
    return serve_change(&project->database, "UPDATE photos SET state=? WHERE id=? AND state=?", "iii",
                        (int64_t)SERVE_STATE_WAITING, id, (int64_t)SERVE_STATE_TRAINING);
}

/* path: NULL where the project has the file. */
static int add_row(serve_added *out, serve_project *project, const char *content, size_t bytes, const char *path,
                   const char *name)
{
    char clean[SERVE_NAME_BYTES];
    serve_clean_text(clean, sizeof clean, name);
    char *slash = strrchr(clean, '/');
    const char *folder = slash ? clean : "", *base = slash ? slash + 1 : clean;
    if (slash) *slash = 0;
    serve_database_lock(&project->database);
    int status = serve_change(&project->database,
                              "INSERT OR IGNORE INTO photos(content, name, folder, path, bytes, added)"
                              " VALUES(?,?,?,?,?,?)",
                              "ttttii", content, base, folder, path, (int64_t)bytes, serve_now());
    int made = !status && sqlite3_changes(project->database.handle) > 0;
    if (!status) status = find_content(out, project, content);
    out->known = !made;
    if (!status && !made) status = reveal(project, out->id);
    serve_database_unlock(&project->database);
    return status;
}

static int keep_file(serve_project *project, const char *content, const void *bytes, size_t count, int wait)
{
    char path[PATH_MAX];
    broad__replacement place;
    int status = serve_project_path(path, project, "photos/%s", content);
    if (status || access(path, F_OK) == 0) return status;
    status = broad__replace_begin(&place, path);
    if (!status) status = broad__replace_write(&place, bytes, count);
    if (!status) status = wait ? broad__replace_commit_among_many(&place) : broad__replace_commit_unsynced(&place);
    if (status != BROAD_IO) return status;
    return cli_fail(BROAD_CANNOT_WRITE, "the photo cannot be kept: the disk is full, or fails (%s)",
                    broad_error_message());
}

/* For the tool, which looks for photos in the project. */
static int add_link(serve_project *project, const char *content, const char *path)
{
    char link_path[PATH_MAX];
    int status = serve_project_path(link_path, project, "photos/%s", content);
    if (status || symlink(path, link_path) == 0 || errno == EEXIST) return status;
    return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be made: %s", link_path, strerror(errno));
}

int serve_photo_add(serve_added *out, serve_project *project, const void *bytes, size_t count, const char *name)
{
    char content[BROAD__HASH_TEXT];
    broad__hash_text(content, bytes, count);
    int status = find_content(out, project, content);
    if (!status && out->known) return reveal(project, out->id);
    if (status) return status;
    status = keep_file(project, content, bytes, count, 1);
    return status ? status : add_row(out, project, content, count, NULL, name);
}

int serve_photo_bring(serve_incoming *out, serve_project *project, const char *path, int copy)
{
    void *bytes = NULL;
    int status = serve_file_read(&bytes, &out->bytes, path);
    if (status) return status;
    out->copied = copy;
    broad__hash_text(out->content, bytes, out->bytes);
    status = copy ? keep_file(project, out->content, bytes, out->bytes, 0) : add_link(project, out->content, path);
    free(bytes);
    return status;
}

int serve_photo_enter(serve_added *out, serve_project *project, const serve_incoming *incoming, const char *path,
                      const char *name)
{
    return add_row(out, project, incoming->content, incoming->bytes, incoming->copied ? NULL : path, name);
}

/* ---- what was seen ---- */

int serve_photo_judge(serve_outcome *outcome)
{
    const serve_model *model = outcome->model;
    if (outcome->status || !model || !outcome->sight.inputs) return BROAD_OK;
    outcome->scores = calloc(model->outputs, sizeof *outcome->scores);
    if (!outcome->scores) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    return serve_model_judge(&outcome->verdict, outcome->scores, model, outcome->sight.inputs);
}

static int keep_failure(serve_project *project, const serve_outcome *outcome)
{
    return serve_change(&project->database, "UPDATE photos SET state=?, reason=? WHERE id=?", "iti",
                        (int64_t)SERVE_STATE_UNREADABLE, outcome->reason, outcome->id);
}

static int keep_verdict(serve_project *project, const serve_outcome *outcome)
{
    const serve_model *model = outcome->model;
    const serve_verdict *verdict = &outcome->verdict;
    if (!model) return BROAD_OK;
    return serve_change(&project->database,
                        "UPDATE photos SET version=?, inputs=?, scores=?, label=?, certainty=?, fault=?, distance=?"
                        " WHERE id=?",
                        "ibbtrrri", model->version, outcome->sight.inputs, model->inputs * sizeof(double),
                        outcome->scores, model->outputs * sizeof(double),
                        broad_model_output_name(model->model, verdict->label), verdict->certainty, verdict->fault,
                        outcome->sight.photo.distance, outcome->id);
}

int serve_photo_keep(serve_project *project, const serve_outcome *outcome)
{
    const broad_photo *photo = &outcome->sight.photo;
    if (outcome->status) return keep_failure(project, outcome);
    double aspect = photo->height ? (double)photo->width / (double)photo->height : 1;
    int64_t stack = serve_stacks_find(&project->stacks, outcome->id, outcome->sight.print, aspect);
    int status = serve_change(&project->database,
                              "UPDATE photos SET state=?, reason=NULL, width=?, height=?, time=?, latitude=?,"
                              " longitude=?, altitude=?, yaw=?, faults=?, print=?, stack=? WHERE id=?",
                              "iiitrrrriiii", (int64_t)SERVE_STATE_SEEN, (int64_t)photo->width, (int64_t)photo->height,
                              photo->time[0] ? photo->time : NULL, photo->latitude, photo->longitude, photo->altitude,
                              photo->yaw, (int64_t)photo->faults, (int64_t)outcome->sight.print, stack, outcome->id);
    if (!status) status = keep_verdict(project, outcome);
    if (!status)
        status = serve_change(&project->database, "INSERT OR REPLACE INTO thumbnails VALUES(?,?)", "ib", outcome->id,
                              outcome->sight.jpeg, outcome->sight.jpeg_bytes);
    return status;
}

void serve_outcome_clear(serve_outcome *outcome)
{
    serve_sight_clear(&outcome->sight);
    serve_model_drop(outcome->model);
    free(outcome->scores);
    memset(outcome, 0, sizeof *outcome);
}
