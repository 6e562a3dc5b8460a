#include "api/option_text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/enum_names.h"
#include "base/status.h"

enum { NUMBER_BYTES = 32 };

/* ---- text to value --------------------------------------------------------------------------------------------- */

static void *field_at(broad_options *options, size_t offset) { return (char *)options + offset; }

static int fail_value(const broad__option_row *row, const char *value, const char *what)
{
    char expects[BROAD__EXPECTS_BYTES];
    return broad__fail(BROAD_USAGE, "option %s: '%.200s' is not %s; give %s", row->option.name, value, what,
                       broad__option_expects(expects, row));
}

/* The number that starts at `text`, with a point whatever the program's locale; *end is where it stops. */
static int parse_real(double *out, const char *text, const char **end)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) return -1;
    locale_t previous = uselocale(c);
    size_t length = strspn(text, "+-.0123456789eE");
    char *stop = NULL;
    *out = strtod(text, &stop);
    uselocale(previous);
    freelocale(c);
    *end = stop;
    return stop == text || stop != text + length || !isfinite(*out) ? -1 : 0;
}

static int parse_uint64(uint64_t *out, const char *text, const char **end)
{
    size_t length = strspn(text, "0123456789");
    if (length == 0) return -1;
    char *stop = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &stop, 10);
    *out = value;
    *end = stop;
    return errno ? -1 : 0;
}

static int set_choice(broad_options *options, const broad__option_row *row, const char *value)
{
    int found = broad__enum_find(row->option.choices, value);
    if (found < 0)
        return broad__fail(BROAD_USAGE, "option %s: there is no '%.200s'; give one of %s", row->option.name, value,
                           row->option.choices);
    *(int *)field_at(options, row->field) = found;
    return BROAD_OK;
}

static int set_whole(broad_options *options, const broad__option_row *row, const char *value)
{
    uint64_t number = 0;
    const char *end = "";
    if (parse_uint64(&number, value, &end) || *end) return fail_value(row, value, "a whole number in range");
    if (row->type == BROAD__VALUE_UINT64) {
        *(uint64_t *)field_at(options, row->field) = number;
        return BROAD_OK;
    }
    if (number < (uint64_t)row->min || number > (uint64_t)row->max) return fail_value(row, value, "in range");
    *(size_t *)field_at(options, row->field) = (size_t)number;
    return BROAD_OK;
}

static int set_real(broad_options *options, const broad__option_row *row, const char *value)
{
    int automatic = row->type == BROAD__VALUE_REAL_OR_AUTO && strcmp(value, "auto") == 0;
    double number = 0;
    const char *end = "";
    if (!automatic) {
        if (parse_real(&number, value, &end) || *end) return fail_value(row, value, "a number");
        if (!(number >= row->min && number <= row->max)) return fail_value(row, value, "in range");
        *(double *)field_at(options, row->field) = number;
    }
    if (row->type == BROAD__VALUE_REAL_OR_AUTO) *(int *)field_at(options, row->partner) = automatic;
    return BROAD_OK;
}

static int set_sizes(broad_options *options, const broad__option_row *row, const char *value)
{
    int may_be_auto = row->type == BROAD__VALUE_SIZES_OR_AUTO;
    if (may_be_auto && strcmp(value, "auto") == 0) {
        options->features_auto = 1;
        return BROAD_OK;
    }
    uint64_t first = 0, second = 0;
    const char *end = "";
    int bad = parse_uint64(&first, value, &end) || (*end != 'x' && *end != 'X');
    bad = bad || parse_uint64(&second, end + 1, &end) || *end;
    if (bad) return fail_value(row, value, "of the form AxB");
    if (first < 1 || second < 1 || first > (uint64_t)row->max || second > (uint64_t)row->partner_max ||
        first * second > UINT32_MAX)
        return fail_value(row, value, "in range");
    *(size_t *)field_at(options, row->field) = (size_t)first;
    *(size_t *)field_at(options, row->partner) = (size_t)second;
    if (may_be_auto) options->features_auto = 0;
    return BROAD_OK;
}

