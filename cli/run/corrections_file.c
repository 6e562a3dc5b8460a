#include "run/corrections_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "data/format/csv_open.h"
#include "data/format/encoding.h"
#include "io/output.h"
#include "run/photo_verdict.h"
#include "run/recall.h"

enum { CELLS_MAX = 512, PROBLEMS_SHOWN = 20, PROBLEM_TEXT = 320, NONE = -1 };
static const size_t FILE_MOST = (size_t)1 << 30;

/* Where a photo was found. */
typedef struct finding_place {
    char *file;  /* as it can be opened; owned; NULL: there is none */
    char *other; /* a second one that the name may mean; owned; NULL: there is none */
    int moved;   /* without the first folders of its name, which are not there */
} finding_place;

enum { SIDES = 4 };
static const char *const side_names[SIDES] = {"left", "top", "right", "bottom"};

/* How the first line of a photo names it. */
typedef struct origin {
    const char *name; /* in the text */
    int moved, whole; /* whole: it means the photo, not one box of it */
} origin;

/* A line for one box of a photo, as the text has its sides. */
typedef struct box_line {
    size_t number; /* of the photo */
    const char *sides[SIDES];
} box_line;

typedef struct reading {
    const char *path, *folder;
    char base[PATH_MAX]; /* the folder below which photos are looked for that are not there as they are named */
    const broad_model *model;
    int new_classes;
    broad__source source; /* as UTF-8 */
    broad__csv csv;
    const char *next;    /* the rest of it */
    const char *counted; /* where the line begins whose number is `line` */
    size_t line, problems;
    char first[PROBLEM_TEXT]; /* of the problems */
    size_t cell_count;
    char *cells[CELLS_MAX]; /* in the arena */
    broad__arena arena;
    int file, correction, verdict;    /* columns; NONE */
    int label, unsure, unlike;        /* columns of a report, from which its verdict follows; NONE */
    int sides[SIDES];                 /* columns of boxes; NONE */
    size_t class_count;               /* columns of probabilities */
    int class_columns[CELLS_MAX];     /* where they are */
    char class_names[CELLS_MAX][128]; /* of which classes */
    origin *origins;                  /* of each correction */
    size_t box_count;
    box_line *boxes;
    cli_corrections *out;
} reading;

/* ---- lines and cells ---- */

static int keep_cell(reading *r, broad__cell *cell)
{
    if (cell->fault) return cli_fail(BROAD_BAD_DATA, "%s:%zu: %s", r->path, r->line, cell->fault);
    int status = cell->doubled ? broad__cell_undouble(&cell->text, &r->arena) : BROAD_OK;
    char *copy = status ? NULL : broad__arena_take(&r->arena, cell->text.count + 1);
    if (!copy) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    if (cell->text.count) memcpy(copy, cell->text.bytes, cell->text.count);
    copy[cell->text.count] = 0;
    r->cells[r->cell_count++] = copy;
    return BROAD_OK;
}

/* Cuts the next line into cells: none where there is no line. */
static int next_line(reading *r)
{
    broad__cell cell = {.last = 0};
    int status = BROAD_OK;
    r->cell_count = 0;
    r->next = broad__row_start(&r->csv, r->next);
    if (r->next == r->csv.end) return BROAD_OK;
    for (; r->counted < r->next; r->counted++) r->line += *r->counted == r->csv.newline;
    while (!status && !cell.last) {
        r->next = broad__cell_read(&cell, &r->csv, r->next);
        if (r->cell_count < CELLS_MAX) status = keep_cell(r, &cell);
    }
    return status;
}

static void start_at(reading *r, const char *at)
{
    r->next = at;
    r->counted = r->csv.begin;
    r->line = 1;
}

/* The separator that spreadsheets name in a first line such as "sep=;". 0: there is no such line. */
static char named_separator(const broad__source *source)
{
    int mark = source->count >= 3 && memcmp(source->bytes, "\xEF\xBB\xBF", 3) == 0;
    const char *at = source->bytes + (mark ? 3 : 0);
    size_t count = source->count - (mark ? 3 : 0);
    if (count < 6 || strncasecmp(at, "sep=", 4) || !strchr(";,|\t", at[4])) return 0;
    return at[5] == '\r' || at[5] == '\n' ? at[4] : 0;
}

