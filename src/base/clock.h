/* Seconds of a clock that never goes back. */
#ifndef BROAD_BASE_CLOCK_H
#define BROAD_BASE_CLOCK_H

double broad__seconds(void);
double broad__thread_seconds(void);  /* of the processor, that this thread was given */
double broad__process_seconds(void); /* and all threads of the process */

#endif
