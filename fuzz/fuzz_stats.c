/*
 * The sums beside a model (MODEL.stats). The first byte chooses how the rest is taken: 0 as a file, 1 as a file whose checksums are
 * repaired first, 2 the same, and said to belong to the current model. What is read is written, and read again, to the same bytes;
 * learning with it gives a network that can be saved, or a reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "broad/broad.h"
#include "depth.h"
#include "model/train/stats.h"
#include "model_mutator.h"
#include "sample_model.h"
#include "store/store.h"
#include "store/store_stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

enum { ROWS = 6, COLUMNS = 2, HASH_LETTERS = 32 };

static void must(int holds)
{
    if (!holds) abort();
}

static int sound(int status) { return status == BROAD_OK || (status != BROAD_BUG && broad_error_message()[0]); }

/* ---- the model that sums are said to belong to: that of stats_seeds() in seeds.py ---- */

static broad_data *training, *further;

static broad_data *make_table(const double x[ROWS * COLUMNS])
{
    static const char *const labels[ROWS] = {"u", "v", "u", "v", "u", "v"};
    broad_data *data = NULL;
    broad_arrays arrays;
    broad_arrays_init_sized(&arrays, sizeof arrays);
    arrays.rows = ROWS;
    arrays.inputs = COLUMNS;
    arrays.x = x;
    arrays.labels = labels;
    must(broad_data_from_arrays(&data, &arrays) == BROAD_OK);
    return data;
}

static broad_model *make_model(void)
{
    static const double x[2][ROWS * COLUMNS] = {{1, 2, 2, 3, 4, 4, 1, 5, 3, 3, 2, 2},
                                                {2, 1, 3, 2, 1, 4, 5, 1, 3, 4, 2, 5}};
    static const char *const settings[][2] = {
        {"preset", "paper"}, {"kind", "brls"}, {"features", "1x2"}, {"enhance", "2x2"}, {"threads", "1"}};
    broad_options options;
    broad_model *model = NULL;
    training = make_table(x[0]);
    further = make_table(x[1]);
    broad_options_init_sized(&options, sizeof options);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        must(broad_options_set(&options, settings[i][0], settings[i][1]) == BROAD_OK);
    must(broad_fit(&model, NULL, training, &options) == BROAD_OK);
    return model;
}

/* ---- sums ---- */

/* The hash in the description, quoted as it is inside the header, becomes the model's. */
static void adopt(unsigned char *bytes, size_t size, const char hash[HASH_LETTERS + 1])
{
    static const char before[] = "\\\"model\\\":\\\"";
    unsigned char *at = memmem(bytes, size, before, sizeof before - 1);
    if (at && (size_t)(bytes + size - at) >= sizeof before + HASH_LETTERS)
        memcpy(at + sizeof before - 1, hash, HASH_LETTERS);
}

/* The network that learns from them can be saved: its numbers are finite. */
static void try_learning(broad_stats *stats, const broad_model *model)
{
    broad_model *copy = NULL;
    void *bytes = NULL;
    size_t count = 0;
    must(broad__model_copy(&copy, model) == BROAD_OK);
    int status = broad__stats_learn(stats, copy, further, 1);
    must(sound(status));
    if (!status) must(broad__store_encode(&bytes, &count, copy, 0) == BROAD_OK);
    broad__free(bytes);
    broad_model_free(copy);
}

static void try_bytes(const unsigned char *bytes, size_t size, const broad_model *model)
{
    broad_stats *stats = NULL, *again = NULL;
    void *once = NULL, *twice = NULL;
    size_t once_bytes = 0, twice_bytes = 0;
    int status = broad__stats_decode(&stats, bytes, size, model);
    must(sound(status) && !stats == (status != BROAD_OK));
    if (status) return;
    must(broad_stats_rows(stats) == ROWS);
    must(broad__stats_encode(&once, &once_bytes, stats) == BROAD_OK);
    must(broad__stats_decode(&again, once, once_bytes, model) == BROAD_OK);
    must(broad__stats_encode(&twice, &twice_bytes, again) == BROAD_OK);
    must(once_bytes == twice_bytes && memcmp(once, twice, once_bytes) == 0);
    if (fuzz_deep(bytes, size)) try_learning(stats, model);
    broad__free(once);
    broad__free(twice);
    broad__stats_free(stats);
    broad__stats_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static broad_model *model;
    static char hash[HASH_LETTERS + 1];
    if (!model) {
        broad_stats *own = NULL;
        model = make_model();
        must(broad__stats_new(&own, model, training, 1) == BROAD_OK);
        memcpy(hash, own->model, sizeof hash);
        broad_stats_free(own);
    }
    if (size < 1) return 0;
    unsigned char *bytes = malloc(size);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] % 3 == 2) adopt(bytes, size - 1, hash);
    if (data[0] % 3) sample_repair(bytes, size - 1);
    try_bytes(bytes, size - 1, model);
    free(bytes);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size_t made = seed % 8 && size ? fuzz_mutate_model(data, size, max_size, seed) : 0;
    return made ? made : LLVMFuzzerMutate(data, size, max_size);
}
