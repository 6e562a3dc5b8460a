/*
 * Structs as JSON objects by tables: one row a field serves writing, reading and checking, so that nothing can be
 * written that would not be read again.
 */
#ifndef BROAD_STORE_FIELDS_H
#define BROAD_STORE_FIELDS_H

#include <jansson.h>
#include <stddef.h>

typedef enum broad__field_kind {
    BROAD__FIELD_COUNT,        /* size_t                                                          */
    BROAD__FIELD_SEED,         /* uint64_t, as decimal text: JSON numbers of other tools lose digits */
    BROAD__FIELD_FLAG,         /* int, as true or false                                           */
    BROAD__FIELD_CHOICE,       /* enum, by name                                                   */
    BROAD__FIELD_NUMBER,       /* double, finite                                                  */
    BROAD__FIELD_PAIR,         /* two size_t, as "10x10"                                          */
    BROAD__FIELD_LIST,         /* double[BROAD_LIST_MAX] and its count                            */
    BROAD__FIELD_TEXT,         /* char *, owned                                                   */
    BROAD__FIELD_TEXT_OR_NULL, /* the same, may be NULL                                           */
    BROAD__FIELD_HASH,         /* char[33]: 32 hexadecimal digits                                 */
    BROAD__FIELD_ELSEWHERE     /* must be there, but the caller writes and reads it               */
} broad__field_kind;

typedef struct broad__field {
    const char *name;
    broad__field_kind kind;
    size_t offset;
    size_t partner;      /* PAIR: the second number; LIST: the count */
    const char *choices; /* CHOICE */
    double least, most;  /* COUNT, NUMBER, the values of PAIR and LIST */
} broad__field;

/* `where` begins the message of a value that does not fit. Reading refuses missing and unknown fields. */
int broad__fields_encode(json_t *object, const void *from, const broad__field *fields, size_t count, const char *where);
int broad__fields_decode(void *to, const json_t *object, const broad__field *fields, size_t count, const char *where);
/* The last `later` fields may be missing, as in files of earlier versions; what they stand for is then left as it is. */
int broad__fields_decode_later(void *to, const json_t *object, const broad__field *fields, size_t count, size_t later,
                               const char *where);

/* Text is a JSON string; bytes that are not UTF-8 become {"bytes": hexadecimal digits}. NULL: out of memory. */
json_t *broad__text_encode(const char *text);
int broad__text_decode(char **out, const json_t *value, const char *where, const char *name);

/* json_loadb() that tells damage from lack of memory as far as jansson does. */
int broad__json_parse(json_t **out, const void *text, size_t count, const char *what);
int broad__json_text(char **out, size_t *out_bytes, const json_t *value); /* freed with broad__free() */
int broad__json_fail_memory(void);

/* Doubles come back as they were; no white space. */
#define BROAD__JSON_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(17))

#endif
