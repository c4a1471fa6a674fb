/* ncu's launches to numbers. Shares are ratios of sums, and must be of one pass to add up. */
#include "cli/ncu_numbers.h"

#include "base/names.h"
#include "stats/stats.h"
#include <math.h>
#include <string.h>

#define FEWEST_LOOKUPS 1e4
#define ADD_UP 0.005
#define PEAK_SLACK 1.02 /* clocks are rounded */

const struct ifm_ncu_field ifm_ncu_fields[IFM_NCU_FIELDS] = {
    {"time_ns", "kernel time", "ns", {"counters_range_ns"}, NULL, "gpu__time_duration.sum", false, false},
    {"dram_bytes_read", "memory read", "B", {"dram_read_bytes"}, NULL, "dram__bytes_read.sum", false, false},
    {"dram_bytes_written", "memory written", "B", {"dram_write_bytes"}, NULL, "dram__bytes_write.sum", false, false},
    {"dram_throughput_pct",
     "memory busy",
     "%",
     {"dram_read_bytes", "dram_write_bytes"},
     NULL,
     "dram__throughput.avg.pct_of_peak",
     false,
     true},
    {"l2_hit_pct", "L2 hits", "%", {"l2_hits", "l2_accesses"}, NULL, NULL, true, false},
    {"l2_fabric_pct", "far side", "%", {"l2_fabric_sectors", "l2_sectors"}, NULL, NULL, true, false},
    {"l2_sector_hit_pct", "sector hits", "%", {NULL}, "lts__t_sector_hit_rate.pct", NULL, false, false},
    {"l2_write_sectors", "L2 writes", "1", {"l2_write_sectors"}, NULL, "lts__t_sectors_op_write.sum", false, false},
    {"warps_launched", "warps", "1", {"warps"}, NULL, "sm__warps_launched.sum", false, false},
    {"tensor_flops",
     "matrix FLOP",
     "FLOP",
     {"tensor_f16_ops", "tensor_bf16_ops", "tensor_tf32_ops"},
     NULL,
     NULL,
     false,
     false},
    {"tensor_int8_ops", "matrix int8", "1", {"tensor_int8_ops"}, NULL, NULL, false, false},
};

/* ---- of a launch ---- */

static size_t column_of(const char *id)
{
    size_t c = 0;
    while (c < IFM_COUNTER_COST && strcmp(ifm_counter_columns[c].id, id) != 0)
        c++;
    return c;
}

/* The first set that fills the column; NULL: the chip does not count it. */
static const struct ifm_counter_set *set_of(const struct ifm_counter_sets *sets, size_t column)
{
    for (size_t s = 0; s < sets->n; s++)
        for (size_t m = 0; m < sets->items[s].n; m++)
            if (sets->items[s].column[m] == column)
                return &sets->items[s];
    return NULL;
}

static struct ifm_ncu_value metric_value(const struct ifm_ncu_counted *c, const struct ifm_ncu_launch *launch,
                                         const char *metric)
{
    struct ifm_ncu_value value = ifm_ncu_value_of(c->report, launch, metric);
    if (value.reason != NULL)
        value.reason = ifm_arena_printf(c->arena, "%s: %s", metric, value.reason);
    return value;
}

static struct ifm_ncu_value column_value(const struct ifm_ncu_counted *c, const struct ifm_ncu_launch *launch,
                                         const char *id)
{
    const size_t column = column_of(id);
    const struct ifm_counter_set *set = c->sets == NULL ? NULL : set_of(c->sets, column);
    struct ifm_ncu_value sum = {0, NULL};
    if (c->sets == NULL)
        return (struct ifm_ncu_value){NAN, "this build has no list of counters for the GPU"};
    if (set == NULL)
        return (struct ifm_ncu_value){NAN, "the chip does not count it in one pass"};
    for (size_t m = 0; m < set->n && sum.reason == NULL; m++) {
        if (set->column[m] != column)
            continue;
        const struct ifm_ncu_value value = metric_value(c, launch, set->texts[m]);
        sum = (struct ifm_ncu_value){sum.number + value.number, value.reason};
    }
    return sum;
}

