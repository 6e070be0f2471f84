#include "processor.h"

#include <stdio.h>
#include <time.h>

/* Of the main thread, which is the one that starts children in all programs here. */
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
 * The clock of the process has the same source as /proc/PID/task/THREAD/schedstat, but keeps the time of threads that
 * have ended, such as those which a JavaScript engine compiles and collects garbage in, and is exact to this moment.
 */
uint64_t processor_time(int pid) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec + time_of_children(pid);
}
