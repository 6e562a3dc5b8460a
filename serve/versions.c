#include "serve/versions.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "io/output.h"
#include "serve/learned.h"
#include "serve/reviews.h"

enum { SETTLED_SECONDS = 2 };

int64_t serve_version_now(serve_server *server)
{
    int64_t version = 0;
    serve_number(&version, &server->project.database,
                 "SELECT CAST(value AS INTEGER) FROM settings WHERE name='version'", "");
    return version;
}

static int64_t lineage_of(serve_server *server, int64_t version)
{
    int64_t lineage = 0;
    serve_number(&lineage, &server->project.database, "SELECT lineage FROM versions WHERE id=?", "i", version);
    return lineage;
}

static int set_number(serve_server *server, const char *name, int64_t value)
{
    return serve_change(&server->project.database, "INSERT OR REPLACE INTO settings VALUES(?,?)", "ti", name, value);
}

/* ---- judging all photos again ---- */

/* A photo whose verdict is another now. */
static int note_change(serve_server *server, int64_t version, int64_t photo, const char *before, const char *after)
{
    if (!before[0] || strcmp(before, after) == 0) return BROAD_OK;
    return serve_change(&server->project.database, "INSERT INTO changes VALUES(?,?,?,?)", "iitt", version, photo,
                        before, after);
}

/* Photos that were seen, with the inputs that the model takes. */
typedef struct roll {
    size_t count, room, width; /* width: inputs of one */
    int64_t *photos;
    char (*labels)[SERVE_LABEL_BYTES]; /* as they were judged before */
    double *inputs, *scores;
} roll;

static void roll_clear(roll *all)
{
    free(all->photos);
    free(all->labels);
    free(all->inputs);
    free(all->scores);
}

static int roll_open(roll *out, serve_server *server, const serve_model *model)
{
    int64_t count = 0;
    int status = serve_number(&count, &server->project.database, "SELECT count(*) FROM photos WHERE state=1", "");
    out->room = (size_t)count;
    out->width = model->inputs;
    out->photos = calloc(out->room + 1, sizeof *out->photos);
    out->labels = calloc(out->room + 1, sizeof *out->labels);
    out->inputs = calloc(out->room * model->inputs + 1, sizeof *out->inputs);
    out->scores = calloc(out->room * model->outputs + 1, sizeof *out->scores);
    if (status || (out->photos && out->labels && out->inputs && out->scores)) return status;
    return cli_fail(BROAD_NO_MEMORY, "out of memory");
}

/* Photos whose inputs are not those of the model are left out. */
static int roll_put(void *context, sqlite3_stmt *row)
{
    roll *all = context;
    size_t bytes = all->width * sizeof *all->inputs;
    const void *inputs = sqlite3_column_blob(row, 1);
    if (!inputs || (size_t)sqlite3_column_bytes(row, 1) != bytes || all->count == all->room) return BROAD_OK;
    all->photos[all->count] = sqlite3_column_int64(row, 0);
    snprintf(all->labels[all->count], sizeof all->labels[0], "%s", serve_query_text(row, 2));
    memcpy(all->inputs + all->count++ * all->width, inputs, bytes);
    return BROAD_OK;
}

static int roll_read(roll *all, serve_server *server)
{
    sqlite3_stmt *query = NULL;
    int status =
        serve_query_open(&query, &server->project.database, "SELECT id, inputs, label FROM photos WHERE state=1", "");
    return serve_query_each(query, status, roll_put, all);
}

static int judge_one(serve_server *server, const serve_model *model, const roll *all, size_t i)
{
    serve_verdict verdict;
    double *scores = all->scores + i * model->outputs;
    int status = serve_model_verdict(&verdict, scores, model);
    const char *label = status ? "" : broad_model_output_name(model->model, verdict.label);
    if (!status) status = note_change(server, model->version, all->photos[i], all->labels[i], label);
    if (status) return status;
    return serve_change(&server->project.database,
                        "UPDATE photos SET version=?, scores=?, label=?, certainty=?, fault=? WHERE id=?", "ibtrri",
                        model->version, scores, model->outputs * sizeof *scores, label, verdict.certainty,
                        verdict.fault, all->photos[i]);
}

/* Within a transaction. Photos that were looked at for another lineage wait again. */
static int judge_again(serve_server *server, const serve_model *model)
{
    serve_database *database = &server->project.database;
    roll all = {0};
    int status = serve_change(database,
                              "UPDATE photos SET state=0 WHERE state=1 AND (version IS NULL OR version NOT IN"
                              " (SELECT id FROM versions WHERE lineage=?))",
                              "i", model->lineage);
    if (!status) status = serve_change(database, "DELETE FROM changes WHERE version=?", "i", model->version);
    if (!status) status = roll_open(&all, server, model);
    if (!status) status = roll_read(&all, server);
    if (!status && all.count) status = broad_predict(all.scores, model->model, all.inputs, all.count, 0);
    for (size_t i = 0; !status && i < all.count; i++) status = judge_one(server, model, &all, i);
    roll_clear(&all);
    return status;
}

