#include "demo/demo_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_RIGHT = 4 };

static long long whole(const json_t *object, const char *name)
{
    return (long long)json_integer_value(json_object_get(object, name));
}

/* ---- text ---- */

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

void demo_print_photos(const demo_story *story)
{
    printf("photos       %zu drawn in %.1f s: %zu to learn from in %s/Clean and\n"
           "             %s/Dusty, and %zu others without labels in %s\n",
           story->count + story->fresh_count, story->seconds.render, story->count, story->at[DEMO_PHOTOS],
           story->at[DEMO_PHOTOS], story->fresh_count, story->at[DEMO_NEW]);
}

static void print_maps(const json_t *maps)
{
    for (size_t i = 0; i < json_array_size(maps); i++)
        printf("%s%s", i ? " + " : "", json_string_value(json_array_get(maps, i)));
}

void demo_print_fit(const demo_story *story)
{
    long long rows = whole(story->fit, "rows");
    printf("training     %lld of the %zu photos, %.1f s, seen as ", rows, story->count, story->seconds.fit);
    print_maps(json_object_get(json_object_get(story->fit, "photos"), "maps"));
    printf(", which leave-one-out chose\n             accuracy %.3f by leave-one-out, %.3f on the %lld kept apart\n",
           demo_accuracy(story->fit, "loo"), demo_accuracy(story->fit, "test"), (long long)story->count - rows);
}

static void print_verdict(const demo_photo *photo)
{
    double probability = photo->before.label ? photo->before.probability : 1 - photo->before.probability;
    printf("             %-18s %-8s %11.2f%s\n", photo->name, demo_classes[photo->before.label], probability,
           demo_is_right(photo, &photo->before) ? "" : "  wrong");
}

/* All that are wrong and the first that are not. */
void demo_print_verdicts(const demo_story *story)
{
    size_t right = demo_count_right(story, 0, 0), shown = 0, wrong = story->fresh_count - right;
    printf("verdicts     %zu new photos with heat maps, %.1f s: %zu right, %zu wrong\n\n", story->fresh_count,
           story->seconds.predict, right, wrong);
    printf("             %-18s %-8s %11s\n", "photo", "verdict", "probability");
    for (size_t i = 0; i < story->fresh_count && (shown < SHOWN_RIGHT || wrong); i++) {
        int fine = demo_is_right(&story->fresh[i], &story->fresh[i].before);
        if (fine && shown++ >= SHOWN_RIGHT) continue;
        if (!fine) wrong--;
        print_verdict(&story->fresh[i]);
    }
    printf("\n");
}

/* Right verdicts on the photos that training kept apart. */
static double right_apart(const json_t *result)
{
    return round(demo_accuracy(result, "test") * (double)whole(json_object_get(result, "test"), "rows"));
}

void demo_print_correction(const demo_story *story)
{
    size_t count = story->corrections, before = demo_count_right(story, 0, 1);
    long long apart = whole(json_object_get(story->learn, "test"), "rows");
    printf("correction   ");
    if (before) printf("none was wrong, so the %zu least certain are confirmed", count);
    else printf("%zu wrong one%s put right in %s", count, plural(count), story->at[DEMO_CORRECTED]);
    printf(" and learned, %.1f s\n\n", story->seconds.learn);
    printf("             right verdicts on %8s %8s\n", "before", "after");
    printf("             the %2zu %s  %8zu %8zu\n", count, before ? "confirmed" : "corrected", before,
           demo_count_right(story, 1, 1));
    printf("             the %2zu others     %8zu %8zu\n", story->fresh_count - count, demo_count_right(story, 0, 0),
           demo_count_right(story, 1, 0));
    printf("             the %2lld kept apart %8.0f %8.0f\n\n", apart, right_apart(story->fit),
           right_apart(story->learn));
    if (demo_count_right(story, 0, 0) == story->fresh_count - count)
        printf("             every other one was right before, so these can only lose; those kept apart are the fair "
               "test\n\n");
}

static void print_commands(void)
{
    printf("\nthe same with photos of your own, in one folder a class\n"
           "  broad fit PHOTOS/ --holdout 0.3\n"
           "  broad predict model.broad NEW/ --proba --heatmap heatmaps\n"
           "  broad learn model.broad CORRECTED/ --with PHOTOS/\n"
           "  broad verify model.broad PHOTOS/ CORRECTED/\n"
           "  broad report model.broad NEW/ -o report\n");
}

static void print_certificate(const json_t *check)
{
    if (json_is_true(json_object_get(check, "holds")))
        printf("certificate  holds: recomputed from %lld photos, norm %.4f of the first, at most %.4f by the bounds\n",
               whole(check, "rows"), json_number_value(json_object_get(check, "reached")),
               json_number_value(json_object_get(check, "product_bound")));
    else printf("certificate  does NOT hold: %s\n", json_string_value(json_object_get(check, "reason")));
}

