/* ncu's metrics to limits. Names are those of ncu's own sections too, so that a report of `ncu --set full` has them. */
#include "instrument/ncu_limits.h"

#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME "gpu__time_duration.sum"
#define DRAM "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
#define L2 "lts__throughput.avg.pct_of_peak_sustained_elapsed"
#define TENSOR "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
#define ISSUED "smsp__issue_active.avg.per_cycle_active"
#define BUSY "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"
#define OCCUPANCY "sm__warps_active.avg.pct_of_peak_sustained_active"
#define THEORETICAL "sm__maximum_warps_per_active_cycle_pct"
#define CONFLICTS "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
#define SHARED "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
#define WAVEFRONTS "l1tex__data_pipe_lsu_wavefronts.sum"
#define LSU "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
#define FEW_OF_THOSE_THAT_FIT 0.8 /* below it, not the size of a block keeps warps away */
#define STALL(reason) "smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio"

const struct ifm_ncu_limit_metric ifm_ncu_limit_metrics[] = {
    {TIME, NULL, NULL, true},
    {DRAM, NULL, NULL, true},
    {L2, NULL, NULL, true},
    {TENSOR, NULL, NULL, true},
    {ISSUED, NULL, NULL, true},
    {BUSY, NULL, NULL, true},
    {OCCUPANCY, NULL, NULL, true},
    {THEORETICAL, NULL, NULL, false},
    {CONFLICTS, NULL, NULL, true},
    {SHARED, NULL, NULL, true},
    {WAVEFRONTS, NULL, NULL, true},
    {LSU, NULL, NULL, true},
    {STALL("barrier"), NULL, NULL, true},
    {STALL("branch_resolving"), NULL, NULL, true},
    {STALL("dispatch_stall"), NULL, NULL, true},
    {STALL("drain"), NULL, NULL, true},
    {STALL("gmma"), "9", NULL, true},
    {STALL("imc_miss"), NULL, "1", true},
    {STALL("lg_throttle"), NULL, NULL, true},
    {STALL("long_scoreboard"), NULL, NULL, true},
    {STALL("math_pipe_throttle"), NULL, NULL, true},
    {STALL("membar"), NULL, NULL, true},
    {STALL("mio_throttle"), NULL, NULL, true},
    {STALL("misc"), NULL, NULL, true},
    {STALL("no_instruction"), NULL, NULL, true},
    {STALL("short_scoreboard"), NULL, NULL, true},
    {STALL("sleeping"), NULL, NULL, true},
    {STALL("tex_throttle"), NULL, NULL, true},
    {STALL("wait"), NULL, NULL, true},
    {NULL, NULL, NULL, false},
};

/* What warps wait for that could not issue. One that could, where another warp was chosen, waits for nothing. */
static const struct limits_stall {
    const char *metric, *name, *advice;
} stalls[] = {
    {STALL("long_scoreboard"), "waits for L2 or memory",
     "more bytes in flight: wider loads, prefetching (cp.async, TMA), more warps; keep data in registers or shared "
     "memory"},
    {STALL("short_scoreboard"), "waits for shared memory or special functions",
     "fewer trips through shared memory, no bank conflicts, fewer exp and divisions"},
    {STALL("barrier"), "waits at a barrier", "give the warps of a block equal work; smaller blocks; fewer barriers"},
    {STALL("gmma"), "waits for wgmma", "more wgmma in flight; where the matrix units are busy this is as it should be"},
    {STALL("math_pipe_throttle"), "waits for an arithmetic unit",
     "fewer operations on the busiest unit, or another unit"},
    {STALL("wait"), "waits between dependent instructions", "more independent instructions a thread, or more warps"},
    {STALL("lg_throttle"), "waits for the queue of loads and stores", "fewer and wider accesses to memory"},
    {STALL("mio_throttle"), "waits for the queue of shared memory", "fewer and wider accesses to shared memory"},
    {STALL("tex_throttle"), "waits for the queue of textures", "fewer and wider accesses by textures"},
    {STALL("branch_resolving"), "waits for branches", "fewer short branches: unroll, or select instead of branching"},
    {STALL("no_instruction"), "waits for instructions", "shorter code: less unrolling, no jumps across large bodies"},
    {STALL("imc_miss"), "waits for constants", "constants by the same index in a warp, or in registers"},
    {STALL("membar"), "waits at a memory fence", "fewer fences, of the narrowest scope"},
    {STALL("drain"), "waits for stores at its end", "full, aligned stores; longer kernels"},
    {STALL("dispatch_stall"), "waits for the dispatcher", "a rare reason: look at it in Nsight Compute"},
    {STALL("sleeping"), "sleeps", "shorter or no nanosleep in waiting loops"},
    {STALL("misc"), "waits for other reasons", "a rare reason: look at it in Nsight Compute"},
};
enum { STALLS = sizeof stalls / sizeof *stalls };

