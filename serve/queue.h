/*
 * Photos that wait to be judged, and the threads that do it, each with a decoder of its own. What a page waits for goes first.
 * Verdicts are written by one more thread, many in one transaction; a photo whose verdict was not written yet waits again
 * after a restart.
 */
#ifndef BROAD_SERVE_QUEUE_H
#define BROAD_SERVE_QUEUE_H

#include "serve/photos.h"

typedef struct serve_queue serve_queue;
struct serve_server;

int serve_queue_open(serve_queue **out, struct serve_server *server, size_t threads);
/* Ends the threads; what they have judged is written first. What is asked from then on is refused. Accepts NULL. */
void serve_queue_end(serve_queue *queue);
void serve_queue_free(serve_queue *queue);  /* after it has ended, and nothing can be asked any more; accepts NULL */
void serve_queue_wake(serve_queue *queue);  /* photos were added */
void serve_queue_again(serve_queue *queue); /* photos that were judged wait again */
/* Work that a request waits for, ahead of all photos; as serve_decoder_ask() with the model in use, or `model`. */
int serve_queue_ask(serve_sight *out, serve_queue *queue, serve_model *model, serve_work work, size_t side,
                    size_t output, const void *bytes, size_t count);

#endif
