/*
 * How well the finder of panels does.
 *
 *   bench_finder [NUMBER]         on so many rendered photos, near and far, and on the same places without a panel
 *   bench_finder BOXES FOLDER     on photos of FOLDER whose boxes were drawn by hand: a file as for --boxes
 *   bench_finder fit              the rule of src/image/finder/finder.c, from other rendered photos
 *
 * IoU is the area that two boxes have in common over the area that they cover together; for a hit it is at least 1/2.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "broad/broad.h"
#include "data/photo/boxes_read.h"
#include "image/codec/decode.h"
#include "image/finder/finder.h"
#include "image/finder/finder_cells.h"
#include "render/render_scene.h"

enum {
    SIDE = BROAD__FINDER_SIDE,
    FACTS = BROAD__FINDER_FACTS,
    TEST_SEED = 1,
    FIT_SEED = 1000,
    COUNT = 200,
    FIT_COUNT = 1200
};

static void must(int status)
{
    if (status >= 0) return;
    fprintf(stderr, "bench_finder: %s\n", broad_error_message());
    exit(1);
}

/* ---- photos ---------------------------------------------------------------------------------------------------- */

/* The renderer's photo with the camera's angle widened, or without its panel. panel: the share of each pixel. */
static void draw(broad__image *image, unsigned char *panel, uint64_t seed, size_t index, float wider, int with_panel)
{
    cli_render_spec spec = {.wanted = index % 2 ? CLI_RENDER_DUSTY : CLI_RENDER_CLEAN};
    render_scene *scene = broad__alloc(sizeof *scene);
    render_spot_pixel *spots = broad__alloc_array((size_t)SIDE * SIDE, sizeof *spots);
    vec3 *light = broad__alloc_array((size_t)SIDE * SIDE, sizeof *light);
    vec3 *spare = broad__alloc_array((size_t)SIDE * SIDE, sizeof *spare);
    if (!scene || !spots || !light || !spare) must(BROAD_NO_MEMORY);
    cli_render_draw_scene(scene, SIDE, SIDE, seed, index, &spec);
    scene->camera.right = vec_scale(scene->camera.right, wider);
    scene->camera.down = vec_scale(scene->camera.down, wider);
    scene->camera.pixel *= wider;
    cli_render_settle(scene, spots);
    for (size_t at = 0; at < (size_t)SIDE * SIDE; at++) {
        vec3 ray = cli_render_ray(&scene->camera, (float)(at % SIDE) + 0.5f, (float)(at / SIDE) + 0.5f);
        render_hit hit;
        float share = with_panel && cli_render_meet(&hit, scene, ray) ? hit.share : 0;
        light[at] = cli_render_surroundings(scene, ray);
        panel[at] = (unsigned char)lrintf(255 * share);
        if (!(share > 0)) continue;
        float film = expf(-scene->film.amount * cli_render_density(scene, &hit));
        vec3 seen = cli_render_panel(scene, &hit, cli_render_mirrored(scene, ray), film, &spots[at]);
        light[at] = vec_mix(light[at], seen, share);
    }
    cli_render_develop(image->pixels, scene, light, spare);
    broad__free(scene);
    broad__free(spots);
    broad__free(light);
    broad__free(spare);
}

/* In parts of the sides; 0 if there is no panel to see. */
static int box_of(broad__box *out, const unsigned char *panel)
{
    size_t left = SIDE, top = SIDE, right = 0, bottom = 0;
    for (size_t at = 0; at < (size_t)SIDE * SIDE; at++) {
        size_t x = at % SIDE, y = at / SIDE;
        if (panel[at] < 128) continue;
        if (x < left) left = x;
        if (x + 1 > right) right = x + 1;
        if (y < top) top = y;
        bottom = y + 1;
    }
    *out = (broad__box){(double)left / SIDE, (double)top / SIDE, (double)right / SIDE, (double)bottom / SIDE, NAN, 1};
    return right > left;
}

/* ---- measuring ------------------------------------------------------------------------------------------------- */

typedef struct tally {
    size_t photos, none, hits, close, whole_hits, whole_close;
    double sum, whole_sum, seconds;
} tally;

static double overlap(const broad__box *a, const broad__box *b)
{
    double width = fmin(a->right, b->right) - fmax(a->left, b->left);
    double height = fmin(a->bottom, b->bottom) - fmax(a->top, b->top);
    double common = width > 0 && height > 0 ? width * height : 0;
    return common /
           ((a->right - a->left) * (a->bottom - a->top) + (b->right - b->left) * (b->bottom - b->top) - common);
}

static size_t find(broad__region *out, tally *sum, const broad__image *image)
{
    size_t count = 0;
    double before = broad__seconds();
    must(broad__find_panels(out, &count, 1, image));
    sum->seconds += broad__seconds() - before;
    sum->photos++;
    sum->none += !count;
    return count;
}

