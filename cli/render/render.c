#include "render/render.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "render/render_dirt.h"
#include "render/render_sensor.h"
#include "render/render_surface.h"

typedef struct tally {
    double panel, through, covered;
    size_t box[4];
} tally;

static void count_pixel(tally *sum, size_t column, size_t row, float transmittance)
{
    if (sum->panel == 0) sum->box[0] = column, sum->box[1] = row;
    if (column < sum->box[0]) sum->box[0] = column;
    if (column + 1 > sum->box[2]) sum->box[2] = column + 1;
    sum->box[3] = row + 1;
    sum->panel++;
    sum->through += (double)transmittance;
    sum->covered += transmittance < 0.9f;
}

/* Reflections are soft: they are found for every RENDER_MIRROR_STEP-th pixel, which saves a sixth of the time. */
typedef struct mirror {
    vec3 *light;
    size_t columns, rows;
} mirror;

static void fill_mirror(mirror *m, const render_scene *scene)
{
    for (size_t row = 0; row < m->rows; row++) {
        for (size_t column = 0; column < m->columns; column++) {
            float x = (float)(column * RENDER_MIRROR_STEP), y = (float)(row * RENDER_MIRROR_STEP);
            m->light[row * m->columns + column] = cli_render_mirrored(scene, cli_render_ray(&scene->camera, x, y));
        }
    }
}

static vec3 mirror_at(const mirror *m, size_t column, size_t row)
{
    const vec3 *one = &m->light[row / RENDER_MIRROR_STEP * m->columns + column / RENDER_MIRROR_STEP];
    const vec3 *next = one + m->columns;
    float x = ((float)(column % RENDER_MIRROR_STEP) + 0.5f) / RENDER_MIRROR_STEP;
    float y = ((float)(row % RENDER_MIRROR_STEP) + 0.5f) / RENDER_MIRROR_STEP;
    return vec_mix(vec_mix(one[0], one[1], x), vec_mix(next[0], next[1], x), y);
}

static vec3 trace(tally *sum, const render_scene *scene, const mirror *m, const render_spot_pixel *spots,
                  const cli_render_spec *spec, size_t column, size_t row)
{
    size_t at = row * scene->width + column;
    vec3 ray = cli_render_ray(&scene->camera, (float)column + 0.5f, (float)row + 0.5f);
    render_hit hit;
    float share = cli_render_meet(&hit, scene, ray) ? hit.share : 0, transmittance = 1;
    vec3 light = share < 1 ? cli_render_surroundings(scene, ray) : vec(0, 0, 0);
    if (share > 0) {
        float film = expf(-scene->film.amount * cli_render_density(scene, &hit));
        transmittance = film * (1 - spots[at].opacity);
        light = vec_mix(light, cli_render_panel(scene, &hit, mirror_at(m, column, row), film, &spots[at]), share);
        if (share >= 0.5f) count_pixel(sum, column, row, transmittance);
    }
    if (spec->panel) spec->panel[at] = (unsigned char)lrintf(255 * share);
    if (spec->dimmed) spec->dimmed[at] = (unsigned char)lrintf(255 * (1 - transmittance));
    return light;
}

static void tell(cli_render_truth *out, const render_scene *scene, const tally *sum)
{
    double severity = (double)scene->severity;
    *out = (cli_render_truth){
        .class_is = severity < CLI_RENDER_BOUNDARY ? CLI_RENDER_CLEAN : CLI_RENDER_DUSTY,
        .severity = severity,
        .transmittance = sum->panel > 0 ? sum->through / sum->panel : 1,
        .coverage = sum->panel > 0 ? sum->covered / sum->panel : 0,
        .panel_share = sum->panel / ((double)scene->width * (double)scene->height),
        .dirt = scene->film.dirt,
    };
    memcpy(out->box, sum->box, sizeof out->box);
}

static int check_arguments(const unsigned char *rgb, size_t width, size_t height, const cli_render_spec *spec)
{
    if (!rgb) return broad__fail(BROAD_USAGE, "a photo needs a place to go");
    if (width < CLI_RENDER_SIDE_MIN || width > CLI_RENDER_SIDE_MAX || height < CLI_RENDER_SIDE_MIN ||
        height > CLI_RENDER_SIDE_MAX)
        return broad__fail(BROAD_USAGE, "a photo of %zu x %zu pixels cannot be drawn; sides are %d to %d", width,
                           height, CLI_RENDER_SIDE_MIN, CLI_RENDER_SIDE_MAX);
    if (spec->use_severity && !(spec->severity >= 0 && spec->severity <= 1))
        return broad__fail(BROAD_USAGE, "severity %g is not between 0 and 1", spec->severity);
    return BROAD_OK;
}

int cli_render_photo(unsigned char *rgb, size_t width, size_t height, uint64_t seed, size_t index,
                     const cli_render_spec *spec, cli_render_truth *out)
{
    static const cli_render_spec any = {0};
    render_scene *scene = NULL;
    render_spot_pixel *spots = NULL;
    vec3 *light = NULL;
    mirror m = {NULL, width / RENDER_MIRROR_STEP + 2, height / RENDER_MIRROR_STEP + 2};
    tally sum = {0};
    if (!spec) spec = &any;
    int status = check_arguments(rgb, width, height, spec);
    if (status) return status;
    status = BROAD_NO_MEMORY;
    scene = broad__alloc(sizeof *scene);
    spots = broad__alloc_array(width * height, sizeof *spots);
    light = broad__alloc_array(width * height, sizeof *light);
    m.light = broad__alloc_array(m.columns * m.rows, sizeof *m.light);
    if (!scene || !spots || !light || !m.light) goto cleanup;

    cli_render_draw_scene(scene, width, height, seed, index, spec);
    cli_render_settle(scene, spots);
    fill_mirror(&m, scene);
    for (size_t row = 0; row < height; row++)
        for (size_t column = 0; column < width; column++)
            light[row * width + column] = trace(&sum, scene, &m, spots, spec, column, row);
    cli_render_develop(rgb, scene, light, (vec3 *)(void *)spots); /* the spots are done with; there is room */
    if (out) tell(out, scene, &sum);
    status = BROAD_OK;

cleanup:
    broad__free(m.light);
    broad__free(light);
    broad__free(spots);
    broad__free(scene);
    return status;
}
