#ifndef BROAD_MPI_TOOL_H
#define BROAD_MPI_TOOL_H

#include "broad/broad.h"

/* One line; MPI need not have been started. */
BROAD_API const char *broad_mpi_tool_version(void);
/* Starts MPI. *out_local: ranks on this machine. */
BROAD_API int broad_mpi_tool_begin(broad_comm *out, size_t *out_local);
/* This rank ends with this exit code; a rank that has failed waits so many seconds for the others to end too, any other as
 * long as it takes. 1: all have ended, with *out_code, the first that failed has spoken, and MPI has ended. 0: this rank
 * alone has failed. */
BROAD_API int broad_mpi_tool_end(int *out_code, broad_comm *comm, int code, double patience, void (*speak)(void));
/* Ends all ranks now. */
BROAD_API void broad_mpi_tool_abort(int code);

#endif