/* ---- new versions ---- */

static int keep_learned(serve_server *server, int64_t version, const serve_candidate *candidate)
{
    serve_database *database = &server->project.database;
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < candidate->photo_count; i++)
        status = serve_learned_add(database, version, candidate->photos[i], candidate->labels[i]);
    return status ? status : serve_learned_count(database, version);
}

static int keep_row(int64_t *out, serve_server *server, const serve_candidate *candidate, int64_t rows)
{
    serve_database *database = &server->project.database;
    char hash[BROAD__HASH_TEXT];
    int64_t parent = serve_version_now(server), lineage = lineage_of(server, parent);
    char *text = candidate->result ? json_dumps(candidate->result, JSON_COMPACT) : NULL;
    int status = broad__file_hash(hash, candidate->file);
    if (!status)
        status = serve_change(database,
                              "INSERT INTO versions(made, kind, hash, parent, lineage, rows, result)"
                              " VALUES(?,?,?,?,?,?,?)",
                              "ittiiit", serve_now(), candidate->kind, hash, parent, lineage, rows, text);
    free(text);
    if (status) return status;
    *out = sqlite3_last_insert_rowid(database->handle);
    if (!candidate->same_inputs || !lineage)
        status = serve_change(database, "UPDATE versions SET lineage=id WHERE id=?", "i", *out);
    return status ? status : keep_learned(server, *out, candidate);
}

/* As a version that is not in use. */
static int keep_version(int64_t *out, serve_server *server, const serve_candidate *candidate)
{
    serve_database *database = &server->project.database;
    serve_model *probe = NULL;
    char path[PATH_MAX];
    int status = serve_model_load(&probe, candidate->file, 0, 0);
    int64_t rows = status ? 0 : (int64_t)broad_model_rows(probe->model);
    serve_model_drop(probe);
    if (!status) status = serve_database_begin(database);
    if (status) return status;
    status = keep_row(out, server, candidate, rows);
    if (!status) status = serve_project_model_path(path, &server->project, *out);
    if (!status) status = cli_copy_file(path, candidate->file);
    return serve_database_end(database, status);
}

/* ---- from one model to another ---- */

static void tell(serve_server *server, int64_t version)
{
    json_t *data = json_object();
    cli_json_put(data, "version", json_integer(version));
    serve_events_post(&server->events, "model", data);
}

/* What model.broad was until now. Where another program has put a model there since the server looked last, it becomes a
 * version too, and the pages are told; what the server could not use anyway is not kept. */
static int keep_other(void *context, const char *path)
{
    serve_server *server = context;
    const serve_candidate candidate = {.file = path, .kind = "given"};
    serve_model *probe = NULL;
    char hash[BROAD__HASH_TEXT];
    int64_t known = 0, version = 0;
    int status = broad__file_hash(hash, path);
    if (!status)
        status =
            serve_number(&known, &server->project.database, "SELECT count(*) FROM versions WHERE hash=?", "t", hash);
    if (status || known) return status;
    status = serve_model_load(&probe, path, 0, 0);
    serve_model_drop(probe);
    if (status) return status == BROAD_NO_MEMORY ? status : BROAD_OK;
    status = keep_version(&version, server, &candidate);
    if (status) return status;
    cli_fail(BROAD_FAILED, "another program has replaced model.broad meanwhile; its model is kept as version %lld",
             (long long)version);
    serve_server_trouble(server);
    return BROAD_OK;
}

static int write_model(serve_server *server, int64_t version)
{
    char from[PATH_MAX], to[PATH_MAX];
    int status = serve_project_model_path(from, &server->project, version);
    if (!status) status = serve_project_path(to, &server->project, "model.broad");
    if (!status) status = cli_replace_file(to, from, keep_other, server);
    if (!status) serve_server_note(server, NULL);
    return status ? status : set_number(server, "written", version);
}

/* The model is taken over. In the database, then in use, then in model.broad. */
static int switch_to(serve_server *server, serve_model *model)
{
    serve_database *database = &server->project.database;
    int64_t version = model->version;
    int status = serve_database_begin(database);
    if (!status) {
        status = judge_again(server, model);
        if (!status) status = set_number(server, "version", version);
        status = serve_database_end(database, status);
    }
    if (status) {
        serve_model_drop(model);
        return status;
    }
    serve_server_use(server, model);
    if (server->queue) serve_queue_again(server->queue);
    status = write_model(server, version);
    tell(server, version); /* after it: there may be one version more */
    return status;
}

static int load_version(serve_model **out, serve_server *server, int64_t version)
{
    char path[PATH_MAX];
    int status = serve_project_model_path(path, &server->project, version);
    if (!status && access(path, F_OK))
        status = cli_fail(BROAD_NO_INPUT, "there is no version %lld", (long long)version);
    return status ? status : serve_model_load(out, path, version, lineage_of(server, version));
}

