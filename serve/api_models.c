#include "serve/api_models.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "serve/doubts.h"
#include "serve/filter.h"
#include "serve/rows.h"
#include "serve/versions.h"

/* Work that goes on after the answer: its end is an event. */
static int ask(serve_answer *out, const serve_request *request, serve_task task, int agreed)
{
    int status = serve_learner_ask(request->server->learner, task, request->number, agreed);
    if (status) return status;
    out->code = 202;
    out->json = json_object();
    cli_json_put(out->json, "done", json_false());
    return BROAD_OK;
}

int serve_api_learn(serve_answer *out, const serve_request *request)
{
    json_t *body = NULL;
    int status = serve_request_json(&body, request);
    int agreed = !status && !json_is_false(json_object_get(body, "agreed"));
    json_decref(body);
    return status ? status : ask(out, request, SERVE_TASK_LEARN, agreed);
}

int serve_api_train(serve_answer *out, const serve_request *request) { return ask(out, request, SERVE_TASK_TRAIN, 1); }

int serve_api_verify(serve_answer *out, const serve_request *request)
{
    int64_t known = 0;
    int status = serve_number(&known, &request->server->project.database, "SELECT count(*) FROM versions WHERE id=?",
                              "i", request->number);
    if (!status && !known) status = cli_fail(BROAD_NO_INPUT, "there is no version %lld", (long long)request->number);
    return status ? status : ask(out, request, SERVE_TASK_VERIFY, 0);
}

int serve_api_find_doubts(serve_answer *out, const serve_request *request)
{
    return ask(out, request, SERVE_TASK_DOUBTS, 0);
}

int serve_api_doubts(serve_answer *out, const serve_request *request)
{
    json_t *doubts = NULL;
    int status = serve_doubts_json(&doubts, request->server);
    if (status) return status;
    out->json = json_object();
    cli_json_put(out->json, "doubts", doubts);
    return BROAD_OK;
}

/* ---- versions ---- */

static json_t *version_json(sqlite3_stmt *query)
{
    json_t *object = json_object(), *result = json_loads(serve_query_text(query, 5), 0, NULL);
    cli_json_put(object, "id", json_integer(sqlite3_column_int64(query, 0)));
    cli_json_put(object, "made", json_integer(sqlite3_column_int64(query, 1)));
    cli_json_put(object, "kind", cli_json_text(serve_query_text(query, 2)));
    cli_json_put(object, "parent", json_integer(sqlite3_column_int64(query, 3)));
    cli_json_put(object, "rows", json_integer(sqlite3_column_int64(query, 4)));
    cli_json_put(object, "result", result ? result : json_null());
    cli_json_put(object, "learned", json_integer(sqlite3_column_int64(query, 6)));
    cli_json_put(object, "changed", json_integer(sqlite3_column_int64(query, 7)));
    cli_json_put(object, "in_use", json_boolean(sqlite3_column_int(query, 8)));
    return object;
}

int serve_api_versions(serve_answer *out, const serve_request *request)
{
    return serve_answer_rows(out, request, "versions", version_json,
                             "SELECT v.id, v.made, v.kind, v.parent, v.rows, v.result, v.learned, (SELECT count(*) "
                             "FROM changes c WHERE c.version=v.id), v.id=?"
                             " FROM versions v ORDER BY v.id DESC LIMIT 1000",
                             "i", serve_version_now(request->server));
}

int serve_api_version_model(serve_answer *out, const serve_request *request)
{
    char path[PATH_MAX];
    int status = serve_project_model_path(path, &request->server->project, request->number);
    if (status) return status;
    out->file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (out->file < 0) return cli_fail(BROAD_NO_INPUT, "there is no version %lld", (long long)request->number);
    out->type = "application/octet-stream";
    snprintf(out->download, sizeof out->download, "model-%lld.broad", (long long)request->number);
    return BROAD_OK;
}

static json_t *change_json(sqlite3_stmt *query)
{
    json_t *object = serve_photo_json(query);
    cli_json_put(object, "before", cli_json_text(serve_query_text(query, 19)));
    cli_json_put(object, "after", cli_json_text(serve_query_text(query, 20)));
    return object;
}

int serve_api_changes(serve_answer *out, const serve_request *request)
{
    char sql[1024];
    snprintf(sql, sizeof sql,
             "SELECT %s, c.before, c.after FROM changes c JOIN photos p ON p.id=c.photo WHERE c.version=? LIMIT 1000",
             serve_photo_columns);
    return serve_answer_rows(out, request, "photos", change_json, sql, "i", request->number);
}

int serve_api_use(serve_answer *out, const serve_request *request)
{
    int64_t known = 0;
    int status = serve_number(&known, &request->server->project.database, "SELECT count(*) FROM versions WHERE id=?",
                              "i", request->number);
    if (!status && !known) status = cli_fail(BROAD_NO_INPUT, "there is no version %lld", (long long)request->number);
    if (!status) status = serve_version_use(request->server, request->number);
    if (status) return status;
    out->json = json_object();
    cli_json_put(out->json, "version", json_integer(request->number));
    return BROAD_OK;
}
