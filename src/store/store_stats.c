#include "store/store_stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "store/container.h"
#include "store/fields.h"

enum { TENSORS = 5 };

static const char kind[] = "sums";

static void list_tensors(broad__tensor out[TENSORS], broad_stats *stats)
{
    size_t n = stats->nodes, c = stats->outputs;
    out[0] = (broad__tensor){"gram", 2, {n, n}, &stats->gram, 0};
    out[1] = (broad__tensor){"gram.low", 2, {n, n}, &stats->gram_low, 0};
    out[2] = (broad__tensor){"cross", 2, {n, c}, &stats->cross, 0};
    out[3] = (broad__tensor){"cross.low", 2, {n, c}, &stats->cross_low, 0};
    out[4] = (broad__tensor){"square", 1, {2, 0}, &stats->square, 0};
}

#define COUNT(name, member)                                                                                            \
    {                                                                                                                  \
        name, BROAD__FIELD_COUNT, offsetof(broad_stats, member), 0, NULL, 1, 0x1p40                                    \
    }
static const broad__field stats_fields[] = {
    COUNT("rows", rows),
    COUNT("nodes", nodes),
    COUNT("outputs", outputs),
    {"model", BROAD__FIELD_HASH, offsetof(broad_stats, model), 0, NULL, 0, 0},
};
enum { FIELDS = sizeof stats_fields / sizeof stats_fields[0] };

static int describe(char **out, const broad_stats *stats)
{
    json_t *object = json_object();
    if (!object) return broad__json_fail_memory();
    size_t bytes;
    int status = broad__fields_encode(object, stats, stats_fields, FIELDS, "sums");
    if (status == BROAD_OK) status = broad__json_text(out, &bytes, object);
    json_decref(object);
    return status;
}

int broad__stats_encode(void **out, size_t *out_bytes, const broad_stats *stats)
{
    broad_stats copy = *stats;
    broad__tensor tensors[TENSORS];
    char *text = NULL;
    list_tensors(tensors, &copy);
    int status = describe(&text, stats);
    if (status == BROAD_OK) status = broad__container_encode(out, out_bytes, kind, text, tensors, TENSORS);
    broad__free(text);
    return status;
}

int broad__stats_save(const broad_stats *stats, const char *path)
{
    void *bytes = NULL;
    size_t count = 0;
    broad__replacement file;
    int status = broad__stats_encode(&bytes, &count, stats);
    if (status == BROAD_OK) status = broad__replace_begin(&file, path);
    if (status == BROAD_OK) {
        status = broad__replace_write(&file, bytes, count);
        if (status == BROAD_OK) status = broad__replace_commit(&file);
        else broad__replace_abandon(&file);
    }
    broad__free(bytes);
    return status;
}

static int read_description(broad_stats *out, const broad__container *container)
{
    json_t *object = NULL;
    if (strcmp(container->weights, kind) != 0)
        return broad__fail(BROAD_BAD_MODEL, "this is a model, not the sums of one");
    int status = broad__json_parse(&object, container->model, strlen(container->model), "sums");
    if (status == BROAD_OK) status = broad__fields_decode(out, object, stats_fields, FIELDS, "sums");
    json_decref(object);
    return status;
}

static int read_sums(broad_stats *out, const void *bytes, size_t count, const broad_model *model)
{
    broad__container container;
    broad__tensor tensors[TENSORS];
    int status = broad__container_open(&container, bytes, count);
    if (status < 0) return status;
    status = read_description(out, &container);
    if (status == BROAD_OK) status = broad__stats_belong(out, model);
    list_tensors(tensors, out);
    if (status == BROAD_OK) status = broad__container_read(&container, tensors, TENSORS, BROAD__IN_PLACE_NONE);
    broad__container_close(&container);
    return status;
}

int broad__stats_decode(broad_stats **out, const void *bytes, size_t count, const broad_model *model)
{
    broad_stats *stats = broad__alloc(sizeof *stats);
    int status = stats ? read_sums(stats, bytes, count, model) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) *out = stats;
    else broad__stats_free(stats);
    return status;
}

int broad__stats_load(broad_stats **out, const char *path, const broad_model *model)
{
    void *bytes = NULL;
    size_t count = 0;
    int status = broad__file_read(&bytes, &count, path, SIZE_MAX / 2);
    if (status < 0) return status;
    status = broad__stats_decode(out, bytes, count, model);
    broad__free(bytes);
    return status == BROAD_BAD_MODEL ? broad__fail_in(status, path) : status;
}
