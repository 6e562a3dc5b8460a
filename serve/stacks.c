#include "serve/stacks.h"

#include <math.h>
#include <stdlib.h>

/* Pictures whose prints differ in at most so many bits, and whose forms differ by at most this part, look alike. */
enum { BITS_MOST = 6 };
static const double ASPECT_MOST = 0.1;

void serve_stacks_put(serve_stacks *stacks, int64_t photo, int64_t stack, uint64_t print, double aspect)
{
    if (stacks->count == stacks->room) {
        size_t room = stacks->room ? 2 * stacks->room : 1024;
        void *grown = realloc(stacks->items, room * sizeof *stacks->items);
        if (!grown) return; /* photos that look like this one will not join it */
        stacks->items = grown;
        stacks->room = room;
    }
    stacks->items[stacks->count++] = (struct serve_stacked){photo, stack, print, aspect};
}

int64_t serve_stacks_find(serve_stacks *stacks, int64_t photo, uint64_t print, double aspect)
{
    int64_t stack = photo;
    if (!print) return photo; /* there is nothing on it to be recognised by */
    for (size_t i = 0; i < stacks->count; i++) {
        const struct serve_stacked *other = &stacks->items[i];
        if (other->photo == photo) return other->stack;
        if (stack == photo && __builtin_popcountll(other->print ^ print) <= BITS_MOST &&
            fabs(other->aspect - aspect) <= ASPECT_MOST * aspect)
            stack = other->stack;
    }
    serve_stacks_put(stacks, photo, stack, print, aspect);
    return stack;
}

void serve_stacks_clear(serve_stacks *stacks)
{
    free(stacks->items);
    *stacks = (serve_stacks){0};
}
