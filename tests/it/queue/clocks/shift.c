/* The wall clock of the program that this is preloaded into is wrong by CLOCK_SHIFT seconds; with CLOCK_JUMPS it is put
 * back by twice that every other second. Clocks that cannot be set, such as the monotonic one, are right. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long wrong_by(void) {
    const char *shift = getenv("CLOCK_SHIFT");
    long seconds = shift ? atol(shift) : 0;
    struct timespec up;
    if (getenv("CLOCK_JUMPS") && syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &up) == 0 && up.tv_sec % 2) {
        return -seconds;
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    long result = syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        now->tv_sec += wrong_by();
    }
    return result;
}

int gettimeofday(struct timeval *now, void *zone) {
    (void)zone;
    struct timespec exact;
    int result = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return result;
}

time_t time(time_t *told) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told) {
        *told = now.tv_sec;
    }
    return now.tv_sec;
}
