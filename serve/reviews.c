#include "serve/reviews.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

int serve_label_check(const char *label)
{
    size_t length = strlen(label), step = 0;
    int wrong = length == 0 || length >= SERVE_LABEL_BYTES || label[0] == '.' || label[0] == ' ' ||
                label[length ? length - 1 : 0] == ' ' || strchr(label, '/') || strchr(label, '\\');
    for (size_t i = 0; !wrong && i < length; i += step) {
        step = broad__utf8_length(label + i, length - i);
        wrong = !step || (unsigned char)label[i] < 32 || label[i] == 127;
    }
    if (!wrong) return BROAD_OK;
    return cli_fail(
        BROAD_USAGE,
        "this cannot be the name of a class: give 1 to %d bytes (a letter outside of English takes two to four), "
        "without slashes, with neither a dot nor a blank in front and no blank at the end",
        SERVE_LABEL_BYTES - 1);
}

/* A photo as it is and as it becomes. */
typedef struct turn {
    int64_t photo;
    serve_review before, after;
    char was[SERVE_LABEL_BYTES], becomes[SERVE_LABEL_BYTES];
} turn;

static json_t *turn_json(const turn *own)
{
    static const char *const names[] = {"none", "agreed", "corrected"};
    json_t *object = json_object();
    cli_json_put(object, "id", json_integer(own->photo));
    cli_json_put(object, "review", cli_json_text(names[own->after]));
    cli_json_put(object, "human", own->after ? cli_json_text(own->becomes) : json_null());
    return object;
}

/* *out_skip: there is nothing to agree with. */
static int plan_turn(turn *out, int *out_skip, serve_project *project, int64_t photo, const serve_reviewing *how)
{
    sqlite3_stmt *query = NULL;
    int status = serve_query_open(&query, &project->database,
                                  "SELECT review, human, label FROM photos WHERE id=? AND state IN (1,3)", "i", photo);
    if (!status) status = serve_query_row(query);
    if (status == 0) status = cli_fail(BROAD_NO_INPUT, "there is no photo number %lld to review", (long long)photo);
    if (status > 0) {
        const char *verdict = serve_query_text(query, 2), *label = how->label ? how->label : verdict;
        *out = (turn){.photo = photo, .before = (serve_review)sqlite3_column_int(query, 0)};
        snprintf(out->was, sizeof out->was, "%s", serve_query_text(query, 1));
        snprintf(out->becomes, sizeof out->becomes, "%s", how->clear ? "" : label);
        out->after = how->clear                    ? SERVE_REVIEW_NONE
                     : strcmp(label, verdict) == 0 ? SERVE_REVIEW_AGREED
                                                   : SERVE_REVIEW_CORRECTED;
        *out_skip = !how->clear && !label[0];
        status = BROAD_OK;
    }
    serve_query_close(query);
    return status;
}

static int take_turn(serve_project *project, const turn *own, const char *who)
{
    return serve_change(&project->database, "UPDATE photos SET review=?, human=?, who=?, reviewed=? WHERE id=?",
                        "ittii", (int64_t)own->after, own->after ? own->becomes : NULL, who, serve_now(), own->photo);
}

static int keep_item(serve_project *project, int64_t action, const turn *own)
{
    return serve_change(&project->database, "INSERT INTO items VALUES(?,?,?,?,?,?)", "iiitit", action, own->photo,
                        (int64_t)own->before, own->before ? own->was : NULL, (int64_t)own->after,
                        own->after ? own->becomes : NULL);
}

static int review_all(json_t *photos, serve_project *project, int64_t action, const serve_reviewing *how)
{
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < how->count; i++) {
        turn own;
        int skip = 0;
        status = plan_turn(&own, &skip, project, how->photos[i], how);
        if (status || skip) continue;
        status = take_turn(project, &own, how->who);
        if (!status) status = keep_item(project, action, &own);
        if (!status) cli_json_append(photos, turn_json(&own));
    }
    return status;
}

