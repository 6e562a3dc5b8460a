#include "serve/learner.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "io/folder.h"
#include "serve/lesson.h"
#include "serve/tool.h"
#include "serve/versions.h"
#include "serve/watch.h"

enum { FEWEST_PER_CLASS = 3, DRAWN_TO_LEARN = 160, DRAWN_TO_JUDGE = 80 };

struct serve_learner {
    serve_server *server;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    int busy, over;
    atomic_int stop;
    serve_task task;
    int64_t number;
    int agreed;
    json_t *last, *doubts;
};

static const char *const names[] = {"learn", "train", "demo", "verify", "doubts"};

/* ---- learning ---- */

/* Of what the tool says, what pages show: measures before and after on rows held out, and by the model's own estimate. */
static void put_measure(json_t *object, const char *name, const json_t *from)
{
    static const char *const kept[] = {"rows", "accuracy", "balanced_accuracy", "interval"};
    json_t *measure = json_is_object(from) ? json_object() : json_null();
    for (size_t i = 0; json_is_object(from) && i < sizeof kept / sizeof kept[0]; i++) {
        json_t *value = json_object_get(from, kept[i]);
        if (value) cli_json_put(measure, kept[i], json_incref(value));
    }
    cli_json_put(object, name, measure);
}

static json_t *digest(const json_t *said, double seconds)
{
    json_t *object = json_object(), *rows = json_object_get(said, "rows"), *wrong = json_object_get(said, "wrong");
    if (rows) cli_json_put(object, "rows", json_incref(rows));
    if (wrong) cli_json_put(object, "wrong", json_incref(wrong));
    put_measure(object, "held_out", json_object_get(said, "test"));
    put_measure(object, "held_out_before", json_object_get(json_object_get(said, "before"), "test"));
    put_measure(object, "estimate", json_object_get(said, "loo"));
    cli_json_put(object, "seconds", cli_json_real(seconds));
    return object;
}

static int add_version(json_t **result, serve_learner *learner, const serve_candidate *candidate)
{
    int64_t version = 0, changed = 0;
    serve_server *server = learner->server;
    double start = broad__seconds();
    int status = serve_version_add(&version, server, candidate);
    if (!status)
        status = serve_number(&changed, &server->project.database, "SELECT count(*) FROM changes WHERE version=?", "i",
                              version);
    if (status) return status;
    *result = json_incref(candidate->result);
    cli_json_put(*result, "version", json_integer(version));
    cli_json_put(*result, "changed", json_integer(changed));
    cli_json_put(*result, "learned", json_integer((json_int_t)candidate->photo_count));
    cli_json_put(*result, "seconds_judging", cli_json_real(broad__seconds() - start));
    return BROAD_OK;
}

static int enough_labels(const serve_lesson *own)
{
    size_t most = 0;
    for (size_t i = 0; i < own->count; i++) {
        size_t same = 0;
        for (size_t k = 0; k < own->count; k++) same += strcmp(own->labels[i], own->labels[k]) == 0;
        if (same < FEWEST_PER_CLASS)
            return cli_fail(BROAD_USAGE, "label at least %d photos of '%s' first: there %s %zu", FEWEST_PER_CLASS,
                            own->labels[i], same == 1 ? "is" : "are", same);
        if (same > most) most = same;
    }
    if (most < own->count) return BROAD_OK;
    return cli_fail(BROAD_USAGE, own->count ? "label photos of a second class first: one class alone cannot be learned"
                                            : "label some photos first: about twenty make a first model");
}

/* The model in this file as a version of its own. result: taken over. further: trained on from the model before it. */
static int keep_lesson(json_t **out, serve_learner *learner, const serve_lesson *own, const char *model, int further,
                       json_t *result)
{
    const serve_candidate candidate = {.file = model,
                                       .kind = further ? "learned" : "trained",
                                       .same_inputs = further,
                                       .result = result,
                                       .photo_count = own->count,
                                       .photos = own->photos,
                                       .labels = (const char *const *)own->labels};
    cli_json_put(result, "left_out", own->left_out ? json_incref(own->left_out) : json_array());
    int status = add_version(out, learner, &candidate);
    json_decref(result);
    return status;
}

/* The latest failure, and that photos were left out. */
static int fail_with_left_out(int status, const serve_lesson *own)
{
    char photos[SERVE_LEFT_OUT_BYTES];
    if (!own->left_out) return status;
    serve_lesson_left_out(photos, own);
    return cli_fail(status, "%s (left out, because they are gone, or cannot be read: %s)", broad_error_message(),
                    photos);
}