/* As tables are read: encoding, ends of lines and separator are found from the content. A name may begin with what begins a comment there. */
static int open_text(reading *r)
{
    char separator[] = {named_separator(&r->source), 0};
    const broad__csv_hints hints = {.header = "no", .separator = *separator ? separator : NULL, .threads = 1};
    int status = broad__csv_open(&r->csv, &r->source, &hints);
    if (status) return status;
    r->csv.comment = 0;
    if (!r->csv.titled) r->csv.top = r->csv.begin;
    start_at(r, r->csv.top);
    return *separator && !r->csv.titled ? next_line(r) : BROAD_OK;
}

static char *trim(char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    size_t length = strlen(text);
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t')) text[--length] = 0;
    return text;
}

static char *cell(reading *r, int column)
{
    static char empty[] = "";
    return column != NONE && (size_t)column < r->cell_count ? trim(r->cells[column]) : empty;
}

static void report_problem(reading *r, const char *what, const char *value, const char *remedy)
{
    if (!r->problems) snprintf(r->first, sizeof r->first, "line %zu: %s '%.200s'", r->line, what, value);
    if (++r->problems <= PROBLEMS_SHOWN) cli_say("%s:%zu: %s '%.200s'%s", r->path, r->line, what, value, remedy);
}

/* ---- columns ---- */

static int column_named(const reading *r, const char *name)
{
    for (size_t i = 0; i < r->cell_count; i++)
        if (strcasecmp(r->cells[i], name) == 0) return (int)i;
    return NONE;
}

static void find_classes(reading *r)
{
    for (size_t i = 0; i < r->cell_count; i++) {
        if (strncmp(r->cells[i], "p_", 2)) continue;
        r->class_columns[r->class_count] = (int)i;
        snprintf(r->class_names[r->class_count++], sizeof r->class_names[0], "%s", r->cells[i] + 2);
    }
}

/* From the first line, where it has names. A plain list of two columns may do without. */
static int find_columns(reading *r)
{
    const char *start = r->next;
    int status = next_line(r);
    if (status) return status;
    for (size_t i = 0; i < r->cell_count; i++) r->cells[i] = trim(r->cells[i]);
    r->file = column_named(r, "file");
    r->correction = column_named(r, "correction");
    if (r->correction == NONE && r->cell_count == 2) r->correction = r->file == 1 ? 0 : 1;
    r->verdict = column_named(r, "verdict");
    r->label = column_named(r, "label");
    r->unsure = column_named(r, "unsure");
    r->unlike = column_named(r, "unlike");
    for (size_t i = 0; i < SIDES; i++) r->sides[i] = column_named(r, side_names[i]);
    find_classes(r);
    if (r->file == NONE && r->cell_count == 2) {
        start_at(r, start); /* its first line is one of the list */
        r->file = 0;
    }
    if (r->file != NONE && r->correction != NONE) return BROAD_OK;
    return cli_fail(BROAD_BAD_DATA,
                    "%s: no column '%s'; corrections have the columns file and correction, as findings.csv of a report "
                    "has them, or are a list of two columns: file and label",
                    r->path, r->file == NONE ? "file" : "correction");
}

/* ---- labels ---- */

/* What a spreadsheet would evaluate was written with an apostrophe before it. */
static const char *without_apostrophe(const char *text)
{
    return text[0] == '\'' && text[1] && strchr("=+-@\t\r", text[1]) ? text + 1 : text;
}

/* The model's spelling of a class; NULL: it has none such. */
static const char *class_called(const reading *r, const char *label)
{
    const char *forms[] = {label, without_apostrophe(label)};
    int (*const same[])(const char *, const char *) = {strcmp, strcasecmp};
    for (size_t round = 0; round < 4; round++)
        for (size_t i = 0; i < broad_model_outputs(r->model); i++) {
            const char *name = broad_model_output_name(r->model, i);
            if (same[round % 2](name, forms[round / 2]) == 0) return name;
        }
    return NULL;
}

static double probability(char *text)
{
    char *comma = strchr(text, ','), *end = NULL;
    if (comma) *comma = '.';
    double value = strtod(text, &end);
    return end == text ? -1 : value;
}

