/*
 * A process that decodes photos, which come from anywhere: shut in (sandbox.h), so that a photo that breaks a decoder costs one
 * photo and reaches nothing. One thread uses one decoder at a time; a decoder that has failed is replaced with the next photo.
 */
#ifndef BROAD_SERVE_DECODER_H
#define BROAD_SERVE_DECODER_H

#include <sys/types.h>

#include "serve/model.h"

typedef struct serve_decoder {
    pid_t process; /* 0: none */
    int socket;
    serve_model *model; /* that it was started with; held, NULL: without one */
} serve_decoder;

typedef enum serve_work {
    SERVE_WORK_LOOK, /* facts, inputs where there is a model, print, thumbnail */
    SERVE_WORK_VIEW, /* the upright photo with a longer side of at most `side` */
    SERVE_WORK_HEAT  /* the same with a heat map for class `output` over it   */
} serve_work;

typedef struct serve_sight {
    broad_photo photo; /* without texts but the time */
    uint64_t print;
    double *inputs; /* owned; NULL: none */
    void *jpeg;     /* owned */
    size_t jpeg_bytes;
} serve_sight;

/* As large as models look at photos: those need not be made smaller. */
enum { SERVE_THUMBNAIL_SIDE = 384 };

/* The bytes of a photo; or, where bytes is NULL, an open file, which the decoder reads by itself. */
typedef struct serve_source {
    const void *bytes;
    size_t count;
    int file;
} serve_source;

/* BROAD_BAD_DATA: this photo cannot be used, with the reason; BROAD_NO_MEMORY: not now. `model` may be NULL. */
int serve_decoder_ask(serve_sight *out, serve_decoder *decoder, serve_model *model, serve_work work, size_t side,
                      size_t output, const serve_source *source);
/* What a decoder answers; as many inputs, and the bytes of a picture, come behind it. */
typedef struct serve_said {
    int status;
    char message[256]; /* of a status that is not 0 */
    broad_photo photo;
    uint64_t print;
    size_t inputs, jpeg_bytes;
} serve_said;

typedef enum serve_answered {
    SERVE_ANSWER_TAKEN,
    SERVE_ANSWER_LOST,    /* it ended before it was whole, or was late */
    SERVE_ANSWER_NONSENSE /* no decoder of ours answers so: it has been taken over */
} serve_answered;

/* What comes from a decoder's socket, whatever process writes it there, until that moment of broad__seconds(). *out_status: 0, or why the
 * photo is refused. inputs: as many as must come. */
serve_answered serve_decoder_receive(serve_sight *out, int *out_status, int socket, size_t inputs, double until);

void serve_decoders_hurry(void); /* from now on a decoder has a second left for its photo: BROAD_INTERRUPTED */
void serve_sight_clear(serve_sight *sight);       /* accepts a zeroed one */
void serve_decoder_close(serve_decoder *decoder); /* accepts a zeroed one */

#endif
