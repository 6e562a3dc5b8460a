/*
 * Entries of the cache of prepared photos. The first byte chooses how the rest is taken: 0 as an entry, 1 as one whose seal is repaired
 * first, 2 the same, with the numbers of its head made to agree with its length, which is cut to whole rows. What is taken has the rows and inputs that its head
 * names, and is written and taken again as it is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "data/photo/photos_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where the parts of an entry are: the seal and its padding, then maps, rows and inputs. */
enum { SEAL = BROAD__HASH_TEXT + 7, NUMBERS = 3, SIDE = 8 };

static void must(int holds)
{
    if (!holds) abort();
}

/* As many rows as the bytes behind the head hold. The size of that. */
static size_t agree(unsigned char *bytes, size_t size)
{
    static size_t empty; /* bytes of an entry without rows */
    if (!empty) {
        float inputs[3 * SIDE * SIDE] = {0};
        broad__photo_part part = {0};
        broad__prepared one = {.maps = BROAD_PHOTO_MAP_PIXELS, .rows = 1, .parts = &part, .inputs = inputs};
        broad__photo_spec spec = {.maps = one.maps, .side = SIDE};
        must(broad__photo_inputs(&spec) * sizeof(float) <= sizeof inputs);
        broad__free(broad__photo_entry_encode(&empty, &one, SIDE));
        empty -= sizeof part + broad__photo_inputs(&spec) * sizeof(float);
    }
    uint64_t numbers[NUMBERS];
    if (size < empty) return size;
    memcpy(numbers, bytes + SEAL, sizeof numbers);
    broad__photo_spec spec = {.maps = (size_t)numbers[0], .side = SIDE};
    if (!spec.maps || spec.maps > BROAD_PHOTO_MAP_ALL) return size;
    numbers[2] = broad__photo_inputs(&spec);
    size_t row = sizeof(broad__photo_part) + (size_t)numbers[2] * sizeof(float);
    numbers[1] = (size - empty) / row;
    memcpy(bytes + SEAL, numbers, sizeof numbers);
    return empty + (size_t)numbers[1] * row;
}

static void seal(unsigned char *bytes, size_t size)
{
    char text[BROAD__HASH_TEXT];
    if (size < SEAL) return;
    broad__hash_text(text, bytes + SEAL, size - SEAL);
    memcpy(bytes, text, sizeof text);
}

static void check(const broad__prepared *prepared)
{
    broad__photo_spec spec = {.maps = prepared->maps, .side = SIDE};
    size_t inputs = broad__photo_inputs(&spec), ones = 0;
    must(prepared->rows && prepared->parts && prepared->inputs && !prepared->facts.file && !prepared->facts.name);
    must(memchr(prepared->facts.time, 0, sizeof prepared->facts.time) != NULL);
    for (size_t i = 0; i < prepared->rows; i++) ones += prepared->parts[i].copy == 1; /* all of them are there */
    for (size_t i = 0; i < prepared->rows * inputs; i++) ones += prepared->inputs[i] == 1;
    must(ones <= prepared->rows * (inputs + 1));
}

static void try_entry(const unsigned char *bytes, size_t size)
{
    broad__prepared first, second;
    size_t once_bytes = 0, twice_bytes = 0;
    must(broad__photo_entry_decode(&first, bytes, size, SIDE) == BROAD_OK);
    if (!first.maps) return;
    check(&first);
    void *once = broad__photo_entry_encode(&once_bytes, &first, SIDE);
    must(once && once_bytes == size && broad__photo_entry_decode(&second, once, once_bytes, SIDE) == BROAD_OK);
    must(second.maps == first.maps && second.rows == first.rows);
    void *twice = broad__photo_entry_encode(&twice_bytes, &second, SIDE);
    must(twice && twice_bytes == once_bytes && memcmp(once, twice, once_bytes) == 0);
    broad__free(once);
    broad__free(twice);
    broad__prepared_clear(&first);
    broad__prepared_clear(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    unsigned char *bytes = malloc(size);
    size_t count = size - 1;
    memcpy(bytes, data + 1, count);
    if (data[0] % 3 == 2) count = agree(bytes, count);
    if (data[0] % 3) seal(bytes, count);
    try_entry(bytes, count);
    free(bytes);
    return 0;
}
