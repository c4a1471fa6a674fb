/* command: any program, one run a sample.
 *
 * What the timed region contains: starting the program (clone and execve), its run, and waiting for its end and for
 * that of each descendant that outlives it: a program that forks its work and returns is not faster. With command.shell
 * the shell's start too. Not in it: command.prepare before and command.cleanup after each sample, and looking its file
 * up in PATH, which is done once.
 *
 * The program's own processor time, peak memory, faults and failures are columns of each slot. Its command line, hooks
 * and files are private texts: the settings hold their tokens, and no message that run.log could keep names them. */
#include "workload/command/command.h"

#include "base/private.h"
#include "base/subprocess.h"
#include "device/cpu.h"
#include "model/failure.h"
#include "workload/command/ended.h"
#include "workload/command/ends.h"
#include "workload/command/files.h"
#include "workload/command/foreign.h"
#include "workload/command/said.h"
#include "workload/command/words.h"
#include "workload/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two readings of resident memory may differ by what the kernel's counters of each CPU hold back. */
enum { RSS_SLACK = 256 << 10 };
/* The kernel tells the waiting of the program's first thread alone. It is the program's where that thread has at least
 * this share of the processor time of the whole tree. */
static const double FIRST_THREAD = 0.9;

struct settings {
    const char *line, *prepare, *cleanup, *setup, *teardown, *input, *output; /* tokens, unless they are defaults */
    bool shell, ignore_failure;
    double timeout_s;
};

#define OF(field) offsetof(struct settings, field)
enum { PRIVATE_TEXT = IFM_PRIVATE | IFM_PER_ARM };

static const struct ifm_param rows[] = {
    {"command.line", NULL, IFM_TYPE_TEXT, PRIVATE_TEXT, "", "", 0, 0, NULL,
     "program and arguments, split into words as a shell splits them, but run without a shell", OF(line)},
    {"command.shell", "shell", IFM_TYPE_BOOL, IFM_PER_ARM, "", "false", 0, 0, NULL,
     "run the command and its hooks under /bin/sh -c; the time of the shell is part of the sample", OF(shell)},
    {"command.prepare", "prepare", IFM_TYPE_TEXT, PRIVATE_TEXT, "", "", 0, 0, NULL,
     "command that is run before each sample, untimed", OF(prepare)},
    {"command.cleanup", "cleanup", IFM_TYPE_TEXT, PRIVATE_TEXT, "", "", 0, 0, NULL,
     "command that is run after each sample, untimed", OF(cleanup)},
    {"command.setup", "setup", IFM_TYPE_TEXT, PRIVATE_TEXT, "", "", 0, 0, NULL,
     "command that is run once for each arm, before its first sample", OF(setup)},
    {"command.teardown", "teardown", IFM_TYPE_TEXT, PRIVATE_TEXT, "", "", 0, 0, NULL,
     "command that is run once for each arm, after its last sample", OF(teardown)},
    {"command.input", "input", IFM_TYPE_TEXT, PRIVATE_TEXT, "", "", 0, 0, NULL,
     "file that is standard input, read from its start in each sample; /dev/null when none is given", OF(input)},
    {"command.output", "output", IFM_TYPE_TEXT, PRIVATE_TEXT, "", "discard", 0, 0, "discard|null|inherit",
     "where output goes: discard (thrown away unseen), null (/dev/null: some programs see it and do less), inherit, or "
     "the name of a file that keeps the last sample's standard output",
     OF(output)},
    {"command.ignore_failure", "ignore-failure", IFM_TYPE_BOOL, IFM_PER_ARM, "", "false", 0, 0, NULL,
     "go on after a run that fails, and count it: the arm then has no time and no comparison, and without a gate the "
     "exit code is 0",
     OF(ignore_failure)},
    {"command.timeout", "timeout", IFM_TYPE_SECONDS, IFM_PER_ARM, "s", "0", 0, 1e6, NULL,
     "longest time of one sample: a program that takes longer is killed and has failed; 0 = no limit", OF(timeout_s)},
};

static const struct ifm_section section =
    IFM_SECTION("command", "Any program, one run a sample", rows, struct settings);

