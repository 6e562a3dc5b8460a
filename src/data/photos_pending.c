/* Stands in for parts that are not merged yet; goes with them. */
#include "base/status.h"
#include "image/finder.h"

#define PENDING __attribute__((weak))

PENDING int broad__find_panels(broad__region *out, size_t *out_count, size_t most, const broad__image *image)
{
    (void)out, (void)out_count, (void)most, (void)image;
    return broad__fail(BROAD_BUG, "not built yet");
}
PENDING int broad__region_rectify(broad__image *out, const broad__region *region, const broad__image *image)
{
    (void)out, (void)region, (void)image;
    return broad__fail(BROAD_BUG, "not built yet");
}
