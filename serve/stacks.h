/* Near-duplicates: photos that look alike are one stack, which is called by the number of its first photo. */
#ifndef BROAD_SERVE_STACKS_H
#define BROAD_SERVE_STACKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct serve_stacks {
    size_t count, room;
    struct serve_stacked {
        int64_t photo, stack;
        uint64_t print; /* broad_picture_print() */
        double aspect;  /* width over height */
    } * items;
} serve_stacks;

/* The stack that a photo belongs to, which it joins: its own where it looks like none. One that is there already stays where
 * it is. */
int64_t serve_stacks_find(serve_stacks *stacks, int64_t photo, uint64_t print, double aspect);
/* One whose stack is known. */
void serve_stacks_put(serve_stacks *stacks, int64_t photo, int64_t stack, uint64_t print, double aspect);
void serve_stacks_clear(serve_stacks *stacks); /* accepts a zeroed one */

#endif
