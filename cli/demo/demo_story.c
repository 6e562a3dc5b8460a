#include "demo/demo_story.h"

#include <math.h>

const char *const demo_classes[2] = {"Clean", "Dusty"};

int demo_is_right(const demo_photo *photo, const demo_verdict *verdict) { return photo->truth == verdict->label; }

size_t demo_count_right(const demo_story *story, int after, int corrected)
{
    size_t right = 0;
    for (size_t i = 0; i < story->fresh_count; i++) {
        const demo_photo *photo = &story->fresh[i];
        right += photo->corrected == corrected && demo_is_right(photo, after ? &photo->after : &photo->before);
    }
    return right;
}

double demo_accuracy(const json_t *result, const char *part)
{
    const json_t *value = json_object_get(json_object_get(result, part), "accuracy");
    return json_is_number(value) ? json_number_value(value) : NAN;
}
