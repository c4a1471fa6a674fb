/* Appending whole chunks; see append.h. */
#include "sample/append.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum ifm_status system_failure(const struct ifm_append *file, const char *what, int code,
                                      struct ifm_error *error)
{
    enum ifm_status status = ifm_fail(error, IFM_INTERNAL, file->path, "", "%s: %s", what, strerror(code));
    ifm_error_hint(error, "%s; what was recorded is kept for run --resume", ifm_file_hint(code));
    return status;
}

enum ifm_status ifm_append_open(char *path, int flags, struct ifm_append *out, struct ifm_error *error)
{
    *out = (struct ifm_append){.fd = -1, .path = path};
    if (path == NULL)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "out of memory for a file name");
    out->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | flags, 0666);
    struct stat status;
    enum ifm_status result = IFM_OK;
    if (out->fd < 0 && errno == EEXIST)
        result = ifm_fail(error, IFM_USAGE, path, "continue an interrupted run with --resume, or choose another --out",
                          "exists already; a run never overwrites a record");
    else if (out->fd < 0)
        result = ifm_file_fail(path, "cannot open for append", errno, error);
    else if (fstat(out->fd, &status) != 0)
        result = system_failure(out, "cannot stat", errno, error);
    else if (!S_ISREG(status.st_mode))
        result = ifm_fail(error, IFM_USAGE, path, NULL, "is not a regular file");
    else
        out->size = status.st_size;
    if (result == IFM_OK && (flags & O_CREAT) != 0)
        result = ifm_file_sync_name(path, error);
    if (result != IFM_OK)
        ifm_append_close(out);
    return result;
}

enum ifm_status ifm_append_cut(struct ifm_append *file, int64_t size, struct ifm_error *error)
{
    file->torn = true;
    while (ftruncate(file->fd, size) != 0)
        if (errno != EINTR)
            return system_failure(file, "cannot cut the file back to its last whole part", errno, error);
    file->torn = false;
    file->size = size;
    return IFM_OK;
}

enum ifm_status ifm_append_write(struct ifm_append *file, const char *data, size_t size, struct ifm_error *error)
{
    if (file->torn)
        IFM_TRY(ifm_append_cut(file, file->size, error));
    int code = ifm_file_write_all(file->fd, data, size);
    if (code == 0) {
        file->size += (int64_t)size;
        return IFM_OK;
    }
    struct ifm_error ignored;
    bool cut = ifm_append_cut(file, file->size, &ignored) == IFM_OK;
    return system_failure(file,
                          cut ? "cannot write (the file was cut back to its last whole part)"
                              : "cannot write, nor cut off what was half-written",
                          code, error);
}

enum ifm_status ifm_append_sync(struct ifm_append *file, struct ifm_error *error)
{
    if (fdatasync(file->fd) != 0 && errno != EINVAL) /* EINVAL: this file system does not support it */
        return system_failure(file, "cannot sync to disk", errno, error);
    return IFM_OK;
}

void ifm_append_close(struct ifm_append *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    *file = (struct ifm_append){.fd = -1};
}

size_t ifm_append_whole(const char *text, size_t size)
{
    const char *last = size == 0 ? NULL : memrchr(text, '\n', size);
    return last == NULL ? 0 : (size_t)(last - text) + 1;
}

size_t ifm_append_lines(const char *text, size_t size)
{
    size_t n = 0;
    for (const char *end = text + size; text < end && (text = memchr(text, '\n', (size_t)(end - text))) != NULL; text++)
        n++;
    return n;
}

enum ifm_status ifm_append_resume(struct ifm_append *file, const char *header, size_t limit, char **text, size_t *size,
                                  struct ifm_error *error)
{
    size_t length = strlen(header);
    IFM_TRY(ifm_file_read(file->path, limit, text, size, error));
    while (*size > 0 && (*text)[*size - 1] == '\0')
        --*size;
    if (*size >= length || memcmp(*text, header, *size) != 0)
        return IFM_OK;
    free(*text);
    *text = ifm_strdup(header);
    *size = length;
    IFM_TRY(ifm_append_cut(file, 0, error));
    return ifm_append_write(file, header, length, error);
}

enum ifm_status ifm_append_folder(const char *dir, struct ifm_error *error)
{
    struct ifm_text folder = {0};
    ifm_text_printf(&folder, "%s/samples", dir);
    enum ifm_status status = ifm_dir_create(folder.data, error);
    ifm_text_free(&folder);
    return status;
}
