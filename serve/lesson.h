/* The photos that a step learns from: what people said of them, and the list of them that the tool reads. */
#ifndef BROAD_SERVE_LESSON_H
#define BROAD_SERVE_LESSON_H

#include "io/json.h"
#include "serve/server.h"

enum { SERVE_LEFT_OUT_BYTES = 640 };

typedef struct serve_lesson {
    size_t count, room;
    int64_t *photos;
    char **labels;
    int new_classes;  /* some are not of the model */
    json_t *left_out; /* photos that cannot be learned from, as people know them; NULL: none */
} serve_lesson;

/* What the model has not learned; NULL: all there is. agreed: not the corrections alone. */
int serve_lesson_gather(serve_lesson *out, serve_server *server, const serve_model *model, int agreed);
/* Corrections that the model in use has not learned. */
int serve_lesson_pending(int64_t *out, serve_server *server);
/* Photos whose files are gone, or are no photos any more: those that are referred to may be. */
int serve_lesson_leave_out_missing(serve_lesson *lesson, serve_server *server);
/* What the tool has skipped, by what it said, and what it has learned from before and does not find any more. */
int serve_lesson_leave_out_skipped(serve_lesson *lesson, serve_server *server, const json_t *said);
/* "dusty_009.jpg, clean_004.jpg and 3 more"; "": none. */
void serve_lesson_left_out(char out[SERVE_LEFT_OUT_BYTES], const serve_lesson *lesson);
int serve_lesson_write(const serve_lesson *lesson, serve_server *server, const char *path); /* file,label */
void serve_lesson_clear(serve_lesson *lesson);                                              /* accepts a zeroed one */

#endif
