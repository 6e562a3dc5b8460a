#include "image/quality.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/vector.h"
#include "broad/broad.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    DARK = 48,
    BRIGHT = 208,
    SMALL = 48,
    NEARLY = 20, /* all but one of so many pixels */
    WINDOW = 9,  /* of the mean */
    HALF = WINDOW / 2
};
static const double BLURRED = 0.55;

typedef struct differences {
    uint64_t all, lost;
} differences;

/* Of `count` pairs of neighbours, side by side, and of the ends of the windows around them. */
INLINE void differences_loop(differences *sums, const unsigned char *here, const unsigned char *next,
                             const unsigned char *behind, const unsigned char *ahead, size_t count)
{
    enum { STRETCH = 1 << 16 }; /* whose sums fit in 32 bits */
    for (size_t first = 0; first < count; first += STRETCH) {
        unsigned all = 0, lost = 0;
        for (size_t i = first; i < broad__min(first + STRETCH, count); i++) {
            int change = abs(next[i] - here[i]) * WINDOW;
            int after = abs(ahead[i] - behind[i]); /* of two means, times WINDOW */
            all += (unsigned)change;
            lost += (unsigned)(change > after ? change - after : 0);
        }
        sums->all += all;
        sums->lost += lost;
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void differences_avx2(differences *sums, const unsigned char *here,
                                                             const unsigned char *next, const unsigned char *behind,
                                                             const unsigned char *ahead, size_t count)
{
    differences_loop(sums, here, next, behind, ahead, count);
}
#endif

static void add_differences(differences *sums, const unsigned char *here, const unsigned char *next,
                            const unsigned char *behind, const unsigned char *ahead, size_t count)
{
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        differences_avx2(sums, here, next, behind, ahead, count);
        return;
    }
#endif
    differences_loop(sums, here, next, behind, ahead, count);
}

static double blur_of(differences sums) { return sums.all > 0 ? 1 - (double)sums.lost / (double)sums.all : 1; }

static double blur_across(const unsigned char *grey, size_t width, size_t height)
{
    differences sums = {0};
    if (width < WINDOW + 2) return 0;
    for (const unsigned char *row = grey; row < grey + width * height; row += width)
        add_differences(&sums, row + HALF, row + HALF + 1, row, row + WINDOW, width - WINDOW);
    return blur_of(sums);
}

static double blur_down(const unsigned char *grey, size_t width, size_t height)
{
    differences sums = {0};
    if (height < WINDOW + 2) return 0;
    for (const unsigned char *row = grey; row < grey + width * (height - WINDOW); row += width)
        add_differences(&sums, row + HALF * width, row + (HALF + 1) * width, row, row + WINDOW * width, width);
    return blur_of(sums);
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
    double across = blur_across(grey, width, height), down = blur_down(grey, width, height);
    /* What is black or white all over has nothing to be sharp. */
    if (!faults && (across > BLURRED || down > BLURRED)) faults |= BROAD_PHOTO_FAULT_BLURRED;
    broad__free(grey);
    *out = faults;
    return BROAD_OK;
}
