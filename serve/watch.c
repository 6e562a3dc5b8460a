#include "serve/watch.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/json.h"

enum { DEEPEST = 16, SETTLED_SECONDS = 1, PAUSE_TENTHS = 20, AT_ONCE = 64 };
static const long TENTH = 100000000; /* nanoseconds */

/* A file that has come, and has no row yet. */
typedef struct arrival {
    char *path;
    int64_t bytes, changed;
    int refused; /* it cannot be a photo; it is only noted as seen */
    serve_incoming incoming;
} arrival;

typedef struct visit {
    serve_server *server;
    const char *shown;
    size_t skip; /* length of the folder's own path */
    int copy, still, depth;
    size_t count;
    arrival arrivals[AT_ONCE];
} visit;

/* Whether the file was taken before, as it is now. */
static int was_seen(serve_server *server, const char *path, const struct stat *info)
{
    int64_t seen = 0;
    serve_number(&seen, &server->project.database, "SELECT count(*) FROM seen WHERE path=? AND bytes=? AND changed=?",
                 "tii", path, (int64_t)info->st_size, (int64_t)info->st_mtime);
    return seen != 0;
}

static void tell(serve_server *server, size_t added)
{
    json_t *data = json_object();
    cli_json_put(data, "added", json_integer((json_int_t)added));
    serve_events_post(&server->events, "added", data);
    serve_queue_wake(server->queue);
}

static int enter(visit *own, const arrival *file, size_t *added)
{
    serve_project *project = &own->server->project;
    serve_added row = {0};
    char name[SERVE_NAME_BYTES];
    snprintf(name, sizeof name, "%s%s", own->shown, file->path + own->skip);
    int status = file->refused ? BROAD_OK : serve_photo_enter(&row, project, &file->incoming, file->path, name);
    *added += row.id && !row.known;
    if (status) return status;
    return serve_change(&project->database, "INSERT OR REPLACE INTO seen VALUES(?,?,?)", "tii", file->path, file->bytes,
                        file->changed);
}

/* Waits for the disk once, then all that have come get their rows together. */
static int enter_all(visit *own)
{
    serve_database *database = &own->server->project.database;
    size_t added = 0;
    if (!own->count) return BROAD_OK;
    if (own->copy) syncfs(own->server->project.lock);
    int status = serve_database_begin(database);
    if (!status) {
        for (size_t i = 0; !status && i < own->count; i++) status = enter(own, &own->arrivals[i], &added);
        status = serve_database_end(database, status);
    }
    for (size_t i = 0; i < own->count; i++) free(own->arrivals[i].path);
    own->count = 0;
    if (!status && added) tell(own->server, added);
    return status;
}

static int take_file(visit *own, const char *path, const struct stat *info)
{
    arrival file = {.bytes = info->st_size, .changed = info->st_mtime};
    if (info->st_mtime + own->still > time(NULL)) return BROAD_OK; /* it may still be written to */
    if (was_seen(own->server, path, info) || broad_path_look(path) != BROAD_PATH_KIND_PICTURE) return BROAD_OK;
    int status = serve_photo_bring(&file.incoming, &own->server->project, path, own->copy);
    file.refused = status == BROAD_NO_INPUT || status == BROAD_BAD_DATA; /* gone, or too large */
    if (status && !file.refused) return status;
    file.path = strdup(path);
    if (!file.path) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    own->arrivals[own->count++] = file;
    return own->count == AT_ONCE ? enter_all(own) : BROAD_OK;
}

static int walk(visit *own, const char *folder)
{
    DIR *open = opendir(folder);
    int status = BROAD_OK;
    if (!open) return BROAD_OK; /* it has gone meanwhile */
    for (struct dirent *entry; !status && !own->server->over && (entry = readdir(open));) {
        char path[PATH_MAX];
        struct stat info;
        if (entry->d_name[0] == '.') continue;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length < 0 || length >= (int)sizeof path || lstat(path, &info)) continue;
        if (S_ISREG(info.st_mode)) status = take_file(own, path, &info);
        else if (S_ISDIR(info.st_mode) && own->depth < DEEPEST) {
            own->depth++;
            status = walk(own, path);
            own->depth--;
        }
    }
    closedir(open);
    return status;
}

int serve_watch_take(serve_server *server, const char *folder, const char *shown, int copy, int still)
{
    visit *own = calloc(1, sizeof *own);
    if (!own) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    *own = (visit){.server = server, .shown = shown, .skip = strlen(folder), .copy = copy, .still = still};
    int status = walk(own, folder), entered = enter_all(own);
    free(own);
    return status ? status : entered;
}

/* ---- folders ---- */

int serve_watch_add(serve_server *server, const char *folder)
{
    char path[PATH_MAX];
    struct stat info;
    if (folder[0] != '/')
        return cli_fail(BROAD_USAGE, "give the whole path of the folder, beginning with /, such as /media/camera");
    if (!realpath(folder, path) || stat(path, &info))
        return cli_fail(BROAD_NO_INPUT, "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(info.st_mode)) return cli_fail(BROAD_USAGE, "%s: is not a folder", folder);
    size_t length = strlen(server->project.folder);
    if (strncmp(path, server->project.folder, length) == 0 && (path[length] == '/' || !path[length]))
        return cli_fail(BROAD_USAGE, "%s: is the project itself; give another folder", folder);
    int status = serve_change(&server->project.database, "INSERT OR IGNORE INTO watched VALUES(?)", "t", path);
    server->look_now = !status;
    return status;
}

int serve_watch_remove(serve_server *server, const char *folder)
{
    return serve_change(&server->project.database, "DELETE FROM watched WHERE folder=?", "t", folder);
}

/* The folder after `last` in the order of names. */
static int next_folder(char out[PATH_MAX], serve_server *server, const char *last)
{
    sqlite3_stmt *query = NULL;
    serve_database *database = &server->project.database;
    serve_database_lock(database);
    int status = serve_query_open(&query, database, "SELECT folder FROM watched WHERE folder>? ORDER BY folder LIMIT 1",
                                  "t", last);
    if (!status) status = serve_query_row(query);
    if (status > 0) snprintf(out, PATH_MAX, "%s", serve_query_text(query, 0));
    serve_query_close(query);
    serve_database_unlock(database);
    return status > 0;
}

static void *live(void *context)
{
    serve_server *server = context;
    while (!server->over) {
        char folder[PATH_MAX] = "";
        while (!server->over && next_folder(folder, server, folder)) {
            const char *slash = strrchr(folder, '/');
            if (serve_watch_take(server, folder, slash && slash[1] ? slash + 1 : folder, server->project.copy,
                                 SETTLED_SECONDS))
                serve_server_trouble(server);
        }
        for (int i = 0; i < PAUSE_TENTHS && !server->over && !server->look_now; i++)
            nanosleep(&(struct timespec){.tv_nsec = TENTH}, NULL);
        server->look_now = 0;
    }
    return NULL;
}

int serve_watch_start(serve_server *server)
{
    if (pthread_create(&server->watcher, NULL, live, server))
        return cli_fail(BROAD_FAILED, "threads cannot be started");
    server->watching = 1;
    return BROAD_OK;
}

void serve_watch_stop(serve_server *server)
{
    if (server->watching) pthread_join(server->watcher, NULL);
    server->watching = 0;
}
