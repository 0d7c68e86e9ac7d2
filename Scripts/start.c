/* Two libraries do work at each start that our programs do not need. A release has these functions in place of theirs. */

/* libdbus asks libsystemd for the sockets of a server at the address "systemd:". Our programs have no such server. With these
   answers they need not load libsystemd, and the six libraries that it loads. */

int sd_listen_fds(int unset_environment) { return 0; }

int sd_is_socket(int fd, int family, int type, int listening) { return 0; }

/* Swift's library looks for the arguments of the program in /proc/self/maps and on the stack. glibc simply gives them. */

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
