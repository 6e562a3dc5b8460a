#include "data/photo/photo_rows.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/pool.h"
#include "data/transform/projection.h"

void broad__photos_clear(broad__photos *photos)
{
    broad__projection_clear(&photos->projection);
    broad__free(photos->items);
    broad__free(photos->texts);
    broad__free(photos->skipped);
    broad__free(photos->skipped_texts);
    *photos = (broad__photos){0};
}

static int copy_texts(broad__photos *photos, size_t count)
{
    broad__text *texts = broad__alloc_array(count, 2 * sizeof *texts);
    if (!texts) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        texts[2 * i] = broad__text_of(photos->items[i].file);
        texts[2 * i + 1] = broad__text_of(photos->items[i].name);
    }
    photos->texts = broad__names_copy(texts, 2 * count);
    broad__free(texts);
    if (!photos->texts) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        photos->items[i].file = photos->texts[2 * i];
        photos->items[i].name = photos->texts[2 * i + 1];
    }
    return BROAD_OK;
}

int broad__photos_pick(broad__photos *out, const broad__photos *photos, const size_t *rows, size_t count)
{
    *out = (broad__photos){.spec = photos->spec, .plan = photos->plan};
    if (!photos->spec.maps) return BROAD_OK;
    out->items = broad__alloc_array(count, sizeof *out->items);
    int status = out->items ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < count; i++) out->items[i] = photos->items[rows[i]];
    if (status == BROAD_OK) status = copy_texts(out, count);
    if (status == BROAD_OK) status = broad__projection_copy(&out->projection, &photos->projection, &photos->spec);
    if (status < 0) broad__photos_clear(out);
    return status;
}

int broad__photos_set_skipped(broad__photos *photos, const broad__text *texts, size_t count)
{
    photos->skipped = broad__alloc_array(count, sizeof *photos->skipped);
    photos->skipped_texts = broad__names_copy(texts, 2 * count);
    if (!photos->skipped || !photos->skipped_texts) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        photos->skipped[i] = (broad_skipped){photos->skipped_texts[2 * i], photos->skipped_texts[2 * i + 1]};
    photos->skipped_count = count;
    return BROAD_OK;
}

static int join_skipped(broad__photos *out, const broad__photos *a, const broad__photos *b)
{
    size_t count = a->skipped_count + b->skipped_count;
    if (!count) return BROAD_OK;
    broad__text *texts = broad__alloc_array(count, 2 * sizeof *texts);
    if (!texts) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const broad_skipped *from = i < a->skipped_count ? &a->skipped[i] : &b->skipped[i - a->skipped_count];
        texts[2 * i] = broad__text_of(from->file);
        texts[2 * i + 1] = broad__text_of(from->reason);
    }
    int status = broad__photos_set_skipped(out, texts, count);
    broad__free(texts);
    return status;
}

int broad__photos_join(broad__photos *out, const broad__photos *a, size_t a_rows, const broad__photos *b, size_t b_rows)
{
    *out = (broad__photos){.spec = a->spec, .plan = a->plan};
    if (!a->spec.maps) return BROAD_OK;
    out->items = broad__alloc_array(a_rows + b_rows, sizeof *out->items);
    int status = out->items ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < a_rows + b_rows; i++) {
        out->items[i] = i < a_rows ? a->items[i] : b->items[i - a_rows];
        if (i >= a_rows) out->items[i].group += a_rows;
    }
    if (status == BROAD_OK) status = copy_texts(out, a_rows + b_rows);
    if (status == BROAD_OK) status = broad__projection_copy(&out->projection, &a->projection, &a->spec);
    if (status == BROAD_OK) status = join_skipped(out, a, b);
    if (status < 0) broad__photos_clear(out);
    return status;
}

size_t *broad__photos_by_file(const broad__photos *photos, size_t rows)
{
    size_t *groups = broad__alloc_array(rows, sizeof *groups);
    for (size_t i = 1; groups && i < rows; i++)
        groups[i] = groups[i - 1] + (strcmp(photos->items[i].file, photos->items[i - 1].file) != 0);
    return groups;
}

/* Copies the columns of `to`'s maps; x and names. */
static int copy_columns(broad_data *to, const broad_data *from)
{
    const broad__photo_spec *spec = &to->photos.spec;
    broad__text *texts = broad__alloc_array(to->inputs, sizeof *texts);
    to->x = broad__alloc_doubles(to->rows, to->inputs);
    int status = texts && to->x ? BROAD_OK : BROAD_NO_MEMORY;
    for (unsigned map = 1; status == BROAD_OK && map < BROAD_PHOTO_MAP_ALL; map *= 2) {
        if (!(spec->maps & map)) continue;
        size_t at = broad__photo_first(spec, map), from_at = broad__photo_first(&from->photos.spec, map);
        size_t count = broad__map_inputs(map, spec->side);
        for (size_t j = 0; j < count; j++) texts[at + j] = broad__text_of(from->input_names[from_at + j]);
        for (size_t i = 0; i < to->rows; i++)
            memcpy(to->x + i * to->inputs + at, from->x + i * from->inputs + from_at, count * sizeof *to->x);
    }
    if (status == BROAD_OK) to->input_names = broad__names_copy(texts, to->inputs);
    if (!to->input_names) status = BROAD_NO_MEMORY;
    broad__free(texts);
    return status;
}

