#include <stdio.h>

#include "io/json.h"

int cli_version(const cli_arguments *arguments)
{
    if (!cli_given(arguments, "json")) {
        printf("broad %s\n", broad_version());
        return BROAD_OK;
    }
    json_t *object = cli_json_object("version");
    cli_json_put(object, "version", cli_json_text(broad_version()));
    cli_json_put(object, "pictures", cli_json_text(broad_picture_formats()));
    return cli_json_give(arguments, object);
}
