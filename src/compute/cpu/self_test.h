/* Does this machine compute what plain C does? */
#ifndef BROAD_COMPUTE_CPU_SELF_TEST_H
#define BROAD_COMPUTE_CPU_SELF_TEST_H

/* BROAD_OK, or BROAD_FAILED with the operation of the device that does not compute what plain C does. For n = 1, 2, ... the
 * n-th operation is spoilt on purpose; *out_count says how many there are. */
int broad__self_test(unsigned *out_count, unsigned spoil);

#endif