enum column {
    CPU,
    RSS,
    FAULTS,
    VOLUNTARY,
    INVOLUNTARY,
    FAILURES,
    STRAYS,
    FAILURE,
    DELAY,
    WALL,
    FOREIGN,
    PLACE,
    N_COLUMNS
};

static const struct ifm_column columns[N_COLUMNS] = {
    [CPU] = {"child_cpu_ns", "ns"},
    [RSS] = {"child_rss_bytes", "B"},
    [FAULTS] = {"child_faults_major", "count"},
    [VOLUNTARY] = {"child_switches_voluntary", "count"},
    [INVOLUNTARY] = {"child_switches_involuntary", "count"},
    [FAILURES] = {"child_failures", "count"},
    [STRAYS] = {"child_strays", "count"},
    [FAILURE] = {"child_failure", "code"},
    [DELAY] = {"child_run_delay_ns", "ns"},
    [WALL] = {"child_wall_ns", "ns"},
    [FOREIGN] = {"child_foreign_ns", "ns"},
    [PLACE] = {"child_cpu", "code"},
};

enum program { LINE, PREPARE, CLEANUP, SETUP, TEARDOWN, N_PROGRAMS };
static const char *const program_names[N_PROGRAMS] = {"command", "prepare command", "cleanup command", "setup command",
                                                      "teardown command"};

struct command_program {
    struct ifm_cpu_mask before; /* the CPUs that we might use before the device pinned us: what a program starts with */
    bool roams;                 /* the driving thread is let go for this arm */
    struct ifm_arena *arena;
    struct ifm_device *device;
    const char *arm;
    bool ignore_failure, has[N_PROGRAMS], inherits, shell;
    const char *first;   /* with a shell: the file that its first word is; NULL = it is none */
    const char *wrapped; /* the program that `env` and its like execute; NULL = none, or not known */
    const char *script;  /* of an interpreter; NULL = none */
    struct ifm_subprocess programs[N_PROGRAMS];
    int null_fd, sink_fd, said_fd, input_fd, output_fd; /* -1 = none */
    uint64_t runs;                                      /* of the command, since the opening */
    struct ifm_subprocess_result last;
    int64_t counts[N_COLUMNS];  /* since the last collect; of RSS the largest, of FAILURE the last */
    int64_t first_cpu_ns;       /* of the runs' first threads; -1 = one was not told */
    bool moved;                 /* not all of them were started on one CPU that is known */
    struct ifm_foreign foreign; /* since the first run since the last collect */
};

/* ---- texts ---- */

static const char *text_of(const struct settings *settings, enum program program)
{
    const char *const texts[N_PROGRAMS] = {settings->line, settings->prepare, settings->cleanup, settings->setup,
                                           settings->teardown};
    return texts[program];
}

static enum ifm_status missing_text(const char *where, struct ifm_error *error)
{
    return ifm_fail(error, IFM_USAGE, where, "restore the private.json that the run wrote beside config.lock.json",
                    "the text of this setting is private, and no private.json beside the lock file holds it");
}

static const struct ifm_implementation ifm_command_program;

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    (void)machine;
    struct settings bound;
    IFM_TRY(ifm_section_bind(&section, settings, n, arena, &bound, error));
    *why_not = NULL;
    const char *name = "command", *line = ifm_private_text(bound.line);
    if (line != NULL) /* else `ready` says that it is missing, to those who want to run it */
        IFM_TRY(ifm_command_name(line, bound.shell, "command.line", arena, &name, error));
    struct ifm_arm *arm = IFM_ARENA_NEW(arena, struct ifm_arm);
    *arm = (struct ifm_arm){
        .name = name,
        .implementation = ifm_command_program.name,
        .title = ifm_command_program.title,
        .memory = sizeof(struct command_program),
        .fixed_inner = true,
        .gaps = true,
    };
    *arms = (struct ifm_arm_list){.items = arm, .n = 1};
    return IFM_OK;
}

/* ---- opening ---- */

