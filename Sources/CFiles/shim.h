#pragma once

#include <sys/types.h>

// The Glibc module is built without _GNU_SOURCE and so hides these. The numbers are the kernel's, on every processor that Swift runs on.
int memfd_create(const char *name, unsigned int flags);
ssize_t copy_file_range(int source, loff_t *from, int target, loff_t *to, size_t count, unsigned int flags);

#define MFD_CLOEXEC 1
#define MFD_ALLOW_SEALING 2
#define F_ADD_SEALS 1033
#define F_SEAL_SEAL 1
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW 4
#define F_SEAL_WRITE 8
#define O_PATH 010000000
