#include "serve/watch.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/json.h"

enum { DEEPEST = 16, SETTLED_SECONDS = 1, PAUSE_TENTHS = 20 };

typedef struct visit {
    serve_server *server;
    const char *shown;
    size_t skip; /* length of the folder's own path */
    int copy, depth;
    size_t added;
} visit;

/* Whether the file was taken before, as it is now. */
static int was_seen(serve_server *server, const char *path, const struct stat *info)
{
    int64_t seen = 0;
    serve_number(&seen, &server->project.database, "SELECT count(*) FROM seen WHERE path=? AND bytes=? AND changed=?",
                 "tii", path, (int64_t)info->st_size, (int64_t)info->st_mtime);
    return seen != 0;
}

static int take_file(visit *own, const char *path, const struct stat *info)
{
    serve_server *server = own->server;
    serve_project *project = &server->project;
    serve_added added = {0};
    char name[SERVE_NAME_BYTES];
    if (info->st_mtime + SETTLED_SECONDS > time(NULL) && !own->copy) return BROAD_OK; /* it may still be written to */
    if (was_seen(server, path, info) || broad_path_look(path) != BROAD_PATH_KIND_PICTURE) return BROAD_OK;
    snprintf(name, sizeof name, "%s%s", own->shown, path + own->skip);
    int copy = project->copy;
    int status;
    if (own->copy && !copy) { /* drawn photos are always the project's own */
        void *bytes = NULL;
        size_t count = 0;
        status = serve_file_read(&bytes, &count, path);
        if (!status) status = serve_photo_add(&added, project, bytes, count, name);
        free(bytes);
    } else status = serve_photo_add_file(&added, project, path, name);
    if (status == BROAD_NO_INPUT || status == BROAD_BAD_DATA) status = BROAD_OK; /* too large, or gone */
    if (!status)
        status = serve_change(&project->database, "INSERT OR REPLACE INTO seen VALUES(?,?,?)", "tii", path,
                              (int64_t)info->st_size, (int64_t)info->st_mtime);
    own->added += !status && added.id && !added.known;
    return status;
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

static void tell(serve_server *server, size_t added)
{
    json_t *data = json_object();
    if (!added) {
        json_decref(data);
        return;
    }
    cli_json_put(data, "added", json_integer((json_int_t)added));
    serve_events_post(&server->events, "added", data);
    serve_queue_wake(server->queue);
}

int serve_watch_take(serve_server *server, const char *folder, const char *shown, int copy)
{
    visit own = {.server = server, .shown = shown, .skip = strlen(folder), .copy = copy};
    int status = walk(&own, folder);
    tell(server, own.added);
    return status;
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
    if (strncmp(path, server->project.folder, strlen(server->project.folder)) == 0)
        return cli_fail(BROAD_USAGE, "%s: is the project itself; give another folder", folder);
    return serve_change(&server->project.database, "INSERT OR IGNORE INTO watched VALUES(?)", "t", path);
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
            if (serve_watch_take(server, folder, slash && slash[1] ? slash + 1 : folder, 0))
                serve_server_trouble(server);
        }
        for (int i = 0; i < PAUSE_TENTHS && !server->over; i++)
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
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
