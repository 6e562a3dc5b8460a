#include "data/format/libsvm.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "data/format/number.h"

typedef struct line_cursor {
    const char *at, *end;
} line_cursor;

/* The next line with anything in it, comments cut off; *from moves past it. */
static int next_line(line_cursor *out, const char **from, const char *end)
{
    while (*from < end) {
        const char *begin = *from, *stop = memchr(begin, '\n', (size_t)(end - begin));
        *from = stop ? stop + 1 : end;
        if (!stop) stop = end;
        const char *comment = memchr(begin, '#', (size_t)(stop - begin));
        broad__text line = broad__text_trim((broad__text){begin, (size_t)((comment ? comment : stop) - begin)});
        *out = (line_cursor){line.bytes, line.bytes + line.count};
        if (line.count) return 1;
    }
    return 0;
}

static int next_token(broad__text *out, line_cursor *line)
{
    while (line->at < line->end && (*line->at == ' ' || *line->at == '\t')) line->at++;
    const char *begin = line->at;
    while (line->at < line->end && *line->at != ' ' && *line->at != '\t') line->at++;
    *out = (broad__text){begin, (size_t)(line->at - begin)};
    return out->count > 0;
}

static int parse_index(size_t *out, broad__text text)
{
    *out = 0;
    if (!text.count || text.count > 18) return 0;
    for (size_t i = 0; i < text.count; i++) {
        unsigned digit = (unsigned)(text.bytes[i] - '0');
        if (digit > 9) return 0;
        *out = 10 * *out + digit;
    }
    return 1;
}

/* Splits "7:0.5" at its colon. */
static int split_pair(broad__text *key, broad__text *value, broad__text token)
{
    const char *colon = memchr(token.bytes, ':', token.count);
    if (!colon) return 0;
    *key = (broad__text){token.bytes, (size_t)(colon - token.bytes)};
    *value = (broad__text){colon + 1, token.count - key->count - 1};
    return 1;
}

int broad__libsvm_is(const broad__source *source)
{
    enum { LOOKED_AT = 1 << 16 };
    const char *from = source->bytes, *end = from + source->count;
    if (source->count > LOOKED_AT) {
        const char *cut = memrchr(from, '\n', LOOKED_AT);
        if (memchr(from, 0, LOOKED_AT)) return 0; /* not text: no need to look for the end of its first line */
        if (cut) end = cut;
    }
    line_cursor line;
    while (next_line(&line, &from, end)) {
        broad__text token, key, value;
        double number;
        size_t index;
        if (!next_token(&token, &line) || broad__number_read(&number, token) != BROAD__NUMBER) return 0;
        if (!next_token(&token, &line)) continue; /* a row of zeros says nothing */
        if (!split_pair(&key, &value, token)) return 0;
        if (key.count && *key.bytes == '-') key = (broad__text){key.bytes + 1, key.count - 1}; /* refused later */
        int known = parse_index(&index, key) || broad__text_same(key, broad__text_of("qid"));
        return known && broad__number_read(&number, value) != BROAD__NUMBER_TEXT;
    }
    return 0;
}

static size_t line_of(const broad__source *source, const char *at)
{
    size_t line = 1;
    for (const char *from = source->bytes; from < at; line++) {
        from = memchr(from, '\n', (size_t)(at - from));
        if (!from) break;
        from++;
    }
    return line;
}

static size_t line_of_row(const void *reader, size_t row)
{
    const broad__source *source = ((const broad__libsvm *)reader)->source;
    const char *from = source->bytes, *end = from + source->count;
    line_cursor line = {from, from};
    for (size_t i = 0; i <= row; i++)
        if (!next_line(&line, &from, end)) break;
    return line_of(source, line.at);
}

static int fail_token(const broad__source *source, broad__text token, const char *what)
{
    char quoted[BROAD__QUOTE_BYTES];
    return broad__fail(BROAD_BAD_DATA, "%s:%zu: %s %s", source->name, line_of(source, token.bytes),
                       broad__text_quote(quoted, token), what);
}

/* What the first pass over lines finds. */
typedef struct survey {
    size_t rows, lowest, highest; /* indices; lowest > highest: there are none */
} survey;

