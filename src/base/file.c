/* Files. Errors name the file's base name: paths are private facts. */
#include "base/file.h"

#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a failed call on a file means to whoever named the file. */
static const struct cause {
    int code;
    bool usage;
    const char *hint;
} causes[] = {
    {ENOSPC, false, "free some space or choose another folder with --out"},
    {EDQUOT, false, "free some space or choose another folder with --out"},
    {EFBIG, false, "raise the limit on the size of a file (ulimit -f)"},
    {EROFS, true, "this file system is read-only: choose a folder of another one with --out, or copy the folder"},
    {EACCES, true, "see who may read and write it; a run can go elsewhere with --out"},
    {EPERM, true, "see who may read and write it, and its attributes (lsattr)"},
    {ENOENT, true, "check the name"},
    {ENOTDIR, true, "a part of the path is a file: check the name"},
    {EISDIR, true, "it is a folder: give the name of a file"},
    {ELOOP, true, "it is a symbolic link, or links that lead in a circle: name the file itself"},
    {ENAMETOOLONG, true, "choose a shorter name"},
    {EMFILE, false, "raise the limit on open files of a process (ulimit -n)"},
    {ENFILE, false, "the whole system has too many open files: end other programs, or raise fs.file-max"},
    {ENOMEM, false, "end other programs: memory is short"},
    {EIO, false, "see what the system's log (dmesg) says of this disk"},
    {ENODEV, false, "see what the system's log (dmesg) says of this disk"},
    {ENXIO, false, "see what the system's log (dmesg) says of this disk"},
    {EUCLEAN, false, "see what the system's log (dmesg) says of this disk"},
    {ESTALE, false, "the folder's server has lost it: mount it again"},
};

static const struct cause *cause_of(int code)
{
    static const struct cause other = {0, false, "try a folder of another file system with --out"};
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (causes[i].code == code)
            return &causes[i];
    return &other;
}

const char *ifm_file_hint(int code)
{
    return cause_of(code)->hint;
}

enum ifm_status ifm_file_fail(const char *path, const char *what, int code, struct ifm_error *error)
{
    const struct cause *cause = cause_of(code);
    return ifm_fail(error, cause->usage ? IFM_USAGE : IFM_INTERNAL, path, cause->hint, "%s: %s", what, strerror(code));
}

static enum ifm_status fail_errno(struct ifm_error *error, const char *path, const char *what)
{
    return ifm_file_fail(path, what, errno, error);
}

enum ifm_status ifm_file_open(const char *path, int *fd, size_t *size, struct ifm_error *error)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return fail_errno(error, path, "cannot open");
    enum ifm_status status = IFM_OK;
    if (fstat(*fd, &info) != 0)
        status = fail_errno(error, path, "cannot read");
    else if (!S_ISREG(info.st_mode))
        status = ifm_fail(error, IFM_USAGE, path, "put a regular file in its place, or give the name of one",
                          "not a regular file");
    else if (size != NULL)
        *size = (size_t)info.st_size;
    if (status == IFM_OK)
        return IFM_OK;
    close(*fd);
    *fd = -1;
    return status;
}

static enum ifm_status read_all(int fd, const char *path, size_t capacity, char **data, size_t *size,
                                struct ifm_error *error)
{
    size_t used = 0;
    char *buffer = malloc(capacity + 1);
    if (buffer == NULL)
        return ifm_fail(error, IFM_INTERNAL, path, "", "out of memory: %zu bytes", capacity);
    while (used < capacity) {
        ssize_t got = read(fd, buffer + used, capacity - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(buffer);
            return fail_errno(error, path, "cannot read");
        }
        if (got == 0)
            break;
        used += (size_t)got;
    }
    buffer[used] = '\0';
    *data = buffer;
    *size = used;
    return IFM_OK;
}

enum ifm_status ifm_file_read(const char *path, size_t limit, char **data, size_t *size, struct ifm_error *error)
{
    int fd;
    size_t bytes = 0;
    IFM_TRY(ifm_file_open(path, &fd, &bytes, error));
    enum ifm_status status = bytes > limit
                                 ? ifm_fail(error, IFM_USAGE, path, "", "%zu bytes; at most %zu are read", bytes, limit)
                                 : read_all(fd, path, bytes, data, size, error);
    close(fd);
    return status;
}

int ifm_file_write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        data += written;
        size -= (size_t)written;
    }
    return 0;
}

enum ifm_status ifm_file_sync_name(const char *path, struct ifm_error *error)
{
    char folder[4096];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') /* "dir/" and "dir" have the same parent */
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    if (length >= sizeof folder)
        return ifm_file_fail(path, "cannot sync its name to disk", ENAMETOOLONG, error);
    memcpy(folder, length == 0 ? "." : path, length == 0 ? 1 : length);
    folder[length == 0 ? 1 : length] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES) /* a folder with write but no read permission cannot be synced */
        return IFM_OK;
    int code = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (code == 0 || code == EINVAL || code == EBADF) /* this file system has nothing to sync */
        return IFM_OK;
    errno = code;
    return fail_errno(error, path, "cannot sync its name to disk");
}

