#include "rng/philox.h"

#include "base/vector.h"
#include "rng/philox_batch.h"

void broad__philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        uint32_t n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c0 = n0;
        c1 = (uint32_t)p1;
        c2 = n2;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static void random_block(double out[2], const broad__stream *stream, uint64_t block)
{
    uint32_t counter[4] = {(uint32_t)block, stream->layer, (uint32_t)stream->step << 16 | stream->draw,
                           (uint32_t)stream->purpose << 24 | ((uint32_t)(block >> 32) & 0xFFFFFFu)};
    uint32_t key[2] = {(uint32_t)stream->seed, (uint32_t)(stream->seed >> 32)};
    uint32_t word[4];
    broad__philox(word, counter, key);
    for (int i = 0; i < 2; i++) {
        uint64_t bits = (uint64_t)word[2 * i + 1] << 32 | word[2 * i];
        out[i] = (double)(bits >> 11) * 0x1p-53;
    }
}

double broad__random_at(const broad__stream *stream, uint64_t element)
{
    double pair[2];
    random_block(pair, stream, element / 2);
    return pair[element % 2];
}

static void random_batch(double *even, double *odd, const broad__stream *stream, uint64_t block)
{
#if defined(__x86_64__)
    switch (broad__vector_best()) {
    case BROAD__VECTOR_AVX512: broad__random_batch_avx512(even, odd, stream, block); return;
    case BROAD__VECTOR_AVX2: broad__random_batch_avx2(even, odd, stream, block); return;
    case BROAD__VECTOR_PLAIN: break;
    }
#endif
    broad__random_batch_plain(even, odd, stream, block);
}

/* By batches while they are worth it, the first of which may begin with the number before. */
void broad__random_fill(double *out, const broad__stream *stream, uint64_t first, size_t count)
{
    enum { WORTH = BROAD__BATCH / 2 };
    double even[BROAD__BATCH], odd[BROAD__BATCH];
    while (count >= WORTH) {
        random_batch(even, odd, stream, first / 2);
        size_t i = 0, part = 2 * BROAD__BATCH - first % 2 < count ? 2 * BROAD__BATCH - first % 2 : count;
        if (first % 2) out[i++] = odd[0];
        const double *next = even + first % 2, *second = odd + first % 2;
        for (; i + 2 <= part; i += 2) out[i] = *next++, out[i + 1] = *second++;
        if (i < part) out[i] = *next;
        out += part, first += part, count -= part;
    }
    for (size_t i = 0; i < count; i++) out[i] = broad__random_at(stream, first + i);
}
