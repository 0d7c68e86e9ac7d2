// The one deprecated function that is used tells the length of an array without a look at its elements, and nothing has taken its place.
#define DBUS_DISABLE_DEPRECATED
#include <dbus/dbus.h>
int dbus_message_iter_get_array_len(DBusMessageIter *iter);
#include <malloc.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

// The Glibc module is built without _GNU_SOURCE and so hides these.
int pipe2(int ends[2], int flags);
int pidfd_open(pid_t process, unsigned int flags);
int pthread_setname_np(pthread_t thread, const char *name);