static int parse_reals(double out[BROAD_LIST_MAX], size_t *out_count, const char *text, double min, double max)
{
    size_t count = 0;
    for (;; text++) {
        if (count == BROAD_LIST_MAX || parse_real(&out[count], text, &text)) return -1;
        if (!(out[count] >= min && out[count] <= max)) return -1;
        count++;
        if (*text == 0) break;
        if (*text != ',') return -1;
    }
    *out_count = count;
    return 0;
}

static int set_reals(broad_options *options, const broad__option_row *row, const char *value)
{
    double numbers[BROAD_LIST_MAX] = {0};
    size_t count = 0;
    if (parse_reals(numbers, &count, value, row->min, row->max))
        return fail_value(row, value, "such a list (at most 256 values)");
    memcpy(field_at(options, row->field), numbers, sizeof numbers);
    *(size_t *)field_at(options, row->partner) = count;
    return BROAD_OK;
}

static int set_gamma(broad_options *options, const broad__option_row *row, const char *value)
{
    char form[BROAD__ENUM_BYTES] = {0};
    const char *colon = strchr(value, ':');
    size_t length = colon ? (size_t)(colon - value) : 0;
    if (!colon || length >= sizeof form) return fail_value(row, value, "a schedule");
    memcpy(form, value, length);
    int found = broad__enum_find(BROAD__GAMMA_FORMS, form);
    if (found < 0) return fail_value(row, value, "a schedule");

    broad__limits limits = broad__gamma_limits((broad_gamma_form)found);
    double numbers[BROAD_LIST_MAX] = {0};
    size_t count = 0;
    if (parse_reals(numbers, &count, colon + 1, limits.min, limits.max)) return fail_value(row, value, "a schedule");
    if (count > 1 && found != BROAD_GAMMA_LIST) return fail_value(row, value, "a schedule");
    options->gamma_form = (broad_gamma_form)found;
    options->gamma_count = count;
    memcpy(options->gamma, numbers, sizeof numbers);
    return BROAD_OK;
}

static int set_part(broad_options *options, const broad__option_row *row, const char *value)
{
    double number = 0;
    const char *end = "";
    if (parse_real(&number, value, &end)) return fail_value(row, value, "a number");
    int relative = strcmp(end, "%") == 0;
    if (*end && !relative) return fail_value(row, value, "a number");
    if (!(number >= row->min && number <= (relative ? 100 : row->max))) return fail_value(row, value, "in range");
    *(double *)field_at(options, row->field) = relative ? number / 100 : number;
    *(int *)field_at(options, row->partner) = relative;
    return BROAD_OK;
}

/* Powers of 1024, which K, M, G and T stand for; more of the unit may follow ("GB", "GiB"). */
static int byte_power(const char *unit)
{
    static const char letters[] = "KMGT";
    const char *letter = *unit ? strchr(letters, *unit >= 'a' && *unit <= 'z' ? *unit - 'a' + 'A' : *unit) : NULL;
    const char *rest = letter ? unit + 1 : unit;
    if (*rest && strcasecmp(rest, "B") != 0 && !(letter && strcasecmp(rest, "iB") == 0)) return -1;
    return letter ? (int)(letter - letters) + 1 : 0;
}

static int set_bytes(broad_options *options, const broad__option_row *row, const char *value)
{
    double number = 0;
    const char *end = "";
    int power = parse_real(&number, value, &end) ? -1 : byte_power(end);
    if (power < 0) return fail_value(row, value, "a size");
    number = floor(ldexp(number, 10 * power));
    if (!(number >= row->min && number <= row->max)) return fail_value(row, value, "in range");
    *(size_t *)field_at(options, row->field) = (size_t)number;
    return BROAD_OK;
}

int broad__option_parse(broad_options *options, const broad__option_row *row, const char *value)
{
    switch (row->type) {
    case BROAD__VALUE_CHOICE: return set_choice(options, row, value);
    case BROAD__VALUE_SIZE:
    case BROAD__VALUE_UINT64: return set_whole(options, row, value);
    case BROAD__VALUE_REAL:
    case BROAD__VALUE_REAL_OR_AUTO: return set_real(options, row, value);
    case BROAD__VALUE_SIZES:
    case BROAD__VALUE_SIZES_OR_AUTO: return set_sizes(options, row, value);
    case BROAD__VALUE_REALS: return set_reals(options, row, value);
    case BROAD__VALUE_GAMMA: return set_gamma(options, row, value);
    case BROAD__VALUE_BYTES: return set_bytes(options, row, value);
    case BROAD__VALUE_PART: return set_part(options, row, value);
    case BROAD__VALUE_TEXT: *(const char **)field_at(options, row->field) = *value ? value : NULL; return BROAD_OK;
    }
    return broad__fail(BROAD_BUG, "option '%s' has no type", row->option.name);
}

