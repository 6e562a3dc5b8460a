/* broad render: photos of solar panels with labels, and all that the renderer knows about them. */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "io/folder.h"
#include "io/jobs.h"
#include "io/json.h"
#include "io/output.h"
#include "io/progress.h"
#include "page/picture_file.h"
#include "render/render.h"
#include "values.h"

enum { PHOTOS_MAX = 1000000, QUALITY = 92, NAME_BYTES = 64, BATCH = 4 };
enum { SEVERITY_DRAW = 1 }; /* a photo's own draws have numbers from 16 on */

/* What a photo is made in. */
typedef struct workshop {
    broad_picture *photo, *map; /* map: grey, NULL without masks */
    unsigned char *panel, *dimmed;
} workshop;

typedef struct render_run {
    const cli_arguments *arguments;
    size_t count, side, threads;
    uint64_t seed;
    int by_severity, png, masks;
    double seconds;
    cli_folder folder;
    cli_render_truth *truths;
    atomic_size_t done;
} render_run;

/* ---- names ---- */

/* The classes take turns, so that any number of photos is half and half and a longer run begins with the same photos. */
static cli_render_class class_wanted(const render_run *run, size_t index)
{
    if (run->by_severity) return CLI_RENDER_ANY;
    return index % 2 ? CLI_RENDER_DUSTY : CLI_RENDER_CLEAN;
}

static const char *class_name(cli_render_class class_is) { return class_is == CLI_RENDER_DUSTY ? "Dusty" : "Clean"; }

/* From DIR on. */
static void photo_name(char out[NAME_BYTES], const render_run *run, size_t index)
{
    const char *folder = run->by_severity ? "photos" : class_name(class_wanted(run, index));
    snprintf(out, NAME_BYTES, "%s/%06zu.%s", folder, index + 1, run->png ? "png" : "jpg");
}

/* A hidden folder: readers of photos in folders would take another one for a class. */
#define MAPS_FOLDER ".masks"

static void map_name(char out[NAME_BYTES], const char *what, size_t index)
{
    snprintf(out, NAME_BYTES, MAPS_FOLDER "/%s/%06zu.png", what, index + 1);
}

/* ---- one photo, on any thread ---- */

static int write_file(const render_run *run, const char *name, const void *bytes, size_t count)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", run->folder.temporary, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return broad__fail(BROAD_CANNOT_WRITE, "%s: the name is too long", run->folder.path);
    return cli_write_new(path, bytes, count);
}

static int write_photo(const render_run *run, const broad_picture *photo, size_t index)
{
    char name[NAME_BYTES];
    void *bytes = NULL;
    size_t count = 0;
    photo_name(name, run, index);
    int status =
        run->png ? broad_picture_png(&bytes, &count, photo) : broad_picture_jpeg(&bytes, &count, photo, QUALITY);
    if (!status) status = write_file(run, name, bytes, count);
    broad_free(bytes);
    return status;
}

static int write_map(const render_run *run, broad_picture *picture, const unsigned char *map, const char *what,
                     size_t index)
{
    char name[NAME_BYTES];
    void *bytes = NULL;
    size_t count = 0;
    unsigned char *pixels = broad_picture_pixels(picture);
    for (size_t i = 0; i < run->side * run->side; i++) memset(&pixels[3 * i], map[i], 3);
    map_name(name, what, index);
    int status = broad_picture_png(&bytes, &count, picture);
    if (!status) status = write_file(run, name, bytes, count);
    broad_free(bytes);
    return status;
}

static void close_workshop(workshop *own)
{
    broad_picture_free(own->photo);
    broad_picture_free(own->map);
    broad__free(own->panel);
    broad__free(own->dimmed);
}

static int open_workshop(workshop *out, const render_run *run)
{
    int status = broad_picture_new(&out->photo, run->side, run->side);
    if (status || !run->masks) return status;
    out->panel = broad__alloc_array(run->side, run->side);
    out->dimmed = broad__alloc_array(run->side, run->side);
    if (!out->panel || !out->dimmed) return BROAD_NO_MEMORY;
    return broad_picture_new(&out->map, run->side, run->side);
}

static int draw_photo(const render_run *run, workshop *own, size_t index)
{
    cli_render_spec spec = {.wanted = class_wanted(run, index), .panel = own->panel, .dimmed = own->dimmed};
    if (run->by_severity) {
        broad_random stream;
        broad_random_init(&stream, run->seed, BROAD_RANDOM_PURPOSE_PICTURES);
        stream.number = (uint32_t)index;
        stream.draw = SEVERITY_DRAW;
        spec.use_severity = 1;
        spec.severity = broad_random_at(&stream, 0);
    }
    return cli_render_photo(broad_picture_pixels(own->photo), run->side, run->side, run->seed, index, &spec,
                            &run->truths[index]);
}

