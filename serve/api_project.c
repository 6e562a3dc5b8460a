#include "serve/api_project.h"

#include <stdlib.h>
#include <string.h>

#include "serve/export.h"
#include "serve/lesson.h"
#include "serve/reviews.h"
#include "serve/rows.h"
#include "serve/versions.h"
#include "serve/watch.h"

enum { STREAMS_MOST = 64, CLASSES_MOST = 100 };

static int done(serve_answer *out)
{
    out->json = json_object();
    cli_json_put(out->json, "done", json_true());
    return BROAD_OK;
}

static int accepted(serve_answer *out, int status)
{
    if (status) return status;
    out->code = 202;
    return done(out);
}

int serve_api_session(serve_answer *out, const serve_request *request)
{
    out->json = json_object();
    cli_json_put(out->json, "page_token", cli_json_text(request->server->guard.page));
    cli_json_put(out->json, "version", cli_json_text(broad_version()));
    cli_json_put(out->json, "tiles",
                 request->server->tiles.address[0] ? cli_json_text(request->server->tiles.address) : json_null());
    cli_json_put(out->json, "formats", cli_json_text(broad_picture_formats()));
    return BROAD_OK;
}

/* ---- status ---- */

static int put_counts(json_t *object, serve_database *database)
{
    static const char *const names[] = {"waiting", "judged", "unreadable", "agreed", "corrected",
                                        "unlike",  "placed", "faulty",     "stacks"};
    sqlite3_stmt *query = NULL;
    serve_database_lock(database);
    int status = serve_query_open(&query, database,
                                  "SELECT total(state=0), total(state=1), total(state=2), total(state=1 AND review=1),"
                                  " total(state=1 AND review=2), total(state=1 AND distance>1),"
                                  " total(state=1 AND latitude IS NOT NULL), total(state=1 AND faults<>0),"
                                  " count(DISTINCT CASE WHEN state=1 THEN stack END) FROM photos",
                                  "");
    if (!status) status = serve_query_row(query);
    for (int i = 0; status > 0 && i < (int)(sizeof names / sizeof names[0]); i++)
        cli_json_put(object, names[i], json_integer((json_int_t)sqlite3_column_double(query, i)));
    serve_query_close(query);
    serve_database_unlock(database);
    return status < 0 ? status : BROAD_OK;
}

typedef struct class_list {
    json_t *list;
    const serve_model *model;
} class_list;

static int add_class(void *context, sqlite3_stmt *row)
{
    const class_list *own = context;
    if (!serve_model_knows(own->model, serve_query_text(row, 0)))
        cli_json_append(own->list, cli_json_text(serve_query_text(row, 0)));
    return BROAD_OK;
}

/* The model's classes in its order, then those that people added. */
static int list_classes(json_t *list, serve_server *server, const serve_model *model)
{
    serve_database *database = &server->project.database;
    sqlite3_stmt *query = NULL;
    class_list own = {list, model};
    for (size_t i = 0; model && i < model->outputs; i++)
        cli_json_append(list, cli_json_text(broad_model_output_name(model->model, i)));
    serve_database_lock(database);
    int status = serve_query_open(&query, database, "SELECT name FROM classes ORDER BY rowid", "");
    status = serve_query_each(query, status, add_class, &own);
    serve_database_unlock(database);
    return status;
}

static int put_verdict(void *context, sqlite3_stmt *row)
{
    cli_json_put(context, serve_query_text(row, 0), json_integer(sqlite3_column_int64(row, 1)));
    return BROAD_OK;
}

/* How many photos count as each class. */
static int put_verdicts(json_t *object, serve_database *database)
{
    sqlite3_stmt *query = NULL;
    serve_database_lock(database);
    int status = serve_query_open(&query, database,
                                  "SELECT coalesce(human, label), count(*) FROM photos WHERE state=1 AND"
                                  " coalesce(human, label) IS NOT NULL GROUP BY 1",
                                  "");
    status = serve_query_each(query, status, put_verdict, object);
    serve_database_unlock(database);
    return status;
}

static json_t *model_json(const serve_model *model)
{
    broad_estimate estimate = {.size = sizeof estimate};
    json_t *object = json_object();
    cli_json_put(object, "version", json_integer(model->version));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_model_rows(model->model)));
    cli_json_put(object, "normal",
                 cli_json_text(broad_model_output_name(model->model, broad_model_normal(model->model))));
    cli_json_put(object, "probabilities", json_boolean(model->probabilities));
    if (!broad_model_estimate(&estimate, model->model) && estimate.known)
        cli_json_put(object, "estimate", cli_json_real(estimate.accuracy));
    return object;
}

static void put_settings(json_t *object, serve_project *project)
{
    char title[256], after[32];
    if (serve_setting_get(title, sizeof title, project, "title")) title[0] = 0;
    if (serve_setting_get(after, sizeof after, project, "learn_after")) after[0] = 0;
    const char *slash = strrchr(project->folder, '/');
    cli_json_put(object, "title", cli_json_text(*title ? title : slash && slash[1] ? slash + 1 : project->folder));
    cli_json_put(object, "folder", cli_json_text(project->folder));
    cli_json_put(object, "learn_after", json_integer(strtol(after, NULL, 10)));
}

