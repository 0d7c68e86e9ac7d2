// A disk that writes slowly: a sync takes some milliseconds for each MiB by which the file has grown since its last sync, and does nothing else.
//
// The numbers: 0 is the milliseconds for a MiB; 1 is the longest sync so far, in milliseconds; 2 is the milliseconds that each sync takes besides.

#include "numbers.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

static volatile long long *numbers;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
// The sizes of files at their last sync, by their inodes. The test makes fewer files than that.
#define PLACES 65536
static struct {
  ino_t inode;
  off_t size;
} files[PLACES];

__attribute__((constructor)) static void begin(void) { numbers = shared_numbers(); }

static off_t growth(int file) {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  off_t before = 0;
  pthread_mutex_lock(&mutex);
  int place = status.st_ino % PLACES;
  if (files[place].inode == status.st_ino) before = files[place].size;
  files[place].inode = status.st_ino;
  files[place].size = status.st_size;
  pthread_mutex_unlock(&mutex);
  return status.st_size > before ? status.st_size - before : 0;
}

static void take_time(int file) {
  if (!numbers) return;
  long long time = (growth(file) >> 20) * numbers[0] + numbers[2];
  if (time > numbers[1]) numbers[1] = time;
  struct timespec rest = {time / 1000, time % 1000 * 1000000};
  while (nanosleep(&rest, &rest) != 0) continue;
}

int fsync(int file) {
  take_time(file);
  return 0;
}

int fdatasync(int file) {
  take_time(file);
  return 0;
}
