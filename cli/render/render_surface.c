/* What the light does: glass and cells, frames, roofs, the yard, the sky. */
#include "render/render_surface.h"

/* ---- sky ---- */

static vec3 sky_towards(const render_scene *scene, vec3 direction)
{
    const render_light *l = &scene->light;
    float up = vec_dot(direction, l->world_up), height = clamp01(up);
    float fade = 1 - height;
    vec3 clear = vec_mix(l->zenith, l->horizon, fade * fade * fade);
    float spread = l->cloud_scale / (0.25f + height);
    float x = l->cloud_x + spread * direction.x, y = l->cloud_y + spread * direction.y;
    float bulk = 0.64f * noise(scene, x, y) + 0.36f * noise(scene, 2.7f * x + 9, 2.7f * y);
    float cover = l->cloud > 0.85f ? 0.5f * bulk : smooth_step(0.78f - 0.5f * l->cloud, 0.98f - 0.4f * l->cloud, bulk);
    vec3 cloud = vec_scale(vec(0.95f, 0.95f, 0.96f), 1.05f - 0.45f * bulk);
    return vec_mix(clear, cloud, cover);
}

/* ---- shadows ---- */

/* 0 in the shadow of a tree or a wall. */
static float sunlit_share(const render_scene *scene, float x, float y)
{
    const render_light *l = &scene->light;
    if (l->shade <= 0) return 1;
    float beyond = x * l->shade_normal[0] + y * l->shade_normal[1] - l->shade_offset;
    if (!l->shade_leafy) return 1 - l->shade * smooth_step(-l->shade_edge, l->shade_edge, beyond);
    float leaves = 0.65f * noise(scene, 31 + l->shade_scale * x, 7 + l->shade_scale * y) +
                   0.35f * noise(scene, 3.1f * l->shade_scale * x, 47 + 3.1f * l->shade_scale * y);
    float reach = smooth_step(-0.6f, 0.4f, beyond);
    return 1 - l->shade * smooth_step(0.62f - l->shade_edge, 0.62f + l->shade_edge, leaves + 0.45f * reach - 0.2f);
}

/* Share of the sun that reaches a point behind the array. */
static float past_array(const render_scene *scene, vec3 point)
{
    const vec3 sun = scene->light.sun;
    if (sun.z < 0.02f || point.z >= 0) return 1;
    float t = -point.z / sun.z, x = point.x + t * sun.x, y = point.y + t * sun.y;
    float soft = 0.02f + 0.03f * t;
    float inside = smaller(scene->array.half[0] - fabsf(x), scene->array.half[1] - fabsf(y));
    return (1 - smooth_step(-soft, soft, inside)) * sunlit_share(scene, x, y);
}

/* ---- grounds: factor on the colour; x, y along the surface, step = span of a pixel ---- */

static float rough(const render_scene *scene, float x, float y, float scale, float step)
{
    float sum = 0, weight = 0.5f;
    for (int octave = 0; octave < 3; octave++) {
        float keep = resolved(scale, step);
        if (keep <= 0) break;
        sum += weight * keep * (noise(scene, x * scale + 11.3f * (float)octave, y * scale) - 0.5f);
        scale *= 2.7f;
        weight *= 0.75f;
    }
    return sum;
}

static float tiles(const render_scene *scene, float x, float y, float step)
{
    float wide = 0.22f * scene->place.tile, tall = 0.32f * scene->place.tile;
    int row = floor_int(y / tall);
    float column = x / wide + 0.5f * (float)(row & 1), down = y / tall - (float)row;
    int tile = floor_int(column);
    float phase = column - (float)tile, keep = resolved(1 / wide, step);
    float wave = sinf(6.2832f * phase), lip = smooth_step(0.0f, 0.12f, down) - 0.35f * smooth_step(0.75f, 1, down);
    float tone = 0.35f * (lattice_at(scene, tile * 3 + 5, row * 5) - 0.5f);
    return 1 + keep * (0.38f * wave + 0.45f * (lip - 0.85f) + tone) + 0.5f * rough(scene, x, y, 3, step);
}

static float shingles(const render_scene *scene, float x, float y, float step)
{
    float wide = 0.30f * scene->place.tile, tall = 0.14f * scene->place.tile;
    int row = floor_int(y / tall);
    float column = x / wide + 0.37f * (float)(row % 7), down = y / tall - (float)row;
    int tile = floor_int(column);
    float phase = column - (float)tile, keep = resolved(1 / tall, step);
    float slit = phase < 0.04f ? -0.35f : 0, shadow = down < 0.14f ? -0.4f : 0;
    float tone = 0.5f * (lattice_at(scene, tile * 7, row * 11 + 3) - 0.5f);
    return 1 + keep * (slit + shadow + tone) + 0.5f * rough(scene, x, y, 40, step) + 0.3f * rough(scene, x, y, 1, step);
}

