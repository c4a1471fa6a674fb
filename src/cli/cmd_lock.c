/* lock and unlock: clocks, power limit, governor and turbo, fixed for a command or until they are unlocked. The only
 * commands that change a setting of the machine, and only the knobs that are named. */
#include "cli/cli.h"
#include "lock/lock.h"
#include "publish/listing.h"

#include "base/file.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/text.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_MHZ 100000.0
#define KNOBS                                                                                                          \
    "--gpu-clock MHZ, --memory-clock MHZ, --power-cap W, --persistence, --governor NAME, --turbo off, --frequency MHZ"

static const struct ifm_listing_column columns[] = {
    {"knob", "knob", true},           {"target", "target", true},
    {"before", "before", true},       {"wanted", "wanted", true},
    {"read_back", "read back", true}, {"state", "state", true},
    {"reason", NULL, true},           {"", "notes", true},
};

/* One call of lock or unlock. */
struct lock_run {
    const struct ifm_given *given;
    struct ifm_lock *lock;
    char state[IFM_LOCK_PATH], path[IFM_LOCK_PATH]; /* the state file, and the program to run */
};

static const char *outcome_words(enum ifm_lock_outcome outcome)
{
    static const char *const words[] = {"as it is", "locked",    "unlocked",   "failed",
                                        "restored", "unchanged", "left alone", "restarted"};
    return words[outcome];
}

/* Adjacent rows that differ only in their target are one line. */
static bool are_alike(const struct ifm_lock_row *a, const struct ifm_lock_row *b)
{
    return a->kind == b->kind && a->outcome == b->outcome && strcmp(a->before, b->before) == 0 &&
           strcmp(a->wanted, b->wanted) == 0 && strcmp(a->seen, b->seen) == 0 && strcmp(a->reason, b->reason) == 0;
}

static void add_row(struct ifm_listing *listing, const struct ifm_lock_row *row, const char *target)
{
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "knob", ifm_lock_knob(row));
    ifm_listing_set_text(listing, "target", target);
    ifm_listing_set_text(listing, "before", row->before);
    ifm_listing_set_text(listing, "wanted", row->wanted);
    ifm_listing_set_text(listing, "read_back", row->seen);
    ifm_listing_set_text(listing, "state", outcome_words(row->outcome));
    if (row->reason[0] == '\0')
        return;
    ifm_listing_set(listing, "reason", json_string(row->reason), NULL);
    ifm_listing_show_note(listing, row->reason);
}

static void print_rows(const struct lock_run *run, FILE *file)
{
    struct ifm_text text = {0};
    size_t n;
    struct ifm_arena *arena = run->given->arena;
    const struct ifm_lock_row *rows = ifm_lock_rows(run->lock, &n);
    struct ifm_listing listing = ifm_listing_begin(columns, sizeof columns / sizeof columns[0], arena);
    /* A CPU has two frequency knobs in a row, so equal knobs are two rows apart. */
    bool *told = IFM_ARENA_ARRAY(arena, bool, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct ifm_text target = {0};
        for (size_t k = i; !told[i] && k < n; k++)
            if (!told[k] && are_alike(&rows[i], &rows[k])) {
                ifm_text_printf(&target, "%s%s", k == i ? "" : " ", rows[k].target);
                told[k] = k != i;
            }
        if (!told[i])
            add_row(&listing, &rows[i], target.data);
        told[i] = true;
        ifm_text_free(&target);
    }
    ifm_cli_listing(&listing, run->given->format, &text);
    ifm_cli_print(&text, file);
    ifm_listing_end(&listing);
}

/* ---- arguments ---- */

