/* The picture of the spirals. */
#ifndef BROAD_CLI_DEMO_DEMO_PICTURE_H
#define BROAD_CLI_DEMO_DEMO_PICTURE_H

#include "broad/broad.h"

enum { DEMO_NETWORKS = 2 };

/* Colours of the two classes; also their labels in the table. */
extern const char *const demo_labels[2];

typedef struct demo_network {
    const char *name;
    broad_model *model;
    broad_seconds seconds;
    double accuracy;
} demo_network;

/* Decision regions of the last network with the points of `shown`, and the norm after each layer of all networks.
 * Points lie in [-extent, extent]. */
int demo_write_picture(const char *path, const demo_network networks[DEMO_NETWORKS], const broad_data *shown,
                       double extent);

#endif
