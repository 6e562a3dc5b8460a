/* The inside of the renderer. A scene is drawn first and then only read; lengths are metres, light is linear.
 *
 * Coordinates are the panel's: x along the lower edge, y up the slope, z out of the glass, origin in the middle of the
 * array. The array lies in z = 0, a roof in z = -roof_depth, and under both lies the yard, a plane level in the world. */
#ifndef BROAD_CLI_RENDER_RENDER_SCENE_H
#define BROAD_CLI_RENDER_RENDER_SCENE_H

#include <math.h>

#include "broad/broad.h"
#include "render/render.h"

typedef struct vec3 {
    float x, y, z; /* or red, green, blue */
} vec3;

/* Streams of one photo. What the dirt draws cannot move the camera. */
typedef enum render_draw {
    RENDER_SCENE = 16,
    RENDER_LATTICE,
    RENDER_SEVERITY,
    RENDER_DIRT,
    RENDER_SPOTS,
    RENDER_CAMERA,
    RENDER_SENSOR
} render_draw;

typedef struct render_dice {
    broad_random stream;
    uint64_t next;
} render_dice;

enum { RENDER_LATTICE_SIDE = 64, RENDER_SPOTS_MAX = 320, RENDER_MIRROR_STEP = 4 };

typedef enum render_ground {
    RENDER_TILES,
    RENDER_SHINGLES,
    RENDER_METAL,
    RENDER_CONCRETE, /* the last roof */
    RENDER_GRASS,
    RENDER_GRAVEL,
    RENDER_SOIL,
    RENDER_GROUNDS
} render_ground;

typedef struct render_camera {
    vec3 eye, forward, right, down; /* right and down: one pixel at unit distance */
    float middle_x, middle_y;       /* the axis, in pixels */
    float pixel;                    /* length of right and down */
} render_camera;

typedef struct render_array {
    float module[2], pitch[2], half[2]; /* size of a module, distance from one to the next, half of the array */
    int modules[2], cells[2];
    float cell_area[2], cell_pitch[2], cell_often[2]; /* of the cells' columns and rows; often: 1 / pitch */
    float often[2];                                   /* 1 / pitch */
    int landscape;                                    /* the cells' columns run along x */
    int polycrystalline, busbars;
    float bar_pitch, bar_often;
    float frame, margin, line, bar; /* widths: frame, backsheet around the cells, gap between cells, busbar */
    float chamfer;                  /* of the cells' corners; 0: square */
    vec3 cell, backsheet, frame_colour;
    float grain;
} render_array;

typedef struct render_light {
    vec3 sun, sun_colour, ambient; /* sun: direction towards it */
    vec3 zenith, horizon;
    vec3 world_up;
    float cloud; /* 0 clear, 1 overcast */
    float cloud_scale, cloud_x, cloud_y;
    float shade, shade_edge, shade_scale; /* a tree's or a wall's shadow; shade 0: none */
    float shade_normal[2], shade_offset;
    int shade_leafy;
} render_light;

typedef struct render_place {
    int has_roof;
    render_ground roof, yard;
    float roof_depth, ridge, eave, yard_depth;
    vec3 roof_colour, yard_colour, trees;
    float tree_height, tile, turn[2];
} render_place;

/* Optical depth of the film = amount * density(x, y), see cli_render_density(). */
typedef struct render_film {
    float amount;
    vec3 colour;
    float patch, patch_scale, edge, edge_width, streak, streak_scale, speckle, speckle_scale;
    float spots_share;  /* of the light lost, to droppings and leaves */
    float leaves_share; /* of the spots */
    unsigned dirt;
} render_film;

typedef struct render_scene {
    size_t width, height;
    broad_random stream;
    render_camera camera;
    render_array array;
    render_light light;
    render_place place;
    render_film film;
    float severity;
    /* Uniform in [0, 1); the last row and column repeat the first. */
    float lattice[RENDER_LATTICE_SIDE + 1][RENDER_LATTICE_SIDE + 1];
} render_scene;

