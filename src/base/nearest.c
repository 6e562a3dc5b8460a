#include "base/nearest.h"

#include <string.h>
#include <strings.h>

#include "base/common.h"

enum { WORD_MAX = BROAD__NEAREST_BYTES - 1 };

/* Edits (insert, delete, replace, swap of neighbours) from one word to another: Damerau's distance, restricted. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][BROAD__NEAREST_BYTES];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > WORD_MAX || b_length > WORD_MAX) return WORD_MAX;
    for (size_t j = 0; j <= b_length; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = broad__min(above[j - 1] + (a[i - 1] != b[j - 1]), broad__min(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = broad__min(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *broad__nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word);
    size_t best = length / 3 + 2;
    const char *nearest = NULL;
    if (!length) return NULL;
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(word, candidates[i]) == 0) return candidates[i];
    if (length == 1) return NULL; /* every letter is near to every other */
    for (size_t i = 0; i < count; i++) {
        size_t edits = distance(word, candidates[i]);
        if (length >= 3 && strncmp(word, candidates[i], length) == 0) edits = 1;
        if (edits < best) {
            best = edits;
            nearest = candidates[i];
        }
    }
    return nearest;
}
