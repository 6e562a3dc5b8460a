#include "io/ranks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

#ifndef BROAD_MPI_LIBRARY
#define BROAD_MPI_LIBRARY "libbroad-mpi.so"
#define BROAD_MPI_FOLDER "lib"
#endif

/* Seconds that a rank which has failed waits for the others to fail likewise. */
static const double PATIENCE = 2;

/* Of mpi/broad_mpi_tool.h. */
typedef int (*begin_function)(broad_comm *out, size_t *out_local);
typedef int (*end_function)(int *out_code, broad_comm *comm, int code, double patience, void (*speak)(void));
typedef void (*abort_function)(int code);

static broad_comm comm;
static size_t local = 1;
static int joined; /* the ranks run the command together */
static end_function end_ranks;
static abort_function abort_ranks;
static size_t told_rank;                     /* where the library is absent: what mpirun says of this process */
static char absent[2048];                    /* and why; "": it is there, or this process was started by itself */
static int own_stdout = -1, own_stderr = -1; /* of a rank that is silent */

size_t cli_rank(void) { return end_ranks ? comm.rank : told_rank; }

int cli_ranks_begun(void) { return end_ranks != NULL; }

size_t cli_ranks_started(void) { return end_ranks ? comm.ranks : 1; }

size_t cli_ranks_here(void) { return end_ranks ? local : 1; }

size_t cli_ranks(void) { return joined ? comm.ranks : 1; }

int cli_ranks_join(void)
{
    joined = end_ranks != NULL;
    if (!absent[0]) return BROAD_OK;
    return cli_fail(BROAD_FAILED,
                    "this process was started as one rank of several, and " BROAD_MPI_LIBRARY
                    ", which connects them, cannot be loaded (%s). Build broad where Open MPI is installed "
                    "(Debian: apt install libopenmpi-dev), or start it without mpirun",
                    absent);
}

const broad_comm *cli_comm(void) { return cli_ranks() > 1 ? &comm : NULL; }

int cli_writes(void) { return cli_rank() == 0; }

/* ---- the library --------------------------------------------------------------------------------------------------- */

