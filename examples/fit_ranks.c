/* Several ranks of MPI train one network together: mpicc fit_ranks.c -lbroad -lbroad-mpi; mpirun -n 4 ./a.out TABLE.csv MODEL */
#include <stdio.h>

#include <broad/mpi.h>

static int train(const char *table, const char *path, const broad_comm *comm)
{
    broad_data *data = NULL;
    broad_model *model = NULL;
    broad_options options;
    broad_options_init(&options);
    options.comm = comm;
    options.threads = 1;
    int status = broad_data_read(&data, table, NULL); /* on every rank, the same rows */
    if (status == BROAD_OK) status = broad_fit(&model, NULL, data, &options);
    if (status == BROAD_OK && comm->rank == 0) status = broad_model_save(model, path, BROAD_FILE_FULL);
    if (status != BROAD_OK) fprintf(stderr, "rank %zu: %s\n", comm->rank, broad_error_message());
    broad_model_free(model);
    broad_data_free(data);
    return status;
}

int main(int count, char **words)
{
    broad_comm comm;
    int got = 0, status = BROAD_USAGE;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &got);
    if (count != 3) fprintf(stderr, "usage: %s TABLE.csv MODEL\n", words[0]);
    else status = broad_mpi_open(&comm, MPI_COMM_WORLD);
    if (status == BROAD_OK) {
        status = train(words[1], words[2], &comm);
        if (status != BROAD_OK) MPI_Abort(MPI_COMM_WORLD, -status); /* the others may be waiting for this one */
        broad_mpi_close(&comm);
    }
    MPI_Finalize();
    return status == BROAD_OK ? 0 : 1;
}
