/* Entry points of broad.h: options of training. */
#include <string.h>

#include "api/api_check.h"
#include "api/option_text.h"
#include "base/enum_names.h"
#include "base/status.h"
#include "model/kind.h"
#include "model/preset.h"

void broad_options_init_sized(broad_options *out, size_t size)
{
    broad_options full;
    broad__options_default(&full);
    if (out) broad__options_give(out, size, &full, sizeof full);
}

int broad_options_preset(broad_options *options, broad_preset preset)
{
    broad_options full;
    if (!options) return broad__missing_argument("broad_options_preset");
    int status = broad__training_options_take(&full, options);
    if (status == BROAD_OK) status = broad__kind_exists(full.kind);
    if (status < 0) return status;
    if ((int)preset < 0 || (int)preset >= broad__enum_count(BROAD__PRESETS))
        return broad__fail(BROAD_USAGE, "preset number %d does not exist", (int)preset);
    broad__preset_apply(&full, preset);
    broad__options_give(options, options->size, &full, sizeof full);
    return BROAD_OK;
}

/* A row that the caller's struct has the field of. */
static int find_row(const broad__option_row **out, const broad_options *options, const char *name)
{
    const broad__option_row *rows;
    size_t count = broad__option_rows(&rows);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].option.name, name) != 0) continue;
        *out = &rows[i];
        if (rows[i].field < options->size) return BROAD_OK;
        return broad__fail(BROAD_USAGE, "option %s is newer than the broad.h that this program was compiled with",
                           name);
    }
    return broad__fail(BROAD_USAGE, "there is no option '%.100s'", name);
}

int broad_options_set(broad_options *options, const char *name, const char *value)
{
    const broad__option_row *row = NULL;
    broad_options full;
    if (!options || !name) return broad__missing_argument("broad_options_set");
    int status = broad__training_options_take(&full, options);
    if (status == BROAD_OK) status = find_row(&row, options, name);
    if (status == BROAD_OK) status = broad__kind_exists(full.kind);
    if (status == BROAD_OK && !value) status = broad__fail(BROAD_USAGE, "option %s needs a value", name);
    if (status == BROAD_OK) status = broad__option_parse(&full, row, value);
    if (status < 0) return status;
    if (row->follow) row->follow(&full);
    broad__options_give(options, options->size, &full, sizeof full);
    return BROAD_OK;
}

int broad_options_get(char *out, size_t bytes, const broad_options *options, const char *name)
{
    const broad__option_row *row = NULL;
    broad_options full;
    if ((!out && bytes) || !options || !name) return broad__missing_argument("broad_options_get");
    int status = broad__training_options_take(&full, options);
    if (status == BROAD_OK) status = find_row(&row, options, name);
    if (status < 0) return status;
    size_t length = broad__option_print(out, bytes, &full, row);
    if (length < bytes) return BROAD_OK;
    return broad__fail(BROAD_USAGE, "the value of option %s needs %zu bytes, but %zu were given", name, length + 1,
                       bytes);
}

size_t broad_option_count(void)
{
    const broad__option_row *rows;
    return broad__option_rows(&rows);
}

const broad_option *broad_option_at(size_t index)
{
    const broad__option_row *rows;
    return index < broad__option_rows(&rows) ? &rows[index].option : NULL;
}
