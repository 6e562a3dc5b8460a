/*
 * Which settings are tried. The starts are the presets of every kind as they are, plain fit first. Some random draws
 * follow: each setting either stays as the preset has it or gets a word of its row. After these, two trials of three
 * change one setting or two of a trial among the best, and the third is a further random draw. No network is tried twice,
 * whatever it is called.
 */
#include "tune/tune_space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

typedef struct space_row {
    const char *option;
    const char *kinds;      /* with blanks between; NULL: all */
    const char *words;      /* "a|b|c"; NULL: numbers only */
    int ordered;            /* the words go from small to large: a change goes to a neighbour */
    double lowest, highest; /* above 0: also numbers between, even on a logarithmic scale */
} space_row;

/* clang-format off */
static const space_row space[] = {
    /* These bring settings of their own, and come first. */
    {"weights",    "bscrls brls",     "chain|joint",                                    0, 0, 0},
    {"weights",    "scn",             "chain|window|joint",                             0, 0, 0},
    {"supervise",  "bscrls",          "gcv|residual|loo|none",                          0, 0, 0},
    {"activation", NULL,              "tanh|sigmoid|relu|sine|gaussian",                0, 0, 0},
    {"scale",      NULL,              "standard|minmax|none",                           0, 0, 0},
    {"lambda",     NULL,              "auto",                                           0, 1e-8, 100},
    {"range",      NULL,              "auto",                                           0, 0.05, 20},
    {"features",   "bscrls brls bls", "5x10|10x10|10x20|20x20|20x40|40x40",             1, 0, 0},
    {"enhance",    "bscrls brls",     "100x2|100x5|100x10|200x10|100x50|600x8|1000x8",  1, 0, 0},
    {"enhance",    "bls rvfl",        "100x1|200x1|500x1|1000x1|2000x1|4000x1|8000x1",  1, 0, 0},
    {"enhance",    "scn",             "1x50|1x100|5x50|10x50|20x50|50x40",              1, 0, 0},
};
/* clang-format on */

enum { SPACE = sizeof space / sizeof space[0], DRAWS = 4, ATTEMPTS = 64, VALUE_BYTES = 8192 };
_Static_assert(sizeof space / sizeof space[0] <= (size_t)TUNE_ROWS_MAX, "a setting has a word for each row");

/* ---- words ---- */

static size_t count_words(const char *words)
{
    size_t count = words ? 1 : 0;
    for (; words && *words; words++) count += *words == '|';
    return count;
}

static void word_at(char out[TUNE_WORD], const char *words, size_t index)
{
    for (; index > 0; index--) words = strchr(words, '|') + 1;
    snprintf(out, TUNE_WORD, "%.*s", (int)strcspn(words, "|"), words);
}

/* Its place among the words, their number if it is none of them. */
static size_t find_word(const char *words, const char *word)
{
    char other[TUNE_WORD];
    size_t count = count_words(words);
    for (size_t i = 0; i < count; i++) {
        word_at(other, words, i);
        if (strcmp(other, word) == 0) return i;
    }
    return count;
}

static int names_have(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (; names && *names; names += strspn(names, " ")) {
        size_t word = strcspn(names, " ");
        if (word == length && memcmp(names, name, length) == 0) return 1;
        names += word;
    }
    return 0;
}

/* ---- the search ---- */

static int add_name(char (*names)[TUNE_WORD], size_t *count, const char *name, size_t length)
{
    if (*count == TUNE_KINDS_MAX || length >= TUNE_WORD) return cli_fail(BROAD_USAGE, "--kinds: the list is too long");
    for (size_t i = 0; i < *count; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) return BROAD_OK;
    snprintf(names[(*count)++], TUNE_WORD, "%.*s", (int)length, name);
    return BROAD_OK;
}

/* The words of `list` between `separator`s, each a choice of the library's option. */
static int add_names(char (*names)[TUNE_WORD], size_t *count, const char *option, const char *list, char separator)
{
    const char stops[2] = {separator, 0};
    char word[TUNE_WORD];
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, stops);
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        const char *choices = cli_library_option(option)->choices;
        if (length >= sizeof word || find_word(choices, word) == count_words(choices)) {
            char listed[160];
            cli_format_choices(listed, sizeof listed, choices);
            return cli_fail(BROAD_USAGE, "--%ss: unknown %s '%.*s'; give a list of %s, separated by commas", option,
                            option, (int)length, at, listed);
        }
        int status = add_name(names, count, at, length);
        if (status) return status;
        at += length;
        if (!*at) return BROAD_OK;
    }
}

