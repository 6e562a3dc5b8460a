#include "run/data_advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"

void data_advise(data_advice *advice, const char *format, ...)
{
    va_list list;
    if (advice->count == DATA_ADVICE_MAX) return;
    va_start(list, format);
    vsnprintf(advice->lines[advice->count++], DATA_ADVICE_BYTES, format, list);
    va_end(list);
}

size_t *data_class_counts(const broad_data *data)
{
    if (broad_data_task(data) != BROAD_TASK_CLASSIFY) return NULL;
    size_t *counts = calloc(broad_data_outputs(data) + 1, sizeof *counts);
    for (size_t i = 0; counts && i < broad_data_rows(data); i++) counts[broad_data_class(data, i)]++;
    return counts;
}

void data_advise_targets(data_advice *advice, const broad_data *data, const size_t *counts)
{
    enum { FEW = 20, UNEVEN = 4 };
    size_t classes = broad_data_outputs(data), least = 0, most = 0;
    for (size_t c = 0; counts && c < classes; c++) {
        if (counts[c] < counts[least]) least = c;
        if (counts[c] > counts[most]) most = c;
    }
    if (!counts || !classes) return;
    if (classes == 1)
        data_advise(advice, "there is only one class, %s, so there is nothing to learn",
                    broad_data_output_name(data, 0));
    if (counts[least] < FEW)
        data_advise(advice, "class %s has only %zu row%s; the model will not be reliable for it",
                    broad_data_output_name(data, least), counts[least], cli_plural(counts[least]));
    if (counts[most] > UNEVEN * counts[least])
        data_advise(advice, "class %s is %.0f times as frequent as class %s: try --class-weight balanced",
                    broad_data_output_name(data, most), (double)counts[most] / (double)counts[least],
                    broad_data_output_name(data, least));
}
