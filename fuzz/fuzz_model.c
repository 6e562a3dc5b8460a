/*
 * The model reader on arbitrary bytes. The first byte chooses how the rest is taken, so that the checksums do not shield
 * what lies behind them:
 *   0 as a file, 1 as a file whose checksums are repaired first, 2 as the description inside a file without tensors.
 * What is read must be written again, and then (see depth.h) read and written to the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "depth.h"
#include "model_mutator.h"
#include "sample_model.h"
#include "store/container.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static void must(int status)
{
    if (status) abort();
}

static void try_bytes(const void *bytes, size_t count)
{
    broad_model *model = NULL, *second = NULL;
    void *once = NULL, *twice = NULL;
    size_t once_bytes = 0, twice_bytes = 0;
    if (broad__store_decode(&model, bytes, count)) {
        if (model) abort();
        return;
    }
    must(broad__store_encode(&once, &once_bytes, model, 0));
    if (fuzz_deep(bytes, count)) {
        must(broad__store_decode(&second, once, once_bytes));
        must(broad__store_encode(&twice, &twice_bytes, second, 0));
        if (once_bytes != twice_bytes || memcmp(once, twice, once_bytes) != 0) abort();
    }
    broad__free(once);
    broad__free(twice);
    broad_model_free(model);
    broad_model_free(second);
}

static void try_description(const uint8_t *data, size_t size)
{
    void *bytes = NULL;
    size_t count = 0;
    char *text = broad__copy_bytes((const char *)data, size);
    if (broad__container_encode(&bytes, &count, "drawn", text, NULL, 0) == BROAD_OK) try_bytes(bytes, count);
    broad__free(bytes);
    broad__free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    int form = data[0] % 3;
    data++;
    size--;
    if (form == 2) {
        try_description(data, size);
        return 0;
    }
    unsigned char *bytes = malloc(size + !size);
    memcpy(bytes, data, size);
    if (form == 1) sample_repair(bytes, size);
    try_bytes(bytes, size);
    free(bytes);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size_t made = seed % 8 && size && data[0] % 3 < 2 ? fuzz_mutate_model(data, size, max_size, seed) : 0;
    return made ? made : LLVMFuzzerMutate(data, size, max_size);
}
