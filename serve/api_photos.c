#include "serve/api_photos.h"

#include <stdlib.h>
#include <string.h>

#include "run/photo_verdict.h"
#include "serve/filter.h"
#include "serve/rows.h"

enum { LIMIT = 200, LIMIT_MOST = 1000, SIDE = 1280, SIDE_LEAST = 64, SIDE_MOST = 2048, UNLIKE_SHOWN = 60 };

/* ---- lists ---- */

static json_t *stacked_json(sqlite3_stmt *query)
{
    json_t *object = serve_photo_json(query);
    cli_json_put(object, "stacked", json_integer(sqlite3_column_int64(query, 19)));
    return object;
}

int serve_api_photos(serve_answer *out, const serve_request *request)
{
    char columns[1024], tail[256];
    size_t offset = 0, limit = 0;
    int64_t total = 0;
    const char *stacks = request->query(request, "stacks"), *order = serve_filter_order(request);
    int stacked = stacks && strcmp(stacks, "1") == 0, status = order ? BROAD_OK : BROAD_USAGE;
    if (!status && stacks && !stacked && strcmp(stacks, "0")) status = cli_fail(BROAD_USAGE, "stacks: give 0 or 1");
    if (!status) status = serve_request_count(&offset, request, "offset", 0, SIZE_MAX / 4);
    if (!status) status = serve_request_count(&limit, request, "limit", LIMIT, LIMIT_MOST);
    if (!status) status = serve_filter_count(&total, request, stacked);
    if (status) return status;
    snprintf(columns, sizeof columns, "%s, %s", serve_photo_columns,
             stacked ? "count(*), min(coalesce(p.certainty, 2))" : "1");
    snprintf(tail, sizeof tail, "%s LIMIT %zu OFFSET %zu", order, limit, offset);
    status = serve_answer_photos(out, request, stacked_json, columns, tail, stacked);
    if (status) return status;
    cli_json_put(out->json, "total", json_integer(total));
    cli_json_put(out->json, "offset", json_integer((json_int_t)offset));
    return BROAD_OK;
}

static json_t *unreadable_json(sqlite3_stmt *query)
{
    json_t *object = json_object();
    cli_json_put(object, "id", json_integer(sqlite3_column_int64(query, 0)));
    cli_json_put(object, "name", cli_json_text(serve_query_text(query, 1)));
    cli_json_put(object, "folder", cli_json_text(serve_query_text(query, 2)));
    cli_json_put(object, "reason", cli_json_text(serve_query_text(query, 3)));
    return object;
}

int serve_api_unreadable(serve_answer *out, const serve_request *request)
{
    return serve_answer_rows(out, request, "photos", unreadable_json,
                             "SELECT id, name, folder, reason FROM photos WHERE state=2 ORDER BY id LIMIT 1000", "");
}

static json_t *folder_json(sqlite3_stmt *query)
{
    json_t *object = json_object();
    cli_json_put(object, "folder", cli_json_text(serve_query_text(query, 0)));
    cli_json_put(object, "photos", json_integer(sqlite3_column_int64(query, 1)));
    return object;
}

int serve_api_folders(serve_answer *out, const serve_request *request)
{
    return serve_answer_rows(out, request, "folders", folder_json,
                             "SELECT folder, count(*) FROM photos WHERE state=1 GROUP BY folder ORDER BY folder"
                             " LIMIT 1000",
                             "");
}

int serve_api_unlike(serve_answer *out, const serve_request *request)
{
    char sql[1024];
    int64_t count = 0;
    snprintf(sql, sizeof sql,
             "SELECT %s FROM photos p WHERE p.state=1 AND p.distance>1 ORDER BY p.distance DESC LIMIT %d",
             serve_photo_columns, UNLIKE_SHOWN);
    int status = serve_number(&count, &request->server->project.database,
                              "SELECT count(*) FROM photos WHERE state=1 AND distance>1", "");
    if (!status) status = serve_answer_rows(out, request, "photos", serve_photo_json, sql, "");
    if (!status) cli_json_put(out->json, "count", json_integer(count));
    return status;
}

int serve_api_places(serve_answer *out, const serve_request *request)
{
    return serve_answer_photos(out, request, serve_photo_json, serve_photo_columns,
                               "AND p.latitude IS NOT NULL AND p.longitude IS NOT NULL ORDER BY p.id LIMIT 20000", 0);
}

/* ---- one photo ---- */

