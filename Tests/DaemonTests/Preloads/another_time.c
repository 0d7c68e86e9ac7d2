/* The time of day with the seconds of PRELOAD_NUMBERS added to it, as if somebody had set the clock; all other clocks as they are. To be named
 * in LD_PRELOAD. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct {
  _Atomic int64_t seconds;
  _Atomic int64_t asked; /* how often the time of day was asked for */
} *numbers;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("PRELOAD_NUMBERS");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *start = mmap(NULL, sizeof *numbers, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (start != MAP_FAILED) numbers = start;
}

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
