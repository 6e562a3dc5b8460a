/* broad render: photos of solar panels with labels, and all that the renderer knows about them. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "compute/pool.h"
#include "image/codec/write.h"
#include "io/folder.h"
#include "io/json.h"
#include "io/output.h"
#include "io/progress.h"
#include "render/render.h"
#include "rng/philox.h"
#include "values.h"

enum { PHOTOS_MAX = 1000000, QUALITY = 92, NAME_BYTES = 64 };
enum { SEVERITY_DRAW = 1 }; /* a photo's own draws have numbers from 16 on */

/* One thread's pictures. */
typedef struct worker {
    broad__image photo, map; /* map: grey */
    unsigned char *panel, *dimmed;
} worker;

typedef struct render_run {
    const cli_arguments *arguments;
    size_t count, side;
    uint64_t seed;
    int by_severity, png, masks, visible;
    double start, last_drawn, seconds;
    cli_folder folder;
    cli_render_truth *truths;
    broad__pool *pool;
    worker *workers;
    size_t worker_count;
    atomic_size_t done;
    atomic_int stop;
    pthread_mutex_t lock; /* of the two below */
    int status;
    char message[1024]; /* of the first failure: a message belongs to its thread */
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
    FILE *file = fopen(path, "wbx");
    if (!file) return broad__fail(BROAD_CANNOT_WRITE, "%s: cannot be made: %s", path, strerror(errno));
    errno = 0;
    int failed = fwrite(bytes, 1, count, file) != count, reason = errno;
    if (fclose(file) && !failed) failed = 1, reason = errno;
    if (failed) return broad__fail(BROAD_IO, "%s: writing failed: %s", path, strerror(reason));
    return BROAD_OK;
}

static int write_photo(const render_run *run, const broad__image *photo, size_t index)
{
    char name[NAME_BYTES];
    void *bytes = NULL;
    size_t count = 0;
    photo_name(name, run, index);
    int status = run->png ? broad__write_png(&bytes, &count, photo) : broad__write_jpeg(&bytes, &count, photo, QUALITY);
    if (!status) status = write_file(run, name, bytes, count);
    broad__free(bytes);
    return status;
}

static int write_map(const render_run *run, broad__image *picture, const unsigned char *map, const char *what,
                     size_t index)
{
    char name[NAME_BYTES];
    void *bytes = NULL;
    size_t count = 0;
    for (size_t i = 0; i < run->side * run->side; i++) memset(&picture->pixels[3 * i], map[i], 3);
    map_name(name, what, index);
    int status = broad__write_png(&bytes, &count, picture);
    if (!status) status = write_file(run, name, bytes, count);
    broad__free(bytes);
    return status;
}

static int make_photo(render_run *run, worker *own, size_t index)
{
    cli_render_spec spec = {.wanted = class_wanted(run, index), .panel = own->panel, .dimmed = own->dimmed};
    if (run->by_severity) {
        broad__stream stream = {
            .seed = run->seed, .purpose = BROAD__FOR_DEMO, .layer = (uint32_t)index, .draw = SEVERITY_DRAW};
        spec.use_severity = 1;
        spec.severity = broad__random_at(&stream, 0);
    }
    int status =
        cli_render_photo(own->photo.pixels, run->side, run->side, run->seed, index, &spec, &run->truths[index]);
    if (!status) status = write_photo(run, &own->photo, index);
    if (!status && run->masks) status = write_map(run, &own->map, own->dimmed, "dirt", index);
    if (!status && run->masks) status = write_map(run, &own->map, own->panel, "panel", index);
    return status;
}

static void note_failure(render_run *run, int status)
{
    pthread_mutex_lock(&run->lock);
    if (!run->status) {
        run->status = status;
        snprintf(run->message, sizeof run->message, "%s", broad_error_message());
    }
    pthread_mutex_unlock(&run->lock);
    atomic_store(&run->stop, 1);
}

static void draw_bar(render_run *run)
{
    double now = broad__seconds();
    size_t done = atomic_load(&run->done);
    char left[32], text[96];
    if (!run->visible || done == 0 || now - run->last_drawn < 0.1) return;
    cli_format_duration(left, sizeof left, (now - run->start) / (double)done * (double)(run->count - done));
    snprintf(text, sizeof text, "photo %zu/%zu, %.0f a second, left %s", done, run->count,
             (double)done / (now - run->start), left);
    cli_bar("render", (double)done / (double)run->count, text);
    run->last_drawn = now;
}

static void photo_job(void *context, size_t index, size_t number)
{
    render_run *run = context;
    if (atomic_load(&run->stop) || cli_interrupted()) return;
    int status = make_photo(run, &run->workers[number], index);
    if (status) note_failure(run, status);
    else atomic_fetch_add(&run->done, 1);
    if (number == 0) draw_bar(run); /* the caller's thread */
}

/* ---- all photos ---- */

static int open_workers(render_run *run, size_t threads)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0) threads = processors > 0 ? (size_t)processors : 1;
    int status = broad__pool_open(&run->pool, threads < run->count ? threads : run->count);
    if (status) return status;
    run->worker_count = broad__pool_threads(run->pool);
    run->workers = broad__alloc_array(run->worker_count, sizeof *run->workers);
    run->truths = broad__alloc_array(run->count, sizeof *run->truths);
    if (!run->workers || !run->truths) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < run->worker_count && !status; i++) {
        worker *own = &run->workers[i];
        status = broad__image_init(&own->photo, run->side, run->side);
        if (status || !run->masks) continue;
        status = broad__image_init(&own->map, run->side, run->side);
        own->panel = broad__alloc_array(run->side, run->side);
        own->dimmed = broad__alloc_array(run->side, run->side);
        if (!status && (!own->panel || !own->dimmed)) status = BROAD_NO_MEMORY;
    }
    return status;
}

