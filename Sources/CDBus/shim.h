#include <dbus/dbus.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
