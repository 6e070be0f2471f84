/* How long processes have been on a processor. */
#ifndef PROCESSOR_H
#define PROCESSOR_H

#include <stdint.h>

/* Nanoseconds of a process and its children, with all their threads; 0 if it is gone. */
uint64_t processor_time(int pid);

#endif
