/*
 * The part of jansson that reading a model file needs, for a machine that has no jansson: values are parsed as RFC 8259 has them,
 * objects with a name twice are refused (JSON_REJECT_DUPLICATES, whatever the flags say), texts are UTF-8 without zeros.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { DEPTH_MOST = 200, NUMBER_MOST = 64, SLOTS_LEAST = 16 };

typedef struct entry {
    struct entry *next;  /* in the order of the text */
    struct entry *other; /* of the same slot */
    json_t *value;
    char key[];
} entry;

typedef struct value {
    json_t json;
    union {
        json_int_t integer;
        double real;
        struct {
            char *bytes;
            size_t length;
        } text;
        struct {
            json_t **items;
            size_t count, room;
        } array;
        struct {
            entry *first, *last, **slots;
            size_t count, slot_count;
        } object;
    };
} value;

static value *of(const json_t *json) { return (value *)(uintptr_t)json; }

static value *make(json_type type)
{
    value *fresh = calloc(1, sizeof *fresh);
    if (fresh) fresh->json = (json_t){type, 1};
    return fresh;
}

void json_delete(json_t *json)
{
    value *v = of(json);
    if (!v) return;
    if (json->type == JSON_STRING) free(v->text.bytes);
    for (size_t i = 0; json->type == JSON_ARRAY && i < v->array.count; i++) json_decref(v->array.items[i]);
    if (json->type == JSON_ARRAY) free(v->array.items);
    for (entry *e = json->type == JSON_OBJECT ? v->object.first : NULL, *next; e; e = next) {
        next = e->next;
        json_decref(e->value);
        free(e);
    }
    if (json->type == JSON_OBJECT) free(v->object.slots);
    free(v);
}

/* ---- objects --------------------------------------------------------------------------------------------------- */

static size_t hash_of(const char *key)
{
    uint32_t hash = 2166136261u;
    for (; *key; key++) hash = (hash ^ (unsigned char)*key) * 16777619u;
    return hash;
}

static entry **slot_of(const value *object, const char *key)
{
    return &object->object.slots[hash_of(key) & (object->object.slot_count - 1)];
}

static entry *find(const value *object, const char *key)
{
    if (!object->object.slots) return NULL;
    entry *e = *slot_of(object, key);
    while (e && strcmp(e->key, key) != 0) e = e->other;
    return e;
}

static int widen(value *object)
{
    size_t slots = object->object.slot_count ? 2 * object->object.slot_count : SLOTS_LEAST;
    entry **wider = calloc(slots, sizeof(entry *));
    if (!wider) return -1;
    free(object->object.slots);
    object->object.slots = wider;
    object->object.slot_count = slots;
    for (entry *e = object->object.first; e; e = e->next) {
        entry **slot = slot_of(object, e->key);
        e->other = *slot;
        *slot = e;
    }
    return 0;
}

/* Takes the value over, also where it fails. The key is new. */
static int add(value *object, const char *key, json_t *item)
{
    size_t bytes = strlen(key) + 1;
    entry *e = item ? malloc(sizeof *e + bytes) : NULL;
    if (!e || (object->object.count >= object->object.slot_count && widen(object) < 0)) {
        json_decref(item);
        free(e);
        return -1;
    }
    entry **slot = slot_of(object, key);
    *e = (entry){.value = item, .other = *slot};
    memcpy(e->key, key, bytes);
    *slot = e;
    if (object->object.last) object->object.last->next = e;
    else object->object.first = e;
    object->object.last = e;
    object->object.count++;
    return 0;
}

size_t json_object_size(const json_t *json) { return json_is_object(json) ? of(json)->object.count : 0; }

json_t *json_object_get(const json_t *json, const char *key)
{
    entry *e = json_is_object(json) && key ? find(of(json), key) : NULL;
    return e ? e->value : NULL;
}

int json_object_del(json_t *json, const char *key)
{
    entry *e = json_is_object(json) && key ? find(of(json), key) : NULL, *before = NULL;
    if (!e) return -1;
    value *object = of(json);
    entry **link = slot_of(object, key);
    while (*link != e) link = &(*link)->other;
    *link = e->other;
    if (object->object.first != e)
        for (before = object->object.first; before->next != e;) before = before->next;
    if (before) before->next = e->next;
    else object->object.first = e->next;
    if (object->object.last == e) object->object.last = before;
    object->object.count--;
    json_decref(e->value);
    free(e);
    return 0;
}

void *json_object_iter(json_t *json) { return json_is_object(json) ? of(json)->object.first : NULL; }
void *json_object_iter_next(json_t *json, void *iter) { return json && iter ? ((entry *)iter)->next : NULL; }
const char *json_object_iter_key(void *iter) { return iter ? ((entry *)iter)->key : NULL; }
json_t *json_object_iter_value(void *iter) { return iter ? ((entry *)iter)->value : NULL; }

void *json_object_key_to_iter(const char *key) { return key ? (void *)((uintptr_t)key - offsetof(entry, key)) : NULL; }

