/* Code of plugins runs in a child of the process that the user started.
 *
 * It can end its process in ways that nothing inside can prevent: exit, _exit, a signal, pthread_exit. So the first
 * plugin is loaded in a child, which does all the work of the command, and the process that the user started only waits
 * for it. A child that ends without having said its status is a failure: of the arm that was at work, where there was
 * one, and then the run goes on without it, as --resume goes on; else of the command. So is a call that does not
 * return: the child is ended. A signal that ends a child from outside ends this process too.
 *
 * With --inprocess there is no child. Then `exit` and its kin are caught in this process, and a crash ends it. */
#include "cli/cli.h"

#include "base/log.h"
#include "sample/journal.h"
#include "workload/plugin/plugin.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALL_S = 60 }; /* what loading, describe and close may take */

/* The command line of whoever goes on with a run: words, each with its NUL, one behind the other. */
struct going_on {
    char words[6 * PATH_MAX]; /* room for the program, the run's folder, a key, two files, and what is short */
    size_t size;
};

/* Written by the child, and read when it is gone. */
struct watch {
    struct ifm_plugin_call call;
    struct ifm_witness witness;
    char dir[PATH_MAX]; /* of the run that is measured; "" = none */
    struct going_on on;
    bool quiet;
    bool replaced; /* by another program, which has a status of its own */
    bool done;     /* the command is, with this status */
    int status;
};
static struct watch *watch;             /* NULL: no plugin is loaded */
static const char *const *plugin_flags; /* for whoever goes on with the run */
static unsigned stuck_s;                /* the call that was ended had not returned for so long; 0 = none was */
static pid_t guarded;                   /* the process that runs a plugin's code under --inprocess; 0 = none */

/* ---- going on in a new process ---- */

static void add(struct going_on *on, const char *word)
{
    const size_t size = strlen(word) + 1;
    memcpy(on->words + on->size, word, size);
    on->size += size;
}

/* A longer value names no file; so there is room. */
static void add_value(struct going_on *on, const char *flag, const char *value)
{
    if (value == NULL || strlen(value) >= PATH_MAX)
        return;
    add(on, flag);
    add(on, value);
}

/* --resume, with every flag that does not change what is measured: whoever goes on ends as this process would. */
static void say_how(struct going_on *on, const char *dir, const struct ifm_options *options)
{
    const bool json = options->format == IFM_FORMAT_ELASTIC_KV; /* a flag of `decode` alone */
    const char *called = ifm_called_name();
    on->size = 0;
    add(on, strlen(called) >= PATH_MAX ? "inferometer" : called);
    add(on, json ? "decode" : options->ci != NULL ? "ci" : "run");
    add_value(on, "--resume", dir);
    if (options->quiet)
        add(on, "--quiet");
    if (options->verbose)
        add(on, "--verbose");
    if (json)
        add(on, "--json");
    else if (options->has_format)
        add_value(on, "--format", ifm_format_names[options->format]);
    add_value(on, "--sign", options->key);
    if (options->ci == NULL)
        return;
    add_value(on, "--junit", options->ci->files.junit);
    add_value(on, "--markdown", options->ci->files.markdown);
}

/* Returns only when exec fails. Open files are closed by it. */
static void go_on(const struct going_on *on)
{
    const char *words[64];
    size_t n = 0;
    for (size_t at = 0; at < on->size; at += strlen(on->words + at) + 1)
        words[n++] = on->words + at;
    for (size_t i = 0; plugin_flags != NULL && plugin_flags[i] != NULL && n + 1 < sizeof words / sizeof *words; i++)
        words[n++] = plugin_flags[i]; /* files that have moved since */
    words[n] = NULL;
    fflush(NULL);
    execv("/proc/self/exe", (char *const *)(uintptr_t)words);
}

void ifm_supervise_go_on(const char *dir, const struct ifm_options *options)
{
    struct going_on on;
    say_how(&on, dir, options);
    if (watch != NULL)
        watch->replaced = true;
    go_on(&on);
}

/* ---- what the child says ---- */

