#include "data/normal_class.h"

#include <string.h>

#include "base/memory.h"
#include "base/page_cursor.h"

enum { NAME_BYTES = 64 };

static const char *const words[] = {"clean",     "ok",        "okay",  "good",       "normal",   "healthy", "intact",
                                    "none",      "undamaged", "fine",  "nominal",    "nodefect", "nofault", "nodamage",
                                    "faultless", "benign",    "legit", "legitimate", "pass",     "passed",  "negative"};
/* These mean it of two classes only. */
static const char *const answers[] = {"no", "false", "0", "n", "f"};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static int is_gap(char c) { return c == ' ' || c == '-' || c == '_' || c == '.' || c == '\t'; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Small letters, each gap as one blank, none at the ends. "" for a name that is too long to be one of these. */
static void simplify(char out[NAME_BYTES], const char *name)
{
    size_t used = 0;
    out[0] = 0;
    if (strlen(name) >= NAME_BYTES) return;
    for (; *name; name++) {
        if (!is_gap(*name)) out[used++] = lower(*name);
        else if (used && out[used - 1] != ' ') out[used++] = ' ';
    }
    while (used && out[used - 1] == ' ') used--;
    out[used] = 0;
}

static int is_one_of(const char *text, size_t length, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == length && memcmp(list[i], text, length) == 0) return 1;
    return 0;
}

static int is_word(const char *text, size_t length) { return is_one_of(text, length, words, COUNT_OF(words)); }

/* "ok", "O.K.", "un-damaged" */
static int is_exact(const char *name, size_t classes)
{
    char joined[NAME_BYTES];
    size_t used = 0;
    for (; *name; name++)
        if (*name != ' ') joined[used++] = *name;
    return is_word(joined, used) || (classes == 2 && is_one_of(joined, used, answers, COUNT_OF(answers)));
}

/* "no damage", "non defective", but not "no good" */
static int is_denial(const char *name, size_t classes)
{
    static const char *const denials[] = {"no ", "non ", "without "};
    (void)classes;
    for (size_t i = 0; i < COUNT_OF(denials); i++) {
        size_t length = strlen(denials[i]);
        if (strncmp(name, denials[i], length) == 0) return !is_word(name + length, strlen(name + length));
    }
    return 0;
}

/* "panel clean", but not "not clean" */
static int has_word(const char *name, size_t classes)
{
    static const char *const negations[] = {"not", "no", "non", "never", "un"};
    int found = 0;
    (void)classes;
    while (*name) {
        size_t length = strcspn(name, " ");
        if (is_one_of(name, length, negations, COUNT_OF(negations))) return 0;
        found |= is_word(name, length);
        name += length + (name[length] == ' ');
    }
    return found;
}

int broad__normal_by_name(char *const *names, size_t count)
{
    static int (*const tells[])(const char *, size_t) = {is_exact, is_denial, has_word};
    for (size_t rule = 0; rule < COUNT_OF(tells); rule++) {
        int found = BROAD__NO_CLASS;
        size_t matches = 0;
        for (size_t i = 0; i < count; i++) {
            char name[NAME_BYTES];
            simplify(name, names[i]);
            if (!tells[rule](name, count)) continue;
            if (!matches++) found = (int)i;
        }
        if (matches == 1) return found;
        if (matches) return tells[rule] == is_exact ? found : BROAD__NO_CLASS;
    }
    return BROAD__NO_CLASS;
}

int broad__normal_by_rows(size_t *out, const broad_data *data)
{
    size_t *rows = broad__alloc_array(data->outputs, sizeof *rows);
    *out = 0;
    if (!rows) return BROAD_NO_MEMORY;
    broad__page_cursor read = {0};
    for (size_t i = 0; i < data->rows; i++) {
        rows[data->classes[i]]++;
        broad__page_cursor_step(&read, data->spill, &data->classes[i], sizeof *data->classes);
    }
    for (size_t c = 1; c < data->outputs; c++)
        if (rows[c] > rows[*out]) *out = c;
    broad__free(rows);
    return BROAD_OK;
}