static json_t *scores_json(sqlite3_stmt *query, const serve_model *model)
{
    const double *scores = sqlite3_column_blob(query, 19);
    size_t count = (size_t)sqlite3_column_bytes(query, 19) / sizeof *scores;
    json_t *object = json_object();
    for (size_t i = 0; scores && model && model->probabilities && i < count && i < model->outputs; i++)
        cli_json_put(object, broad_model_output_name(model->model, i), cli_json_real(scores[i]));
    return object;
}

int serve_api_photo(serve_answer *out, const serve_request *request)
{
    char sql[1024];
    sqlite3_stmt *query = NULL;
    serve_model *model = serve_server_model(request->server);
    snprintf(sql, sizeof sql,
             "SELECT %s, p.scores, p.altitude, p.yaw, p.bytes, p.state, p.reason FROM photos p WHERE p.id=?",
             serve_photo_columns);
    serve_database_lock(&request->server->project.database);
    int status = serve_query_open(&query, &request->server->project.database, sql, "i", request->number);
    if (!status) status = serve_query_row(query);
    if (status == 0) status = cli_fail(BROAD_NO_INPUT, "there is no photo number %lld", (long long)request->number);
    if (status > 0) {
        out->json = serve_photo_json(query);
        cli_json_put(out->json, "probabilities", scores_json(query, model));
        cli_json_put(out->json, "altitude", cli_json_real(serve_query_real(query, 20)));
        cli_json_put(out->json, "yaw", cli_json_real(serve_query_real(query, 21)));
        cli_json_put(out->json, "bytes", json_integer(sqlite3_column_int64(query, 22)));
        cli_json_put(out->json, "reason",
                     sqlite3_column_int(query, 23) == SERVE_STATE_UNREADABLE
                         ? cli_json_text(serve_query_text(query, 24))
                         : json_null());
        status = BROAD_OK;
    }
    serve_query_close(query);
    serve_database_unlock(&request->server->project.database);
    serve_model_drop(model);
    return status;
}

int serve_api_thumbnail(serve_answer *out, const serve_request *request)
{
    sqlite3_stmt *query = NULL;
    serve_database_lock(&request->server->project.database);
    int status = serve_query_open(&query, &request->server->project.database,
                                  "SELECT jpeg FROM thumbnails WHERE photo=?", "i", request->number);
    if (!status) status = serve_query_row(query);
    if (status == 0)
        status = cli_fail(BROAD_NO_INPUT, "photo number %lld has no thumbnail", (long long)request->number);
    if (status > 0) {
        out->count = (size_t)sqlite3_column_bytes(query, 0);
        out->bytes = malloc(out->count + 1);
        status = out->bytes ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory");
        if (!status) memcpy(out->bytes, sqlite3_column_blob(query, 0), out->count);
        out->type = "image/jpeg";
        out->keep_for_good = 1;
    }
    serve_query_close(query);
    serve_database_unlock(&request->server->project.database);
    return status;
}

/* ---- pictures, made by a decoder ---- */

static int make_picture(serve_answer *out, const serve_request *request, const char *path, serve_model *model,
                        serve_work work, size_t output)
{
    void *bytes = NULL;
    size_t count = 0, side = 0;
    serve_sight sight = {0};
    int status = serve_request_count(&side, request, "side", SIDE, SIDE_MOST);
    if (!status && side < SIDE_LEAST) side = SIDE_LEAST;
    if (!status) status = serve_file_read(&bytes, &count, path);
    if (!status) status = serve_queue_ask(&sight, request->server->queue, model, work, side, output, bytes, count);
    free(bytes);
    if (status) return status;
    out->bytes = sight.jpeg;
    out->count = sight.jpeg_bytes;
    out->type = "image/jpeg";
    sight.jpeg = NULL;
    serve_sight_clear(&sight);
    return BROAD_OK;
}

int serve_api_image(serve_answer *out, const serve_request *request)
{
    char path[PATH_MAX];
    serve_model *model = serve_server_model(request->server);
    int status = serve_photo_path(path, &request->server->project, request->number);
    if (!status) status = make_picture(out, request, path, model, SERVE_WORK_VIEW, 0);
    out->keep_for_good = 1;
    serve_model_drop(model);
    return status;
}

int serve_api_doubt_image(serve_answer *out, const serve_request *request)
{
    serve_doubt doubt;
    serve_model *model = serve_server_model(request->server);
    int status = serve_learner_doubt(&doubt, request->server->learner, (size_t)request->number);
    if (!status) status = make_picture(out, request, doubt.file, model, SERVE_WORK_VIEW, 0);
    serve_model_drop(model);
    return status;
}

