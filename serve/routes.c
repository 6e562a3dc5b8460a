#include "serve/routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "serve/api_exports.h"
#include "serve/api_models.h"
#include "serve/api_photos.h"
#include "serve/api_project.h"
#include "serve/api_reviews.h"

#define JSON "application/json"
#define FILTERS                                                                                                        \
    "class=class that a person or the model gave;review=none, agreed, corrected or reviewed;folder=folder that it "    \
    "came "                                                                                                            \
    "from;from=first day, as 2026-05-31;to=last day;unlike=1: only photos that are not like the training photos;"      \
    "faults=1: only photos that are too dark, too bright, blurred or too small;text=part of the name;changed=version " \
    "that changed the verdict;pending=1: only corrections that were not learned;stack=number of a stack"

/* clang-format off */
static const serve_route routes[] = {
    {"GET", "/api/v1/session", serve_api_session, "the token that pages send with changes, and the version", NULL, NULL, JSON},
    {"GET", "/api/v1/status", serve_api_status, "counts, queue, model, classes, settings, work under way", NULL, NULL, JSON},
    {"GET", "/api/v1/events", serve_api_events, "what happens, as server-sent events", NULL, NULL, "text/event-stream"},
    {"GET", "/api/v1/openapi.json", serve_api_openapi, "this description", NULL, NULL, JSON},
    {"POST", "/api/v1/settings", serve_api_settings, "set learn_after (corrections after which the model learns by itself; 0: never) or title", NULL,
     "json:learn_after, title", JSON},
    {"POST", "/api/v1/classes", serve_api_classes, "add a class", NULL, "json:name", JSON},
    {"POST", "/api/v1/demo", serve_api_demo, "draw photos, and train a model of such, to try it with", NULL, NULL, JSON},

    {"GET", "/api/v1/photos", serve_api_photos, "photos, sorted and filtered, a page at a time",
     "sort=uncertainty, severity, time, place, name or added;order=up or down;offset=photos to leave out;limit=photos at most, "
     "up to 1000;stacks=1: one photo of each stack of near-duplicates;" FILTERS, NULL, JSON},
    {"POST", "/api/v1/photos", serve_api_upload, "add a photo; its name, which may have folders before it, in the query", "name=name to show", "image", JSON},
    {"GET", "/api/v1/photos/{number}", serve_api_photo, "all that is known of a photo", NULL, NULL, JSON},
    {"GET", "/api/v1/photos/{number}/thumbnail", serve_api_thumbnail, "small picture", NULL, NULL, "image/jpeg"},
    {"GET", "/api/v1/photos/{number}/image", serve_api_image, "the upright photo", "side=longer side at most, 64 to 2048", NULL, "image/jpeg"},
    {"GET", "/api/v1/photos/{number}/heatmap", serve_api_heatmap, "the photo with the evidence for a class", "side=longer side at most, 64 to 2048;class=name of it", NULL, "image/jpeg"},
    {"GET", "/api/v1/photos/{number}/file", serve_api_file, "the file as it came", NULL, NULL, "application/octet-stream"},
    {"GET", "/api/v1/unreadable", serve_api_unreadable, "photos that cannot be read, with the reasons", NULL, NULL, JSON},
    {"GET", "/api/v1/folders", serve_api_folders, "folders that photos came from", NULL, NULL, JSON},
    {"GET", "/api/v1/places", serve_api_places, "photos that say where they were taken", FILTERS, NULL, JSON},
    {"GET", "/api/v1/unlike", serve_api_unlike, "photos that are not like the training photos, the least alike first", NULL, NULL, JSON},
    {"POST", "/api/v1/judge", serve_api_judge, "the verdict on a photo, which is not kept: for cameras and drones", NULL, "image", JSON},
    {"GET", "/api/v1/watch", serve_api_watched, "folders that are watched", NULL, NULL, JSON},
    {"POST", "/api/v1/watch", serve_api_watch, "watch a folder of this machine", NULL, "json:folder", JSON},
    {"POST", "/api/v1/watch/stop", serve_api_unwatch, "watch it no longer", NULL, "json:folder", JSON},

    {"POST", "/api/v1/review", serve_api_review, "give photos a class, agree with their verdicts, or take that back", NULL,
     "json:photos (numbers) and one of label, agree (true), clear (true); who", JSON},
    {"POST", "/api/v1/undo", serve_api_undo, "undo an action: that of the number given, or the latest of this person", NULL, "json:action, who", JSON},
    {"GET", "/api/v1/actions", serve_api_actions, "what people did, the latest first", "limit=at most, up to 1000", NULL, JSON},

    {"POST", "/api/v1/learn", serve_api_learn, "learn the corrections, or make a first model of what was labelled", NULL, "json:agreed (false: learn corrections alone, not what was agreed to)", JSON},
    {"POST", "/api/v1/train", serve_api_train, "train a new model on all that was labelled", NULL, NULL, JSON},
    {"GET", "/api/v1/versions", serve_api_versions, "every model there has been", NULL, NULL, JSON},
    {"GET", "/api/v1/versions/{number}/model", serve_api_version_model, "its file", NULL, NULL, "application/octet-stream"},
    {"GET", "/api/v1/versions/{number}/changes", serve_api_changes, "photos whose verdict it changed", NULL, NULL, JSON},
    {"POST", "/api/v1/versions/{number}/use", serve_api_use, "go back to it, or forward", NULL, NULL, JSON},
    {"POST", "/api/v1/versions/{number}/verify", serve_api_verify, "check its certificate", NULL, NULL, JSON},
    {"GET", "/api/v1/doubts", serve_api_doubts, "training photos whose label is doubtful, as last looked for", NULL, NULL, JSON},
    {"GET", "/api/v1/doubts/{number}/image", serve_api_doubt_image, "a photo of that list, by its place, from 0", "side=longer side at most, 64 to 2048", NULL, "image/jpeg"},
    {"POST", "/api/v1/doubts", serve_api_find_doubts, "look for them", NULL, NULL, JSON},
    {"POST", "/api/v1/doubts/{number}/review", serve_api_doubt_review, "give a photo of that list another class, or keep the one it has; learning then replaces its label", NULL,
     "json:one of label, keep (true); who", JSON},

    {"GET", "/api/v1/export/{name}", serve_api_export, "everything as a file: csv, spreadsheet, geojson, kml, report, tree, model or onnx", FILTERS, NULL, "application/octet-stream"},
};
/* clang-format on */