static float metal(const render_scene *scene, float x, float y, float step)
{
    float period = 0.42f * scene->place.tile, across = x / period;
    float phase = across - (float)floor_int(across), width = larger(0.06f, 0.7f * step / period);
    float seam = phase < width ? 0.45f : phase < 2 * width ? -0.5f : 0;
    return 1 + resolved(1 / period, step) * seam + 0.15f * rough(scene, x * 2, y * 0.3f, 1.5f, step);
}

static float concrete(const render_scene *scene, float x, float y, float step)
{
    float stain = noise(scene, 0.7f * x, 0.7f * y) - 0.5f;
    return 1 + 0.35f * stain + 0.35f * rough(scene, x, y, 6, step) + 0.35f * rough(scene, x, y, 50, step);
}

static float grass(const render_scene *scene, float x, float y, float step)
{
    float patches = noise(scene, 0.6f * x + 3, 0.6f * y) - 0.5f;
    return 1 + 0.6f * patches + 0.9f * rough(scene, x, y, 4, step) + 1.1f * rough(scene, x, y * 0.6f, 28, step);
}

static float gravel(const render_scene *scene, float x, float y, float step)
{
    float keep = resolved(33, step), wobble = noise(scene, 40 * x, 40 * y);
    float stone = lattice_at(scene, floor_int(32 * x + 0.9f * wobble), floor_int(32 * y + 1.1f * wobble));
    return 1 + 0.2f * (noise(scene, 0.8f * x, 0.8f * y) - 0.5f) + 0.8f * keep * (stone - 0.5f) +
           0.5f * rough(scene, x, y, 20, step);
}

static float soil(const render_scene *scene, float x, float y, float step)
{
    float patches = noise(scene, 0.5f * x, 0.5f * y) - 0.5f;
    return 1 + 0.5f * patches + 0.8f * rough(scene, x, y, 2.5f, step) + 0.9f * rough(scene, x, y, 22, step);
}

static vec3 ground(const render_scene *scene, render_ground kind, vec3 colour, float x, float y, float step)
{
    static float (*const textures[RENDER_GROUNDS])(const render_scene *, float, float, float) = {
        [RENDER_TILES] = tiles, [RENDER_SHINGLES] = shingles, [RENDER_METAL] = metal, [RENDER_CONCRETE] = concrete,
        [RENDER_GRASS] = grass, [RENDER_GRAVEL] = gravel,     [RENDER_SOIL] = soil};
    float value = larger(textures[kind](scene, x, y, step), 0.08f);
    if (kind == RENDER_GRASS) {
        float dry = smooth_step(0.45f, 0.8f, noise(scene, 0.9f * x + 20, 0.9f * y + 5));
        colour = vec_mix(colour, vec(1.35f * colour.y, 1.1f * colour.y, 0.5f * colour.y), 0.6f * dry);
    }
    return vec_scale(colour, value);
}

static vec3 lit_by(const render_scene *scene, vec3 albedo, float facing, float sunlit)
{
    const render_light *l = &scene->light;
    vec3 sun = vec_scale(l->sun_colour, larger(facing, 0) * sunlit);
    return vec_times(albedo, vec_add(sun, l->ambient));
}

/* ---- what lies behind the array ---- */

static vec3 rim(const render_scene *scene, vec3 ray)
{
    float facing = fabsf(ray.x) > fabsf(ray.y) ? fabsf(scene->light.sun.x) : -scene->light.sun.y;
    return lit_by(scene, vec_scale(scene->array.frame_colour, 0.75f), facing, 1);
}

static vec3 roof(const render_scene *scene, vec3 point, float step)
{
    const render_place *p = &scene->place;
    float sunlit = past_array(scene, point), inside = scene->array.half[0] - fabsf(point.x);
    float below = smaller(inside, scene->array.half[1] - fabsf(point.y));
    vec3 albedo = ground(scene, p->roof, p->roof_colour, point.x + 50, point.y + 50, step);
    /* The sky does not reach far under the array. */
    return vec_scale(lit_by(scene, albedo, scene->light.sun.z, sunlit), 1 - 0.7f * smooth_step(-0.08f, 0.1f, below));
}