/* The class of the query, else the verdict where that is a fault, else the most probable fault. */
static int choose_output(size_t *out, const serve_request *request, const serve_model *model)
{
    const char *name = request->query(request, "class");
    size_t normal = broad_model_normal(model->model), best = normal ? 0 : 1;
    for (size_t i = 0; name && i < model->outputs; i++)
        if (strcmp(broad_model_output_name(model->model, i), name) == 0) {
            *out = i;
            return BROAD_OK;
        }
    if (name) return cli_fail(BROAD_USAGE, "class: the model has none called '%.80s'", name);
    sqlite3_stmt *query = NULL;
    serve_database_lock(&request->server->project.database);
    int status = serve_query_open(&query, &request->server->project.database, "SELECT scores FROM photos WHERE id=?",
                                  "i", request->number);
    if (!status) status = serve_query_row(query);
    const double *scores = status > 0 ? sqlite3_column_blob(query, 0) : NULL;
    if (scores && (size_t)sqlite3_column_bytes(query, 0) == model->outputs * sizeof *scores)
        for (size_t i = 0; i < model->outputs; i++)
            if (i != normal && scores[i] > scores[best]) best = i;
    serve_query_close(query);
    serve_database_unlock(&request->server->project.database);
    *out = best;
    return status < 0 ? status : BROAD_OK;
}

int serve_api_heatmap(serve_answer *out, const serve_request *request)
{
    size_t output = 0;
    char path[PATH_MAX];
    serve_model *model = serve_server_model(request->server);
    int status = model ? choose_output(&output, request, model) : cli_fail(BROAD_NO_INPUT, "there is no model yet");
    if (!status) status = serve_photo_path(path, &request->server->project, request->number);
    if (!status) status = make_picture(out, request, path, model, SERVE_WORK_HEAT, output);
    serve_model_drop(model);
    return status;
}

int serve_api_file(serve_answer *out, const serve_request *request)
{
    int status = serve_photo_read(&out->bytes, &out->count, &request->server->project, request->number);
    out->type = "application/octet-stream";
    snprintf(out->download, sizeof out->download, "photo-%lld", (long long)request->number);
    return status;
}

/* ---- coming in ---- */

int serve_api_upload(serve_answer *out, const serve_request *request)
{
    serve_server *server = request->server;
    serve_added added = {0};
    const char *name = request->query(request, "name");
    if (!request->body_bytes) return cli_fail(BROAD_USAGE, "the body must be the bytes of a photo; it is empty");
    int status =
        serve_photo_add(&added, &server->project, request->body, request->body_bytes, name && *name ? name : "photo");
    if (status) return status;
    serve_queue_wake(server->queue);
    out->code = added.known ? 200 : 201;
    out->json = json_object();
    cli_json_put(out->json, "id", json_integer(added.id));
    cli_json_put(out->json, "known", json_boolean(added.known));
    if (!added.known) {
        json_t *data = json_object();
        cli_json_put(data, "added", json_integer(1));
        serve_events_post(&server->events, "added", data);
    }
    return BROAD_OK;
}

static json_t *verdict_json(const serve_outcome *outcome)
{
    const serve_model *model = outcome->model;
    const broad_photo *photo = &outcome->sight.photo;
    json_t *object = json_object(), *probabilities = json_object();
    for (size_t i = 0; model->probabilities && i < model->outputs; i++)
        cli_json_put(probabilities, broad_model_output_name(model->model, i), cli_json_real(outcome->scores[i]));
    cli_json_put(object, "label", cli_json_text(broad_model_output_name(model->model, outcome->verdict.label)));
    cli_json_put(object, "certainty", cli_json_real(outcome->verdict.certainty));
    cli_json_put(object, "probabilities", probabilities);
    cli_json_put(object, "unlike", cli_photo_unlike_json(photo));
    cli_json_put(object, "distance", cli_json_real(photo->distance));
    cli_json_put(object, "faults", cli_photo_faults_json(photo));
    cli_json_put(object, "version", json_integer(model->version));
    return object;
}

int serve_api_judge(serve_answer *out, const serve_request *request)
{
    serve_outcome outcome = {.model = serve_server_model(request->server)};
    int status =
        outcome.model ? BROAD_OK : cli_fail(BROAD_NO_INPUT, "there is no model yet; label photos and learn first");
    if (!status && !request->body_bytes)
        status = cli_fail(BROAD_USAGE, "the body must be the bytes of a photo; it is empty");
    if (!status)
        status = serve_queue_ask(&outcome.sight, request->server->queue, outcome.model, SERVE_WORK_LOOK, 0, 0,
                                 request->body, request->body_bytes);
    if (!status) status = serve_photo_judge(&outcome);
    if (!status) out->json = verdict_json(&outcome);
    serve_outcome_clear(&outcome);
    return status;
}