int serve_version_use(serve_server *server, int64_t version)
{
    serve_model *model = NULL;
    int status = load_version(&model, server, version);
    return status ? status : switch_to(server, model);
}

int serve_version_add(int64_t *out, serve_server *server, const serve_candidate *candidate)
{
    int status = keep_version(out, server, candidate);
    return status ? status : serve_version_use(server, *out);
}

/* ---- starting ---- */

/* Whether model.broad, of this hash, is what the server put there: the version that was noted as written, or, where it was killed
 * before it could note it, the one in use. */
static int is_own(int64_t *out, serve_server *server, const char *hash, int64_t written, int64_t now)
{
    *out = 0;
    return serve_number(out, &server->project.database, "SELECT count(*) FROM versions WHERE hash=? AND id IN (?,?)",
                        "tii", hash, written, now);
}

static int take_given(serve_server *server, const char *path)
{
    const serve_candidate candidate = {.file = path, .kind = "given"};
    int64_t version = 0;
    return serve_version_add(&version, server, &candidate);
}

static int take_replaced(serve_server *server, const char *path)
{
    int64_t now = serve_version_now(server);
    int status = take_given(server, path);
    if (status && now)
        cli_fail(status, "%s. Version %lld stays in use; use a version of the list to have it written there again",
                 broad_error_message(), (long long)now);
    return status;
}

/* A file that cannot be taken is complained about once; the status has it until there is another. */
int serve_versions_follow(serve_server *server, int at_once)
{
    char path[PATH_MAX], hash[BROAD__HASH_TEXT];
    struct stat info, *last = &server->model_file;
    int64_t written = 0, same = 0;
    int status = serve_project_path(path, &server->project, "model.broad");
    if (status || stat(path, &info)) return status;
    if (info.st_ino == last->st_ino && info.st_size == last->st_size && info.st_mtim.tv_sec == last->st_mtim.tv_sec &&
        info.st_mtim.tv_nsec == last->st_mtim.tv_nsec)
        return BROAD_OK;
    time_t age = time(NULL) - info.st_mtim.tv_sec;
    if (!at_once && age >= 0 && age < SETTLED_SECONDS) return BROAD_OK;
    *last = info;
    status = serve_number(&written, &server->project.database,
                          "SELECT CAST(value AS INTEGER) FROM settings WHERE name='written'", "");
    if (!status) status = broad__file_hash(hash, path);
    if (!status) status = is_own(&same, server, hash, written, serve_version_now(server));
    if (status || same) return status;
    status = take_replaced(server, path);
    serve_server_note(server, status ? broad_error_message() : NULL);
    return status;
}

/* The version that was in use. written: model.broad is that already. */
static int go_on(serve_server *server, int64_t version, int written)
{
    serve_model *model = NULL;
    int status = load_version(&model, server, version);
    if (status) return status;
    serve_server_use(server, model);
    return written ? BROAD_OK : write_model(server, version);
}

/* model.broad, which cannot be used for the reason of the latest failure, makes room for the version that was in use. */
static int set_aside(serve_server *server, const char *path, int status, int64_t version)
{
    char reason[512], aside[PATH_MAX];
    snprintf(reason, sizeof reason, "%s", broad_error_message());
    if (!version)
        return cli_fail(status,
                        "%s. Remove this file, or put a model there: without one, the project begins with photos that "
                        "you label",
                        reason);
    status = serve_project_path(aside, &server->project, "model.broad.unusable-%lld", (long long)serve_now());
    if (!status) status = cli_move_file(path, aside);
    if (!status) status = go_on(server, version, 0);
    if (status) return status;
    cli_fail(BROAD_BAD_MODEL, "%s. Version %lld, the latest in use, has its place again; the file is kept as %s",
             reason, (long long)version, aside);
    serve_server_note(server, broad_error_message());
    serve_server_trouble(server);
    return BROAD_OK;
}

int serve_versions_start(serve_server *server)
{
    char path[PATH_MAX], hash[BROAD__HASH_TEXT] = "";
    int64_t now = serve_version_now(server), written = 0, same = 0;
    int status = serve_project_path(path, &server->project, "model.broad");
    if (!status)
        status = serve_number(&written, &server->project.database,
                              "SELECT CAST(value AS INTEGER) FROM settings WHERE name='written'", "");
    if (status) return status;
    int there = access(path, F_OK) == 0;
    if (!there && !now) return BROAD_OK;
    if (there) status = broad__file_hash(hash, path);
    if (!status && there) status = is_own(&same, server, hash, written, now);
    if (status) return status;
    if (!there || same) return go_on(server, now, there && written == now);
    status = take_given(server, path); /* another program has put it there */
    int unusable = status == BROAD_BAD_MODEL || status == BROAD_USAGE;
    return unusable ? set_aside(server, path, status, now) : status;
}
