#include "export/draft.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

void broad__draft_bytes(broad__draft *draft, const void *bytes, size_t count)
{
    if (draft->status) return;
    draft->status = broad__grow(&draft->bytes, &draft->capacity, draft->count + count + 1, 1, SIZE_MAX / 4);
    if (draft->status) return;
    if (count) memcpy(draft->bytes + draft->count, bytes, count);
    draft->count += count;
    draft->bytes[draft->count] = 0;
}

void broad__draft_text(broad__draft *draft, const char *text) { broad__draft_bytes(draft, text, strlen(text)); }

void broad__draft_print(broad__draft *draft, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof text) broad__draft_bytes(draft, text, (size_t)length);
    else if (!draft->status) draft->status = broad__fail(BROAD_BUG, "a line of the exported file is too long");
}

void broad__draft_clear(broad__draft *draft)
{
    broad__free(draft->bytes);
    *draft = (broad__draft){0};
}

int broad__draft_give(void **out, size_t *out_bytes, broad__draft *draft)
{
    broad__draft_bytes(draft, "", 0);
    int status = draft->status;
    if (!status) {
        *out = draft->bytes;
        *out_bytes = draft->count;
        draft->bytes = NULL;
    }
    broad__draft_clear(draft);
    return status;
}