/* The class of the largest probability. NULL: not known. */
static const char *most_probable(reading *r)
{
    const char *best = NULL;
    double largest = -1;
    for (size_t i = 0; i < r->class_count; i++) {
        double value = probability(cell(r, r->class_columns[i]));
        if (value <= largest) continue;
        largest = value;
        best = r->class_names[i];
    }
    return best;
}

static int says_yes(reading *r, int column) { return strcasecmp(cell(r, column), "yes") == 0; }

/* The verdict before it was edited. NULL: not known. */
static const char *first_verdict(reading *r)
{
    if (r->label == NONE) return most_probable(r);
    if (says_yes(r, r->unlike)) return CLI_UNLIKE;
    return says_yes(r, r->unsure) ? CLI_UNSURE : cell(r, r->label);
}

/* Whether a person wrote the verdict. A class may be called like a word of the report: then its columns tell them apart. */
static int is_edited(reading *r, const char *verdict)
{
    const char *before = first_verdict(r);
    verdict = without_apostrophe(verdict);
    if (!*verdict || !before || strcmp(verdict, without_apostrophe(before)) == 0) return 0;
    return r->label != NONE || (strcasecmp(verdict, CLI_UNSURE) && strcasecmp(verdict, CLI_UNLIKE));
}

/* NULL: the line has no correction. */
static const char *corrected_label(reading *r)
{
    const char *correction = cell(r, r->correction), *verdict = cell(r, r->verdict);
    if (*correction) return correction;
    return is_edited(r, verdict) && class_called(r, verdict) ? verdict : NULL;
}

static const char *check_label(reading *r, const char *label)
{
    const char *names[64], *known = class_called(r, label);
    char remedy[200];
    size_t count = broad_model_outputs(r->model) < 64 ? broad_model_outputs(r->model) : 64;
    if (known || r->new_classes) return known ? known : without_apostrophe(label);
    for (size_t i = 0; i < count; i++) names[i] = broad_model_output_name(r->model, i);
    const char *nearest = broad__nearest(label, names, count);
    if (nearest) snprintf(remedy, sizeof remedy, "; did you mean '%.80s'?", nearest);
    else snprintf(remedy, sizeof remedy, "; --new-classes would add it");
    report_problem(r, "the model has no class", label, remedy);
    return NULL;
}

/* ---- files ---- */

static void clear_place(finding_place *place)
{
    free(place->file);
    free(place->other);
}

/* The name below the folder, with ever fewer of its first parts. */
static finding_place find_below(const char *folder, const char *name)
{
    char path[PATH_MAX];
    finding_place place = {0};
    size_t length = strlen(folder);
    for (const char *rest = name; rest; rest = strchr(rest, '/')) {
        rest += strspn(rest, "/");
        int bytes = snprintf(path, sizeof path, "%s%s%s", folder, folder[length - 1] == '/' ? "" : "/", rest);
        if (!*rest || bytes <= 0 || bytes >= PATH_MAX || access(path, F_OK)) continue;
        if (!place.file) place = (finding_place){.file = strdup(path), .moved = rest != name};
        else if (!place.other && !cli_same_file(place.file, path)) place.other = strdup(path);
    }
    return place;
}

/* What is there as it is named is what is meant, wherever else photos of this name are. */
static finding_place find_file(const reading *r, const char *name)
{
    if (access(name, F_OK) == 0) return (finding_place){.file = strdup(name)};
    return find_below(r->base, name);
}

static finding_place find_named(const reading *r, const char *name)
{
    finding_place place = find_file(r, name);
    return place.file || without_apostrophe(name) == name ? place : find_file(r, without_apostrophe(name));
}

static int lies_below(const char *folder, const char *file)
{
    char *real_folder = realpath(folder, NULL), *real_file = realpath(file, NULL);
    size_t length = real_folder ? strlen(real_folder) : 0;
    int below = real_folder && real_file && strncmp(real_file, real_folder, length) == 0 &&
                (real_file[length] == '/' || real_folder[length - 1] == '/');
    free(real_folder);
    free(real_file);
    return below;
}

/* ---- all of it ---- */

/* The number of the correction of this photo; `count` where there is none. */
static size_t find_correction(const cli_corrections *all, const char *file)
{
    size_t i = 0;
    while (i < all->count && strcmp(all->files[i], file)) i++;
    return i;
}

