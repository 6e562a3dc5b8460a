#include "data/form.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

int broad__forms_copy(broad__forms *out, const broad__forms *from)
{
    *out = (broad__forms){0};
    if (!from->count) return BROAD_OK;
    out->items = broad__alloc_array(from->count, sizeof *out->items);
    if (!out->items) return BROAD_NO_MEMORY;
    memcpy(out->items, from->items, from->count * sizeof *out->items);
    out->count = from->count;
    return BROAD_OK;
}

int broad__forms_add(broad__forms *forms, size_t input, broad__form form)
{
    broad__formed *items = broad__alloc_array(forms->count + 1, sizeof *items);
    if (!items) return BROAD_NO_MEMORY;
    if (forms->count) memcpy(items, forms->items, forms->count * sizeof *items);
    items[forms->count] = (broad__formed){input, form};
    broad__free(forms->items);
    forms->items = items;
    forms->count++;
    return BROAD_OK;
}

broad__form broad__forms_find(const broad__forms *forms, size_t input)
{
    for (size_t i = 0; i < forms->count; i++)
        if (forms->items[i].input == input) return forms->items[i].form;
    return BROAD__FORM_NUMBER;
}

void broad__forms_clear(broad__forms *forms)
{
    broad__free(forms->items);
    *forms = (broad__forms){0};
}
