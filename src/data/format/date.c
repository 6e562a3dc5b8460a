#include "data/format/date.h"

#include <string.h>
#include <strings.h>

typedef struct cursor {
    const char *at, *end;
} cursor;

/* Up to `max` digits; returns how many there were. */
static int take_number(int *out, cursor *c, int max)
{
    int count = 0;
    *out = 0;
    for (; c->at < c->end && (unsigned)(*c->at - '0') <= 9 && count < max; count++) *out = 10 * *out + (*c->at++ - '0');
    return count;
}

static int take_char(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted) return 0;
    c->at++;
    return 1;
}

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && *c->at == ' ') c->at++;
}

static int month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970-01-01 in the Gregorian calendar: years begin with March, so that the odd day comes last. */
static double days_since_1970(int year, int month, int day)
{
    long y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
    long days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
    return (double)days;
}

static broad__date_kind take_date(double *out, cursor *c, int month_first)
{
    int part[3], digits[3];
    digits[0] = take_number(&part[0], c, 4);
    if (!digits[0] || c->at == c->end || !strchr("-./", *c->at)) return BROAD__DATE_NONE;
    char mark = *c->at++;
    digits[1] = take_number(&part[1], c, 2);
    if (!digits[1] || !take_char(c, mark)) return BROAD__DATE_NONE;
    digits[2] = take_number(&part[2], c, 4);
    broad__date_kind kind = BROAD__DATE_SURE;
    int year = part[0], month = part[1], day = part[2];
    if (digits[0] <= 2 && (digits[2] == 4 || digits[2] == 2)) {
        if (mark != '.') kind = BROAD__DATE_EITHER;
        int swapped = mark != '.' && month_first;
        year = digits[2] == 4 ? part[2] : part[2] + (part[2] < 70 ? 2000 : 1900);
        month = swapped ? part[0] : part[1];
        day = swapped ? part[1] : part[0];
    } else if (digits[0] != 4 || !digits[2] || digits[2] > 2) {
        return BROAD__DATE_NONE;
    }
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > month_days(year, month)) return BROAD__DATE_NONE;
    if (kind == BROAD__DATE_EITHER && (part[0] > 12 || part[1] > 12 || part[0] == part[1])) kind = BROAD__DATE_SURE;
    *out = days_since_1970(year, month, day);
    return kind;
}

static int take_half(cursor *c, int *hour)
{
    skip_blanks(c);
    if (c->end - c->at < 2) return 1;
    int after = strncasecmp(c->at, "pm", 2) == 0;
    if (!after && strncasecmp(c->at, "am", 2) != 0) return 1;
    c->at += 2;
    if (*hour < 1 || *hour > 12) return 0;
    *hour = *hour % 12 + 12 * after;
    return 1;
}

static double take_fraction(cursor *c)
{
    double value = 0, unit = 0.1;
    while (c->at < c->end && (unsigned)(*c->at - '0') <= 9) {
        value += (*c->at++ - '0') * unit;
        unit /= 10;
    }
    return value;
}

/* The time zone, in minutes east of Greenwich. */
static int take_zone(int *out, cursor *c)
{
    int hours, minutes = 0;
    *out = 0;
    if (c->at == c->end || take_char(c, 'Z') || take_char(c, 'z')) return 1;
    int west = *c->at == '-';
    if (!west && *c->at != '+') return 1;
    c->at++;
    if (take_number(&hours, c, 2) != 2) return 0;
    take_char(c, ':');
    if (c->at < c->end && take_number(&minutes, c, 2) != 2) return 0;
    *out = (west ? -1 : 1) * (60 * hours + minutes);
    return 1;
}

static int take_time(double *out, cursor *c)
{
    int hour, minute, second = 0, zone;
    double fraction = 0;
    if (!take_number(&hour, c, 2) || !take_char(c, ':') || take_number(&minute, c, 2) != 2) return 0;
    if (take_char(c, ':')) {
        if (take_number(&second, c, 2) != 2) return 0;
        if (take_char(c, '.') || take_char(c, ',')) fraction = take_fraction(c);
    }
    if (!take_half(c, &hour) || !take_zone(&zone, c)) return 0;
    if (hour > 24 || minute > 59 || second > 60) return 0;
    *out = (hour * 3600.0 + (minute - zone) * 60.0 + second + fraction) / 86400;
    return 1;
}

broad__date_kind broad__date_read(double *out, broad__text text, int month_first)
{
    cursor c = {text.bytes, text.bytes + text.count}, alone = c;
    double day = 0, time = 0;
    broad__date_kind kind = take_date(&day, &c, month_first);
    if (kind == BROAD__DATE_NONE) {
        if (!take_time(&time, &alone) || alone.at != alone.end) return BROAD__DATE_NONE;
        *out = time;
        return BROAD__DATE_SURE;
    }
    if (c.at < c.end) {
        if (!take_char(&c, 'T')) skip_blanks(&c);
        if (!take_time(&time, &c)) return BROAD__DATE_NONE;
    }
    *out = day + time;
    return c.at == c.end ? kind : BROAD__DATE_NONE;
}