/* Where nothing is found, the whole photo is taken. */
static double measure(tally *sum, const broad__image *image, const broad__box *truth)
{
    const broad__box whole = {0, 0, 1, 1, NAN, 1};
    broad__region region;
    broad__box box = whole;
    if (find(&region, sum, image)) box = (broad__box){region.left, region.top, region.right, region.bottom, NAN, 1};
    double found = overlap(&box, truth), all = overlap(&whole, truth);
    sum->sum += found;
    sum->hits += found >= 0.5;
    sum->close += found >= 0.75;
    sum->whole_sum += all;
    sum->whole_hits += all >= 0.5;
    sum->whole_close += all >= 0.75;
    return found;
}

static double percent(size_t part, const tally *sum) { return 100 * (double)part / (double)sum->photos; }

static void print_tally(const char *what, const tally *sum)
{
    double n = (double)sum->photos;
    printf("%-28s %6zu %7.3f %7.1f %7.1f %8.1f %9.3f %7.1f %7.1f %7.1f\n", what, sum->photos, sum->sum / n,
           percent(sum->hits, sum), percent(sum->close, sum), percent(sum->none, sum), sum->whole_sum / n,
           percent(sum->whole_hits, sum), percent(sum->whole_close, sum), 1e3 * sum->seconds / n);
}

static void print_head(void)
{
    printf("%-28s %6s %7s %7s %7s %8s %9s %7s %7s %7s\n", "photos", "number", "IoU", "hits %", ">=.75 %", "nothing %",
           "IoU whole", "hits %", ">=.75 %", "ms");
}

static void measure_rendered(size_t number)
{
    static const struct {
        const char *what;
        float wider;
    } views[] = {{"rendered", 1}, {"rendered, angle x 1.5", 1.5f}, {"rendered, angle x 2.5", 2.5f}};
    broad__image image;
    unsigned char *panel = broad__alloc((size_t)SIDE * SIDE);
    must(panel ? broad__image_init(&image, SIDE, SIDE) : BROAD_NO_MEMORY);
    print_head();
    for (size_t v = 0; v < sizeof views / sizeof views[0]; v++) {
        tally sum = {0};
        for (size_t i = 0; i < number; i++) {
            broad__box truth;
            draw(&image, panel, TEST_SEED, i, views[v].wider, 1);
            if (box_of(&truth, panel)) measure(&sum, &image, &truth);
        }
        print_tally(views[v].what, &sum);
    }
    tally empty = {0};
    for (size_t i = 0; i < number; i++) {
        broad__region region;
        draw(&image, panel, TEST_SEED, i, 1, 0);
        find(&region, &empty, &image);
    }
    printf("%-28s %6zu   something is found in %.1f %%\n", "the same without panel", empty.photos,
           100 - percent(empty.none, &empty));
    broad__image_free(&image);
    broad__free(panel);
}

/* ---- photos with boxes drawn by hand --------------------------------------------------------------------------- */

static void measure_file(tally *sum, const broad__boxes *boxes, const char *folder, const char *name)
{
    char path[4096];
    void *bytes = NULL;
    size_t count = 0;
    broad__image image = {0};
    broad__box_list list = {0};
    broad__decode_facts facts;
    broad__decode_options options;
    broad__decode_options_init(&options);
    options.side = SIDE;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    must(broad__file_read(&bytes, &count, path, (size_t)1 << 30));
    must(broad__decode(&image, &facts, bytes, count, &options));
    must(broad__boxes_find(&list, boxes, name));
    if (list.count) {
        broad__box truth = list.items[0];
        int turned = (facts.width > facts.height) != (image.width > image.height);
        double width = (double)(turned ? facts.height : facts.width),
               height = (double)(turned ? facts.width : facts.height);
        if (!truth.relative)
            truth = (broad__box){
                truth.left / width, truth.top / height, truth.right / width, truth.bottom / height, NAN, 1};
        printf("%-40s %.3f\n", name, measure(sum, &image, &truth));
    }
    broad__box_list_clear(&list);
    broad__image_free(&image);
    broad__free(bytes);
}

static void measure_folder(const char *path, const char *folder)
{
    broad__boxes *boxes;
    tally sum = {0};
    must(broad__boxes_read(&boxes, path));
    for (size_t i = 0; i < boxes->names.count; i++) {
        broad__text text = boxes->names.texts[i];
        char *name = broad__copy_bytes(text.bytes, text.count);
        if (!name) must(BROAD_NO_MEMORY);
        measure_file(&sum, boxes, folder, name);
        broad__free(name);
    }
    if (!sum.photos) {
        fprintf(stderr, "bench_finder: %s names no photo with a box\n", path);
        exit(1);
    }
    print_head();
    print_tally("by hand", &sum);
    broad__boxes_free(boxes);
}

