#include "compute/device_choice.h"

const broad__device *broad__device_choose(const broad_options *options)
{
    (void)options; /* there is one device so far, and no option that names it */
    return broad__device_cpu();
}
