/* What the demonstration on photos prints. */
#ifndef BROAD_CLI_DEMO_DEMO_PRINT_H
#define BROAD_CLI_DEMO_DEMO_PRINT_H

#include "demo/demo_story.h"

/* Each after its step. */
void demo_print_photos(const demo_story *story);
void demo_print_fit(const demo_story *story);
void demo_print_verdicts(const demo_story *story);
void demo_print_correction(const demo_story *story);
void demo_print_end(const demo_story *story);
int demo_print_json(const demo_story *story);

#endif
