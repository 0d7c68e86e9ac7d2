/* Lets allocations of libdbus fail, and those of nobody else: to be named in LD_PRELOAD. The file that PRELOAD_NUMBERS names says
 * which of them. */
#define _GNU_SOURCE
#include "numbers.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

struct order {
  _Atomic int64_t first; /* how many go well first */
  _Atomic int64_t count; /* how many fail then */
  _Atomic int64_t failed; /* how many have failed so far */
};

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static struct order *order;
static uintptr_t first_address, last_address;

static int find_libdbus(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size, (void)data;
  if (!strstr(info->dlpi_name, "/libdbus-1.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    first_address = info->dlpi_addr + part->p_vaddr;
    last_address = first_address + part->p_memsz;
  }
  return 1;
}

__attribute__((constructor)) static void begin(void) {
  dl_iterate_phdr(find_libdbus, NULL);
  order = shared_numbers();
}

static int fails(void *caller) {
  uintptr_t address = (uintptr_t)caller;
  if (!order || address < first_address || address >= last_address) return 0;
  if (atomic_load(&order->count) <= 0) return 0;
  if (atomic_fetch_sub(&order->first, 1) > 0) return 0;
  atomic_fetch_sub(&order->count, 1);
  atomic_fetch_add(&order->failed, 1);
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *start, size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(start, size);
}
