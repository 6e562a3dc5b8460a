#include "image/codec/heif_library.h"

#if BROAD_WITH_HEIF
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef struct function {
    const char *name;
    void *to; /* a pointer to a function */
} function;

static broad__heif_library heif;
static int loaded;

static void load(void)
{
    const function functions[] = {
        {"heif_context_alloc", &heif.context_alloc},
        {"heif_context_free", &heif.context_free},
        {"heif_context_set_max_decoding_threads", &heif.context_set_max_decoding_threads},
        {"heif_context_read_from_memory_without_copy", &heif.context_read_from_memory_without_copy},
        {"heif_context_get_primary_image_handle", &heif.context_get_primary_image_handle},
        {"heif_image_handle_get_width", &heif.image_handle_get_width},
        {"heif_image_handle_get_height", &heif.image_handle_get_height},
        {"heif_image_handle_get_list_of_metadata_block_IDs", &heif.image_handle_get_list_of_metadata_block_IDs},
        {"heif_image_handle_get_metadata_size", &heif.image_handle_get_metadata_size},
        {"heif_image_handle_get_metadata", &heif.image_handle_get_metadata},
        {"heif_image_handle_release", &heif.image_handle_release},
        {"heif_decode_image", &heif.decode_image},
        {"heif_image_get_plane_readonly", &heif.image_get_plane_readonly},
        {"heif_image_get_width", &heif.image_get_width},
        {"heif_image_get_height", &heif.image_get_height},
        {"heif_image_release", &heif.image_release},
    };
    void *library = dlopen(BROAD_HEIF_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    loaded = library != NULL;
    for (size_t i = 0; loaded && i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(library, functions[i].name);
        memcpy(functions[i].to, &found, sizeof found);
        if (!found) loaded = 0;
    }
}

const broad__heif_library *broad__heif_library_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return loaded ? &heif : NULL;
}
#endif
