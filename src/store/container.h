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
    int large; /* worth being used in place */
} broad__tensor;

/* The file's bytes, freed with broad__free(). */
int broad__container_encode(void **out, size_t *out_bytes, const char *weights, const char *model,
                            const broad__tensor *tensors, size_t count);

/* An open container: its sizes, offsets and checksums hold. Points into the bytes it was opened from. */
typedef struct broad__container {
    json_t *header;
    const unsigned char *text; /* of the header */
    const unsigned char *data;
    size_t data_bytes;
    const char *weights, *model; /* metadata texts of the same names */
    char *taken;                 /* the latter, if it was taken out of the header before that was parsed */
} broad__container;

/* Whether these first bytes of a file can be those of a model that this version reads. */
int broad__container_check_start(const void *bytes, size_t count);
int broad__container_open(broad__container *out, const void *bytes, size_t count);
/* The same in two steps, so that the sizes are known to agree before the data are read. First the bytes before the data, of a
 * file of `count` bytes, which outlive the second step; how many these are, the start tells. */
int broad__container_header_bytes(size_t *out, const void *start, size_t start_bytes, size_t count);
int broad__container_open_header(broad__container *out, const void *bytes, size_t count);
int broad__container_take_data(broad__container *container, const void *data);
void broad__container_close(broad__container *container);

/* Which tensors are to lie in the container's bytes, where these are doubles as this machine has them: they must not be written
 * to or freed. All others are allocated. */
typedef enum broad__in_place { BROAD__IN_PLACE_NONE, BROAD__IN_PLACE_LARGE, BROAD__IN_PLACE_ALL } broad__in_place;

/* Reads exactly these tensors, in this order. Refuses others, other shapes, and values that are not finite. */
int broad__container_read(const broad__container *container, const broad__tensor *tensors, size_t count,
                          broad__in_place in_place);

#endif
