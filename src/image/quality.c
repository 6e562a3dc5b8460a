#include "image/quality.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "broad/broad.h"

enum {
    DARK = 48,
    BRIGHT = 208,
    SMALL = 48,
    NEARLY = 20, /* all but one of so many pixels */
    WINDOW = 9,  /* of the mean */
    HALF = WINDOW / 2
};
static const double BLURRED = 0.55;

/* Differences along one direction: `lines` of them, `along` apart, each of `length` pixels that are `step` apart. */
static double blur_along(const unsigned char *grey, size_t lines, size_t along, size_t length, size_t step)
{
    double all = 0, lost = 0;
    if (length < WINDOW + 2) return 0;
    for (size_t line = 0; line < lines; line++) {
        const unsigned char *at = grey + line * along;
        for (size_t i = HALF; i + HALF + 1 < length; i++) {
            int here = abs(at[(i + 1) * step] - at[i * step]) * WINDOW;
            int after = abs(at[(i + 1 + HALF) * step] - at[(i - HALF) * step]); /* of two means, times WINDOW */
            all += here;
            if (here > after) lost += here - after;
        }
    }
    return all > 0 ? 1 - lost / all : 1;
}

static unsigned light_faults(const unsigned char *grey, size_t count)
{
    size_t dark = 0, bright = 0;
    for (size_t i = 0; i < count; i++) {
        dark += grey[i] < DARK;
        bright += grey[i] > BRIGHT;
    }
    if (count - dark < count / NEARLY || dark == count) return BROAD_PHOTO_FAULT_DARK;
    return count - bright < count / NEARLY || bright == count ? BROAD_PHOTO_FAULT_BRIGHT : 0;
}

int broad__image_faults(unsigned *out, const broad__image *image, double shorter)
{
    unsigned char *grey = NULL;
    size_t width = image->width, height = image->height;
    int status = broad__image_grey(&grey, image);
    if (status < 0) return status;
    unsigned faults = light_faults(grey, width * height);
    if (shorter < SMALL) faults |= BROAD_PHOTO_FAULT_SMALL;
    double across = blur_along(grey, height, width, width, 1), down = blur_along(grey, width, 1, height, width);
    /* What is black or white all over has nothing to be sharp. */
    if (!faults && (across > BLURRED || down > BLURRED)) faults |= BROAD_PHOTO_FAULT_BLURRED;
    broad__free(grey);
    *out = faults;
    return BROAD_OK;
}