static void close_workers(render_run *run)
{
    broad__pool_close(run->pool);
    for (size_t i = 0; run->workers && i < run->worker_count; i++) {
        broad__image_free(&run->workers[i].photo);
        broad__image_free(&run->workers[i].map);
        broad__free(run->workers[i].panel);
        broad__free(run->workers[i].dimmed);
    }
    broad__free(run->workers);
    broad__free(run->truths);
}

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
    run->visible = isatty(STDERR_FILENO) && !cli_given(run->arguments, "quiet");
    run->start = broad__seconds();
    broad__pool_run(run->pool, run->count, photo_job, run);
    run->seconds = broad__seconds() - run->start;
    if (run->last_drawn > 0) cli_bar_wipe();
    if (run->status) return cli_fail(run->status, "%s", run->message);
    return cli_interrupted() ? BROAD_INTERRUPTED : BROAD_OK;
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
        return cli_fail(BROAD_CANNOT_WRITE, "%s: the name is too long", run->folder.path);
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

static int prepare(render_run *run, size_t *out_threads, const cli_arguments *arguments)
{
    broad_options options;
    memset(run, 0, sizeof *run);
    run->arguments = arguments;
    pthread_mutex_init(&run->lock, NULL);
    int status = cli_training_options(&options, arguments);
    if (!status) status = cli_count(&run->count, arguments, "count");
    if (!status) status = cli_count(&run->side, arguments, "size");
    if (status) return status;
    if (run->count > PHOTOS_MAX)
        return cli_fail(BROAD_USAGE, "--count: %zu are too many; %d is the most", run->count, PHOTOS_MAX);
    if (run->side < CLI_RENDER_SIDE_MIN || run->side > CLI_RENDER_SIDE_MAX)
        return cli_fail(BROAD_USAGE, "--size: a side of %zu pixels cannot be drawn; give %d to %d", run->side,
                        CLI_RENDER_SIDE_MIN, CLI_RENDER_SIDE_MAX);
    run->seed = options.seed;
    run->by_severity = cli_given(arguments, "severity") != NULL;
    run->masks = cli_given(arguments, "masks") != NULL;
    run->png = cli_choice(arguments, "format") == 1;
    *out_threads = options.threads;
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
    cli_json_put(object, "threads", json_integer((json_int_t)run->worker_count));
    cli_json_put(object, "seconds", cli_json_real(run->seconds));
    cli_json_put(object, "photos_per_second", cli_json_real(run->seconds > 0 ? (double)done / run->seconds : 0));
    return cli_json_give(run->arguments, object);
}

static void report_text(const render_run *run, const char *folder)
{
    size_t dusty = count_class(run, CLI_RENDER_DUSTY);
    printf("photos   %zu of %zu x %zu pixels in %s: %zu clean, %zu dusty\n", run->count, run->side, run->side, folder,
           run->count - dusty, dusty);
    printf("truth    %s/truth.csv", folder);
    if (run->by_severity) printf("; severity alone in %s/labels.csv", folder);
    if (run->masks) printf("; maps in %s/" MAPS_FOLDER, folder);
    printf("\ntime     %.2f s, %.0f photos a second\n", run->seconds, (double)run->count / run->seconds);
}

static int report(const render_run *run, const char *folder)
{
    if (cli_given(run->arguments, "json")) return report_json(run, folder, 1);
    report_text(run, folder);
    return BROAD_OK;
}

/* The note comes first, for whoever cannot wait until everything is removed and interrupts again. */
static int end_interrupted(render_run *run)
{
    size_t done = atomic_load(&run->done);
    cli_note(run->arguments, "interrupted after %zu of %zu photos; removing %s", done, run->count,
             run->folder.temporary);
    int status = cli_folder_abandon(&run->folder);
    if (!status && cli_given(run->arguments, "json")) status = report_json(run, NULL, 0);
    return status ? status : 128 + cli_interrupted();
}

static int fill_folder(render_run *run, size_t threads)
{
    int status = open_workers(run, threads);
    if (!status) status = make_folders(run);
    if (!status) status = make_photos(run);
    if (!status) status = write_tables(run);
    return !status && cli_interrupted() ? BROAD_INTERRUPTED : status;
}

int cli_render(const cli_arguments *arguments)
{
    render_run run;
    size_t threads = 0;
    const char *path = arguments->positional[0];
    int status = prepare(&run, &threads, arguments);
    if (status) goto cleanup;
    cli_signals_catch();
    status = cli_folder_begin(&run.folder, path);
    if (status) goto cleanup;
    status = fill_folder(&run, threads);
    if (status == BROAD_INTERRUPTED) {
        status = end_interrupted(&run);
    } else if (status) {
        int kept = cli_folder_abandon(&run.folder); /* what is left is worse than why */
        if (kept) status = kept;
    } else {
        status = cli_folder_commit(&run.folder);
        cli_signals_release();
        if (!status) status = report(&run, path);
    }

cleanup:
    close_workers(&run);
    pthread_mutex_destroy(&run.lock);
    return status;
}