static vec3 yard(const render_scene *scene, vec3 point, float distance, float facing)
{
    const render_place *p = &scene->place;
    const vec3 up = scene->light.world_up;
    float across = point.x, along = point.y * up.z - point.z * up.y;
    float x = across * p->turn[0] - along * p->turn[1], y = across * p->turn[1] + along * p->turn[0];
    float step = distance * scene->camera.pixel / sqrtf(larger(facing, 0.02f));
    vec3 albedo = ground(scene, p->yard, p->yard_colour, x, y, step);
    float far = smooth_step(15, 60, distance);
    float bushes = 0.6f * noise(scene, 0.15f * x, 0.15f * y) + 0.4f * noise(scene, 0.5f * x, 0.5f * y);
    albedo = vec_mix(albedo, vec_scale(p->trees, 0.7f + bushes), far * smooth_step(0.4f, 0.6f, bushes));
    return lit_by(scene, albedo, vec_dot(scene->light.sun, up), p->has_roof ? 1 : past_array(scene, point));
}

static vec3 distance_view(const render_scene *scene, vec3 direction)
{
    const render_place *p = &scene->place;
    float up = vec_dot(direction, scene->light.world_up);
    float side = 14 * direction.x / larger(fabsf(direction.y) + 0.3f, 0.3f);
    float tops = p->tree_height * (0.5f + noise(scene, side, 3) + 0.35f * noise(scene, 4 * side, 40));
    float trees = 1 - smooth_step(tops - 0.004f, tops + 0.006f, up);
    vec3 sky = sky_towards(scene, direction);
    if (trees <= 0) return sky;
    float crown = 0.6f + 0.9f * noise(scene, 3 * side, 90 * up) * noise(scene, 11 * side, 260 * up + 8);
    vec3 wood = lit_by(scene, vec_scale(p->trees, crown), 0.8f, 1);
    return vec_mix(sky, vec_mix(wood, scene->light.horizon, 0.12f), trees);
}

vec3 cli_render_surroundings(const render_scene *scene, vec3 ray)
{
    const render_place *p = &scene->place;
    const vec3 eye = scene->camera.eye, up = scene->light.world_up;
    vec3 direction = vec_unit(ray);
    if (direction.z < -1e-3f) {
        float t = -(eye.z + 0.035f) / direction.z, x = eye.x + t * direction.x, y = eye.y + t * direction.y;
        if (fabsf(x) < scene->array.half[0] && fabsf(y) < scene->array.half[1]) return rim(scene, direction);
        t = -(eye.z + p->roof_depth) / direction.z;
        vec3 point = vec_add(eye, vec_scale(direction, t));
        float step = t * scene->camera.pixel / sqrtf(larger(-direction.z, 0.03f));
        if (p->has_roof && point.y < p->ridge && point.y > p->eave) return roof(scene, point, step);
    }
    float sinking = -vec_dot(direction, up);
    if (sinking > 0.004f) {
        float height = vec_dot(eye, up) + p->yard_depth + (p->has_roof ? 0 : scene->array.half[1] * up.y);
        float t = smaller(height / sinking, 500);
        vec3 near = yard(scene, vec_add(eye, vec_scale(direction, t)), t, sinking);
        return t < 60 ? near : vec_mix(near, distance_view(scene, direction), smooth_step(60, 160, t));
    }
    return distance_view(scene, direction);
}

/* ---- the array ---- */

/* Share of a pixel at x in lines of half-width `half` around the multiples of `period`; often, pixels: 1 / period, 1 / step. */
static inline float line_share(float x, float period, float often, float half, float step, float pixels)
{
    float ends[2] = {x - 0.5f * step, x + 0.5f * step}, covered[2];
    for (int i = 0; i < 2; i++) {
        float nearest = (float)floor_int(ends[i] * often + 0.5f), off = ends[i] - nearest * period;
        covered[i] = 2 * half * nearest + smaller(larger(off, -half), half);
    }
    return clamp01((covered[1] - covered[0]) * pixels);
}

/* Crystals: two overlaid sets of shards, turned against each other. */
static float grains(const render_scene *scene, float x, float y, float step)
{
    float keep = resolved(50, step);
    if (keep <= 0) return 0;
    float bend = noise(scene, 30 * x, 30 * y);
    float one = lattice_at(scene, floor_int(52 * x + 31 * y + bend), floor_int(37 * y - 40 * x + 0.7f * bend));
    float two = lattice_at(scene, floor_int(41 * x - 19 * y + 1.2f * bend) + 13, floor_int(46 * y + 27 * x));
    return keep * (one + two - 1);
}

/* How far from the nearest multiple of `pitch`. */
static float from_line(float x, float pitch, float often)
{
    return fabsf(x - pitch * (float)floor_int(x * often + 0.5f));
}

typedef struct glazing {
    float at[2], step[2], pixels[2]; /* along the cells' columns and rows; at: from the corner of the first cell */
    int module;
} glazing;

