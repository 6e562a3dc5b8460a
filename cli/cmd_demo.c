/* broad demo: on photos or on spirals. */
#include "demo/demo_photos.h"
#include "demo/demo_spirals.h"

int cli_demo(const cli_arguments *arguments)
{
    if (cli_choice(arguments, "what") == 0) return demo_photos(arguments);
    if (cli_given(arguments, "count"))
        return cli_fail(BROAD_USAGE, "--count only applies to photos; omit it for spirals");
    return demo_spirals(arguments);
}
