/* Starting a program and waiting for it.
 *
 * clone with CLONE_VM | CLONE_VFORK, as posix_spawn does it: nothing of our memory is copied, and the child's failure
 * to become the program comes back through that memory. posix_spawn itself can neither set an affinity nor a death
 * signal, nor does it give a process descriptor to wait on without a race. */
#include "base/subprocess.h"

#include "base/clock.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_STACK = 32 << 10, REAP_WAIT_MS = 5000, STRANGERS_MOST = 64 };
#define NO_LIMIT INT64_MAX
#define TICK_NS 1000000000
#define PLACE_FROM_NS 5000000

/* Children that this process had before it started any: a shell that execs the lab leaves it such children, for example
 * the `tee` of a process substitution. They are not ours to kill. */
static struct {
    pid_t parent, pids[STRANGERS_MOST];
    size_t n;
} strangers;

/* Shared with the child, which runs in our memory. */
struct start {
    const struct ifm_subprocess *program;
    const sigset_t *signals;
    pid_t parent;
    int failure; /* errno */
};

static bool redirect(int from, int to)
{
    return from < 0 || dup2(from, to) == to;
}

/* Between clone and execve: only system calls, and nothing of our memory is changed but `failure`. */
static int child(void *argument)
{
    struct start *start = argument;
    const struct ifm_subprocess *program = start->program;
    bool ok = setsid() >= 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == start->parent &&
              redirect(program->stdin_fd, STDIN_FILENO) && redirect(program->stdout_fd, STDOUT_FILENO) &&
              redirect(program->stderr_fd, STDERR_FILENO);
    if (ok && program->affinity != NULL)
        ok = sched_setaffinity(0, program->affinity_bytes, program->affinity) == 0;
    if (ok && sigprocmask(SIG_SETMASK, start->signals, NULL) == 0)
        execve(program->path, program->argv, environ);
    start->failure = errno == 0 ? ECHILD : errno;
    _exit(127);
}

/* The parent of process `pid`, and whether it has ended already; 0 when there is no such process. */
static pid_t parent_of(const char *pid, bool *ended)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    line[n] = '\0';
    const char *end = strrchr(line, ')'); /* the name between the parentheses may hold any character */
    if (end == NULL || end[1] != ' ' || end[2] == '\0')
        return 0;
    *ended = end[2] == 'Z' || end[2] == 'X';
    return (pid_t)strtol(end + 3, NULL, 10);
}

static bool is_stranger(pid_t pid)
{
    for (size_t i = 0; i < strangers.n; i++)
        if (strangers.pids[i] == pid)
            return true;
    return false;
}

static void forget_stranger(pid_t pid)
{
    for (size_t i = 0; i < strangers.n; i++)
        if (strangers.pids[i] == pid)
            strangers.pids[i] = strangers.pids[--strangers.n];
}

/* Call `visit` for each child that we started; returns their number, or -1 without /proc. */
static int each_child(void (*visit)(pid_t pid, bool ended))
{
    DIR *folder = opendir("/proc");
    pid_t self = getpid();
    int n = folder == NULL ? -1 : 0;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        bool ended = false;
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || parent_of(entry->d_name, &ended) != self)
            continue;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (is_stranger(pid))
            continue;
        n++;
        visit(pid, ended);
    }
    if (folder != NULL)
        closedir(folder);
    return n;
}

static pid_t living;

static void find_living(pid_t pid, bool ended)
{
    living = ended ? living : pid;
}

/* A child that we started and that lives; 0 = none. Inside a timed run: so by the kernel's own list, where it has one,
 * and by all of /proc elsewhere, which takes milliseconds. */
static pid_t living_child(void)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int list = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = list < 0 ? -1 : read(list, text, sizeof text - 1);
    if (list >= 0)
        close(list);
    living = 0;
    if (n < 0 || n == sizeof text - 1) {
        each_child(find_living);
        return living;
    }
    text[n] = '\0';
    for (char *at = text, *end;; at = end) {
        pid_t pid = (pid_t)strtol(at, &end, 10);
        if (end == at)
            return living;
        if (!is_stranger(pid))
            living = pid;
    }
}

static int64_t ns_of(struct timeval time)
{
    return ((int64_t)time.tv_sec * 1000000 + time.tv_usec) * 1000;
}

/* What the kernel tells of the program's first thread: opened while the program runs, read between its end and wait4,
 * when its other threads have gone. */
static int open_told(pid_t pid, const char *file)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void read_schedstat(int fd, struct ifm_subprocess_result *out)
{
    char line[96], *end, *end_delay;
    ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (n <= 0)
        return;
    line[n] = '\0';
    int64_t cpu_ns = strtoll(line, &end, 10), delay_ns = strtoll(end, &end_delay, 10);
    if (end_delay == end || cpu_ns <= 0) /* a kernel without CONFIG_SCHED_INFO gives zeros */
        return;
    out->first_cpu_ns = cpu_ns;
    out->first_delay_ns = delay_ns;
}

