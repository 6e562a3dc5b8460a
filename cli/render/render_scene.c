#include "render/render_scene.h"

#include <string.h>

#define RADIANS(degrees) ((degrees)*0.01745329252f)

/* ---- numbers ---- */

render_dice cli_render_dice(const broad_random *photo, render_draw draw)
{
    render_dice dice = {*photo, 0};
    dice.stream.draw = (uint16_t)draw;
    return dice;
}

float cli_render_roll(render_dice *dice, float low, float high)
{
    return low + (high - low) * (float)broad_random_at(&dice->stream, dice->next++);
}

float cli_render_roll_normal(render_dice *dice)
{
    float sum = 0;
    for (int i = 0; i < 4; i++) sum += cli_render_roll(dice, -1, 1);
    return sum * 0.866f;
}

int cli_render_chance(render_dice *dice, float probability) { return cli_render_roll(dice, 0, 1) < probability; }

static int pick(render_dice *dice, int low, int high)
{
    int value = low + (int)cli_render_roll(dice, 0, (float)(high - low + 1));
    return value > high ? high : value;
}

static vec3 vary(render_dice *dice, vec3 colour, float spread)
{
    float value = expf(spread * cli_render_roll_normal(dice)), hue = 0.25f * spread * cli_render_roll_normal(dice);
    return vec(colour.x * value * (1 + hue), colour.y * value, colour.z * value * (1 - hue));
}

static void draw_lattice(render_scene *scene)
{
    enum { SIDE = RENDER_LATTICE_SIDE };
    render_dice dice = cli_render_dice(&scene->stream, RENDER_LATTICE);
    double numbers[SIDE];
    for (size_t row = 0; row < SIDE; row++) {
        broad_random_fill(numbers, &dice.stream, row * SIDE, SIDE);
        for (size_t i = 0; i < SIDE; i++) scene->lattice[row][i] = (float)numbers[i];
        scene->lattice[row][SIDE] = scene->lattice[row][0];
    }
    memcpy(scene->lattice[SIDE], scene->lattice[0], sizeof scene->lattice[0]);
}

/* ---- panels ---- */

static void draw_look(render_array *a, render_dice *dice)
{
    a->polycrystalline = cli_render_chance(dice, 0.45f);
    int all_black = !a->polycrystalline && cli_render_chance(dice, 0.3f);
    if (a->polycrystalline) {
        a->cell = vary(dice, vec(0.016f, 0.036f, 0.11f), 0.3f);
        a->grain = cli_render_roll(dice, 0.25f, 0.6f);
    } else {
        a->cell = vary(dice, vec(0.014f, 0.018f, 0.034f), 0.4f);
        a->chamfer = all_black ? 0.006f : cli_render_roll(dice, 0.012f, 0.022f);
        a->grain = 0.04f;
    }
    a->backsheet =
        all_black ? vec(0.03f, 0.03f, 0.035f) : vec_scale(vec(0.62f, 0.64f, 0.66f), cli_render_roll(dice, 0.6f, 1));
    int black_frame = all_black || cli_render_chance(dice, 0.25f);
    a->frame_colour = black_frame ? vec(0.035f, 0.035f, 0.04f)
                                  : vec_scale(vec(0.55f, 0.56f, 0.57f), cli_render_roll(dice, 0.7f, 1.1f));
    a->busbars = pick(dice, 2, 5);
    a->bar = a->busbars > 3 ? 0.0012f : 0.0018f;
}

