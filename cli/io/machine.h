/* What the system says about itself: processor, memory, limits, place for temporary files. 0 or "" where it does not say. */
#ifndef BROAD_CLI_IO_MACHINE_H
#define BROAD_CLI_IO_MACHINE_H

#include <stddef.h>

enum { CLI_MACHINE_TEXT = 256 };

typedef struct cli_machine {
    char processor[CLI_MACHINE_TEXT];
    char vectors[CLI_MACHINE_TEXT]; /* vector instructions, a space between */
    size_t online;                  /* processors there are */
    double quota;                   /* processors whose time the control group allows; 0: no such limit */
    double cache[3];                /* bytes of levels 1 (data), 2 and 3 */
    double memory, available;       /* bytes */
    double limit_addresses;         /* ulimit -v, bytes; 0: none */
    double limit_group;             /* of memory, by the control group, bytes; 0: none */
    char temporary[CLI_MACHINE_TEXT];
    double temporary_free; /* bytes */
    int temporary_in_memory;
} cli_machine;

void cli_machine_look(cli_machine *out);

#endif
