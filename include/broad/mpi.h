/*
 * Ranks of MPI for libbroad: what a broad_comm (broad.h) needs, by messages of MPI. A library of its own, libbroad-mpi, and
 * the only one that is linked with MPI.
 *
 *   broad_comm comm;
 *   broad_options options;
 *   MPI_Init(&argc, &argv);
 *   broad_mpi_open(&comm, MPI_COMM_WORLD);
 *   broad_options_init(&options);
 *   options.comm = &comm;
 *   broad_fit(&model, NULL, data, &options);      on all ranks, with the same data and options
 *   if (comm.rank == 0) broad_model_save(model, "model.broad", BROAD_FILE_FULL);
 *   broad_mpi_close(&comm);
 *   MPI_Finalize();
 *
 * Threads of the library do not call MPI: MPI_THREAD_FUNNELED is enough, with the thread that makes the calls.
 */
#ifndef BROAD_MPI_H
#define BROAD_MPI_H

#include <mpi.h>

#include "broad/broad.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in a broad_comm for the processes of `comm`, which is duplicated, so that messages do not meet those of the program.
 * Called by all of them, after MPI_Init(). BROAD_IO: MPI has failed. */
BROAD_API int broad_mpi_open(broad_comm *out, MPI_Comm comm);
/* Before MPI_Finalize(), by all of them; no trainer may use it any longer. Accepts one that was not opened. */
BROAD_API void broad_mpi_close(broad_comm *comm);

#ifdef __cplusplus
}
#endif

#endif
