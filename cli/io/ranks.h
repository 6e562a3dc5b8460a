/*
 * The tool as one rank of several, as `mpirun -n 4 broad fit ...` starts it.
 *
 * Every rank runs the command; rank 0 alone prints and writes. MPI is loaded by name, so that the tool needs it only
 * there. When the tool ends, the ranks tell each other how: if all of them failed, the first says why; one that failed
 * while the others work says so itself, and ends them.
 */
#ifndef BROAD_CLI_IO_RANKS_H
#define BROAD_CLI_IO_RANKS_H

#include "broad/broad.h"

/* Once, when the tool starts. */
int cli_ranks_begin(void);
/* Once, with the exit code; returns the one that all ranks have. speak() prints the reason of a failure, where this rank is
 * the one to do so. */
int cli_ranks_end(int code, void (*speak)(void));

/* What there is: whether libbroad-mpi can be loaded, with the version of MPI in `out`, or why not. */
int cli_ranks_known(char *out, size_t bytes);

size_t cli_rank(void);
/* The command is one that the ranks run together; before that, and without it, each is alone. Fails where libbroad-mpi, which
 * connects them, is absent. */
int cli_ranks_join(void);
int cli_ranks_apart(void);              /* this process is one of several, and cannot reach the others */
int cli_ranks_begun(void);              /* MPI was started, with one rank or with several */
size_t cli_ranks_started(void);         /* whether or not they run the command together */
size_t cli_ranks_here(void);            /* of these, on this machine */
size_t cli_ranks(void);                 /* 1: this process alone */
const broad_comm *cli_comm(void);       /* NULL: likewise */
int cli_writes(void);                   /* whether files are this rank's to write */
int cli_on_terminal(void);              /* whether standard output is one, and not what mpirun passes on */
size_t cli_ranks_threads(size_t asked); /* 0 asked: this rank's share of the processors of its machine */
/* What rank 0 has there comes to all. All ranks call it; not 0: it is lost. */
int cli_ranks_tell(void *bytes, size_t count);
/* The largest of all ranks' numbers, none of which is negative. All ranks call it; none goes on before all have. */
int cli_ranks_most(int own);

#endif
