// Two libraries do work at each start that our programs do not need. A program into which these libraries are linked has these functions in place of
// theirs: it starts sooner, and needs neither libsystemd nor the six libraries that libsystemd loads. In other builds nobody calls these functions.

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN int sd_listen_fds(int unset_environment);
HIDDEN int sd_is_socket(int descriptor, int family, int type, int is_listening);

HIDDEN void _swift_stdlib_overrideUnsafeArgvArgc(char **argv, int argc);
HIDDEN char **_swift_stdlib_getUnsafeArgvArgc(int *argc);

// Unmaps the code that was executed. It stays in the kernel's cache as long as the kernel has memory, and is mapped again, a few dozen pages
// at a time, when it is executed. A start executes most of the code, and later work only a part.
void stagedoor_let_go_of_code(void);
