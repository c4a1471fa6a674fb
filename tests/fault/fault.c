/* Preloaded by the fault scripts: makes one call of the command fail, or ends the process there.
 *
 * Calls are counted from 1 while the shim is armed. What is done is said by the environment:
 *
 *   IFM_FAULT_CALLS  classes of calls that count, with commas: write, sync, folder (its sync), rename, open, mkdir,
 *                    unlink, cut, read, stat, lock, alloc, pin, pinned, clock (readings of CLOCK_MONOTONIC_RAW)
 *   IFM_FAULT_AT     the number of the call that fails; 0 or unset: none, the calls are only counted
 *   IFM_FAULT_DO     kill (SIGKILL before the call), torn (half of the write, then SIGKILL), short (half of the write,
 *                    and no error), an errno by name (ENOSPC, EIO, EROFS, EACCES, EINTR, ENOMEM, EINVAL, ENOSYS),
 *                    or for clock: back, freeze, jump (by IFM_FAULT_NS)
 *   IFM_FAULT_KEEP   with a value: every later call fails too, as on a disk that stays full
 *   IFM_FAULT_BELOW  only files whose name begins so count
 *   IFM_FAULT_LEAST  only allocations of so many bytes count
 *   IFM_FAULT_FROM   armed once a write holds this text; unset: at once
 *   IFM_FAULT_UNTIL  disarmed once a write holds this text
 *   IFM_FAULT_WALL   with a value: every reading of CLOCK_REALTIME steps by hours, to and fro
 *   IFM_FAULT_COUNT  a file that receives the number of counted calls when the process ends
 *
 * The standard streams never count. It must not allocate by itself. Thread rule: atomics only. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

enum { MOST_FDS = 1024 };
enum call {
    WRITE,
    SYNC,
    FOLDER,
    RENAME,
    OPEN,
    MKDIR,
    UNLINK,
    CUT,
    READ,
    STAT,
    LOCK,
    ALLOC,
    PIN,
    PINNED,
    CLOCK,
    N_CALLS
};
static const char *const call_names[N_CALLS] = {"write", "sync", "folder", "rename", "open", "mkdir",  "unlink", "cut",
                                                "read",  "stat", "lock",   "alloc",  "pin",  "pinned", "clock"};

static bool counts[N_CALLS], ready, keep, wall;
static long at;
static size_t least;
static const char *what, *below, *from, *until;
static atomic_long calls;
static atomic_bool armed;
static atomic_bool below_fd[MOST_FDS];

__attribute__((constructor)) static void start(void)
{
    const char *list = getenv("IFM_FAULT_CALLS"), *number = getenv("IFM_FAULT_AT");
    for (int i = 0; list != NULL && i < N_CALLS; i++) {
        size_t length = strlen(call_names[i]);
        for (const char *word = list; word != NULL; word = strchr(word, ',')) {
            word += *word == ',';
            counts[i] |= strncmp(word, call_names[i], length) == 0 && (word[length] == ',' || word[length] == '\0');
        }
    }
    at = number == NULL ? 0 : strtol(number, NULL, 10);
    const char *size = getenv("IFM_FAULT_LEAST");
    least = size == NULL ? 0 : strtoul(size, NULL, 10);
    what = getenv("IFM_FAULT_DO");
    keep = getenv("IFM_FAULT_KEEP") != NULL;
    wall = getenv("IFM_FAULT_WALL") != NULL;
    below = getenv("IFM_FAULT_BELOW");
    from = getenv("IFM_FAULT_FROM");
    until = getenv("IFM_FAULT_UNTIL");
    atomic_store(&armed, from == NULL);
    ready = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("IFM_FAULT_COUNT");
    char text[32];
    int fd = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0)
        return;
    int size = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
    (void)syscall(SYS_write, fd, text, (size_t)size);
    (void)syscall(SYS_close, fd);
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static int code_of(void)
{
    static const struct {
        const char *name;
        int code;
    } codes[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EROFS", EROFS},   {"EACCES", EACCES},
                 {"EINTR", EINTR},   {"ENOMEM", ENOMEM}, {"EINVAL", EINVAL}, {"ENOSYS", ENOSYS}};
    for (size_t i = 0; what != NULL && i < sizeof codes / sizeof codes[0]; i++)
        if (strcmp(what, codes[i].name) == 0)
            return codes[i].code;
    return EIO;
}

static bool does(const char *word)
{
    return what != NULL && strcmp(what, word) == 0;
}

/* Count a call; is it the one? The process may end here. */
static bool strikes(enum call call)
{
    if (!ready || !counts[call] || !atomic_load(&armed))
        return false;
    long now = atomic_fetch_add(&calls, 1) + 1;
    bool hit = at > 0 && (now == at || (keep && now > at));
    if (does("short") || does("torn")) /* nothing else can be done by half */
        hit &= call == WRITE || call == READ;
    if (hit && does("kill"))
        (void)syscall(SYS_kill, getpid(), SIGKILL);
    return hit;
}