/* A model from nothing but labels; a fifth of them is held out and measures it. */
static int train(json_t **result, serve_learner *learner)
{
    serve_server *server = learner->server;
    serve_lesson own = {0};
    char list[PATH_MAX], model[PATH_MAX], photos[PATH_MAX];
    json_t *said = NULL;
    double start = broad__seconds();
    int status = serve_lesson_gather(&own, server, NULL, 1);
    if (!status) status = serve_lesson_leave_out_missing(&own, server);
    if (!status && enough_labels(&own)) status = fail_with_left_out(BROAD_USAGE, &own);
    if (!status) status = serve_project_path(list, &server->project, "labels/%lld.csv", (long long)serve_now());
    if (!status) status = serve_lesson_write(&own, server, list);
    if (!status) status = serve_project_path(model, &server->project, "work/new.broad");
    if (!status) status = serve_project_path(photos, &server->project, "photos");
    if (!status) {
        const char *words[] = {"fit", photos, "--labels", list, "--holdout", "0.2", "--output", model, NULL};
        status = serve_tool_run(&said, words, &learner->stop);
    }
    if (!status) status = serve_lesson_leave_out_skipped(&own, server, said);
    if (!status) status = keep_lesson(result, learner, &own, model, 0, digest(said, broad__seconds() - start));
    json_decref(said);
    serve_lesson_clear(&own);
    return status;
}

/* Where the tool had nothing to compare with: what the version before had on the same photos held out. */
static void put_before(json_t *result, serve_server *server, int64_t version)
{
    sqlite3_stmt *query = NULL;
    serve_database_lock(&server->project.database);
    int status =
        serve_query_open(&query, &server->project.database, "SELECT result FROM versions WHERE id=?", "i", version);
    if (!status) status = serve_query_row(query);
    json_t *parent = status > 0 ? json_loads(serve_query_text(query, 0), 0, NULL) : NULL;
    serve_query_close(query);
    serve_database_unlock(&server->project.database);
    json_t *was = json_object_get(parent, "held_out"), *is = json_object_get(result, "held_out");
    if (json_is_null(json_object_get(result, "held_out_before")) &&
        json_equal(json_object_get(was, "rows"), json_object_get(is, "rows")))
        cli_json_put(result, "held_out_before", json_incref(was));
    json_decref(parent);
}

/* Photos wait while a model with other inputs looks at them. */
static int fail_nothing(serve_server *server, const serve_lesson *own)
{
    int64_t waiting = 0;
    char photos[SERVE_LEFT_OUT_BYTES];
    serve_lesson_left_out(photos, own);
    if (*photos)
        return cli_fail(BROAD_NO_INPUT, "there is nothing to learn: these photos are gone, or cannot be read: %s",
                        photos);
    int status =
        serve_number(&waiting, &server->project.database, "SELECT count(*) FROM photos WHERE state=0 AND review>0", "");
    if (status) return status;
    return waiting ? cli_fail(BROAD_USAGE, "the photos are being judged by another model; learn when that is done")
                   : cli_fail(BROAD_USAGE, "there is nothing to learn: the model knows every correction already");
}

/* The corrections that the model in use has not learned. */
static int correct(json_t **result, serve_learner *learner, const serve_model *now)
{
    serve_server *server = learner->server;
    serve_lesson own = {0};
    char list[PATH_MAX], model[PATH_MAX], from[PATH_MAX];
    json_t *said = NULL;
    double start = broad__seconds();
    int status = serve_lesson_gather(&own, server, now, learner->agreed);
    if (!status) status = serve_lesson_leave_out_missing(&own, server);
    if (!status && !own.count) status = fail_nothing(server, &own);
    if (!status) status = serve_project_path(list, &server->project, "labels/%lld.csv", (long long)serve_now());
    if (!status) status = serve_lesson_write(&own, server, list);
    if (!status) status = serve_project_path(model, &server->project, "work/new.broad");
    if (!status) status = serve_project_model_path(from, &server->project, now->version);
    if (!status) {
        const char *words[] = {
            "learn", from, "--corrections", list, "--output", model, own.new_classes ? "--new-classes" : NULL, NULL};
        status = serve_tool_run(&said, words, &learner->stop);
    }
    if (!status) status = serve_lesson_leave_out_skipped(&own, server, said);
    if (!status) {
        json_t *found = digest(said, broad__seconds() - start);
        put_before(found, server, now->version);
        status = keep_lesson(result, learner, &own, model, 1, found);
    }
    json_decref(said);
    serve_lesson_clear(&own);
    return status;
}

