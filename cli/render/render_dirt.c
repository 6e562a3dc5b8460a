/* Dirt takes light in two ways: a film whose optical depth varies over the glass, and opaque spots on top of it. */
#include "render/render_dirt.h"

/* ---- film ---- */

/* Mean about 1. Dust lies thicker in patches and along the lower edge of each module, rain draws it downwards. */
float cli_render_density(const render_scene *scene, const render_hit *hit)
{
    const render_film *f = &scene->film;
    const render_array *a = &scene->array;
    float x = hit->x + 20, y = hit->y + 20;
    float patches = 0.65f * noise(scene, f->patch_scale * x, f->patch_scale * y) +
                    0.35f * noise(scene, 3.3f * f->patch_scale * x, 3.3f * f->patch_scale * y + 5);
    float density = 1 + f->patch * (3 * patches - 1.5f);
    float place = hit->y + a->half[1], low = place - a->pitch[1] * (float)floor_int(place * a->often[1]);
    if (low < 5 * f->edge_width + 3 * hit->step[1]) {
        float ragged = 0.5f + noise(scene, 9 * x, 2.0f), rise = low / (f->edge_width * ragged + hit->step[1]);
        density += f->edge / (1 + rise * rise * rise);
    }
    if (f->streak > 0) {
        float lines = noise(scene, f->streak_scale * x, 0.9f * y + 13) - 0.5f;
        density *= 1 + 2.4f * f->streak * resolved(f->streak_scale, hit->step[0]) * lines;
    }
    float keep = resolved(f->speckle_scale, hit->step[0] + hit->step[1]);
    float coarse = resolved(0.25f * f->speckle_scale, hit->step[0] + hit->step[1]);
    float grit = 0;
    if (keep > 0) grit += keep * (noise(scene, f->speckle_scale * x, f->speckle_scale * y) - 0.5f);
    if (coarse > 0)
        grit += 0.8f * coarse * (noise(scene, 0.27f * f->speckle_scale * x, 0.27f * f->speckle_scale * y) - 0.5f);
    return larger(density * (1 + 1.5f * f->speckle * grit), 0.04f);
}

/* ---- spots ---- */

#define SPOTS_MOST 0.09 /* of the light, in the worst case */

typedef struct spot {
    int leaf;
    float x, y, radius, tail, turn[2], stretch, seed;
    vec3 colour, inner;
} spot;

static spot dropping(render_dice *dice, float x, float y, float radius)
{
    spot s = {.x = x, .y = y, .radius = radius, .stretch = 1, .turn = {1, 0}};
    s.tail = cli_render_chance(dice, 0.35f) ? radius * cli_render_roll(dice, 2, 8) : 0;
    s.seed = cli_render_roll(dice, 0, 60);
    s.colour = vec_scale(vec(0.80f, 0.78f, 0.72f), cli_render_roll(dice, 0.75f, 1));
    s.inner = vec_mix(s.colour, vec(0.20f, 0.17f, 0.11f), cli_render_roll(dice, 0.2f, 0.9f));
    return s;
}

static spot leaf(render_dice *dice, float x, float y)
{
    static const vec3 colours[4] = {
        {0.30f, 0.15f, 0.05f}, {0.42f, 0.29f, 0.08f}, {0.17f, 0.10f, 0.05f}, {0.13f, 0.19f, 0.05f}};
    float turn = cli_render_roll(dice, 0, 6.2832f);
    spot s = {.leaf = 1, .x = x, .y = y, .turn = {cosf(turn), sinf(turn)}};
    s.radius = cli_render_roll(dice, 0.03f, 0.065f);
    s.stretch = cli_render_roll(dice, 0.3f, 0.55f);
    s.seed = cli_render_roll(dice, 0, 60);
    s.colour = vec_scale(colours[(int)cli_render_roll(dice, 0, 3.999f)], cli_render_roll(dice, 0.7f, 1.2f));
    s.inner = vec_scale(s.colour, 0.55f);
    return s;
}