void demo_print_end(const demo_story *story)
{
    print_certificate(story->verify);
    printf("report       %lld dusty, %lld unsure, %lld clean; %.1f s\n", whole(story->report, "positive_count"),
           whole(story->report, "unsure_count"), whole(story->report, "negative_count"), story->seconds.report);
    printf("time         %.1f s in all\n\nwhat to look at\n", story->seconds.total);
    printf("  %-40s the report, in a browser\n", json_string_value(json_object_get(story->report, "html")));
    printf("  %-40s what in a photo speaks for dust\n", story->at[DEMO_HEATMAPS]);
    printf("  %-40s how dirty each of them really is\n", story->at[DEMO_NEW_TRUTH]);
    print_commands();
}

/* ---- JSON ---- */

static json_t *count_json(size_t count) { return json_integer((json_int_t)count); }

static json_t *part_json(const demo_story *story, int corrected)
{
    json_t *object = json_object();
    size_t count = corrected ? story->corrections : story->fresh_count - story->corrections;
    cli_json_put(object, "photos", count_json(count));
    cli_json_put(object, "right_before", count_json(demo_count_right(story, 0, corrected)));
    cli_json_put(object, "right_after", count_json(demo_count_right(story, 1, corrected)));
    return object;
}

static json_t *verdict_json(const demo_verdict *verdict)
{
    json_t *object = json_object();
    cli_json_put(object, "label", cli_json_text(demo_classes[verdict->label]));
    cli_json_put(object, "probability", cli_json_real(verdict->probability));
    return object;
}

static json_t *verdicts_json(const demo_story *story)
{
    json_t *list = json_array();
    for (size_t i = 0; i < story->fresh_count; i++) {
        const demo_photo *photo = &story->fresh[i];
        json_t *object = json_object();
        cli_json_put(object, "file", cli_json_text(photo->name));
        cli_json_put(object, "truth", cli_json_text(demo_classes[photo->truth]));
        cli_json_put(object, "corrected", json_boolean(photo->corrected));
        cli_json_put(object, "before", verdict_json(&photo->before));
        cli_json_put(object, "after", verdict_json(&photo->after));
        cli_json_append(list, object);
    }
    return list;
}

static json_t *accuracies_json(const json_t *result)
{
    json_t *object = json_object();
    cli_json_put(object, "loo", cli_json_real(demo_accuracy(result, "loo")));
    cli_json_put(object, "kept_apart", cli_json_real(demo_accuracy(result, "test")));
    return object;
}

static json_t *seconds_json(const demo_story *story)
{
    json_t *object = json_object();
    cli_json_put(object, "render", cli_json_real(story->seconds.render));
    cli_json_put(object, "fit", cli_json_real(story->seconds.fit));
    cli_json_put(object, "predict", cli_json_real(story->seconds.predict));
    cli_json_put(object, "learn", cli_json_real(story->seconds.learn));
    cli_json_put(object, "verify", cli_json_real(story->seconds.verify));
    cli_json_put(object, "report", cli_json_real(story->seconds.report));
    cli_json_put(object, "total", cli_json_real(story->seconds.total));
    return object;
}

int demo_print_json(const demo_story *story)
{
    json_t *object = cli_json_object("demo");
    cli_json_put(object, "what", cli_json_text("photos"));
    cli_json_put(object, "seed", cli_json_uint(story->seed));
    cli_json_put(object, "photos", count_json(story->count));
    cli_json_put(object, "trained_on", json_incref(json_object_get(story->fit, "rows")));
    cli_json_put(object, "maps", json_incref(json_object_get(json_object_get(story->fit, "photos"), "maps")));
    cli_json_put(object, "accuracy_before", accuracies_json(story->fit));
    cli_json_put(object, "accuracy_after", accuracies_json(story->learn));
    cli_json_put(object, "corrected", part_json(story, 1));
    cli_json_put(object, "others", part_json(story, 0));
    cli_json_put(object, "new", verdicts_json(story));
    cli_json_put(object, "holds", json_incref(json_object_get(story->verify, "holds")));
    cli_json_put(object, "model", cli_json_text(story->at[DEMO_MODEL]));
    cli_json_put(object, "corrected_model", cli_json_text(story->at[DEMO_CORRECTED_MODEL]));
    cli_json_put(object, "heatmaps", cli_json_text(story->at[DEMO_HEATMAPS]));
    cli_json_put(object, "report", json_incref(json_object_get(story->report, "html")));
    cli_json_put(object, "seconds", seconds_json(story));
    return cli_json_give(story->arguments, object);
}