static int learn(json_t **result, serve_learner *learner)
{
    serve_model *now = serve_server_model(learner->server);
    int status = now ? correct(result, learner, now) : train(result, learner);
    serve_model_drop(now);
    return status;
}

/* ---- drawn photos ---- */

static int draw(serve_learner *learner, const char *folder, const char *count, const char *seed, int severity)
{
    const char *words[] = {"render", folder, "--count", count, "--seed", seed, severity ? "--severity" : NULL, NULL};
    int status = cli_folder_remove(folder);
    return status ? status : serve_tool_run(NULL, words, &learner->stop);
}

/* Photos to learn from, which stay beside the model, and others to be judged. */
static int demonstrate(json_t **result, serve_learner *learner)
{
    serve_server *server = learner->server;
    char training[PATH_MAX], others[PATH_MAX], model[PATH_MAX], to_learn[16], to_judge[16];
    json_t *said = NULL;
    double start = broad__seconds();
    snprintf(to_learn, sizeof to_learn, "%d", DRAWN_TO_LEARN);
    snprintf(to_judge, sizeof to_judge, "%d", DRAWN_TO_JUDGE);
    int status = serve_project_path(training, &server->project, "drawn");
    if (!status) status = serve_project_path(others, &server->project, "work/drawn");
    if (!status) status = serve_project_path(model, &server->project, "work/new.broad");
    if (!status) status = draw(learner, training, to_learn, "1", 0);
    if (!status) status = draw(learner, others, to_judge, "2", 1);
    if (!status) {
        const char *words[] = {"fit", training, "--holdout", "0.25", "--output", model, NULL};
        status = serve_tool_run(&said, words, &learner->stop);
    }
    if (!status) {
        const serve_candidate candidate = {
            .file = model, .kind = "trained", .result = digest(said, broad__seconds() - start)};
        status = add_version(result, learner, &candidate);
        json_decref(candidate.result);
    }
    if (!status) status = serve_watch_take(server, others, "drawn", 1, 0);
    json_decref(said);
    return status;
}

/* ---- certificates and doubts ---- */

static int verify(json_t **result, serve_learner *learner)
{
    char path[PATH_MAX];
    int status = serve_project_model_path(path, &learner->server->project, learner->number);
    if (status) return status;
    const char *words[] = {"verify", path, NULL};
    json_t *said = NULL;
    status = serve_tool_run(&said, words, &learner->stop);
    if (status && !said) return status;
    *result = json_object();
    cli_json_put(*result, "version", json_integer(learner->number));
    cli_json_put(*result, "holds", json_incref(json_object_get(said, "holds")));
    cli_json_put(*result, "layers", json_incref(json_object_get(said, "layers")));
    json_decref(said);
    return BROAD_OK;
}

static int doubt(json_t **result, serve_learner *learner)
{
    char path[PATH_MAX];
    int64_t version = serve_version_now(learner->server);
    int status = version ? serve_project_model_path(path, &learner->server->project, version)
                         : cli_fail(BROAD_USAGE, "there is no model yet whose training photos could be doubted");
    const char *words[] = {"verify", path, "--doubts", NULL};
    json_t *said = NULL;
    if (!status) status = serve_tool_run(&said, words, &learner->stop);
    if (status) return status;
    json_t *list = json_object_get(said, "doubts");
    *result = json_object();
    cli_json_put(*result, "version", json_integer(version));
    cli_json_put(*result, "count", json_integer((json_int_t)json_array_size(list)));
    pthread_mutex_lock(&learner->lock);
    json_decref(learner->doubts);
    learner->doubts = json_object();
    cli_json_put(learner->doubts, "version", json_integer(version));
    cli_json_put(learner->doubts, "photos", json_incref(list));
    pthread_mutex_unlock(&learner->lock);
    json_decref(said);
    return BROAD_OK;
}

/* ---- the thread ---- */

static void tell(serve_learner *learner, const char *state, json_t *result, int status)
{
    json_t *data = json_object();
    cli_json_put(data, "task", cli_json_text(names[learner->task]));
    cli_json_put(data, "state", cli_json_text(state));
    if (result) cli_json_put(data, "result", json_incref(result));
    if (status) cli_json_put(data, "message", cli_json_text(broad_error_message()));
    pthread_mutex_lock(&learner->lock);
    json_decref(learner->last);
    learner->last = json_deep_copy(data);
    pthread_mutex_unlock(&learner->lock);
    serve_events_post(&learner->server->events, "work", data);
}

