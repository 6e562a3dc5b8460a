/* What is said of a photo beside its class: that it is not like the training photos, and what is wrong with it. */
#ifndef BROAD_CLI_RUN_PHOTO_VERDICT_H
#define BROAD_CLI_RUN_PHOTO_VERDICT_H

#include "io/json.h"

#define CLI_UNSURE "unsure" /* the verdict where no class is probable enough */
#define CLI_UNLIKE "unlike" /* the verdict on a photo that is not like the training photos */
enum { CLI_FAULTS_BYTES = 64 };

/* "too dark; blurred"; "" where nothing is wrong. */
void cli_photo_faults(char out[CLI_FAULTS_BYTES], const broad_photo *photo);
json_t *cli_photo_faults_json(const broad_photo *photo); /* a list of words */
/* "yes", "no", or "" where it is not known. */
const char *cli_photo_unlike(const broad_photo *photo);
json_t *cli_photo_unlike_json(const broad_photo *photo); /* true, false, or null */

#endif
