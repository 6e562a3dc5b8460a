/* Dirt on the panel. */
#ifndef BROAD_CLI_RENDER_RENDER_DIRT_H
#define BROAD_CLI_RENDER_RENDER_DIRT_H

#include "render/render_scene.h"

float cli_render_density(const render_scene *scene, const render_hit *hit);
/* Draws droppings and leaves into `spots`, which is zero, and then finds the amount of film that gives the severity. */
void cli_render_settle(render_scene *scene, render_spot_pixel *spots);

#endif
