/* Photos: what a table knows of them. */
#include "base/status.h"
#include "broad/broad.h"
#include "data/photo_rows.h"
#include "model/model.h"

void broad_photo_options_init(broad_photo_options *out)
{
    *out = (broad_photo_options){
        .size = sizeof *out, .side = BROAD__PIXELS_SIDE, .crop = BROAD_CROP_MODEL, .detector_seconds = 60};
}

const broad_photo *broad_data_photo(const broad_data *data, size_t row)
{
    return data->photos.items && row < data->rows ? &data->photos.items[row] : NULL;
}

unsigned broad_data_maps(const broad_data *data) { return (unsigned)data->photos.spec.maps; }

size_t broad_data_skipped_count(const broad_data *data) { return data->photos.skipped_count; }

const broad_skipped *broad_data_skipped(const broad_data *data, size_t index)
{
    return index < data->photos.skipped_count ? &data->photos.skipped[index] : NULL;
}

int broad_photos_narrow(broad_data **out, const broad_data *data, unsigned maps)
{
    if (!out || !data) return broad__fail(BROAD_USAGE, "broad_photos_narrow needs a place for the table and a table");
    return broad__table_narrow(out, data, maps);
}

unsigned broad_model_maps(const broad_model *model) { return (unsigned)model->photo.maps; }
