/* trace: run a program with our recorder inside (src/inject), and say what its GPU did. No number here is compared with
 * another: recording makes launches slower. */
#include "cli/cli.h"
#include "dyn/cuda.h"
#include "instrument/activity.h"
#include "instrument/activity_ranges.h"
#include "instrument/gpm.h"
#include "publish/listing.h"
#include "publish/trace.h"
#include "sample/activity.h"

#include "base/file.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/text.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PROCESSES = 1024, MOST_GPUS = 8, MOST_RANGES = 12 };

static const struct ifm_listing_column columns[] = {
    {"process", "process", true},
    {"range", "NVTX range", true},
    {"times", "times", false},
    {"range_ns", "range time", false},
    {"kernels", "kernels", false},
    {"graph_kernels", "in graphs", false},
    {"launch_calls", "launch calls", false},
    {"graph_launches", "graph launches", false},
    {"copies", "copies", false},
    {"copy_bytes", NULL, false},
    {"waits", "waits", false},
    {"calls", "calls", false},
    {"kernel_ns", "kernel time", false},
    {"graph_kernel_ns", NULL, false},
    {"call_ns", "call time", false},
    {"launch_ns", "launch time", false},
    {"wait_ns", "wait time", false},
    {"gpu_idle_percent", "GPU idle", false},
    {"reason", NULL, true},
    {"remedy", NULL, true},
    {"", "notes", true},
};

/* The recorder lies beside this program, or where the package puts it. */
static enum ifm_status find_recorder(char out[static 4200], struct ifm_error *error)
{
    static const char *const places[] = {"", "../lib/inferometer/"};
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return ifm_fail(error, IFM_INTERNAL, "", "", "the path of this program cannot be read");
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    *(slash == NULL ? program : slash + 1) = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(out, 4200, "%s%sinferometer_trace.so", program, places[i]);
        if (ifm_file_exists(out))
            return IFM_OK;
    }
    return ifm_fail(error, IFM_MISSING, "", "build or install inferometer whole",
                    "inferometer_trace.so is neither beside this program nor in ../lib/inferometer");
}

/* `absence`: why there is no driver, which is said before a program that may take hours. */
static enum ifm_status run(const struct ifm_given *given, const char *path, const char *dir, const char *recorder,
                           struct ifm_cuda_absence *absence, struct ifm_subprocess_result *result,
                           struct ifm_error *error)
{
    char *whole = realpath(dir, NULL); /* the program may change its folder */
    const struct ifm_subprocess program = {.path = path,
                                           .argv = given->command,
                                           .stdin_fd = -1,
                                           .stdout_fd = -1,
                                           .stderr_fd = -1,
                                           .tree = true,
                                           .strays_s = 1};
    if (whole == NULL)
        return ifm_fail(error, IFM_USAGE, dir, "", "the folder cannot be read");
    if (ifm_cuda_load(absence) == NULL)
        ifm_warn("%s; the program runs all the same", absence->reason);
    (void)setenv("CUDA_INJECTION64_PATH", recorder, 1);
    (void)setenv("IFM_TRACE_DIR", whole, 1);
    free(whole);
    IFM_TRY(ifm_subprocess_prepare(error));
    ifm_subprocess_run(&program, result);
    (void)unsetenv("CUDA_INJECTION64_PATH");
    if (result->end == IFM_SUBPROCESS_NOT_STARTED)
        return ifm_fail(error, IFM_USAGE, given->command[0], "", "the program does not start");
    return IFM_OK;
}

/* ---- the GPUs' own monitors, beside the recorder ---- */

struct trace_watch {
    struct ifm_gpm gpus[MOST_GPUS];
    struct ifm_gpm_use uses[MOST_GPUS];
    unsigned n;
};

static void watch_begin(struct trace_watch *watch)
{
    const char *reason, *remedy;
    const struct ifm_nvml *nvml = ifm_nvml_load(&reason, &remedy);
    if (nvml == NULL || IFM_NVML_ASK(nvml->nvmlDeviceGetCount_v2, &watch->n) != IFM_NVML_SUCCESS || watch->n == 0)
        watch->n = 1;
    watch->n = watch->n < MOST_GPUS ? watch->n : MOST_GPUS;
    for (unsigned i = 0; i < watch->n; i++)
        ifm_gpm_begin(&watch->gpus[i], nvml, reason, i);
}

static void watch_end(struct trace_watch *watch)
{
    for (unsigned i = 0; i < watch->n; i++)
        watch->uses[i] = ifm_gpm_end(&watch->gpus[i]);
}

