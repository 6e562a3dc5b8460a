/*
 * How many photos of two megapixels a second one thread takes from the bytes of a file to the inputs of a network.
 *
 *   bench_photos [NUMBER]      on so many rendered photos
 *   bench_photos FILE...       on these
 *
 * A run goes over all photos once; the stages take turns, so that whatever else the machine does falls on all of them. Time is
 * processor time: nothing here waits, and other programs then count for less.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "base/memory.h"
#include "broad/broad.h"
#include "image/codec/decode.h"
#include "image/codec/write.h"
#include "image/photo.h"
#include "render/render.h"

enum { WIDTH = 1632, HEIGHT = 1224, QUALITY = 90, SEED = 1, COUNT = 12, RUNS = 9 };

typedef struct photo {
    void *bytes;
    size_t count;
} photo;

typedef struct stage {
    const char *name;
    size_t maps; /* 0: decoding alone */
    broad__photo_maker *maker;
    float *inputs;
    double rates[RUNS]; /* photos a second */
} stage;

static void must(int status)
{
    if (status >= 0) return;
    fprintf(stderr, "bench_photos: %s\n", broad_error_message());
    exit(1);
}

static void *must_have(void *block)
{
    if (!block) {
        fputs("bench_photos: out of memory\n", stderr);
        exit(1);
    }
    return block;
}

static void render(photo *out, size_t index)
{
    cli_render_spec spec = {.wanted = index % 2 ? CLI_RENDER_DUSTY : CLI_RENDER_CLEAN};
    broad__image image;
    must(broad__image_init(&image, WIDTH, HEIGHT));
    must(cli_render_photo(image.pixels, WIDTH, HEIGHT, SEED, index, &spec, NULL));
    must(broad__write_jpeg(&out->bytes, &out->count, &image, QUALITY));
    broad__image_free(&image);
}

static void open_stage(stage *s)
{
    broad__photo_spec spec = {.version = BROAD__MAPS_VERSION, .maps = s->maps, .side = BROAD__PIXELS_SIDE};
    if (!s->maps) return;
    s->maker = must_have(broad__photo_maker_open(&spec));
    s->inputs = must_have(broad__alloc_array(broad__photo_inputs(&spec), sizeof *s->inputs));
}

static double run(const stage *s, const photo *photos, size_t count)
{
    broad__decode_options options;
    broad__decode_options_init(&options);
    options.side = BROAD__PHOTO_SIDE;
    clock_t before = clock();
    for (size_t i = 0; i < count; i++) {
        broad__image image;
        must(broad__decode(&image, NULL, photos[i].bytes, photos[i].count, &options));
        if (s->maker) must(broad__photo_map(s->inputs, s->maker, &image));
        broad__image_free(&image);
    }
    return (double)count * CLOCKS_PER_SEC / (double)(clock() - before);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof *values, ascending);
    return values[RUNS / 2];
}

static void measure(const photo *photos, size_t count)
{
    stage stages[] = {
        {.name = "decoded"},
        {.name = "descriptors", .maps = BROAD_PHOTO_MAP_DESCRIPTORS},
        {.name = "windows", .maps = BROAD_PHOTO_MAP_WINDOWS},
        {.name = "descriptors and windows", .maps = BROAD_PHOTO_MAP_DESCRIPTORS | BROAD_PHOTO_MAP_WINDOWS},
        {.name = "pixels", .maps = BROAD_PHOTO_MAP_PIXELS}};
    enum { STAGES = sizeof stages / sizeof stages[0] };
    for (size_t k = 0; k < STAGES; k++) {
        open_stage(&stages[k]);
        run(&stages[k], photos, 1);
    }
    for (size_t r = 0; r < RUNS; r++)
        for (size_t k = 0; k < STAGES; k++) stages[k].rates[r] = run(&stages[k], photos, count);
    double decoding = median(stages[0].rates);
    printf("%-24s %10s %10s %10s %12s\n", "file to", "photos/s", "least", "most", "of decoding");
    for (size_t k = 0; k < STAGES; k++) {
        double rate = median(stages[k].rates);
        printf("%-24s %10.1f %10.1f %10.1f %11.1f%%\n", stages[k].name, rate, stages[k].rates[0],
               stages[k].rates[RUNS - 1], 100 * rate / decoding);
        broad__photo_maker_close(stages[k].maker);
        broad__free(stages[k].inputs);
    }
}

int main(int count, char **words)
{
    char *end = "";
    unsigned long number = count > 1 ? strtoul(words[1], &end, 10) : COUNT;
    int files = count > 2 || *end;
    size_t photos = files ? (size_t)count - 1 : (size_t)number;
    if (!photos || photos > 10000) {
        fputs("usage: bench_photos [NUMBER | FILE...]\n", stderr);
        return 2;
    }
    photo *all = must_have(broad__alloc_array(photos, sizeof *all));
    size_t bytes = 0;
    for (size_t i = 0; i < photos; i++) {
        if (files) must(broad__file_read(&all[i].bytes, &all[i].count, words[i + 1], (size_t)1 << 30));
        else render(&all[i], i);
        bytes += all[i].count;
    }
    printf("%zu %s, %.2f MB in the mean; one thread, processor time, %d runs\n", photos,
           files ? "photos" : "rendered photos of 2 megapixels", 1e-6 * (double)bytes / (double)photos, RUNS);
    measure(all, photos);
    for (size_t i = 0; i < photos; i++) broad__free(all[i].bytes);
    broad__free(all);
    return 0;
}
