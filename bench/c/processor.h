/* CPU time of processes. */
#ifndef PROCESSOR_H
#define PROCESSOR_H

#include <stdint.h>

/* Returns the CPU time of a process and its children with all threads, in nanoseconds, or 0 if it has ended. */
uint64_t processor_time(int pid);

#endif
