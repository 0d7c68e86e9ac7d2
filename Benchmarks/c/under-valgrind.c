// What a program gets in place of libc's functions while valgrind counts what the program executes.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <time.h>

// valgrind lacks this system call before version 3.21. The descriptor never becomes readable, as that of a process that goes on living. Without it
// the service takes every caller for a sandboxed one.
int pidfd_open(pid_t process, unsigned int flags) {
    (void)process;
    (void)flags;
    return eventfd(0, EFD_CLOEXEC);
}

// Under valgrind a program is some fifty times as slow, and on a slow machine more so: senders would rest, and deadlines come, that do neither without
// valgrind. So each clock goes slower, from its first reading on.
int clock_gettime(clockid_t clock, struct timespec *time) {
    enum { slower = 100, clocks = 16, second = 1000000000 };
    static int (*real)(clockid_t, struct timespec *);
    static long long first[clocks];
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (result != 0 || clock < 0 || clock >= clocks) return result;
    long long now = time->tv_sec * (long long)second + time->tv_nsec;
    if (!first[clock]) first[clock] = now;
    now = first[clock] + (now - first[clock]) / slower;
    time->tv_sec = now / second;
    time->tv_nsec = now % second;
    return 0;
}
