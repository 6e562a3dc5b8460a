/* The files of the demonstration on photos. */
#ifndef BROAD_CLI_DEMO_DEMO_FILES_H
#define BROAD_CLI_DEMO_DEMO_FILES_H

#include "demo/demo_story.h"

/* Removes what an earlier run left; fails where something has one of our names and is not ours. */
int demo_files_prepare(demo_story *story);
/* Of the photos that were rendered takes those after the first `count` away, to lie in one folder under names that tell
 * nothing. The truth goes beside both folders. */
int demo_files_part(demo_story *story);
/* Copies the photos to correct into folders of their classes. */
int demo_files_correct(const demo_story *story);

#endif
