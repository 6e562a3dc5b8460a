#include "serve/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/output.h"
#include "io/quote.h"
#include "page/assets.h"
#include "page/page.h"
#include "run/photo_verdict.h"
#include "serve/filter.h"
#include "serve/tar.h"

/* A photo as exports see it. */
typedef struct row {
    int64_t id;
    const char *name, *folder, *label, *human, *time, *who, *final;
    int review;
    double certainty, latitude, longitude, altitude, yaw;
    broad_photo photo; /* distance and faults */
    sqlite3_stmt *query;
} row;

static const char columns[] =
    "p.id, p.name, p.folder, p.label, p.human, p.review, p.who, p.certainty, p.time, p.latitude, p.longitude,"
    " p.altitude, p.yaw, p.distance, p.faults";

static void read_row(row *out, sqlite3_stmt *query)
{
    *out = (row){.id = sqlite3_column_int64(query, 0), .query = query};
    out->name = serve_query_text(query, 1);
    out->folder = serve_query_text(query, 2);
    out->label = serve_query_text(query, 3);
    out->human = serve_query_text(query, 4);
    out->review = sqlite3_column_int(query, 5) % 3;
    out->who = out->review ? serve_query_text(query, 6) : "";
    out->certainty = serve_query_real(query, 7);
    out->time = serve_query_text(query, 8);
    out->latitude = serve_query_real(query, 9);
    out->longitude = serve_query_real(query, 10);
    out->altitude = serve_query_real(query, 11);
    out->yaw = serve_query_real(query, 12);
    out->photo.distance = serve_query_real(query, 13);
    out->photo.faults = (unsigned)sqlite3_column_int(query, 14);
    out->final = out->review ? out->human : out->label;
}

/* Calls for every photo of the request, with the lock held. */
typedef struct each {
    int (*what)(void *context, const row *own);
    void *context;
} each;

static int hand_on(void *context, sqlite3_stmt *query)
{
    const each *own = context;
    row photo;
    read_row(&photo, query);
    return own->what(own->context, &photo);
}

static int all_rows(const serve_request *request, int (*what)(void *context, const row *own), void *context)
{
    sqlite3_stmt *query = NULL;
    each own = {what, context};
    const char *order = serve_filter_order(request);
    if (!order) return BROAD_USAGE;
    serve_database_lock(&request->server->project.database);
    int status = serve_filter_open(&query, request, columns, order, 0);
    status = serve_query_each(query, status, hand_on, &own);
    serve_database_unlock(&request->server->project.database);
    return status;
}

typedef struct writer {
    cli_output output;
    const serve_request *request;
    void (*text)(cli_output *, const char *); /* of a cell */
    size_t count;
} writer;

/* Ends the file; what failed before leaves none. */
static int finish(writer *own, int status)
{
    if (!status) return cli_output_close(&own->output);
    cli_output_abandon(&own->output);
    return status;
}

/* ---- CSV ---- */

static void put_text(writer *own, const char *text)
{
    cli_output_bytes(&own->output, ",", 1);
    own->text(&own->output, text);
}

static void put_number(writer *own, double value, int digits)
{
    cli_output_bytes(&own->output, ",", 1);
    if (isfinite(value)) cli_output_print(&own->output, "%.*f", digits, value);
}

static int put_csv(void *context, const row *own)
{
    writer *to = context;
    char faults[CLI_FAULTS_BYTES], path[PATH_MAX];
    int status = serve_photo_path(path, &to->request->server->project, own->id);
    if (status) return status;
    cli_photo_faults(faults, &own->photo);
    to->text(&to->output, path);
    put_text(to, own->folder);
    put_text(to, own->name);
    put_text(to, own->final);
    put_text(to, own->review == SERVE_REVIEW_CORRECTED ? own->human : "");
    put_text(to, own->label);
    put_number(to, own->certainty, 4);
    put_text(to, serve_review_names[own->review]);
    put_text(to, own->who);
    put_text(to, own->time);
    put_number(to, own->latitude, 7);
    put_number(to, own->longitude, 7);
    put_number(to, own->altitude, 2);
    put_number(to, own->yaw, 2);
    put_number(to, own->photo.distance, 4);
    put_text(to, cli_photo_unlike(&own->photo));
    put_text(to, faults);
    cli_output_bytes(&to->output, "\n", 1);
    return BROAD_OK;
}

static int write_table(const serve_request *request, const char *path, int for_spreadsheets)
{
    writer own = {.request = request, .text = for_spreadsheets ? cli_csv_text : cli_csv_exact};
    int status = cli_output_open(&own.output, path);
    if (status) return status;
    cli_output_print(&own.output, "%s", for_spreadsheets ? "\xEF\xBB\xBF" : "");
    cli_output_print(&own.output, "file,folder,name,verdict,correction,label,certainty,review,reviewer,time,latitude,"
                                  "longitude,altitude,yaw,distance,unlike,faults\n");
    return finish(&own, all_rows(request, put_csv, &own));
}

