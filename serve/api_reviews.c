#include "serve/api_reviews.h"

#include <stdlib.h>

#include "serve/doubts.h"
#include "serve/lesson.h"
#include "serve/reviews.h"
#include "serve/rows.h"

enum { PHOTOS_MOST = 20000 };

/* The person that a request comes from, as it says so itself: for the record, not for access. */
static void find_who(char out[SERVE_WHO_BYTES], const json_t *body)
{
    const char *who = json_string_value(json_object_get(body, "who"));
    serve_clean_text(out, SERVE_WHO_BYTES, who && *who ? who : "inspector");
}

static int take_photos(int64_t **out, size_t *out_count, const json_t *list)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || !count || count > PHOTOS_MOST)
        return cli_fail(BROAD_USAGE, "photos: give a list of 1 to %d numbers", PHOTOS_MOST);
    int64_t *photos = calloc(count, sizeof *photos);
    if (!photos) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        if (!json_is_integer(json_array_get(list, i))) {
            free(photos);
            return cli_fail(BROAD_USAGE, "photos: give a list of whole numbers");
        }
        photos[i] = json_integer_value(json_array_get(list, i));
    }
    *out = photos;
    *out_count = count;
    return BROAD_OK;
}

/* By itself, after as many corrections as the settings say. */
static void learn_if_due(serve_server *server)
{
    char text[32];
    int64_t pending = 0;
    if (serve_setting_get(text, sizeof text, &server->project, "learn_after")) return;
    long after = strtol(text, NULL, 10);
    if (after <= 0 || serve_lesson_pending(&pending, server) || pending < after) return;
    serve_model *model = serve_server_model(server);
    if (model) serve_learner_ask(server->learner, SERVE_TASK_LEARN, 0, 1);
    serve_model_drop(model);
}

/* What is confirmed here is in the database; other pages are told. */
static int confirm(serve_answer *out, serve_server *server, json_t *done)
{
    serve_events_post(&server->events, "reviewed", json_deep_copy(done));
    out->json = done;
    learn_if_due(server);
    return BROAD_OK;
}

static int check_way(const json_t *body, const char *label, const serve_reviewing *how)
{
    int agree = json_is_true(json_object_get(body, "agree"));
    if ((label != NULL) + agree + how->clear != 1)
        return cli_fail(BROAD_USAGE, "give one of label, agree (true) and clear (true)");
    return label ? serve_label_check(label) : BROAD_OK;
}

int serve_api_review(serve_answer *out, const serve_request *request)
{
    json_t *body = NULL, *done = NULL;
    int64_t *photos = NULL;
    char who[SERVE_WHO_BYTES];
    int status = serve_request_json(&body, request);
    if (status) return status;
    find_who(who, body);
    const char *label = json_string_value(json_object_get(body, "label"));
    serve_reviewing how = {.label = label, .who = who, .clear = json_is_true(json_object_get(body, "clear"))};
    status = check_way(body, label, &how);
    if (!status) status = take_photos(&photos, &how.count, json_object_get(body, "photos"));
    how.photos = photos;
    if (!status) status = serve_review_photos(&done, &request->server->project, &how);
    if (!status) status = confirm(out, request->server, done);
    free(photos);
    json_decref(body);
    return status;
}

int serve_api_doubt_review(serve_answer *out, const serve_request *request)
{
    json_t *body = NULL, *done = NULL;
    char who[SERVE_WHO_BYTES];
    serve_doubt doubt;
    int64_t photo = 0;
    int status = serve_request_json(&body, request);
    if (status) return status;
    find_who(who, body);
    const char *label = json_string_value(json_object_get(body, "label"));
    int keep = json_is_true(json_object_get(body, "keep"));
    if ((label != NULL) + keep != 1) status = cli_fail(BROAD_USAGE, "give one of label and keep (true)");
    if (!status && label) status = serve_label_check(label);
    if (!status) status = serve_learner_doubt(&doubt, request->server->learner, (size_t)request->number);
    if (!status) status = serve_doubt_adopt(&photo, request->server, &doubt);
    const serve_reviewing how = {.label = keep ? doubt.label : label, .who = who, .photos = &photo, .count = 1};
    if (!status) status = serve_review_photos(&done, &request->server->project, &how);
    if (!status) status = confirm(out, request->server, done);
    json_decref(body);
    return status;
}

int serve_api_undo(serve_answer *out, const serve_request *request)
{
    json_t *body = NULL, *done = NULL;
    char who[SERVE_WHO_BYTES];
    int status = serve_request_json(&body, request);
    if (status) return status;
    find_who(who, body);
    status =
        serve_review_undo(&done, &request->server->project, json_integer_value(json_object_get(body, "action")), who);
    if (!status) status = confirm(out, request->server, done);
    json_decref(body);
    return status;
}

static json_t *action_json(sqlite3_stmt *query)
{
    json_t *object = json_object();
    cli_json_put(object, "id", json_integer(sqlite3_column_int64(query, 0)));
    cli_json_put(object, "made", json_integer(sqlite3_column_int64(query, 1)));
    cli_json_put(object, "who", cli_json_text(serve_query_text(query, 2)));
    cli_json_put(object, "kind", cli_json_text(serve_query_text(query, 3)));
    cli_json_put(object, "label", cli_json_text(serve_query_text(query, 4)));
    cli_json_put(object, "undone", json_boolean(sqlite3_column_int(query, 5)));
    cli_json_put(object, "photos", json_integer(sqlite3_column_int64(query, 6)));
    return object;
}

int serve_api_actions(serve_answer *out, const serve_request *request)
{
    size_t limit = 0;
    int status = serve_request_count(&limit, request, "limit", 100, 1000);
    if (status) return status;
    return serve_answer_rows(out, request, "actions", action_json,
                             "SELECT a.id, a.made, a.who, a.kind, a.label, a.undone, (SELECT count(*) FROM items i"
                             " WHERE i.action=a.id) FROM actions a ORDER BY a.id DESC LIMIT ?",
                             "i", (int64_t)limit);
}