int serve_api_status(serve_answer *out, const serve_request *request)
{
    serve_server *server = request->server;
    serve_database *database = &server->project.database;
    serve_model *model = serve_server_model(server);
    int64_t pending = 0;
    json_t *counts = json_object(), *classes = json_array(), *verdicts = json_object();
    int status = put_counts(counts, database);
    if (!status) status = list_classes(classes, server, model);
    if (!status) status = put_verdicts(verdicts, database);
    if (!status) status = serve_lesson_pending(&pending, server);
    out->json = json_object();
    put_settings(out->json, &server->project);
    cli_json_put(out->json, "counts", counts);
    cli_json_put(out->json, "classes", classes);
    cli_json_put(out->json, "verdicts", verdicts);
    cli_json_put(out->json, "pending", json_integer(pending));
    cli_json_put(out->json, "model", model ? model_json(model) : json_null());
    cli_json_put(out->json, "trouble", serve_server_noted(server));
    cli_json_put(out->json, "work", serve_learner_json(server->learner));
    cli_json_put(out->json, "onnx", json_boolean(serve_export_has_onnx()));
    serve_model_drop(model);
    return status;
}

int serve_api_events(serve_answer *out, const serve_request *request)
{
    if (request->server->streams >= STREAMS_MOST)
        return cli_fail(BROAD_NO_MEMORY, "%d pages are open already; close one", STREAMS_MOST);
    out->stream = 1;
    out->type = "text/event-stream";
    return BROAD_OK;
}

int serve_api_openapi(serve_answer *out, const serve_request *request)
{
    (void)request;
    out->json = serve_openapi();
    return BROAD_OK;
}

/* ---- changes ---- */

static int set_title(serve_project *project, const char *title)
{
    char clean[200];
    serve_clean_text(clean, sizeof clean, title);
    return serve_setting_set(project, "title", clean);
}

int serve_api_settings(serve_answer *out, const serve_request *request)
{
    json_t *body = NULL;
    serve_project *project = &request->server->project;
    int status = serve_request_json(&body, request);
    if (status) return status;
    const json_t *after = json_object_get(body, "learn_after"), *title = json_object_get(body, "title");
    if (after && (!json_is_integer(after) || json_integer_value(after) < 0 || json_integer_value(after) > 100000))
        status = cli_fail(BROAD_USAGE, "learn_after: give a whole number from 0 to 100000");
    if (!status && after) {
        char text[24];
        snprintf(text, sizeof text, "%d", (int)json_integer_value(after));
        status = serve_setting_set(project, "learn_after", text);
    }
    if (!status && json_is_string(title)) status = set_title(project, json_string_value(title));
    json_decref(body);
    if (!status) serve_events_post(&request->server->events, "settings", json_object());
    return status ? status : done(out);
}

int serve_api_classes(serve_answer *out, const serve_request *request)
{
    json_t *body = NULL;
    serve_database *database = &request->server->project.database;
    int64_t count = 0;
    int status = serve_request_json(&body, request);
    if (status) return status;
    const char *name = json_string_value(json_object_get(body, "name"));
    status = serve_label_check(name ? name : "");
    if (!status) status = serve_number(&count, database, "SELECT count(*) FROM classes", "");
    if (!status && count >= CLASSES_MOST)
        status = cli_fail(BROAD_USAGE, "there are %d classes already, which is the maximum", CLASSES_MOST);
    if (!status) status = serve_change(database, "INSERT OR IGNORE INTO classes VALUES(?)", "t", name);
    json_decref(body);
    if (!status) serve_events_post(&request->server->events, "settings", json_object());
    return status ? status : done(out);
}

int serve_api_demo(serve_answer *out, const serve_request *request)
{
    int64_t photos = 0;
    int status = serve_number(&photos, &request->server->project.database, "SELECT count(*) FROM photos", "");
    if (!status && (photos || serve_version_now(request->server)))
        status = cli_fail(BROAD_FAILED, "the project is not empty; drawn photos are for a new one");
    return status ? status : accepted(out, serve_learner_ask(request->server->learner, SERVE_TASK_DEMO, 0, 0));
}

/* ---- watched folders ---- */

static json_t *watched_json(sqlite3_stmt *query) { return cli_json_text(serve_query_text(query, 0)); }

int serve_api_watched(serve_answer *out, const serve_request *request)
{
    return serve_answer_rows(out, request, "folders", watched_json, "SELECT folder FROM watched ORDER BY folder", "");
}

static int with_folder(serve_answer *out, const serve_request *request, int (*what)(serve_server *, const char *))
{
    json_t *body = NULL;
    int status = serve_request_json(&body, request);
    if (status) return status;
    const char *folder = json_string_value(json_object_get(body, "folder"));
    status = folder ? what(request->server, folder) : cli_fail(BROAD_USAGE, "folder: give the path of a folder");
    json_decref(body);
    return status ? status : done(out);
}

int serve_api_watch(serve_answer *out, const serve_request *request)
{
    return with_folder(out, request, serve_watch_add);
}

int serve_api_unwatch(serve_answer *out, const serve_request *request)
{
    return with_folder(out, request, serve_watch_remove);
}
