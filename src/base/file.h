/* Files: whole reads, atomic writes, run folders.
 *
 * A published file is written to a temporary name beside its target, synced and
 * renamed, and then its folder is synced, so that a reader sees the old file or
 * the new one, never half of it, also after a power failure.
 * Thread rule: no shared state. */
#ifndef IFM_BASE_FILE_H
#define IFM_BASE_FILE_H

#include "base/arena.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A call on a file failed with errno `code`: IFM_USAGE where another name or permission helps, else IFM_INTERNAL, with
 * what to do. The hint alone, for who words the rest. */
enum ifm_status ifm_file_fail(const char *path, const char *what, int code, struct ifm_error *error);
const char *ifm_file_hint(int code);

/* The one door through which files are opened for reading: a regular file, or an error that says that it is none. A
 * FIFO in its place is never waited for, nor a device read for ever. `*size` as it is now; NULL is allowed. */
IFM_CHECKED enum ifm_status ifm_file_open(const char *path, int *fd, size_t *size, struct ifm_error *error);
/* Read a whole regular file of at most `limit` bytes. `*data` is NUL-terminated and malloc'd. */
IFM_CHECKED enum ifm_status ifm_file_read(const char *path, size_t limit, char **data, size_t *size,
                                          struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_file_write_atomic(const char *path, const void *data, size_t size,
                                                  struct ifm_error *error);
/* The same with a file mode; the others have 0644. */
IFM_CHECKED enum ifm_status ifm_file_write_mode(const char *path, const void *data, size_t size, mode_t mode,
                                                struct ifm_error *error);
/* What a user named on the command line. A file is replaced; a pipe, a terminal, /dev/stdout and /dev/fd/N are written
 * to; a symbolic link, a folder or another device is refused. */
IFM_CHECKED enum ifm_status ifm_file_write_named(const char *path, const void *data, size_t size,
                                                 struct ifm_error *error);
/* write(2) until all of it is written; 0, or the errno of the write that failed. */
int ifm_file_write_all(int fd, const char *data, size_t size);
/* Sync the folder of `path`, so that the name survives a power failure. A file that was created or renamed stays when
 * the sync fails. */
IFM_CHECKED enum ifm_status ifm_file_sync_name(const char *path, struct ifm_error *error);
/* Anything but a folder, also what cannot be checked or read as a file: reading it then gives the reason. */
bool ifm_file_exists(const char *path);
bool ifm_dir_exists(const char *path);
/* Create `path` and its missing parents; may exist as a folder. */
IFM_CHECKED enum ifm_status ifm_dir_create_all(const char *path, struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_dir_create(const char *path, struct ifm_error *error); /* one level, may exist */
/* "dir/name" in the arena. */
char *ifm_path_join(struct ifm_arena *arena, const char *dir, const char *name);
/* Last component, never NULL. */
const char *ifm_path_base(const char *path);
/* As somebody types it, made fit to be printed and joined, in place: "runs//a/" becomes "runs/a". Returns `path`. */
char *ifm_path_tidy(char *path);
/* Small sysfs and procfs files: first line without newline into `buffer`; false when unreadable. */
bool ifm_file_line(const char *path, char *buffer, size_t size);

#endif
