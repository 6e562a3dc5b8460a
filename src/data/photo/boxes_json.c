/* Boxes in JSON: COCO files. */
#include "data/photo/boxes_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/json_fault.h"
#include "base/memory.h"
#include "base/status.h"

enum { PLACE_BYTES = 64, ID_BYTES = 32, COORDINATES = 4 };

/* *out is NaN where the value is no finite number. */
static double number_of(const json_t *value)
{
    double number = json_is_number(value) ? json_number_value(value) : NAN;
    return isfinite(number) ? number : NAN;
}

static broad__text text_of(const json_t *value)
{
    return (broad__text){json_string_value(value), json_string_length(value)};
}

/* ---- COCO ------------------------------------------------------------------------------------------------------ */

static int fail_place(const char *file, const char *list, size_t number, const char *fault)
{
    return broad__fail(BROAD_BAD_DATA, "%s: %s[%zu]%s", file, list, number, fault);
}

/* The number or text that stands for an image, as text. */
static int id_text(broad__text *out, char room[ID_BYTES], const json_t *id)
{
    if (json_is_string(id)) *out = text_of(id);
    else if (json_is_integer(id)) {
        snprintf(room, ID_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
        *out = broad__text_of(room);
    } else return -1;
    return 0;
}

typedef struct coco {
    const char *file;
    broad__boxes *boxes;
    broad__arena arena;
    broad__text_set ids; /* of images */
    size_t *owners;      /* ids.count */
    size_t room;
} coco;

static int add_image(coco *to, size_t number, const json_t *image)
{
    char room[ID_BYTES];
    broad__text id;
    const json_t *name = json_object_get(image, "file_name");
    if (!json_is_object(image)) return fail_place(to->file, "images", number, " is no object");
    if (id_text(&id, room, json_object_get(image, "id")) < 0)
        return fail_place(to->file, "images", number, ".id must be a whole number or text");
    if (!json_is_string(name) || !json_string_length(name))
        return fail_place(to->file, "images", number, ".file_name must be the name of a photo");
    if (broad__text_set_find(&to->ids, id) < to->ids.count)
        return fail_place(to->file, "images", number, ".id is that of another image, too");
    char *kept = broad__arena_take(&to->arena, id.count + 1);
    size_t owner, known = to->boxes->names.count;
    if (!kept) return BROAD_NO_MEMORY;
    if (id.count) memcpy(kept, id.bytes, id.count);
    int status = broad__boxes_owner(&owner, to->boxes, text_of(name), 0);
    if (status == BROAD_OK && owner < known)
        return fail_place(to->file, "images", number, ".file_name is that of another image, too");
    if (status == BROAD_OK)
        status = broad__grow(&to->owners, &to->room, to->ids.count + 1, sizeof *to->owners, BROAD__BOXES_MOST);
    if (status < 0) return status;
    to->owners[to->ids.count] = owner;
    return broad__text_set_add(&to->ids, (broad__text){kept, id.count}, BROAD__BOXES_MOST);
}

/* No score is no fault, a wrong one is. */
static int read_score(double *out, const json_t *score)
{
    *out = NAN;
    if (!score || json_is_null(score)) return 0;
    *out = number_of(score);
    return isnan(*out) ? -1 : 0;
}

static int add_annotation(coco *to, size_t number, const json_t *annotation)
{
    static const char list[] = "annotations";
    char room[ID_BYTES];
    broad__text id;
    double v[COORDINATES], score;
    const json_t *box = json_object_get(annotation, "bbox");
    if (!json_is_object(annotation)) return fail_place(to->file, list, number, " is no object");
    if (id_text(&id, room, json_object_get(annotation, "image_id")) < 0)
        return fail_place(to->file, list, number, ".image_id must be a whole number or text");
    size_t image = broad__text_set_find(&to->ids, id);
    if (image == to->ids.count)
        return fail_place(to->file, list, number, ".image_id is that of no image in the list of images");
    if (!json_is_array(box) || json_array_size(box) != COORDINATES)
        return fail_place(to->file, list, number, ".bbox must be four numbers: [x, y, width, height]");
    for (size_t i = 0; i < COORDINATES; i++) {
        v[i] = number_of(json_array_get(box, i));
        if (isnan(v[i])) return fail_place(to->file, list, number, ".bbox must be four numbers: [x, y, width, height]");
    }
    if (read_score(&score, json_object_get(annotation, "score")) < 0)
        return fail_place(to->file, list, number, ".score must be a number");
    broad__box made = {v[0], v[1], v[0] + v[2], v[1] + v[3], score, 0};
    const char *fault = broad__box_fault(&made);
    if (fault) return broad__fail(BROAD_BAD_DATA, "%s: %s[%zu].bbox: %s", to->file, list, number, fault);
    return broad__boxes_add(to->boxes, to->owners[image], &made);
}

static int read_lists(coco *to, const json_t *root)
{
    const json_t *images = json_object_get(root, "images"), *annotations = json_object_get(root, "annotations");
    if (json_is_array(root))
        return broad__fail(BROAD_BAD_DATA,
                           "%s: a list of results without the images they belong to; put it into {\"images\": [...], "
                           "\"annotations\": [...]}",
                           to->file);
    if (!json_is_array(images))
        return broad__fail(BROAD_BAD_DATA, "%s: no list \"images\"; a COCO file has \"images\" and \"annotations\"",
                           to->file);
    if (!json_is_array(annotations))
        return broad__fail(BROAD_BAD_DATA,
                           "%s: no list \"annotations\"; a COCO file has \"images\" and \"annotations\"", to->file);
    int status = BROAD_OK;
    for (size_t i = 0; i < json_array_size(images) && status == BROAD_OK; i++)
        status = add_image(to, i, json_array_get(images, i));
    for (size_t i = 0; i < json_array_size(annotations) && status == BROAD_OK; i++)
        status = add_annotation(to, i, json_array_get(annotations, i));
    return status;
}

/* *out, or the fault of the text in *error. */
static int parse(json_t **out, json_error_t *error, const char *bytes, size_t count)
{
    size_t room = 0, first = 0;
    char *wrapped = broad__json_wrap(&room, &first, bytes, count);
    if (!wrapped) return BROAD_NO_MEMORY;
    json_t *pair = json_loadb(wrapped, room, JSON_REJECT_DUPLICATES, error);
    int lacks_memory = pair ? json_string_length(json_array_get(pair, 0)) != first
                            : json_error_code(error) == json_error_out_of_memory ||
                                  broad__json_fault_is_memory(error->text, error->position, wrapped, room);
    if (json_array_size(pair) == 2) *out = json_incref(json_array_get(pair, 1));
    json_decref(pair);
    broad__free(wrapped);
    if (lacks_memory) return broad__fail(BROAD_NO_MEMORY, "out of memory: the JSON has no room");
    if (*out) return BROAD_OK;
    json_decref(json_loadb(bytes, count, JSON_REJECT_DUPLICATES, error)); /* once more, for the place of the fault */
    return BROAD_BAD_DATA;
}

int broad__boxes_read_coco(broad__boxes *out, const broad__source *source)
{
    coco to = {.file = source->name, .boxes = out};
    json_t *root = NULL;
    json_error_t error;
    size_t skip = source->count >= 3 && memcmp(source->bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    int status = parse(&root, &error, source->bytes + skip, source->count - skip);
    if (status == BROAD_BAD_DATA)
        return broad__fail(status, "%s:%d:%d: no valid JSON: %s", source->name, error.line, error.column, error.text);
    if (status == BROAD_OK) status = read_lists(&to, root);
    broad__arena_clear(&to.arena);
    broad__text_set_clear(&to.ids);
    broad__free(to.owners);
    json_decref(root);
    return status;
}
