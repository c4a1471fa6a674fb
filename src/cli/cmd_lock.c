/* lock and unlock: clocks, power limit, governor and turbo, fixed for a command or until they are unlocked. The only
 * commands that change a setting of the machine, and only the knobs that are named. */
#include "cli/arguments.h"
#include "lock/lock.h"
#include "publish/listing.h"

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
    ifm_listing_set(listing, "knob", json_string(ifm_lock_knob(row)), ifm_lock_knob(row));
    ifm_listing_set(listing, "target", json_string(target), target);
    ifm_listing_set(listing, "before", json_string(row->before), row->before);
    ifm_listing_set(listing, "wanted", json_string(row->wanted), row->wanted);
    ifm_listing_set(listing, "read_back", json_string(row->seen), row->seen);
    ifm_listing_set(listing, "state", json_string(outcome_words(row->outcome)), outcome_words(row->outcome));
    if (row->reason[0] == '\0')
        return;
    ifm_listing_set(listing, "reason", json_string(row->reason), NULL);
    ifm_listing_show(listing, "notes",
                     ifm_arena_printf(listing->arena, "[%zu]", ifm_listing_note(listing, row->reason)));
}

static void print_rows(const struct ifm_lock *lock, enum ifm_format format, FILE *file, struct ifm_arena *arena)
{
    struct ifm_text text = {0};
    size_t n;
    const struct ifm_lock_row *rows = ifm_lock_rows(lock, &n);
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
    ifm_listing_compose(&listing, format, &text);
    if (text.size > 0)
        fputs(text.data, file);
    ifm_listing_end(&listing);
    ifm_text_free(&text);
}

/* ---- arguments ---- */

struct lock_arguments {
    struct ifm_lock_wishes wishes;
    struct ifm_lock_options options;
    char state[IFM_LOCK_PATH];
    enum ifm_format format;
    bool dry_run, help;
    char **command; /* NULL: none */
};

/* Take a switch out of the words; true where it was there. */
static bool take_switch(int *argc, char **argv, const char *name)
{
    bool found = false;
    int kept = 1;
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], name) == 0)
            found = true;
        else
            argv[kept++] = argv[i];
    *argc = kept;
    return found;
}

static enum ifm_status positive(const char *flag, const char *text, bool whole, double *out, struct ifm_error *error)
{
    *out = 0;
    if (text == NULL)
        return IFM_OK;
    if (!ifm_parse_f64(text, out) || !(*out > 0) || *out > MOST_MHZ || (whole && *out != (double)(unsigned)*out))
        return ifm_fail(error, IFM_USAGE, "", "", "--%s wants a %snumber above 0 and at most %.0f, not \"%.40s\"", flag,
                        whole ? "whole " : "", MOST_MHZ, text);
    return IFM_OK;
}

static enum ifm_status parse_wishes(struct lock_arguments *out, const char *const texts[static 7],
                                    struct ifm_error *error)
{
    double gpu, memory, frequency;
    struct ifm_lock_wishes *wishes = &out->wishes;
    IFM_TRY(positive("gpu-clock", texts[0], true, &gpu, error));
    IFM_TRY(positive("memory-clock", texts[1], true, &memory, error));
    IFM_TRY(positive("power-cap", texts[2], false, &wishes->power_cap_w, error));
    IFM_TRY(positive("frequency", texts[3], true, &frequency, error));
    wishes->gpu_clock_mhz = (unsigned)gpu;
    wishes->memory_clock_mhz = (unsigned)memory;
    wishes->frequency_mhz = (unsigned)frequency;
    wishes->governor = texts[4];
    wishes->turbo_off = texts[5] != NULL;
    wishes->gpus = texts[6];
    if (texts[5] != NULL && strcmp(texts[5], "off") != 0)
        return ifm_fail(error, IFM_USAGE, "",
                        "only turbo off fixes the clock; leave --turbo out to keep the present setting",
                        "--turbo takes off, not \"%.40s\"", texts[5]);
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

static enum ifm_status state_file(const char *named, struct lock_arguments *out, struct ifm_error *error)
{
    if (named == NULL)
        IFM_TRY(ifm_lock_file(out->state, error));
    else if (named[0] == '\0' || strlen(named) >= sizeof out->state)
        return ifm_fail(error, IFM_USAGE, "", "", "--state wants a file");
    else
        snprintf(out->state, sizeof out->state, "%s", named);
    out->options.state = out->state;
    return IFM_OK;
}

/* The words behind "--" are the command. */
static char **take_command(int *argc, char **argv)
{
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], "--") == 0) {
            *argc = i;
            return argv + i + 1;
        }
    return NULL;
}

