#include "page/html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/real_text.h"
#include "base/utf8.h"

#define NO_BREAK "\302\240" /* U+00A0, the space between a number and its unit */

static const char *escape_of(unsigned char character)
{
    switch (character) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    case 0x7F: return " ";
    default: return character < ' ' ? " " : NULL;
    }
}

/* Of the `left` bytes of text it takes one character; returns its bytes. */
static size_t put_character(cli_output *output, const char *text, size_t left)
{
    size_t length = broad__utf8_length(text, left);
    const char *escape = length ? escape_of((unsigned char)*text) : "\xEF\xBF\xBD";
    if (escape) cli_output_bytes(output, escape, strlen(escape));
    else cli_output_bytes(output, text, length);
    return length ? length : 1;
}

void cli_html_put(cli_output *output, const char *html) { cli_output_bytes(output, html, strlen(html)); }

void cli_html_text(cli_output *output, const char *text)
{
    for (size_t at = 0, count = strlen(text); at < count;) at += put_character(output, text + at, count - at);
}

void cli_html_shell(cli_output *output, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=@%+";
    int quote = !*word || word[strspn(word, plain)] != 0;
    if (quote) cli_html_text(output, "'");
    for (size_t at = 0, count = strlen(word); at < count;) {
        if (word[at] == '\'') cli_html_text(output, "'\\'");
        at += put_character(output, word + at, count - at);
    }
    if (quote) cli_html_text(output, "'");
}

void cli_html_link(cli_output *output, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    if (*path == '/') cli_html_put(output, "file://");
    for (; *path; path++) {
        if (strchr(plain, *path)) cli_output_bytes(output, path, 1);
        else cli_output_print(output, "%%%02X", (unsigned)(unsigned char)*path);
    }
}

void cli_html_base64(cli_output *output, const void *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i += 3) {
        unsigned long three = (unsigned long)b[i] << 16;
        if (i + 1 < count) three |= (unsigned long)b[i + 1] << 8;
        if (i + 2 < count) three |= b[i + 2];
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63], digits[three >> 6 & 63], digits[three & 63]};
        if (i + 2 >= count) four[3] = '=';
        if (i + 1 >= count) four[2] = '=';
        cli_output_bytes(output, four, 4);
    }
}

const char *cli_number_count(cli_number *out, size_t count)
{
    char digits[32], *to = out->text;
    int length = snprintf(digits, sizeof digits, "%zu", count);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out->text;
}

const char *cli_number_of(cli_number *out, size_t count, const char *singular, const char *plural)
{
    size_t length = strlen(cli_number_count(out, count));
    snprintf(out->text + length, sizeof out->text - length, " %s", count == 1 ? singular : plural);
    return out->text;
}

const char *cli_number_percent(cli_number *out, double part)
{
    double percent = 100 * part;
    /* Nothing is quite certain: 99.96 is not 100. */
    if (percent > 99 && percent < 100) percent = fmin(percent, 99.9);
    snprintf(out->text, sizeof out->text, "%.*f" NO_BREAK "%%", percent > 99 && percent < 100, percent);
    return out->text;
}

static const char *put_data(cli_number *out, double value, const char *shown)
{
    char exact[BROAD__REAL_BYTES];
    int length = (int)broad__real_text(exact, value);
    snprintf(out->text, sizeof out->text, "<data value=\"%.*s\">%s</data>", length, exact, shown);
    return out->text;
}

static const char *none(cli_number *out)
{
    snprintf(out->text, sizeof out->text, "&ndash;");
    return out->text;
}

const char *cli_number_real(cli_number *out, double value, char form, int digits)
{
    char text[64];
    if (!isfinite(value)) return none(out);
    if (form == 'f') snprintf(text, sizeof text, "%.*f", digits, fmin(fmax(value, -1e30), 1e30));
    else snprintf(text, sizeof text, "%.*g", digits, value);
    return put_data(out, value, text);
}

const char *cli_number_share(cli_number *out, double part)
{
    char text[64];
    if (!isfinite(part)) return none(out);
    double percent = 100 * part;
    if (percent < 100 && percent > 99.9) percent = 99.9; /* what is not quite all is not shown as all */
    snprintf(text, sizeof text, "%.1f" NO_BREAK "%%", percent);
    return put_data(out, part, text);
}
