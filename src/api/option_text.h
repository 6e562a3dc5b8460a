/* Options from text and to text. */
#ifndef BROAD_API_OPTION_TEXT_H
#define BROAD_API_OPTION_TEXT_H

#include "model/option_table.h"

/* Sets the fields of one row; BROAD_USAGE with what to give instead. Nothing else follows from it yet. */
int broad__option_parse(broad_options *options, const broad__option_row *row, const char *value);
/* Writes text that broad__option_parse() reads back, as much of it as fits; returns its length. */
size_t broad__option_print(char *text, size_t bytes, const broad_options *options, const broad__option_row *row);

#endif
