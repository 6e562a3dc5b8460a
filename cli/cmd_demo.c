/* broad demo: which one. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "demo/demo.h"

const char *demo_folder(const cli_arguments *arguments)
{
    return arguments->positional_count ? arguments->positional[0] : "broad-demo";
}

int demo_make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return BROAD_OK;
    return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot make this folder: %s", path, strerror(errno));
}

int cli_demo(const cli_arguments *arguments)
{
    if (cli_choice(arguments, "what") == 0) return demo_photos(arguments);
    if (cli_given(arguments, "count")) return cli_fail(BROAD_USAGE, "--count is for photos; leave it out for spirals");
    return demo_spirals(arguments);
}
