/* Entry points of broad.h: photos from memory. */
#include <math.h>
#include <string.h>

#include "api/api_check.h"
#include "api/api_picture.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/photo/photos_prepare.h"
#include "data/transform/projection_apply.h"
#include "image/quality.h"
#include "model/model.h"

struct broad_viewer {
    const broad_model *model;
    broad__photo_maker *maker;
};

int broad_viewer_open(broad_viewer **out, const broad_model *model)
{
    if (out) *out = NULL;
    if (!out || !model) return broad__missing_argument("broad_viewer_open");
    if (!model->photo.maps) return broad__fail(BROAD_USAGE, "the model was not trained on photos");
    broad_viewer *viewer = broad__alloc(sizeof *viewer);
    if (!viewer) return BROAD_NO_MEMORY;
    viewer->model = model;
    viewer->maker = broad__photo_maker_open(&model->photo);
    if (!viewer->maker) {
        broad__free(viewer);
        return BROAD_NO_MEMORY;
    }
    *out = viewer;
    return BROAD_OK;
}

void broad_viewer_close(broad_viewer *viewer)
{
    if (viewer) broad__photo_maker_close(viewer->maker);
    broad__free(viewer);
}

/* The inputs of a picture that is as large as the maps want it, and what is to be thought of it. */
static int see(double *out, broad_photo *photo, const broad_viewer *viewer, const broad__image *image)
{
    const broad_model *model = viewer->model;
    const broad__photo_spec *spec = &model->photo;
    size_t count = broad__photo_inputs(spec);
    float *maps = broad__alloc_array(count, sizeof *maps);
    double *row = broad__alloc_doubles(count, 1);
    int status = maps && row ? broad__photo_map(maps, viewer->maker, image) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = broad__image_faults(&photo->faults, image, fmin(photo->right, photo->bottom));
    for (size_t j = 0; status == BROAD_OK && j < count; j++) row[j] = (double)maps[j];
    if (status == BROAD_OK && spec->components) {
        broad__projection_apply(out, &model->projection, spec, row, 1);
        photo->distance = broad__projection_distance(&model->projection, spec, row, out);
    } else if (status == BROAD_OK) memcpy(out, row, count * sizeof *row);
    broad__free(maps);
    broad__free(row);
    return status;
}

int broad_viewer_picture(double *out, broad_photo *photo, const broad_viewer *viewer, const broad_picture *picture)
{
    if (!out || !viewer || !picture) return broad__missing_argument("broad_viewer_picture");
    const broad__image whole = {broad_picture_width(picture), broad_picture_height(picture),
                                (unsigned char *)broad_picture_bytes(picture)};
    const double unknown = (double)NAN;
    broad_photo about = {.file = "", .name = "", .width = whole.width, .height = whole.height};
    about.right = (double)whole.width;
    about.bottom = (double)whole.height;
    about.box_score = about.latitude = about.longitude = about.altitude = unknown;
    about.relative_altitude = about.yaw = about.distance = unknown;
    broad__image image = {0};
    int status = broad__photo_reduce(&image, &viewer->model->photo, &whole);
    if (status == BROAD_OK) status = see(out, &about, viewer, &image);
    broad__image_free(&image);
    if (status == BROAD_OK && photo) *photo = about;
    return status;
}

/* Decodes the file once. The picture, unless NULL, is handed out. */
static int see_file(double *out, broad_photo *photo, broad_picture **picture, const broad_viewer *viewer,
                    const void *bytes, size_t count)
{
    broad_photo about;
    broad__image image = {0};
    int status = broad__photo_decode(&image, &about, &viewer->model->photo, bytes, count);
    if (status == BROAD_OK) status = see(out, &about, viewer, &image);
    if (status == BROAD_OK && picture) status = broad__picture_hand_out(picture, &image, BROAD_OK);
    else broad__image_free(&image);
    if (status == BROAD_OK && photo) *photo = about;
    return status;
}

int broad_viewer_file(double *out, broad_photo *photo, const broad_viewer *viewer, const void *bytes, size_t count)
{
    if (!out || !viewer || !bytes) return broad__missing_argument("broad_viewer_file");
    return see_file(out, photo, NULL, viewer, bytes, count);
}

int broad_viewer_show(double *out, broad_photo *photo, broad_picture **picture, const broad_viewer *viewer,
                      const void *bytes, size_t count)
{
    if (!out || !picture || !viewer || !bytes) return broad__missing_argument("broad_viewer_show");
    *picture = NULL;
    return see_file(out, photo, picture, viewer, bytes, count);
}

int broad_photo_look(broad_photo *out, broad_picture **picture, const void *bytes, size_t count)
{
    if (!out || !picture || !bytes) return broad__missing_argument("broad_photo_look");
    *picture = NULL;
    const broad__photo_spec spec = {.maps = BROAD_PHOTO_MAP_DESCRIPTORS | BROAD_PHOTO_MAP_WINDOWS};
    broad_photo about;
    broad__image image = {0};
    int status = broad__photo_decode(&image, &about, &spec, bytes, count);
    if (status == BROAD_OK) status = broad__image_faults(&about.faults, &image, fmin(about.right, about.bottom));
    if (status == BROAD_OK) status = broad__picture_hand_out(picture, &image, BROAD_OK);
    else broad__image_free(&image);
    if (status == BROAD_OK) *out = about;
    return status;
}