size_t serve_route_count(void) { return sizeof routes / sizeof routes[0]; }

const serve_route *serve_route_at(size_t index) { return index < serve_route_count() ? &routes[index] : NULL; }

/* ---- finding ---- */

/* A piece of the path up to the next slash. */
static int take_number(serve_request *request, const char **path)
{
    size_t digits = strspn(*path, "0123456789");
    if (!digits || digits > 15) return 0;
    request->number = strtoll(*path, NULL, 10);
    *path += digits;
    return 1;
}

static int take_name(serve_request *request, const char **path)
{
    size_t length = strspn(*path, "abcdefghijklmnopqrstuvwxyz");
    if (!length || length >= sizeof request->name) return 0;
    snprintf(request->name, sizeof request->name, "%.*s", (int)length, *path);
    *path += length;
    return 1;
}

static int matches(serve_request *request, const char *pattern, const char *path)
{
    while (*pattern) {
        if (strncmp(pattern, "{number}", 8) == 0) {
            if (!take_number(request, &path)) return 0;
            pattern += 8;
        } else if (strncmp(pattern, "{name}", 6) == 0) {
            if (!take_name(request, &path)) return 0;
            pattern += 6;
        } else if (*pattern++ != *path++) return 0;
    }
    return *path == 0;
}

const serve_route *serve_route_find(serve_request *request, int *out_other, const char *method, const char *path)
{
    *out_other = 0;
    for (size_t i = 0; i < serve_route_count(); i++) {
        if (!matches(request, routes[i].pattern, path)) continue;
        if (strcmp(routes[i].method, method) == 0) return &routes[i];
        *out_other = 1;
    }
    return NULL;
}

/* ---- what requests bring ---- */

int serve_request_json(json_t **out, const serve_request *request)
{
    json_error_t error;
    *out = NULL;
    json_t *object = json_loadb(request->body_bytes ? request->body : "{}",
                                request->body_bytes ? request->body_bytes : 2, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(object)) {
        *out = object;
        return BROAD_OK;
    }
    json_decref(object);
    return cli_fail(BROAD_USAGE, "the body must be a JSON object%s%s", object ? "" : ": ", object ? "" : error.text);
}