static const char *share(double percent, struct ifm_arena *arena)
{
    return isnan(percent) ? "absent" : ifm_arena_printf(arena, "%.3g %%", percent);
}

static void tell_watched(struct ifm_listing *listing, const struct trace_watch *watch)
{
    struct ifm_arena *arena = listing->arena;
    for (unsigned i = 0; i < watch->n; i++) {
        const struct ifm_gpm_use *use = &watch->uses[i];
        if (use->why != NULL)
            ifm_listing_remark(listing, ifm_arena_printf(arena, "GPU %u, its own monitor: absent: %s.", i, use->why));
        else
            ifm_listing_remark(listing,
                               ifm_arena_printf(arena,
                                                "GPU %u, its own monitor, in the %.3g s of the program: memory %s, "
                                                "multiprocessors %s, warps %s, matrix units %s.",
                                                i, use->seconds, share(use->memory, arena), share(use->sm, arena),
                                                share(use->occupancy, arena), share(use->tensor, arena)));
    }
}

/* ---- what was recorded ---- */

static enum ifm_activity_kind kind_of(const char *name)
{
    unsigned kind = 0;
    while (kind < IFM_ACTIVITY_KINDS && strcmp(ifm_activity_names[kind], name) != 0)
        kind++;
    return (enum ifm_activity_kind)kind;
}

/* A sum over so many `times`, of each of them. */
static void set_mean(struct ifm_listing *listing, const char *field, int64_t sum, size_t times, bool is_time)
{
    char text[48];
    const double mean = (double)sum / (double)times;
    const bool whole = sum % (int64_t)times == 0;
    ifm_listing_set(listing, field, whole ? json_integer(sum / (int64_t)times) : json_real(mean),
                    is_time ? ifm_format_human(mean, "ns", text)
                    : whole ? ifm_arena_printf(listing->arena, "%lld", (long long)(sum / (int64_t)times))
                            : ifm_arena_printf(listing->arena, "%.3g", mean));
}

/* The line that says that records are missing, or why there are none; NULL = all are there. */
static const char *why_partial(const struct ifm_activity_file *file, struct ifm_arena *arena)
{
    bool whole = false;
    for (size_t i = 0; i < file->n; i++) {
        const struct ifm_activity_line *line = &file->lines[i];
        if (strcmp(line->kind, "absent") == 0)
            return line->name;
        if (strcmp(line->kind, "lost") == 0)
            return ifm_arena_printf(arena, "%llu records were lost, or had not ended when the program did",
                                    (unsigned long long)line->bytes);
        whole |= strcmp(line->kind, "whole") == 0;
    }
    return whole ? NULL : "the rows break off: the process was ended while it wrote them";
}

/* More calls than kernels: their number is not that of launches. */
static const char *hide_launches(struct ifm_listing *listing, const struct ifm_activity_counts *c)
{
    const char *why =
        ifm_arena_printf(listing->arena,
                         "launch calls absent: %lld were recorded for %lld kernels outside of graphs: some "
                         "launched nothing, or their kernels have no record",
                         (long long)c->launches, (long long)c->kernels);
    ifm_listing_set(listing, "launch_calls", json_null(), "absent");
    return why;
}