static bool is_below(const char *path)
{
    return below == NULL || strncmp(path, below, strlen(below)) == 0;
}

static bool fd_counts(int fd)
{
    return fd > 2 && fd < MOST_FDS && atomic_load(&below_fd[fd]);
}

/* ---- files ---- */

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if (is_below(path) && strikes(writes ? OPEN : READ) && !does("short")) {
        errno = code_of();
        return -1;
    }
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd >= 0 && fd < MOST_FDS)
        atomic_store(&below_fd[fd], is_below(path));
    return fd;
}

static bool holds(const void *data, size_t size, const char *text)
{
    return text != NULL && memmem(data, size, text, strlen(text)) != NULL;
}

ssize_t write(int fd, const void *data, size_t size)
{
    size_t take = size;
    if (fd_counts(fd) && strikes(WRITE)) {
        if (!does("short") && !does("torn")) {
            errno = code_of();
            return -1;
        }
        take = size > 1 ? size / 2 : size;
    }
    ssize_t written = syscall(SYS_write, fd, data, take);
    if (take < size && does("torn"))
        (void)syscall(SYS_kill, getpid(), SIGKILL);
    if (fd_counts(fd) && holds(data, size, from))
        atomic_store(&armed, true);
    if (fd_counts(fd) && holds(data, size, until))
        atomic_store(&armed, false);
    return written;
}

ssize_t read(int fd, void *data, size_t size)
{
    if (fd_counts(fd) && strikes(READ)) {
        if (!does("short")) {
            errno = code_of();
            return -1;
        }
        size = size > 1 ? size / 2 : size;
    }
    return syscall(SYS_read, fd, data, size);
}

DIR *opendir(const char *path)
{
    static DIR *(*real)(const char *);
    if (is_below(path) && strikes(READ) && !does("short")) {
        errno = code_of();
        return NULL;
    }
    if (real == NULL)
        *(void **)&real = next("opendir");
    return real(path);
}

int stat(const char *path, struct stat *status)
{
    if (is_below(path) && strikes(STAT)) {
        errno = code_of();
        return -1;
    }
    return fstatat(AT_FDCWD, path, status, 0);
}