/* The program of a text: its words, and its file as PATH has it now. */
static enum ifm_status build(const char *token, bool shell, const char *where, struct ifm_arena *arena,
                             struct ifm_subprocess *out, struct ifm_error *error)
{
    const char *text = ifm_private_text(token);
    if (text == NULL)
        return missing_text(where, error);
    if (shell) {
        char **argv = IFM_ARENA_ARRAY(arena, char *, 4);
        argv[0] = ifm_arena_strdup(arena, "/bin/sh");
        argv[1] = ifm_arena_strdup(arena, "-c");
        argv[2] = ifm_arena_strdup(arena, text);
        *out = (struct ifm_subprocess){.path = argv[0], .argv = argv};
        return IFM_OK;
    }
    struct ifm_words words = ifm_words_split(text, arena);
    IFM_TRY(ifm_words_fail(&words, where, error));
    char *path = IFM_ARENA_ARRAY(arena, char, PATH_MAX);
    enum ifm_status status = ifm_subprocess_find(words.items[0], path, PATH_MAX, error);
    if (status == IFM_OK)
        status = ifm_command_check_file(path, words.items[0], error);
    if (status != IFM_OK && error != NULL)
        snprintf(error->where, sizeof error->where, "%s", where);
    *out = (struct ifm_subprocess){.path = path, .argv = words.items};
    return status;
}

static enum ifm_status ready_in(const struct settings *settings, const char *arm, struct ifm_arena *arena,
                                struct ifm_error *error)
{
    for (int p = 0; p < N_PROGRAMS; p++) {
        const char *token = text_of(settings, (enum program)p);
        const char *where = ifm_arena_printf(arena, "arm %s: the %s", arm, program_names[p]);
        struct ifm_subprocess program;
        if (token[0] != '\0' || p == LINE)
            IFM_TRY(build(token, settings->shell, where, arena, &program, error));
    }
    const char *input = ifm_private_text(settings->input), *output = ifm_private_text(settings->output);
    if (input == NULL || output == NULL)
        return missing_text(ifm_arena_printf(arena, "arm %s: the %s", arm, input == NULL ? "input" : "output"), error);
    return ifm_command_check_ends(arm, input, output, arena, error);
}

static enum ifm_status ready(const struct ifm_opening *opening, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = ready_in(opening->settings, opening->arm->name, arena, error);
    ifm_arena_destroy(arena);
    return status;
}

static void add_reads(const struct settings *settings, const char *arm, struct ifm_arena *arena,
                      struct ifm_command_reads *reads)
{
    struct ifm_error ignored; /* each is ready */
    ifm_command_reads_add(reads, arm, "the input", ifm_private_text(settings->input), arena);
    for (int p = 0; p < N_PROGRAMS; p++) {
        const char *token = text_of(settings, (enum program)p);
        struct ifm_subprocess program;
        if (token[0] != '\0' && build(token, settings->shell, "", arena, &program, &ignored) == IFM_OK)
            ifm_command_reads_program(reads, arm, p == LINE ? NULL : program_names[p], &program, settings->shell,
                                      arena);
    }
}

static enum ifm_status ready_together(const struct ifm_opening *openings, size_t n, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_command_reads reads = {.n = 0};
    enum ifm_status status = IFM_OK;
    for (size_t i = 0; i < n; i++)
        add_reads(openings[i].settings, openings[i].arm->name, arena, &reads);
    for (size_t i = 0; i < n && status == IFM_OK; i++) {
        const struct settings *settings = openings[i].settings;
        status =
            ifm_command_check_kept(openings[i].arm->name, ifm_private_text(settings->output), &reads, arena, error);
    }
    ifm_arena_destroy(arena);
    return status;
}

/* A FIFO that nobody has at its other end is not waited for; the program then gets the file as it would have it. */
static int open_for_program(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, flags & O_ACCMODE);
    return fd;
}

