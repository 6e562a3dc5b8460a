#include "io/quote.h"

#include <stdlib.h>
#include <string.h>

static int is_number(const char *text)
{
    char *end = NULL;
    strtod(text, &end);
    return end != text && *end == 0;
}

static void put_doubled(cli_output *output, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '"') cli_output_bytes(output, "\"", 1);
        cli_output_bytes(output, c, 1);
    }
}

/* Whether a spreadsheet would evaluate it. */
static int is_formula(const char *prefix, const char *text, const char *suffix)
{
    char first = *prefix ? *prefix : *text ? *text : *suffix;
    int number = !*prefix && !*suffix && is_number(text);
    return first && strchr("=+-@\t\r", first) && !number;
}

static void put_field(cli_output *output, const char *const parts[3], int formula)
{
    size_t quote = 0;
    for (size_t i = 0; i < 3; i++) quote |= strpbrk(parts[i], ",\"\r\n") != NULL;
    cli_output_bytes(output, "\"", quote);
    cli_output_bytes(output, "'", formula ? 1 : 0);
    for (size_t i = 0; i < 3; i++) put_doubled(output, parts[i]);
    cli_output_bytes(output, "\"", quote);
}

void cli_csv_parts(cli_output *output, const char *prefix, const char *text, const char *suffix)
{
    put_field(output, (const char *const[]){prefix, text, suffix}, is_formula(prefix, text, suffix));
}

void cli_csv_text(cli_output *output, const char *text) { cli_csv_parts(output, "", text, ""); }

void cli_csv_exact(cli_output *output, const char *text) { put_field(output, (const char *const[]){"", text, ""}, 0); }

void cli_shell_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+=@%";
    if (*word && word[strspn(word, plain)] == 0) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++) {
        if (*word == '\'') fputs("'\\''", out);
        else fputc(*word, out);
    }
    fputc('\'', out);
}
