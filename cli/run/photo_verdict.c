#include "run/photo_verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const broad_photo_fault all_faults[] = {BROAD_PHOTO_FAULT_DARK, BROAD_PHOTO_FAULT_BRIGHT,
                                               BROAD_PHOTO_FAULT_BLURRED, BROAD_PHOTO_FAULT_SMALL};
enum { FAULTS = sizeof all_faults / sizeof all_faults[0] };

void cli_photo_faults(char out[CLI_FAULTS_BYTES], const broad_photo *photo)
{
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < FAULTS; i++)
        if (photo->faults & all_faults[i])
            used += (size_t)snprintf(out + used, CLI_FAULTS_BYTES - used, "%s%s", used ? "; " : "",
                                     broad_photo_fault_name(all_faults[i]));
}

json_t *cli_photo_faults_json(const broad_photo *photo)
{
    json_t *list = json_array();
    for (size_t i = 0; i < FAULTS; i++)
        if (photo->faults & all_faults[i]) cli_json_append(list, cli_json_text(broad_photo_fault_name(all_faults[i])));
    return list;
}

const char *cli_photo_unlike(const broad_photo *photo)
{
    return isnan(photo->distance) ? "" : broad_photo_is_unlike(photo) ? "yes" : "no";
}

json_t *cli_photo_unlike_json(const broad_photo *photo)
{
    return isnan(photo->distance) ? json_null() : json_boolean(broad_photo_is_unlike(photo));
}