int tune_search_begin(tune_search *out, const cli_arguments *arguments)
{
    const char *kinds = cli_given(arguments, "kinds"), *kind = cli_given(arguments, "kind");
    const char *preset = cli_given(arguments, "preset");
    memset(out, 0, sizeof *out);
    out->arguments = arguments;
    if (kinds && kind) return cli_fail(BROAD_USAGE, "--kinds and --kind were both given; choose one");
    int status = BROAD_OK;
    if (kinds || kind) status = add_names(out->kinds, &out->kind_count, "kind", kinds ? kinds : kind, ',');
    else status = add_names(out->kinds, &out->kind_count, "kind", cli_library_option("kind")->choices, '|');
    if (!status)
        status = add_names(out->presets, &out->preset_count, "preset",
                           preset ? preset : cli_library_option("preset")->choices, '|');
    return status;
}

void tune_search_end(tune_search *search)
{
    for (size_t i = 0; i < search->count; i++) tune_trial_clear(&search->trials[i]);
    free(search->trials);
    search->trials = NULL;
    search->count = search->room = 0;
}

size_t tune_starts(const tune_search *search) { return search->kind_count * search->preset_count; }

void tune_trial_clear(tune_trial *trial)
{
    json_decref(trial->arguments);
    json_decref(trial->network);
    free(trial->scores);
    trial->arguments = trial->network = NULL;
    trial->scores = NULL;
}

int tune_add(tune_search *search, tune_trial *trial)
{
    if (search->count == search->room) {
        size_t room = search->room ? 2 * search->room : 64;
        tune_trial *more = realloc(search->trials, room * sizeof *more);
        if (!more) {
            tune_trial_clear(trial);
            return cli_fail(BROAD_NO_MEMORY, "out of memory while storing a trial");
        }
        search->trials = more;
        search->room = room;
    }
    search->trials[search->count++] = *trial;
    trial->arguments = trial->network = NULL;
    trial->scores = NULL;
    return BROAD_OK;
}

int tune_better(const tune_search *search, double score, double other)
{
    return search->measure->lower_is_better ? score < other : score > other;
}

size_t tune_best(size_t *out, size_t most, const tune_search *search)
{
    size_t count = 0;
    for (size_t i = 0; i < search->count; i++) {
        if (search->trials[i].end != TUNE_DONE) continue;
        size_t at = count;
        while (at > 0 && tune_better(search, search->trials[i].score, search->trials[out[at - 1]].score)) at--;
        if (at == most) continue;
        if (count < most) count++;
        memmove(out + at + 1, out + at, (count - at - 1) * sizeof *out);
        out[at] = i;
    }
    return count;
}

/* ---- draws ---- */

typedef struct dice {
    broad_random stream;
    uint64_t next;
} dice;

static double uniform(dice *d) { return broad_random_at(&d->stream, d->next++); }

static size_t below(dice *d, size_t count) { return (size_t)(uniform(d) * (double)count); }

/* Two digits are as fine as it matters. */
static void put_number(char out[TUNE_WORD], const space_row *row, double value)
{
    if (value < row->lowest) value = row->lowest;
    if (value > row->highest) value = row->highest;
    snprintf(out, TUNE_WORD, "%.2g", value);
}

static void draw_word(char out[TUNE_WORD], const space_row *row, dice *d)
{
    size_t words = count_words(row->words);
    if (row->highest > 0 && (!words || uniform(d) < 0.7))
        put_number(out, row, row->lowest * pow(row->highest / row->lowest, uniform(d)));
    else word_at(out, row->words, below(d, words));
}

/* Something near what is there; far away where there is nothing near. */
static void change_word(char word[TUNE_WORD], const space_row *row, dice *d)
{
    size_t words = count_words(row->words), place = find_word(row->words, word);
    if (word[0] && uniform(d) < 0.15) {
        word[0] = 0;
    } else if (word[0] && place < words && row->ordered) {
        size_t next = uniform(d) < 0.5 ? place + 1 : place - 1;
        if (next < words) word_at(word, row->words, next);
    } else if (word[0] && place == words && row->highest > 0) {
        put_number(word, row, strtod(word, NULL) * pow(10, 1.2 * (uniform(d) - 0.5)));
    } else {
        draw_word(word, row, d);
    }
}

/* The rows that a kind has and that were not given on the command line. */
static size_t open_rows(size_t out[SPACE], const char *kind, const cli_arguments *arguments)
{
    size_t count = 0;
    for (size_t i = 0; i < SPACE; i++)
        if ((!space[i].kinds || names_have(space[i].kinds, kind)) && !cli_given(arguments, space[i].option))
            out[count++] = i;
    return count;
}

