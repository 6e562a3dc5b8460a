/* Memory that a run may count on. */
#ifndef BROAD_BASE_AVAILABLE_H
#define BROAD_BASE_AVAILABLE_H

/* Bytes that the machine, the control groups of the process and its own limit leave; INFINITY where none of them tells. */
double broad__memory_available(void);
/* Bytes of the process that are in memory now, and at most so far; INFINITY where the system does not tell. */
double broad__memory_resident(void);
double broad__memory_peak(void);

#endif
