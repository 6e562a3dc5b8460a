#include "serve/queue.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/json.h"
#include "serve/server.h"

enum { THREADS_MOST = 16, WRITTEN_AT_ONCE = 64, ASKED_MOST = 64, RETRY_SECONDS = 2 };
static const long WRITER_PAUSE = 100000000; /* nanoseconds: what comes within it is written together */

/* A request waits for it. */
typedef struct errand {
    struct errand *next;
    serve_model *model;
    serve_work work;
    size_t side, output, count;
    const void *bytes;
    serve_sight *out;
    int status, done;
    char message[256];
} errand;

typedef struct judged {
    struct judged *next;
    serve_outcome outcome;
} judged;

struct serve_queue {
    serve_server *server;
    pthread_mutex_t lock;
    pthread_cond_t work, done, results;
    errand *errands;
    size_t errand_count;
    judged *judged;     /* the latest first */
    int64_t last_taken; /* photos are taken in the order of their numbers */
    size_t under_way;
    int over, written; /* written: no more results will come */
    size_t threads;
    pthread_t workers[THREADS_MOST], writer;
};

/* ---- errands ---- */

int serve_queue_ask(serve_sight *out, serve_queue *queue, serve_model *model, serve_work work, size_t side,
                    size_t output, const void *bytes, size_t count)
{
    errand own = {.model = model, .work = work, .side = side, .output = output, .count = count, .bytes = bytes};
    own.out = out;
    pthread_mutex_lock(&queue->lock);
    if (queue->over || queue->errand_count >= ASKED_MOST) {
        pthread_mutex_unlock(&queue->lock);
        return cli_fail(BROAD_NO_MEMORY, "too much is being asked at the same time; try again in a moment");
    }
    errand **last = &queue->errands;
    while (*last) last = &(*last)->next;
    *last = &own;
    queue->errand_count++;
    pthread_cond_signal(&queue->work);
    while (!own.done) pthread_cond_wait(&queue->done, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
    return own.status ? cli_fail(own.status, "%s", own.message) : BROAD_OK;
}

static void run_errand(serve_queue *queue, errand *own, serve_decoder *decoder)
{
    const serve_source source = {.bytes = own->bytes, .count = own->count, .file = -1};
    int status = serve_decoder_ask(own->out, decoder, own->model, own->work, own->side, own->output, &source);
    if (status) snprintf(own->message, sizeof own->message, "%s", broad_error_message());
    pthread_mutex_lock(&queue->lock);
    own->status = status;
    own->done = 1;
    queue->errand_count--;
    pthread_cond_broadcast(&queue->done);
    pthread_mutex_unlock(&queue->lock);
}

/* ---- photos ---- */

static void give_result(serve_queue *queue, serve_outcome *outcome)
{
    judged *item = calloc(1, sizeof *item);
    pthread_mutex_lock(&queue->lock);
    queue->under_way--;
    if (item && outcome->id) {
        item->outcome = *outcome;
        item->next = queue->judged;
        queue->judged = item;
        pthread_cond_signal(&queue->results);
    }
    pthread_mutex_unlock(&queue->lock);
    if (item && outcome->id) return;
    free(item);
    serve_outcome_clear(outcome);
}

static void judge_photo(serve_queue *queue, int64_t id, serve_decoder *decoder)
{
    serve_source source = {.file = -1};
    serve_outcome outcome = {.id = id, .model = serve_server_model(queue->server)};
    int status = serve_photo_open(&source.file, &source.count, &queue->server->project, id);
    if (!status) status = serve_decoder_ask(&outcome.sight, decoder, outcome.model, SERVE_WORK_LOOK, 0, 0, &source);
    if (!status) status = serve_photo_judge(&outcome);
    outcome.status = status;
    if (status == BROAD_INTERRUPTED || status == BROAD_NO_MEMORY) outcome.id = 0; /* it waits again */
    if (status) snprintf(outcome.reason, sizeof outcome.reason, "%s", broad_error_message());
    if (source.file >= 0) close(source.file);
    give_result(queue, &outcome);
    if (status != BROAD_NO_MEMORY || queue->over) return;
    nanosleep(&(struct timespec){.tv_sec = RETRY_SECONDS}, NULL);
    serve_queue_again(queue);
}

/* 0: none waits. The lock of the queue is held. */
static int64_t take_photo(serve_queue *queue)
{
    int64_t id = 0;
    int status =
        serve_number(&id, &queue->server->project.database,
                     "SELECT id FROM photos WHERE state=0 AND id>? ORDER BY id LIMIT 1", "i", queue->last_taken);
    if (status || !id) return 0;
    queue->last_taken = id;
    queue->under_way++;
    return id;
}

static void *work(void *context)
{
    serve_queue *queue = context;
    serve_decoder decoder = {0};
    pthread_mutex_lock(&queue->lock);
    while (!queue->over) {
        errand *own = queue->errands;
        int64_t id = 0;
        if (own) queue->errands = own->next;
        else if (!(id = take_photo(queue))) {
            pthread_cond_wait(&queue->work, &queue->lock);
            continue;
        }
        pthread_mutex_unlock(&queue->lock);
        if (own) run_errand(queue, own, &decoder);
        else judge_photo(queue, id, &decoder);
        pthread_mutex_lock(&queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
    serve_decoder_close(&decoder);
    return NULL;
}

/* ---- writing ---- */

/* A photo that was judged by a model of another lineage than the one in use by now is judged again. */
static int keep(serve_queue *queue, serve_outcome *outcome)
{
    serve_model *now = serve_server_model(queue->server);
    int stale = !outcome->status && (now ? now->lineage : 0) != (outcome->model ? outcome->model->lineage : 0);
    int status = BROAD_OK;
    if (!stale && now && outcome->model && now != outcome->model) {
        free(outcome->scores);
        outcome->scores = NULL;
        serve_model_drop(outcome->model);
        outcome->model = serve_model_hold(now);
        status = serve_photo_judge(outcome);
    }
    if (!status && !stale) status = serve_photo_keep(&queue->server->project, outcome);
    serve_model_drop(now);
    return status;
}

static void tell(serve_queue *queue, judged *list, int status)
{
    json_t *data = json_object(), *ids = json_array();
    for (judged *item = list; item; item = item->next) cli_json_append(ids, json_integer(item->outcome.id));
    cli_json_put(data, "photos", ids);
    if (status) cli_json_put(data, "error", cli_json_text(broad_error_message()));
    serve_events_post(&queue->server->events, "judged", data);
}

static void write_results(serve_queue *queue, judged *list)
{
    serve_database *database = &queue->server->project.database;
    int status = serve_database_begin(database);
    if (!status) {
        for (judged *item = list; item && !status; item = item->next) status = keep(queue, &item->outcome);
        status = serve_database_end(database, status);
    }
    tell(queue, list, status);
    if (status) {
        serve_server_trouble(queue->server);
        if (!queue->over) nanosleep(&(struct timespec){.tv_sec = RETRY_SECONDS}, NULL);
        serve_queue_again(queue); /* they wait again */
    }
    while (list) {
        judged *next = list->next;
        serve_outcome_clear(&list->outcome);
        free(list);
        list = next;
    }
}

static void *write_down(void *context)
{
    serve_queue *queue = context;
    pthread_mutex_lock(&queue->lock);
    while (!queue->written || queue->judged) {
        if (!queue->judged) {
            pthread_cond_wait(&queue->results, &queue->lock);
            continue;
        }
        pthread_mutex_unlock(&queue->lock);
        if (!queue->over) nanosleep(&(struct timespec){.tv_nsec = WRITER_PAUSE}, NULL);
        pthread_mutex_lock(&queue->lock);
        judged *list = queue->judged;
        queue->judged = NULL;
        pthread_mutex_unlock(&queue->lock);
        write_results(queue, list);
        pthread_mutex_lock(&queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- opening and closing ---- */

int serve_queue_open(serve_queue **out, serve_server *server, size_t threads)
{
    serve_queue *queue = calloc(1, sizeof *queue);
    *out = NULL;
    if (!queue) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    queue->server = server;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->work, NULL);
    pthread_cond_init(&queue->done, NULL);
    pthread_cond_init(&queue->results, NULL);
    int failed = pthread_create(&queue->writer, NULL, write_down, queue);
    while (!failed && queue->threads < threads && queue->threads < THREADS_MOST) {
        failed = pthread_create(&queue->workers[queue->threads], NULL, work, queue);
        if (!failed) queue->threads++;
    }
    *out = queue;
    if (queue->threads) return BROAD_OK;
    return cli_fail(BROAD_FAILED, "threads cannot be started: %s", strerror(failed));
}

void serve_queue_end(serve_queue *queue)
{
    if (!queue) return;
    serve_decoders_hurry();
    pthread_mutex_lock(&queue->lock);
    queue->over = 1;
    pthread_cond_broadcast(&queue->work);
    pthread_mutex_unlock(&queue->lock);
    for (size_t i = 0; i < queue->threads; i++) pthread_join(queue->workers[i], NULL);
    pthread_mutex_lock(&queue->lock);
    queue->written = 1;
    for (errand *own = queue->errands; own; own = own->next) {
        own->status = BROAD_INTERRUPTED;
        snprintf(own->message, sizeof own->message, "the server is ending");
        own->done = 1;
    }
    pthread_cond_broadcast(&queue->done);
    pthread_cond_broadcast(&queue->results);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->writer, NULL);
}

void serve_queue_free(serve_queue *queue)
{
    if (!queue) return;
    pthread_cond_destroy(&queue->work);
    pthread_cond_destroy(&queue->done);
    pthread_cond_destroy(&queue->results);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

void serve_queue_wake(serve_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    pthread_cond_broadcast(&queue->work);
    pthread_mutex_unlock(&queue->lock);
}

void serve_queue_again(serve_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->last_taken = 0;
    pthread_cond_broadcast(&queue->work);
    pthread_mutex_unlock(&queue->lock);
}
