#include "CStart.h"

// libdbus asks libsystemd for the sockets of a server at the address "systemd:". Our programs have no such server.

int sd_listen_fds(int unset_environment) { return 0; }

int sd_is_socket(int descriptor, int family, int type, int is_listening) { return 0; }

// Swift's library looks for the arguments of the program in /proc/self/maps and on the stack. glibc gives them to every constructor.

static int count;
static char **arguments;

__attribute__((constructor)) static void take(int argc, char **argv) {
  count = argc;
  arguments = argv;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **argv, int argc) { take(argc, argv); }

char **_swift_stdlib_getUnsafeArgvArgc(int *argc) {
  *argc = count;
  return arguments;
}
