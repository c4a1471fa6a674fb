/* Appending to a file: a chunk is written as a whole or not at all.
 *
 * Private to src/sample. Owns a descriptor and the size up to which the file is whole. After a failed write it cuts the
 * file back, so that no part of a chunk stays. */
#ifndef IFM_SAMPLE_APPEND_H
#define IFM_SAMPLE_APPEND_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ifm_append {
    int fd;       /* -1 = not open */
    int64_t size; /* bytes that are whole */
    char *path;   /* owned, for messages */
    bool torn;    /* a failed write could not be cut off yet */
};

/* Open `path` for append. `flags` are added to O_RDWR | O_APPEND | O_CLOEXEC (O_CREAT, O_EXCL). Steals `path`, also
 * when it fails; with O_CREAT its name is synced too; NULL stands for a failed allocation. */
IFM_CHECKED enum ifm_status ifm_append_open(char *path, int flags, struct ifm_append *out, struct ifm_error *error);
/* One write(2), continued when the system takes only a part. */
IFM_CHECKED enum ifm_status ifm_append_write(struct ifm_append *file, const char *data, size_t size,
                                             struct ifm_error *error);
/* Cut the file to `size` bytes. */
IFM_CHECKED enum ifm_status ifm_append_cut(struct ifm_append *file, int64_t size, struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_append_sync(struct ifm_append *file, struct ifm_error *error);
void ifm_append_close(struct ifm_append *file);

/* The length of the text up to its last newline, without a torn tail. */
size_t ifm_append_whole(const char *text, size_t size);

#endif
