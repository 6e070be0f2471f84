#include "processor.h"

#include <stdio.h>
#include <time.h>

/* Counts the children of the main thread. No program of the bench starts children in another thread. */
static uint64_t time_of_children(int pid) {
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    uint64_t sum = 0;
    for (int child; fscanf(file, "%d", &child) == 1;) sum += processor_time(child);
    fclose(file);
    return sum;
}

/*
 * The clock of the process has the same source as /proc/PID/task/THREAD/schedstat. It also includes the time of ended
 * threads, such as those of a JIT compiler or garbage collector, and it is current.
 */
uint64_t processor_time(int pid) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec + time_of_children(pid);
}