static bool open_files(struct command_program *state, const struct settings *settings)
{
    const char *input = ifm_private_text(settings->input), *output = ifm_private_text(settings->output);
    state->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (input == NULL || output == NULL || state->null_fd < 0)
        return false;
    if (input[0] != '\0' && (state->input_fd = open_for_program(input, O_RDONLY)) < 0)
        return false;
    if (ifm_command_needs_sink(output) && (state->sink_fd = open(ifm_command_sink, O_WRONLY | O_CLOEXEC)) < 0)
        return false;
    if (ifm_command_keeps(output) && (state->output_fd = open_for_program(output, O_WRONLY | O_CREAT)) < 0)
        return false;
    int quiet = strcmp(output, "null") == 0 ? state->null_fd : state->sink_fd;
    state->said_fd = ifm_command_needs_sink(output) ? ifm_said_open() : -1;
    for (int p = 0; p < N_PROGRAMS; p++) {
        struct ifm_subprocess *program = &state->programs[p];
        program->stdin_fd = state->null_fd;
        program->stdout_fd = quiet;
        program->stderr_fd = state->said_fd >= 0 ? state->said_fd : quiet;
        program->tick = state->said_fd >= 0 ? ifm_said_thin : NULL;
        program->with = &state->said_fd;
        if (ifm_cpu_mask_before(state->device, &state->before)) {
            program->affinity = &state->before;
            program->affinity_bytes = sizeof state->before;
        }
    }
    struct ifm_subprocess *line = &state->programs[LINE];
    line->timeout_s = settings->timeout_s;
    line->tree = true;
    line->strays_s = settings->timeout_s > 0 ? settings->timeout_s : IFM_COMMAND_STRAYS_S;
    if (state->input_fd >= 0)
        line->stdin_fd = state->input_fd;
    if (state->output_fd >= 0)
        line->stdout_fd = state->output_fd;
    return true;
}

/* `ready` has found everything a moment ago; what is gone since is not named here, since run.log keeps the message. */
static enum ifm_status open_programs(struct command_program *state, const struct settings *settings,
                                     struct ifm_error *error)
{
    IFM_TRY(ifm_subprocess_prepare(error));
    bool ok = true;
    struct ifm_error hidden;
    for (int p = 0; p < N_PROGRAMS && ok; p++) {
        const char *token = text_of(settings, (enum program)p);
        state->has[p] = p == LINE || token[0] != '\0';
        if (state->has[p])
            ok = build(token, settings->shell, "", state->arena, &state->programs[p], &hidden) == IFM_OK;
    }
    if (ok && open_files(state, settings)) {
        state->roams = true;
        ifm_cpu_roam(state->device, true);
        return IFM_OK;
    }
    return ifm_fail(error, IFM_INVALID, state->arm, "start it again to see which",
                    "a program or file of this arm cannot be opened any more");
}

static enum ifm_status interrupted(const struct command_program *state, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INTERRUPTED, state->arm, "go on with --resume",
                    "interrupted; every whole block is kept");
}

/* The last lines of a program that failed, or that there are none: a program that was ended need not have any. */
static void show_said(const struct command_program *state, enum ifm_subprocess_end end, struct ifm_error *error)
{
    char hint[sizeof error->hint];
    if (error == NULL || ifm_said_show(state->said_fd, error) || end != IFM_SUBPROCESS_EXITED)
        return;
    snprintf(hint, sizeof hint, "%s", error->hint);
    ifm_error_hint(error, "it wrote nothing to standard error; %s", hint);
}

/* Run a hook, if there is one, and what it leaves behind to the end. */
static enum ifm_status run_hook(struct command_program *state, enum program hook, struct ifm_error *error)
{
    if (!state->has[hook])
        return IFM_OK;
    struct ifm_subprocess_result result;
    char words[128];
    unsigned strays;
    ifm_said_clear(state->said_fd);
    ifm_subprocess_run(&state->programs[hook], &result);
    IFM_TRY(ifm_subprocess_reap(&strays, error));
    if (result.end == IFM_SUBPROCESS_INTERRUPTED)
        return interrupted(state, error);
    if (ifm_command_failure_words(&result, words, sizeof words)[0] == '\0')
        return IFM_OK;
    ifm_fail(error, IFM_INVALID, state->arm,
             state->inherits ? "run it alone, and see why" : "--output inherit shows all that it prints", "the %s %s",
             program_names[hook], words);
    show_said(state, result.end, error);
    return IFM_INVALID;
}