static float dropping_at(vec3 *colour, const render_scene *scene, const spot *s, float x, float y, float pixels)
{
    float away = sqrtf(x * x + y * y) + 1e-6f;
    float side = x / away, up = y / away;
    float shape = noise(scene, s->seed + 0.9f * side, s->seed + 0.9f * up);
    float spikes = noise(scene, 7 + 4.5f * side, s->seed + 4.5f * up);
    float rim = s->radius * (0.3f + 1.0f * shape + 0.45f * spikes * spikes), opacity = edge_share(rim - away, pixels);
    if (s->tail > 0 && y < 0 && y > -s->tail) {
        float wide = s->radius * 0.38f * (1 + y / s->tail) * (0.6f + 0.8f * noise(scene, s->seed, 40 * y));
        opacity = larger(opacity, edge_share(wide - fabsf(x), pixels) * (1 + 0.5f * y / s->tail));
    }
    float heart = 1 - smooth_step(0.25f, 0.6f, away / (rim + 1e-6f) + 0.4f * (noise(scene, 90 * x, 90 * y) - 0.5f));
    *colour = vec_mix(s->colour, s->inner, heart);
    return 0.94f * opacity;
}

static float leaf_share(const spot *s, float x, float y, float pixels)
{
    float along = (x * s->turn[0] + y * s->turn[1]) / s->radius, across = (y * s->turn[0] - x * s->turn[1]) / s->radius;
    float half = s->stretch * (1 - along * along) * (1 + 0.3f * along);
    return edge_share((half - fabsf(across)) * s->radius, pixels);
}

/* The leaf, and beside it the shadow of its raised edges. */
static float leaf_at(vec3 *colour, const render_scene *scene, const spot *s, float x, float y, float pixels)
{
    const vec3 sun = scene->light.sun;
    float leaf_here = leaf_share(s, x, y, pixels), lift = 0.008f / larger(sun.z, 0.3f);
    float shadow = 0.6f * leaf_share(s, x + lift * sun.x, y + lift * sun.y, 0.5f * pixels) * (1 - leaf_here);
    float rib = fabsf(y * s->turn[0] - x * s->turn[1]) / s->radius;
    float tone = 0.7f + 0.6f * noise(scene, s->seed + 60 * x, 60 * y);
    float total = leaf_here + shadow;
    *colour = vec_scale(rib < 0.06f ? s->inner : s->colour, total > 0 ? tone * leaf_here / total : 0);
    return total;
}

/* Pixels that a square around the spot can touch; 0 when there are none. */
static int spot_box(int box[4], const render_scene *scene, const spot *s)
{
    float low[2] = {1e9f, 1e9f}, high[2] = {-1e9f, -1e9f}, reach = 1.6f * s->radius;
    for (int corner = 0; corner < 4; corner++) {
        float at[2], y = corner & 2 ? s->y + reach : s->y - larger(reach, s->tail);
        if (!cli_render_project(at, &scene->camera, s->x + (corner & 1 ? reach : -reach), y)) return 0;
        for (int i = 0; i < 2; i++) low[i] = smaller(low[i], at[i]), high[i] = larger(high[i], at[i]);
    }
    const float size[2] = {(float)scene->width, (float)scene->height};
    for (int i = 0; i < 2; i++) {
        if (high[i] < 0 || low[i] >= size[i]) return 0;
        box[i] = (int)larger(low[i] - 1, 0);
        box[i + 2] = (int)smaller(high[i] + 2, size[i]);
    }
    return 1;
}

/* Returns the sum of the opacity that came to the array's pixels. */
static double put_spot(render_spot_pixel *pixels, const render_scene *scene, const spot *s)
{
    int box[4];
    double added = 0;
    if (!spot_box(box, scene, s)) return 0;
    for (int row = box[1]; row < box[3]; row++) {
        for (int column = box[0]; column < box[2]; column++) {
            render_hit hit;
            if (!cli_render_meet(&hit, scene, cli_render_ray(&scene->camera, (float)column + 0.5f, (float)row + 0.5f)))
                continue;
            float pixels_here = 2 / (hit.step[0] + hit.step[1]), x = hit.x - s->x, y = hit.y - s->y;
            vec3 colour;
            float opacity = s->leaf ? leaf_at(&colour, scene, s, x, y, pixels_here)
                                    : dropping_at(&colour, scene, s, x, y, pixels_here);
            if (opacity <= 0) continue;
            render_spot_pixel *p = &pixels[(size_t)row * scene->width + (size_t)column];
            float total = opacity + p->opacity * (1 - opacity);
            p->colour = vec_mix(p->colour, colour, opacity / total);
            added += (double)(hit.share * (total - p->opacity));
            p->opacity = total;
        }
    }
    return added;
}

