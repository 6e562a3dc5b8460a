#include "run/photo_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "run/photo_summary.h"
#include "values.h"

enum { COPIES_MOST = 1000 };

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
            const char *near = broad__nearest(word, cli_map_names, CLI_MAPS);
            return cli_fail(BROAD_USAGE,
                            "--map: unknown map '%s'; give auto, or pixels, descriptors and windows, "
                            "separated by commas%s%s%s",
                            word, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
        }
        *out |= 1u << at;
    }
    return BROAD_OK;
}

/* The program is started with the first photo that it is asked about. */
static int ask_detector(broad_box_list *out, const char *file, void *context)
{
    cli_photo_reading *use = context;
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
static int set_crop(cli_photo_reading *use, const cli_arguments *arguments, int with_model)
{
    broad_photo_options *out = &use->options;
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

static int set_maps(broad_photo_options *out, cli_purpose purpose, const cli_arguments *arguments)
{
    const char *preset = cli_given(arguments, "preset");
    int paper = preset && strcmp(preset, "paper") == 0;
    int status = broad_photo_options_preset(out, paper ? BROAD_PRESET_PAPER : BROAD_PRESET_AUTO);
    if (!status) status = parse_maps(&out->maps, cli_given(arguments, "map"));
    if (!status) status = parse_components(&out->components, arguments);
    if (purpose == CLI_TO_LOOK) out->maps = BROAD_PHOTO_MAP_PIXELS; /* the cheapest */
    if (!status && cli_given(arguments, "side")) status = cli_count(&out->side, arguments, "side");
    if (!status && cli_given(arguments, "augment")) status = cli_count(&out->augment, arguments, "augment");
    if (!status && out->augment > COPIES_MOST)
        status =
            cli_fail(BROAD_USAGE, "--augment: %zu copies are too many; the maximum is %d", out->augment, COPIES_MOST);
    out->each_box = cli_given(arguments, "each-box") != NULL;
    return status;
}

int cli_photo_reading_open(cli_photo_reading *out, const broad_read_options *read, cli_purpose purpose,
                           const cli_arguments *arguments)
{
    broad_photo_options *options = &out->options;
    memset(out, 0, sizeof *out);
    broad_photo_options_init(options);
    int status = set_crop(out, arguments, read->model != NULL);
    if (!status && !read->model) status = set_maps(options, purpose, arguments);
    if (!status) status = cli_threads(&options->threads, arguments);
    if (!status && !read->model) status = cli_seed(&options->seed, arguments);
    if (read->model) options->seed = broad_model_seed(read->model);
    options->no_groups = read->model ? purpose != CLI_TO_REPORT : cli_given(arguments, "no-groups") != NULL;
    options->strict = cli_given(arguments, "strict") != NULL;
    options->cache = cache_folder(out->cache, sizeof out->cache, arguments);
    return status;
}

void cli_photo_reading_close(cli_photo_reading *reading) { cli_detector_stop(reading->detector); }