json_t *json_copy(json_t *json)
{
    value *copy = json_is_object(json) ? make(JSON_OBJECT) : NULL;
    for (entry *e = copy ? of(json)->object.first : NULL; e; e = e->next)
        if (add(copy, e->key, json_incref(e->value)) < 0) {
            json_delete(&copy->json);
            return NULL;
        }
    return copy ? &copy->json : NULL;
}

/* ---- other values ---------------------------------------------------------------------------------------------- */

size_t json_array_size(const json_t *json) { return json_is_array(json) ? of(json)->array.count : 0; }

json_t *json_array_get(const json_t *json, size_t index)
{
    return index < json_array_size(json) ? of(json)->array.items[index] : NULL;
}

const char *json_string_value(const json_t *json) { return json_is_string(json) ? of(json)->text.bytes : NULL; }
size_t json_string_length(const json_t *json) { return json_is_string(json) ? of(json)->text.length : 0; }
json_int_t json_integer_value(const json_t *json) { return json_is_integer(json) ? of(json)->integer : 0; }

double json_number_value(const json_t *json)
{
    return json_is_integer(json) ? (double)of(json)->integer : json_is_real(json) ? of(json)->real : 0;
}

/* ---- parsing --------------------------------------------------------------------------------------------------- */

typedef struct parser {
    const char *at, *end;
    size_t depth;
    const char *fault; /* the first one; NULL: none */
    int no_memory;
} parser;

static json_t *fault(parser *p, const char *text)
{
    if (!p->fault) p->fault = text;
    return NULL;
}

static json_t *lack(parser *p)
{
    p->no_memory = 1;
    return fault(p, "out of memory");
}

static int peek(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r')) p->at++;
    return p->at < p->end ? (unsigned char)*p->at : -1;
}

static int take(parser *p, int wanted)
{
    int found = peek(p) == wanted;
    p->at += found;
    return found;
}

/* Four digits; -1: they are not there. */
static long hex(parser *p)
{
    long number = 0;
    if (p->end - p->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int c = (unsigned char)*p->at++;
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit < 0) return -1;
        number = 16 * number + digit;
    }
    return number;
}

/* After \u; a pair of surrogates is one character. -1: it is none. */
static long escaped_character(parser *p)
{
    long high = hex(p);
    if (high < 0xD800 || high > 0xDFFF) return high;
    if (high > 0xDBFF || p->end - p->at < 6 || p->at[0] != '\\' || p->at[1] != 'u') return -1;
    p->at += 2;
    long low = hex(p);
    return low < 0xDC00 || low > 0xDFFF ? -1 : 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

static size_t put(char *out, long c)
{
    if (c < 0x80) return out[0] = (char)c, 1;
    if (c < 0x800) return out[0] = (char)(0xC0 | c >> 6), out[1] = (char)(0x80 | (c & 63)), 2;
    size_t n = c < 0x10000 ? 3 : 4;
    out[0] = (char)((n == 3 ? 0xE0 : 0xF0) | c >> 6 * (n - 1));
    for (size_t i = 1; i < n; i++) out[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 63));
    return n;
}