/* Sums over so many `times`, of each. `aside`: what is to be said of the row; NULL = nothing. */
static void set_counts(struct ifm_listing *listing, const struct ifm_activity_counts *c, size_t times,
                       const char *aside)
{
    const struct {
        const char *field;
        int64_t sum;
        bool is_time;
    } rows[] = {{"kernels", c->kernels + c->graph_kernels, false},
                {"graph_kernels", c->graph_kernels, false},
                {"launch_calls", c->launches, false},
                {"graph_launches", c->graph_launches, false},
                {"copies", c->copies, false},
                {"copy_bytes", c->copy_bytes, false},
                {"waits", c->waits, false},
                {"calls", c->calls, false},
                {"kernel_ns", c->kernel_ns, true},
                {"graph_kernel_ns", c->graph_kernel_ns, true},
                {"call_ns", c->call_ns, true},
                {"launch_ns", c->launch_ns, true},
                {"wait_ns", c->wait_ns, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        set_mean(listing, rows[i].field, rows[i].sum, times, rows[i].is_time);
    const char *why = c->launches > c->kernels ? hide_launches(listing, c) : aside;
    if (why != aside && aside != NULL)
        why = ifm_arena_printf(listing->arena, "%s; %s", aside, why);
    if (why != NULL) {
        ifm_listing_set_text(listing, "reason", why);
        ifm_listing_show_note(listing, why);
    }
}

static void tell_untold(struct ifm_listing *listing, const char *process, const struct ifm_activity_untold *untold)
{
    if (untold->names > 0)
        ifm_listing_remark(listing, ifm_arena_printf(listing->arena,
                                                     "Process %s: %zu more names, of %zu ranges, took less time.",
                                                     process, untold->names, untold->times));
    if (untold->nameless > 0)
        ifm_listing_remark(listing,
                           ifm_arena_printf(listing->arena,
                                            "Process %s: ranges in no row, as their names came when the recorder had "
                                            "too many: %zu; give ranges that do the same one name.",
                                            process, untold->nameless));
}

/* What the program does inside its own ranges: the nearest that it has to a step. */
static void add_ranges(struct ifm_listing *listing, const char *process, const struct ifm_activity_row *rows, size_t n)
{
    struct ifm_activity_range ranges[MOST_RANGES];
    struct ifm_activity_untold untold;
    const size_t told = ifm_activity_ranges(rows, n, ranges, MOST_RANGES, &untold);
    for (size_t i = 0; i < told; i++) {
        const struct ifm_activity_range *r = &ranges[i];
        ifm_listing_row(listing);
        ifm_listing_set_text(listing, "process", process);
        ifm_listing_set_text(listing, "range", ifm_text_plain(r->name, listing->arena));
        set_mean(listing, "times", (int64_t)r->times, 1, false);
        set_mean(listing, "range_ns", r->ns, r->times, true);
        set_counts(listing, &r->counts, r->times,
                   r->overlap ? "its ranges overlap: what is in two of them, and their time, counts once" : NULL);
    }
    if (told > 0)
        ifm_listing_remark(listing, "Of an NVTX range: means of its times; calls that began in it on its thread, and "
                                    "the work that these started, not what other threads start (as PyTorch's "
                                    "backward). Its own time is the host's.");
    tell_untold(listing, process, &untold);
}

/* Keeps the lines of activity alone; their sums become the row. */
static void add_process(struct ifm_listing *listing, const char *name, struct ifm_activity_file *file,
                        struct ifm_arena *arena)
{
    struct ifm_activity_row *rows = IFM_ARENA_ARRAY(arena, struct ifm_activity_row, file->n + 1);
    const char *why = why_partial(file, arena);
    size_t n = 0;
    for (size_t i = 0; i < file->n; i++) {
        const struct ifm_activity_line line = file->lines[i];
        if (kind_of(line.kind) == IFM_ACTIVITY_KINDS)
            continue;
        rows[n] = (struct ifm_activity_row){
            kind_of(line.kind),   line.start,           line.end,   (uint32_t)line.correlation,
            (uint32_t)line.place, (uint32_t)line.graph, line.bytes, line.name};
        file->lines[n++] = line;
    }
    file->n = n;
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "process", name);
    if (why != NULL) {
        ifm_listing_absent(listing, why, "");
        return;
    }
    const struct ifm_activity_counts c = ifm_activity_count(rows, n, 0, UINT64_MAX);
    set_counts(listing, &c, 1, NULL);
    if (c.span_ns > 0)
        ifm_listing_set(listing, "gpu_idle_percent", json_real(100 * (1 - (double)c.busy_ns / (double)c.span_ns)),
                        ifm_arena_printf(arena, "%.1f %%", 100 * (1 - (double)c.busy_ns / (double)c.span_ns)));
    add_ranges(listing, name, rows, n);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of the processes' files, sorted. */
static size_t list_files(const char *dir, const char **names, struct ifm_arena *arena)
{
    size_t n = 0;
    DIR *folder = opendir(dir);
    const struct dirent *entry;
    while (folder != NULL && n < MOST_PROCESSES && (entry = readdir(folder)) != NULL)
        if (strncmp(entry->d_name, "activity-", 9) == 0)
            names[n++] = ifm_arena_printf(arena, "%s", entry->d_name);
    if (folder != NULL)
        closedir(folder);
    qsort(names, n, sizeof *names, by_text);
    return n;
}

/* The program runs all the same: what it does without a GPU is its own business. */
static enum ifm_status tell_nothing(const struct ifm_given *given, const struct ifm_cuda_absence *absence,
                                    struct ifm_error *error)
{
    if (absence->reason[0] != '\0') /* which was said before it started */
        return ifm_fail(error, IFM_MISSING, given->command[0],
                        ifm_arena_printf(given->arena, "%s; for times of any program: `inferometer exec 'COMMAND'`",
                                         absence->remedy),
                        "it ran, and nothing was recorded of it");
    return ifm_fail(error, IFM_INVALID, given->command[0],
                    "trace a program that uses CUDA; one that ends by a signal or _exit leaves no rows",
                    "no process of the program started the CUDA driver and ended by itself");
}

static enum ifm_status tell(const struct ifm_given *given, const char *dir, const struct trace_watch *watch,
                            const struct ifm_cuda_absence *absence, struct ifm_error *error)
{
    struct ifm_arena *arena = given->arena;
    const char **names = IFM_ARENA_ARRAY(arena, const char *, MOST_PROCESSES);
    struct ifm_text text = {0}, trace = {0};
    struct ifm_listing listing = ifm_listing_begin(columns, sizeof columns / sizeof columns[0], arena);
    const size_t n = list_files(dir, names, arena);
    bool first = true;
    enum ifm_status status = IFM_OK;
    ifm_trace_begin(&trace);
    for (size_t i = 0; i < n && status == IFM_OK; i++) {
        struct ifm_activity_file file;
        const char *process = ifm_arena_printf(arena, "%.*s", (int)strcspn(names[i] + 9, "."), names[i] + 9);
        status = ifm_activity_read(ifm_path_join(arena, dir, names[i]), false, arena, &file, NULL, error);
        if (status != IFM_OK)
            break;
        add_process(&listing, process, &file, arena);
        ifm_trace_events(&file, (unsigned)i + 1, &process, 1, &first, &trace);
    }
    ifm_trace_end(&trace);
    if (status == IFM_OK && n == 0)
        status = tell_nothing(given, absence, error);
    if (status == IFM_OK)
        status = ifm_file_write_atomic(ifm_path_join(arena, dir, "trace.json"), trace.data, trace.size, error);
    if (status == IFM_OK) {
        ifm_listing_remark(&listing, ifm_arena_printf(arena,
                                                      "Recorded live, which makes launches slower. Open %s/trace.json "
                                                      "in ui.perfetto.dev.",
                                                      dir));
        tell_watched(&listing, watch);
        ifm_cli_listing(&listing, given->format, &text);
        ifm_cli_print(&text, stdout);
    }
    ifm_text_free(&trace);
    ifm_listing_end(&listing);
    return status;
}

enum ifm_status ifm_cmd_trace(const struct ifm_given *given, struct ifm_error *error)
{
    char path[4096], recorder[4200];
    struct ifm_subprocess_result result;
    struct ifm_cuda_absence absence = {"", ""};
    const char *dir = ifm_given_text(given, "out") == NULL ? "trace" : ifm_given_text(given, "out");
    IFM_TRY(ifm_given_program(given, error));
    if (given->command == NULL || given->command[0] == NULL)
        return ifm_fail(error, IFM_USAGE, "", "such as `inferometer trace -- python3 model.py`",
                        "there is no command after --");
    IFM_TRY(ifm_subprocess_find(given->command[0], path, sizeof path, error));
    IFM_TRY(find_recorder(recorder, error));
    IFM_TRY(ifm_dir_create_all(dir, error));
    if (list_files(dir, (const char **)IFM_ARENA_ARRAY(given->arena, const char *, MOST_PROCESSES), given->arena) > 0)
        return ifm_fail(error, IFM_USAGE, dir, "name another folder with --out, or remove it",
                        "the folder holds a trace already");
    struct trace_watch watch = {.n = 0};
    watch_begin(&watch);
    const enum ifm_status ran = run(given, path, dir, recorder, &absence, &result, error);
    watch_end(&watch);
    const enum ifm_status told = ran == IFM_OK ? tell(given, dir, &watch, &absence, error) : ran;
    if (told != IFM_OK)
        (void)rmdir(dir); /* where nothing was recorded, it is empty; else it stays */
    IFM_TRY(told);
    if (result.end == IFM_SUBPROCESS_INTERRUPTED)
        return ifm_fail(error, IFM_INTERRUPTED, given->command[0], "", "interrupted");
    if (result.end != IFM_SUBPROCESS_EXITED || result.code != 0)
        return ifm_fail(error, IFM_INVALID, given->command[0], "", "the program %s %d",
                        result.end == IFM_SUBPROCESS_SIGNALED ? "was ended by signal" : "ended with status",
                        result.code);
    return IFM_OK;
}
