/*
 * Which photos, with which class, a version has learned in this project. A version keeps only what its own step learned; the rest
 * is that of the versions before it, as far as photos became the same inputs for them.
 */
#ifndef BROAD_SERVE_LEARNED_H
#define BROAD_SERVE_LEARNED_H

#include "serve/database.h"

/* In SQL: the version `of`, and those before it that it has gone on from. */
#define SERVE_LEARNED_CHAIN(of)                                                                                        \
    "(WITH RECURSIVE chain(id, parent, lineage) AS (SELECT id, parent, lineage FROM versions WHERE id=" of             \
    " UNION SELECT v.id, v.parent, v.lineage FROM versions v JOIN chain c ON v.id=c.parent AND v.lineage=c.lineage)"   \
    " SELECT id FROM chain)"

/* In SQL: the class with which the version `of` has learned `photo` last, or null. */
#define SERVE_LEARNED_LABEL(photo_, of)                                                                                \
    "(SELECT l.label FROM learned l WHERE l.photo=" photo_                                                             \
    " AND l.version IN " SERVE_LEARNED_CHAIN(of) " ORDER BY l.version DESC LIMIT 1)"

/* Within a transaction. */
int serve_learned_add(serve_database *database, int64_t version, int64_t photo, const char *label);
/* The same, unless the version has learned the photo already. */
int serve_learned_note(serve_database *database, int64_t version, int64_t photo, const char *label);
/* Stores how many photos the version has learned. */
int serve_learned_count(serve_database *database, int64_t version);

#endif
