/* Entry points of broad.h: photos. */
#include <string.h>

#include "api/api_check.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "broad/broad.h"
#include "comm/comm.h"
#include "data/photo/photo_rows.h"
#include "data/photo/photos.h"
#include "data/transform/projection.h"
#include "model/model.h"
#include "model/train/choose_photo_maps.h"
#include "model/train/prepare_photos.h"

enum { PAPER_SIDE = 64 };

void broad_photo_options_init_sized(broad_photo_options *out, size_t size)
{
    broad_photo_options full = {.size = sizeof full, .side = BROAD__PIXELS_SIDE, .crop = BROAD_CROP_MODEL};
    if (out) broad__options_give(out, size, &full, sizeof full);
}

int broad_photo_options_preset(broad_photo_options *options, broad_preset preset)
{
    if (!options) return broad__missing_argument("broad_photo_options_preset");
    broad_photo_options full;
    broad_photo_options_init(&full);
    int status = broad__options_take(&full, sizeof full, options, "broad_photo_options");
    if (status < 0) return status;
    full.maps = preset == BROAD_PRESET_PAPER ? BROAD_PHOTO_MAP_PIXELS : 0;
    full.side = preset == BROAD_PRESET_PAPER ? PAPER_SIDE : BROAD__PIXELS_SIDE;
    full.components = preset == BROAD_PRESET_PAPER ? BROAD_COMPONENTS_NONE : 0;
    broad__options_give(options, options->size, &full, sizeof full);
    return BROAD_OK;
}

static int read_photos(broad_data **out, const char *const *paths, size_t count, const broad_read_options *options)
{
    broad_photo_options how;
    broad_photo_options_init(&how);
    int status = broad__options_take(&how, sizeof how, options->photos, "broad_photo_options");
    if (status < 0) return status;
    if (!options->model) return broad__read_photos(out, paths, count, options, &how, NULL);
    broad__columns columns = broad__model_reads(options->model);
    return broad__read_photos(out, paths, count, options, &how, &columns);
}

int broad_data_read_photos(broad_data **out, const char *const *paths, size_t count, const broad_read_options *options)
{
    if (out) *out = NULL;
    if (!out || !paths) return broad__missing_argument("broad_data_read_photos");
    broad_read_options full;
    broad_read_options_init(&full);
    int status = broad__options_take(&full, sizeof full, options, "broad_read_options");
    for (size_t i = 0; i < count && status == BROAD_OK; i++)
        if (!paths[i]) status = broad__missing_argument("broad_data_read_photos");
    if (status == BROAD_OK) status = broad__comm_check(full.comm);
    if (status < 0) return status;
    broad__profile_span span = broad__profile_start();
    const broad_comm *before = broad__comm_enter(full.comm);
    status = broad__comm_whole(read_photos(out, paths, count, &full));
    broad__comm_leave(before);
    if (status < 0) {
        broad__table_free(*out);
        *out = NULL;
    }
    broad__profile_stop(span, BROAD__STAGE_READ, 0, 0);
    return status;
}

const broad_photo *broad_data_photo(const broad_data *data, size_t row)
{
    return row < broad_data_rows(data) && data->photos.items ? &data->photos.items[row] : NULL;
}

const char *broad_photo_fault_name(broad_photo_fault fault)
{
    switch (fault) {
    case BROAD_PHOTO_FAULT_DARK: return "too dark";
    case BROAD_PHOTO_FAULT_BRIGHT: return "too bright";
    case BROAD_PHOTO_FAULT_BLURRED: return "blurred";
    case BROAD_PHOTO_FAULT_SMALL: return "too small";
    }
    return "";
}

int broad_photo_is_unlike(const broad_photo *photo) { return photo && photo->distance > 1; }

size_t broad_data_components(const broad_data *data) { return data ? data->photos.spec.components : 0; }

unsigned broad_data_maps(const broad_data *data) { return data ? (unsigned)data->photos.spec.maps : 0; }

size_t broad_data_skipped_count(const broad_data *data) { return data ? data->photos.skipped_count : 0; }

