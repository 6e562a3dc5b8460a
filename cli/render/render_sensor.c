/* From light to bytes, as a camera does it. */
#include "render/render_sensor.h"

enum { BLOCK = 8, TONES = 2048 };

static vec3 *pixel_at(vec3 *light, const render_scene *scene, size_t column, size_t row)
{
    return &light[row * scene->width + column];
}

/* ---- lens ---- */

/* Five weights of a bell of deviation `sigma`, along one direction. */
static void blur_line(vec3 *out, const vec3 *in, size_t count, size_t stride, const float weight[3])
{
    for (size_t i = 0; i < count; i++) {
        const vec3 *one = in + stride * (i >= 1 ? i - 1 : 0), *two = in + stride * (i >= 2 ? i - 2 : 0);
        const vec3 *next = in + stride * (i + 1 < count ? i + 1 : count - 1);
        const vec3 *after = in + stride * (i + 2 < count ? i + 2 : count - 1);
        vec3 sum = vec_scale(in[stride * i], weight[0]);
        sum = vec_add(sum, vec_scale(vec_add(*one, *next), weight[1]));
        out[stride * i] = vec_add(sum, vec_scale(vec_add(*two, *after), weight[2]));
    }
}

static void blur(const render_scene *scene, vec3 *light, vec3 *spare, float sigma)
{
    float weight[3], total = 0;
    for (int i = 0; i < 3; i++) {
        weight[i] = expf(-0.5f * (float)(i * i) / (sigma * sigma));
        total += i ? 2 * weight[i] : weight[i];
    }
    for (int i = 0; i < 3; i++) weight[i] /= total;
    for (size_t row = 0; row < scene->height; row++)
        blur_line(pixel_at(spare, scene, 0, row), pixel_at(light, scene, 0, row), scene->width, 1, weight);
    for (size_t column = 0; column < scene->width; column++)
        blur_line(light + column, spare + column, scene->height, scene->width, weight);
}

/* ---- exposure and tone ---- */

static vec3 mean_light(const render_scene *scene, const vec3 *light)
{
    size_t pixels = scene->width * scene->height;
    double sum[3] = {0};
    for (size_t i = 0; i < pixels; i++) {
        sum[0] += (double)smaller(light[i].x, 2);
        sum[1] += (double)smaller(light[i].y, 2);
        sum[2] += (double)smaller(light[i].z, 2);
    }
    double n = (double)pixels;
    return vec((float)(sum[0] / n), (float)(sum[1] / n), (float)(sum[2] / n));
}

/* Gains as the camera's automatic finds them, a little off: it meters the mean, and half believes that it is grey. */
static vec3 choose_gains(const render_scene *scene, const vec3 *light, render_dice *dice)
{
    vec3 mean = mean_light(scene, light);
    float grey = 0.3f * mean.x + 0.55f * mean.y + 0.15f * mean.z;
    float trust = cli_render_roll(dice, 0.05f, 0.45f),
          exposure = 0.22f * expf(0.27f * cli_render_roll_normal(dice)) / grey;
    float warm = 0.07f * cli_render_roll_normal(dice), tint = 0.035f * cli_render_roll_normal(dice);
    return vec(exposure * powf(grey / mean.x, trust) * expf(warm), exposure * powf(grey / mean.y, trust) * expf(tint),
               exposure * powf(grey / mean.z, trust) * expf(-warm));
}

/* Value shown for the square root of the light: shoulder, gamma, contrast. */
static void fill_tones(float tones[TONES + 2], render_dice *dice)
{
    float contrast = cli_render_roll(dice, 0.15f, 0.6f), shoulder = cli_render_roll(dice, 1.2f, 2);
    for (int i = 0; i < TONES + 2; i++) {
        float root = 2 * (float)i / TONES, light = root * root;
        float value = powf(1 - expf(-shoulder * light), 0.4545f);
        tones[i] = clamp01(value + contrast * value * (1 - value) * (2 * value - 1) * 2);
    }
}

static float tone(const float tones[TONES + 2], float light)
{
    float at = smaller(0.5f * TONES * sqrtf(larger(light, 0)), TONES);
    int i = (int)at;
    return tones[i] + (at - (float)i) * (tones[i + 1] - tones[i]);
}

static void expose(const render_scene *scene, vec3 *light, render_dice *dice)
{
    float tones[TONES + 2];
    vec3 gain = choose_gains(scene, light, dice);
    float dim = cli_render_roll(dice, 0, 0.3f), colour = cli_render_roll(dice, 0.85f, 1.35f);
    fill_tones(tones, dice);
    for (size_t row = 0; row < scene->height; row++) {
        for (size_t column = 0; column < scene->width; column++) {
            vec3 *p = pixel_at(light, scene, column, row);
            float x = 2 * (float)column / (float)scene->width - 1, y = 2 * (float)row / (float)scene->height - 1;
            vec3 v = vec_scale(vec_times(*p, gain), 1 - 0.5f * dim * (x * x + y * y));
            v = vec(tone(tones, v.x), tone(tones, v.y), tone(tones, v.z));
            float grey = 0.3f * v.x + 0.59f * v.y + 0.11f * v.z;
            *p = vec_mix(vec(grey, grey, grey), v, colour);
        }
    }
}

/* ---- noise ---- */

