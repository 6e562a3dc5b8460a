#include "serve/lesson.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/output.h"
#include "io/quote.h"
#include "serve/learned.h"
#include "serve/versions.h"

enum { NAMES_SHOWN = 5 };

void serve_lesson_clear(serve_lesson *own)
{
    for (size_t i = 0; i < own->count; i++) free(own->labels[i]);
    free(own->labels);
    free(own->photos);
    json_decref(own->left_out);
    *own = (serve_lesson){0};
}

static int lesson_add(serve_lesson *own, int64_t photo, const char *label)
{
    if (own->count == own->room) {
        size_t room = own->room ? 2 * own->room : 256;
        int64_t *photos = realloc(own->photos, room * sizeof *photos);
        if (photos) own->photos = photos;
        char **labels = realloc(own->labels, room * sizeof *labels);
        if (labels) own->labels = labels;
        if (!photos || !labels) return cli_fail(BROAD_NO_MEMORY, "out of memory");
        own->room = room;
    }
    own->photos[own->count] = photo;
    own->labels[own->count] = strdup(label);
    if (!own->labels[own->count]) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    own->count++;
    return BROAD_OK;
}

/* What people said and the model in use has not learned: corrections, with `agreed` what they agreed to as well. */
#define NOT_LEARNED                                                                                                    \
    " FROM photos p WHERE p.state IN (1,3) AND p.review>=?1 AND p.human IS NOT NULL AND p.human"                       \
    " IS NOT " SERVE_LEARNED_LABEL("p.id", "?2")

int serve_lesson_pending(int64_t *out, serve_server *server)
{
    return serve_number(out, &server->project.database, "SELECT count(*)" NOT_LEARNED, "ii",
                        (int64_t)SERVE_REVIEW_CORRECTED, serve_version_now(server));
}

typedef struct gathering {
    serve_lesson *lesson;
    const serve_model *model;
} gathering;

static int gather_one(void *context, sqlite3_stmt *row)
{
    const gathering *own = context;
    const char *label = serve_query_text(row, 1);
    own->lesson->new_classes |= !serve_model_knows(own->model, label);
    return lesson_add(own->lesson, sqlite3_column_int64(row, 0), label);
}

int serve_lesson_gather(serve_lesson *out, serve_server *server, const serve_model *model, int agreed)
{
    serve_database *database = &server->project.database;
    sqlite3_stmt *query = NULL;
    gathering own = {out, model};
    serve_database_lock(database);
    int status =
        serve_query_open(&query, database, "SELECT p.id, p.human" NOT_LEARNED " ORDER BY p.id", "ii",
                         (int64_t)(agreed ? SERVE_REVIEW_AGREED : SERVE_REVIEW_CORRECTED), model ? model->version : 0);
    status = serve_query_each(query, status, gather_one, &own);
    serve_database_unlock(database);
    return status;
}

/* ---- what is left out ---- */

static int note_left_out(serve_lesson *own, serve_server *server, int64_t photo, const char *reason)
{
    json_t *object = json_object();
    sqlite3_stmt *query = NULL;
    cli_json_put(object, "photo", json_integer(photo));
    serve_database_lock(&server->project.database);
    int status =
        serve_query_open(&query, &server->project.database, "SELECT name, folder FROM photos WHERE id=?", "i", photo);
    status = serve_query_each(query, status, serve_photo_put_name, object);
    serve_database_unlock(&server->project.database);
    cli_json_put(object, "reason", cli_json_text(reason));
    if (!own->left_out) own->left_out = json_array();
    cli_json_append(own->left_out, object);
    return status;
}

static int leave_out(serve_lesson *own, serve_server *server, size_t index, const char *reason)
{
    int64_t photo = own->photos[index];
    size_t after = --own->count - index;
    free(own->labels[index]);
    memmove(own->labels + index, own->labels + index + 1, after * sizeof *own->labels);
    memmove(own->photos + index, own->photos + index + 1, after * sizeof *own->photos);
    return note_left_out(own, server, photo, reason);
}

/* The photo of a file that the tool names: by its own name, or by the one that the model was trained with; 0: none. */
static int find_photo(int64_t *out, serve_server *server, const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    *out = 0;
    return serve_number(out, &server->project.database,
                        "SELECT id FROM photos WHERE content=?1 UNION SELECT photo FROM trained WHERE file=?2", "tt",
                        slash ? slash + 1 : "", file ? file : "");
}

/* Of this lesson: others of the folder are skipped because they are not in the list. */
static int leave_out_skipped(serve_lesson *own, serve_server *server, const json_t *item)
{
    int64_t photo = 0;
    const char *reason = json_string_value(json_object_get(item, "reason"));
    int status = find_photo(&photo, server, json_string_value(json_object_get(item, "file")));
    for (size_t i = 0; !status && photo && i < own->count; i++)
        if (own->photos[i] == photo) return leave_out(own, server, i, reason ? reason : "it cannot be read");
    return status;
}