static void run(serve_learner *learner)
{
    static int (*const ways[])(json_t **, serve_learner *) = {learn, train, demonstrate, verify, doubt};
    json_t *result = NULL;
    tell(learner, "begun", NULL, BROAD_OK);
    int status = ways[learner->task](&result, learner);
    pthread_mutex_lock(&learner->lock);
    learner->busy = 0; /* before it is told, so that the next one can be asked for at once */
    pthread_mutex_unlock(&learner->lock);
    tell(learner, status ? "failed" : "done", result, status);
    json_decref(result);
}

/* At most a second, then it is time to look whether model.broad is still the one in use; true: there is something to do. */
static int wait_for_more(serve_learner *learner)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_cond_timedwait(&learner->more, &learner->lock, &until);
    return learner->busy;
}

static void *live(void *context)
{
    serve_learner *learner = context;
    pthread_mutex_lock(&learner->lock);
    while (!learner->over) {
        int busy = learner->busy || wait_for_more(learner);
        if (learner->over) break;
        pthread_mutex_unlock(&learner->lock);
        if (serve_versions_follow(learner->server, busy)) serve_server_trouble(learner->server);
        if (busy) run(learner);
        pthread_mutex_lock(&learner->lock);
    }
    pthread_mutex_unlock(&learner->lock);
    return NULL;
}

int serve_learner_open(serve_learner **out, serve_server *server)
{
    serve_learner *learner = calloc(1, sizeof *learner);
    *out = NULL;
    if (!learner) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    learner->server = server;
    pthread_mutex_init(&learner->lock, NULL);
    pthread_cond_init(&learner->more, NULL);
    if (pthread_create(&learner->thread, NULL, live, learner)) {
        free(learner);
        return cli_fail(BROAD_FAILED, "threads cannot be started");
    }
    *out = learner;
    return BROAD_OK;
}

void serve_learner_end(serve_learner *learner)
{
    if (!learner) return;
    pthread_mutex_lock(&learner->lock);
    learner->over = 1;
    learner->stop = 1;
    pthread_cond_broadcast(&learner->more);
    pthread_mutex_unlock(&learner->lock);
    pthread_join(learner->thread, NULL);
}

void serve_learner_free(serve_learner *learner)
{
    if (!learner) return;
    pthread_cond_destroy(&learner->more);
    pthread_mutex_destroy(&learner->lock);
    json_decref(learner->last);
    json_decref(learner->doubts);
    free(learner);
}

int serve_learner_ask(serve_learner *learner, serve_task task, int64_t number, int agreed)
{
    pthread_mutex_lock(&learner->lock);
    int busy = learner->busy;
    if (!busy) {
        learner->task = task;
        learner->number = number;
        learner->agreed = agreed;
        learner->busy = 1;
        pthread_cond_signal(&learner->more);
    }
    pthread_mutex_unlock(&learner->lock);
    return busy ? cli_fail(BROAD_FAILED, "something else is under way; try again when it is done") : BROAD_OK;
}

json_t *serve_learner_json(serve_learner *learner)
{
    json_t *object = json_object();
    pthread_mutex_lock(&learner->lock);
    cli_json_put(object, "task", learner->busy ? cli_json_text(names[learner->task]) : json_null());
    cli_json_put(object, "last", learner->last ? json_deep_copy(learner->last) : json_null());
    pthread_mutex_unlock(&learner->lock);
    return object;
}

json_t *serve_learner_doubts(serve_learner *learner)
{
    pthread_mutex_lock(&learner->lock);
    json_t *doubts = learner->doubts ? json_deep_copy(learner->doubts) : json_null();
    pthread_mutex_unlock(&learner->lock);
    return doubts;
}

int serve_learner_doubt(serve_doubt *out, serve_learner *learner, size_t index)
{
    pthread_mutex_lock(&learner->lock);
    const json_t *own = json_array_get(json_object_get(learner->doubts, "photos"), index);
    const char *file = json_string_value(json_object_get(own, "file"));
    const char *label = json_string_value(json_object_get(own, "label"));
    snprintf(out->file, sizeof out->file, "%s", file ? file : "");
    snprintf(out->label, sizeof out->label, "%s", label ? label : "");
    out->version = json_integer_value(json_object_get(learner->doubts, "version"));
    pthread_mutex_unlock(&learner->lock);
    return out->file[0] ? BROAD_OK : cli_fail(BROAD_NO_INPUT, "there is no such photo in the list of doubts");
}
