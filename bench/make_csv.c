/*
 * Writes a table as CSV, fast and the same for the same arguments everywhere: a header, inputs x1, x2, ... of six decimals,
 * and a target y that can be learned from the first of them.
 *   make_csv FILE ROWS [COLUMNS [classes|regress [SEED [DIGITS]]]]
 * COLUMNS: inputs and the target, 20. classes: y is "no" or "yes". DIGITS 17: numbers with all their digits, by printf.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 1000, BUFFER = 1 << 20, CELL = 32 };

typedef struct settings {
    uint64_t rows, seed;
    size_t columns;
    int classes, digits;
} settings;

/* SplitMix64 of a counter. */
static uint64_t mixed(uint64_t seed, uint64_t counter)
{
    uint64_t z = seed * 0xD1B54A32D192ED03u + (counter + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* In millionths, between -6 and 6 million: the sum of four uniform numbers, nearly normal, with a deviation of 1.7 or so. */
static int64_t draw(uint64_t seed, uint64_t counter)
{
    uint64_t bits = mixed(seed, counter), sum = 0;
    for (int i = 0; i < 4; i++) sum += ((bits >> (16 * i)) & 0xFFFF) * 3000000 >> 16;
    return (int64_t)sum - 6000000;
}

static char *put_decimal(char *at, int64_t millionths)
{
    char digits[24];
    int count = 0;
    uint64_t rest = (uint64_t)(millionths < 0 ? -millionths : millionths);
    if (millionths < 0) *at++ = '-';
    while (rest || count < 7) {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    }
    while (count > 6) *at++ = digits[--count];
    *at++ = '.';
    while (count) *at++ = digits[--count];
    return at;
}

static char *put_number(char *at, double value, int digits)
{
    return digits == 17 ? at + snprintf(at, CELL, "%.17g", value) : put_decimal(at, llround(value * 1e6));
}

static char *put_row(char *at, const settings *s, uint64_t row)
{
    double x[COLUMNS_MAX];
    size_t inputs = s->columns - 1;
    for (size_t j = 0; j < inputs; j++) {
        int64_t millionths = draw(s->seed, row * s->columns + j);
        x[j] = (double)millionths * 1e-6;
        if (s->digits == 17) {
            x[j] += (double)(mixed(~s->seed, row * s->columns + j) >> 11) * 0x1p-73;
            at = put_number(at, x[j], 17);
        } else {
            at = put_decimal(at, millionths);
        }
        *at++ = ',';
    }
    double noise = 0.3e-6 * (double)draw(s->seed, row * s->columns + inputs);
    double y = x[0] - 0.5 * x[1 % inputs] * x[2 % inputs] + sin(2 * x[3 % inputs]) + noise;
    if (s->classes) at = stpcpy(at, y > 0 ? "yes" : "no");
    else at = put_number(at, y, s->digits);
    *at++ = '\n';
    return at;
}

static int write_table(FILE *file, const settings *s)
{
    char *buffer = malloc(BUFFER), *at = buffer;
    int failed = buffer == NULL;
    for (size_t j = 1; j < s->columns && !failed; j++) at += snprintf(at, CELL, "x%zu,", j);
    if (!failed) at = stpcpy(at, "y\n");
    for (uint64_t row = 0; row < s->rows && !failed; row++) {
        at = put_row(at, s, row);
        if ((size_t)(at - buffer) + s->columns * CELL < BUFFER && row + 1 < s->rows) continue;
        failed = fwrite(buffer, 1, (size_t)(at - buffer), file) != (size_t)(at - buffer);
        at = buffer;
    }
    free(buffer);
    return failed;
}

int main(int argc, char **argv)
{
    settings s = {.columns = 20, .classes = 1, .seed = 1, .digits = 6};
    if (argc > 2) s.rows = strtoull(argv[2], NULL, 10);
    if (argc > 3) s.columns = strtoul(argv[3], NULL, 10);
    if (argc > 4) s.classes = strcmp(argv[4], "regress") != 0;
    if (argc > 5) s.seed = strtoull(argv[5], NULL, 10);
    if (argc > 6) s.digits = atoi(argv[6]);
    if (!s.rows || s.columns < 2 || s.columns > COLUMNS_MAX || (s.digits != 6 && s.digits != 17)) {
        fprintf(stderr, "usage: make_csv FILE ROWS [COLUMNS [classes|regress [SEED [6|17]]]]; 2 to %d columns\n",
                COLUMNS_MAX);
        return 2;
    }
    FILE *file = fopen(argv[1], "w");
    if (!file) {
        perror(argv[1]);
        return 1;
    }
    int failed = write_table(file, &s);
    if (fclose(file) != 0 || failed) {
        perror(argv[1]);
        remove(argv[1]);
        return 1;
    }
    return 0;
}
