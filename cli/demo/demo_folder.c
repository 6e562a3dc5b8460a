#include "demo/demo_folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

const char *demo_folder(const cli_arguments *arguments)
{
    return arguments->positional_count ? arguments->positional[0] : "broad-demo";
}

int demo_make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return BROAD_OK;
    return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot create this folder: %s", path, strerror(errno));
}
