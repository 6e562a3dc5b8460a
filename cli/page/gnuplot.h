/* gnuplot as a child process: a script goes into its standard input, pictures come from its standard output. */
#ifndef BROAD_CLI_PAGE_GNUPLOT_H
#define BROAD_CLI_PAGE_GNUPLOT_H

#include <stddef.h>

enum { CLI_GNUPLOT_WHY = 256 };

/* 1: *out is all that it printed, freed with free(). 0: there is no gnuplot, it failed, or it took too long; then `why` says
 * so, and what to do. No shell, no file and no process is left in either case. */
int cli_gnuplot_run(char **out, char why[CLI_GNUPLOT_WHY], const char *script);

/*
 * The elements of one SVG of gnuplot's, at *svg, for a page of our own: paths, polygons, circles and texts and nothing else, with
 * classes in the place of colours and without ids, so that the page decides what they look like and any number of them can be
 * in it. A colour #00000N becomes class kN of a line, fN of an area. *svg moves behind it. 1: *out is freed with free(); 0: it is
 * not of the form that is known, or there is none, or no memory.
 */
int cli_svg_take(char **out, const char **svg);

#endif
