/* Stands in for parts that are not merged yet; goes with them. */
#include "base/status.h"
#include "data/boxes.h"
#include "image/augment.h"
#include "image/finder.h"

#define PENDING __attribute__((weak))

PENDING void broad__box_list_clear(broad__box_list *list) { (void)list; }
PENDING int broad__boxes_read(broad__boxes **out, const char *path)
{
    (void)out;
    return broad__fail(BROAD_BUG, "%s: not built yet", path);
}
PENDING void broad__boxes_free(broad__boxes *boxes) { (void)boxes; }
PENDING int broad__boxes_find(broad__box_list *out, const broad__boxes *boxes, const char *name)
{
    (void)out, (void)boxes;
    return broad__fail(BROAD_BUG, "%s: not built yet", name);
}
PENDING int broad__detector_start(broad__detector **out, const char *command, double seconds)
{
    (void)out, (void)seconds;
    return broad__fail(BROAD_BUG, "%s: not built yet", command);
}
PENDING int broad__detector_ask(broad__box_list *out, broad__detector *detector, const char *file)
{
    (void)out, (void)detector;
    return broad__fail(BROAD_BUG, "%s: not built yet", file);
}
PENDING void broad__detector_stop(broad__detector *detector) { (void)detector; }
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
PENDING void broad__augmentation_paper(broad__augmentation *out) { *out = (broad__augmentation){0}; }
PENDING int broad__augment(broad__image *out, const broad__image *image, const broad__augmentation *how, uint64_t seed,
                           const char *content, size_t copy)
{
    (void)out, (void)image, (void)how, (void)seed, (void)content, (void)copy;
    return broad__fail(BROAD_BUG, "not built yet");
}
