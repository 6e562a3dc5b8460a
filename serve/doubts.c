#include "serve/doubts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "serve/filter.h"
#include "serve/learned.h"
#include "serve/versions.h"

/* ---- the list ---- */

static int put_decision(void *context, sqlite3_stmt *row)
{
    json_t *object = context;
    cli_json_put(object, "review", cli_json_text(serve_review_names[sqlite3_column_int(row, 0) % 3]));
    cli_json_put(object, "human", cli_json_text(serve_query_text(row, 1)));
    return BROAD_OK;
}

/* Photos of the project are files named by their content: the name is the one that they came with. */
static int name_photo(json_t *photo, serve_database *database)
{
    sqlite3_stmt *query = NULL;
    const char *file = json_string_value(json_object_get(photo, "file"));
    const char *slash = file ? strrchr(file, '/') : NULL, *base = slash ? slash + 1 : file;
    cli_json_put(photo, "name", cli_json_text(base ? base : ""));
    cli_json_put(photo, "folder", cli_json_text(""));
    int status = serve_query_open(&query, database, "SELECT name, folder FROM photos WHERE content=?", "t", base);
    return serve_query_each(query, status, serve_photo_put_name, photo);
}

int serve_doubts_json(json_t **out, serve_server *server)
{
    serve_database *database = &server->project.database;
    json_t *doubts = serve_learner_doubts(server->learner), *photos = json_object_get(doubts, "photos"), *photo;
    int status = BROAD_OK;
    size_t i;
    serve_database_lock(database);
    json_array_foreach(photos, i, photo)
    {
        sqlite3_stmt *query = NULL;
        if (status) break;
        status = serve_query_open(&query, database,
                                  "SELECT p.review, p.human FROM trained t JOIN photos p ON p.id=t.photo WHERE t.file=?"
                                  " AND p.review>0",
                                  "t", json_string_value(json_object_get(photo, "file")));
        status = serve_query_each(query, status, put_decision, photo);
        if (!status) status = name_photo(photo, database);
    }
    serve_database_unlock(database);
    if (status) json_decref(doubts);
    else *out = doubts;
    return status;
}

/* ---- becoming a photo of the project ---- */

/* Looked at and judged at once, however many others wait. */
static int look(serve_outcome *out, serve_server *server, const void *bytes, size_t count)
{
    int status = serve_queue_ask(&out->sight, server->queue, out->model, SERVE_WORK_LOOK, 0, 0, bytes, count);
    return status ? status : serve_photo_judge(out);
}

static int enter(int64_t *out, serve_server *server, const serve_doubt *doubt, serve_outcome *seen)
{
    serve_project *project = &server->project;
    serve_incoming incoming = {0};
    serve_added added = {0};
    char name[SERVE_NAME_BYTES];
    const char *slash = strrchr(doubt->file, '/');
    snprintf(name, sizeof name, "training/%.200s/%.300s", doubt->label, slash ? slash + 1 : doubt->file);
    int status = serve_photo_bring(&incoming, project, doubt->file, project->copy);
    if (!status && project->copy) syncfs(project->lock);
    if (!status) status = serve_database_begin(&project->database);
    if (status) return status;
    status = serve_photo_enter(&added, project, &incoming, doubt->file, name);
    seen->id = *out = added.id;
    if (!status && !added.known) status = serve_photo_keep(project, seen);
    if (!status && !added.known) /* its verdict is the label that it has: another one is a correction */
        status = serve_change(&project->database, "UPDATE photos SET state=?, label=? WHERE id=?", "iti",
                              (int64_t)SERVE_STATE_TRAINING, doubt->label, added.id);
    return serve_database_end(&project->database, status);
}

/* The model has learned it with this label, by this name. */
static int note(serve_server *server, const serve_doubt *doubt, int64_t photo)
{
    serve_database *database = &server->project.database;
    int status = serve_database_begin(database);
    if (status) return status;
    status = serve_change(database, "INSERT OR REPLACE INTO trained VALUES(?,?)", "ti", doubt->file, photo);
    if (!status) status = serve_learned_note(database, doubt->version, photo, doubt->label);
    if (!status) status = serve_learned_count(database, doubt->version);
    return serve_database_end(database, status);
}

int serve_doubt_adopt(int64_t *out, serve_server *server, const serve_doubt *doubt)
{
    void *bytes = NULL;
    size_t count = 0;
    char content[BROAD__HASH_TEXT];
    serve_outcome seen = {.model = serve_server_model(server)};
    *out = 0;
    int status = doubt->version == serve_version_now(server)
                     ? serve_file_read(&bytes, &count, doubt->file)
                     : cli_fail(BROAD_FAILED, "the list is of another version of the model; look for doubts again");
    if (!status) {
        broad__hash_text(content, bytes, count);
        status = serve_number(out, &server->project.database, "SELECT id FROM photos WHERE content=?", "t", content);
    }
    if (!status && !*out) {
        status = look(&seen, server, bytes, count);
        if (!status) status = enter(out, server, doubt, &seen);
    }
    if (!status) status = note(server, doubt, *out);
    serve_outcome_clear(&seen);
    free(bytes);
    return status;
}
