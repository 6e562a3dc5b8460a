#include "serve/learned.h"

int serve_learned_add(serve_database *database, int64_t version, int64_t photo, const char *label)
{
    return serve_change(database, "INSERT OR REPLACE INTO learned VALUES(?,?,?)", "iit", version, photo, label);
}

int serve_learned_note(serve_database *database, int64_t version, int64_t photo, const char *label)
{
    return serve_change(database,
                        "INSERT INTO learned SELECT ?1, ?2, ?3 WHERE " SERVE_LEARNED_LABEL("?2", "?1") " IS NULL",
                        "iit", version, photo, label);
}

int serve_learned_count(serve_database *database, int64_t version)
{
    return serve_change(database,
                        "UPDATE versions SET learned=(SELECT count(DISTINCT l.photo) FROM learned l WHERE l.version"
                        " IN " SERVE_LEARNED_CHAIN("?1") ") WHERE id=?1",
                        "i", version);
}