struct ifm_witness *ifm_supervise_run(const char *dir, const struct ifm_options *options)
{
    if (watch == NULL)
        return NULL;
    snprintf(watch->dir, sizeof watch->dir, "%s", dir);
    say_how(&watch->on, dir, options);
    watch->quiet = options->quiet;
    return &watch->witness;
}

void ifm_supervise_done(enum ifm_status status)
{
    if (watch == NULL)
        return;
    watch->status = (int)status;
    watch->done = true;
}

/* ---- what its end means ---- */

/* How the process ended, in words: "its open ended the process with exit status 0". */
static void say_end(int how, char *out, size_t size)
{
    const struct ifm_plugin_call *call = &watch->call;
    char who[64] = "its step, or what it left running,";
    if (call->file[0] != '\0')
        snprintf(who, sizeof who, "its %s", call->function[0] == '\0' ? "loading" : call->function);
    if (stuck_s > 0)
        snprintf(out, size, "its %s did not return within %u s",
                 call->file[0] == '\0'       ? "step"
                 : call->function[0] == '\0' ? "loading"
                                             : call->function,
                 stuck_s);
    else if (call->thread_end[0] != '\0')
        snprintf(out, size, "%s ended a thread of the lab (pthread_exit)", who);
    else if (WIFSIGNALED(how))
        snprintf(out, size, "%s ended the process by signal %d (%s)", who, WTERMSIG(how), strsignal(WTERMSIG(how)));
    else
        snprintf(out, size, "%s ended the process with exit status %d", who, WEXITSTATUS(how));
}

static const char *hint(void)
{
    if (stuck_s > 0)
        return watch->witness.arm[0] != '\0' ? "a longer measure.cap gives the calls of an arm more time"
                                             : "a debugger and --inprocess show where it waits";
    return "a plugin must neither exit nor crash; host->fail reports what is wrong";
}

/* Note the failure of the arm at work, and go on without it: as `run --resume`, in place of this process. Returns only
 * when that cannot be done. */
static enum ifm_status go_on_without(const char *reason, struct ifm_error *error)
{
    struct ifm_journal *journal;
    IFM_TRY(ifm_journal_open(watch->dir, &journal, error));
    enum ifm_status status = ifm_journal_add(journal,
                                             IFM_EVENT(arm_failed, false, .cell = watch->witness.cell,
                                                       .arm = watch->witness.arm, .reason = reason, .remedy = hint()),
                                             error);
    ifm_journal_close(journal);
    IFM_TRY(status);
    ifm_warn("cell %s: arm %s failed and is left out; the others start again: %s", watch->witness.cell,
             watch->witness.arm, reason);
    go_on(&watch->on);
    return ifm_fail(error, IFM_INTERNAL, watch->dir, "go on with --resume", "a new process cannot be started: %s",
                    strerror(errno));
}

/* A signal that the user, the system or a supervisor sends: nobody's fault inside. */
static bool is_from_outside(int number)
{
    return number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT ||
           number == SIGPIPE || number == SIGXCPU;
}

/* The status of this process for a child that ended as `how` says. */
static int judge_end(int how)
{
    struct ifm_error error = {0};
    char reason[256];
    if (watch->done)
        return watch->status;
    if (stuck_s == 0 && WIFSIGNALED(how) && is_from_outside(WTERMSIG(how))) {
        signal(WTERMSIG(how), SIG_DFL);
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        raise(WTERMSIG(how));
    }
    if (watch->replaced)
        return WIFEXITED(how) ? WEXITSTATUS(how) : (int)IFM_INTERNAL;
    say_end(how, reason, sizeof reason);
    ifm_log_quiet(watch->quiet);
    enum ifm_status status;
    if (watch->dir[0] != '\0' && watch->witness.arm[0] != '\0')
        status = go_on_without(reason, &error);
    else if (watch->dir[0] != '\0')
        status = ifm_fail(&error, IFM_INVALID, watch->dir, "go on with --resume", "a plugin ended the run: %s", reason);
    else
        status = ifm_fail(&error, IFM_USAGE, watch->call.file[0] != '\0' ? watch->call.file : "--plugin", hint(),
                          "nothing was measured: %s", reason);
    ifm_error_print(&error);
    return (int)status;
}

