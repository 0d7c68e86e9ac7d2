/* The time of day with the seconds of PRELOAD_NUMBERS added to it, as if somebody had set the clock; all other clocks as they are. To be named
 * in LD_PRELOAD. */
#define _GNU_SOURCE
#include "numbers.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

static struct {
  _Atomic int64_t seconds;
  _Atomic int64_t asked; /* how often the time of day was asked for */
} *numbers;

__attribute__((constructor)) static void begin(void) { numbers = shared_numbers(); }

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && numbers && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    now->tv_sec += atomic_load(&numbers->seconds);
    atomic_fetch_add(&numbers->asked, 1);
  }
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec precise;
  int result = clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return result;
}

time_t time(time_t *place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}
