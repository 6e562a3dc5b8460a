/* What a photo says about itself beside its pixels: EXIF, and the XMP of drones. */
#ifndef BROAD_IMAGE_CODEC_EXIF_H
#define BROAD_IMAGE_CODEC_EXIF_H

#include <stddef.h>

/* What is not said, or makes no sense, is NaN, "" or, for the orientation, 1. */
typedef struct broad__exif {
    int orientation; /* 1 to 8: broad__image_orient() */
    char time[20];   /* when it was taken, by the camera's clock: "2016-01-19T17:00:07" */
    double latitude; /* degrees, north and east positive */
    double longitude;
    double altitude;          /* metres above sea level: EXIF, else XMP's AbsoluteAltitude */
    double relative_altitude; /* metres above the place of take-off (XMP) */
    double gimbal_yaw;        /* degrees clockwise from north, where the camera looked (XMP) */
    double flight_yaw;        /* and where the craft flew (XMP) */
} broad__exif;

/* From EXIF that stands alone, or from a TIFF file: both begin with the header of a TIFF. */
int broad__exif_read_tiff(broad__exif *out, const void *bytes, size_t count);
/* From the bytes of a JPEG, PNG, WebP or TIFF file; of others nothing is known. Damaged metadata are treated as missing; only running out of memory is a failure. */
int broad__exif_read(broad__exif *out, const void *bytes, size_t count);

#endif