static void draw_array(render_array *a, render_dice *dice)
{
    static const int cells[3][2] = {{6, 10}, {6, 12}, {6, 20}};
    int kind = pick(dice, 0, 2);
    draw_look(a, dice);
    if (a->polycrystalline && kind == 2) kind = 0;
    a->frame = cli_render_roll(dice, 0.018f, 0.034f);
    a->margin = cli_render_roll(dice, 0.008f, 0.02f);
    a->line = cli_render_roll(dice, 0.0025f, 0.0045f);
    a->landscape = cli_render_chance(dice, 0.3f);
    float side = 0.16f, size[2];
    for (int i = 0; i < 2; i++) {
        a->cells[i] = cells[kind][i];
        a->cell_pitch[i] = kind == 2 && i == 1 ? 0.5f * side : side;
        a->cell_often[i] = 1 / a->cell_pitch[i];
        a->cell_area[i] = a->cell_pitch[i] * (float)a->cells[i];
        size[i] = 2 * (a->frame + a->margin) + a->cell_area[i];
    }
    a->bar_pitch = side / (float)a->busbars;
    a->bar_often = 1 / a->bar_pitch;
    float between = cli_render_roll(dice, 0.012f, 0.03f);
    for (int i = 0; i < 2; i++) {
        a->modules[i] = i == 0 ? pick(dice, 1, 5) : pick(dice, 1, 3);
        a->module[i] = size[a->landscape ? 1 - i : i];
        a->pitch[i] = a->module[i] + between;
        a->often[i] = 1 / a->pitch[i];
        a->half[i] = 0.5f * ((float)a->modules[i] * a->pitch[i] - between);
    }
}

/* ---- surroundings ---- */

static vec3 ground_colour(render_dice *dice, render_ground ground)
{
    static const vec3 colours[RENDER_GROUNDS][3] = {
        [RENDER_TILES] = {{0.36f, 0.15f, 0.085f}, {0.30f, 0.21f, 0.15f}, {0.19f, 0.18f, 0.17f}},
        [RENDER_SHINGLES] = {{0.17f, 0.17f, 0.18f}, {0.23f, 0.19f, 0.16f}, {0.13f, 0.14f, 0.15f}},
        [RENDER_METAL] = {{0.42f, 0.43f, 0.44f}, {0.26f, 0.27f, 0.29f}, {0.34f, 0.12f, 0.09f}},
        [RENDER_CONCRETE] = {{0.42f, 0.41f, 0.39f}, {0.33f, 0.33f, 0.32f}, {0.48f, 0.45f, 0.40f}},
        [RENDER_GRASS] = {{0.085f, 0.16f, 0.035f}, {0.13f, 0.17f, 0.05f}, {0.21f, 0.185f, 0.095f}},
        [RENDER_GRAVEL] = {{0.34f, 0.32f, 0.30f}, {0.28f, 0.27f, 0.26f}, {0.40f, 0.36f, 0.30f}},
        [RENDER_SOIL] = {{0.32f, 0.23f, 0.15f}, {0.42f, 0.33f, 0.22f}, {0.25f, 0.19f, 0.13f}},
    };
    return vary(dice, colours[ground][pick(dice, 0, 2)], 0.15f);
}

static void draw_place(render_place *p, const render_array *array, render_dice *dice)
{
    p->has_roof = cli_render_chance(dice, 0.66f);
    p->roof = (render_ground)pick(dice, RENDER_TILES, RENDER_CONCRETE);
    p->yard = (render_ground)pick(dice, RENDER_GRASS, RENDER_SOIL);
    p->roof_depth = cli_render_roll(dice, 0.08f, 0.18f);
    p->ridge = array->half[1] + cli_render_roll(dice, 0.25f, 1.8f);
    p->eave = -array->half[1] - cli_render_roll(dice, 0.3f, 2.5f);
    p->yard_depth = p->has_roof ? cli_render_roll(dice, 3, 6) : cli_render_roll(dice, 0.4f, 1);
    p->roof_colour = ground_colour(dice, p->roof);
    p->yard_colour = ground_colour(dice, p->yard);
    p->trees = vary(dice, vec(0.045f, 0.07f, 0.03f), 0.3f);
    p->tree_height = cli_render_roll(dice, -0.01f, 0.09f);
    p->tile = cli_render_roll(dice, 0.8f, 1.25f);
    float turn = cli_render_roll(dice, 0, 6.2832f);
    p->turn[0] = cosf(turn);
    p->turn[1] = sinf(turn);
}