int serve_review_photos(json_t **out, serve_project *project, const serve_reviewing *reviewing)
{
    serve_database *database = &project->database;
    const char *kind = reviewing->clear ? "clear" : reviewing->label ? "label" : "agree";
    json_t *photos = json_array(), *answer = json_object();
    int64_t action = 0;
    int status = serve_database_begin(database);
    if (!status) {
        status = serve_change(database, "INSERT INTO actions(made, who, kind, label) VALUES(?,?,?,?)", "ittt",
                              serve_now(), reviewing->who, kind, reviewing->label);
        action = sqlite3_last_insert_rowid(database->handle);
        if (!status && reviewing->label)
            status = serve_change(database, "INSERT OR IGNORE INTO classes VALUES(?)", "t", reviewing->label);
        if (!status) status = review_all(photos, project, action, reviewing);
        if (!status && !json_array_size(photos)) { /* nothing was done, so that there is nothing to undo */
            status = serve_change(database, "DELETE FROM actions WHERE id=?", "i", action);
            action = 0;
        }
        status = serve_database_end(database, status);
    }
    cli_json_put(answer, "action", action ? json_integer(action) : json_null());
    cli_json_put(answer, "kind", cli_json_text(kind));
    cli_json_put(answer, "who", cli_json_text(reviewing->who));
    cli_json_put(answer, "photos", photos);
    if (status) json_decref(answer);
    else *out = answer;
    return status;
}

/* ---- undoing ---- */

static int find_action(int64_t *action, serve_project *project, const char *who)
{
    int64_t found = 0;
    int status = *action ? serve_number(&found, &project->database, "SELECT id FROM actions WHERE id=? AND undone=0",
                                        "i", *action)
                         : serve_number(&found, &project->database,
                                        "SELECT max(id) FROM actions WHERE who=? AND undone=0", "t", who);
    if (!status && !found) return cli_fail(BROAD_NO_INPUT, "there is nothing to undo");
    *action = found;
    return status;
}

typedef struct undoing {
    serve_project *project;
    const char *who;
    json_t *photos;
} undoing;

static int undo_item(void *context, sqlite3_stmt *row)
{
    const undoing *undo = context;
    turn own = {.photo = sqlite3_column_int64(row, 0), .after = (serve_review)sqlite3_column_int(row, 1)};
    snprintf(own.becomes, sizeof own.becomes, "%s", serve_query_text(row, 2));
    cli_json_append(undo->photos, turn_json(&own));
    return take_turn(undo->project, &own, undo->who);
}

/* Photos that still are as the action left them become what they were before it. */
static int undo_items(json_t *photos, serve_project *project, int64_t action, const char *who)
{
    sqlite3_stmt *query = NULL;
    undoing undo = {project, who, photos};
    int status = serve_query_open(&query, &project->database,
                                  "SELECT i.photo, i.review_before, i.human_before FROM items i JOIN photos p ON"
                                  " p.id=i.photo WHERE i.action=? AND p.review=i.review_after AND"
                                  " p.human IS i.human_after",
                                  "i", action);
    return serve_query_each(query, status, undo_item, &undo);
}

int serve_review_undo(json_t **out, serve_project *project, int64_t action, const char *who)
{
    json_t *photos = json_array(), *answer = json_object();
    int status = serve_database_begin(&project->database);
    if (!status) {
        status = find_action(&action, project, who);
        if (!status) status = undo_items(photos, project, action, who);
        if (!status) status = serve_change(&project->database, "UPDATE actions SET undone=1 WHERE id=?", "i", action);
        status = serve_database_end(&project->database, status);
    }
    cli_json_put(answer, "action", json_integer(action));
    cli_json_put(answer, "kind", cli_json_text("undo"));
    cli_json_put(answer, "who", cli_json_text(who));
    cli_json_put(answer, "photos", photos);
    if (status) json_decref(answer);
    else *out = answer;
    return status;
}
