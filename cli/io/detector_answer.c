#include "io/detector_answer.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/json_fault.h"
#include "base/status.h"
#include "base/utf8.h"

#define ANSWER "{\"file\": \"a.jpg\", \"boxes\": [[left, top, right, bottom, score], ...]}"
enum { COORDINATES = 4, REASON_SHOWN = 200 };

static int add_box(broad_box_list *out, size_t number, const json_t *box)
{
    size_t count = json_array_size(box);
    double v[COORDINATES + 1] = {0, 0, 0, 0, NAN};
    if (!json_is_array(box) || count < COORDINATES || count > COORDINATES + 1)
        return broad__fail(BROAD_FAILED, "boxes[%zu] must be four or five numbers: [left, top, right, bottom, score]",
                           number);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(box, i);
        if (!json_is_number(value)) return broad__fail(BROAD_FAILED, "boxes[%zu][%zu] is no number", number, i);
        v[i] = json_number_value(value);
    }
    int status = broad_box_list_add(out, v[0], v[1], v[2], v[3], v[4]);
    if (status != BROAD_BAD_DATA) return status;
    char place[64];
    snprintf(place, sizeof place, "boxes[%zu]", number);
    return broad__fail_in(BROAD_FAILED, place);
}

/* The program's own words, without blanks at either end. */
static int refuse(const char *file, const char *reason)
{
    size_t count = strlen(reason);
    while (count && isspace((unsigned char)*reason)) reason++, count--;
    while (count && isspace((unsigned char)reason[count - 1])) count--;
    if (count > REASON_SHOWN) count = REASON_SHOWN;
    return broad__fail(BROAD_BAD_DATA, "%s: the detector says: %.*s", file, (int)count, reason);
}

static int read_answer(broad_box_list *out, const json_t *root, const char *file)
{
    const json_t *boxes = json_object_get(root, "boxes"), *error = json_object_get(root, "error");
    const char *name = json_string_value(json_object_get(root, "file"));
    char quoted[BROAD__QUOTE_BYTES];
    if (!json_is_object(root)) return broad__fail(BROAD_FAILED, "it is no object such as " ANSWER);
    if (!name) return broad__fail(BROAD_FAILED, "it names no \"file\"; " ANSWER " is expected");
    if (strcmp(name, file) != 0)
        return broad__fail(BROAD_FAILED,
                           "it is about the file %s; each name must be answered once, in the order they come",
                           broad__utf8_quote(quoted, name, strlen(name)));
    if (json_is_string(error)) return refuse(file, json_string_value(error));
    if (error) return broad__fail(BROAD_FAILED, "its \"error\" must be text");
    if (!json_is_array(boxes)) return broad__fail(BROAD_FAILED, "it has no list \"boxes\"; " ANSWER " is expected");
    int status = BROAD_OK;
    for (size_t i = 0; i < json_array_size(boxes) && status == BROAD_OK; i++)
        status = add_box(out, i, json_array_get(boxes, i));
    return status;
}

int cli_detector_answer(broad_box_list *out, const char *line, size_t count, const char *file)
{
    json_error_t error;
    json_t *root = json_loadb(line, count, JSON_REJECT_DUPLICATES, &error);
    if (!root && (json_error_code(&error) == json_error_out_of_memory ||
                  broad__json_fault_is_memory(error.text, error.position, line, count)))
        return broad__fail(BROAD_NO_MEMORY, "out of memory: the answer of the detector has no room");
    if (!root)
        return broad__fail(BROAD_FAILED,
                           "it is no JSON (%s); print nothing but answers to standard output, and everything else to "
                           "standard error",
                           error.text);
    int status = read_answer(out, root, file);
    json_decref(root);
    return status;
}