static enum ifm_status parse_lock(int argc, char **argv, struct lock_arguments *out, struct ifm_arena *arena,
                                  struct ifm_error *error)
{
    const char *texts[7] = {NULL}, *state = NULL, *root = NULL, *format = NULL;
    const char **words = IFM_ARENA_ARRAY(arena, const char *, argc + 1);
    const struct ifm_flag flags[] = {{"gpu-clock", &texts[0]}, {"memory-clock", &texts[1]}, {"power-cap", &texts[2]},
                                     {"frequency", &texts[3]}, {"governor", &texts[4]},     {"turbo", &texts[5]},
                                     {"gpu", &texts[6]},       {"state", &state},           {"root", &root},
                                     {"format", &format}};
    size_t n = 0;
    out->command = take_command(&argc, argv);
    out->dry_run = take_switch(&argc, argv, "--dry-run");
    out->wishes.persistence = take_switch(&argc, argv, "--persistence");
    IFM_TRY(ifm_arguments_parse(argc, argv, flags, sizeof flags / sizeof *flags, words, &n, &out->help, error));
    if (out->help)
        return IFM_OK;
    IFM_TRY(ifm_arguments_format(format, &out->format, error));
    if (n > 0)
        return ifm_fail(error, IFM_USAGE, "", "write the command after --", "unexpected argument \"%.40s\"", words[0]);
    if (out->command != NULL && out->command[0] == NULL)
        return ifm_fail(error, IFM_USAGE, "", "such as -- inferometer decode", "there is no command after --");
    IFM_TRY(parse_wishes(out, texts, error));
    out->options.root = root == NULL ? "" : root;
    out->options.settle_ms = IFM_LOCK_SETTLE_MS;
    return state_file(state, out, error);
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

static enum ifm_status run_command(const struct lock_arguments *given, const char *path, const sigset_t *before,
                                   int *code, struct ifm_error *error)
{
    sigset_t set;
    bool interrupted = false;
    wanted_signals(&set);
    if (setenv("INFEROMETER_LOCKS", given->state, 1) != 0) /* the command reads the state of the locks from there */
        return ifm_fail(error, IFM_INTERNAL, "lock", "", "out of memory");
    pid_t pid = fork();
    if (pid < 0)
        return ifm_fail(error, IFM_INTERNAL, given->command[0], "", "cannot start it: %s", strerror(errno));
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, before, NULL);
        execv(path, given->command);
        fprintf(stderr, "error: %s: %s\n", given->command[0], strerror(errno));
        _exit(127);
    }
    int status = wait_for(pid, &set, &interrupted);
    enum { OF_SIGNALS = 128 };
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : interrupted ? IFM_INTERRUPTED : OF_SIGNALS + WTERMSIG(status);
    return IFM_OK;
}

/* Locks are restored whatever the command does; a failure to restore overrides its exit status. */
static enum ifm_status run_locked(struct ifm_lock *lock, const struct lock_arguments *given, const char *path,
                                  const sigset_t *before, struct ifm_arena *arena, struct ifm_error *error)
{
    int code = 0;
    struct ifm_error back = {0};
    enum ifm_status status = run_command(given, path, before, &code, error);
    enum ifm_status given_back = ifm_lock_give(lock, &back);
    print_rows(lock, given->format, stderr, arena);
    if (given_back != IFM_OK) {
        *error = back;
        return given_back;
    }
    return status != IFM_OK ? status : (enum ifm_status)code;
}

