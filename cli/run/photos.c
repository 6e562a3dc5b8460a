#include "run/photos.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "io/detector.h"
#include "io/progress.h"
#include "nearest.h"
#include "run/photo_summary.h"
#include "values.h"

enum { COPIES_MOST = 1000 };

/* ---- paths ---- */

static int no_room(void) { return cli_fail(BROAD_NO_MEMORY, "out of memory while listing the photos"); }

/* Standard input as one block that ends with a zero. */
static int read_lines(char **out)
{
    size_t room = 1 << 16, used = 0;
    char *text = malloc(room);
    while (text) {
        size_t more = fread(text + used, 1, room - used - 1, stdin);
        used += more;
        if (!more) break;
        if (used + 1 < room) continue;
        char *larger = room < SIZE_MAX / 2 ? realloc(text, room * 2) : NULL;
        if (!larger) free(text);
        text = larger;
        room *= 2;
    }
    if (!text) return no_room();
    text[used] = 0;
    *out = text;
    if (!ferror(stdin)) return BROAD_OK;
    return cli_fail(BROAD_IO, "cannot read names from standard input: %s", strerror(errno));
}

/* One name a line; empty lines do not count. */
static int take_lines(cli_paths *out)
{
    size_t lines = 1;
    int status = read_lines(&out->lines);
    if (status) return status;
    for (const char *c = out->lines; *c; c++) lines += *c == '\n';
    free(out->items);
    out->items = calloc(lines, sizeof *out->items);
    if (!out->items) return no_room();
    out->count = 0;
    for (char *rest = out->lines, *line; (line = strsep(&rest, "\n"));) {
        size_t length = strlen(line);
        if (length && line[length - 1] == '\r') line[length - 1] = 0;
        if (line[0]) out->items[out->count++] = line;
    }
    if (out->count) return BROAD_OK;
    return cli_fail(BROAD_BAD_DATA, "there are no file names on standard input; give one per line");
}

int cli_paths_take(cli_paths *out, const cli_arguments *arguments, size_t first, int listed)
{
    memset(out, 0, sizeof *out);
    out->count = arguments->positional_count > first ? arguments->positional_count - first : 0;
    out->items = calloc(out->count + 1, sizeof *out->items);
    if (!out->items) return no_room();
    for (size_t i = 0; i < out->count; i++) out->items[i] = arguments->positional[first + i];
    return listed && out->count == 1 && strcmp(out->items[0], "-") == 0 ? take_lines(out) : BROAD_OK;
}

void cli_paths_clear(cli_paths *paths)
{
    free(paths->items);
    free(paths->lines);
    memset(paths, 0, sizeof *paths);
}

/* ---- options ---- */

static int parse_maps(unsigned *out, const char *text)
{
    char copy[128];
    if (!text) return BROAD_OK;
    *out = 0;
    if (strcmp(text, "auto") == 0) return BROAD_OK;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *rest = copy, *word; (word = strsep(&rest, ","));) {
        size_t at = 0;
        while (at < CLI_MAPS && strcmp(word, cli_map_names[at]) != 0) at++;
        if (at == CLI_MAPS) {
            const char *near = cli_nearest(word, cli_map_names, CLI_MAPS);
            return cli_fail(BROAD_USAGE,
                            "--map: unknown map '%s'; give auto, or pixels, descriptors and windows, "
                            "separated by commas%s%s%s",
                            word, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
        }
        *out |= 1u << at;
    }
    return BROAD_OK;
}

/* Started with the first photo that it is asked about. */
typedef struct detector_use {
    const char *command; /* NULL: none */
    double seconds;
    cli_detector *detector;
} detector_use;

static int ask_detector(broad_box_list *out, const char *file, void *context)
{
    detector_use *use = context;
    int status = use->detector ? BROAD_OK : cli_detector_start(&use->detector, use->command, use->seconds);
    return status ? status : cli_detector_ask(out, use->detector, file);
}