static struct ifm_ncu_value field_value(const struct ifm_ncu_counted *c, const struct ifm_ncu_launch *launch,
                                        const struct ifm_ncu_field *field, size_t part)
{
    struct ifm_ncu_value sum = {0, NULL};
    if (field->metric != NULL)
        return metric_value(c, launch, field->metric);
    if (field->share)
        return column_value(c, launch, field->columns[part]);
    for (size_t i = 0; field->columns[i] != NULL && sum.reason == NULL; i++) {
        if (i > 0 && c->sets != NULL && !ifm_counter_sets_have(c->sets, column_of(field->columns[i])))
            continue; /* not every chip has a pass for it */
        const struct ifm_ncu_value value = column_value(c, launch, field->columns[i]);
        sum = (struct ifm_ncu_value){sum.number + value.number, value.reason};
    }
    return sum;
}

/* ---- of a group ---- */

static struct ifm_value number_of(double number, size_t n)
{
    return (struct ifm_value){
        .number = number, .n = (int64_t)n, .n_of = "launches", .unit = "", .reason = "", .remedy = "", .text = ""};
}

static struct ifm_value without(enum ifm_state state, const char *reason)
{
    struct ifm_value value = number_of(NAN, 0);
    value.state = state;
    value.reason = reason;
    return value;
}

/* Values of all launches; why there are not all, else NULL. */
static const char *values_of(const struct ifm_ncu_counted *c, const struct ifm_ncu_group *group,
                             const struct ifm_ncu_field *field, size_t part, double *values)
{
    const char *reason = NULL;
    size_t lost = 0;
    for (size_t i = 0; i < group->n; i++) {
        const struct ifm_ncu_value value = field_value(c, group->launches[i], field, part);
        values[i] = value.number;
        lost += value.reason != NULL;
        reason = reason == NULL ? value.reason : reason;
    }
    return lost == 0 || lost == group->n
               ? reason
               : ifm_arena_printf(c->arena, "%zu of %zu launches have none: %s", lost, group->n, reason);
}

static double sum_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum;
}

/* Hits and misses must be the lookups, where the report has all three. */
static const char *not_one_pass(const struct ifm_ncu_counted *c, const struct ifm_ncu_group *group, double hits,
                                double all)
{
    static const struct ifm_ncu_field misses = {.columns = {"l2_misses"}};
    double *values = IFM_ARENA_ARRAY(c->arena, double, group->n + 1);
    if (values_of(c, group, &misses, 0, values) != NULL)
        return NULL;
    const double missed = sum_of(values, group->n);
    return fabs(hits + missed - all) <= ADD_UP * all
               ? NULL
               : ifm_arena_printf(c->arena,
                                  "%.6g hits and %.6g misses are not %.6g lookups: they are of different passes", hits,
                                  missed, all);
}

static struct ifm_value share_in(const struct ifm_ncu_counted *c, const struct ifm_ncu_group *group,
                                 const struct ifm_ncu_field *field, double *values)
{
    const char *reason = values_of(c, group, field, 1, values);
    const double all = reason == NULL ? sum_of(values, group->n) : NAN;
    const char *other = values_of(c, group, field, 0, values);
    const double part = other == NULL ? sum_of(values, group->n) : NAN;
    if (reason != NULL || other != NULL)
        return without(IFM_STATE_ABSENT, other != NULL ? other : reason);
    if (all < FEWEST_LOOKUPS)
        return without(IFM_STATE_ABSENT, ifm_arena_printf(c->arena, "%.0f lookups are too few for a share", all));
    if (part > all)
        return without(IFM_STATE_REFUSED,
                       ifm_arena_printf(c->arena, "%.6g of %.6g is above 100 %%, which cannot be", part, all));
    reason = strcmp(field->columns[0], "l2_hits") == 0 ? not_one_pass(c, group, part, all) : NULL;
    return reason != NULL ? without(IFM_STATE_REFUSED, reason) : number_of(100 * part / all, group->n);
}

