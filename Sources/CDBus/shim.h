#include <dbus/dbus.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

// The Glibc module is built without _GNU_SOURCE and so hides these.
int pipe2(int ends[2], int flags);
int pthread_setname_np(pthread_t thread, const char *name);
