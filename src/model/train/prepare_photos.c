#include "model/train/prepare_photos.h"

#include "data/photo/photo_rows.h"
#include "data/transform/projection.h"
#include "model/train/choose_photo_maps.h"
#include "model/train/train_open.h"

int broad__photos_due(const broad_data *data)
{
    return data->photos.spec.maps && (data->photos.plan.choose || data->photos.plan.project);
}

/* Components of the rows: fitted to them, or those of `like`. */
static int project(broad_data **out, const broad_data *data, const broad_data *like, size_t threads)
{
    size_t wanted = data->photos.plan.components;
    if (like) return broad__table_project(out, data, like->photos.spec.components, &like->photos.projection, threads);
    return broad__table_project(out, data, wanted ? wanted : broad__projection_components(data->rows), NULL, threads);
}

/* The rows with some of their maps, then as components; like NULL: their own. */
static int make(broad_data **out, const broad_data *data, unsigned maps, int components, const broad_data *like,
                size_t threads)
{
    broad_data *part = NULL;
    int status = BROAD_OK;
    if (maps != data->photos.spec.maps || !components) status = broad__table_narrow(&part, data, maps);
    if (status == BROAD_OK && components) {
        status = project(out, part ? part : data, like, threads);
        broad__table_free(part);
    } else if (status == BROAD_OK) {
        *out = part;
    }
    return status;
}

int broad__photos_settle(broad_data **out, broad_map_choice *choice, const broad_data *data,
                         const broad_options *options)
{
    const broad__photo_plan *plan = &data->photos.plan;
    unsigned maps = (unsigned)data->photos.spec.maps;
    int status = BROAD_OK;
    *out = NULL;
    *choice = (broad_map_choice){0};
    if (!broad__photos_due(data)) return BROAD_OK;
    if (plan->choose && maps & (maps - 1)) {
        status = broad__choose_maps(choice, data, options);
        maps = choice->maps;
    }
    return status == BROAD_OK ? make(out, data, maps, plan->project, NULL, options->threads) : status;
}

int broad__photos_follow(broad_data **out, const broad_data *data, const broad_data *like, size_t threads)
{
    *out = NULL;
    if (!broad__photos_due(data)) return BROAD_OK;
    return make(out, data, (unsigned)like->photos.spec.maps, like->photos.spec.components > 0, like, threads);
}

int broad__trainer_open_photos(broad_trainer **out, const broad_data *data, const broad_options *options)
{
    broad_map_choice choice;
    broad_data *own = NULL;
    int status = broad__photos_settle(&own, &choice, data, options);
    if (status == BROAD_OK) status = broad__trainer_open(out, own ? own : data, options);
    if (status == BROAD_OK) (*out)->settled = own;
    else broad__table_free(own);
    return status;
}

int broad__trainer_validate_photos(broad_trainer *trainer, const broad_data *rows)
{
    broad_data *own = NULL;
    int status = trainer->settled ? broad__photos_follow(&own, rows, trainer->settled, trainer->run.threads) : BROAD_OK;
    if (status == BROAD_OK) status = broad__trainer_validate(trainer, own ? own : rows);
    if (status == BROAD_OK) trainer->settled_validation = own;
    else broad__table_free(own);
    return status;
}