/* All of a table but its inputs. */
static int copy_shell(broad_data **out, const broad_data *table)
{
    broad_data shell = *table;
    size_t *rows = broad__alloc_array(table->rows, sizeof *rows);
    if (!rows) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < table->rows; i++) rows[i] = i;
    shell.x = NULL;
    shell.inputs = 0;
    shell.input_names = NULL;
    int status = broad__table_rows(out, &shell, rows, table->rows);
    broad__free(rows);
    return status;
}

int broad__table_narrow(broad_data **out, const broad_data *table, unsigned maps)
{
    *out = NULL;
    if (!maps || maps & ~table->photos.spec.maps)
        return broad__fail(BROAD_USAGE, "the photos were not read with these maps");
    if (table->photos.spec.components)
        return broad__fail(BROAD_USAGE, "the maps of the photos are no longer apart: they were made into components");
    broad_data *part = NULL;
    int status = copy_shell(&part, table);
    if (status < 0) return status;
    part->photos.spec.maps = maps;
    part->photos.plan.choose = 0;
    part->inputs = broad__photo_inputs(&part->photos.spec);
    status = copy_columns(part, table);
    if (status == BROAD_OK) *out = part;
    else broad__table_free(part);
    return status;
}

/* Fitted to the rows. */
static int fit_projection(broad__photos *photos, const broad_data *table, int measured, size_t threads)
{
    if (!measured)
        return broad__projection_fit_axes(&photos->projection, &photos->spec, table->x, table->rows, threads);
    size_t *groups = broad__alloc_array(table->rows, sizeof *groups);
    if (!groups) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < table->rows; i++) groups[i] = photos->items[i].group;
    int status = broad__projection_fit(&photos->projection, &photos->spec, table->x, groups, table->rows, threads);
    broad__free(groups);
    return status;
}

typedef struct filling {
    broad_data *part;
    const broad_data *table;
} filling;

enum { FILLED_ROWS = 64 }; /* by one thread at a time */

static void fill_piece(void *context, size_t index, size_t worker)
{
    (void)worker;
    const filling *f = context;
    const broad__photos *photos = &f->part->photos;
    size_t first = index * FILLED_ROWS, end = broad__min(first + FILLED_ROWS, f->part->rows);
    const double *x = f->table->x + first * f->table->inputs;
    double *out = f->part->x + first * f->part->inputs;
    broad__projection_apply(out, &photos->projection, &photos->spec, x, end - first);
    for (size_t i = first; i < end; i++, x += f->table->inputs, out += f->part->inputs)
        photos->items[i].distance = broad__projection_distance(&photos->projection, &photos->spec, x, out);
}

/* Components in the place of the inputs of `table`, and how far each photo lies from those that they were fitted to. */
static int fill_components(broad_data *part, const broad_data *table, size_t threads)
{
    broad__pool *pool = NULL;
    filling f = {part, table};
    size_t pieces = (part->rows + FILLED_ROWS - 1) / FILLED_ROWS;
    int status = broad__pool_open(&pool, threads);
    if (status < 0) return status;
    broad__pool_run(pool, pieces, fill_piece, &f);
    broad__pool_close(pool);
    return broad__watch_check(BROAD_OK);
}

/* projection NULL: one that is fitted. */
static int project(broad_data **out, const broad_data *table, size_t components, const broad__projection *projection,
                   int measured, size_t threads)
{
    *out = NULL;
    if (!table->photos.spec.maps || table->photos.spec.components)
        return broad__fail(BROAD_USAGE, "only rows that come from photos can be made into components, and only once");
    broad_data *part = NULL;
    int status = copy_shell(&part, table);
    if (status < 0) return status;
    broad__photos *photos = &part->photos;
    photos->spec.components = components;
    photos->plan = (broad__photo_plan){0};
    if (projection) status = broad__projection_copy(&photos->projection, projection, &photos->spec);
    else status = fit_projection(photos, table, measured, threads);
    part->inputs = photos->spec.components;
    if (status == BROAD_OK) part->x = broad__alloc_doubles(part->rows, part->inputs);
    if (status == BROAD_OK) part->input_names = broad__names_number("component ", 1, part->inputs);
    if (status == BROAD_OK && (!part->x || !part->input_names)) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = fill_components(part, table, threads);
    if (status == BROAD_OK) *out = part;
    else broad__table_free(part);
    return status;
}

int broad__table_project(broad_data **out, const broad_data *table, size_t components,
                         const broad__projection *projection, size_t threads)
{
    return project(out, table, components, projection, 1, threads);
}

int broad__table_project_alone(broad_data **out, const broad_data *table, size_t components, size_t threads)
{
    return project(out, table, components, NULL, 0, threads);
}