/* Albedo of the glazed part. */
static vec3 cells(const render_scene *scene, const glazing *g)
{
    const render_array *a = &scene->array;
    const float *pitch = a->cell_pitch, *often = a->cell_often, *at = g->at, half = 0.5f * a->line;
    if (at[0] < -half || at[1] < -half || at[0] > a->cell_area[0] + half || at[1] > a->cell_area[1] + half)
        return a->backsheet;
    int column = floor_int(at[0] * often[0]), row = floor_int(at[1] * often[1]);
    float tone = 1 + 0.22f * (lattice_at(scene, column + 7 * g->module, row + 29 * g->module) - 0.5f);
    float span = g->step[0] + g->step[1];
    if (a->polycrystalline) tone *= 1 + a->grain * grains(scene, at[0] + 3 * (float)g->module, at[1], span);
    vec3 colour = vec_scale(a->cell, tone);

    float bars =
        line_share(at[0] - 0.5f * a->bar_pitch, a->bar_pitch, a->bar_often, 0.5f * a->bar, g->step[0], g->pixels[0]);
    colour = vec_mix(colour, vec(0.42f, 0.43f, 0.45f), 0.04f + 0.8f * bars);
    float gap = line_share(at[0], pitch[0], often[0], half, g->step[0], g->pixels[0]);
    float cross = line_share(at[1], pitch[1], often[1], half, g->step[1], g->pixels[1]);
    float lines = 1 - (1 - gap) * (1 - cross);
    if (a->chamfer > 0) {
        float away = from_line(at[0], pitch[0], often[0]) + from_line(at[1], pitch[1], often[1]);
        lines = larger(lines, edge_share(a->chamfer - away, smaller(g->pixels[0], g->pixels[1])));
    }
    return vec_mix(colour, a->backsheet, lines);
}

/* What the glass mirrors: the sky, and the sun with a halo. */
vec3 cli_render_mirrored(const render_scene *scene, vec3 ray)
{
    vec3 direction = vec_unit(vec(ray.x, ray.y, smaller(ray.z, -1e-3f)));
    const render_light *l = &scene->light;
    vec3 out = vec(direction.x, direction.y, -direction.z);
    float facing = 1 + direction.z, fresnel = facing * facing;
    fresnel = 0.035f + 0.9f * fresnel * fresnel * facing;
    float along = larger(vec_dot(out, l->sun), 0.5f), halo = along * along * along; /* powers 24 and 432 below */
    halo *= halo;
    halo *= halo;
    halo *= halo;
    float core = halo > 0.05f ? halo * halo * halo : 0;
    core *= core * core;
    core *= core;
    float clear = 1 - l->cloud;
    vec3 sky = vec_scale(sky_towards(scene, out), fresnel);
    return vec_add(sky, vec_scale(l->sun_colour, clear * (0.17f * halo + 2.5f * core)));
}

static vec3 module_albedo(float *glass, const render_scene *scene, const render_hit *hit)
{
    const render_array *a = &scene->array;
    const float place[2] = {hit->x + a->half[0], hit->y + a->half[1]};
    float edge = 1, between = 0;
    glazing g;
    g.module = 0;
    for (int i = 0; i < 2; i++) {
        int number = floor_int(place[i] * a->often[i]), turned = a->landscape ? 1 - i : i;
        number = number < 0 ? 0 : number >= a->modules[i] ? a->modules[i] - 1 : number;
        float local = place[i] - (float)number * a->pitch[i], inside = smaller(local, a->module[i] - local);
        edge *= edge_share(inside - a->frame, hit->pixels[i]);
        between = larger(between, edge_share(-inside, hit->pixels[i]));
        g.module = g.module * 5 + number;
        g.at[turned] = local - a->frame - a->margin;
        g.step[turned] = hit->step[i];
        g.pixels[turned] = hit->pixels[i];
    }
    *glass = edge;
    vec3 border = vec_mix(a->frame_colour, vec(0.02f, 0.02f, 0.02f), between);
    return edge > 0 ? vec_mix(border, cells(scene, &g), edge) : border;
}

vec3 cli_render_panel(const render_scene *scene, const render_hit *hit, vec3 mirrored, float transmittance,
                      const render_spot_pixel *spot)
{
    float glass;
    vec3 albedo = module_albedo(&glass, scene, hit);
    float sunlit = sunlit_share(scene, hit->x, hit->y), twice = transmittance * transmittance;
    vec3 falling = lit_by(scene, vec(1, 1, 1), scene->light.sun.z, sunlit);
    albedo = vec_add(vec_scale(albedo, twice), vec_scale(scene->film.colour, 1 - transmittance));
    vec3 light = vec_add(vec_times(albedo, falling), vec_scale(mirrored, glass * twice));
    return spot->opacity > 0 ? vec_mix(light, vec_times(spot->colour, falling), spot->opacity) : light;
}