/* One pair, or qid, which only counts before the first pair. `before` is the index before it, SIZE_MAX at the start. */
static int read_pair(size_t *index, double *value, int *is_qid, const broad__source *source, broad__text token,
                     size_t before)
{
    broad__text key, text;
    if (!split_pair(&key, &text, token)) return fail_token(source, token, "is not an index:value pair");
    *is_qid = broad__text_same(key, broad__text_of("qid"));
    if (!*is_qid && !parse_index(index, key)) return fail_token(source, token, "has no whole number before the colon");
    broad__number_kind kind = broad__number_read(value, text);
    if (kind == BROAD__NUMBER_INFINITE) return fail_token(source, token, "is infinite or too large");
    if (kind == BROAD__NUMBER_TEXT) return fail_token(source, token, "has no number after the colon");
    if (kind == BROAD__NUMBER_MISSING) *value = NAN;
    if (*is_qid && (before != SIZE_MAX || isnan(*value)))
        return fail_token(source, token, "must be a number and stand right after the label");
    if (!*is_qid && before != SIZE_MAX && *index <= before)
        return fail_token(source, token, "is out of order: indices must increase along a line");
    return BROAD_OK;
}

/* Of some lines of the source. */
static int survey_lines(survey *out, const broad__source *source, broad__text lines, broad_missing missing)
{
    const char *from = lines.bytes, *end = from + lines.count;
    line_cursor line;
    *out = (survey){.lowest = SIZE_MAX};
    for (; next_line(&line, &from, end); out->rows++) {
        broad__text token;
        double value;
        size_t index, before = SIZE_MAX;
        int polled = broad__watch_poll(0, 1);
        if (polled < 0) return polled;
        next_token(&token, &line);
        broad__number_kind kind = broad__number_read(&value, token);
        if (kind == BROAD__NUMBER_MISSING) return fail_token(source, token, "is not a label: every row needs one");
        if (kind != BROAD__NUMBER) return fail_token(source, token, "is not a label: it must be a number");
        while (next_token(&token, &line)) {
            int is_qid, status = read_pair(&index, &value, &is_qid, source, token, before);
            if (status < 0) return status;
            if (is_qid) continue;
            if (isnan(value) && missing != BROAD_MISSING_MEAN)
                return fail_token(source, token,
                                  "has a missing value; fill it in, or use the mean (option missing mean)");
            before = index;
            if (index < out->lowest) out->lowest = index;
            if (index > out->highest) out->highest = index;
        }
    }
    return BROAD_OK;
}

/* Rows [first, end), of which the first begins at `from`. */
static int fill_rows(broad__parsed *out, const broad__libsvm *reader, const char *from, size_t first, size_t end)
{
    const broad__source *source = reader->source;
    const char *stop = source->bytes + source->count;
    line_cursor line;
    for (size_t row = first; row < end && next_line(&line, &from, stop); row++) {
        broad__text token;
        double value = 0;
        size_t index, before = SIZE_MAX;
        int has_qid = 0, polled = broad__watch_poll(row - first, end - first);
        if (polled < 0) return polled;
        next_token(&token, &line);
        broad__number_read(&value, token);
        out->targets.values[row] = value;
        out->targets.integers &= value == trunc(value);
        while (next_token(&token, &line)) {
            int is_qid, status = read_pair(&index, &value, &is_qid, source, token, before);
            if (status < 0) return status;
            has_qid |= is_qid;
            if (is_qid && out->groups.values) out->groups.values[row] = value;
            if (is_qid) continue;
            before = index;
            if (index - reader->base < out->inputs) out->x[row * out->inputs + index - reader->base] = value;
        }
        if (has_qid) continue;
        out->groups.columns = 0;
        if (reader->qid_required)
            return broad__fail(BROAD_BAD_DATA,
                               "%s:%zu: no qid in this row; leave out option group, or give every row a qid",
                               source->name, line_of(source, line.at));
    }
    return BROAD_OK;
}

