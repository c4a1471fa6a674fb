/* What limits the kernels of an arm, from the pass of counters: how busy their units are, how many warps are there, and
 * what these wait for. The shares of `profile`.
 *
 * Units and reasons are counted in ranges of their own, so that a share is made of means, and has no interval. Slots of
 * the schedulers in which nothing was issued are shared out by what the warps waited for, as instrument/ncu_limits.c
 * does it with the metrics of ncu. */
#include "derive/counted.h"

#include <math.h>

#define PERCENT 1e-4   /* of a column in ppm */
#define MOST 101.0     /* per cent; a rounding above the whole is the whole */
#define MORE_THAN 1.05 /* reasons of ranges of their own may add up to so much of all waiting */

static const struct {
    enum ifm_metric_id metric;
    unsigned column;
} units[] = {
    {IFM_M_ISSUE_PERCENT, ISSUE}, {IFM_M_TENSOR_ACTIVE_PERCENT, TENSOR}, {IFM_M_BANK_CONFLICT_PERCENT, CONFLICTS},
    {IFM_M_L2_BUSY_PERCENT, L2},  {IFM_M_L2_LINK_PERCENT, LINK},
};

static const struct {
    enum ifm_metric_id metric;
    unsigned column;
} waits[] = {
    {IFM_M_WAIT_MEMORY_PERCENT, WAITS_MEMORY}, {IFM_M_WAIT_DEPENDENCY_PERCENT, WAITS_DEPENDENCY},
    {IFM_M_WAIT_WGMMA_PERCENT, WAITS_WGMMA},   {IFM_M_WAIT_BARRIER_PERCENT, WAITS_BARRIER},
    {IFM_M_WAIT_SHARED_PERCENT, WAITS_SHARED}, {IFM_M_WAIT_ARITHMETIC_PERCENT, WAITS_ARITHMETIC},
};
enum { WAITS = sizeof waits / sizeof *waits };

/* Ranges differ in length: what is counted in warps and cycles is taken for a cycle. */
static double in_a_cycle(const struct counted *c, unsigned column, size_t *n)
{
    return ifm_counted_mean(c, &(struct quotient){{column, N}, CYCLES, 1}, n);
}

static void emit_share(const struct counted *c, enum ifm_metric_id metric, double share, size_t n)
{
    struct ifm_arena *arena = c->arm->d->arena;
    ifm_derive_emit(
        c->arm, metric,
        share <= MOST ? ifm_value_real(fmin(share, 100), (int64_t)n, "ranges")
                      : ifm_value_refused(arena, "rule-03",
                                          ifm_arena_printf(arena, "%.4g is above %.4g, which cannot be", share, MOST)));
}

/* Waiting is what warps do that are there and could not issue. */
static void emit_waits(const struct counted *c, double idle)
{
    struct ifm_arena *arena = c->arm->d->arena;
    double waiting[WAITS], sum = 0;
    size_t n[WAITS], n_all;
    const double all = in_a_cycle(c, WARPS_ACTIVE, &n_all) - in_a_cycle(c, ELIGIBLE, &n_all);
    struct ifm_value value;
    for (size_t i = 0; i < WAITS; i++) {
        waiting[i] = 0;
        if (!ifm_counted_has(c, waits[i].column))
            continue;
        if (ifm_counted_is_withheld(c, waits[i].column, &value)) {
            ifm_derive_emit(c->arm, IFM_M_WAIT_OTHER_PERCENT, value);
            return;
        }
        waiting[i] = in_a_cycle(c, waits[i].column, &n[i]);
        sum += waiting[i];
    }
    if (!(all > 0) || sum > MORE_THAN * all) {
        ifm_derive_emit(
            c->arm, IFM_M_WAIT_OTHER_PERCENT,
            ifm_value_refused(arena, "rule-04",
                              ifm_arena_printf(arena, "%.4g warps wait for a reason, of %.4g that wait", sum, all)));
        return;
    }
    const double whole = fmax(all, sum);
    for (size_t i = 0; i < WAITS; i++)
        if (ifm_counted_has(c, waits[i].column))
            emit_share(c, waits[i].metric, idle * waiting[i] / whole, n[i]);
    emit_share(c, IFM_M_WAIT_OTHER_PERCENT, idle * (whole - sum) / whole, n_all);
}

/* The rest of a share varies as the share does. */
static void emit_idle(const struct counted *c)
{
    size_t n;
    (void)ifm_counted_mean(c, &(struct quotient){{ACTIVE, N}, ALONE, PERCENT}, &n);
    struct ifm_value value = ifm_derive_mean(c->values, n, "ranges");
    value.number = 100 - fmin(value.number, 100);
    value.has_interval = false;
    if (n > 0) /* of the same set as occupancy, so that it is there */
        ifm_derive_emit(c->arm, IFM_M_SM_IDLE_PERCENT, value);
}

static void emit_limits(const struct counted *c)
{
    const struct quotient issue = {{ISSUE, N}, ALONE, PERCENT};
    size_t n;
    if (!c->ranges.has[OCCUPANCY]) /* a record of before these columns */
        return;
    /* Where nothing could be read, the first number has the reason for all. */
    if (!ifm_counted_emit(c, IFM_M_OCCUPANCY_PERCENT, &(struct quotient){{OCCUPANCY, N}, ALONE, PERCENT}, MOST))
        return;
    const double there = fmin(ifm_counted_mean(c, &(struct quotient){{OCCUPANCY, N}, ALONE, PERCENT}, &n), 100);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ifm_counted_has(c, units[i].column))
            (void)ifm_counted_emit(c, units[i].metric, &(struct quotient){{units[i].column, N}, ALONE, PERCENT}, MOST);
    emit_idle(c);
    const double idle = 100 - fmin(ifm_counted_mean(c, &issue, &n), 100);
    if (n == 0)
        return;
    emit_share(c, IFM_M_OCCUPANCY_LIMIT_PERCENT, idle * (1 - there / 100), n);
    emit_waits(c, idle);
}

void ifm_derive_limits(const struct ifm_arm_work *arm)
{
    struct ifm_arena *scratch = ifm_arena_create();
    const struct counted c = ifm_counted_begin(arm, scratch);
    emit_limits(&c);
    ifm_arena_destroy(scratch);
}
