/* Entry points of broad.h: the names of enum values. */
#include <pthread.h>

#include "base/enum_names.h"
#include "base/status.h"
#include "model/kind.h"
#include "model/model.h"

_Static_assert((int)BROAD_FITTING_AT_ONCE == (int)BROAD__FIT_AT_ONCE, "the public enum repeats the internal one");
_Static_assert((int)BROAD_ORIGIN_FORGETFUL == (int)BROAD__ORIGIN_FORGETFUL, "the public enum repeats the internal one");

static const char *const lists[] = {
    [BROAD_ENUM_KIND] = BROAD__KINDS,
    [BROAD_ENUM_PRESET] = BROAD__PRESETS,
    [BROAD_ENUM_TASK] = BROAD__TASKS,
    [BROAD_ENUM_ACTIVATION] = BROAD__ACTIVATIONS,
    [BROAD_ENUM_SUPERVISE] = BROAD__SUPERVISIONS,
    [BROAD_ENUM_WEIGHTS] = BROAD__WEIGHTS,
    [BROAD_ENUM_FEATURE_WEIGHTS] = BROAD__FEATURE_WEIGHTS,
    [BROAD_ENUM_LOO] = BROAD__LOOS,
    [BROAD_ENUM_GAMMA_FORM] = BROAD__GAMMA_FORMS,
    [BROAD_ENUM_SELECT] = BROAD__SELECTIONS,
    [BROAD_ENUM_PRECISION] = BROAD__PRECISIONS,
    [BROAD_ENUM_RANGE_UNIT] = BROAD__RANGE_UNITS,
    [BROAD_ENUM_SCALE] = BROAD__SCALES,
    [BROAD_ENUM_MISSING] = BROAD__MISSINGS,
    [BROAD_ENUM_CROP] = BROAD__CROPS,
    [BROAD_ENUM_OUTCOME] = BROAD__OUTCOMES,
    [BROAD_ENUM_ORIGIN] = BROAD__ORIGINS,
    [BROAD_ENUM_FITTING] = BROAD__FITTINGS,
    [BROAD_ENUM_FEATURE_SOURCE] = BROAD__WEIGHT_SOURCES "|none", /* NOLINT(bugprone-suspicious-missing-comma) */
    [BROAD_ENUM_FORMAT] = BROAD__FORMATS,
    [BROAD_ENUM_ESTIMATE_METHOD] = BROAD__ESTIMATE_METHODS,
    [BROAD_ENUM_LEARNED] = BROAD__LEARNEDS,
    [BROAD_ENUM_EFFORT] = BROAD__EFFORTS,
    [BROAD_ENUM_METRIC_FORM] = BROAD__METRIC_FORMS,
};

enum { LIST_COUNT = sizeof lists / sizeof lists[0], WORDS_MAX = 8 };

/* The words of the lists, each with an end of its own. */
static char names[LIST_COUNT][WORDS_MAX][BROAD__ENUM_BYTES];
static pthread_once_t names_made = PTHREAD_ONCE_INIT;

static void make_names(void)
{
    for (int i = 0; i < LIST_COUNT; i++)
        for (int k = 0; k < broad__enum_count(lists[i]) && k < WORDS_MAX; k++)
            broad__enum_name(names[i][k], lists[i], k);
}

const char *broad_enum_name(broad_enum which, int value)
{
    pthread_once(&names_made, make_names);
    if ((unsigned)which >= LIST_COUNT || value < 0 || value >= WORDS_MAX || !names[which][value][0]) return "unknown";
    return names[which][value];
}

int broad_enum_value(broad_enum which, const char *name)
{
    return (unsigned)which < LIST_COUNT && name ? broad__enum_find(lists[which], name) : -1;
}
