/* What a detector prints for one photo. */
#ifndef BROAD_CLI_IO_DETECTOR_ANSWER_H
#define BROAD_CLI_IO_DETECTOR_ANSWER_H

#include "broad/broad.h"

/* Adds the boxes of a line, the answer for `file`. BROAD_BAD_DATA: it says that it cannot read the photo; BROAD_FAILED: it is no
 * answer. Failures go through broad__fail(). */
int cli_detector_answer(broad_box_list *out, const char *line, size_t count, const char *file);

#endif