static enum ifm_status take_wishes(const struct ifm_given *given, struct ifm_lock_wishes *wishes,
                                   struct ifm_error *error)
{
    double gpu = 0, memory = 0, frequency = 0;
    const char *turbo = ifm_given_text(given, "turbo");
    IFM_TRY(ifm_given_number(given, "gpu-clock", MOST_MHZ, true, &gpu, error));
    IFM_TRY(ifm_given_number(given, "memory-clock", MOST_MHZ, true, &memory, error));
    IFM_TRY(ifm_given_number(given, "power-cap", MOST_MHZ, false, &wishes->power_cap_w, error));
    IFM_TRY(ifm_given_number(given, "frequency", MOST_MHZ, true, &frequency, error));
    wishes->persistence = ifm_given_text(given, "persistence") != NULL;
    wishes->gpu_clock_mhz = (unsigned)gpu;
    wishes->memory_clock_mhz = (unsigned)memory;
    wishes->frequency_mhz = (unsigned)frequency;
    wishes->governor = ifm_given_text(given, "governor");
    wishes->turbo_off = turbo != NULL;
    wishes->gpus = ifm_given_text(given, "gpu");
    if (turbo != NULL && strcmp(turbo, "off") != 0)
        return ifm_fail(error, IFM_USAGE, "",
                        "only turbo off fixes the clock; leave --turbo out to keep the present setting",
                        "--turbo takes off, not \"%.40s\"", turbo);
    if (wishes->governor != NULL &&
        (wishes->governor[0] == '\0' || strlen(wishes->governor) > 15 || strpbrk(wishes->governor, " /\n") != NULL))
        return ifm_fail(error, IFM_USAGE, "", "such as performance", "--governor wants a governor's name");
    bool gpus = gpu > 0 || memory > 0 || wishes->power_cap_w > 0 || wishes->persistence;
    if (!gpus && wishes->gpus != NULL)
        return ifm_fail(error, IFM_USAGE, "", "add a knob of a GPU, such as --gpu-clock MHZ",
                        "--gpu is given, but no knob of a GPU");
    if (wishes->gpus != NULL &&
        (wishes->gpus[0] < '0' || wishes->gpus[0] > '9' || strspn(wishes->gpus, "0123456789,") != strlen(wishes->gpus)))
        return ifm_fail(error, IFM_USAGE, "", "such as --gpu 0 or --gpu 0,1",
                        "--gpu wants indices of GPUs, not \"%.40s\"", wishes->gpus);
    if (gpus || wishes->governor != NULL || frequency > 0 || wishes->turbo_off)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, "", "name at least one of " KNOBS "; --dry-run shows what they are now",
                    "no knob is named: nothing was changed");
}

/* Root and state file, which `state` receives. */
static enum ifm_status take_options(const struct ifm_given *given, char state[static IFM_LOCK_PATH],
                                    struct ifm_lock_options *options, struct ifm_error *error)
{
    const char *named = ifm_given_text(given, "state"), *root = ifm_given_text(given, "root");
    options->root = root == NULL ? "" : root;
    options->state = state;
    if (named == NULL)
        return ifm_lock_file(state, error);
    if (named[0] == '\0' || snprintf(state, IFM_LOCK_PATH, "%s", named) >= IFM_LOCK_PATH)
        return ifm_fail(error, IFM_USAGE, "", "", "--state wants a file");
    return IFM_OK;
}

/* ---- the command under the locks ---- */

static void wanted_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

/* Signals are blocked while a knob is changed, and end the transaction between two knobs. */
static bool signal_waits(void *context)
{
    sigset_t pending;
    (void)context;
    return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
                                         sigismember(&pending, SIGHUP) == 1);
}

/* A pending signal must not end this process before it has reported the state of the locks. */
static void drop_signals(const sigset_t *set)
{
    const struct timespec none = {0, 0};
    while (sigtimedwait(set, NULL, &none) > 0 || errno == EINTR)
        ;
}

/* A terminal sends signals to the command too; a signal sent only to us is passed on, and the third one kills the
 * command. */
static int wait_for(pid_t pid, const sigset_t *set, bool *interrupted)
{
    enum { PATIENCE = 2 };
    int status = 0, told = 0;
    sigset_t both = *set;
    sigaddset(&both, SIGCHLD);
    for (;;) {
        siginfo_t info;
        if (waitpid(pid, &status, WNOHANG) == pid)
            return status;
        int number = sigwaitinfo(&both, &info);
        if (number < 0 || number == SIGCHLD)
            continue;
        *interrupted = true;
        if (told++ >= PATIENCE)
            kill(pid, SIGKILL);
        else if (info.si_code <= 0) /* sent by a process; one from the terminal has reached the command too */
            kill(pid, number);
    }
}

