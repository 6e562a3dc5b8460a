/*
 * Measures the constants of the windows map over all windows of some photos, and prints src/image/descriptor/windows_table.c.
 *
 *   window_constants FILE...      scripts/window_constants gives it the photos
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "broad/broad.h"
#include "image/codec/decode.h"
#include "image/descriptor/windows_kernel.h"
#include "image/descriptor/windows_local.h"
#include "image/photo.h"

enum { INPUTS = BROAD__WINDOW_INPUTS, COLUMNS = 8 };

/* A pattern that hardly ever occurs is not worth more than any other. */
static const double least_sd = 1e-3;

typedef struct sums {
    double count;
    double sum[INPUTS], square[INPUTS];
} sums;

static void check(int status, const char *path)
{
    if (status >= 0) return;
    fprintf(stderr, "window_constants: %s: %s\n", path, broad_error_message());
    exit(1);
}

static void add(sums *all, const char *path)
{
    void *bytes;
    size_t count;
    broad__image image;
    broad__decode_options options;
    broad__decode_options_init(&options);
    options.side = BROAD__PHOTO_SIDE;
    check(broad__file_read(&bytes, &count, path, (size_t)1 << 28), path);
    check(broad__decode(&image, NULL, bytes, count, &options), path);

    broad__window_cuts across, down;
    unsigned char fold[256];
    broad__window_cut(&across, image.width);
    broad__window_cut(&down, image.height);
    broad__window_fold(fold);
    size_t windows = across.count * down.count;
    float *u = broad__alloc_array(windows, INPUTS * sizeof *u);
    check(u ? broad__window_describe(u, &image, &across, &down, fold) : BROAD_NO_MEMORY, path);
    for (size_t i = 0; i < windows * INPUTS; i++) {
        all->sum[i % INPUTS] += u[i];
        all->square[i % INPUTS] += (double)u[i] * u[i];
    }
    all->count += (double)windows;
    broad__free(u);
    broad__image_free(&image);
    broad__free(bytes);
}

static void print_table(const char *name, const double values[INPUTS])
{
    printf("const float broad__window_%s[BROAD__WINDOW_INPUTS] = {\n", name);
    for (int i = 0; i < INPUTS; i++)
        printf("%s%.6fF%s", i % COLUMNS ? " " : "    ", values[i],
               i + 1 == INPUTS              ? "\n};\n"
               : i % COLUMNS == COLUMNS - 1 ? ",\n"
                                            : ",");
}

int main(int count, char **words)
{
    static sums all;
    double mean[INPUTS], sd[INPUTS];
    if (count < 2) {
        fprintf(stderr, "usage: window_constants FILE...\n");
        return 2;
    }
    for (int i = 1; i < count; i++) add(&all, words[i]);
    for (int i = 0; i < INPUTS; i++) {
        mean[i] = all.sum[i] / all.count;
        sd[i] = fmax(sqrt(fmax(all.square[i] / all.count - mean[i] * mean[i], 0)), least_sd);
    }
    printf("/* Made by scripts/window_constants from the %.0f windows of %d photos. A change of these numbers changes "
           "every input:\n"
           " * it needs a new BROAD__MAPS_VERSION. */\n#include \"image/windows_work.h\"\n\n/* clang-format off */\n",
           all.count, count - 1);
    print_table("mean", mean);
    printf("\n");
    print_table("sd", sd);
    printf("/* clang-format on */\n");
    return 0;
}
