/* The model file: a safetensors container with the model's settings and certificate in its metadata. */
#ifndef BROAD_STORE_STORE_H
#define BROAD_STORE_STORE_H

#include "model/model.h"

/* The whole file as bytes, freed with broad__free(). compact: weights that the seed draws again are left out. */
int broad__store_encode(void **out, size_t *out_bytes, const broad_model *model, int compact);

/* Checks every size before it allocates and every value before it uses it; BROAD_BAD_MODEL with the reason. */
int broad__store_decode(broad_model **out, const void *bytes, size_t count);

/* What prediction needs of a file. The bytes are used in place where they can be: they must outlive the predictor. */
int broad__store_predictor(broad_predictor **out, const void *bytes, size_t count);
int broad__store_load_predictor(broad_predictor **out, const char *path);

int broad__store_save(const broad_model *model, const char *path, int compact);
int broad__store_load(broad_model **out, const char *path);

/* Settings and certificate as JSON text, as in the file's metadata; freed with broad__free(). */
int broad__store_json(char **out, const broad_model *model);

#endif