const broad_skipped *broad_data_skipped(const broad_data *data, size_t index)
{
    return index < broad_data_skipped_count(data) ? &data->photos.skipped[index] : NULL;
}

/* Puts a table in the place of another; NULL: it stays. */
static void replace(broad_data **data, broad_data *by)
{
    if (!by) return;
    broad__table_free(*data);
    *data = by;
}

/* *trained and *tested: NULL where the tables stay as they are. */
static int settle_both(broad_data **trained, broad_data **tested, broad_map_choice *choice, const broad_data *train,
                       const broad_data *test, const broad_options *options)
{
    broad__training training;
    broad__training_begin(&training, "maps", options);
    int status = broad__photos_settle(trained, choice, train, options);
    if (status == BROAD_OK && test)
        status = broad__photos_follow(tested, test, *trained ? *trained : train, options->threads);
    return broad__training_end(&training, broad__watch_check(status));
}

int broad_photos_prepare(broad_map_choice *out, broad_data **train, broad_data **test, const broad_options *options)
{
    broad_map_choice choice;
    broad_data *trained = NULL, *tested = NULL;
    broad_options full;
    if (!train || !*train || !options) return broad__missing_argument("broad_photos_prepare");
    int status = out ? broad__struct_check(out, sizeof *out, "broad_map_choice") : BROAD_OK;
    if (status == BROAD_OK) status = broad__training_options_take(&full, options);
    if (status == BROAD_OK) status = settle_both(&trained, &tested, &choice, *train, test ? *test : NULL, &full);
    if (status < 0) {
        broad__table_free(trained);
        broad__table_free(tested);
        return status;
    }
    replace(train, trained);
    if (test) replace(test, tested);
    if (out) broad__result_give(out, &choice, sizeof choice);
    return BROAD_OK;
}

int broad_photos_choose(broad_map_choice *out, const broad_data *data, const broad_options *options)
{
    if (!out || !data || !options) return broad__missing_argument("broad_photos_choose");
    if (!data->photos.spec.maps) return broad__fail(BROAD_USAGE, "the rows are not photos: they have no maps");
    broad_options full;
    broad_map_choice choice;
    broad__training training;
    int status = broad__struct_check(out, sizeof *out, "broad_map_choice");
    if (status == BROAD_OK) status = broad__training_options_take(&full, options);
    if (status < 0) return status;
    broad__training_begin(&training, "maps", &full);
    status = broad__training_end(&training, broad__choose_maps(&choice, data, &full));
    if (status == BROAD_OK) broad__result_give(out, &choice, sizeof choice);
    return status;
}

int broad_photos_narrow(broad_data **out, const broad_data *data, unsigned maps)
{
    if (out) *out = NULL;
    if (!out || !data) return broad__missing_argument("broad_photos_narrow");
    return broad__table_narrow(out, data, maps);
}

int broad_photos_project(broad_data **out, const broad_data *data, size_t components, const broad_data *like)
{
    if (out) *out = NULL;
    if (!out || !data) return broad__missing_argument("broad_photos_project");
    if (!like)
        return broad__table_project(out, data, components ? components : broad__projection_components(data->rows), NULL,
                                    1);
    if (!like->photos.spec.components || like->photos.spec.maps != data->photos.spec.maps ||
        like->photos.spec.side != data->photos.spec.side)
        return broad__fail(BROAD_USAGE, "the other rows have no components, or were read with other maps");
    return broad__table_project(out, data, like->photos.spec.components, &like->photos.projection, 1);
}

int broad_photos_inputs(double *out, const broad_model *model, const float *maps, size_t rows)
{
    if (!out || !model || !maps) return broad__missing_argument("broad_photos_inputs");
    if (!model->photo.maps) return broad__fail(BROAD_USAGE, "the model was not trained on photos");
    size_t count = broad__photo_inputs(&model->photo);
    double *row = broad__alloc_doubles(count, 1);
    if (!row) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < count; j++) row[j] = (double)maps[i * count + j];
        if (model->photo.components)
            broad__projection_apply(out + i * model->photo.components, &model->projection, &model->photo, row, 1);
        else memcpy(out + i * count, row, count * sizeof *row);
    }
    broad__free(row);
    return BROAD_OK;
}