/* The CPU of its last moment, the only one of most programs of one thread (proc(5), field 39 of stat). Reading takes
 * 5 to 11 us, at most a five-hundredth of a run of which it is asked. While the program runs its reader has to wait for
 * it, on its CPU. */
static int read_cpu(int fd)
{
    enum { FIELD = 39 };
    char text[1024];
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strrchr(text, ')'); /* the name, field 2, may hold anything */
    for (int field = 2; at != NULL && field < FIELD; field++)
        at = strchr(at + 1, ' ');
    char *end;
    const long cpu = at == NULL ? -1 : strtol(at, &end, 10);
    return at == NULL || end == at || cpu < 0 || cpu > INT_MAX ? -1 : (int)cpu;
}

static void add_usage(const struct rusage *usage, struct ifm_subprocess_result *out)
{
    int64_t rss = (int64_t)usage->ru_maxrss * 1024;
    out->cpu_ns += ns_of(usage->ru_utime) + ns_of(usage->ru_stime);
    out->rss_bytes = rss > out->rss_bytes ? rss : out->rss_bytes;
    out->faults_major += usage->ru_majflt;
    out->switches_voluntary += usage->ru_nvcsw;
    out->switches_involuntary += usage->ru_nivcsw;
}

/* Wait until the process of `fd` ends, the time is `limit_ns`, or we receive a signal. */
static enum ifm_subprocess_end await(const struct ifm_subprocess *program, int fd, int64_t limit_ns,
                                     const sigset_t *signals)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    for (;;) {
        int64_t left_ns = limit_ns == NO_LIMIT ? NO_LIMIT : limit_ns - ifm_clock_now().ns;
        left_ns = left_ns > 0 ? left_ns : 0;
        bool ticks = program->tick != NULL && left_ns > TICK_NS;
        int64_t wait_ns = ticks ? TICK_NS : left_ns;
        struct timespec wait = {wait_ns / 1000000000, wait_ns % 1000000000};
        int ready = ppoll(&waiting, 1, wait_ns == NO_LIMIT ? NULL : &wait, signals);
        if (ready != 0)
            return ready > 0 ? IFM_SUBPROCESS_EXITED : IFM_SUBPROCESS_INTERRUPTED;
        if (!ticks)
            return IFM_SUBPROCESS_TIMED_OUT;
        program->tick(program->with);
    }
}

/* The time from now in so many seconds. */
static int64_t in_seconds(double seconds)
{
    return ifm_clock_now().ns + (int64_t)(seconds * 1e9);
}

/* Of a tree whose program has ended: wait for every descendant that it left behind. They are our children by now, since
 * the kernel hands orphans over before it tells the end of their parent. */
static enum ifm_subprocess_end await_strays(const struct ifm_subprocess *program, int64_t limit_ns,
                                            const sigset_t *signals, struct ifm_subprocess_result *out)
{
    int64_t strays_ns = in_seconds(program->strays_s);
    bool late = limit_ns < strays_ns;
    for (;;) {
        struct rusage usage;
        int status;
        pid_t pid = wait4(-1, &status, WNOHANG, &usage);
        if (pid > 0 && is_stranger(pid))
            forget_stranger(pid);
        else if (pid > 0) {
            out->strays++;
            add_usage(&usage, out);
        }
        if (pid > 0)
            continue;
        if (pid < 0 || (pid = living_child()) == 0) /* no child at all, or strangers alone */
            return IFM_SUBPROCESS_EXITED;
        int fd = pidfd_open(pid, 0);
        if (fd < 0) /* no descriptor is free */
            return IFM_SUBPROCESS_STRAYS;
        enum ifm_subprocess_end end = await(program, fd, late ? limit_ns : strays_ns, signals);
        close(fd);
        if (end != IFM_SUBPROCESS_EXITED)
            return end == IFM_SUBPROCESS_TIMED_OUT && !late ? IFM_SUBPROCESS_STRAYS : end;
    }
}

