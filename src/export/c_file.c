#include "export/c_file.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/real_text.h"
#include "base/status.h"

enum { LINE_MOST = 110, STRING_MOST = 4095 /* that every compiler of C99 takes */ };

int broad__c_file_begin(broad__c_file *out, const char *name, broad_export_precision precision)
{
    size_t length = strlen(name);
    int good = length > 0 && length <= BROAD__C_NAME_MOST && !isdigit((unsigned char)name[0]);
    *out = (broad__c_file){.name = name, .precision = precision, .nodes = ""};
    for (size_t i = 0; good && i < length; i++) {
        good = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
               (name[i] >= '0' && name[i] <= '9') || name[i] == '_';
        out->upper[i] = (char)toupper((unsigned char)name[i]);
    }
    if (good) return BROAD_OK;
    return broad__fail(BROAD_USAGE,
                       "'%.60s' cannot begin names of C; option name takes 1 to %d letters, digits and underscores, "
                       "the first one no digit",
                       name, BROAD__C_NAME_MOST);
}

size_t broad__c_real_bytes(const broad__c_file *file)
{
    return file->precision == BROAD_EXPORT_DOUBLE ? sizeof(double) : sizeof(float);
}

/* ---- code ------------------------------------------------------------------------------------------------------ */

static const char *stands_for(const broad__c_file *file, char mark)
{
    return mark == '@' ? file->name : mark == '$' ? file->upper : file->nodes;
}

void broad__c_code(broad__c_file *file, const char *template_text)
{
    while (*template_text) {
        size_t plain = strcspn(template_text, "@$`");
        broad__draft_bytes(&file->draft, template_text, plain);
        template_text += plain;
        if (!*template_text) break;
        char mark = *template_text++;
        broad__draft_text(&file->draft, stands_for(file, mark));
        if (mark != '`') broad__draft_text(&file->draft, "_");
    }
}

void broad__c_count(broad__c_file *file, const char *name, size_t value)
{
    broad__draft_print(&file->draft, "enum { %s_%s = %zu };\n", file->upper, name, value);
}

void broad__c_string(broad__c_file *file, const char *text)
{
    if (strlen(text) > STRING_MOST && !file->draft.status)
        file->draft.status =
            broad__fail(BROAD_BAD_MODEL,
                        "the name '%.60s...' is longer than the %d characters that a string of C99 can "
                        "have; rename it and fit again",
                        text, STRING_MOST);
    broad__draft_text(&file->draft, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c >= 0x7F || c == '"' || c == '\\' || c == '?') broad__draft_print(&file->draft, "\\%03o", c);
        else broad__draft_bytes(&file->draft, text, 1);
    }
    broad__draft_text(&file->draft, "\"");
}

/* ---- numbers --------------------------------------------------------------------------------------------------- */

/* The shortest text that reads back as the same number of single precision. */
static size_t single_text(char out[BROAD__REAL_BYTES], float value)
{
    size_t length = 0;
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(out, BROAD__REAL_BYTES, "%.*g", digits, (double)value);
        int same = strtof(out, NULL) == value;
        length = broad__plain_point(out);
        if (same) break;
    }
    if (memchr(out, '.', length) || memchr(out, 'e', length)) out[length++] = 'F';
    return length;
}

static size_t real_text(char out[BROAD__REAL_BYTES], const broad__c_file *file, double value)
{
    if (file->precision == BROAD_EXPORT_DOUBLE) return broad__real_text(out, value);
    return single_text(out, (float)fmin(fmax(value, -(double)FLT_MAX), (double)FLT_MAX));
}

void broad__c_real(broad__c_file *file, double value)
{
    char text[BROAD__REAL_BYTES];
    broad__draft_bytes(&file->draft, text, real_text(text, file, value));
}

/* ---- tables ---------------------------------------------------------------------------------------------------- */

/* A table on its way: elements are put one after the other, as many on a line as fit. */
typedef struct table {
    broad__c_file *file;
    size_t column;
} table;

static table open_table(broad__c_file *file, const char *type, const char *name, size_t count, size_t element_bytes)
{
    count += count == 0;
    broad__draft_text(&file->draft, "static const ");
    broad__c_code(file, type);
    broad__draft_print(&file->draft, " %s_", file->name);
    broad__c_code(file, name);
    broad__draft_print(&file->draft, "[%zu] = {\n   ", count);
    file->table_bytes += count * element_bytes;
    return (table){file, 3};
}

static void put_element(table *to, const char *text, size_t length)
{
    broad__draft *draft = &to->file->draft;
    if (to->column + length + 2 > LINE_MOST) {
        broad__draft_text(draft, "\n   ");
        to->column = 3;
    }
    broad__draft_bytes(draft, " ", 1);
    broad__draft_bytes(draft, text, length);
    broad__draft_bytes(draft, ",", 1);
    to->column += length + 2;
}

static void close_table(table *to, size_t count)
{
    if (!count) put_element(to, "0", 1);
    broad__draft_text(&to->file->draft, "\n};\n");
}

void broad__c_reals(broad__c_file *file, const char *name, const double *values, size_t count)
{
    char text[BROAD__REAL_BYTES];
    table to = open_table(file, "@real", name, count, broad__c_real_bytes(file));
    for (size_t i = 0; i < count; i++) put_element(&to, text, real_text(text, file, values[i]));
    close_table(&to, count);
}

void broad__c_sizes(broad__c_file *file, const char *name, const size_t *values, size_t count)
{
    char text[24];
    size_t most = 0;
    for (size_t i = 0; i < count; i++) most = values[i] > most ? values[i] : most;
    size_t bytes = most < 0x100 ? 1 : most < 0x10000 ? 2 : 4;
    const char *type = bytes == 1 ? "uint8_t" : bytes == 2 ? "uint16_t" : "uint32_t";
    table to = open_table(file, type, name, count, bytes);
    for (size_t i = 0; i < count; i++) put_element(&to, text, (size_t)snprintf(text, sizeof text, "%zu", values[i]));
    close_table(&to, count);
}

void broad__c_bytes(broad__c_file *file, const char *name, const signed char *values, size_t count)
{
    char text[8];
    table to = open_table(file, "int8_t", name, count, 1);
    for (size_t i = 0; i < count; i++) put_element(&to, text, (size_t)snprintf(text, sizeof text, "%d", values[i]));
    close_table(&to, count);
}
