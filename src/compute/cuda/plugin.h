/*
 * What libbroad and libbroad-cuda.so, which it loads when `--device cuda` asks for it, know of each other. The library is
 * not linked to CUDA; a machine without it lacks the device and nothing else.
 */
#ifndef BROAD_COMPUTE_CUDA_PLUGIN_H
#define BROAD_COMPUTE_CUDA_PLUGIN_H

#include <stdint.h>

#include "compute/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of two builds that lay out differently what they pass to each other, one must refuse the other: sizes tell, and a number where
 * they would not. */
enum {
    BROAD__CUDA_VERSION = 3,
    BROAD__CUDA_ABI = BROAD__CUDA_VERSION << 16 |
                      (sizeof(broad__device) + sizeof(broad__memory) + sizeof(broad__nodes) + sizeof(broad__side)),
    BROAD__CUDA_NAME = 128
};

/* What the plug-in is given. */
typedef struct broad__cuda_host {
    int abi;
    const broad__device *cpu;                  /* for what is too small to be sent away */
    int (*fail)(int status, const char *text); /* records a message, and returns the status */
} broad__cuda_host;

typedef struct broad__cuda_facts {
    char name[BROAD__CUDA_NAME];
    size_t devices;
    size_t memory, available; /* bytes */
    double gigaflops;         /* of a large product in double precision; 0: not measured */
    double gigabytes;         /* per second, read and written, of a copy within its memory; 0: not measured */
} broad__cuda_facts;

/* What it gives. */
typedef struct broad__cuda_plugin {
    int abi;
    const broad__device *device;
    int (*inspect)(broad__cuda_facts *out, int measure);
    /* out[i] = the number of element first + i of a stream (rng/philox.h), in the device's memory. */
    void (*random)(double *out, uint64_t seed, const uint32_t words[3], uint64_t first, size_t count);
    int (*settle)(void); /* waits until everything is done. 0, or a status */
} broad__cuda_plugin;

typedef const broad__cuda_plugin *(*broad__cuda_opener)(const broad__cuda_host *host);
/* NULL where there is no device, with a message. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const broad__cuda_plugin *
broad_cuda_open(const broad__cuda_host *host);

#ifdef __cplusplus
}
#endif

#endif