static enum ifm_status run_command(const struct lock_run *run, const sigset_t *before, int *code,
                                   struct ifm_error *error)
{
    sigset_t set;
    bool interrupted = false;
    char **command = run->given->command;
    wanted_signals(&set);
    if (setenv("INFEROMETER_LOCKS", run->state, 1) != 0) /* the command reads the state of the locks from there */
        return ifm_fail(error, IFM_INTERNAL, "lock", "", "out of memory");
    pid_t pid = fork();
    if (pid < 0)
        return ifm_fail(error, IFM_INTERNAL, command[0], "", "cannot start it: %s", strerror(errno));
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, before, NULL);
        execv(run->path, command);
        (void)ifm_fail(error, IFM_USAGE, command[0], ifm_file_hint(errno), "%s", strerror(errno));
        ifm_error_print(error);
        _exit(127);
    }
    int status = wait_for(pid, &set, &interrupted);
    enum { OF_SIGNALS = 128 };
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : interrupted ? IFM_INTERRUPTED : OF_SIGNALS + WTERMSIG(status);
    return IFM_OK;
}

/* Locks are restored whatever the command does; a failure to restore overrides its exit status. */
static enum ifm_status run_locked(const struct lock_run *run, const sigset_t *before, struct ifm_error *error)
{
    int code = 0;
    struct ifm_error back = {0};
    print_rows(run, stderr); /* standard output is the command's */
    enum ifm_status status = run_command(run, before, &code, error);
    enum ifm_status given_back = ifm_lock_give(run->lock, &back);
    print_rows(run, stderr);
    if (given_back != IFM_OK) {
        *error = back;
        return given_back;
    }
    return status != IFM_OK ? status : (enum ifm_status)code;
}

static enum ifm_status hold(const struct lock_run *run, struct ifm_error *error)
{
    sigset_t set, before;
    size_t n;
    wanted_signals(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &before);
    enum ifm_status status = ifm_lock_take(run->lock, error);
    if (status == IFM_OK && run->given->command != NULL) {
        status = run_locked(run, &before, error);
    } else if (status == IFM_OK) {
        print_rows(run, stdout);
        ifm_note("these locks stay until `inferometer unlock`");
    } else if (ifm_lock_rows(run->lock, &n)->outcome != IFM_LOCK_PLANNED) {
        print_rows(run, stderr);
    }
    if (status != IFM_OK || run->given->command != NULL)
        drop_signals(&set);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

enum ifm_status ifm_cmd_lock(const struct ifm_given *given, struct ifm_error *error)
{
    struct lock_run run = {.given = given};
    struct ifm_lock_options options = {.stop = signal_waits, .settle_ms = IFM_LOCK_SETTLE_MS};
    struct ifm_lock_wishes wishes = {0};
    enum ifm_status status = IFM_OK;
    IFM_TRY(ifm_given_words(given, 0, "write the command after --", error));
    if (given->command != NULL && given->command[0] == NULL)
        return ifm_fail(error, IFM_USAGE, "", "such as -- inferometer decode", "there is no command after --");
    IFM_TRY(take_wishes(given, &wishes, error));
    IFM_TRY(take_options(given, run.state, &options, error));
    if (given->command != NULL)
        IFM_TRY(ifm_subprocess_find(given->command[0], run.path, sizeof run.path, error));
    IFM_TRY(ifm_lock_open(&options, &wishes, &run.lock, error));
    if (ifm_given_text(given, "dry-run") != NULL) {
        print_rows(&run, stdout);
        ifm_note("a dry run: nothing was changed");
    } else {
        status = hold(&run, error);
    }
    ifm_lock_close(run.lock);
    return status;
}

/* Exits 0 when everything is restored, also when nothing was locked. */
enum ifm_status ifm_cmd_unlock(const struct ifm_given *given, struct ifm_error *error)
{
    struct lock_run run = {.given = given};
    struct ifm_lock_options options = {0};
    sigset_t set, before;
    size_t n;
    IFM_TRY(ifm_given_words(given, 0, "leave it out", error));
    IFM_TRY(take_options(given, run.state, &options, error));
    wanted_signals(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
    enum ifm_status status = ifm_lock_recover(&options, &run.lock, error);
    ifm_lock_rows(run.lock, &n);
    if (n > 0)
        print_rows(&run, stdout);
    else if (status == IFM_OK)
        ifm_note("nothing is locked");
    ifm_lock_close(run.lock);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