static int choose_inputs(size_t *inputs, size_t *base, const survey *found, const broad__source *source,
                         const broad__columns *model)
{
    int empty = found->lowest > found->highest;
    *base = model ? strcmp(model->input_names[0], "x0") != 0 : found->lowest != 0;
    if (model && !empty && found->lowest < *base)
        return broad__fail(BROAD_BAD_DATA, "%s: there is an index 0, but the model was trained with indices from 1",
                           source->name);
    *inputs = empty ? 0 : found->highest - *base + 1;
    if (model && *inputs > model->inputs)
        return broad__fail(BROAD_BAD_DATA, "%s: there is an index %zu, but the model has only %zu inputs", source->name,
                           found->highest, model->inputs);
    if (model) *inputs = model->inputs;
    if (!*inputs)
        return broad__fail(BROAD_BAD_DATA, "%s: no row has an index:value pair, so there are no inputs", source->name);
    if (!broad__parsed_dense(found->rows, *inputs, source->count))
        return broad__fail(
            BROAD_BAD_DATA,
            "%s: a dense table of %zu rows with indices up to %zu would be out of proportion to the file "
            "of %zu bytes; number the inputs without gaps",
            source->name, found->rows, found->highest, source->count);
    return BROAD_OK;
}

/* What only columns can give. */
static int check_columns(const broad__source *source, const broad_read_options *options, const broad__columns *model)
{
    if (options->weight || (model && model->weight_name && options->training))
        return broad__fail(BROAD_BAD_DATA, "%s: a LIBSVM file has no column of weights; %s", source->name,
                           options->weight ? "write it as CSV to use option weight"
                                           : "the model was trained with weights: give the rows as CSV or NPY");
    int named = !model && options->categorical && strcmp(options->categorical, "auto") != 0 &&
                strcmp(options->categorical, "none") != 0;
    if (named || (model && model->categories.count))
        return broad__fail(BROAD_BAD_DATA, "%s: a LIBSVM file has only numbers; %s", source->name,
                           named ? "write it as CSV to use option categorical"
                                 : "the model has columns of categories: give the rows as CSV");
    return BROAD_OK;
}

static int check_options(const broad__source *source, const broad_read_options *options, const broad__columns *model)
{
    if (options->target && !options->labels)
        return broad__fail(BROAD_BAD_DATA,
                           "%s: a LIBSVM file has its target at the start of each line; leave out option target",
                           source->name);
    if (options->group && strcmp(options->group, "qid") != 0)
        return broad__fail(BROAD_BAD_DATA, "%s: the only group of a LIBSVM file is qid", source->name);
    return check_columns(source, options, model);
}

/* Room for all rows; of the inputs, where the table is divided, for those of this rank. */
static int allocate(broad__parsed *out, int grouped, int divided)
{
    int status = BROAD_OK;
    out->targets = (broad__cells){.columns = 1, .integers = 1};
    out->groups.columns = grouped ? 1 : 0;
    if (divided) status = broad__owned_new(&out->owned, &out->x, out->rows, out->inputs);
    else out->x = broad__alloc_doubles(out->rows, out->inputs);
    out->targets.values = broad__alloc_doubles(out->rows, 1);
    if (grouped) out->groups.values = broad__alloc_doubles(out->rows, 1);
    if (status < 0) return status;
    return out->x && out->targets.values && (!grouped || out->groups.values) ? BROAD_OK : BROAD_NO_MEMORY;
}

/* ---- several ranks ------------------------------------------------------------------------------------------------- */

/* Where the lines begin that this rank looks at: after the end of a line near its share of the bytes. */
static const char *share_begin(const broad__source *source, size_t rank, size_t ranks)
{
    size_t at = source->count / ranks * rank;
    if (rank == 0) return source->bytes;
    if (rank == ranks) return source->bytes + source->count;
    const char *end = memchr(source->bytes + at, '\n', source->count - at);
    return end ? end + 1 : source->bytes + source->count;
}

/* What all lines have, of which every rank looks at its share; counts: the rows of each share. *out_sound: no rank has met a
 * fault. */