/* ---- value to text --------------------------------------------------------------------------------------------- */

static const void *field_of(const broad_options *options, size_t offset) { return (const char *)options + offset; }

typedef struct text_out {
    char *text;
    size_t capacity, used;
} text_out;

__attribute__((format(printf, 2, 3))) static void put(text_out *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t left = out->used < out->capacity ? out->capacity - out->used : 0;
    int length = vsnprintf(left ? out->text + out->used : NULL, left, format, arguments);
    va_end(arguments);
    if (length > 0) out->used += (size_t)length;
}

/* The shortest text that reads back as the same number. */
static void put_real(text_out *out, double value)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t previous = c == (locale_t)0 ? (locale_t)0 : uselocale(c);
    char text[NUMBER_BYTES];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    if (c != (locale_t)0) {
        uselocale(previous);
        freelocale(c);
    }
    put(out, "%s", text);
}

static void put_reals(text_out *out, const double *values, size_t count)
{
    for (size_t i = 0; i < count && i < BROAD_LIST_MAX; i++) {
        if (i) put(out, ",");
        put_real(out, values[i]);
    }
}

/* The percentage that `part` was made from. A hundredth is rounded, so 100 * part may miss it by a bit: 15 digits are
 * tried first, then the neighbours. */
static double percent_of(double part)
{
    char text[NUMBER_BYTES];
    double percent = 100 * part;
    snprintf(text, sizeof text, "%.15g", percent);
    const double candidates[] = {strtod(text, NULL), percent, nextafter(percent, 0), nextafter(percent, HUGE_VAL)};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (candidates[i] / 100 == part) return candidates[i];
    return percent;
}

static void put_choice(text_out *out, const char *choices, int value)
{
    char name[BROAD__ENUM_BYTES];
    broad__enum_name(name, choices, value);
    put(out, "%s", name);
}

static void put_value(text_out *out, const broad_options *options, const broad__option_row *row)
{
    const void *field = field_of(options, row->field);
    const void *partner = field_of(options, row->partner);
    switch (row->type) {
    case BROAD__VALUE_CHOICE: put_choice(out, row->option.choices, *(const int *)field); break;
    case BROAD__VALUE_SIZE:
    case BROAD__VALUE_BYTES: put(out, "%zu", *(const size_t *)field); break;
    case BROAD__VALUE_UINT64: put(out, "%llu", (unsigned long long)*(const uint64_t *)field); break;
    case BROAD__VALUE_REAL: put_real(out, *(const double *)field); break;
    case BROAD__VALUE_REAL_OR_AUTO:
        if (*(const int *)partner) put(out, "auto");
        else put_real(out, *(const double *)field);
        break;
    case BROAD__VALUE_SIZES_OR_AUTO:
        if (options->features_auto) {
            put(out, "auto");
            break;
        }
        /* fall through */
    case BROAD__VALUE_SIZES: put(out, "%zux%zu", *(const size_t *)field, *(const size_t *)partner); break;
    case BROAD__VALUE_REALS: put_reals(out, field, *(const size_t *)partner); break;
    case BROAD__VALUE_GAMMA:
        put_choice(out, BROAD__GAMMA_FORMS, (int)options->gamma_form);
        put(out, ":");
        put_reals(out, options->gamma, options->gamma_count);
        break;
    case BROAD__VALUE_PART:
        put_real(out, *(const int *)partner ? percent_of(*(const double *)field) : *(const double *)field);
        if (*(const int *)partner) put(out, "%%");
        break;
    case BROAD__VALUE_TEXT: put(out, "%s", *(const char *const *)field ? *(const char *const *)field : ""); break;
    }
}

size_t broad__option_print(char *text, size_t bytes, const broad_options *options, const broad__option_row *row)
{
    text_out out = {text, bytes, 0};
    put_value(&out, options, row);
    return out.used;
}
