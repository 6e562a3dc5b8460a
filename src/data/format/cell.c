#include "data/format/cell.h"

#include <string.h>
#include <strings.h>

#include "base/common.h"
#include "data/format/date.h"

enum { DIGITS_MAX = 64 };

int broad__cell_format_plain(broad__cell_format format) { return format.form == BROAD__FORM_NUMBER && !format.decimal; }

broad__form broad__cell_format_form(broad__cell_format format)
{
    if (format.form != BROAD__FORM_NUMBER || !format.decimal) return format.form;
    return format.decimal == ',' ? BROAD__FORM_DECIMAL_COMMA : BROAD__FORM_DECIMAL_POINT;
}

broad__cell_format broad__cell_format_of(broad__form form)
{
    if (form == BROAD__FORM_DECIMAL_COMMA) return (broad__cell_format){.decimal = ','};
    if (form == BROAD__FORM_DECIMAL_POINT) return (broad__cell_format){.decimal = '.'};
    return (broad__cell_format){.form = form};
}

static int is_one_of(broad__text cell, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == cell.count && strncasecmp(*words, cell.bytes, cell.count) == 0) return 1;
    return 0;
}

int broad__cell_missing(broad__text cell)
{
    static const char *const words[] = {"none",    "missing", "unknown", "undefined", "nil",    "k.a.",
                                        "k. a.",   "s/d",     ".",       "...",       "#n/a!",  "#div/0!",
                                        "#value!", "#ref!",   "#num!",   "#name?",    "#null!", "not available",
                                        "no data", "nodata",  "error",   "err",       NULL};
    double value;
    if (broad__number_read(&value, cell) == BROAD__NUMBER_MISSING) return 1;
    return is_one_of(broad__text_trim(cell), words);
}

/* ---- numbers with marks ---------------------------------------------------------------------------------------------- */

/* Takes one of the words off the start or the end of a text; 0: none is there. */
static int take_mark(broad__text *text, int front)
{
    static const char *const marks[] = {"$",   "\xE2\x82\xAC", "\xC2\xA3",     "\xC2\xA5", "%",
                                        "EUR", "USD",          "GBP",          "CHF",      "JPY",
                                        "Fr.", "\xC2\xA0",     "\xE2\x80\xAF", " ",        NULL};
    for (const char *const *mark = marks; *mark; mark++) {
        size_t count = strlen(*mark);
        if (count > text->count) continue;
        const char *at = front ? text->bytes : text->bytes + text->count - count;
        if (*at != **mark || memcmp(at, *mark, count) != 0) continue;
        if (front) text->bytes += count;
        text->count -= count;
        return 1;
    }
    return 0;
}

/* Without signs of currency and percent: *negative is set by a minus before or after the currency, or by brackets. */
static broad__text bare_number(broad__text cell, int *negative)
{
    *negative = 0;
    if (cell.count > 2 && *cell.bytes == '(' && cell.bytes[cell.count - 1] == ')') {
        *negative = 1;
        cell = (broad__text){cell.bytes + 1, cell.count - 2};
    }
    for (int signs = 0; cell.count;) {
        if (take_mark(&cell, 1)) continue;
        if ((*cell.bytes != '-' && *cell.bytes != '+') || signs++) break;
        *negative ^= *cell.bytes == '-';
        cell = (broad__text){cell.bytes + 1, cell.count - 1};
    }
    while (cell.count && take_mark(&cell, 0)) continue;
    return cell;
}

static int is_digit(char c) { return (unsigned)(c - '0') <= 9; }

/* The mark between thousands at `at`: its bytes, 0 if there is none. Three digits and no fourth must follow. */
static size_t group_mark(const char *at, const char *end, char decimal)
{
    size_t bytes = 0;
    if (*at == (decimal == ',' ? '.' : ',') || *at == ' ' || *at == '\'') bytes = 1;
    else if (end - at >= 2 && memcmp(at, "\xC2\xA0", 2) == 0) bytes = 2;
    else if (end - at >= 3 && memcmp(at, "\xE2\x80\xAF", 3) == 0) bytes = 3;
    if (!bytes || (size_t)(end - at) < bytes + 3) return 0;
    const char *digits = at + bytes;
    int three = is_digit(digits[0]) && is_digit(digits[1]) && is_digit(digits[2]);
    return three && (digits + 3 == end || !is_digit(digits[3])) ? bytes : 0;
}

