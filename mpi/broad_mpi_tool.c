/* What the tool needs to run as one rank of several: it loads this library by name, and knows nothing of MPI itself. */
#include "broad_mpi_tool.h"

#include <time.h>

#include "broad/mpi.h"

static MPI_Comm last = MPI_COMM_NULL; /* for the messages of the end, which may come at any moment */

const char *broad_mpi_tool_version(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    for (char *at = text; *at; at++)
        if (*at == ',' || *at == '\n') *at = 0; /* what follows is where and how it was built */
    return text;
}

int broad_mpi_tool_begin(broad_comm *out, size_t *out_local)
{
    int got = 0, local = 1;
    MPI_Comm node = MPI_COMM_NULL;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &got) != MPI_SUCCESS) return BROAD_IO;
    int status = broad_mpi_open(out, MPI_COMM_WORLD);
    if (status != BROAD_OK) return status;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &last) != MPI_SUCCESS) return BROAD_IO;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        MPI_Comm_size(node, &local);
        MPI_Comm_free(&node);
    }
    *out_local = (size_t)local;
    return BROAD_OK;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Without keeping a processor busy that another rank may need. */
static void rest(void)
{
    const struct timespec moment = {0, 2000000};
    nanosleep(&moment, NULL);
}

int broad_mpi_tool_end(int *out_code, broad_comm *comm, int code, double patience, void (*speak)(void))
{
    int own[2] = {code, code ? -(int)comm->rank : -(int)comm->ranks}, all[2] = {0}, done = 0;
    MPI_Request request;
    double until = now() + patience;
    /* The largest code, and the lowest rank that has one. */
    if (MPI_Iallreduce(own, all, 2, MPI_INT, MPI_MAX, last, &request) != MPI_SUCCESS) return 0;
    for (;;) {
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return 0;
        if (done || (code && now() >= until)) break;
        rest();
    }
    if (!done) return 0;
    *out_code = all[0];
    /* The first process that ends with a code makes mpirun end the others: not before one of them has spoken. */
    if (all[0] && (size_t)-all[1] == comm->rank) speak();
    MPI_Barrier(last);
    broad_mpi_close(comm);
    MPI_Comm_free(&last);
    MPI_Finalize();
    return 1;
}

void broad_mpi_tool_abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }
