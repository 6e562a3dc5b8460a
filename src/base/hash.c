#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"

struct broad__hash {
    XXH3_state_t state;
};

static void hash_print(char out[BROAD__HASH_TEXT], XXH128_hash_t value)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        out[i] = digits[(value.high64 >> (60 - 4 * i)) & 15];
        out[16 + i] = digits[(value.low64 >> (60 - 4 * i)) & 15];
    }
    out[32] = 0;
}

void broad__hash_text(char out[BROAD__HASH_TEXT], const void *bytes, size_t count)
{
    hash_print(out, XXH3_128bits(bytes, count));
}

uint64_t broad__hash_number(const void *bytes, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, count, seed);
}

broad__hash *broad__hash_open(void)
{
    broad__hash *hash = broad__alloc(sizeof *hash);
    if (hash) XXH3_128bits_reset(&hash->state);
    return hash;
}

void broad__hash_add(broad__hash *hash, const void *bytes, size_t count)
{
    XXH3_128bits_update(&hash->state, bytes, count);
}

void *broad__hash_state(broad__hash *hash, size_t *out_bytes)
{
    *out_bytes = sizeof hash->state;
    return &hash->state;
}

/* The state points to the secret, which lies elsewhere in each process. */
void broad__hash_resume(broad__hash *hash)
{
    XXH3_state_t here;
    XXH3_128bits_reset(&here);
    hash->state.extSecret = here.extSecret;
}

void broad__hash_close(char out[BROAD__HASH_TEXT], broad__hash *hash)
{
    if (out) hash_print(out, XXH3_128bits_digest(&hash->state));
    broad__free(hash);
}
