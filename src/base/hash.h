/* XXH3: 128 bits as 32 lower-case hexadecimal digits, or 64 bits as a number. */
#ifndef BROAD_BASE_HASH_H
#define BROAD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { BROAD__HASH_TEXT = 33 };

void broad__hash_text(char out[BROAD__HASH_TEXT], const void *bytes, size_t count);
/* seed: 0, or the hash of what comes before. */
uint64_t broad__hash_number(const void *bytes, size_t count, uint64_t seed);

/* A hash fed piece by piece. */
typedef struct broad__hash broad__hash;
broad__hash *broad__hash_open(void); /* NULL: out of memory */
void broad__hash_add(broad__hash *hash, const void *bytes, size_t count);
/* Its state, which another process of this machine's kind can go on from after broad__hash_resume(). */
void *broad__hash_state(broad__hash *hash, size_t *out_bytes);
void broad__hash_resume(broad__hash *hash);
void broad__hash_close(char out[BROAD__HASH_TEXT], broad__hash *hash); /* frees it; out may be NULL */

#endif