void ifm_subprocess_run(const struct ifm_subprocess *program, struct ifm_subprocess_result *out)
{
    static _Alignas(64) char stack[CHILD_STACK];
    sigset_t all, before;
    struct start start = {program, &before, getpid(), 0};
    *out = (struct ifm_subprocess_result){
        .end = IFM_SUBPROCESS_NOT_STARTED, .first_cpu_ns = -1, .first_delay_ns = -1, .first_cpu = -1};
    sigfillset(&all);
    /* Signals are blocked, so that no handler of ours runs in the child or between start and wait. */
    sigprocmask(SIG_SETMASK, &all, &before);
    const struct ifm_instant from = ifm_clock_now();
    int fd = -1, status = 0;
    pid_t pid = clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &start, &fd);
    if (pid < 0) {
        out->code = errno;
        sigprocmask(SIG_SETMASK, &before, NULL);
        return;
    }
    int delays = open_told(pid, "schedstat"), place = open_told(pid, "stat");
    int64_t limit_ns = program->timeout_s > 0 ? in_seconds(program->timeout_s) : NO_LIMIT;
    sigset_t waiting = before; /* that we were stopped and go on ends no wait */
    sigaddset(&waiting, SIGCONT);
    enum ifm_subprocess_end end = await(program, fd, limit_ns, &waiting);
    if (end != IFM_SUBPROCESS_EXITED && kill(-pid, SIGKILL) != 0)
        kill(pid, SIGKILL);
    if (end == IFM_SUBPROCESS_EXITED)
        read_schedstat(delays, out);
    if (end == IFM_SUBPROCESS_EXITED && start.failure == 0 && ifm_clock_since(from).ns >= PLACE_FROM_NS)
        out->first_cpu = read_cpu(place);
    struct rusage usage = {0};
    while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
        continue;
    close(fd);
    if (delays >= 0)
        close(delays);
    if (place >= 0)
        close(place);
    add_usage(&usage, out);
    if (program->tree && end == IFM_SUBPROCESS_EXITED && status == 0) /* what a failed run leaves is not its work */
        end = await_strays(program, limit_ns, &waiting, out);
    out->wall_ns = ifm_clock_since(from).ns;
    sigprocmask(SIG_SETMASK, &before, NULL);
    bool signaled = WIFSIGNALED(status);
    out->code = start.failure != 0 ? start.failure : signaled ? WTERMSIG(status) : WEXITSTATUS(status);
    if (start.failure != 0)
        return;
    out->end = end != IFM_SUBPROCESS_EXITED ? end : signaled ? IFM_SUBPROCESS_SIGNALED : IFM_SUBPROCESS_EXITED;
}

static void end_child(pid_t pid, bool ended)
{
    if (!ended)
        kill(pid, SIGKILL);
}

static void meet_stranger(pid_t pid, bool ended)
{
    (void)ended;
    if (strangers.n < STRANGERS_MOST)
        strangers.pids[strangers.n++] = pid;
}

enum ifm_status ifm_subprocess_prepare(struct ifm_error *error)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return ifm_fail(error, IFM_MISSING, "", "Linux 3.4 or newer is needed", "orphans cannot be collected: %s",
                        strerror(errno));
    if (strangers.parent == getpid())
        return IFM_OK;
    strangers.n = 0;
    if (each_child(meet_stranger) > STRANGERS_MOST)
        return ifm_fail(error, IFM_USAGE, "", "start it from a shell without `exec`",
                        "this process already had more than %d children when it started", STRANGERS_MOST);
    strangers.parent = getpid();
    return IFM_OK;
}

/* Each round kills one generation: its children are then reparented to us. */
enum ifm_status ifm_subprocess_reap(unsigned *killed, struct ifm_error *error)
{
    *killed = 0;
    for (int waited_ms = 0; waited_ms < REAP_WAIT_MS;) {
        int status = 0;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return IFM_OK;
        if (pid > 0 && is_stranger(pid)) {
            forget_stranger(pid);
            continue;
        }
        if (pid != 0) {
            *killed += pid > 0 && waited_ms > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
            continue;
        }
        if (each_child(end_child) == 0)
            return IFM_OK;
        ifm_clock_sleep((struct ifm_duration){1000000});
        waited_ms++;
    }
    return ifm_fail(error, IFM_INTERNAL, "", "look for processes that wait for a device (state D)",
                    "a descendant of a command cannot be killed");
}

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

enum ifm_status ifm_subprocess_find(const char *name, char *path, size_t size, struct ifm_error *error)
{
    static const char hint[] = "give the path of a program, or a name that stands in PATH";
    struct stat status;
    if (strchr(name, '/') != NULL) {
        if (snprintf(path, size, "%s", name) >= (int)size)
            return ifm_fail(error, IFM_USAGE, "", "", "the path of the program is longer than %zu bytes", size - 1);
        if (is_program(name))
            return IFM_OK;
        if (stat(name, &status) != 0)
            return ifm_fail(error, IFM_USAGE, "", hint, "there is no program %s", name);
        return ifm_fail(error, IFM_USAGE, "",
                        S_ISREG(status.st_mode) ? "chmod +x it, or name what runs it, such as 'python3 FILE'" : hint,
                        "%s cannot be executed", name);
    }
    const char *folders = getenv("PATH");
    for (const char *at = folders == NULL ? "/usr/bin:/bin" : folders;; at++) {
        size_t length = strcspn(at, ":");
        int used =
            length == 0 ? snprintf(path, size, "./%s", name) : snprintf(path, size, "%.*s/%s", (int)length, at, name);
        if (used > 0 && (size_t)used < size && is_program(path))
            return IFM_OK;
        at += length;
        if (*at == '\0')
            break;
    }
    return ifm_fail(error, IFM_USAGE, "", hint, "there is no program %s in PATH", name);
}
