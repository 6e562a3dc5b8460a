/* Colours: the surroundings, the glass and the panel. */
#ifndef BROAD_CLI_RENDER_RENDER_SURFACE_H
#define BROAD_CLI_RENDER_RENDER_SURFACE_H

#include "render/render_scene.h"

vec3 cli_render_surroundings(const render_scene *scene, vec3 ray);
/* The array at a hit, under dirt that lets `transmittance` of the light through, with a spot on top. */
vec3 cli_render_panel(const render_scene *scene, const render_hit *hit, vec3 mirrored, float transmittance,
                      const render_spot_pixel *spot);
vec3 cli_render_mirrored(const render_scene *scene, vec3 ray); /* what clean glass reflects to the camera */

#endif
