#include "run/load_model.h"

#include <string.h>

static int is_model(const char *path)
{
    broad_model *model = NULL;
    int loaded = strcmp(path, "-") != 0 && broad_model_load(&model, path) == BROAD_OK;
    broad_model_free(model);
    return loaded;
}

int cli_model_load(broad_model **out, const cli_arguments *arguments)
{
    char message[1024];
    const char *path = arguments->positional[0];
    const char *normal = cli_given(arguments, "normal");
    int status = broad_model_load(out, path);
    if (!status) return normal ? broad_model_set_normal(*out, normal) : BROAD_OK;
    snprintf(message, sizeof message, "%s", cli_error());
    for (size_t i = 1; i < arguments->positional_count; i++)
        if (is_model(arguments->positional[i]))
            return cli_fail(status, "'%s' is not a model, but '%s' is: MODEL comes first, as in 'broad %s %s'", path,
                            arguments->positional[i], arguments->command->name, arguments->command->positional);
    return cli_fail(status, "%s", message);
}