/* A large one, and what splashed around it. */
static double put_dropping(render_spot_pixel *pixels, const render_scene *scene, render_dice *dice, float x, float y)
{
    float size = cli_render_roll(dice, 0, 1), radius = 0.005f + 0.03f * size * size * size;
    spot s = dropping(dice, x, y, radius);
    double added = put_spot(pixels, scene, &s);
    int splashes = (int)cli_render_roll(dice, 0, 7);
    for (int i = 0; i < splashes; i++) {
        float turn = cli_render_roll(dice, 0, 6.2832f), away = radius * cli_render_roll(dice, 1.2f, 3);
        s = dropping(dice, x + away * cosf(turn), y + away * sinf(turn), radius * cli_render_roll(dice, 0.1f, 0.35f));
        s.tail = 0;
        added += put_spot(pixels, scene, &s);
    }
    return added;
}

/* Spots in the order drawn until they take their share of the light: more severe is always the same and more. */
static void put_spots(render_scene *scene, render_spot_pixel *pixels, double panel_pixels, double loss)
{
    render_dice dice = cli_render_dice(&scene->stream, RENDER_SPOTS);
    double share = (double)(scene->film.spots_share * smooth_step(0.04f, 0.25f, scene->severity));
    double limit = fmin(loss * share, SPOTS_MOST) * panel_pixels, taken = 0;
    for (int i = 0; i < RENDER_SPOTS_MAX && taken < 0.97 * limit; i++) {
        render_dice here = dice;
        here.next = (uint64_t)i * 256;
        float column = cli_render_roll(&here, 0, (float)scene->width),
              row = cli_render_roll(&here, 0, (float)scene->height);
        int is_leaf = cli_render_chance(&here, scene->film.leaves_share);
        render_hit hit;
        if (!cli_render_meet(&hit, scene, cli_render_ray(&scene->camera, column, row))) continue;
        float nominal = is_leaf ? 0.004f : 0.001f; /* square metres */
        if (limit - taken < 0.5 * (double)(nominal / (hit.step[0] * hit.step[1]))) break;
        if (is_leaf) {
            spot s = leaf(&here, hit.x, hit.y);
            taken += put_spot(pixels, scene, &s);
        } else taken += put_dropping(pixels, scene, &here, hit.x, hit.y);
        scene->film.dirt |= is_leaf ? CLI_RENDER_LEAVES : CLI_RENDER_DROPPINGS;
    }
}

/* ---- how much ---- */

enum { SAMPLES = 40 };

typedef struct samples {
    float density[SAMPLES * SAMPLES], open[SAMPLES * SAMPLES];
    int count;
} samples;

static void take_samples(samples *out, const render_scene *scene, const render_spot_pixel *pixels)
{
    out->count = 0;
    for (size_t i = 0; i < SAMPLES * SAMPLES; i++) {
        size_t column = (2 * (i % SAMPLES) + 1) * scene->width / (2 * SAMPLES);
        size_t row = (2 * (i / SAMPLES) + 1) * scene->height / (2 * SAMPLES);
        render_hit hit;
        vec3 ray = cli_render_ray(&scene->camera, (float)column + 0.5f, (float)row + 0.5f);
        if (!cli_render_meet(&hit, scene, ray) || hit.share < 0.5f) continue;
        out->density[out->count] = cli_render_density(scene, &hit);
        out->open[out->count++] = 1 - pixels[row * scene->width + column].opacity;
    }
}

static double mean_through(const samples *s, float amount)
{
    double sum = 0;
    for (int i = 0; i < s->count; i++) sum += (double)(s->open[i] * expf(-amount * s->density[i]));
    return s->count ? sum / s->count : 1;
}

void cli_render_settle(render_scene *scene, render_spot_pixel *spots)
{
    samples s;
    double loss = CLI_RENDER_LOSS * (double)scene->severity;
    take_samples(&s, scene, spots);
    double panel_pixels = (double)s.count / (SAMPLES * SAMPLES) * (double)scene->width * (double)scene->height;
    put_spots(scene, spots, panel_pixels, loss);
    take_samples(&s, scene, spots);
    float low = 0, high = 8;
    for (int i = 0; i < 22; i++) {
        float middle = 0.5f * (low + high);
        if (mean_through(&s, middle) > 1 - loss) low = middle;
        else high = middle;
    }
    scene->film.amount = low;
    if (low < 1e-4f) scene->film.dirt &= CLI_RENDER_DROPPINGS | CLI_RENDER_LEAVES;
}
