/* Words within a picture, in letters of 5 x 8 pixels. */
#ifndef BROAD_CLI_PAGE_GLYPHS_H
#define BROAD_CLI_PAGE_GLYPHS_H

#include "broad/broad.h"

enum { CLI_GLYPH_WIDTH = 6, CLI_GLYPH_HEIGHT = 9 }; /* with the space to the next one */

size_t cli_glyphs_width(const char *text, size_t scale); /* in pixels */
/* Dark letters of `scale` pixels a dot, as far as there is room; what is not ASCII becomes a question mark. */
void cli_glyphs_draw(broad_picture *picture, size_t left, size_t top, size_t scale, const char *text);

#endif