/* ---- the process that waits ---- */

/* What the call that is under way may take, s; 0 = none is. A turn of an arm has its own limit. */
static double call_most_s(void)
{
    return watch->witness.most_s > 0 ? watch->witness.most_s : watch->call.file[0] != '\0' ? CALL_S : 0;
}

/* Every second: is the child still in the call that it was in? Counted, not timed, so that a command that was stopped
 * for an hour goes on where it was. */
static void watch_calls(pid_t child)
{
    static unsigned seen, seconds;
    unsigned now = watch->witness.turns + watch->call.asked;
    double most = call_most_s();
    seconds = now == seen && most > 0 ? seconds + 1 : 0;
    seen = now;
    if (most == 0 || seconds <= most)
        return;
    stuck_s = seconds - 1;
    kill(child, SIGKILL);
}

/* A signal from the keyboard has reached the child too; one that was sent to this process alone is passed on. */
static int wait_for(pid_t child, const sigset_t *signals)
{
    static const struct timespec tick = {.tv_sec = 1};
    int how = 0;
    for (;;) {
        siginfo_t info = {0};
        pid_t ended = waitpid(child, &how, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR))
            return how;
        int number = sigtimedwait(signals, &info, &tick);
        if (number < 0 && errno == EAGAIN && stuck_s == 0)
            watch_calls(child);
        if (number > 0 && number != SIGCHLD && info.si_code <= 0)
            kill(child, number);
    }
}

static enum ifm_status fork_child(struct ifm_error *error)
{
    sigset_t signals, before;
    pid_t parent = getpid();
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    signal(SIGCHLD, SIG_DFL);
    fflush(NULL);
    pid_t child = fork();
    if (child > 0) {
        int how = wait_for(child, &signals);
        sigprocmask(SIG_SETMASK, &before, NULL); /* another program may take this process over */
        int status = judge_end(how);
        fflush(NULL);
        _exit(status); /* no handler of this process is for it */
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0)
        return ifm_fail(error, IFM_INTERNAL, "--plugin", "--inprocess loads plugins into this process",
                        "a child process cannot be started: %s", strerror(errno));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        raise(SIGKILL);
    return IFM_OK;
}

/* ---- in this process ---- */

/* The status with which a plugin's exit ends this process. A child that is about to become a program shares this
 * memory, and is not meant. */
static int status_of_exit(int status)
{
    if (guarded == 0 || guarded != getpid() || watch->done)
        return status;
    struct ifm_error error = {0};
    char reason[256];
    guarded = 0;
    say_end(status << 8, reason, sizeof reason);
    ifm_fail(&error, IFM_INVALID, watch->call.file, hint(), "there is no verdict: %s", reason);
    ifm_error_print(&error);
    return IFM_INVALID;
}

/* In front of the C library's own, for plugins under --inprocess: so they must be seen from outside. */
#define IFM_SEEN __attribute__((visibility("default")))

IFM_SEEN void _exit(int status)
{
    status = status_of_exit(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

IFM_SEEN void _Exit(int status)
{
    _exit(status);
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    if (guarded != 0 && guarded == getpid() && !watch->done)
        _exit(status);
}

static void at_quick(void)
{
    at_exit(0, NULL);
}

enum ifm_status ifm_supervise(bool inprocess, const char *const *flags, struct ifm_error *error)
{
    if (watch != NULL)
        return IFM_OK;
    watch = mmap(NULL, sizeof *watch, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (watch == MAP_FAILED) {
        watch = NULL;
        return ifm_fail(error, IFM_INTERNAL, "--plugin", "", "no memory to share with a child process: %s",
                        strerror(errno));
    }
    ifm_plugin_call = &watch->call;
    plugin_flags = flags;
    if (!inprocess)
        return fork_child(error);
    guarded = getpid();
    return on_exit(at_exit, NULL) == 0 && at_quick_exit(at_quick) == 0
               ? IFM_OK
               : ifm_fail(error, IFM_INTERNAL, "--inprocess", "", "out of memory");
}