/* A new file beside `path`, of a name that nobody can have put there before: a link would be followed. */
static int open_temporary(const char *path, mode_t mode, char *temporary, size_t size)
{
    for (int tries = 0; tries < 16; tries++) {
        uint64_t drawn;
        if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
            return -1;
        int length = snprintf(temporary, size, "%s.%llu.tmp", path, (unsigned long long)drawn);
        if (length < 0 || (size_t)length >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

enum ifm_status ifm_file_write_mode(const char *path, const void *data, size_t size, mode_t mode,
                                    struct ifm_error *error)
{
    char temporary[4096];
    int fd = open_temporary(path, mode, temporary, sizeof temporary);
    if (fd < 0)
        return fail_errno(error, path, "cannot write");
    int code = ifm_file_write_all(fd, data, size);
    bool ok = code == 0 && fsync(fd) == 0;
    if (code == 0)
        code = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        code = errno;
    }
    if (ok && rename(temporary, path) == 0)
        return ifm_file_sync_name(path, error);
    if (ok)
        code = errno;
    unlink(temporary);
    errno = code;
    return fail_errno(error, path, "cannot write");
}

enum ifm_status ifm_file_write_atomic(const char *path, const void *data, size_t size, struct ifm_error *error)
{
    return ifm_file_write_mode(path, data, size, 0644, error);
}

/* ---- a file that a user named ---- */

/* The stream that /dev/stdout, /dev/stderr or /dev/fd/N stands for; -1 for any other name. */
static int stream_of(const char *path)
{
    uint64_t number;
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    bool named = strncmp(path, "/dev/fd/", 8) == 0 && ifm_parse_u64(path + 8, &number) && number < INT_MAX;
    return named ? (int)number : -1;
}

/* A pipe or a terminal has a reader: it is written to, not replaced. */
static enum ifm_status write_straight(const char *path, const void *data, size_t size, struct ifm_error *error)
{
    int stream = stream_of(path), fd = stream >= 0 ? stream : open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(error, path, "cannot write");
    int code = ifm_file_write_all(fd, data, size);
    if (fd != stream && close(fd) != 0 && code == 0)
        code = errno;
    return code == 0 ? IFM_OK : ifm_file_fail(path, "cannot write", code, error);
}

enum ifm_status ifm_file_write_named(const char *path, const void *data, size_t size, struct ifm_error *error)
{
    struct stat info;
    if (stream_of(path) >= 0)
        return write_straight(path, data, size, error);
    bool there = lstat(path, &info) == 0;
    if (!there && errno != ENOENT)
        return fail_errno(error, path, "cannot write");
    if (there && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)))
        return write_straight(path, data, size, error);
    if (there && !S_ISREG(info.st_mode))
        return ifm_fail(error, IFM_USAGE, path, "name a file, a pipe, or - for standard output",
                        S_ISLNK(info.st_mode)   ? "it is a symbolic link, which is not followed"
                        : S_ISDIR(info.st_mode) ? "it is a folder"
                                                : "it is a device or a socket");
    return ifm_file_write_atomic(path, data, size, error);
}

bool ifm_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? !S_ISDIR(info.st_mode) : errno != ENOENT && errno != ENOTDIR;
}

bool ifm_dir_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

enum ifm_status ifm_dir_create(const char *path, struct ifm_error *error)
{
    if (mkdir(path, 0755) == 0)
        return ifm_file_sync_name(path, error);
    if (errno == EEXIST && ifm_dir_exists(path))
        return IFM_OK;
    if (errno == EEXIST || errno == ENOTDIR)
        return ifm_fail(error, IFM_USAGE, path, "choose another name", "is a file, not a folder");
    return fail_errno(error, path, "cannot create the folder");
}

enum ifm_status ifm_dir_create_all(const char *path, struct ifm_error *error)
{
    char parent[4096];
    if (strlen(path) == 0 || strlen(path) >= sizeof parent)
        return ifm_fail(error, IFM_USAGE, path, "give a folder's name", "an empty or too long folder name");
    memcpy(parent, path, strlen(path) + 1);
    for (char *at = parent + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        IFM_TRY(ifm_dir_create(parent, error));
        *at = '/';
    }
    return ifm_dir_create(path, error);
}

char *ifm_path_join(struct ifm_arena *arena, const char *dir, const char *name)
{
    return ifm_arena_printf(arena, "%s/%s", dir, name);
}

const char *ifm_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

char *ifm_path_tidy(char *path)
{
    size_t kept = 0;
    for (size_t i = 0; path[i] != '\0'; i++)
        if (path[i] != '/' || kept == 0 || path[kept - 1] != '/')
            path[kept++] = path[i];
    while (kept > 1 && path[kept - 1] == '/')
        kept--;
    path[kept] = '\0';
    return path;
}

bool ifm_file_line(const char *path, char *buffer, size_t size)
{
    int fd;
    struct ifm_error ignored;
    if (ifm_file_open(path, &fd, NULL, &ignored) != IFM_OK)
        return false;
    ssize_t got = read(fd, buffer, size - 1);
    close(fd);
    if (got < 0)
        return false;
    buffer[got] = '\0';
    buffer[strcspn(buffer, "\n")] = '\0';
    return true;
}