static void close_command(void *opened)
{
    struct command_program *state = opened;
    struct ifm_error ignored; /* the samples stand; a teardown that fails leaves its own mess, not ours */
    if (state->has[TEARDOWN])
        (void)!run_hook(state, TEARDOWN, &ignored);
    const int fds[] = {state->null_fd, state->sink_fd, state->said_fd, state->input_fd, state->output_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    if (state->roams)
        ifm_cpu_roam(state->device, false);
    ifm_arena_destroy(state->arena);
}

/* Those that its words name, which setup may have made. */
static void find_files(struct command_program *state, const char *text)
{
    const struct ifm_subprocess *line = &state->programs[LINE];
    char *const *argv = line->argv;
    if (state->shell) {
        state->first = text != NULL ? ifm_command_first_program(text, state->arena) : NULL;
        return;
    }
    state->wrapped = ifm_command_wrapped(line->path, &argv, state->arena);
    state->script = ifm_command_script(state->wrapped != NULL ? state->wrapped : line->path, argv);
}

static enum ifm_status open_command(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct settings *settings = opening->settings;
    struct command_program *state = opened;
    *state = (struct command_program){
        .device = opening->device, .null_fd = -1, .sink_fd = -1, .said_fd = -1, .input_fd = -1, .output_fd = -1};
    state->arena = ifm_arena_create();
    state->arm = opening->arm->name;
    state->ignore_failure = settings->ignore_failure;
    const char *output = ifm_private_text(settings->output);
    state->shell = settings->shell;
    state->inherits = output != NULL && strcmp(output, "inherit") == 0;
    enum ifm_status status = open_programs(state, settings, error);
    if (status == IFM_OK)
        status = run_hook(state, SETUP, error);
    if (status == IFM_OK)
        find_files(state, ifm_private_text(settings->line));
    if (status != IFM_OK)
        state->has[TEARDOWN] = false; /* nothing was set up */
    return status;
}

/* ---- one sample ---- */

static enum ifm_status before(void *opened, struct ifm_error *error)
{
    struct command_program *state = opened;
    ifm_foreign_begin(&state->foreign, state->device);
    IFM_TRY(ifm_subprocess_prepare(error)); /* a process that was forked since the opening is no reaper yet */
    IFM_TRY(run_hook(state, PREPARE, error));
    ifm_said_clear(state->said_fd);
    bool ok = state->input_fd < 0 || lseek(state->input_fd, 0, SEEK_SET) == 0 || errno == ESPIPE;
    if (ok && state->output_fd >= 0) /* a device or a pipe cannot be cut, nor need it be */
        ok = (ftruncate(state->output_fd, 0) == 0 || errno == EINVAL) &&
             (lseek(state->output_fd, 0, SEEK_SET) == 0 || errno == ESPIPE);
    return ok ? IFM_OK
              : ifm_fail(error, IFM_INVALID, state->arm, NULL, "input or output cannot be rewound: %s",
                         strerror(errno));
}

static void step(void *opened, uint64_t n)
{
    struct command_program *state = opened;
    state->runs += n;
    for (; n > 0; n--)
        ifm_subprocess_run(&state->programs[LINE], &state->last);
}

static void count(struct command_program *state, bool failed)
{
    const struct ifm_subprocess_result *last = &state->last;
    state->counts[CPU] += last->cpu_ns;
    if (last->rss_bytes > state->counts[RSS])
        state->counts[RSS] = last->rss_bytes;
    state->counts[FAULTS] += last->faults_major;
    state->counts[VOLUNTARY] += last->switches_voluntary;
    state->counts[INVOLUNTARY] += last->switches_involuntary;
    state->counts[FAILURES] += failed;
    state->counts[STRAYS] += last->strays;
    state->moved |= last->first_cpu < 0 || (state->counts[WALL] > 0 && last->first_cpu != state->counts[PLACE]);
    state->counts[PLACE] = last->first_cpu;
    state->counts[WALL] += last->wall_ns;
    if (last->first_cpu_ns < 0)
        state->first_cpu_ns = -1;
    if (state->first_cpu_ns >= 0) {
        state->first_cpu_ns += last->first_cpu_ns;
        state->counts[DELAY] += last->first_delay_ns;
    }
    if (failed)
        state->counts[FAILURE] = ifm_command_failure_code(last);
}

/* Which command, in which of its runs, how, and what it said. */
static enum ifm_status run_failed(const struct command_program *state, const char *words, struct ifm_error *error)
{
    const char *hint = state->inherits ? "--ignore-failure counts failures instead"
                                       : "--output inherit shows all that it prints; --ignore-failure counts failures "
                                         "instead";
    if (state->last.end == IFM_SUBPROCESS_NOT_STARTED)
        hint = "run the command alone, and see why";
    if (state->last.end == IFM_SUBPROCESS_TIMED_OUT)
        hint = "raise --timeout, or count failures with --ignore-failure";
    if (state->last.end == IFM_SUBPROCESS_STRAYS)
        hint = "measure a command that ends when its work is done, or give that work a --timeout";
    ifm_fail(error, IFM_INVALID, state->arm, hint, IFM_FAILED_PROGRAM "%s %s in run %llu", state->arm, words,
             (unsigned long long)state->runs);
    show_said(state, state->last.end, error);
    return IFM_INVALID;
}

static enum ifm_status after(void *opened, struct ifm_error *error)
{
    struct command_program *state = opened;
    char words[128];
    unsigned killed;
    IFM_TRY(ifm_subprocess_reap(&killed, error));
    if (state->last.end == IFM_SUBPROCESS_INTERRUPTED)
        return interrupted(state, error);
    if (killed > 0 && state->last.end == IFM_SUBPROCESS_EXITED && state->last.code == 0)
        state->last.end = IFM_SUBPROCESS_STRAYS; /* its end was not seen: the sample holds less than the work */
    bool failed = ifm_command_failure_words(&state->last, words, sizeof words)[0] != '\0';
    if (failed && (!state->ignore_failure || state->last.end == IFM_SUBPROCESS_NOT_STARTED))
        return run_failed(state, words, error);
    count(state, failed);
    return run_hook(state, CLEANUP, error);
}

/* Our own largest resident set: the kernel counts it for a program that we start, whose own peak may lie below. */
static int64_t own_peak_bytes(void)
{
    char text[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *line = strstr(text, "VmHWM:");
    return line == NULL ? INT64_MAX - RSS_SLACK : strtoll(line + strlen("VmHWM:"), NULL, 10) * 1024;
}

static void collect(void *opened, int64_t *out)
{
    struct command_program *state = opened;
    for (int i = 0; i < N_COLUMNS; i++)
        out[i] = state->counts[i];
    out[FOREIGN] = ifm_foreign_end(&state->foreign, state->device, state->counts[WALL]);
    if (state->counts[RSS] <= own_peak_bytes() + RSS_SLACK)
        out[RSS] = IFM_ABSENT;
    if (state->first_cpu_ns <= 0 || (double)state->first_cpu_ns < FIRST_THREAD * (double)state->counts[CPU])
        out[DELAY] = IFM_ABSENT;
    if (state->moved || state->counts[WALL] == 0)
        out[PLACE] = IFM_ABSENT;
    state->first_cpu_ns = 0;
    state->moved = false;
    memset(state->counts, 0, sizeof state->counts);
}

static const char *file(const void *opened, unsigned k)
{
    const struct command_program *state = opened;
    const char *const files[] = {state->shell ? state->first : state->programs[LINE].path, state->script,
                                 state->wrapped};
    const bool may_change = state->has[PREPARE] || state->has[CLEANUP]; /* which may build the program for each run */
    return may_change || k >= sizeof files / sizeof *files ? NULL : files[k];
}

static const struct ifm_implementation ifm_command_program = {
    .name = "program",
    .title = "the program",
    .device = "cpu",
    .purpose = "a process of its own each sample",
    .ready = ready,
    .ready_together = ready_together,
    .state_bytes = sizeof(struct command_program),
    .open = open_command,
    .step = step,
    .collect = collect,
    .close = close_command,
    .before = before,
    .after = after,
    .file = file,
};

static const struct ifm_implementation *const implementations[] = {&ifm_command_program, NULL};

const struct ifm_workload ifm_workload_command = {
    .name = "command",
    .purpose = "any program: `inferometer exec` is its quick form",
    .timed_region = "starting the program, its run, and waiting for its end",
    .most_threads = 1,
    .params = &section,
    .describe = describe,
    .implementations = implementations,
    .no_extra_steps = "commands run as often as they are asked to, and no more",
    .one_process = "each of its samples is a process of its own already",
    .columns = columns,
    .n_columns = N_COLUMNS,
};
