/*
 * Addresses without memory: room for a large array of which this process needs one part. The rest has addresses and takes no
 * memory; a process that touches it is stopped by the system, so that a mistake cannot become a wrong number.
 */
#ifndef BROAD_BASE_RESERVE_H
#define BROAD_BASE_RESERVE_H

#include <stddef.h>

/* NULL on failure, with the message set. */
void *broad__reserve_open(size_t bytes);
/* These bytes of a reserved block become memory, zeroed unless they were before. */
int broad__reserve_use(void *block, size_t from, size_t bytes);
void broad__reserve_free(void *block, size_t bytes); /* accepts NULL */

#endif