static int survey_shares(survey *out, size_t *counts, int *out_sound, const broad__source *source,
                         broad_missing missing)
{
    const broad_comm *comm = broad__comm_current();
    const char *begin = share_begin(source, comm->rank, comm->ranks);
    broad__text share = {begin, (size_t)(share_begin(source, comm->rank + 1, comm->ranks) - begin)};
    int status = counts ? survey_lines(out, source, share, missing) : BROAD_NO_MEMORY;
    *out_sound = !broad__comm_most(status < 0);
    if (!*out_sound) return BROAD_OK;
    counts[comm->rank] = out->rows;
    size_t highest = SIZE_MAX - out->highest;
    status = broad__comm_add_counts(counts, comm->ranks);
    if (status == BROAD_OK) status = broad__comm_least(&out->lowest);
    if (status == BROAD_OK) status = broad__comm_least(&highest);
    out->highest = SIZE_MAX - highest;
    out->rows = 0;
    for (size_t i = 0; i < comm->ranks; i++) out->rows += counts[i];
    return status;
}

/* Where a row begins. */
static const char *find_row(const broad__source *source, const size_t *counts, size_t row)
{
    size_t share = 0, before = 0, ranks = broad__comm_ranks();
    line_cursor line;
    while (share + 1 < ranks && row >= before + counts[share]) before += counts[share++];
    const char *from = share_begin(source, share, ranks), *end = source->bytes + source->count;
    for (; before < row && next_line(&line, &from, end); before++) continue;
    return from;
}

/* Every rank its own rows, and of all rows what else they have. *out_done: no rank has met a fault. */
static int fill_own(int *out_done, broad__parsed *out, const broad__libsvm *reader, const size_t *counts, int grouped)
{
    size_t first, end;
    broad__comm_own_rows(&first, &end, out->rows);
    int status = allocate(out, grouped, 1);
    if (status == BROAD_OK) status = fill_rows(out, reader, find_row(reader->source, counts, first), first, end);
    *out_done = !broad__comm_most(status < 0);
    if (!*out_done) return BROAD_OK;
    out->targets.integers = !broad__comm_most(!out->targets.integers);
    out->groups.columns = grouped && !broad__comm_most(!out->groups.columns);
    return broad__parsed_share(out);
}

/* *out_done: the table has been read by all ranks together. If not, each reads all of it, which also tells of a fault what one
 * process tells. */
static int read_divided(int *out_done, broad__parsed *out, broad__libsvm *reader, const broad__libsvm_request *request,
                        int grouped)
{
    broad__parsed none = {0};
    survey found = {0};
    int sound = 0;
    size_t *counts = broad__alloc_array(broad__comm_ranks(), sizeof *counts);
    *out_done = 0;
    int status = survey_shares(&found, counts, &sound, reader->source, request->missing);
    if (status == BROAD_OK && sound)
        status = choose_inputs(&out->inputs, &reader->base, &found, reader->source, request->model);
    int divides =
        status == BROAD_OK && sound && broad__parsed_divides(&none, found.rows, out->inputs + 3, request->memory);
    out->rows = found.rows;
    if (divides) status = fill_own(out_done, out, reader, counts, grouped);
    broad__free(counts);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------------------------- */

static void start(broad__parsed *out, broad__libsvm *reader)
{
    *out = (broad__parsed){.file = reader->source->name, .line_of = line_of_row, .reader = reader};
}

static int read_whole(broad__parsed *out, broad__libsvm *reader, const broad__libsvm_request *request, int grouped)
{
    const broad__source *source = reader->source;
    survey found = {0};
    int status = survey_lines(&found, source, (broad__text){source->bytes, source->count}, request->missing);
    if (status == BROAD_OK) status = choose_inputs(&out->inputs, &reader->base, &found, source, request->model);
    if (status < 0) return status;
    out->rows = found.rows;
    status = allocate(out, grouped, 0);
    return status == BROAD_OK ? fill_rows(out, reader, source->bytes, 0, out->rows) : status;
}

int broad__libsvm_read(broad__parsed *out, broad__libsvm *out_reader, const broad__source *source,
                       const broad_read_options *options, const broad__libsvm_request *request)
{
    const broad__columns *model = request->model;
    int grouped = options->group || (model && model->group_name && strcmp(model->group_name, "qid") == 0);
    int done = 0;
    *out_reader = (broad__libsvm){.source = source, .qid_required = options->group != NULL};
    start(out, out_reader);
    int status = check_options(source, options, model);
    if (status == BROAD_OK && request->divided) status = read_divided(&done, out, out_reader, request, grouped);
    if (status < 0 || done) return status;
    broad__parsed_clear(out);
    start(out, out_reader);
    return read_whole(out, out_reader, request, grouped);
}