static void draw_shade(render_light *l, const render_array *array, render_dice *dice)
{
    l->shade = cli_render_chance(dice, 0.3f) && l->cloud < 0.6f ? cli_render_roll(dice, 0.7f, 1) : 0;
    l->shade_leafy = cli_render_chance(dice, 0.5f);
    l->shade_edge = cli_render_roll(dice, 0.02f, 0.15f);
    l->shade_scale = cli_render_roll(dice, 1, 3);
    float turn = cli_render_roll(dice, 0, 6.2832f);
    l->shade_normal[0] = cosf(turn);
    l->shade_normal[1] = sinf(turn);
    float reach = fabsf(l->shade_normal[0]) * array->half[0] + fabsf(l->shade_normal[1]) * array->half[1];
    l->shade_offset = reach * cli_render_roll(dice, 0.2f, 0.95f);
}

static void draw_light(render_light *l, const render_array *array, render_dice *dice)
{
    float tilt = RADIANS(cli_render_roll(dice, 8, 36));
    l->world_up = vec(0, sinf(tilt), cosf(tilt));
    float kind = cli_render_roll(dice, 0, 1), low = cli_render_roll(dice, 0, 1);
    l->cloud = kind < 0.5f ? kind * 0.5f : kind < 0.75f ? 0.3f + kind * 0.5f : 0.9f + 0.1f * low;
    float height = RADIANS(cli_render_roll(dice, 25, 75)), turn = RADIANS(cli_render_roll(dice, -180, 180));
    l->sun = vec(sinf(turn) * cosf(height), -cosf(turn) * cosf(height), sinf(height));
    float direct = 1.15f - 0.95f * l->cloud * l->cloud, diffuse = 0.22f + 0.35f * l->cloud;
    l->sun_colour =
        vec_scale(vec_mix(vec(1.05f, 0.99f, 0.88f), vec(1.15f, 0.93f, 0.66f), low * (1 - l->cloud)), direct);
    l->ambient = vec_scale(vec_mix(vec(0.75f, 0.95f, 1.3f), vec(1, 1, 1.02f), l->cloud), diffuse);
    l->zenith = vec_mix(vec(0.10f, 0.22f, 0.52f), vec(0.62f, 0.64f, 0.67f), l->cloud);
    l->horizon = vec_mix(vec(0.50f, 0.62f, 0.78f), vec(0.78f, 0.79f, 0.80f), l->cloud);
    l->cloud_scale = cli_render_roll(dice, 1.2f, 3);
    l->cloud_x = cli_render_roll(dice, 0, 40);
    l->cloud_y = cli_render_roll(dice, 0, 40);
    draw_shade(l, array, dice);
}

/* ---- camera ---- */

vec3 cli_render_ray(const render_camera *camera, float x, float y)
{
    vec3 across = vec_scale(camera->right, x - camera->middle_x), along = vec_scale(camera->down, y - camera->middle_y);
    return vec_add(camera->forward, vec_add(across, along));
}

int cli_render_meet(render_hit *out, const render_scene *scene, vec3 ray)
{
    const render_camera *c = &scene->camera;
    if (ray.z > -1e-3f) return 0;
    const vec3 right = c->right, down = c->down;
    float inverse = 1 / ray.z, t = -c->eye.z * inverse, slope_x = ray.x * inverse, slope_y = ray.y * inverse;
    out->x = c->eye.x + t * ray.x;
    out->y = c->eye.y + t * ray.y;
    out->step[0] = t * (fabsf(right.x - slope_x * right.z) + fabsf(down.x - slope_x * down.z)) + 1e-6f;
    out->step[1] = t * (fabsf(right.y - slope_y * right.z) + fabsf(down.y - slope_y * down.z)) + 1e-6f;
    for (int i = 0; i < 2; i++) out->pixels[i] = 1 / out->step[i];
    out->share = edge_share(scene->array.half[0] - fabsf(out->x), out->pixels[0]) *
                 edge_share(scene->array.half[1] - fabsf(out->y), out->pixels[1]);
    return out->share > 0.002f; /* less is no byte of a map */
}

