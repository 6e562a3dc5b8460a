/*
 * A program that finds boxes in photos, kept running: it is started once, gets one file name per line and answers each with one
 * line of JSON:
 *   {"file": "a.jpg", "boxes": [[left, top, right, bottom, score], ...]}    in pixels of the upright photo
 * or {"file": "a.jpg", "error": "why"}. What it prints to standard error is quoted in messages. Failures go through broad__fail().
 */
#ifndef BROAD_CLI_IO_DETECTOR_H
#define BROAD_CLI_IO_DETECTOR_H

#include "broad/broad.h"

typedef struct cli_detector cli_detector;

/* `command` is for /bin/sh; it may take `seconds` to start and answer the first time, and then for each photo. */
int cli_detector_start(cli_detector **out, const char *command, double seconds);
/* Not for several threads at once. BROAD_BAD_DATA: the program says that it cannot read this photo; BROAD_FAILED: it ended, did
 * not answer in time or not in the form above; it is then stopped, and every further call fails. */
int cli_detector_ask(broad_box_list *out, cli_detector *detector, const char *file);
void cli_detector_stop(cli_detector *detector); /* accepts NULL; waits for its end, kills it if need be */

#endif