static int parse_seconds(double *out, const cli_arguments *arguments)
{
    const char *text = cli_value(arguments, "detector-seconds");
    char *end = NULL;
    if (!text) return BROAD_OK;
    *out = strtod(text, &end);
    if (end != text && *end == 0 && *out > 0 && *out <= 1e6) return BROAD_OK;
    return cli_fail(BROAD_USAGE, "--detector-seconds: '%s' is not a number of seconds above 0, such as 60", text);
}

/* The folder of prepared features: as given, or where caches are. NULL: none. */
static const char *cache_folder(char *room, size_t bytes, const cli_arguments *arguments)
{
    const char *given = cli_given(arguments, "cache");
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (given) return strcmp(given, "no") ? given : NULL;
    if (base && base[0] == '/') length = snprintf(room, bytes, "%s/broad", base);
    else if (home && home[0] == '/') length = snprintf(room, bytes, "%s/.cache/broad", home);
    return length > 0 && (size_t)length < bytes ? room : NULL;
}

/* A model of photos is told nothing but where the boxes come from; the rest is its own. */
static int set_crop(broad_photo_options *out, detector_use *use, const cli_arguments *arguments, int with_model)
{
    const char *command = cli_given(arguments, "detector");
    out->boxes = cli_given(arguments, "boxes");
    if (out->boxes && command) return cli_fail(BROAD_USAGE, "--boxes and --detector were both given; choose one");
    if (command && !*command) return cli_fail(BROAD_USAGE, "--detector: the command is empty");
    use->command = command;
    if (command) out->find_boxes = ask_detector;
    out->find_boxes_context = use;
    if (with_model) out->crop = BROAD_CROP_MODEL;
    else out->crop = out->boxes ? BROAD_CROP_BOXES : command ? BROAD_CROP_DETECTOR : BROAD_CROP_NONE;
    return parse_seconds(&use->seconds, arguments);
}

/* A command that looks at photos, says everything itself and needs no inputs: the cheapest map will do. */
static int only_looks(const cli_arguments *arguments)
{
    return arguments->command->run == cli_data && !cli_given(arguments, "export");
}

static int parse_components(size_t *out, const cli_arguments *arguments)
{
    const char *given = cli_given(arguments, "components");
    if (!given) return BROAD_OK;
    *out = strcmp(given, "none") == 0 ? BROAD_COMPONENTS_NONE : 0;
    if (*out || strcmp(given, "auto") == 0) return BROAD_OK;
    int status = cli_count(out, arguments, "components");
    if (!status && !*out) status = cli_fail(BROAD_USAGE, "--components: give a number of at least 1, auto or none");
    return status;
}

static int set_maps(broad_photo_options *out, const cli_arguments *arguments)
{
    const char *preset = cli_given(arguments, "preset");
    int paper = preset && strcmp(preset, "paper") == 0;
    int status = broad_photo_options_preset(out, paper ? BROAD_PRESET_PAPER : BROAD_PRESET_AUTO);
    if (!status) status = parse_maps(&out->maps, cli_given(arguments, "map"));
    if (!status) status = parse_components(&out->components, arguments);
    if (only_looks(arguments)) out->maps = BROAD_PHOTO_MAP_PIXELS;
    if (!status && cli_given(arguments, "side")) status = cli_count(&out->side, arguments, "side");
    if (!status && cli_given(arguments, "augment")) status = cli_count(&out->augment, arguments, "augment");
    if (!status && out->augment > COPIES_MOST)
        status =
            cli_fail(BROAD_USAGE, "--augment: %zu copies are too many; the maximum is %d", out->augment, COPIES_MOST);
    out->each_box = cli_given(arguments, "each-box") != NULL;
    return status;
}