int fsync(int fd)
{
    struct stat status;
    bool folder = fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
    if (fd_counts(fd) && strikes(folder ? FOLDER : SYNC)) {
        errno = code_of();
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    if (fd_counts(fd) && strikes(SYNC)) {
        errno = code_of();
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

int flock(int fd, int operation)
{
    if (strikes(LOCK)) {
        errno = code_of();
        return -1;
    }
    return (int)syscall(SYS_flock, fd, operation);
}

int ftruncate(int fd, off_t size)
{
    if (fd_counts(fd) && strikes(CUT)) {
        errno = code_of();
        return -1;
    }
    return (int)syscall(SYS_ftruncate, fd, size);
}

int rename(const char *old, const char *new)
{
    if (is_below(new) && strikes(RENAME)) {
        errno = code_of();
        return -1;
    }
    return (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
}

int mkdir(const char *path, mode_t mode)
{
    if (is_below(path) && strikes(MKDIR)) {
        errno = code_of();
        return -1;
    }
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int unlink(const char *path)
{
    if (is_below(path) && strikes(UNLINK)) {
        errno = code_of();
        return -1;
    }
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int remove(const char *path)
{
    int result = unlink(path);
    return result != 0 && errno == EISDIR ? (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR) : result;
}

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);
    if (is_below(path) && strikes(READ) && !does("short")) {
        errno = code_of();
        return NULL;
    }
    if (real == NULL)
        *(void **)&real = next("fopen");
    return real(path, mode);
}

/* ---- memory ---- */

static bool no_memory(size_t size)
{
    if (size < least || !strikes(ALLOC))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return no_memory(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return no_memory(n * size) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *block, size_t size)
{
    return no_memory(size) ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return no_memory(size) ? NULL : __libc_memalign(alignment, size);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (no_memory(size))
        return MAP_FAILED;
    if (real == NULL)
        *(void **)&real = next("mmap");
    return real(address, size, protection, flags, fd, offset);
}

/* ---- processors ---- */

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *mask)
{
    if (strikes(PIN)) {
        errno = code_of();
        return -1;
    }
    return (int)syscall(SYS_sched_setaffinity, thread, size, mask);
}

/* A thread that is somewhere else: on no CPU that anyone has asked for. */
static void displace(size_t size, cpu_set_t *mask)
{
    memset(mask, 0, size);
    CPU_SET_S(size * 8 - 1, size, mask);
}

int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *mask)
{
    long got = syscall(SYS_sched_getaffinity, thread, size, mask);
    if (got >= 0 && strikes(PINNED))
        displace((size_t)got, mask);
    if (got >= 0 && (size_t)got < size)
        memset((char *)mask + got, 0, size - (size_t)got);
    return got < 0 ? -1 : 0;
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *mask)
{
    static int (*real)(pthread_t, size_t, cpu_set_t *);
    if (real == NULL)
        *(void **)&real = next("pthread_getaffinity_np");
    int result = real(thread, size, mask);
    if (result == 0 && strikes(PINNED))
        displace(size, mask);
    return result;
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *mask)
{
    static int (*real)(pthread_t, size_t, const cpu_set_t *);
    if (strikes(PIN))
        return code_of();
    if (real == NULL)
        *(void **)&real = next("pthread_setaffinity_np");
    return real(thread, size, mask);
}

/* ---- clocks ---- */

static int64_t amount_ns(void)
{
    const char *text = getenv("IFM_FAULT_NS");
    return text == NULL ? 1000000000 : strtoll(text, NULL, 10);
}

static void add_ns(struct timespec *time, int64_t ns)
{
    int64_t sum = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + ns;
    time->tv_sec = (time_t)(sum / 1000000000);
    time->tv_nsec = (long)(sum % 1000000000);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*real)(clockid_t, struct timespec *);
    static _Atomic int64_t offset_ns, frozen_ns;
    static atomic_long walls;
    if (real == NULL)
        *(void **)&real = next("clock_gettime");
    int result = real(clock, time);
    if (clock == CLOCK_REALTIME && wall)
        add_ns(time, (atomic_fetch_add(&walls, 1) % 2 == 0 ? 5 : -7) * (int64_t)3600000000000);
    if (clock != CLOCK_MONOTONIC_RAW || !counts[CLOCK])
        return result;
    bool hit = strikes(CLOCK);
    add_ns(time, atomic_load(&offset_ns));
    int64_t now_ns = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
    if (hit && does("freeze") && atomic_load(&frozen_ns) == 0)
        atomic_store(&frozen_ns, now_ns);
    else if (hit && (does("back") || does("jump"))) {
        atomic_fetch_add(&offset_ns, does("back") ? -amount_ns() : amount_ns());
        add_ns(time, does("back") ? -amount_ns() : amount_ns());
    }
    if (atomic_load(&frozen_ns) != 0)
        *time = (struct timespec){(time_t)(frozen_ns / 1000000000), (long)(frozen_ns % 1000000000)};
    return result;
}
