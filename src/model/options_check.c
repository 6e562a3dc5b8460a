#include "model/options_check.h"

#include <math.h>
#include <stdint.h>

#include "base/enum_names.h"
#include "base/status.h"
#include "model/kind.h"
#include "model/option_table.h"

static int refuse(const broad__option_row *row, double value)
{
    char expects[BROAD__EXPECTS_BYTES];
    return broad__fail(BROAD_USAGE, "option %s: %.17g is not in range; give %s", row->option.name, value,
                       broad__option_expects(expects, row));
}

static int check_real(const broad__option_row *row, double value, broad__limits limits)
{
    return value >= limits.min && value <= limits.max ? BROAD_OK : refuse(row, value);
}

/* SIZE_MAX is no limit. */
static int check_bytes(const broad__option_row *row, size_t bytes, broad__limits limits)
{
    return bytes == SIZE_MAX ? BROAD_OK : check_real(row, (double)bytes, limits);
}

static int check_choice(const broad__option_row *row, int value)
{
    int largest = row->max > 0 ? (int)row->max : broad__enum_count(row->option.choices) - 1;
    if (value >= 0 && value <= largest) return BROAD_OK;
    return broad__fail(BROAD_USAGE, "option %s: value %d is none of %s", row->option.name, value, row->option.choices);
}

static int check_sizes(const broad__option_row *row, size_t a, size_t b)
{
    int status = check_real(row, (double)a, (broad__limits){row->min, row->max});
    if (status == BROAD_OK) status = check_real(row, (double)b, (broad__limits){row->min, row->partner_max});
    return status == BROAD_OK && a * b > UINT32_MAX ? refuse(row, (double)a * (double)b) : status;
}

static int check_list(const broad__option_row *row, const double *values, size_t count, broad__limits limits)
{
    if (count < 1 || count > BROAD_LIST_MAX)
        return broad__fail(BROAD_USAGE, "option %s: a list of %zu values; give from 1 to %d", row->option.name, count,
                           BROAD_LIST_MAX);
    int status = BROAD_OK;
    for (size_t i = 0; i < count && status == BROAD_OK; i++) status = check_real(row, values[i], limits);
    return status;
}

static int check_gamma(const broad__option_row *row, const broad_options *options)
{
    if ((int)options->gamma_form < 0 || (int)options->gamma_form >= broad__enum_count(BROAD__GAMMA_FORMS))
        return broad__fail(BROAD_USAGE, "option %s: form %d is none of %s", row->option.name, (int)options->gamma_form,
                           BROAD__GAMMA_FORMS);
    return check_list(row, options->gamma, options->gamma_count, broad__gamma_limits(options->gamma_form));
}

static int check_row(const broad__option_row *row, const broad_options *options)
{
    const void *field = (const char *)options + row->field, *partner = (const char *)options + row->partner;
    broad__limits limits = {row->min, row->max};
    switch (row->type) {
    case BROAD__VALUE_CHOICE: return check_choice(row, *(const int *)field);
    case BROAD__VALUE_SIZE:
    case BROAD__VALUE_BYTES: return check_bytes(row, *(const size_t *)field, limits);
    case BROAD__VALUE_REAL:
    case BROAD__VALUE_REAL_OR_AUTO:
    case BROAD__VALUE_PART: return check_real(row, *(const double *)field, limits);
    case BROAD__VALUE_SIZES:
    case BROAD__VALUE_SIZES_OR_AUTO: return check_sizes(row, *(const size_t *)field, *(const size_t *)partner);
    case BROAD__VALUE_REALS: return check_list(row, field, *(const size_t *)partner, limits);
    case BROAD__VALUE_GAMMA: return check_gamma(row, options);
    case BROAD__VALUE_UINT64:
    case BROAD__VALUE_TEXT: return BROAD_OK;
    }
    return broad__fail(BROAD_BUG, "option '%s' has no type", row->option.name);
}

/* An estimate that was requested must not be omitted silently; what a file says about it is past. */
static int check_loo(const broad_options *o)
{
    broad__fitting fitting = broad__fitting_of(o);
    if (o->loo != BROAD_LOO_YES || (fitting != BROAD__FIT_CHAIN && fitting != BROAD__FIT_WINDOW)) return BROAD_OK;
    if (o->supervise == BROAD_SUPERVISE_GCV) return BROAD_OK;
    return broad__fail(
        BROAD_USAGE,
        "option loo yes: leave-one-out has no closed form where each layer is fitted to the "
        "residual of the others; give option weights joint or option supervise gcv, or leave out option loo");
}

int broad__options_check(const broad_options *options)
{
    const broad__option_row *rows;
    size_t count = broad__option_rows(&rows);
    int status = BROAD_OK;
    for (size_t i = 0; i < count && status == BROAD_OK; i++) status = check_row(&rows[i], options);
    if (status == BROAD_OK) status = broad__kind_check(options);
    if (status == BROAD_OK) status = check_loo(options);
    return status;
}
