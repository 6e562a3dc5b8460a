#include "base/json_fault.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"

/* Behind the string that begins at i, with the quote that ends it, if there is one. */
static size_t string_end(const char *text, size_t i, size_t count)
{
    for (i++; i < count && text[i] != '"'; i++)
        if (text[i] == '\\') i++;
    return broad__min(i + 1, count);
}

/* Bytes of the longest string, or of what is between two of them: no token is longer. */
static size_t longest_token(const char *text, size_t count)
{
    size_t longest = 0, end;
    for (size_t i = 0; i < count; i = end) {
        const char *quote = text[i] == '"' ? NULL : memchr(text + i, '"', count - i);
        if (text[i] == '"') end = string_end(text, i, count);
        else end = quote ? (size_t)(quote - text) : count;
        longest = broad__max(longest, end - i);
    }
    return longest;
}

char *broad__json_wrap(size_t *out_bytes, size_t *out_first, const void *text, size_t count)
{
    static const char open[] = "[\"", middle[] = "\",";
    size_t first = longest_token(text, count), bytes = sizeof open - 1 + first + sizeof middle - 1 + count + 1;
    char *wrapped = broad__alloc(bytes);
    if (!wrapped) return NULL;
    char *next = wrapped;
    memcpy(next, open, sizeof open - 1);
    next += sizeof open - 1;
    memset(next, 'x', first);
    next += first;
    memcpy(next, middle, sizeof middle - 1);
    next += sizeof middle - 1;
    memcpy(next, text, count);
    next[count] = ']';
    *out_bytes = bytes;
    *out_first = first;
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
