/*
 * The safetensors container: 8 bytes of header length, a JSON header, raw little-endian tensors; see docs/model-format.md.
 * It knows nothing of models. Both checksums lie at fixed places, right after the format and its version.
 */
#ifndef BROAD_STORE_CONTAINER_H
#define BROAD_STORE_CONTAINER_H

#include <jansson.h>
#include <stddef.h>

enum {
    BROAD__TENSOR_NAME = 40,
    BROAD__CONTAINER_START = 128 /* bytes that suffice for broad__container_check_start() */
};

/* A tensor of doubles that is to be written from, or read into, *values. */
typedef struct broad__tensor {
    char name[BROAD__TENSOR_NAME];
    size_t dims; /* 1 or 2 */
    size_t shape[2];
    double **values;
} broad__tensor;

/* The file's bytes, freed with broad__free(). */
int broad__container_encode(void **out, size_t *out_bytes, const char *weights, const char *model,
                            const broad__tensor *tensors, size_t count);

/* An open container: its sizes, offsets and checksums hold. Points into the bytes it was opened from. */
typedef struct broad__container {
    json_t *header;
    const unsigned char *data;
    size_t data_bytes;
    const char *weights, *model; /* metadata texts of the same names */
} broad__container;

/* Whether these first bytes of a file can be those of a model that this version reads. */
int broad__container_check_start(const void *bytes, size_t count);
int broad__container_open(broad__container *out, const void *bytes, size_t count);
void broad__container_close(broad__container *container);

/* Reads exactly these tensors, in this order; every *values is allocated here. Refuses others, other shapes, and values
 * that are not finite. */
int broad__container_read(const broad__container *container, const broad__tensor *tensors, size_t count);
/* The same, but *values points into the container's bytes where these are doubles as this machine has them; then it must not be
 * written to or freed. */
int broad__container_view(const broad__container *container, const broad__tensor *tensors, size_t count);

#endif
