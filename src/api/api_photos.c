/* Photos: reading them, and what a table knows of them. */
#include "base/status.h"
#include "broad/broad.h"
#include "data/photo_rows.h"
#include "data/photos.h"
#include "model/choose.h"
#include "model/model.h"

void broad_photo_options_init(broad_photo_options *out)
{
    *out = (broad_photo_options){
        .size = sizeof *out, .side = BROAD__PIXELS_SIDE, .crop = BROAD_CROP_MODEL, .detector_seconds = 60};
}

int broad_data_read_photos(broad_data **out, const char *const *paths, size_t count, const broad_read_options *options)
{
    broad_read_options standard;
    broad_photo_options standard_photos;
    if (!out || !paths) return broad__fail(BROAD_USAGE, "broad_data_read_photos needs a place for the table and paths");
    *out = NULL;
    broad_read_options_init(&standard);
    broad_photo_options_init(&standard_photos);
    if (!options) options = &standard;
    const broad_photo_options *how = options->photos ? options->photos : &standard_photos;
    if (options->size != sizeof *options || how->size != sizeof *how)
        return broad__fail(BROAD_USAGE, "the options of broad_data_read_photos have not their sizes: fill them with "
                                        "their _init functions first");
    if (!options->model) return broad__read_photos(out, paths, count, options, how, NULL);
    broad__columns columns = broad__model_reads(options->model);
    return broad__read_photos(out, paths, count, options, how, &columns);
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

int broad_photos_choose(broad_map_choice *out, const broad_data *data, const broad_options *options)
{
    if (!out || !data || !options)
        return broad__fail(BROAD_USAGE, "broad_photos_choose needs a place for the choice, a table and options");
    if (!data->photos.spec.maps) return broad__fail(BROAD_USAGE, "the rows are not photos: they have no maps");
    return broad__choose_maps(out, data, options);
}

int broad_photos_narrow(broad_data **out, const broad_data *data, unsigned maps)
{
    if (!out || !data) return broad__fail(BROAD_USAGE, "broad_photos_narrow needs a place for the table and a table");
    return broad__table_narrow(out, data, maps);
}

unsigned broad_model_maps(const broad_model *model) { return (unsigned)model->photo.maps; }