static int photo_job(void *context, size_t index, size_t count)
{
    render_run *run = context;
    workshop own = {0};
    (void)count; /* one at a time */
    int status = open_workshop(&own, run);
    if (!status) status = draw_photo(run, &own, index);
    if (!status) status = write_photo(run, own.photo, index);
    if (!status && run->masks) status = write_map(run, own.map, own.dimmed, "dirt", index);
    if (!status && run->masks) status = write_map(run, own.map, own.panel, "panel", index);
    close_workshop(&own);
    if (!status) atomic_fetch_add(&run->done, 1);
    return status;
}

/* ---- all photos ---- */

static int make_folders(const render_run *run)
{
    static const char *const classes[] = {"Clean", "Dusty"}, *const one[] = {"photos"};
    static const char *const maps[] = {MAPS_FOLDER, MAPS_FOLDER "/dirt", MAPS_FOLDER "/panel"};
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < (run->by_severity ? 1 : 2); i++)
        status = cli_folder_add(&run->folder, run->by_severity ? one[i] : classes[i]);
    for (size_t i = 0; !status && run->masks && i < 3; i++) status = cli_folder_add(&run->folder, maps[i]);
    return status;
}

static int make_photos(render_run *run)
{
    double start = broad__seconds();
    int status = cli_jobs_run(run->count, 1, run->threads, photo_job, run, "render", run->arguments);
    run->seconds = broad__seconds() - start;
    return status;
}

/* ---- what is known about them ---- */

static void put_dirt(cli_output *output, unsigned dirt)
{
    static const char *const names[] = {"dust", "streaks", "droppings", "leaves",
                                        "pollen"}; /* bits of cli_render_dirt */
    const char *between = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!(dirt >> i & 1)) continue;
        cli_output_print(output, "%s%s", between, names[i]);
        between = "+";
    }
}

static void put_truth(cli_output *output, const char *name, const cli_render_truth *truth)
{
    cli_output_print(output, "%s,%s,%.6f,%.6f,%.6f,", name, class_name(truth->class_is), truth->severity,
                     truth->transmittance, truth->coverage);
    put_dirt(output, truth->dirt);
    cli_output_print(output, ",%zu,%zu,%zu,%zu\n", truth->box[0], truth->box[1], truth->box[2], truth->box[3]);
}

static int write_table(const render_run *run, const char *name, const char *header, int only_severity)
{
    char path[PATH_MAX], photo[NAME_BYTES];
    cli_output output;
    int length = snprintf(path, sizeof path, "%s/%s", run->folder.temporary, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return cli_fail(BROAD_CANNOT_WRITE, "%s: the path is too long", run->folder.path);
    cli_output_open(&output, path);
    cli_output_print(&output, "%s\n", header);
    for (size_t i = 0; i < run->count; i++) {
        photo_name(photo, run, i);
        if (only_severity) cli_output_print(&output, "%s,%.6f\n", photo, run->truths[i].severity);
        else put_truth(&output, photo, &run->truths[i]);
    }
    return cli_output_close(&output);
}

static int write_tables(const render_run *run)
{
    int status = run->by_severity ? write_table(run, "labels.csv", "file,severity", 1) : BROAD_OK;
    if (status) return status;
    return write_table(run, "truth.csv", "file,label,severity,transmittance,coverage,dirt,left,top,right,bottom", 0);
}

/* ---- the command ---- */

/* As many threads as there are photos at most. */
static size_t threads_used(size_t wanted, size_t photos)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (wanted == 0) wanted = processors > 0 ? (size_t)processors : 1;
    return wanted < photos ? wanted : photos;
}

static int prepare(render_run *run, const cli_arguments *arguments)
{
    broad_options options;
    memset(run, 0, sizeof *run);
    run->arguments = arguments;
    int status = cli_training_options(&options, arguments);
    if (!status) status = cli_count(&run->count, arguments, "count");
    if (!status) status = cli_count(&run->side, arguments, "size");
    if (status) return status;
    if (run->count > PHOTOS_MAX)
        return cli_fail(BROAD_USAGE, "--count: %zu is too large; the maximum is %d", run->count, PHOTOS_MAX);
    if (run->side < CLI_RENDER_SIDE_MIN || run->side > CLI_RENDER_SIDE_MAX)
        return cli_fail(BROAD_USAGE, "--size: %zu is out of range; give %d to %d pixels", run->side,
                        CLI_RENDER_SIDE_MIN, CLI_RENDER_SIDE_MAX);
    run->seed = options.seed;
    run->by_severity = cli_given(arguments, "severity") != NULL;
    run->masks = cli_given(arguments, "masks") != NULL;
    run->png = cli_choice(arguments, "format") == 1;
    run->threads = threads_used(options.threads, run->count);
    return BROAD_OK;
}