int cli_render_project(float out[2], const render_camera *camera, float x, float y)
{
    vec3 to = vec_add(vec(x, y, 0), vec_scale(camera->eye, -1));
    float depth = vec_dot(to, camera->forward), squared = camera->pixel * camera->pixel;
    if (depth < 1e-3f) return 0;
    out[0] = camera->middle_x + vec_dot(to, camera->right) / (squared * depth);
    out[1] = camera->middle_y + vec_dot(to, camera->down) / (squared * depth);
    return 1;
}

static float panel_share(const render_scene *scene)
{
    enum { GRID = 16 };
    int hits = 0;
    render_hit hit;
    for (int row = 0; row < GRID; row++) {
        for (int column = 0; column < GRID; column++) {
            float x = ((float)column + 0.5f) / GRID, y = ((float)row + 0.5f) / GRID;
            vec3 ray = cli_render_ray(&scene->camera, x * (float)scene->width, y * (float)scene->height);
            hits += cli_render_meet(&hit, scene, ray);
        }
    }
    return (float)hits / (GRID * GRID);
}

/* From below the slope and above it; from straight above the camera may be turned any way, as a drone is. */
static void aim(render_scene *scene, render_dice *dice)
{
    render_camera *c = &scene->camera;
    float height = RADIANS(cli_render_roll(dice, 28, 88));
    int steep = height > RADIANS(62);
    float turn = RADIANS(steep ? cli_render_roll(dice, -180, 180) : cli_render_roll(dice, -75, 75));
    float field = tanf(RADIANS(cli_render_roll(dice, 18, 33)));
    float across = cli_render_roll(dice, 0, 1), view = 1.1f + 5.4f * across * across;
    vec3 target = vec(scene->array.half[0] * cli_render_roll(dice, -0.7f, 0.7f),
                      scene->array.half[1] * cli_render_roll(dice, -0.7f, 0.7f), 0);
    vec3 away = vec(sinf(turn) * cosf(height), -cosf(turn) * cosf(height), sinf(height));
    float roll = RADIANS(steep ? cli_render_roll(dice, -45, 45) : 7 * cli_render_roll_normal(dice));
    c->eye = vec_add(target, vec_scale(away, 0.5f * view / field));
    c->forward = vec_scale(away, -1);
    vec3 level = vec_cross(c->forward, scene->light.world_up);
    vec3 right = vec_dot(level, level) > 1e-8f ? vec_unit(level) : vec(1, 0, 0);
    vec3 down = vec_cross(c->forward, right);
    size_t side = scene->width > scene->height ? scene->width : scene->height;
    c->pixel = 2 * field / (float)side;
    c->right = vec_scale(vec_add(vec_scale(right, cosf(roll)), vec_scale(down, sinf(roll))), c->pixel);
    c->down = vec_scale(vec_add(vec_scale(down, cosf(roll)), vec_scale(right, -sinf(roll))), c->pixel);
    c->middle_x = 0.5f * (float)scene->width;
    c->middle_y = 0.5f * (float)scene->height;
}

static void draw_camera(render_scene *scene, render_dice *dice)
{
    for (int tries = 0; tries < 24; tries++) {
        aim(scene, dice);
        float yard = vec_dot(scene->camera.eye, scene->light.world_up);
        if (panel_share(scene) > 0.38f && yard > 0.5f - scene->place.yard_depth) return;
    }
}

/* Now and then the sun stands where the glass mirrors it into the picture. */
static void place_glare(render_scene *scene, render_dice *dice)
{
    int wanted = cli_render_chance(dice, 0.22f);
    float x = cli_render_roll(dice, -0.2f, 1.2f), y = cli_render_roll(dice, -0.2f, 1.2f);
    if (!wanted) return;
    vec3 ray = vec_unit(cli_render_ray(&scene->camera, x * (float)scene->width, y * (float)scene->height));
    vec3 sun = vec(ray.x, ray.y, -ray.z);
    if (sun.z > 0.3f && vec_dot(sun, scene->light.world_up) > 0.2f) scene->light.sun = sun;
}