static int write_csv(const serve_request *request, const char *path) { return write_table(request, path, 0); }

static int write_spreadsheet(const serve_request *request, const char *path) { return write_table(request, path, 1); }

/* ---- places ---- */

static int has_place(const row *own) { return isfinite(own->latitude) && isfinite(own->longitude); }

static int put_feature(void *context, const row *own)
{
    writer *to = context;
    if (!has_place(own)) return BROAD_OK;
    json_t *point = json_array(), *geometry = json_object(), *about = json_object(), *feature = json_object();
    cli_json_append(point, cli_json_real(own->longitude));
    cli_json_append(point, cli_json_real(own->latitude));
    if (isfinite(own->altitude)) cli_json_append(point, cli_json_real(own->altitude));
    cli_json_put(geometry, "type", cli_json_text("Point"));
    cli_json_put(geometry, "coordinates", point);
    cli_json_put(about, "name", cli_json_text(own->name));
    cli_json_put(about, "verdict", cli_json_text(own->final));
    cli_json_put(about, "review", cli_json_text(serve_review_names[own->review]));
    cli_json_put(about, "certainty", cli_json_real(own->certainty));
    cli_json_put(about, "time", own->time[0] ? cli_json_text(own->time) : json_null());
    cli_json_put(feature, "type", cli_json_text("Feature"));
    cli_json_put(feature, "geometry", geometry);
    cli_json_put(feature, "properties", about);
    char *text = json_dumps(feature, JSON_COMPACT | JSON_REAL_PRECISION(10));
    json_decref(feature);
    if (!text) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    cli_output_print(&to->output, "%s\n", to->count++ ? "," : "");
    cli_output_bytes(&to->output, text, strlen(text));
    free(text);
    return BROAD_OK;
}

static int write_geojson(const serve_request *request, const char *path)
{
    writer own = {.request = request};
    int status = cli_output_open(&own.output, path);
    if (status) return status;
    cli_output_print(&own.output, "{\"type\":\"FeatureCollection\",\"features\":[");
    status = all_rows(request, put_feature, &own);
    cli_output_print(&own.output, "\n]}\n");
    return finish(&own, status);
}

static int put_placemark(void *context, const row *own)
{
    writer *to = context;
    if (!has_place(own)) return BROAD_OK;
    cli_html_put(&to->output, "<Placemark><name>");
    cli_html_text(&to->output, own->final);
    cli_html_put(&to->output, ": ");
    cli_html_text(&to->output, own->name);
    cli_html_put(&to->output, "</name>");
    if (own->time[0]) {
        cli_html_put(&to->output, "<TimeStamp><when>");
        cli_html_text(&to->output, own->time);
        cli_html_put(&to->output, "</when></TimeStamp>");
    }
    cli_output_print(&to->output, "<Point><coordinates>%.7f,%.7f", own->longitude, own->latitude);
    if (isfinite(own->altitude)) cli_output_print(&to->output, ",%.2f", own->altitude);
    cli_html_put(&to->output, "</coordinates></Point></Placemark>\n");
    return BROAD_OK;
}

static int write_kml(const serve_request *request, const char *path)
{
    writer own = {.request = request};
    int status = cli_output_open(&own.output, path);
    if (status) return status;
    cli_html_put(&own.output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                              "<kml xmlns=\"http://www.opengis.net/kml/2.2\"><Document>\n");
    status = all_rows(request, put_placemark, &own);
    cli_html_put(&own.output, "</Document></kml>\n");
    return finish(&own, status);
}

/* ---- the report ---- */

static void put_thumbnail(writer *to, const row *own)
{
    sqlite3_stmt *query = NULL;
    int status = serve_query_open(&query, &to->request->server->project.database,
                                  "SELECT jpeg FROM thumbnails WHERE photo=?", "i", own->id);
    if (!status && serve_query_row(query) > 0) {
        cli_html_put(&to->output, "<img alt=\"\" src=\"data:image/jpeg;base64,");
        cli_html_base64(&to->output, sqlite3_column_blob(query, 0), (size_t)sqlite3_column_bytes(query, 0));
        cli_html_put(&to->output, "\">");
    }
    serve_query_close(query);
}

enum { REPORT_PICTURES = 2000 };

