/*
 * Trains on arrays in memory, with progress and an allocator of its own; saves, loads, then learns further rows.
 *
 *   train_arrays MODEL
 *
 * Build: cc train_arrays.c $(pkg-config --cflags --libs broad) -o train_arrays
 */
#include <broad/broad.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 400, INPUTS = 2 };

/* An allocator: every block of the library goes through these. Blocks are counted here; a program might use a pool. */
static void *allocate(size_t bytes, void *context)
{
    void *block = malloc(bytes);
    if (block) __atomic_add_fetch((long *)context, 1, __ATOMIC_RELAXED); /* any thread may ask */
    return block;
}

static void release(void *block, void *context)
{
    if (block) __atomic_sub_fetch((long *)context, 1, __ATOMIC_RELAXED);
    free(block);
}

/* Called several times per second; anything but 0 stops the training, with a model that is complete and valid. */
static int show(const broad_progress *progress, void *context)
{
    (void)context;
    fprintf(stderr, "\r%3.0f %% %-16s", 100 * progress->part, progress->stage);
    return 0;
}

/* Points inside and outside of a ring. */
static void make_rows(double *x, const char **labels, unsigned seed)
{
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < INPUTS; j++) {
            seed = seed * 1664525u + 1013904223u;
            x[i * INPUTS + j] = (double)(seed >> 8) / (1 << 23) - 1;
        }
        double a = x[i * INPUTS], b = x[i * INPUTS + 1];
        labels[i] = a * a + b * b < 0.49 ? "inside" : "outside";
    }
}

static int make_data(broad_data **out, unsigned seed)
{
    double x[ROWS * INPUTS];
    const char *labels[ROWS];
    broad_arrays arrays;
    make_rows(x, labels, seed);
    broad_arrays_init(&arrays);
    arrays.rows = ROWS;
    arrays.inputs = INPUTS;
    arrays.x = x; /* copied, so that it may be on the stack */
    arrays.labels = labels;
    return broad_data_from_arrays(out, &arrays);
}

static int train(const char *path, const broad_data *data, const broad_options *options)
{
    broad_model *model = NULL;
    int status = broad_fit(&model, NULL, data, options);
    if (status == BROAD_OK) status = broad_model_save(model, path, BROAD_FILE_FULL);
    broad_model_free(model);
    return status;
}

/* Loads the model and learns further rows together with the old ones. */
static int learn(const char *path, const broad_data *old, const broad_data *more, const broad_options *options)
{
    broad_model *model = NULL, *grown = NULL;
    broad_trainer *trainer = NULL;
    broad_estimate estimate = {.size = sizeof estimate};
    int status = broad_model_load(&model, path);
    if (status == BROAD_OK) status = broad_trainer_resume(&trainer, model, old, options, BROAD_RESUME_CHECKED);
    if (status == BROAD_OK) status = broad_trainer_learn(trainer, more, 0, 0, BROAD_LEARN_ALL_ROWS);
    broad_trainer_close(&grown, trainer);
    if (status == BROAD_OK) status = broad_model_save(grown, path, BROAD_FILE_FULL);
    if (status == BROAD_OK) status = broad_model_estimate(&estimate, grown);
    if (status == BROAD_OK) printf("%zu rows, accuracy %.3f on new ones\n", broad_model_rows(grown), estimate.accuracy);
    broad_model_free(grown);
    broad_model_free(model);
    return status;
}

int main(int argc, char **argv)
{
    long blocks = 0;
    broad_data *data = NULL, *more = NULL;
    broad_options options;
    if (argc != 2) {
        fprintf(stderr, "usage: train_arrays MODEL\n");
        return EXIT_FAILURE;
    }
    broad_set_allocator(&(broad_allocator){allocate, release, &blocks}); /* before any other call */
    broad_options_init(&options);
    options.progress = show;
    int status = make_data(&data, 1);
    if (status == BROAD_OK) status = make_data(&more, 2);
    if (status == BROAD_OK) status = train(argv[1], data, &options);
    if (status == BROAD_OK) status = learn(argv[1], data, more, &options);
    if (status != BROAD_OK) fprintf(stderr, "train_arrays: %s\n", broad_error_message());
    broad_data_free(data);
    broad_data_free(more);
    printf("%ld blocks left\n", blocks);
    return status == BROAD_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