bool ifm_ncu_limit_fits(const struct ifm_ncu_limit_metric *metric, const char *capability)
{
    const size_t first = 1;
    return (metric->only == NULL || strncmp(capability, metric->only, first) == 0) &&
           (metric->never == NULL || strncmp(capability, metric->never, first) != 0);
}

const char *ifm_ncu_limit_names(const char *capability, struct ifm_arena *arena)
{
    struct ifm_text text = {0};
    for (const struct ifm_ncu_limit_metric *metric = ifm_ncu_limit_metrics; metric->name != NULL; metric++)
        if (ifm_ncu_limit_fits(metric, capability))
            ifm_text_printf(&text, "%s%s", text.size > 0 ? "," : "", metric->name);
    return ifm_text_keep(&text, arena);
}

/* ---- of launches ---- */

struct limits_reading {
    const struct ifm_ncu_report *report;
    const struct ifm_ncu_launch *const *launches;
    size_t n;
    struct ifm_arena *arena;
    const char *reason; /* the first metric that is not there */
};

/* The sum over launches, or the mean weighted by their time; NAN, with the reason, where one of them has none. */
static double number_of(struct limits_reading *r, const char *metric, bool weighted)
{
    double sum = 0, weights = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct ifm_ncu_value value = ifm_ncu_value_of(r->report, r->launches[i], metric);
        const struct ifm_ncu_value time = ifm_ncu_value_of(r->report, r->launches[i], TIME);
        const char *reason = value.reason != NULL ? value.reason : weighted ? time.reason : NULL;
        if (reason != NULL) {
            r->reason = r->reason == NULL
                            ? ifm_arena_printf(r->arena, "%s: %s", value.reason != NULL ? metric : TIME, reason)
                            : r->reason;
            return NAN;
        }
        sum += weighted ? value.number * time.number : value.number;
        weights += time.number;
    }
    return weighted ? sum / weights : sum;
}

static double percent_of(struct limits_reading *r, const char *metric)
{
    return number_of(r, metric, true);
}

/* Units near their peak come first, then the largest shares: what warps wait for follows from a unit that is busy. */
static double rank_of(const struct ifm_ncu_limit *limit)
{
    return limit->share + (limit->unit && limit->share >= IFM_NCU_LIMIT_NEAR ? 100 : 0);
}

/* A share that cannot be is none; a rounding above the whole is the whole. */
static void add(struct ifm_ncu_limits *out, struct limits_reading *r, struct ifm_ncu_limit limit)
{
    if (isnan(limit.share) && r->reason == NULL)
        r->reason = "nothing of it was counted";
    else if (!isnan(limit.share) && (limit.share < 0 || limit.share > 101))
        r->reason = ifm_arena_printf(r->arena, "%.6g %% cannot be: its metrics are of different passes", limit.share);
    limit.reason = r->reason;
    limit.share = r->reason != NULL ? NAN : fmin(limit.share, 100);
    r->reason = NULL;
    out->n_known += limit.reason == NULL;
    size_t at = out->n++;
    for (; at > 0 && limit.reason == NULL && !(rank_of(&out->items[at - 1]) >= rank_of(&limit)); at--)
        out->items[at] = out->items[at - 1];
    out->items[at] = limit;
}

/* ---- limits ---- */

static void add_rates(struct ifm_ncu_limits *out, struct limits_reading *r)
{
    add(out, r,
        (struct ifm_ncu_limit){"memory", true, percent_of(r, DRAM), "the memory's peak", "",
                               "move fewer bytes: smaller formats, data that stays in the L2 or in shared memory",
                               NULL});
    add(out, r,
        (struct ifm_ncu_limit){"L2", true, percent_of(r, L2), "the L2's peak", "",
                               "ask the L2 less often: tiles in shared memory, full sectors, multicast", NULL});
    add(out, r,
        (struct ifm_ncu_limit){"matrix units", true, percent_of(r, TENSOR), "their cycles", "",
                               "fewer operations: no padding, a lower precision", NULL});
    add(out, r,
        (struct ifm_ncu_limit){"instructions", true, 100 * percent_of(r, ISSUED), "the slots of the schedulers", "",
                               "fewer instructions: wider accesses, less index arithmetic, matrix units", NULL});
    add(out, r,
        (struct ifm_ncu_limit){"idle multiprocessors", false, 100 - percent_of(r, BUSY), "the kernel's time", "",
                               "more blocks, or blocks of equal length; a count that fills whole waves", NULL});
}

