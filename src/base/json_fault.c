#include "base/json_fault.h"

#include <string.h>

#include "base/memory.h"

char *broad__json_wrap(size_t *out_bytes, const void *text, size_t count)
{
    static const char open[] = "[\"", middle[] = "\",";
    size_t bytes = sizeof open - 1 + count + sizeof middle - 1 + count + 1;
    char *wrapped = broad__alloc(bytes);
    if (!wrapped) return NULL;
    char *next = wrapped;
    memcpy(next, open, sizeof open - 1);
    next += sizeof open - 1;
    memset(next, 'x', count);
    next += count;
    memcpy(next, middle, sizeof middle - 1);
    next += sizeof middle - 1;
    memcpy(next, text, count);
    next[count] = ']';
    *out_bytes = bytes;
    return wrapped;
}

/* Where jansson cannot copy a string, it calls it an invalid token, like any other; but those do not end in a quote, and
 * strings with a fault of their own have got another message first. */
int broad__json_fault_is_memory(const char *fault, int position, const char *text, size_t count)
{
    static const char *const unsaid[] = {"invalid token", "string or '}' expected"};
    if (!*fault) return 1;
    if (position < 1 || (size_t)position > count || text[position - 1] != '"') return 0;
    for (size_t i = 0; i < 2; i++)
        if (strncmp(fault, unsaid[i], strlen(unsaid[i])) == 0) return 1;
    return 0;
}