/* The digits of a number with marks as a plain one; returns their count, 0: it is no such number. */
static size_t plain_digits(char out[DIGITS_MAX], broad__text text, char decimal)
{
    const char *end = text.bytes + text.count, *last = NULL; /* last: where the last group of three ends */
    size_t used = 0;
    int fraction = 0;
    for (const char *at = text.bytes; at < end && used + 2 < DIGITS_MAX;) {
        size_t mark = fraction || !used || (last ? at != last : used > 3) ? 0 : group_mark(at, end, decimal);
        if (mark) {
            at += mark;
            memcpy(out + used, at, 3);
            used += 3;
            last = at += 3;
        } else if (is_digit(*at) && (fraction || !last)) {
            out[used++] = *at++;
        } else if (*at == decimal && !fraction) {
            fraction = 1;
            out[used++] = '.';
            at++;
        } else if (used && (*at | 0x20) == 'e') {
            size_t rest = (size_t)(end - at);
            if (used + rest >= DIGITS_MAX) return 0;
            memcpy(out + used, at, rest);
            return used + rest;
        } else {
            return 0;
        }
    }
    return used + 2 < DIGITS_MAX ? used : 0;
}

static int read_marked(double *out, broad__text cell, char decimal)
{
    char digits[DIGITS_MAX];
    int negative;
    broad__text bare = bare_number(cell, &negative);
    size_t count = plain_digits(digits, bare, decimal);
    if (!count || broad__number_scan(out, digits, digits + count) != digits + count) return 0;
    if (negative) *out = -*out;
    return *out - *out == 0; /* finite */
}

/* ---- truth values ---------------------------------------------------------------------------------------------------- */

static int read_truth(double *out, broad__text cell)
{
    static const char *const yes[] = {"true", "yes", "y", "t", "on", "ja", "oui", "1", NULL};
    static const char *const no[] = {"false", "no", "n", "f", "off", "nein", "non", "0", NULL};
    *out = is_one_of(cell, yes);
    return *out != 0 || is_one_of(cell, no);
}

/* ---- all of them ----------------------------------------------------------------------------------------------------- */

static int read_formed(double *out, broad__text cell, broad__cell_format format)
{
    if (format.form == BROAD__FORM_TRUTH) return read_truth(out, cell);
    if (format.form != BROAD__FORM_NUMBER)
        return broad__date_read(out, cell, format.form == BROAD__FORM_DATE_MONTH) != BROAD__DATE_NONE;
    return format.decimal && read_marked(out, cell, format.decimal);
}

broad__number_kind broad__cell_value(double *out, broad__text cell, broad__cell_format format)
{
    cell = broad__text_trim(cell);
    if (!broad__cell_format_plain(format) && read_formed(out, cell, format)) return BROAD__NUMBER;
    broad__number_kind kind = broad__number_read(out, cell);
    return kind == BROAD__NUMBER_TEXT && broad__cell_missing(cell) ? BROAD__NUMBER_MISSING : kind;
}

unsigned broad__cell_look(broad__text cell)
{
    double value;
    unsigned signs = 0;
    cell = broad__text_trim(cell);
    if (broad__number_read(&value, cell) == BROAD__NUMBER) signs |= BROAD__CELL_PLAIN;
    if (read_marked(&value, cell, ',')) signs |= BROAD__CELL_COMMA;
    if (read_marked(&value, cell, '.')) signs |= BROAD__CELL_POINT;
    if ((signs & BROAD__CELL_PLAIN) && (signs & BROAD__CELL_COMMA) && memchr(cell.bytes, '.', cell.count))
        signs |= BROAD__CELL_GROUPED_POINT;
    if (read_truth(&value, cell)) signs |= BROAD__CELL_TRUTH;
    if (signs & BROAD__CELL_PLAIN) return signs;
    broad__date_kind day = broad__date_read(&value, cell, 0), month = broad__date_read(&value, cell, 1);
    if (day != BROAD__DATE_NONE) signs |= BROAD__CELL_DAY_FIRST;
    if (month != BROAD__DATE_NONE) signs |= BROAD__CELL_MONTH_FIRST;
    if (day == BROAD__DATE_EITHER && month == BROAD__DATE_EITHER) signs |= BROAD__CELL_EITHER_ORDER;
    return signs;
}
