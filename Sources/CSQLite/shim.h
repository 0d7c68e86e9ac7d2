#include <sqlite3.h>

// What Swift does not see: functions with "...", numbers that are computed, and destructors that are casts of a number.
static const int stagedoor_sqlite3_ioerr_write = SQLITE_IOERR_WRITE;

static inline int stagedoor_sqlite3_switch(sqlite3 *database, int option, int on) {
  return sqlite3_db_config(database, option, on, (int *)0);
}

static inline int stagedoor_sqlite3_count_memory(int on) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on);
}

static inline int stagedoor_sqlite3_bind_text(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  // Half of a delivery's texts are empty, and need no copy.
  if (count == 0) return sqlite3_bind_text64(statement, index, "", 0, SQLITE_STATIC, SQLITE_UTF8);
  return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int stagedoor_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}
