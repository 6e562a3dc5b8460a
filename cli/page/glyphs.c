#include "page/glyphs.h"

#include <string.h>

enum { FIRST = ' ', LAST = '~', COLUMNS = 5, ROWS = 8 };

/* Column by column, the lowest bit on top. */
static const unsigned char glyphs[LAST - FIRST + 1][COLUMNS] = {
    {0, 0, 0, 0, 0},       {0, 0, 95, 0, 0},         {0, 7, 0, 7, 0},       {20, 127, 20, 127, 20},
    {36, 42, 127, 42, 18}, {35, 19, 8, 100, 98},     {54, 73, 86, 32, 80},  {0, 8, 7, 3, 0},
    {0, 28, 34, 65, 0},    {0, 65, 34, 28, 0},       {42, 28, 127, 28, 42}, {8, 8, 62, 8, 8},
    {0, 128, 112, 48, 0},  {8, 8, 8, 8, 8},          {0, 0, 96, 96, 0},     {32, 16, 8, 4, 2},
    {62, 81, 73, 69, 62},  {0, 66, 127, 64, 0},      {114, 73, 73, 73, 70}, {33, 65, 73, 77, 51},
    {24, 20, 18, 127, 16}, {39, 69, 69, 69, 57},     {60, 74, 73, 73, 49},  {65, 33, 17, 9, 7},
    {54, 73, 73, 73, 54},  {70, 73, 73, 41, 30},     {0, 0, 20, 0, 0},      {0, 64, 52, 0, 0},
    {0, 8, 20, 34, 65},    {20, 20, 20, 20, 20},     {0, 65, 34, 20, 8},    {2, 1, 89, 9, 6},
    {62, 65, 93, 89, 78},  {124, 18, 17, 18, 124},   {127, 73, 73, 73, 54}, {62, 65, 65, 65, 34},
    {127, 65, 65, 65, 62}, {127, 73, 73, 73, 65},    {127, 9, 9, 9, 1},     {62, 65, 65, 81, 115},
    {127, 8, 8, 8, 127},   {0, 65, 127, 65, 0},      {32, 64, 65, 63, 1},   {127, 8, 20, 34, 65},
    {127, 64, 64, 64, 64}, {127, 2, 28, 2, 127},     {127, 4, 8, 16, 127},  {62, 65, 65, 65, 62},
    {127, 9, 9, 9, 6},     {62, 65, 81, 33, 94},     {127, 9, 25, 41, 70},  {38, 73, 73, 73, 50},
    {3, 1, 127, 1, 3},     {63, 64, 64, 64, 63},     {31, 32, 64, 32, 31},  {63, 64, 56, 64, 63},
    {99, 20, 8, 20, 99},   {3, 4, 120, 4, 3},        {97, 89, 73, 77, 67},  {0, 127, 65, 65, 65},
    {2, 4, 8, 16, 32},     {0, 65, 65, 65, 127},     {4, 2, 1, 2, 4},       {64, 64, 64, 64, 64},
    {0, 3, 7, 8, 0},       {32, 84, 84, 120, 64},    {127, 40, 68, 68, 56}, {56, 68, 68, 68, 40},
    {56, 68, 68, 40, 127}, {56, 84, 84, 84, 24},     {0, 8, 126, 9, 2},     {24, 164, 164, 156, 120},
    {127, 8, 4, 4, 120},   {0, 68, 125, 64, 0},      {32, 64, 64, 61, 0},   {127, 16, 40, 68, 0},
    {0, 65, 127, 64, 0},   {124, 4, 120, 4, 120},    {124, 8, 4, 4, 120},   {56, 68, 68, 68, 56},
    {252, 24, 36, 36, 24}, {24, 36, 36, 24, 252},    {124, 8, 4, 4, 8},     {72, 84, 84, 84, 36},
    {4, 4, 63, 68, 36},    {60, 64, 64, 32, 124},    {28, 32, 64, 32, 28},  {60, 64, 48, 64, 60},
    {68, 40, 16, 40, 68},  {76, 144, 144, 144, 124}, {68, 100, 84, 76, 68}, {0, 8, 54, 65, 0},
    {0, 0, 119, 0, 0},     {0, 65, 54, 8, 0},        {2, 1, 2, 4, 2},
};

/* One character; the further bytes of one that is not ASCII are passed over. */
static const unsigned char *next_glyph(const char **text)
{
    unsigned char c = (unsigned char)*(*text)++;
    if (c >= 0x80)
        while ((**text & 0xC0) == 0x80) (*text)++;
    return glyphs[c >= FIRST && c <= LAST ? c - FIRST : '?' - FIRST];
}

size_t cli_glyphs_width(const char *text, size_t scale)
{
    size_t count = 0;
    for (; *text; count++) next_glyph(&text);
    return count * CLI_GLYPH_WIDTH * scale;
}

static void put_dot(broad_picture *picture, size_t left, size_t top, size_t scale)
{
    static const unsigned char ink[3] = {30, 30, 30};
    size_t width = broad_picture_width(picture), height = broad_picture_height(picture);
    unsigned char *pixels = broad_picture_pixels(picture);
    for (size_t y = top; y < top + scale && y < height; y++)
        for (size_t x = left; x < left + scale && x < width; x++) memcpy(pixels + 3 * (y * width + x), ink, sizeof ink);
}

void cli_glyphs_draw(broad_picture *picture, size_t left, size_t top, size_t scale, const char *text)
{
    for (; *text; left += CLI_GLYPH_WIDTH * scale) {
        const unsigned char *glyph = next_glyph(&text);
        for (size_t x = 0; x < COLUMNS; x++)
            for (size_t y = 0; y < ROWS; y++)
                if (glyph[x] >> y & 1) put_dot(picture, left + x * scale, top + y * scale, scale);
    }
}
