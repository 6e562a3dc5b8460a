#include "base/enum_names.h"

#include <string.h>

int broad__enum_find(const char *choices, const char *word)
{
    size_t length = strlen(word);
    for (int i = 0; choices; i++) {
        const char *end = strchr(choices, '|');
        size_t have = end ? (size_t)(end - choices) : strlen(choices);
        if (have == length && memcmp(choices, word, length) == 0) return i;
        choices = end ? end + 1 : NULL;
    }
    return -1;
}

int broad__enum_count(const char *choices)
{
    int count = 1;
    for (; *choices; choices++) count += *choices == '|';
    return count;
}

void broad__enum_name(char out[BROAD__ENUM_BYTES], const char *choices, int value)
{
    for (int i = 0; choices && i < value; i++) {
        choices = strchr(choices, '|');
        if (choices) choices++;
    }
    if (!choices || value < 0) choices = "unknown";
    size_t length = strcspn(choices, "|");
    if (length >= BROAD__ENUM_BYTES) length = BROAD__ENUM_BYTES - 1;
    memcpy(out, choices, length);
    out[length] = 0;
}