/* The part of time in which the shared memory repeats accesses: of all that its pipe does, conflicts. */
static void add_conflicts(struct ifm_ncu_limits *out, struct limits_reading *r)
{
    const double conflicts = number_of(r, CONFLICTS, false), shared = number_of(r, SHARED, false),
                 all = number_of(r, WAVEFRONTS, false), busy = percent_of(r, LSU);
    const char *detail =
        shared > 0 ? ifm_arena_printf(r->arena, "%.0f %% of its accesses are repeats", 100 * conflicts / shared) : "";
    /* 0 x NAN is NAN: what is not known stays unknown, and a kernel without any access has no conflict. */
    add(out, r,
        (struct ifm_ncu_limit){"bank conflicts", true, all > 0 ? busy * conflicts / all : 0 * (all + busy + conflicts),
                               "the time of the shared memory's pipe", detail,
                               "pad or swizzle tiles, so that the threads of a warp take different banks", NULL});
}

struct limits_waiting {
    double share[STALLS], total; /* warps that wait for each reason, for each instruction that was issued */
};

/* Slots of the schedulers in which nothing was issued, in per cent. */
static double idle_slots(struct limits_reading *r)
{
    return 100 * (1 - percent_of(r, ISSUED));
}

/* Warps that wait for each reason, for each instruction that was issued; their sum, NAN where the report has none. A
 * reason that it lacks counts as nothing: not every chip has all. */
static double read_stalls(struct limits_reading *r, double waiting[static STALLS])
{
    double total = NAN;
    for (size_t s = 0; s < STALLS; s++) {
        struct limits_reading one = *r;
        waiting[s] = percent_of(&one, stalls[s].metric);
        if (isnan(waiting[s]))
            waiting[s] = 0;
        else
            total = (isnan(total) ? 0 : total) + waiting[s];
    }
    if (isnan(total))
        r->reason = "the report lacks what warps wait for: " STALL("long_scoreboard") " and the like";
    return total;
}

/* Slots in which nothing was issued, shared out by what the warps waited for. */
static void add_stalls(struct ifm_ncu_limits *out, struct limits_reading *r)
{
    double waiting[STALLS];
    const double total = read_stalls(r, waiting), idle = r->reason == NULL ? idle_slots(r) : NAN;
    if (r->reason != NULL) {
        add(out, r, (struct ifm_ncu_limit){"stalls", false, NAN, "the slots of the schedulers", "", "", NULL});
        return;
    }
    for (size_t k = 0; k < IFM_NCU_STALLS_SHOWN; k++) {
        size_t most = 0;
        for (size_t s = 1; s < STALLS; s++)
            most = waiting[s] > waiting[most] ? s : most;
        if (waiting[most] <= 0)
            break;
        add(out, r,
            (struct ifm_ncu_limit){stalls[most].name, false, idle * waiting[most] / total,
                                   "the slots of the schedulers",
                                   ifm_arena_printf(r->arena, "%.0f %% of all waiting", 100 * waiting[most] / total),
                                   stalls[most].advice, NULL});
        waiting[most] = 0;
    }
}

/* What more warps could fill of the slots in which nothing was issued, at most. */
static void add_occupancy(struct ifm_ncu_limits *out, struct limits_reading *r)
{
    struct limits_reading theory = *r;
    const double may = percent_of(&theory, THEORETICAL), have = percent_of(r, OCCUPANCY), idle = idle_slots(r);
    const char *detail = isnan(may)
                             ? ifm_arena_printf(r->arena, "%.3g %% of the warps are there", have)
                             : ifm_arena_printf(r->arena, "%.3g %% of the warps are there, %.3g %% fit", have, may);
    add(out, r,
        (struct ifm_ncu_limit){
            "occupancy", false, idle * (1 - have / 100), "the slots of the schedulers, at most", detail,
            have < FEW_OF_THOSE_THAT_FIT * may ? "more warps: more blocks, or blocks of equal length"
                                               : "more warps: fewer registers a thread, less shared memory a block",
            NULL});
}

void ifm_ncu_limits_of(const struct ifm_ncu_report *report, const struct ifm_ncu_launch *const *launches, size_t n,
                       struct ifm_arena *arena, struct ifm_ncu_limits *out)
{
    struct limits_reading r = {report, launches, n, arena, NULL};
    *out = (struct ifm_ncu_limits){.time_ns = number_of(&r, TIME, false)};
    r.reason = NULL;
    add_rates(out, &r);
    add_conflicts(out, &r);
    add_stalls(out, &r);
    add_occupancy(out, &r);
}
