#include "serve/filter.h"

#include <string.h>

#include "run/photo_verdict.h"
#include "serve/learned.h"
#include "serve/versions.h"

const char *const serve_review_names[3] = {"none", "agreed", "corrected"};

/* ---- what a value may be ---- */

static int is_flag(const char *text) { return strcmp(text, "0") == 0 || strcmp(text, "1") == 0; }

static int is_number(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits && digits <= 15 && !text[digits];
}

static int is_day(const char *text)
{
    static const char form[] = "0000-00-00";
    size_t i = 0;
    while (text[i] && (form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i])) i++;
    return i == sizeof form - 1 && !text[i];
}

static int is_review(const char *text)
{
    for (size_t i = 0; i < sizeof serve_review_names / sizeof serve_review_names[0]; i++)
        if (strcmp(text, serve_review_names[i]) == 0) return 1;
    return strcmp(text, "reviewed") == 0;
}

/* A parameter and what it asks of a photo; its value is bound as :NAME. */
typedef struct condition {
    const char *name, *sql;
    int (*fits)(const char *text); /* NULL: any text does */
    const char *expected;
} condition;

static const char a_flag[] = "0 or 1", a_number[] = "a whole number", a_day[] = "a day, as 2026-05-31";

static const condition conditions[] = {
    {"class", "coalesce(p.human, p.label)=:class", NULL, NULL},
    {"review",
     "CASE :review WHEN 'none' THEN p.review=0 WHEN 'agreed' THEN p.review=1 WHEN 'corrected' THEN p.review=2"
     " ELSE p.review>0 END",
     is_review, "none, agreed, corrected or reviewed"},
    {"folder", "p.folder=:folder", NULL, NULL},
    {"from", "substr(p.time,1,10)>=:from", is_day, a_day},
    {"to", "substr(p.time,1,10)<=:to", is_day, a_day},
    {"unlike", "(p.distance>1)=(:unlike='1')", is_flag, a_flag},
    {"faults", "(p.faults<>0)=(:faults='1')", is_flag, a_flag},
    {"text", "instr(lower(p.name),lower(:text))>0", NULL, NULL},
    {"changed", "p.id IN (SELECT photo FROM changes WHERE version=CAST(:changed AS INTEGER))", is_number, a_number},
    {"stack", "p.stack=CAST(:stack AS INTEGER)", is_number, a_number},
    {"pending",
     "(:pending<>'1' OR (p.review=2 AND p.human IS NOT " SERVE_LEARNED_LABEL(
         "p.id", "(SELECT CAST(value AS INTEGER) FROM settings WHERE name='version')") "))",
     is_flag, a_flag},
};
enum { CONDITIONS = sizeof conditions / sizeof conditions[0], SQL_BYTES = 4096 };

static int check_all(const serve_request *request)
{
    for (size_t i = 0; i < CONDITIONS; i++) {
        const condition *own = &conditions[i];
        const char *text = request->query(request, own->name);
        if (text && own->fits && !own->fits(text))
            return cli_fail(BROAD_USAGE, "%s: give %s", own->name, own->expected);
    }
    return BROAD_OK;
}

/* ---- orders ---- */

typedef struct order {
    const char *name, *up, *down;
} order;

static const order orders[] = {
    {"uncertainty", "ORDER BY p.certainty IS NULL, p.certainty DESC, p.id",
     "ORDER BY p.certainty IS NULL, p.certainty, p.id"},
    {"severity", "ORDER BY p.fault, p.id", "ORDER BY p.fault DESC, p.id"},
    {"time", "ORDER BY p.time IS NULL, p.time, p.id", "ORDER BY p.time IS NULL, p.time DESC, p.id"},
    {"place", "ORDER BY p.latitude IS NULL, round(p.latitude,3), p.longitude, p.id",
     "ORDER BY p.latitude IS NULL, round(p.latitude,3) DESC, p.longitude DESC, p.id"},
    {"name", "ORDER BY p.folder, p.name, p.id", "ORDER BY p.folder DESC, p.name DESC, p.id"},
    {"added", "ORDER BY p.id", "ORDER BY p.id DESC"},
};

const char *serve_filter_order(const serve_request *request)
{
    const char *sort = request->query(request, "sort"), *way = request->query(request, "order");
    if (way && strcmp(way, "up") && strcmp(way, "down")) {
        cli_fail(BROAD_USAGE, "order: give up or down");
        return NULL;
    }
    if (!sort) sort = "uncertainty";
    int by_default_down = strcmp(sort, "uncertainty") == 0 || strcmp(sort, "severity") == 0;
    int down = way ? strcmp(way, "down") == 0 : by_default_down;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        if (strcmp(orders[i].name, sort) == 0) return down ? orders[i].down : orders[i].up;
    cli_fail(BROAD_USAGE, "sort: give uncertainty, severity, time, place, name or added");
    return NULL;
}

