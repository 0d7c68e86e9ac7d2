#define _GNU_SOURCE
#include "CStart.h"

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

// Calls madvise for the pages from one address to another.
static void advise(uintptr_t start, uintptr_t end, int advice) {
  uintptr_t page = (uintptr_t)getpagesize();
  start = start / page * page;
  madvise((void *)start, end - start, advice);
}

// Swift's caches of metadata lie on all pages of the variables that are zero at first. One call for all pages costs less than a fault for each.
static void fetch_variables(void) {
  extern char __bss_start[], _end[];
  enum { populate_write = 23 };
  advise((uintptr_t)__bss_start, (uintptr_t)_end, populate_write);
}

static int let_go(struct dl_phdr_info *file, size_t size, void *context) {
  for (int i = 0; i < file->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || (segment->p_flags & (PF_X | PF_W)) != PF_X) continue;
    uintptr_t start = file->dlpi_addr + segment->p_vaddr;
    // Nothing but a debugger writes to these pages, so the same content comes back.
    advise(start, start + segment->p_memsz, MADV_DONTNEED);
  }
  return 0;
}

void stagedoor_let_go_of_code(void) { dl_iterate_phdr(let_go, 0); }

// libdbus asks libsystemd for the sockets of a server at the address "systemd:". Our programs have no such server.

int sd_listen_fds(int unset_environment) { return 0; }

int sd_is_socket(int descriptor, int family, int type, int is_listening) { return 0; }

// Swift's library looks for the arguments of the program in /proc/self/maps and on the stack. glibc gives them to every constructor.

static int count;
static char **arguments;

static void take(int argc, char **argv) {
  count = argc;
  arguments = argv;
}

__attribute__((constructor)) static void begin(int argc, char **argv) {
  take(argc, argv);
  fetch_variables();
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **argv, int argc) { take(argc, argv); }

char **_swift_stdlib_getUnsafeArgvArgc(int *argc) {
  *argc = count;
  return arguments;
}