static int note_gone(serve_lesson *own, serve_server *server, const json_t *item)
{
    int64_t photo = 0;
    int status = find_photo(&photo, server, json_string_value(item));
    return status || !photo ? status : note_left_out(own, server, photo, "its file is gone since it was learned");
}

int serve_lesson_leave_out_skipped(serve_lesson *own, serve_server *server, const json_t *said)
{
    const json_t *photos = json_object_get(said, "photos"), *item;
    const json_t *skipped = json_object_get(photos, "skipped");
    const json_t *gone = json_object_get(json_object_get(photos, "remembered"), "gone");
    int status = BROAD_OK;
    size_t i;
    json_array_foreach(skipped, i, item) if (!status) status = leave_out_skipped(own, server, item);
    json_array_foreach(gone, i, item) if (!status) status = note_gone(own, server, item);
    return status;
}

void serve_lesson_left_out(char out[SERVE_LEFT_OUT_BYTES], const serve_lesson *own)
{
    size_t count = json_array_size(own->left_out), used = 0;
    out[0] = 0;
    for (size_t i = 0; i < count && i < NAMES_SHOWN && used < SERVE_LEFT_OUT_BYTES; i++)
        used += (size_t)snprintf(out + used, SERVE_LEFT_OUT_BYTES - used, "%s%.100s", i ? ", " : "",
                                 json_string_value(json_object_get(json_array_get(own->left_out, i), "name")));
    if (count > NAMES_SHOWN && used < SERVE_LEFT_OUT_BYTES)
        snprintf(out + used, SERVE_LEFT_OUT_BYTES - used, " and %zu more", count - NAMES_SHOWN);
}

/* ---- the list that the tool reads ---- */

static void write_line(cli_output *output, const char *file, const char *label)
{
    if (!output) return;
    cli_csv_exact(output, file);
    cli_output_bytes(output, ",", 1);
    cli_csv_exact(output, label);
    cli_output_bytes(output, "\n", 1);
}

typedef struct lines {
    cli_output *output; /* NULL: they are only counted */
    const char *label;
    const char *missing; /* why there is none */
    size_t count;
} lines;

/* NULL: the tool can learn from it. */
static const char *why_missing(const char *file)
{
    if (access(file, R_OK)) return errno == ENOENT ? "its file is gone" : "its file cannot be read";
    return broad_path_look(file) == BROAD_PATH_KIND_PICTURE ? NULL : "its file is no photo any more";
}

static int write_trained(void *context, sqlite3_stmt *row)
{
    lines *own = context;
    if (access(serve_query_text(row, 0), R_OK)) return BROAD_OK;
    write_line(own->output, serve_query_text(row, 0), own->label);
    own->count++;
    return BROAD_OK;
}

/* A photo that the model was trained on goes by the name that the model knows it by: then its label there is replaced. No line
 * is written where its file is missing. */
static int write_photo(lines *own, serve_server *server, int64_t photo)
{
    serve_database *database = &server->project.database;
    sqlite3_stmt *query = NULL;
    char file[PATH_MAX];
    own->count = 0;
    serve_database_lock(database);
    int status = serve_query_open(&query, database, "SELECT file FROM trained WHERE photo=? ORDER BY file", "i", photo);
    status = serve_query_each(query, status, write_trained, own);
    serve_database_unlock(database);
    if (status || own->count) return status;
    status = serve_photo_tool_path(file, &server->project, photo);
    if (!status) own->missing = why_missing(file);
    if (status || own->missing) return status;
    write_line(own->output, file, own->label);
    own->count++;
    return BROAD_OK;
}

/* Photos that are referred to may have gone meanwhile. */
int serve_lesson_leave_out_missing(serve_lesson *own, serve_server *server)
{
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < own->count;) {
        lines found = {0};
        status = write_photo(&found, server, own->photos[i]);
        if (!status && found.count) i++;
        else if (!status) status = leave_out(own, server, i, found.missing);
    }
    return status;
}

/* file,label */
int serve_lesson_write(const serve_lesson *own, serve_server *server, const char *path)
{
    cli_output output;
    int status = cli_output_open(&output, path);
    if (status) return status;
    cli_output_print(&output, "file,label\n");
    for (size_t i = 0; !status && i < own->count; i++) {
        lines photo = {.output = &output, .label = own->labels[i]};
        status = write_photo(&photo, server, own->photos[i]);
    }
    if (status) {
        cli_output_abandon(&output);
        return status;
    }
    return cli_output_close(&output);
}
