/* Steps of an arm under cachegrind. */
#include "run/simulate.h"

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "device/device.h"
#include "model/plan_json.h"
#include "model/value.h"
#include "workload/workload.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#define OUTPUT_MOST ((size_t)256 << 20)
enum { AT_MOST_S = 3600 };

const char *ifm_simulate_why_not(const struct ifm_plan *plan, const struct ifm_cell *cell, const struct ifm_arm *arm,
                                 const char **remedy)
{
    *remedy = "";
    if (!ifm_is_empty(cell->unsupported))
        return cell->unsupported;
    if (strcmp(plan->device, "cpu") != 0) {
        *remedy = "take the device cpu";
        return "cachegrind simulates the caches of a processor";
    }
    if (arm->gaps) {
        *remedy = "valgrind --tool=cachegrind PROGRAM";
        return "something untimed runs between the samples of this arm";
    }
    if (cell->threads > 1) {
        *remedy = "take --threads 1";
        return "cachegrind runs one thread at a time, in an order of its own";
    }
    return NULL;
}

/* ---- the run's side ---- */

static enum ifm_status failed(const char *what, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INTERNAL, "cachegrind", "", "%s: %s", what, strerror(errno));
}

static enum ifm_status plan_file(const struct ifm_plan *plan, int *fd, struct ifm_error *error)
{
    *fd = memfd_create("inferometer plan", MFD_CLOEXEC);
    json_t *json = ifm_plan_to_json(plan);
    const bool written = *fd >= 0 && json_dumpfd(json, *fd, JSON_COMPACT) == 0 && lseek(*fd, 0, SEEK_SET) == 0;
    json_decref(json);
    return written ? IFM_OK : failed("cannot hand the plan to its process", error);
}

static enum ifm_status run(const struct ifm_simulation *how, const char *const *words, size_t n, int plan,
                           const char *output, struct ifm_arena *arena, struct ifm_error *error)
{
    const char **front = ifm_cachegrind_arguments(how->valgrind, how->geometry, output, arena);
    size_t all = 0;
    while (front[all] != NULL)
        all++;
    const char **argv = IFM_ARENA_ARRAY(arena, const char *, all + n + 1);
    memcpy(argv, front, all * sizeof *argv);
    memcpy(argv + all, words, n * sizeof *argv);
    const struct ifm_subprocess program = {.path = how->valgrind,
                                           .argv = (char *const *)(uintptr_t)argv,
                                           .stdin_fd = plan,
                                           .stdout_fd = -1,
                                           .stderr_fd = -1,
                                           .timeout_s = AT_MOST_S};
    struct ifm_subprocess_result result;
    /* Sets of a cache follow addresses, which would be others in every process. */
    const int before = personality(0xffffffff);
    if (before != -1)
        personality((unsigned long)before | ADDR_NO_RANDOMIZE);
    ifm_subprocess_run(&program, &result);
    if (before != -1)
        personality((unsigned long)before);
    if (result.end == IFM_SUBPROCESS_EXITED && result.code == 0)
        return IFM_OK;
    if (result.end == IFM_SUBPROCESS_INTERRUPTED)
        return ifm_fail(error, IFM_INTERRUPTED, "cachegrind", "", "interrupted");
    if (result.end == IFM_SUBPROCESS_NOT_STARTED)
        return ifm_fail(error, IFM_MISSING, how->valgrind, "", "%s", strerror(result.code));
    if (result.end == IFM_SUBPROCESS_TIMED_OUT)
        return ifm_fail(error, IFM_INVALID, "cachegrind", "take a smaller shape", "an arm took more than an hour");
    if (result.end == IFM_SUBPROCESS_SIGNALED)
        return ifm_fail(error, IFM_INVALID, "cachegrind", "take --isa avx2 or --isa scalar, which valgrind knows",
                        "the process of the arm ended by signal %d (%s)", result.code, strsignal(result.code));
    return ifm_fail(error, IFM_INVALID, "cachegrind", "its own message stands above",
                    "the process of the arm ended with status %d", result.code);
}