/* A kind of which every trial failed, all presets among them, is not tried again. */
static int kind_lives(const tune_search *search, const char *kind)
{
    size_t failed = 0;
    for (size_t i = 0; i < search->count; i++) {
        if (strcmp(search->trials[i].setting.kind, kind) != 0) continue;
        if (search->trials[i].end != TUNE_FAILED) return 1;
        failed++;
    }
    return failed < search->preset_count;
}

static void draw_setting(tune_setting *out, const tune_search *search, dice *d)
{
    size_t rows[SPACE], living[TUNE_KINDS_MAX], kinds = 0;
    for (size_t k = 0; k < search->kind_count; k++)
        if (kind_lives(search, search->kinds[k])) living[kinds++] = k;
    memset(out, 0, sizeof *out);
    memcpy(out->kind, search->kinds[kinds ? living[below(d, kinds)] : 0], TUNE_WORD);
    memcpy(out->preset, search->presets[below(d, search->preset_count)], TUNE_WORD);
    size_t count = open_rows(rows, out->kind, search->arguments);
    for (size_t i = 0; i < count; i++)
        if (uniform(d) < 0.5) draw_word(out->words[rows[i]], &space[rows[i]], d);
}

static void change_setting(tune_setting *out, const tune_search *search, dice *d)
{
    size_t best[3], rows[SPACE], count = tune_best(best, 3, search);
    double u = uniform(d);
    size_t parent = u < 0.6 ? 0 : u < 0.85 ? 1 : 2;
    if (!count) {
        draw_setting(out, search, d);
        return;
    }
    *out = search->trials[best[parent < count ? parent : 0]].setting;
    size_t open = open_rows(rows, out->kind, search->arguments), changes = uniform(d) < 0.3 ? 2 : 1;
    for (size_t i = 0; open && i < changes; i++) {
        size_t row = rows[below(d, open)];
        change_word(out->words[row], &space[row], d);
    }
}

/* The first of all, which is plain fit; then the other presets, which are small, and the first one with the other kinds. */
static void start_setting(tune_setting *out, const tune_search *search, size_t number)
{
    size_t kinds = search->kind_count, small = kinds * (search->preset_count - 1), kind = 0, preset = 0;
    if (number > 0 && number <= small) kind = (number - 1) % kinds, preset = 1 + (number - 1) / kinds;
    else if (number > 0) kind = number - small;
    memset(out, 0, sizeof *out);
    memcpy(out->kind, search->kinds[kind], TUNE_WORD);
    memcpy(out->preset, search->presets[preset], TUNE_WORD);
}

static int is_new(const tune_search *search, const json_t *network)
{
    for (size_t i = 0; i < search->count; i++)
        if (json_equal(search->trials[i].network, network)) return 0;
    return 1;
}

/* An estimate needs joint weights, or a chain that is judged by its score: settings that leave the weights open and have
 * others get joint ones. */
static int suit_estimate(tune_setting *setting, const tune_search *search)
{
    broad_options options;
    int status = tune_options(&options, setting, search->arguments);
    int scored = options.weights == BROAD_WEIGHTS_CHAIN && options.supervise == BROAD_SUPERVISE_GCV;
    if (status || !search->by_loo || options.weights == BROAD_WEIGHTS_JOINT || scored) return status;
    for (size_t i = 0; i < SPACE; i++)
        if (strcmp(space[i].option, "weights") == 0 && names_have(space[i].kinds, setting->kind) &&
            !cli_given(search->arguments, "weights"))
            snprintf(setting->words[i], TUNE_WORD, "joint");
    return BROAD_OK;
}

static void propose(tune_setting *out, const tune_search *search, size_t attempt)
{
    size_t starts = tune_starts(search), number = search->count;
    dice d = {0};
    broad_random_init(&d.stream, search->seed, BROAD_RANDOM_PURPOSE_SEARCH);
    d.stream.number = (uint64_t)attempt << 32 | number;
    int random = number < starts + DRAWS || (number - starts - DRAWS) % 3 == 2 || attempt >= ATTEMPTS / 2;
    if (number < starts && attempt == 0) start_setting(out, search, number);
    else if (random) draw_setting(out, search, &d);
    else change_setting(out, search, &d);
}

int tune_propose(tune_trial *out, int *out_found, const tune_search *search)
{
    *out_found = 0;
    for (size_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        propose(&out->setting, search, attempt);
        int status = suit_estimate(&out->setting, search);
        if (!status) status = tune_describe(out, search->arguments);
        if (status) return status;
        *out_found = is_new(search, out->network);
        if (*out_found) return BROAD_OK;
        tune_trial_clear(out);
    }
    return BROAD_OK;
}

/* ---- settings as options ---- */

