/*
 * Bytes as a box file or as a detector's answer; the first byte chooses which. What is read must be sound, and every name of
 * it must be found again.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "broad/broad.h"
#include "data/photo/boxes.h"
#include "io/detector_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void must(int holds)
{
    if (!holds) abort();
}

static void check_box(const broad__box *box)
{
    must(isfinite(box->left) && isfinite(box->top) && isfinite(box->right) && isfinite(box->bottom));
    must(box->right > box->left && box->bottom > box->top && !isinf(box->score));
}

static void check_boxes(const broad__boxes *boxes)
{
    size_t found = 0;
    for (size_t i = 0; i < boxes->names.count; i++) {
        broad_box_list list = {0};
        broad__text text = boxes->names.texts[i];
        char *name = broad__copy_bytes(text.bytes, text.count);
        must(name && broad__boxes_find(&list, boxes, name) == BROAD_OK);
        for (size_t k = 0; k < list.count; k++) check_box(&list.items[k]);
        found += list.count;
        broad__box_list_clear(&list);
        broad__free(name);
    }
    must(found == boxes->count);
    broad_box_list list = {0};
    int status = broad__boxes_find(&list, boxes, "x/a.jpg");
    must(status == BROAD_OK || status == BROAD_BAD_DATA);
    broad__box_list_clear(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (!count) return 0;
    if (bytes[0] % 3 == 2) {
        broad_box_list list = {0};
        int status = cli_detector_answer(&list, (const char *)bytes + 1, count - 1, "a.jpg");
        must(status == BROAD_OK || status == BROAD_BAD_DATA || status == BROAD_FAILED);
        for (size_t i = 0; i < list.count; i++) check_box(&list.items[i]);
        broad__box_list_clear(&list);
        return 0;
    }
    broad__boxes *boxes = NULL;
    int status = broad__boxes_read_bytes(&boxes, "a.jpg", bytes + 1, count - 1, bytes[0] % 3);
    must(status == BROAD_OK || (!boxes && status != BROAD_BUG && broad_error_message()[0]));
    if (status == BROAD_OK) check_boxes(boxes);
    broad__boxes_free(boxes);
    return 0;
}
