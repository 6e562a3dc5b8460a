#include "demo/demo_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/show.h"

enum { SHOWN_RIGHT = 4 };

static long long whole(const json_t *object, const char *name)
{
    return (long long)json_integer_value(json_object_get(object, name));
}

/* ---- text ---- */

void demo_print_photos(const demo_story *story)
{
    cli_print("photos       %zu made in %.1f s: %zu to learn from in %s/Clean and\n"
              "             %s/Dusty, and %zu new ones without labels in %s\n",
              story->count + story->fresh_count, story->seconds.render, story->count, story->at[DEMO_PHOTOS],
              story->at[DEMO_PHOTOS], story->fresh_count, story->at[DEMO_NEW]);
}

static void print_maps(const json_t *maps)
{
    for (size_t i = 0; i < json_array_size(maps); i++)
        cli_print("%s%s", i ? " + " : "", json_string_value(json_array_get(maps, i)));
}

void demo_print_fit(const demo_story *story)
{
    long long rows = whole(story->fit, "rows");
    cli_print("training     on %lld of the %zu photos, %.1f s; inputs: ", rows, story->count, story->seconds.fit);
    print_maps(json_object_get(json_object_get(story->fit, "photos"), "maps"));
    cli_print(
        ", chosen by leave-one-out\n             accuracy %.3f by leave-one-out, %.3f on the %lld held-out photos\n",
        demo_accuracy(story->fit, "loo"), demo_accuracy(story->fit, "test"), (long long)story->count - rows);
}

static void print_verdict(const demo_photo *photo)
{
    double probability = photo->before.label ? photo->before.probability : 1 - photo->before.probability;
    cli_print("             %-18s %-8s %11.2f%s\n", photo->name, demo_classes[photo->before.label], probability,
              demo_is_right(photo, &photo->before) ? "" : "  wrong");
}

/* All that are wrong and the first that are not. */
void demo_print_verdicts(const demo_story *story)
{
    size_t right = demo_count_right(story, 0, 0), shown = 0, wrong = story->fresh_count - right;
    cli_print("verdicts     %zu new photos with heat maps, %.1f s: %zu correct, %zu wrong\n\n", story->fresh_count,
              story->seconds.predict, right, wrong);
    cli_print("             %-18s %-8s %11s\n", "photo", "verdict", "probability");
    for (size_t i = 0; i < story->fresh_count && (shown < SHOWN_RIGHT || wrong); i++) {
        int fine = demo_is_right(&story->fresh[i], &story->fresh[i].before);
        if (fine && shown++ >= SHOWN_RIGHT) continue;
        if (!fine) wrong--;
        print_verdict(&story->fresh[i]);
    }
    cli_print("\n");
}

/* Correct verdicts on the photos that training held out. */
static size_t right_held_out(const json_t *result)
{
    return (size_t)round(demo_accuracy(result, "test") * (double)whole(json_object_get(result, "test"), "rows"));
}

static void print_counts(size_t photos, const char *which, size_t before, size_t after)
{
    cli_print("             the %3zu %-16s %8zu %8zu\n", photos, which, before, after);
}

void demo_print_correction(const demo_story *story)
{
    size_t count = story->corrections, before = demo_count_right(story, 0, 1);
    long long held_out = whole(json_object_get(story->learn, "test"), "rows");
    cli_print("correction   ");
    if (before) cli_print("none was wrong, so the %zu least certain ones are confirmed", count);
    else cli_print("%zu wrong one%s corrected in %s", count, cli_plural(count), story->at[DEMO_CORRECTED]);
    cli_print(" and learned, %.1f s\n\n", story->seconds.learn);
    cli_print("             %-24s %8s %8s\n", "correct verdicts on", "before", "after");
    print_counts(count, before ? "confirmed ones" : "corrected ones", before, demo_count_right(story, 1, 1));
    print_counts(story->fresh_count - count, "other new ones", demo_count_right(story, 0, 0),
                 demo_count_right(story, 1, 0));
    print_counts((size_t)held_out, "held-out ones", right_held_out(story->fit), right_held_out(story->learn));
    cli_print("\n");
    if (demo_count_right(story, 0, 0) == story->fresh_count - count)
        cli_print(
            "             all other new ones were correct before, so they can only get worse; the held-out ones are\n"
            "             the fair test\n\n");
}

static void print_commands(void)
{
    cli_print("\nthe same with your own photos, in one folder per class\n"
              "  broad fit PHOTOS/ --holdout 0.3\n"
              "  broad predict model.broad NEW/ --proba --heatmap heatmaps\n"
              "  broad learn model.broad CORRECTED/ --with PHOTOS/\n"
              "  broad verify model.broad PHOTOS/ CORRECTED/\n"
              "  broad report model.broad NEW/ -o report\n");
}

static void print_certificate(const json_t *check)
{
    char since[CLI_SINCE_BYTES];
    if (json_is_true(json_object_get(check, "holds")))
        cli_print("certificate  holds: recomputed from %lld photos; residual norm %.4f of %s, bound %.4f\n",
                  whole(check, "rows"), json_number_value(json_object_get(check, "reached")),
                  cli_since_words(since, (size_t)whole(check, "since_layer")),
                  json_number_value(json_object_get(check, "product_bound")));
    else cli_print("certificate  does NOT hold: %s\n", json_string_value(json_object_get(check, "reason")));
}

void demo_print_end(const demo_story *story)
{
    print_certificate(story->verify);
    cli_print("report       %lld dusty, %lld unsure, %lld clean; %.1f s\n", whole(story->report, "positive_count"),
              whole(story->report, "unsure_count"), whole(story->report, "negative_count"), story->seconds.report);
    cli_print("time         %.1f s in total\n\nwhat to look at\n", story->seconds.total);
    cli_print("  %-40s the report, in a browser\n", json_string_value(json_object_get(story->report, "html")));
    cli_print("  %-40s heat maps: the evidence for dust in each photo\n", story->at[DEMO_HEATMAPS]);
    cli_print("  %-40s how dirty each photo really is\n", story->at[DEMO_NEW_TRUTH]);
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
    static const char held_out[] = "kept_apart"; /* the name since 0.1 */
    json_t *object = json_object();
    cli_json_put(object, "loo", cli_json_real(demo_accuracy(result, "loo")));
    cli_json_put(object, held_out, cli_json_real(demo_accuracy(result, "test")));
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