static enum ifm_status hold(struct ifm_lock *lock, const struct lock_arguments *given, const char *path,
                            struct ifm_arena *arena, struct ifm_error *error)
{
    sigset_t set, before;
    wanted_signals(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &before);
    enum ifm_status status = ifm_lock_take(lock, error);
    if (status == IFM_OK && given->command != NULL) {
        print_rows(lock, given->format, stderr, arena); /* standard output is the command's */
        status = run_locked(lock, given, path, &before, arena, error);
    } else if (status == IFM_OK) {
        print_rows(lock, given->format, stdout, arena);
        ifm_note("these locks stay until `inferometer unlock`");
    } else {
        size_t n;
        if (ifm_lock_rows(lock, &n)->outcome != IFM_LOCK_PLANNED)
            print_rows(lock, given->format, stderr, arena);
    }
    if (status != IFM_OK || given->command != NULL)
        drop_signals(&set);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

static enum ifm_status lock_command(int argc, char **argv, struct ifm_arena *arena, struct ifm_error *error)
{
    struct lock_arguments given = {.options.stop = signal_waits};
    struct ifm_lock *lock = NULL;
    char path[IFM_LOCK_PATH] = "";
    IFM_TRY(parse_lock(argc, argv, &given, arena, error));
    if (given.help)
        return ifm_cmd_help(2, (char *[]){(char *)"help", argv[0], NULL}, error);
    if (given.command != NULL)
        IFM_TRY(ifm_subprocess_find(given.command[0], path, sizeof path, error));
    IFM_TRY(ifm_lock_open(&given.options, &given.wishes, &lock, error));
    enum ifm_status status = IFM_OK;
    if (given.dry_run) {
        print_rows(lock, given.format, stdout, arena);
        ifm_note("a dry run: nothing was changed");
    } else
        status = hold(lock, &given, path, arena, error);
    ifm_lock_close(lock);
    return status;
}

enum ifm_status ifm_cmd_lock(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = lock_command(argc, argv, arena, error);
    ifm_arena_destroy(arena);
    return status;
}

/* ---- unlock ---- */

static enum ifm_status unlock_command(int argc, char **argv, struct ifm_arena *arena, struct ifm_error *error)
{
    struct lock_arguments given = {.help = false};
    const char *state = NULL, *root = NULL, *format = NULL;
    const char **words = IFM_ARENA_ARRAY(arena, const char *, argc + 1);
    const struct ifm_flag flags[] = {{"state", &state}, {"root", &root}, {"format", &format}};
    struct ifm_lock *lock = NULL;
    sigset_t set, before;
    size_t n = 0;
    IFM_TRY(ifm_arguments_parse(argc, argv, flags, sizeof flags / sizeof *flags, words, &n, &given.help, error));
    if (given.help)
        return ifm_cmd_help(2, (char *[]){(char *)"help", argv[0], NULL}, error);
    IFM_TRY(ifm_arguments_format(format, &given.format, error));
    if (n > 0)
        return ifm_fail(error, IFM_USAGE, "", "", "unexpected argument \"%.40s\"", words[0]);
    IFM_TRY(state_file(state, &given, error));
    given.options.root = root == NULL ? "" : root;
    wanted_signals(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
    enum ifm_status status = ifm_lock_recover(&given.options, &lock, error);
    ifm_lock_rows(lock, &n);
    if (n > 0)
        print_rows(lock, given.format, stdout, arena);
    else if (status == IFM_OK)
        ifm_note("nothing is locked");
    ifm_lock_close(lock);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* Exits 0 when everything is restored, also when nothing was locked. */
enum ifm_status ifm_cmd_unlock(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = unlock_command(argc, argv, arena, error);
    ifm_arena_destroy(arena);
    return status;
}
