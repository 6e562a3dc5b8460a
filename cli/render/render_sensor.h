/* The camera. */
#ifndef BROAD_CLI_RENDER_RENDER_SENSOR_H
#define BROAD_CLI_RENDER_RENDER_SENSOR_H

#include "render/render_scene.h"

/* From light to bytes: blur, exposure, white balance, tone, noise, compression. `spare` is as large as `light`. */
void cli_render_develop(unsigned char *rgb, const render_scene *scene, vec3 *light, vec3 *spare);

#endif