/* ---- fitting --------------------------------------------------------------------------------------------------- */

typedef struct cases {
    size_t count, room, targets_room;
    float *facts, *targets;
} cases;

static void add_cases(cases *to, const broad__image *image, const unsigned char *panel)
{
    enum { CELL = BROAD__FINDER_CELL };
    float *facts;
    size_t columns, rows;
    must(broad__finder_cells(&facts, &columns, &rows, image));
    must(broad__grow(&to->facts, &to->room, (to->count + columns * rows) * FACTS, sizeof *to->facts, (size_t)1 << 32));
    must(
        broad__grow(&to->targets, &to->targets_room, to->count + columns * rows, sizeof *to->targets, (size_t)1 << 32));
    memcpy(to->facts + to->count * FACTS, facts, columns * rows * FACTS * sizeof *facts);
    for (size_t i = 0; i < columns * rows; i++) {
        float sum = 0;
        for (size_t k = 0; k < CELL * CELL; k++)
            sum += panel[(i / columns * CELL + k / CELL) * SIDE + i % columns * CELL + k % CELL];
        to->targets[to->count + i] = sum / (255.0f * CELL * CELL);
    }
    to->count += columns * rows;
    broad__free(facts);
}

/* One Newton step of logistic regression with a ridge, on facts brought to mean 0 and spread 1. */
static void step(double *weights, const cases *from, const double *mean, const double *spread)
{
    static double a[FACTS][FACTS + 1];
    double ridge = 1e-4 * (double)from->count;
    memset(a, 0, sizeof a);
    for (size_t i = 0; i < from->count; i++) {
        double x[FACTS], sum = 0;
        for (size_t k = 0; k < FACTS; k++) {
            x[k] = ((double)from->facts[i * FACTS + k] - mean[k]) / spread[k];
            sum += weights[k] * x[k];
        }
        double chance = 1 / (1 + exp(-sum)), slope = chance * (1 - chance), off = (double)from->targets[i] - chance;
        for (size_t k = 0; k < FACTS; k++) {
            a[k][FACTS] += off * x[k];
            for (size_t m = 0; m < FACTS; m++) a[k][m] += slope * x[k] * x[m];
        }
    }
    for (size_t k = 0; k < FACTS; k++) {
        a[k][k] += ridge;
        a[k][FACTS] -= ridge * weights[k];
    }
    for (size_t k = 0; k < FACTS; k++)
        for (size_t row = 0; row < FACTS; row++) {
            double factor = a[row][k] / a[k][k];
            for (size_t m = k; m <= FACTS && row != k; m++) a[row][m] -= factor * a[k][m];
        }
    for (size_t k = 0; k < FACTS; k++) weights[k] += a[k][FACTS] / a[k][k];
}

static void fit(void)
{
    static const float wider[] = {1, 1.4f, 2, 3};
    cases all = {0};
    broad__image image;
    unsigned char *panel = broad__alloc((size_t)SIDE * SIDE);
    must(panel ? broad__image_init(&image, SIDE, SIDE) : BROAD_NO_MEMORY);
    for (size_t i = 0; i < FIT_COUNT; i++) {
        draw(&image, panel, FIT_SEED, i, wider[i / 2 % 4], i / 8 % 4 != 0);
        add_cases(&all, &image, panel);
    }
    double mean[FACTS] = {0}, spread[FACTS] = {1}, weights[FACTS] = {0}, n = (double)all.count;
    for (size_t k = 1; k < FACTS; k++) {
        for (size_t i = 0; i < all.count; i++) mean[k] += (double)all.facts[i * FACTS + k] / n;
        for (size_t i = 0; i < all.count; i++)
            spread[k] +=
                ((double)all.facts[i * FACTS + k] - mean[k]) * ((double)all.facts[i * FACTS + k] - mean[k]) / n;
        spread[k] = sqrt(spread[k]) + 1e-9;
    }
    for (int i = 0; i < 8; i++) step(weights, &all, mean, spread);
    double first = weights[0];
    for (size_t k = 1; k < FACTS; k++) first -= weights[k] * mean[k] / spread[k];
    printf("%.4gf", first);
    for (size_t k = 1; k < FACTS; k++) printf(", %.4gf", weights[k] / spread[k]);
    printf("\n");
    broad__free(all.facts);
    broad__free(all.targets);
    broad__free(panel);
    broad__image_free(&image);
}

int main(int count, char **words)
{
    long number = count == 2 ? strtol(words[1], NULL, 10) : COUNT;
    if (count == 2 && strcmp(words[1], "fit") == 0) fit();
    else if (count <= 2 && number > 0) measure_rendered((size_t)number);
    else if (count == 3) measure_folder(words[1], words[2]);
    else {
        fprintf(stderr, "usage: bench_finder [NUMBER | fit | BOXES FOLDER]\n");
        return 2;
    }
    return 0;
}