/* The box of the line. 0: it has none, and means the whole photo. */
static int take_box(box_line *out, reading *r, size_t number)
{
    int all = 1;
    out->number = number;
    for (size_t k = 0; k < SIDES; k++) {
        out->sides[k] = cell(r, r->sides[k]);
        all &= *out->sides[k] != 0;
    }
    return all;
}

static int knows_box(const reading *r, const box_line *line)
{
    for (size_t i = 0; i < r->box_count; i++) {
        size_t same = 0;
        while (same < SIDES && strcmp(r->boxes[i].sides[same], line->sides[same]) == 0) same++;
        if (r->boxes[i].number == line->number && same == SIDES) return 1;
    }
    return 0;
}

/* A photo has as many boxes with its label as lines name, or all of them where one names none. */
static int count_box(reading *r, size_t number)
{
    box_line line;
    origin *photo = &r->origins[number];
    photo->whole |= !take_box(&line, r, number);
    if (photo->whole) r->out->boxes[number] = 0;
    if (photo->whole || knows_box(r, &line)) return BROAD_OK;
    box_line *boxes = realloc(r->boxes, (r->box_count + 1) * sizeof *boxes);
    if (!boxes) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    r->boxes = boxes;
    boxes[r->box_count++] = line;
    r->out->boxes[number]++;
    return BROAD_OK;
}

/* Two lines do not agree on what a photo shows. */
static void report_second(reading *r, size_t number)
{
    box_line line;
    const char *file = r->out->files[number];
    if (take_box(&line, r, number) && !r->origins[number].whole && !knows_box(r, &line))
        report_problem(r, "another class for another box of", file, "; " CLI_ONE_CLASS);
    else report_problem(r, "a second label for", file, "; keep one of the lines");
}

/* A line for a photo that another line has. */
static int check_again(reading *r, size_t number, const char *name, const finding_place *place, const char *label)
{
    char remedy[PROBLEM_TEXT];
    const origin *first = &r->origins[number];
    if (strcmp(first->name, name) && (first->moved || place->moved)) {
        snprintf(remedy, sizeof remedy, "; %.200s, which has its name, is corrected by another line", place->file);
        report_problem(r, "there is no photo", first->moved ? first->name : name, remedy);
    } else if (strcmp(r->out->labels[number], label)) report_second(r, number);
    else return count_box(r, number);
    return BROAD_OK;
}

/* Takes over the file of the place. */
static int add(reading *r, const char *name, finding_place *place, const char *label)
{
    cli_corrections *out = r->out;
    char **files = realloc(out->files, (out->count + 1) * sizeof *files);
    if (files) out->files = files;
    char **labels = realloc(out->labels, (out->count + 1) * sizeof *labels);
    if (labels) out->labels = labels;
    size_t *boxes = realloc(out->boxes, (out->count + 1) * sizeof *boxes);
    if (boxes) out->boxes = boxes;
    origin *origins = realloc(r->origins, (out->count + 1) * sizeof *origins);
    if (origins) r->origins = origins;
    char *copy = strdup(label);
    if (!files || !labels || !boxes || !origins || !copy) {
        free(copy);
        return cli_fail(BROAD_NO_MEMORY, "out of memory");
    }
    if (r->folder && !lies_below(r->folder, place->file) && !out->outside++) out->first_outside = out->count;
    origins[out->count] = (origin){.name = name, .moved = place->moved};
    boxes[out->count] = 0;
    files[out->count] = place->file;
    labels[out->count++] = copy;
    place->file = NULL;
    return count_box(r, out->count - 1);
}

static void report_missing(reading *r, const char *name)
{
    report_problem(r, "there is no photo", name,
                   r->folder ? " below the folder that was given"
                             : "; give the folder of the photos: broad learn MODEL FOLDER --corrections FILE");
}

static void report_ambiguous(reading *r, const char *name, const finding_place *place)
{
    char remedy[PROBLEM_TEXT];
    snprintf(remedy, sizeof remedy, ": %.120s and %.120s; write the path of one", place->file, place->other);
    report_problem(r, "two photos may be", name, remedy);
}

