#include "data/table_done.h"

#include "base/spill.h"
#include "data/table.h"

void broad__table_done(const broad_data *table, size_t first, size_t count)
{
    const broad_data *t = table;
    if (!t->spill || !count) return;
    broad__spill_done(t->spill, t->x + first * t->inputs, count * t->inputs * sizeof *t->x);
    if (t->classes) broad__spill_done(t->spill, t->classes + first, count * sizeof *t->classes);
    if (t->values) broad__spill_done(t->spill, t->values + first * t->outputs, count * t->outputs * sizeof *t->values);
    if (t->groups) broad__spill_done(t->spill, t->groups + first, count * sizeof *t->groups);
    if (t->weights) broad__spill_done(t->spill, t->weights + first, count * sizeof *t->weights);
}