/* One process: `steps` of the arm, and the counts of all that it did. */
static enum ifm_status simulate(const struct ifm_simulation *how, const struct ifm_plan *plan, unsigned cell,
                                unsigned arm, uint64_t steps, struct ifm_cachegrind_counts *out,
                                struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const char *below = getenv("TMPDIR");
    char *output = ifm_arena_printf(arena, "%s/ifm_cachegrind_XXXXXX", ifm_is_empty(below) ? "/tmp" : below), *text;
    size_t size;
    int fd = -1;
    const int own = mkstemp(output);
    enum ifm_status status =
        own < 0 ? failed("cannot create a file for its output", error) : plan_file(plan, &fd, error);
    const char *const words[] = {how->program, "steps", ifm_arena_printf(arena, "%u", cell),
                                 ifm_arena_printf(arena, "%u", arm),
                                 ifm_arena_printf(arena, "%llu", (unsigned long long)steps)};
    if (status == IFM_OK)
        status = run(how, words, sizeof words / sizeof *words, fd, output, arena, error);
    if (status == IFM_OK && (status = ifm_file_read(output, OUTPUT_MOST, &text, &size, error)) == IFM_OK) {
        status = ifm_cachegrind_read(text, size, how->function, out, error);
        free(text);
    }
    if (own >= 0) {
        close(own);
        unlink(output);
    }
    if (fd >= 0)
        close(fd);
    ifm_arena_destroy(arena);
    return status;
}

enum ifm_status ifm_simulate_arm(const struct ifm_simulation *how, const struct ifm_plan *plan, unsigned cell,
                                 unsigned arm, struct ifm_cachegrind_counts *out, struct ifm_error *error)
{
    struct ifm_cachegrind_counts fewer, more;
    IFM_TRY(ifm_subprocess_prepare(error));
    IFM_TRY(simulate(how, plan, cell, arm, 1, &fewer, error));
    IFM_TRY(simulate(how, plan, cell, arm, 1 + how->steps, &more, error));
    /* What lies around the steps misses a few lines more or less after more of them: less than nothing is nothing. */
    for (size_t i = 0; i < IFM_CG_EVENTS; i++)
        out->events[i] = more.events[i] > fewer.events[i] ? more.events[i] - fewer.events[i] : 0;
    return IFM_OK;
}

/* ---- the process ---- */

static enum ifm_status take_steps(const struct ifm_plan *plan, uint64_t cell, uint64_t arm, uint64_t steps,
                                  struct ifm_arena *arena, struct ifm_error *error)
{
    struct ifm_opening opening;
    const struct ifm_device_ops *ops = ifm_device_find("cpu");
    const struct ifm_device_options options = {.threads = 1};
    void *state = NULL;
    if (cell >= plan->n_cells || arm >= plan->cells[cell].n_arms || ops == NULL)
        return ifm_fail(error, IFM_USAGE, "", "use `inferometer cachegrind`", "the plan has no such arm");
    IFM_TRY(ifm_implementation_bind(&plan->cells[cell].arms[arm], "cpu", arena, &opening, error));
    IFM_TRY(ops->open(&options, &opening.device, error));
    opening.threads = 1;
    opening.seed = plan->cells[cell].seed;
    enum ifm_status status = ifm_implementation_open(&opening, &state, error);
    if (status == IFM_OK)
        opening.implementation->step(state, steps);
    ifm_implementation_close(opening.implementation, state);
    opening.device->ops->close(opening.device);
    return status;
}

enum ifm_status ifm_steps_serve(int argc, char **argv, struct ifm_error *error)
{
    uint64_t cell, arm, steps;
    if (argc != 4 || !ifm_parse_u64(argv[1], &cell) || !ifm_parse_u64(argv[2], &arm) || !ifm_parse_u64(argv[3], &steps))
        return ifm_fail(error, IFM_USAGE, "", "use `inferometer cachegrind`",
                        "steps under cachegrind are started by another command, not by hand");
    json_object_seed(1); /* else drawn anew in every process, and with it the way through its tables */
    json_t *json = json_loadfd(STDIN_FILENO, 0, NULL);
    if (json == NULL)
        return ifm_fail(error, IFM_USAGE, "", "use `inferometer cachegrind`", "standard input holds no plan");
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_plan *plan;
    enum ifm_status status = ifm_plan_from_json(json, "plan", arena, &plan, error);
    if (status == IFM_OK)
        status = take_steps(plan, cell, arm, steps, arena, error);
    json_decref(json);
    ifm_arena_destroy(arena);
    return status;
}
