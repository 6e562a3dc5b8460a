#include "broad/mpi.h"

#include <stdlib.h>
#include <string.h>

/* MPI counts in int. */
enum { PIECE = 1 << 30, TAG = 0 };

typedef struct ranks {
    MPI_Comm comm; /* a duplicate */
} ranks;

static int piece_of(size_t left) { return left < PIECE ? (int)left : PIECE; }

static int send_bytes(void *context, size_t to, const void *bytes, size_t count)
{
    const ranks *r = context;
    const char *at = bytes;
    for (size_t left = count; left > 0;) {
        int piece = piece_of(left);
        if (MPI_Send(at, piece, MPI_BYTE, (int)to, TAG, r->comm) != MPI_SUCCESS) return 1;
        at += piece;
        left -= (size_t)piece;
    }
    return 0;
}

static int receive_bytes(void *context, size_t from, void *bytes, size_t count)
{
    const ranks *r = context;
    char *at = bytes;
    for (size_t left = count; left > 0;) {
        int piece = piece_of(left);
        if (MPI_Recv(at, piece, MPI_BYTE, (int)from, TAG, r->comm, MPI_STATUS_IGNORE) != MPI_SUCCESS) return 1;
        at += piece;
        left -= (size_t)piece;
    }
    return 0;
}

static int broadcast_bytes(void *context, size_t from, void *bytes, size_t count)
{
    const ranks *r = context;
    char *at = bytes;
    for (size_t left = count; left > 0;) {
        int piece = piece_of(left);
        if (MPI_Bcast(at, piece, MPI_BYTE, (int)from, r->comm) != MPI_SUCCESS) return 1;
        at += piece;
        left -= (size_t)piece;
    }
    return 0;
}

int broad_mpi_open(broad_comm *out, MPI_Comm comm)
{
    int rank = 0, size = 1;
    if (!out) return BROAD_USAGE;
    memset(out, 0, sizeof *out);
    ranks *r = calloc(1, sizeof *r);
    if (!r) return BROAD_NO_MEMORY;
    if (MPI_Comm_dup(comm, &r->comm) != MPI_SUCCESS) {
        free(r);
        return BROAD_IO;
    }
    MPI_Comm_set_errhandler(r->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(r->comm, &rank);
    MPI_Comm_size(r->comm, &size);
    *out = (broad_comm){.size = sizeof *out,
                        .rank = (size_t)rank,
                        .ranks = (size_t)size,
                        .context = r,
                        .send = send_bytes,
                        .receive = receive_bytes,
                        .broadcast = broadcast_bytes};
    return BROAD_OK;
}

void broad_mpi_close(broad_comm *comm)
{
    ranks *r = comm ? comm->context : NULL;
    if (!r) return;
    MPI_Comm_free(&r->comm);
    free(r);
    memset(comm, 0, sizeof *comm);
}