int serve_request_count(size_t *out, const serve_request *request, const char *name, size_t otherwise, size_t most)
{
    const char *text = request->query(request, name);
    char *end = NULL;
    *out = otherwise;
    if (!text) return BROAD_OK;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end || *text == '-' || errno || value > most)
        return cli_fail(BROAD_USAGE, "%s: must be a number from 0 to %zu", name, most);
    *out = (size_t)value;
    return BROAD_OK;
}

/* ---- the description ---- */

static json_t *parameter_json(const char *name, size_t length, const char *where, const char *text, size_t bytes)
{
    json_t *object = json_object(), *schema = json_object();
    cli_json_put(object, "name", json_stringn(name, length));
    cli_json_put(object, "in", cli_json_text(where));
    cli_json_put(object, "required", json_boolean(strcmp(where, "path") == 0));
    cli_json_put(object, "description", json_stringn(text, bytes));
    cli_json_put(schema, "type", cli_json_text("string"));
    cli_json_put(object, "schema", schema);
    return object;
}

static json_t *parameters_json(const serve_route *route)
{
    static const char number[] = "its number", name[] = "its name";
    json_t *list = json_array();
    if (strstr(route->pattern, "{number}"))
        cli_json_append(list, parameter_json("number", 6, "path", number, sizeof number - 1));
    if (strstr(route->pattern, "{name}"))
        cli_json_append(list, parameter_json("name", 4, "path", name, sizeof name - 1));
    for (const char *at = route->query; at && *at;) {
        size_t length = strcspn(at, "="), whole = strcspn(at, ";");
        cli_json_append(list, parameter_json(at, length, "query", at + length + 1, whole - length - 1));
        at += whole + (at[whole] == ';');
    }
    return list;
}

static json_t *content_json(const char *type, const char *text)
{
    json_t *content = json_object(), *media = json_object(), *schema = json_object(), *object = json_object();
    int is_json = strcmp(type, JSON) == 0;
    cli_json_put(schema, "type", cli_json_text(is_json ? "object" : "string"));
    if (!is_json) cli_json_put(schema, "format", cli_json_text("binary"));
    cli_json_put(media, "schema", schema);
    cli_json_put(content, type, media);
    cli_json_put(object, "description", cli_json_text(text));
    cli_json_put(object, "content", content);
    return object;
}

static json_t *operation_json(const serve_route *route)
{
    json_t *object = json_object(), *responses = json_object(), *refused = json_object();
    cli_json_put(object, "summary", cli_json_text(route->summary));
    cli_json_put(object, "parameters", parameters_json(route));
    if (route->body)
        cli_json_put(object, "requestBody",
                     strcmp(route->body, "image") ? content_json(JSON, route->body + 5)
                                                  : content_json("application/octet-stream", "the bytes of a photo"));
    cli_json_put(responses, "200", content_json(route->gives, "done"));
    cli_json_put(refused, "description", cli_json_text("refused: {\"error\": {\"status\", \"message\"}}"));
    cli_json_put(responses, "default", refused);
    cli_json_put(object, "responses", responses);
    return object;
}

static json_t *security_json(void)
{
    return json_pack("{s:{s:{s:s,s:s}}}", "securitySchemes", "token", "type", "http", "scheme", "bearer");
}

json_t *serve_openapi(void)
{
    json_t *object = json_object(), *paths = json_object();
    for (size_t i = 0; i < serve_route_count(); i++) {
        const serve_route *route = &routes[i];
        json_t *path = json_object_get(paths, route->pattern);
        if (!path) {
            path = json_object();
            cli_json_put(paths, route->pattern, path);
        }
        cli_json_put(path, strcmp(route->method, "GET") ? "post" : "get", operation_json(route));
    }
    cli_json_put(object, "openapi", cli_json_text("3.0.3"));
    cli_json_put(object, "info",
                 json_pack("{s:s,s:s,s:s}", "title", "broad serve", "version", broad_version(), "description",
                           "Everything that the page does. Programs send the token as Authorization: Bearer."));
    cli_json_put(object, "components", security_json());
    cli_json_put(object, "security", json_pack("[{s:[]}]", "token"));
    cli_json_put(object, "paths", paths);
    return object;
}