static void bind_all(sqlite3_stmt *query, const serve_request *request)
{
    for (size_t i = 0; i < CONDITIONS; i++) {
        char name[32];
        snprintf(name, sizeof name, ":%s", conditions[i].name);
        int at = sqlite3_bind_parameter_index(query, name);
        if (at) sqlite3_bind_text(query, at, request->query(request, conditions[i].name), -1, SQLITE_TRANSIENT);
    }
}

int serve_filter_open(sqlite3_stmt **out, const serve_request *request, const char *columns, const char *tail,
                      int stacked)
{
    char sql[SQL_BYTES];
    int status = check_all(request);
    if (status) return status;
    int used = snprintf(sql, sizeof sql, "SELECT %s FROM photos p WHERE p.state=1", columns);
    for (size_t i = 0; i < CONDITIONS; i++)
        if (request->query(request, conditions[i].name))
            used += snprintf(sql + used, sizeof sql - (size_t)used, " AND %s", conditions[i].sql);
    snprintf(sql + used, sizeof sql - (size_t)used, "%s %s", stacked ? " GROUP BY coalesce(p.stack, p.id)" : "", tail);
    status = serve_query_open(out, &request->server->project.database, sql, "");
    if (!status) bind_all(*out, request);
    return status;
}

int serve_filter_count(int64_t *out, const serve_request *request, int stacked)
{
    sqlite3_stmt *query = NULL;
    const char *what = stacked ? "count(DISTINCT coalesce(p.stack, p.id))" : "count(*)";
    serve_database_lock(&request->server->project.database);
    int status = serve_filter_open(&query, request, what, "", 0);
    if (!status) status = serve_query_row(query);
    if (status > 0) *out = sqlite3_column_int64(query, 0);
    serve_query_close(query);
    serve_database_unlock(&request->server->project.database);
    return status < 0 ? status : BROAD_OK;
}

/* ---- a photo ---- */

/* Of a stack, the photo that the model is least sure of: SQLite takes bare columns from the row of the only min(). */
const char *const serve_photo_columns =
    "p.id, p.name, p.folder, p.label, p.certainty, p.fault, p.review, p.human, p.distance, p.faults, p.width, p.height,"
    " p.time, p.latitude, p.longitude, p.stack, p.version, p.who, p.content";

static json_t *optional(sqlite3_stmt *query, int column)
{
    return sqlite3_column_type(query, column) == SQLITE_NULL ? json_null()
                                                             : cli_json_text(serve_query_text(query, column));
}

json_t *serve_photo_json(sqlite3_stmt *query)
{
    json_t *object = json_object();
    broad_photo photo = {.distance = serve_query_real(query, 8), .faults = (unsigned)sqlite3_column_int(query, 9)};
    cli_json_put(object, "id", json_integer(sqlite3_column_int64(query, 0)));
    cli_json_put(object, "name", optional(query, 1));
    cli_json_put(object, "folder", optional(query, 2));
    cli_json_put(object, "label", optional(query, 3));
    cli_json_put(object, "certainty", cli_json_real(serve_query_real(query, 4)));
    cli_json_put(object, "fault", cli_json_real(serve_query_real(query, 5)));
    cli_json_put(object, "review", cli_json_text(serve_review_names[sqlite3_column_int(query, 6) % 3]));
    cli_json_put(object, "human", optional(query, 7));
    cli_json_put(object, "distance", cli_json_real(photo.distance));
    cli_json_put(object, "unlike", cli_photo_unlike_json(&photo));
    cli_json_put(object, "faults", cli_photo_faults_json(&photo));
    cli_json_put(object, "width", json_integer(sqlite3_column_int64(query, 10)));
    cli_json_put(object, "height", json_integer(sqlite3_column_int64(query, 11)));
    cli_json_put(object, "time", optional(query, 12));
    cli_json_put(object, "latitude", cli_json_real(serve_query_real(query, 13)));
    cli_json_put(object, "longitude", cli_json_real(serve_query_real(query, 14)));
    cli_json_put(object, "stack", json_integer(sqlite3_column_int64(query, 15)));
    cli_json_put(object, "version", json_integer(sqlite3_column_int64(query, 16)));
    cli_json_put(object, "who", optional(query, 17));
    cli_json_put(object, "content", optional(query, 18));
    return object;
}