static size_t count_class(const render_run *run, cli_render_class class_is)
{
    size_t count = 0;
    for (size_t i = 0; i < run->count; i++) count += run->truths[i].class_is == class_is;
    return count;
}

/* There is nothing to show for an interrupted run but how far it came. */
static int report_json(const render_run *run, const char *folder, int complete)
{
    json_t *object = cli_json_object("render");
    size_t done = atomic_load(&run->done);
    cli_json_put(object, "folder", complete ? cli_json_text(folder) : json_null());
    cli_json_put(object, "complete", json_boolean(complete));
    cli_json_put(object, "photos", json_integer((json_int_t)(complete ? run->count : 0)));
    cli_json_put(object, "clean", json_integer((json_int_t)(complete ? count_class(run, CLI_RENDER_CLEAN) : 0)));
    cli_json_put(object, "dusty", json_integer((json_int_t)(complete ? count_class(run, CLI_RENDER_DUSTY) : 0)));
    cli_json_put(object, "size", json_integer((json_int_t)run->side));
    cli_json_put(object, "format", cli_json_text(run->png ? "png" : "jpeg"));
    cli_json_put(object, "seed", cli_json_uint(run->seed));
    cli_json_put(object, "labels", complete && run->by_severity ? cli_json_text("labels.csv") : json_null());
    cli_json_put(object, "truth", complete ? cli_json_text("truth.csv") : json_null());
    cli_json_put(object, "masks", complete && run->masks ? cli_json_text(MAPS_FOLDER) : json_null());
    cli_json_put(object, "threads", json_integer((json_int_t)run->threads));
    cli_json_put(object, "seconds", cli_json_real(run->seconds));
    cli_json_put(object, "photos_per_second", cli_json_real(run->seconds > 0 ? (double)done / run->seconds : 0));
    return cli_json_give(run->arguments, object);
}

static void report_text(const render_run *run, const char *folder)
{
    size_t dusty = count_class(run, CLI_RENDER_DUSTY);
    cli_print("photos   %zu of %zu x %zu pixels in %s: %zu clean, %zu dusty\n", run->count, run->side, run->side,
              folder, run->count - dusty, dusty);
    cli_print("truth    %s/truth.csv", folder);
    if (run->by_severity) cli_print("; severities in %s/labels.csv", folder);
    if (run->masks) cli_print("; masks in %s/" MAPS_FOLDER, folder);
    cli_print("\ntime     %.2f s, %.0f photos per second\n", run->seconds, (double)run->count / run->seconds);
}

static int report(const render_run *run, const char *folder)
{
    if (cli_given(run->arguments, "json")) return report_json(run, folder, 1);
    report_text(run, folder);
    return BROAD_OK;
}

/* The note comes first, since a second interrupt may end the removal. */
static int end_interrupted(render_run *run)
{
    size_t done = atomic_load(&run->done);
    cli_note(run->arguments, "interrupted after %zu of %zu photos; removing %s", done, run->count,
             run->folder.temporary);
    int status = cli_folder_abandon(&run->folder);
    if (!status && cli_given(run->arguments, "json")) status = report_json(run, NULL, 0);
    return status ? status : 128 + cli_interrupted();
}

static int fill_folder(render_run *run)
{
    run->truths = broad__alloc_array(run->count, sizeof *run->truths);
    int status = run->truths ? make_folders(run) : BROAD_NO_MEMORY;
    if (!status) status = make_photos(run);
    if (!status) status = write_tables(run);
    return !status && cli_interrupted() ? BROAD_INTERRUPTED : status;
}

int cli_render(const cli_arguments *arguments)
{
    render_run run;
    const char *path = arguments->positional[0];
    int status = prepare(&run, arguments);
    if (status) goto cleanup;
    cli_signals_catch();
    status = cli_folder_begin(&run.folder, path);
    if (status) goto cleanup;
    status = fill_folder(&run);
    if (status == BROAD_INTERRUPTED) {
        status = end_interrupted(&run);
    } else if (status) {
        int kept = cli_folder_abandon(&run.folder); /* a folder left behind matters more than why */
        if (kept) status = kept;
    } else {
        status = cli_folder_commit(&run.folder);
        cli_signals_release();
        if (!status) status = report(&run, path);
    }

cleanup:
    broad__free(run.truths);
    return status;
}