static int photo_options(broad_photo_options *out, detector_use *use, char *cache, size_t cache_bytes,
                         const broad_read_options *read, const cli_arguments *arguments)
{
    int groups = arguments->command->run == cli_report; /* it tells of near-duplicates */
    broad_photo_options_init(out);
    int status = set_crop(out, use, arguments, read->model != NULL);
    if (!status && !read->model) status = set_maps(out, arguments);
    if (!status) status = cli_threads(&out->threads, arguments);
    if (!status && !read->model) status = cli_seed(&out->seed, arguments);
    if (read->model) out->seed = broad_model_seed(read->model);
    out->no_groups = read->model ? !groups : cli_given(arguments, "no-groups") != NULL;
    out->strict = cli_given(arguments, "strict") != NULL;
    out->cache = cache_folder(cache, cache_bytes, arguments);
    return status;
}

/* ---- what the paths are ---- */

int cli_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

typedef enum looks { LOOKS_UNKNOWN, LOOKS_PICTURE, LOOKS_TABLE } looks;

static int begins(const unsigned char *start, size_t at, const char *with, size_t count)
{
    return memcmp(start + at, with, count) == 0;
}

/* From the first bytes: pictures of any common format; or text, gzip, NPY and IDX. */
static looks look_at(const char *path)
{
    unsigned char start[16] = {0};
    size_t bytes = 0;
    struct stat info;
    if (stat(path, &info) || !S_ISREG(info.st_mode)) return LOOKS_UNKNOWN;
    if (broad__file_read_start(start, &bytes, path, sizeof start) || bytes < 4) return LOOKS_UNKNOWN;
    if (begins(start, 0, "\xff\xd8\xff", 3) || begins(start, 0, "\x89PNG", 4) || begins(start, 0, "GIF8", 4) ||
        begins(start, 0, "II*\0", 4) || begins(start, 0, "MM\0*", 4) || begins(start, 4, "ftyp", 4) ||
        begins(start, 8, "WEBP", 4) || (begins(start, 0, "BM", 2) && begins(start, 6, "\0\0\0\0", 4)))
        return LOOKS_PICTURE;
    if (begins(start, 0, "\x93NUM", 4) || begins(start, 0, "\x1f\x8b", 2)) return LOOKS_TABLE;
    if (begins(start, 0, "\0\0", 2) && start[2] >= 8 && start[2] <= 14) return LOOKS_TABLE;
    for (size_t i = 0; i < bytes; i++)
        if (start[i] < ' ' && !strchr("\t\r\n", start[i])) return LOOKS_UNKNOWN;
    return LOOKS_TABLE;
}

/* *out: whether the paths are photos. What cannot be is refused with the reason. */
static int tell_kind(int *out, const char *const *paths, size_t count, const broad_model *model)
{
    int folder = cli_is_folder(paths[0]);
    looks what = look_at(paths[0]);
    *out = model ? broad_model_maps(model) != 0 : folder;
    if (model && !*out && (folder || what == LOOKS_PICTURE))
        return cli_fail(BROAD_BAD_DATA,
                        "%s is a %s, but the model was trained on a table of %zu inputs; give a table, or train a "
                        "model on photos with 'broad fit PHOTOS/'",
                        paths[0], folder ? "folder" : "photo", broad_model_inputs(model));
    if (*out && count == 1 && what == LOOKS_TABLE)
        return cli_fail(
            BROAD_BAD_DATA,
            "%s is not a photo, and the model was trained on photos; give JPEG or PNG files, or a folder of "
            "them",
            paths[0]);
    if (!model && what == LOOKS_PICTURE)
        return cli_fail(
            BROAD_BAD_DATA,
            "%s is a photo; give the folder that contains the photos, with one sub-folder per class, or with "
            "--labels LIST.csv",
            paths[0]);
    if (!*out && count > 1)
        return cli_fail(BROAD_USAGE,
                        "%zu files were given, but only photos can be given as several files; give one table", count);
    return BROAD_OK;
}