/* Two of six bytes of a number for each channel: a triangle instead of a bell, a difference no one sees. */
static void add_noise(const render_scene *scene, vec3 *light, float sigma)
{
    enum { CHUNK = 256 };
    render_dice dice = cli_render_dice(&scene->stream, RENDER_SENSOR);
    size_t pixels = scene->width * scene->height;
    double numbers[CHUNK];
    float scale = sigma / 104.5f; /* the deviation of a sum of two bytes */
    for (size_t first = 0; first < pixels; first += CHUNK) {
        size_t count = pixels - first < CHUNK ? pixels - first : CHUNK;
        broad_random_fill(numbers, &dice.stream, first, count);
        for (size_t i = 0; i < count; i++) {
            uint64_t bits = (uint64_t)(numbers[i] * 0x1p48);
            float value[3];
            for (int c = 0; c < 3; c++, bits >>= 16)
                value[c] = (float)((int)(bits & 255) + (int)(bits >> 8 & 255) - 255);
            vec3 *p = &light[first + i];
            *p = vec_add(*p, vec_scale(vec(value[0], value[1], value[2]), scale));
        }
    }
}

/* ---- compression ---- */

typedef struct block {
    float at[BLOCK][BLOCK];
} block;

typedef struct tables {
    block waves, waves_turned; /* orthonormal: row k is the k-th wave; and transposed */
    block step[2];             /* of lightness and of colour */
} tables;

static void make_tables(tables *out, float coarseness)
{
    for (int k = 0; k < BLOCK; k++) {
        for (int i = 0; i < BLOCK; i++) {
            float wave = cosf((float)((2 * i + 1) * k) * 0.19634954f) * (k ? 0.5f : 0.35355339f);
            out->waves.at[k][i] = wave;
            out->waves_turned.at[i][k] = wave;
            /* Close to the tables that cameras use: steps grow with the frequency, for colour faster. */
            float frequency = (float)(i + k);
            out->step[0].at[k][i] = coarseness * (10 + 2 * frequency + 0.55f * frequency * frequency) / 255;
            out->step[1].at[k][i] = coarseness * smaller(16 + 6 * frequency + 1.5f * frequency * frequency, 99) / 255;
        }
    }
}

static block multiply(const block *a, const block *b)
{
    block out = {0};
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < BLOCK; k++)
            for (int j = 0; j < BLOCK; j++) out.at[i][j] += a->at[i][k] * b->at[k][j];
    return out;
}

static void squeeze(block *values, const tables *t, int colour)
{
    block half = multiply(&t->waves, values), waves = multiply(&half, &t->waves_turned);
    for (int i = 0; i < BLOCK; i++)
        for (int j = 0; j < BLOCK; j++) {
            float step = t->step[colour].at[i][j];
            waves.at[i][j] = step * (float)floor_int(waves.at[i][j] / step + 0.5f);
        }
    half = multiply(&t->waves_turned, &waves);
    *values = multiply(&half, &t->waves);
}

/* 16 x 16 pixels: lightness in four blocks, colour at half size in two. What is over the border repeats the last. */
static void compress_tile(const render_scene *scene, vec3 *light, const tables *t, size_t left, size_t top)
{
    block grey[4], colour[2] = {0};
    for (size_t i = 0; i < 4 * BLOCK * BLOCK; i++) {
        size_t x = i % (2 * BLOCK), y = i / (2 * BLOCK), column = left + x, row = top + y;
        column = column < scene->width ? column : scene->width - 1;
        row = row < scene->height ? row : scene->height - 1;
        const vec3 *p = pixel_at(light, scene, column, row);
        float value = 0.299f * p->x + 0.587f * p->y + 0.114f * p->z;
        grey[y / BLOCK * 2 + x / BLOCK].at[y % BLOCK][x % BLOCK] = value - 0.5f;
        colour[0].at[y / 2][x / 2] += 0.25f * 0.564f * (p->z - value);
        colour[1].at[y / 2][x / 2] += 0.25f * 0.713f * (p->x - value);
    }
    for (int i = 0; i < 4; i++) squeeze(&grey[i], t, 0);
    for (int i = 0; i < 2; i++) squeeze(&colour[i], t, 1);
    for (size_t y = 0; y < 2 * BLOCK && top + y < scene->height; y++)
        for (size_t x = 0; x < 2 * BLOCK && left + x < scene->width; x++) {
            float value = grey[y / BLOCK * 2 + x / BLOCK].at[y % BLOCK][x % BLOCK] + 0.5f;
            float blue = colour[0].at[y / 2][x / 2], red = colour[1].at[y / 2][x / 2];
            *pixel_at(light, scene, left + x, top + y) =
                vec(value + 1.402f * red, value - 0.344f * blue - 0.714f * red, value + 1.772f * blue);
        }
}

static void compress(const render_scene *scene, vec3 *light, float coarseness)
{
    tables t;
    make_tables(&t, coarseness);
    for (size_t top = 0; top < scene->height; top += 2 * BLOCK)
        for (size_t left = 0; left < scene->width; left += 2 * BLOCK) compress_tile(scene, light, &t, left, top);
}

void cli_render_develop(unsigned char *rgb, const render_scene *scene, vec3 *light, vec3 *spare)
{
    render_dice dice = cli_render_dice(&scene->stream, RENDER_CAMERA);
    dice.next = 64; /* after the numbers of the glare */
    float sigma = cli_render_roll(&dice, 0.35f, 0.95f), grit = cli_render_roll(&dice, 0.1f, 1);
    int stored = cli_render_chance(&dice, 0.6f);
    float coarseness = cli_render_roll(&dice, 0.15f, 0.9f);
    blur(scene, light, spare, sigma);
    expose(scene, light, &dice);
    add_noise(scene, light, 0.022f * grit * grit);
    if (stored) compress(scene, light, coarseness);
    for (size_t i = 0; i < scene->width * scene->height; i++) {
        rgb[3 * i] = (unsigned char)(255 * clamp01(light[i].x) + 0.5f);
        rgb[3 * i + 1] = (unsigned char)(255 * clamp01(light[i].y) + 0.5f);
        rgb[3 * i + 2] = (unsigned char)(255 * clamp01(light[i].z) + 0.5f);
    }
}