static int put_card(void *context, const row *own)
{
    static const char *const states[] = {"not looked at", "agreed", "corrected"};
    writer *to = context;
    char time[32] = "", certainty[32] = "";
    if (own->time[0])
        snprintf(time, sizeof time, "%.10s %.5s", own->time, strlen(own->time) > 11 ? own->time + 11 : "");
    if (isfinite(own->certainty)) snprintf(certainty, sizeof certainty, "%.0f %%", 100 * own->certainty);
    cli_html_put(&to->output, "<tr><td>");
    if (to->count++ < REPORT_PICTURES) put_thumbnail(to, own);
    CLI_PAGE_PART(&to->output, cli_asset_review_html, "row", "name", own->name, "folder", own->folder, "verdict",
                  own->final, "model", own->label, "certainty", certainty, "state", states[own->review], "who",
                  own->who, "time", time);
    return BROAD_OK;
}

static int put_count(void *context, sqlite3_stmt *query)
{
    writer *own = context;
    cli_number count, reviewed;
    CLI_PAGE_PART(&own->output, cli_asset_review_html, "tally", "verdict", serve_query_text(query, 0), "count",
                  cli_number_count(&count, (size_t)sqlite3_column_int64(query, 1)), "reviewed",
                  cli_number_count(&reviewed, (size_t)sqlite3_column_double(query, 2)));
    return BROAD_OK;
}

static int put_tally(writer *own)
{
    sqlite3_stmt *query = NULL;
    serve_database_lock(&own->request->server->project.database);
    int status =
        serve_filter_open(&query, own->request, "coalesce(p.human, p.label, 'no verdict'), count(*), total(p.review>0)",
                          "GROUP BY 1 ORDER BY 2 DESC", 0);
    status = serve_query_each(query, status, put_count, own);
    serve_database_unlock(&own->request->server->project.database);
    return status;
}

static int write_report(const serve_request *request, const char *path)
{
    writer own = {.request = request};
    char title[256], day[CLI_DAY_BYTES];
    serve_project *project = &request->server->project;
    int status = serve_setting_get(title, sizeof title, project, "title");
    const char *slash = strrchr(project->folder, '/');
    if (!status && !*title) snprintf(title, sizeof title, "%s", slash && slash[1] ? slash + 1 : project->folder);
    if (!status) status = cli_output_open(&own.output, path);
    if (status) return status;
    cli_page_day(day);
    cli_page_begin(&own.output, title, cli_asset_review_css, NULL, 0);
    CLI_PAGE_PART(&own.output, cli_asset_review_html, "lead", "day", day);
    status = put_tally(&own);
    CLI_PAGE_PART(&own.output, cli_asset_review_html, "list", "day", day);
    if (!status) status = all_rows(request, put_card, &own);
    CLI_PAGE_PART(&own.output, cli_asset_review_html, "foot", "version", broad_version());
    return finish(&own, status);
}

/* ---- the tree ---- */

static int put_file(void *context, const row *own)
{
    writer *to = context;
    char folder[40], name[40], path[160];
    void *bytes = NULL;
    size_t count = 0;
    serve_tar_name(folder, sizeof folder, own->final[0] ? own->final : "no verdict");
    serve_tar_name(name, sizeof name, own->name);
    snprintf(path, sizeof path, "%s/%06lld-%s", folder, (long long)own->id, name);
    int status = serve_photo_read(&bytes, &count, &to->request->server->project, own->id);
    if (status) return BROAD_OK; /* its file has gone meanwhile */
    serve_tar_add(&to->output, path, bytes, count, serve_now() / 1000);
    free(bytes);
    return to->output.status;
}

static int write_tree(const serve_request *request, const char *path)
{
    writer own = {.request = request};
    int status = cli_output_open(&own.output, path);
    if (status) return status;
    status = all_rows(request, put_file, &own);
    serve_tar_end(&own.output);
    return finish(&own, status);
}

/* ---- all of them ---- */

static const serve_export exports[] = {
    {"csv", "text/csv; charset=utf-8", "photos.csv", write_csv},
    {"spreadsheet", "text/csv; charset=utf-8", "photos-spreadsheet.csv", write_spreadsheet},
    {"geojson", "application/geo+json", "photos.geojson", write_geojson},
    {"kml", "application/vnd.google-earth.kml+xml", "photos.kml", write_kml},
    {"report", "text/html; charset=utf-8", "report.html", write_report},
    {"tree", "application/x-tar", "photos.tar", write_tree},
    {"model", "application/octet-stream", "model.broad", NULL},
    {"onnx", "application/octet-stream", "model.onnx", NULL},
};

int serve_export_has_onnx(void)
{
    const cli_command *command = cli_command_find("export");
    return command && cli_option_named(command, "onnx");
}

const serve_export *serve_export_named(const char *name)
{
    for (size_t i = 0; i < sizeof exports / sizeof exports[0]; i++)
        if (strcmp(exports[i].name, name) == 0) return &exports[i];
    return NULL;
}
