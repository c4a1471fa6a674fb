/* Claims; see claim.h. */
#include "sample/claim.h"

#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* ---- who holds it ---- */

/* The process that holds a lock on the same file, as /proc/locks tells it; 0 when it does not (another container). */
static long holder_of(int fd)
{
    struct stat file;
    char line[256];
    long holder = 0;
    FILE *locks = fopen("/proc/locks", "re");
    if (locks == NULL)
        return 0;
    while (fstat(fd, &file) == 0 && holder <= 0 && fgets(line, sizeof line, locks) != NULL) {
        char kind[16];
        long process;
        unsigned major_number, minor_number;
        unsigned long long inode;
        if (sscanf(line, "%*s %15s %*s %*s %ld %x:%x:%llu", kind, &process, &major_number, &minor_number, &inode) ==
                5 &&
            strcmp(kind, "FLOCK") == 0 && inode == file.st_ino && major_number == major(file.st_dev) &&
            minor_number == minor(file.st_dev))
            holder = process;
    }
    fclose(locks);
    return holder;
}

static enum ifm_status fail_busy(const char *dir, int fd, struct ifm_error *error)
{
    static const char hint[] = "wait for it to end, or choose another folder";
    char path[64], name[64];
    long holder = holder_of(fd);
    snprintf(path, sizeof path, "/proc/%ld/comm", holder);
    if (holder <= 0 || !ifm_file_line(path, name, sizeof name))
        return ifm_fail(error, IFM_USAGE, dir, hint, "another command is at work in this folder");
    return ifm_fail(error, IFM_USAGE, dir, hint, "another command is at work in this folder: process %ld (%s)", holder,
                    name);
}

/* ---- what is left behind ---- */

/* "<file>.<process>.tmp", as ifm_file_write_atomic names what it has not renamed yet. */
static bool is_temporary(const char *name)
{
    size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 4, ".tmp") != 0)
        return false;
    size_t digits = 0;
    while (digits + 4 < length && strchr("0123456789", name[length - 5 - digits]) != NULL)
        digits++;
    return digits > 0 && digits + 5 < length && name[length - 5 - digits] == '.';
}

/* "<dir>/<name>"; "", which no file has, where it is too long. */
static const char *below(const char *dir, const char *name, char path[static PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX ? path : "";
}

/* True when the file is gone. A failure is not an error here: the next write reports it. */
static bool remove_below(const char *dir, const char *name)
{
    char path[PATH_MAX];
    return remove(below(dir, name, path)) == 0 || errno == ENOENT;
}

/* Only in run folders: elsewhere a file of such a name is not ours. */
static void sweep(const char *dir)
{
    char log[PATH_MAX];
    DIR *folder = ifm_file_exists(below(dir, "run.log", log)) ? opendir(dir) : NULL;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (is_temporary(entry->d_name))
            (void)remove_below(dir, entry->d_name);
    if (folder != NULL)
        closedir(folder);
}

/* What a start writes before its plan. run.log comes first and is removed last: an empty run.log marks such a
 * folder. */
static const char *const of_a_start[] = {"config.lock.json", "private.json", "samples", "run.log"};
enum { OF_A_START = sizeof of_a_start / sizeof of_a_start[0] };

static bool is_of_a_start(const char *name)
{
    for (size_t i = 0; i < OF_A_START; i++)
        if (strcmp(name, of_a_start[i]) == 0)
            return true;
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool log_is_empty(const char *dir)
{
    char path[PATH_MAX];
    struct stat log;
    return lstat(below(dir, "run.log", path), &log) == 0 && S_ISREG(log.st_mode) && log.st_size == 0;
}

/* The folder is empty, or holds only what a start left that ended before its plan was written. `*code`: errno where it
 * cannot be listed, which says nothing of what it holds; else 0. */
static bool holds_no_run(const char *dir, int *code)
{
    size_t others = 0, of_start = 0;
    DIR *folder = opendir(dir);
    *code = folder == NULL ? errno : 0;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        bool known = is_of_a_start(entry->d_name);
        others += !known;
        of_start += known && entry->d_name[0] != '.';
    }
    if (folder != NULL)
        closedir(folder);
    return folder != NULL && others == 0 && (of_start == 0 || log_is_empty(dir));
}

void ifm_claim_undo(const char *dir)
{
    int code;
    sweep(dir);
    if (!holds_no_run(dir, &code))
        return;
    for (size_t i = 0; i < OF_A_START && remove_below(dir, of_a_start[i]); i++)
        continue;
}

void ifm_claim_refuse(const char *dir, bool made)
{
    bool gone = remove_below(dir, "samples") && remove_below(dir, "plan.json");
    for (size_t i = 0; gone && i < OF_A_START; i++)
        gone = remove_below(dir, of_a_start[i]);
    if (gone && made)
        (void)rmdir(dir);
}

/* ---- claiming ---- */

static enum ifm_status lock(const char *dir, bool alone, int fd, struct ifm_error *error)
{
    while (flock(fd, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return fail_busy(dir, fd, error);
        /* this file system cannot lock: nothing is removed, because another command may be at work */
        if (errno != EINTR)
            return IFM_OK;
    }
    if (alone)
        sweep(dir);
    return IFM_OK;
}

enum ifm_status ifm_claim_take(const char *dir, bool alone, int *fd, struct ifm_error *error)
{
    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return ifm_file_fail(dir, "cannot open the folder", errno, error);
    enum ifm_status status = lock(dir, alone, *fd, error);
    if (status != IFM_OK) {
        close(*fd);
        *fd = -1;
    }
    return status;
}

static enum ifm_status make_log(const char *dir, struct ifm_error *error)
{
    char path[PATH_MAX];
    int log = open(below(dir, "run.log", path), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666),
        code = errno;
    if (log >= 0) {
        close(log);
        return IFM_OK;
    }
    return ifm_file_fail(dir, "cannot write into the folder", code, error);
}

enum ifm_status ifm_claim_new(const char *dir, int *fd, struct ifm_error *error)
{
    IFM_TRY(ifm_dir_create_all(dir, error));
    IFM_TRY(ifm_claim_take(dir, true, fd, error));
    enum ifm_status status = IFM_OK;
    int code;
    bool free_of_runs = holds_no_run(dir, &code);
    if (code != 0)
        status = ifm_file_fail(dir, "cannot list the folder", code, error);
    else if (!free_of_runs)
        status = ifm_fail(error, IFM_USAGE, dir, "choose another --out, or continue an interrupted run with --resume",
                          "the folder is not empty; a run never overwrites one");
    if (status == IFM_OK) {
        ifm_claim_undo(dir);
        status = make_log(dir, error);
    }
    if (status != IFM_OK) {
        close(*fd);
        *fd = -1;
    }
    return status;
}