/* One character of a text; 0: a fault. */
static size_t character(char *out, parser *p)
{
    static const char marks[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (*p->at != '\\') {
        size_t n = (unsigned char)*p->at < 32 ? 0 : broad__utf8_length(p->at, (size_t)(p->end - p->at));
        memcpy(out, p->at, n);
        p->at += n;
        return n;
    }
    if (p->end - p->at < 2) return 0;
    const char *mark = p->at[1] ? strchr(marks, p->at[1]) : NULL;
    int by_number = p->at[1] == 'u';
    p->at += 2;
    if (mark) return out[0] = meant[mark - marks], 1;
    long c = by_number ? escaped_character(p) : -1;
    return c > 0 ? put(out, c) : 0;
}

/* The text up to the next quotation mark, the first of which has been taken: to be freed. NULL: a fault. */
static char *text(size_t *out_length, parser *p)
{
    size_t room = 0, length = 0;
    for (const char *c = p->at; c < p->end && *c != '"'; c++, room++)
        if (*c == '\\') c++, room++;
    char *out = malloc(room + 5);
    if (!out) return lack(p), NULL;
    while (p->at < p->end && *p->at != '"') {
        size_t n = character(out + length, p);
        if (!n) {
            free(out);
            return fault(p, "a text has a character that is not allowed"), NULL;
        }
        length += n;
    }
    if (p->at == p->end) {
        free(out);
        return fault(p, "a text does not end"), NULL;
    }
    p->at++;
    out[length] = 0;
    *out_length = length;
    return out;
}

static json_t *parse(parser *p);

static json_t *parse_text(parser *p)
{
    size_t length = 0;
    char *bytes = text(&length, p);
    if (!bytes) return NULL;
    value *v = make(JSON_STRING);
    if (!v) {
        free(bytes);
        return lack(p);
    }
    v->text.bytes = bytes;
    v->text.length = length;
    return &v->json;
}

static size_t digits(const char *s)
{
    size_t n = 0;
    while (s[n] >= '0' && s[n] <= '9') n++;
    return n;
}

/* Length of the number at s, 0: there is none; *out_real: it has a point or an exponent. */
static size_t number_length(int *out_real, const char *s)
{
    size_t at = s[0] == '-', n = digits(s + at);
    if (n == 0 || (n > 1 && s[at] == '0')) return 0;
    at += n;
    *out_real = 0;
    if (s[at] == '.') {
        n = digits(s + at + 1);
        if (n == 0) return 0;
        *out_real = 1;
        at += 1 + n;
    }
    if ((s[at] | 32) == 'e') {
        size_t sign = s[at + 1] == '-' || s[at + 1] == '+';
        n = digits(s + at + 1 + sign);
        if (n == 0) return 0;
        *out_real = 1;
        at += 1 + sign + n;
    }
    return at;
}

static json_t *parse_number(parser *p)
{
    char copy[NUMBER_MOST + 1] = "";
    size_t left = (size_t)(p->end - p->at);
    memcpy(copy, p->at, left < NUMBER_MOST ? left : NUMBER_MOST);
    int real = 0;
    size_t length = number_length(&real, copy);
    if (!length || length == NUMBER_MOST) return fault(p, "a value is not understood");
    copy[length] = 0;
    p->at += length;
    value *v = make(real ? JSON_REAL : JSON_INTEGER);
    if (!v) return lack(p);
    if (real) v->real = strtod(copy, NULL);
    else v->integer = strtoll(copy, NULL, 10);
    if (real ? v->real - v->real != 0 : length > 19 || v->integer == INT64_MAX || v->integer == INT64_MIN) {
        json_delete(&v->json);
        return fault(p, "a number is too large");
    }
    return &v->json;
}

static int append(value *array, json_t *item)
{
    if (array->array.count == array->array.room) {
        size_t room = array->array.room ? 2 * array->array.room : SLOTS_LEAST;
        json_t **wider = realloc(array->array.items, room * sizeof(json_t *));
        if (!wider) {
            json_decref(item);
            return -1;
        }
        array->array.items = wider;
        array->array.room = room;
    }
    array->array.items[array->array.count++] = item;
    return 0;
}

static json_t *parse_array(parser *p)
{
    value *array = make(JSON_ARRAY);
    if (!array) return lack(p);
    if (take(p, ']')) return &array->json;
    do {
        json_t *item = parse(p);
        if (item && append(array, item) < 0) lack(p);
    } while (!p->fault && take(p, ','));
    if (!p->fault && take(p, ']')) return &array->json;
    json_delete(&array->json);
    return fault(p, "an array does not end");
}

static void parse_member(value *object, parser *p)
{
    size_t length = 0;
    char *key = take(p, '"') ? text(&length, p) : NULL;
    if (!key) fault(p, "a name is missing");
    else if (find(object, key)) fault(p, "duplicate object key");
    else if (!take(p, ':')) fault(p, "a colon is missing");
    json_t *item = p->fault ? NULL : parse(p);
    if (item && add(object, key, item) < 0) lack(p);
    free(key);
}

static json_t *parse_object(parser *p)
{
    value *object = make(JSON_OBJECT);
    if (!object) return lack(p);
    if (take(p, '}')) return &object->json;
    do parse_member(object, p);
    while (!p->fault && take(p, ','));
    if (!p->fault && take(p, '}')) return &object->json;
    json_delete(&object->json);
    return fault(p, "an object does not end");
}

static json_t *parse_word(parser *p, const char *word, json_type type)
{
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return fault(p, "a value is not understood");
    p->at += length;
    value *v = make(type);
    return v ? &v->json : lack(p);
}

static json_t *parse(parser *p)
{
    json_t *found = NULL;
    int next = peek(p);
    if (++p->depth > DEPTH_MOST) return fault(p, "values are nested too deeply");
    if (next == '{' || next == '[' || next == '"') p->at++;
    switch (next) {
    case '{': found = parse_object(p); break;
    case '[': found = parse_array(p); break;
    case '"': found = parse_text(p); break;
    case 't': found = parse_word(p, "true", JSON_TRUE); break;
    case 'f': found = parse_word(p, "false", JSON_FALSE); break;
    case 'n': found = parse_word(p, "null", JSON_NULL); break;
    default: found = parse_number(p); break;
    }
    p->depth--;
    return found;
}

json_t *json_loadb(const char *buffer, size_t length, size_t flags, json_error_t *error)
{
    parser p = {buffer, buffer + length, 0, NULL, 0};
    (void)flags;
    json_t *found = parse(&p);
    if (found && peek(&p) >= 0) {
        json_decref(found);
        found = fault(&p, "there is something after the value");
    }
    if (error) memset(error, 0, sizeof *error);
    if (error && p.fault) {
        strncpy(error->text, p.fault, JSON_ERROR_TEXT_LENGTH - 2);
        error->text[JSON_ERROR_TEXT_LENGTH - 1] = p.no_memory ? json_error_out_of_memory : json_error_invalid_syntax;
    }
    return found;
}
