#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

// The Glibc module is built without _GNU_SOURCE and so hides these. The numbers are the kernel's, on every processor that Swift runs on.
int memfd_create(const char *name, unsigned int flags);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int pthread_setname_np(pthread_t thread, const char *name);
ssize_t copy_file_range(int source, loff_t *from, int target, loff_t *to, size_t count, unsigned int flags);

#define MFD_CLOEXEC 1
#define MFD_ALLOW_SEALING 2
#define F_ADD_SEALS 1033
#define F_SEAL_SEAL 1
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW 4
#define F_SEAL_WRITE 8
#define F_GET_SEALS 1034
#define O_PATH 010000000

// What Swift does not see: functions with "...". Opens a file by its path, unless the path leads through an open descriptor of some process, as
// /dev/stdin and /proc/self/fd/3 do. A kernel before 5.6 does not know the difference.
static inline int stagedoor_open_path(const char *path, int flags) {
  struct open_how how = {.flags = (unsigned int)flags, .resolve = RESOLVE_NO_MAGICLINKS};
  int file = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
  return file < 0 && errno == ENOSYS ? open(path, flags) : file;
}

// Opens a file by a path without symbolic links: any link on the way is an error. A kernel before 5.6 opens nothing.
static inline int stagedoor_open_canonical_path(const char *path, int flags) {
  struct open_how how = {.flags = (unsigned int)flags, .resolve = RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

// The number of a file, that of its device, and the time at which it was made, in microseconds since 1970; 0 where the file system does not tell.
static inline int stagedoor_birth(const char *path, unsigned long long *device, unsigned long long *inode, long long *birth) {
  struct statx status;
  if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &status) != 0) return -1;
  *device = (unsigned long long)makedev(status.stx_dev_major, status.stx_dev_minor);
  *inode = status.stx_ino;
  *birth = status.stx_mask & STATX_BTIME ? status.stx_btime.tv_sec * 1000000ll + status.stx_btime.tv_nsec / 1000 : 0;
  return 0;
}
