#include "serve/project.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/folder.h"

int64_t serve_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int serve_project_path(char out[PATH_MAX], const serve_project *project, const char *format, ...)
{
    va_list arguments;
    int used = snprintf(out, PATH_MAX, "%s/", project->folder);
    va_start(arguments, format);
    int more = used < PATH_MAX ? vsnprintf(out + used, (size_t)(PATH_MAX - used), format, arguments) : PATH_MAX;
    va_end(arguments);
    if (used + more < PATH_MAX) return BROAD_OK;
    return cli_fail(BROAD_CANNOT_WRITE, "%s: the path is too long", project->folder);
}

int serve_project_model_path(char out[PATH_MAX], const serve_project *project, int64_t version)
{
    return serve_project_path(out, project, "versions/%06lld.broad", (long long)version);
}

/* ---- opening ---- */

static int make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return BROAD_OK;
    return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be made: %s", path, strerror(errno));
}

static int make_folders(serve_project *project)
{
    static const char *const names[] = {"photos", "versions", "labels", "work"};
    char path[PATH_MAX];
    int status = serve_project_path(path, project, "work");
    if (!status) status = cli_folder_remove(path); /* of a server that was killed */
    for (size_t i = 0; !status && i < sizeof names / sizeof names[0]; i++) {
        status = serve_project_path(path, project, "%s", names[i]);
        if (!status) status = make_folder(path);
    }
    return status;
}

/* The process that holds the lock has written its number into the file. */
static int fail_held(const serve_project *project, int lock)
{
    char number[24] = "";
    ssize_t count = pread(lock, number, sizeof number - 1, 0);
    number[count > 0 ? count : 0] = 0;
    close(lock);
    return cli_fail(BROAD_CANNOT_WRITE,
                    "%s is open in another 'broad serve' (process %s); use that one, or end it first with Ctrl-C",
                    project->folder, *number ? number : "unknown");
}

static int take_lock(serve_project *project)
{
    char path[PATH_MAX], number[24];
    int status = serve_project_path(path, project, ".lock");
    if (status) return status;
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (lock < 0) return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be written: %s", path, strerror(errno));
    if (flock(lock, LOCK_EX | LOCK_NB)) return fail_held(project, lock);
    int length = snprintf(number, sizeof number, "%ld", (long)getpid());
    if (ftruncate(lock, 0) || pwrite(lock, number, (size_t)length, 0) != length) {
        close(lock);
        return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be written: %s", path, strerror(errno));
    }
    project->lock = lock;
    return BROAD_OK;
}

static int put_stack(void *context, sqlite3_stmt *row)
{
    serve_stacks_put(context, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                     (uint64_t)sqlite3_column_int64(row, 2), serve_query_real(row, 3));
    return BROAD_OK;
}

static int read_stacks(serve_project *project)
{
    sqlite3_stmt *query = NULL;
    int status =
        serve_query_open(&query, &project->database,
                         "SELECT id, stack, print, 1.0*width/height FROM photos WHERE state=1 AND print<>0", "");
    return serve_query_each(query, status, put_stack, &project->stacks);
}

int serve_project_is_there(const char *folder)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/project.db", folder);
    return length > 0 && length < (int)sizeof path && access(path, F_OK) == 0;
}

static int check_folder(const char *path)
{
    struct stat info;
    if (stat(path, &info) || S_ISDIR(info.st_mode)) return BROAD_OK;
    return cli_fail(
        BROAD_USAGE,
        "%s: is a file, but PROJECT is a folder, which is made if it does not exist; for a model of your own, "
        "make one, such as roofs, and copy the model to roofs/model.broad",
        path);
}

int serve_project_open(serve_project *out, const char *folder, int copy)
{
    char path[PATH_MAX];
    *out = (serve_project){.lock = -1, .copy = copy};
    int status = check_folder(folder);
    if (!status) status = make_folder(folder);
    if (status) return status;
    if (!realpath(folder, path)) return cli_fail(BROAD_NO_INPUT, "%s: cannot be opened: %s", folder, strerror(errno));
    out->folder = strdup(path);
    if (!out->folder) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    status = take_lock(out);
    if (!status) status = make_folders(out);
    if (!status) status = serve_project_path(path, out, "project.db");
    if (!status) status = serve_database_open(&out->database, path);
    if (!status) status = read_stacks(out);
    if (status) serve_project_close(out);
    return status;
}

void serve_project_close(serve_project *project)
{
    serve_database_close(&project->database);
    serve_stacks_clear(&project->stacks);
    if (project->lock >= 0) close(project->lock);
    free(project->folder);
    *project = (serve_project){.lock = -1};
}

/* ---- settings ---- */

int serve_setting_get(char *out, size_t bytes, serve_project *project, const char *name)
{
    sqlite3_stmt *query = NULL;
    out[0] = 0;
    serve_database_lock(&project->database);
    int status = serve_query_open(&query, &project->database, "SELECT value FROM settings WHERE name=?", "t", name);
    if (!status) status = serve_query_row(query);
    if (status > 0) snprintf(out, bytes, "%s", serve_query_text(query, 0));
    serve_query_close(query);
    serve_database_unlock(&project->database);
    return status < 0 ? status : BROAD_OK;
}

int serve_setting_set(serve_project *project, const char *name, const char *value)
{
    return serve_change(&project->database, "INSERT OR REPLACE INTO settings VALUES(?,?)", "tt", name, value);
}