static int take_line(reading *r)
{
    const char *name = cell(r, r->file), *label = corrected_label(r);
    int status = BROAD_OK;
    if (!*name || !label) return BROAD_OK;
    label = check_label(r, label);
    finding_place place = find_named(r, name);
    size_t number = place.file ? find_correction(r->out, place.file) : 0;
    if (!place.file) report_missing(r, name);
    else if (place.other) report_ambiguous(r, name, &place);
    else if (label && number < r->out->count) status = check_again(r, number, name, &place, label);
    else if (label) status = add(r, name, &place, label);
    clear_place(&place);
    return status;
}

static int take_lines(reading *r)
{
    int status = find_columns(r);
    if (!status) status = next_line(r);
    while (!status && r->cell_count) {
        status = take_line(r);
        if (!status) status = next_line(r);
    }
    if (status) return status;
    if (r->problems > PROBLEMS_SHOWN) cli_say("%s: and %zu more", r->path, r->problems - PROBLEMS_SHOWN);
    if (r->problems)
        return cli_fail(BROAD_BAD_DATA, "%s: %zu problem%s; nothing was learned (%s)", r->path, r->problems,
                        cli_plural(r->problems), r->first);
    if (!r->out->count)
        return cli_fail(BROAD_BAD_DATA,
                        "%s: there is no correction in it; write the correct class of a photo into the column "
                        "'correction'",
                        r->path);
    return BROAD_OK;
}

/* The list as the reader of photos takes it. */
static int write_list(cli_corrections *out)
{
    out->list = memfd_create("corrections", MFD_CLOEXEC);
    FILE *file = out->list >= 0 ? fdopen(dup(out->list), "w") : NULL;
    if (!file) return cli_fail(BROAD_IO, "the list of corrections cannot be made: %s", strerror(errno));
    fputs("file,label\n", file);
    for (size_t i = 0; i < out->count; i++)
        for (int part = 0; part < 2; part++) {
            fputc('"', file);
            for (const char *c = part ? out->labels[i] : out->files[i]; *c; c++) {
                if (*c == '"') fputc('"', file);
                fputc(*c, file);
            }
            fputs(part ? "\"\n" : "\",", file);
        }
    snprintf(out->list_path, sizeof out->list_path, "/proc/self/fd/%d", out->list);
    return fclose(file) ? cli_fail(BROAD_IO, "the list of corrections cannot be made: %s", strerror(errno)) : BROAD_OK;
}

/* The folder that was given, or that of the list. */
static void set_base(reading *r)
{
    const char *slash = strrchr(r->path, '/');
    if (r->folder) snprintf(r->base, sizeof r->base, "%s", *r->folder ? r->folder : ".");
    else if (slash) snprintf(r->base, sizeof r->base, "%.*s", (int)(slash - r->path) + 1, r->path);
    else snprintf(r->base, sizeof r->base, ".");
}

static int read_text(reading *r)
{
    int converted, status = broad__encoding_wide(&r->source, NULL);
    if (!status) status = broad__encoding_bytes(&converted, &r->source, NULL);
    if (!status) status = open_text(r);
    return status ? status : take_lines(r);
}

int cli_corrections_read(cli_corrections *out, const char *path, const char *folder, const broad_model *model,
                         int new_classes)
{
    void *bytes = NULL;
    size_t count = 0;
    reading *r = calloc(1, sizeof *r);
    *out = (cli_corrections){.list = -1};
    if (!r) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    *r = (reading){.path = path, .folder = folder, .model = model, .new_classes = new_classes, .out = out};
    set_base(r);
    int status = broad__file_read(&bytes, &count, path, FILE_MOST);
    if (!status) status = broad__source_memory(&r->source, path, bytes, count);
    if (!status) status = read_text(r);
    if (!status) status = write_list(out);
    broad__csv_close(&r->csv);
    broad__source_close(&r->source);
    broad__arena_clear(&r->arena);
    broad__free(bytes);
    free(r->origins);
    free(r->boxes);
    free(r);
    return status;
}

void cli_corrections_clear(cli_corrections *corrections)
{
    for (size_t i = 0; i < corrections->count; i++) {
        free(corrections->files[i]);
        free(corrections->labels[i]);
    }
    free(corrections->files);
    free(corrections->labels);
    free(corrections->boxes);
    if (corrections->count && corrections->list >= 0) close(corrections->list);
    *corrections = (cli_corrections){.list = -1};
}