int tune_options(broad_options *out, const tune_setting *setting, const cli_arguments *arguments)
{
    broad_options_init(out);
    int status = broad_options_set(out, "preset", setting->preset);
    if (!status) status = broad_options_set(out, "kind", setting->kind);
    for (size_t i = 0; !status && i < SPACE; i++)
        if (setting->words[i][0]) status = broad_options_set(out, space[i].option, setting->words[i]);
    return status ? status : cli_training_details(out, arguments);
}

static void append_option(json_t *words, const char *name, const char *value)
{
    char option[64];
    snprintf(option, sizeof option, "--%s", name);
    cli_json_append(words, cli_json_text(option));
    cli_json_append(words, cli_json_text(value));
}

/* `base` follows along: one option may change others. */
int tune_arguments(json_t **out, const broad_options *options)
{
    static const char *const first[] = {"kind", "preset"};
    char value[VALUE_BYTES], other[VALUE_BYTES];
    broad_options base;
    broad_options_init(&base);
    json_t *words = json_array();
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < 2; i++) {
        status = broad_options_get(value, sizeof value, options, first[i]);
        if (!status) status = broad_options_set(&base, first[i], value);
        if (!status) append_option(words, first[i], value);
    }
    for (size_t i = 0; !status && i < broad_option_count(); i++) {
        const char *name = broad_option_at(i)->name;
        if (strcmp(name, "threads") == 0) continue;
        status = broad_options_get(value, sizeof value, options, name);
        if (!status) status = broad_options_get(other, sizeof other, &base, name);
        if (status || strcmp(value, other) == 0) continue;
        status = broad_options_set(&base, name, value);
        append_option(words, name, value);
    }
    if (status) json_decref(words);
    else *out = words;
    return status;
}

/* One name for what several kinds and settings come to: a bscrls without a test is a brls, one layer with joint weights is
 * a bls, and so is one that only has to lower the residual, if its size is given; a bls has one block of nodes. A preset
 * is no more than the settings it brings. */
static broad_options canonical(const broad_options *options)
{
    broad_options o = *options;
    broad_options usual;
    broad_options_init(&usual);
    o.preset = usual.preset;
    if (o.supervise != BROAD_SUPERVISE_GCV) o.penalty = usual.penalty;
    int chain = o.kind == BROAD_KIND_BSCRLS || o.kind == BROAD_KIND_BRLS, at_once;
    if (o.kind == BROAD_KIND_BSCRLS && o.supervise == BROAD_SUPERVISE_NONE) o.kind = BROAD_KIND_BRLS;
    if (chain && o.enhance_layers == 1 && o.weights == BROAD_WEIGHTS_JOINT &&
        (o.kind == BROAD_KIND_BRLS || (!o.features_auto && o.supervise == BROAD_SUPERVISE_RESIDUAL))) {
        o.kind = BROAD_KIND_BLS;
        o.supervise = BROAD_SUPERVISE_NONE;
    }
    at_once = o.kind == BROAD_KIND_BLS || o.kind == BROAD_KIND_RVFL;
    if (at_once) o.enhance_nodes *= o.enhance_layers, o.enhance_layers = 1;
    return o;
}

int tune_describe(tune_trial *trial, const cli_arguments *arguments)
{
    broad_options options, same;
    int status = tune_options(&options, &trial->setting, arguments);
    if (status) return status;
    same = canonical(&options);
    status = tune_arguments(&trial->arguments, &options);
    return status ? status : tune_arguments(&trial->network, &same);
}

json_t *tune_setting_json(const tune_setting *setting)
{
    json_t *object = json_object();
    cli_json_put(object, "kind", cli_json_text(setting->kind));
    cli_json_put(object, "preset", cli_json_text(setting->preset));
    for (size_t i = 0; i < SPACE; i++)
        if (setting->words[i][0]) cli_json_put(object, space[i].option, cli_json_text(setting->words[i]));
    return object;
}

static int read_word(char out[TUNE_WORD], const json_t *object, const char *name)
{
    const char *word = json_string_value(json_object_get(object, name));
    out[0] = 0;
    if (word && strlen(word) >= TUNE_WORD) return -1;
    if (word) memcpy(out, word, strlen(word) + 1);
    return 0;
}

int tune_setting_read(tune_setting *out, const json_t *object)
{
    memset(out, 0, sizeof *out);
    int bad = read_word(out->kind, object, "kind") || read_word(out->preset, object, "preset");
    for (size_t i = 0; i < SPACE; i++)
        if (!space[i].kinds || names_have(space[i].kinds, out->kind))
            bad = bad || read_word(out->words[i], object, space[i].option);
    return bad || !out->kind[0] || !out->preset[0] ? -1 : 0;
}