/* Where a ray meets the array's plane. */
typedef struct render_hit {
    float x, y, step[2]; /* step: how far x and y go over one pixel */
    float pixels[2];     /* 1 / step */
    float share;         /* of the pixel that the array fills */
} render_hit;

/* One of droppings and leaves over a pixel. */
typedef struct render_spot_pixel {
    float opacity;
    vec3 colour;
} render_spot_pixel;

static inline vec3 vec(float x, float y, float z) { return (vec3){x, y, z}; }
static inline vec3 vec_add(vec3 a, vec3 b) { return vec(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline vec3 vec_scale(vec3 a, float k) { return vec(a.x * k, a.y * k, a.z * k); }
static inline vec3 vec_times(vec3 a, vec3 b) { return vec(a.x * b.x, a.y * b.y, a.z * b.z); }
static inline float vec_dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec3 vec_unit(vec3 a) { return vec_scale(a, 1 / sqrtf(vec_dot(a, a))); }

static inline vec3 vec_cross(vec3 a, vec3 b)
{
    return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline vec3 vec_mix(vec3 a, vec3 b, float t)
{
    return vec(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z));
}

/* floor(), fmin() and fmax() are calls into libm on plain x86-64, and these are single instructions. */
static inline float smaller(float a, float b) { return a < b ? a : b; }
static inline float larger(float a, float b) { return a > b ? a : b; }
static inline float clamp01(float x) { return smaller(larger(x, 0.0f), 1.0f); }

static inline float smooth_step(float from, float to, float x)
{
    float t = clamp01((x - from) / (to - from));
    return t * t * (3 - 2 * t);
}

/* The lengths of a scene are far inside of int. */
static inline int floor_int(float x)
{
    int i = (int)x;
    return i - (x < (float)i);
}

static inline float lattice_at(const render_scene *scene, int x, int y)
{
    unsigned column = (unsigned)x % RENDER_LATTICE_SIDE, row = (unsigned)y % RENDER_LATTICE_SIDE;
    return scene->lattice[row][column];
}

/* Value noise in [0, 1), mean 1/2, one bump per unit. */
static inline float noise(const render_scene *scene, float x, float y)
{
    int column = floor_int(x), row = floor_int(y);
    float fx = x - (float)column, fy = y - (float)row;
    fx = fx * fx * (3 - 2 * fx);
    fy = fy * fy * (3 - 2 * fy);
    const float *one = &scene->lattice[(unsigned)row % RENDER_LATTICE_SIDE][(unsigned)column % RENDER_LATTICE_SIDE];
    const float *next = one + RENDER_LATTICE_SIDE + 1;
    float here = one[0] + fx * (one[1] - one[0]), there = next[0] + fx * (next[1] - next[0]);
    return here + fy * (there - here);
}

/* How much of a pattern with so many periods to the metre survives pixels that span `step`: all 1, nothing 0. */
static inline float resolved(float often, float step) { return clamp01(1.5f - step * often); }

/* Share of a pixel on the inner side of an edge that is `inside` away, with so many `pixels` to the metre. */
static inline float edge_share(float inside, float pixels) { return clamp01(0.5f + inside * pixels); }

render_dice cli_render_dice(const broad_random *photo, render_draw draw);
float cli_render_roll(render_dice *dice, float low, float high);
float cli_render_roll_normal(render_dice *dice); /* nearly: a sum of four */
int cli_render_chance(render_dice *dice, float probability);

/* Everything but film.amount, which cli_render_settle() finds. */
void cli_render_draw_scene(render_scene *out, size_t width, size_t height, uint64_t seed, size_t index,
                           const cli_render_spec *spec);

vec3 cli_render_ray(const render_camera *camera, float x, float y);        /* not of unit length */
int cli_render_meet(render_hit *out, const render_scene *scene, vec3 ray); /* 0: not the array */
/* Pixel of a point of the array's plane; 0 when it is behind the camera. */
int cli_render_project(float out[2], const render_camera *camera, float x, float y);

#endif