/* Options that would do nothing are a mistake. */
static int check_options(const cli_arguments *arguments, int photos, const char *path)
{
    static const char *const for_photos[] = {"map", "side", "each-box", "augment", "no-groups", "boxes", "detector"};
    static const char *const for_tables[] = {"categorical", "missing"};
    const char *const *wrong = photos ? for_tables : for_photos;
    size_t count = photos ? sizeof for_tables / sizeof for_tables[0] : sizeof for_photos / sizeof for_photos[0];
    for (size_t i = 0; i < count; i++)
        if (cli_given(arguments, wrong[i]))
            return cli_fail(BROAD_USAGE, "--%s is for %s, and %s is %s", wrong[i], photos ? "tables" : "photos", path,
                            photos ? "a folder or file of photos" : "a table");
    return BROAD_OK;
}

/* ---- reading ---- */

typedef struct reading_bar {
    int visible, drawn;
    double start, last;
} reading_bar;

static int on_progress(const broad_progress *progress, void *context)
{
    reading_bar *bar = context;
    size_t done = progress->done, total = progress->total;
    double now = broad__seconds();
    if (bar->visible && total && (now - bar->last > 0.1 || done == total)) {
        char text[96], left[32];
        cli_format_duration(left, sizeof left, done ? (now - bar->start) * (double)(total - done) / (double)done : 0);
        snprintf(text, sizeof text, "%zu/%zu, left %s", done, total, done ? left : "?");
        cli_bar("photos", (double)done / (double)total, text);
        bar->last = now;
        bar->drawn = 1;
    }
    return cli_interrupted() != 0;
}

static int read_photos(broad_data **out, const char *const *paths, size_t count, const broad_read_options *options,
                       const cli_arguments *arguments)
{
    char cache[PATH_MAX];
    broad_photo_options photos;
    detector_use detector = {0};
    broad_read_options read = *options;
    reading_bar bar = {.visible = isatty(STDERR_FILENO) && !cli_given(arguments, "quiet"), .start = broad__seconds()};
    int status = photo_options(&photos, &detector, cache, sizeof cache, options, arguments);
    if (status) return status;
    read.progress = on_progress;
    read.progress_context = &bar;
    read.photos = &photos;
    int outermost = cli_signals_catch();
    status = broad_data_read_photos(out, paths, count, &read);
    cli_detector_stop(detector.detector);
    if (outermost) cli_signals_release();
    if (bar.drawn) cli_bar_wipe();
    if (status != BROAD_INTERRUPTED) return status;
    return cli_fail(status, "interrupted while reading photos; nothing was written");
}

static int tell(json_t **record, const broad_data *data, const broad_read_options *options,
                const cli_arguments *arguments)
{
    cli_photo_facts facts;
    int status = cli_photo_facts_make(&facts, data);
    if (status) return status;
    if (!only_looks(arguments)) cli_note_skipped(data, arguments);
    if (!options->model && !only_looks(arguments)) cli_note_facts(data, &facts, arguments);
    if (record && !*record) *record = json_object();
    if (record) cli_photos_record(*record, data, &facts);
    cli_photo_facts_clear(&facts);
    return BROAD_OK;
}

int cli_read(broad_data **out, json_t **record, const char *const *paths, size_t count,
             const broad_read_options *options, const cli_arguments *arguments)
{
    broad_data *data = NULL;
    broad_read_options read = *options;
    int photos = 0;
    int status = tell_kind(&photos, paths, count, options->model);
    if (!status) status = check_options(arguments, photos, paths[0]);
    if (!status) status = cli_memory(&read.memory, arguments);
    if (!status) status = cli_threads(&read.threads, arguments);
    if (status) return status;
    status = photos ? read_photos(&data, paths, count, &read, arguments) : broad_data_read(&data, paths[0], &read);
    if (!status && photos) status = tell(record, data, options, arguments);
    if (status) broad_data_free(data);
    else *out = data;
    return status;
}