/* Beside this program, as both are built; where it is installed; where the system looks. */
static void *open_library(void)
{
    char own[PATH_MAX], path[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    char *last = strrchr(own, '/');
    if (last) *last = 0;
    snprintf(path, sizeof path, "%s/%s", own, BROAD_MPI_LIBRARY);
    /* Global: the parts of MPI that it loads by itself look for its functions there. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    snprintf(path, sizeof path, "%s/../%s/%s", own, BROAD_MPI_FOLDER, BROAD_MPI_LIBRARY);
    if (!library) library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    return library ? library : dlopen(BROAD_MPI_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
}

static int find(void *out, void *library, const char *name)
{
    void *function = dlsym(library, name);
    memcpy(out, &function, sizeof function);
    return function != NULL;
}

/* What mpirun, mpiexec and srun tell the processes that they start. */
static const char *const told_sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", NULL};
static const char *const told_ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", NULL};

static const char *first_told(const char *const *names)
{
    const char *value = NULL;
    for (; !value && *names; names++) value = getenv(*names);
    return value;
}

/* NULL: this process was started by itself. */
static const char *started_as(void)
{
    const char *rank = first_told(told_ranks);
    return rank ? rank : getenv("OMPI_COMM_WORLD_SIZE") ? getenv("OMPI_COMM_WORLD_SIZE") : getenv("PMI_SIZE");
}

int cli_ranks_apart(void) { return absent[0] != 0; }

/* Without the library a process alone goes on, and so does a command that rank 0 does by itself. */
static void go_on_apart(const char *reason)
{
    const char *size = first_told(told_sizes), *rank = first_told(told_ranks);
    end_ranks = NULL;
    if (size && strcmp(size, "1") == 0) return;
    told_rank = rank ? (size_t)strtoul(rank, NULL, 10) : 0;
    snprintf(absent, sizeof absent, "%s", reason ? reason : "it is incomplete");
}

/* mpirun gives rank 0 a terminal of its own, and passes on what comes there to a file, a pipe or a person. */
int cli_on_terminal(void) { return !started_as() && isatty(STDOUT_FILENO); }

/* ---- silence ------------------------------------------------------------------------------------------------------- */

static int put_aside(int descriptor, int sink)
{
    int kept = dup(descriptor);
    if (kept >= 0) fcntl(kept, F_SETFD, FD_CLOEXEC);
    dup2(sink, descriptor);
    return kept;
}

static void be_silent(void)
{
    int sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (sink < 0) return;
    own_stdout = put_aside(STDOUT_FILENO, sink);
    own_stderr = put_aside(STDERR_FILENO, sink);
    close(sink);
}

static void be_heard(void)
{
    fflush(stdout);
    if (own_stdout >= 0) dup2(own_stdout, STDOUT_FILENO);
    if (own_stderr >= 0) dup2(own_stderr, STDERR_FILENO);
}

/* ---- begin and end ------------------------------------------------------------------------------------------------- */

int cli_ranks_begin(void)
{
    begin_function begin = NULL;
    if (!started_as()) return BROAD_OK;
    void *library = open_library();
    int complete = library && find(&begin, library, "broad_mpi_tool_begin") &&
                   find(&end_ranks, library, "broad_mpi_tool_end") &&
                   find(&abort_ranks, library, "broad_mpi_tool_abort");
    if (!complete) {
        go_on_apart(dlerror());
        return BROAD_OK;
    }
    comm.size = sizeof comm;
    if (begin(&comm, &local)) {
        end_ranks = NULL;
        return cli_fail(BROAD_FAILED, "MPI could not be started");
    }
    if (comm.rank) be_silent();
    return BROAD_OK;
}

static void (*to_say)(void);

static void speak_aloud(void)
{
    be_heard();
    to_say();
    fflush(stdout);
    fflush(stderr);
}

int cli_ranks_end(int code, void (*speak)(void))
{
    int all = code;
    to_say = speak;
    if (!end_ranks) {
        /* Rank 0 says it for all, whom mpirun then ends. */
        const struct timespec patience = {(time_t)PATIENCE, 0};
        if (code && !(told_rank && nanosleep(&patience, NULL))) speak();
        return code;
    }
    size_t rank = comm.rank, ranks = comm.ranks;
    if (end_ranks(&all, &comm, code, PATIENCE, speak_aloud)) return all;
    be_heard();
    if (ranks > 1) fprintf(stderr, "broad: rank %zu of %zu has failed, and ends the others\n", rank, ranks);
    speak_aloud();
    abort_ranks(code);
    return code;
}

int cli_ranks_known(char *out, size_t bytes)
{
    const char *(*version)(void) = NULL;
    void *library = open_library();
    if (library && find(&version, library, "broad_mpi_tool_version")) {
        snprintf(out, bytes, "%s", version());
        return 1;
    }
    const char *reason = dlerror();
    snprintf(out, bytes, "%s", reason ? reason : "it is incomplete");
    return 0;
}

/* ---- together ------------------------------------------------------------------------------------------------------ */

size_t cli_ranks_threads(size_t asked)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (asked || cli_ranks() == 1 || sched_getaffinity(0, sizeof set, &set)) return asked;
    size_t allowed = (size_t)CPU_COUNT(&set);
    if (online > 0 && allowed < (size_t)online) return allowed; /* mpirun has given each rank its own */
    return allowed / local > 0 ? allowed / local : 1;
}

int cli_ranks_tell(void *bytes, size_t count)
{
    return cli_ranks() > 1 && comm.broadcast(comm.context, 0, bytes, count);
}

int cli_ranks_most(int own)
{
    int most = own, other = 0, failed = 0;
    if (cli_ranks() == 1) return own;
    for (size_t rank = 1; comm.rank == 0 && rank < comm.ranks; rank++) {
        failed |= comm.receive(comm.context, rank, &other, sizeof other);
        if (!failed && other > most) most = other;
    }
    if (comm.rank) failed |= comm.send(comm.context, 0, &own, sizeof own);
    failed |= comm.broadcast(comm.context, 0, &most, sizeof most);
    return failed ? own : most;
}