/* ---- dirt ---- */

static float draw_severity(const broad_random *photo, const cli_render_spec *spec)
{
    render_dice dice = cli_render_dice(photo, RENDER_SEVERITY);
    int dusty = cli_render_chance(&dice, 0.5f);
    double u = (double)cli_render_roll(&dice, 0, 1);
    if (spec->use_severity) return (float)spec->severity;
    if (spec->wanted != CLI_RENDER_ANY) dusty = spec->wanted == CLI_RENDER_DUSTY;
    if (!dusty) return (float)(CLI_RENDER_CLEAN_MOST * u * u);
    return (float)(CLI_RENDER_DUSTY_LEAST + (1 - CLI_RENDER_DUSTY_LEAST) * u * sqrt(u));
}

static void draw_film(render_film *f, render_dice *dice, unsigned allowed)
{
    static const vec3 dusts[4] = {
        {0.50f, 0.42f, 0.31f}, {0.43f, 0.42f, 0.40f}, {0.48f, 0.35f, 0.25f}, {0.30f, 0.27f, 0.23f}};
    int pollen = cli_render_chance(dice, 0.15f), streaks = cli_render_chance(dice, 0.5f);
    int droppings = cli_render_chance(dice, 0.55f), leaves = cli_render_chance(dice, 0.25f);
    float heavy = cli_render_roll(dice, 0, 1);
    pollen = !(allowed & CLI_RENDER_DUST) || (pollen && (allowed & CLI_RENDER_POLLEN));
    streaks = streaks && (allowed & CLI_RENDER_STREAKS);
    droppings = droppings && (allowed & CLI_RENDER_DROPPINGS);
    leaves = leaves && (allowed & CLI_RENDER_LEAVES);
    f->colour = vary(dice, pollen ? vec(0.50f, 0.45f, 0.20f) : dusts[pick(dice, 0, 3)], 0.12f);
    f->patch = cli_render_roll(dice, 0.25f, 0.9f);
    f->patch_scale = cli_render_roll(dice, 0.8f, 2.6f);
    f->edge = cli_render_roll(dice, 0.4f, 3);
    f->edge_width = cli_render_roll(dice, 0.04f, 0.16f);
    f->streak = cli_render_roll(dice, 0.5f, 1);
    f->streak_scale = cli_render_roll(dice, 14, 34);
    f->speckle = cli_render_roll(dice, 0.25f, 0.8f) * (pollen ? 1.6f : 1);
    f->speckle_scale = cli_render_roll(dice, 45, 120);
    if (!streaks) f->streak = 0;
    f->spots_share = droppings || leaves ? 0.1f + 0.4f * heavy * heavy : 0;
    f->leaves_share = !leaves ? 0 : droppings ? 0.4f : 1;
    f->dirt = (pollen ? CLI_RENDER_POLLEN : CLI_RENDER_DUST) | (streaks ? CLI_RENDER_STREAKS : 0);
}

void cli_render_draw_scene(render_scene *out, size_t width, size_t height, uint64_t seed, size_t index,
                           const cli_render_spec *spec)
{
    memset(out, 0, sizeof *out);
    out->width = width;
    out->height = height;
    broad_random_init(&out->stream, seed, BROAD_RANDOM_PURPOSE_PICTURES);
    out->stream.number = index;
    draw_lattice(out);
    render_dice dice = cli_render_dice(&out->stream, RENDER_SCENE), dirt = cli_render_dice(&out->stream, RENDER_DIRT);
    draw_array(&out->array, &dice);
    draw_place(&out->place, &out->array, &dice);
    draw_light(&out->light, &out->array, &dice);
    draw_camera(out, &dice);
    dice = cli_render_dice(&out->stream, RENDER_CAMERA);
    place_glare(out, &dice);
    out->severity = draw_severity(&out->stream, spec);
    draw_film(&out->film, &dirt, spec->dirt ? spec->dirt : ~0u);
}