/* As dram_throughput_percent: the card's clock and bus are facts of a report that has a row a launch. */
static struct ifm_value busy_in(const struct ifm_ncu_counted *c, const struct ifm_ncu_group *group,
                                const struct ifm_ncu_field *field, double *values)
{
    static const struct ifm_ncu_field facts[] = {
        {.metric = IFM_NCU_MEMORY_KHZ}, {.metric = IFM_NCU_MEMORY_BITS}, {.columns = {"counters_range_ns"}}};
    enum { CLOCK, BUS, TIME, FACTS };
    double of[FACTS];
    for (size_t i = 0; i < FACTS; i++) {
        const char *reason = values_of(c, group, &facts[i], 0, values);
        if (reason != NULL)
            return without(IFM_STATE_ABSENT, reason);
        of[i] = sum_of(values, group->n) / (double)group->n;
    }
    const char *reason = values_of(c, group, field, 0, values);
    const double peak = 2e-6 * of[CLOCK] * of[BUS] / 8; /* B/ns */
    const double share = 100 * sum_of(values, group->n) / (double)group->n / of[TIME] / peak;
    if (reason != NULL)
        return without(IFM_STATE_ABSENT, reason);
    if (!isfinite(share) || share > 100 * PEAK_SLACK)
        return without(
            IFM_STATE_REFUSED,
            ifm_arena_printf(c->arena, "%.4g %% of what the memory's bus can carry, which cannot be", share));
    return number_of(share, group->n);
}

struct ifm_value ifm_ncu_value_in(const struct ifm_ncu_counted *c, const struct ifm_ncu_group *group,
                                  const struct ifm_ncu_field *field, double *sd, double *total)
{
    double *values = IFM_ARENA_ARRAY(c->arena, double, group->n + 1);
    struct ifm_moments moments;
    *sd = *total = NAN;
    if (field->share)
        return share_in(c, group, field, values);
    if (field->busy) {
        const struct ifm_value busy = busy_in(c, group, field, values);
        *total = busy.number;
        return busy;
    }
    const char *reason = values_of(c, group, field, 0, values);
    if (reason != NULL)
        return without(IFM_STATE_ABSENT, reason);
    for (size_t i = 0; field->metric != NULL && i < group->n; i++)
        if (values[i] > 100)
            return without(IFM_STATE_REFUSED,
                           ifm_arena_printf(c->arena,
                                            "ncu says %.6g %%, which cannot be: hits and lookups are of two passes",
                                            values[i]));
    if (ifm_stats_moments(values, group->n, &moments) == IFM_STAT_OK)
        *sd = moments.sd;
    if (field->metric == NULL)
        *total = sum_of(values, group->n);
    return number_of(sum_of(values, group->n) / (double)group->n, group->n);
}

static void add_launch(struct ifm_ncu_group *group, const struct ifm_ncu_launch *launch, struct ifm_arena *arena)
{
    IFM_ARENA_GROW(arena, group->launches, group->n, group->capacity);
    group->launches[group->n++] = launch;
}

void ifm_ncu_count(const struct ifm_ncu_report *report, const struct ifm_counter_sets *sets, struct ifm_arena *arena,
                   struct ifm_ncu_counted *out)
{
    struct ifm_names *names = ifm_names_create(arena);
    *out = (struct ifm_ncu_counted){.report = report, .sets = sets, .arena = arena, .n_groups = 1};
    out->groups = IFM_ARENA_ARRAY(arena, struct ifm_ncu_group, report->n_launches + 1);
    out->groups[0] = (struct ifm_ncu_group){.name = "all kernels"};
    for (size_t i = 0; i < report->n_launches; i++) {
        const struct ifm_ncu_launch *launch = &report->launches[i];
        const struct ifm_ncu_value passes = ifm_ncu_value_of(report, launch, "profiler__replayer_passes");
        const size_t at = ifm_names_add(names, launch->kernel) + 1;
        if (at == out->n_groups)
            out->groups[out->n_groups++] = (struct ifm_ncu_group){.name = launch->kernel};
        add_launch(&out->groups[0], launch, arena);
        add_launch(&out->groups[at], launch, arena);
        if (passes.reason == NULL)
            out->passes = fmax(out->passes, passes.number);
    }
}
