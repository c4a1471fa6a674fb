/* Looking derived numbers and findings up by name: an order beside each list, which itself stays in the order of the
 * report. */
#include "derive/derive.h"

#include "base/arena.h"
#include "stats/tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const struct ifm_number *a, const struct ifm_number *b)
{
    int order = strcmp(a->cell, b->cell);
    if (order == 0)
        order = strcmp(a->arm, b->arm);
    return order != 0 ? order : (int)a->metric - (int)b->metric;
}

/* Of two with the same name the first of the list stays first. */
static int compare_numbers(const void *a, const void *b)
{
    const struct ifm_number *one = *(const struct ifm_number *const *)a, *other = *(const struct ifm_number *const *)b;
    int order = compare_names(one, other);
    return order != 0 ? order : (one > other) - (one < other);
}

static int compare_findings(const void *a, const void *b)
{
    const struct ifm_finding *one = *(const struct ifm_finding *const *)a,
                             *other = *(const struct ifm_finding *const *)b;
    int order = strcmp(one->cell, other->cell);
    return order != 0 ? order : (one > other) - (one < other);
}

static void sort_findings(struct ifm_derived *derived, struct ifm_arena *arena)
{
    struct ifm_finding_order *order = &derived->finding_order;
    order->of = derived->findings;
    order->n = derived->n_findings;
    order->sorted = IFM_ARENA_ARRAY(arena, const struct ifm_finding *, order->n + 1);
    for (size_t i = 0; i < order->n; i++)
        order->sorted[i] = &derived->findings[i];
    qsort(order->sorted, order->n, sizeof *order->sorted, compare_findings);
}

void ifm_derived_sort(struct ifm_derived *derived, struct ifm_arena *arena)
{
    struct ifm_number_order *order = &derived->order;
    sort_findings(derived, arena);
    order->of = derived->numbers;
    order->n = derived->n_numbers;
    order->sorted = IFM_ARENA_ARRAY(arena, const struct ifm_number *, order->n + 1);
    for (size_t i = 0; i < order->n; i++)
        order->sorted[i] = &derived->numbers[i];
    qsort(order->sorted, order->n, sizeof *order->sorted, compare_numbers);
}

const struct ifm_number *ifm_derived_find(const struct ifm_derived *derived, const char *cell, const char *arm,
                                          enum ifm_metric_id metric)
{
    const struct ifm_number key = {.cell = cell, .arm = arm, .metric = metric};
    const struct ifm_number_order *order = &derived->order;
    bool ordered = order->sorted != NULL && order->of == derived->numbers && order->n == derived->n_numbers;
    if (!ordered) {
        for (size_t i = 0; i < derived->n_numbers; i++)
            if (compare_names(&derived->numbers[i], &key) == 0)
                return &derived->numbers[i];
        return NULL;
    }
    size_t low = 0, high = order->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(order->sorted[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < order->n && compare_names(order->sorted[low], &key) == 0 ? order->sorted[low] : NULL;
}

const struct ifm_value *ifm_derived_value(const struct ifm_derived *derived, const char *cell, const char *arm,
                                          enum ifm_metric_id metric)
{
    const struct ifm_number *number = ifm_derived_find(derived, cell, arm, metric);
    return number == NULL ? NULL : &number->value;
}

const struct ifm_finding *ifm_derived_finding(const struct ifm_derived *derived, const char *cell,
                                              const struct ifm_finding *after)
{
    const struct ifm_finding_order *order = &derived->finding_order;
    if (order->sorted == NULL || order->of != derived->findings || order->n != derived->n_findings) {
        for (size_t i = after == NULL ? 0 : (size_t)(after - derived->findings) + 1; i < derived->n_findings; i++)
            if (strcmp(derived->findings[i].cell, cell) == 0)
                return &derived->findings[i];
        return NULL;
    }
    size_t low = 0, high = order->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int where = strcmp(order->sorted[middle]->cell, cell);
        if (where < 0 || (where == 0 && after != NULL && order->sorted[middle] <= after))
            low = middle + 1;
        else
            high = middle;
    }
    return low < order->n && strcmp(order->sorted[low]->cell, cell) == 0 ? order->sorted[low] : NULL;
}

/* Each step of each sample is one; the median may count slots, of many samples each. */
static int64_t runs_of(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    const struct ifm_value *median = ifm_derived_value(derived, cell, arm, IFM_M_LATENCY_NS_P50),
                           *samples = ifm_derived_value(derived, cell, arm, IFM_M_SAMPLES_COUNT),
                           *steps = ifm_derived_value(derived, cell, arm, IFM_M_INNER_STEPS);
    if (!ifm_is_ok(median))
        return IFM_TAIL_RUNS;
    if (!ifm_is_ok(samples))
        return median->n;
    return (int64_t)(samples->number * (ifm_is_ok(steps) && steps->number > 1 ? steps->number : 1));
}

/* The least share of its blocks that a comparison rests on. */
static double share_compared(const struct ifm_derived *derived, const struct ifm_cell *cell)
{
    double least = 1;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const char *arm = cell->arms[a].name;
        const struct ifm_value *change = ifm_derived_value(derived, cell->name, arm, IFM_M_CHANGE_PERCENT);
        const double all = (double)ifm_derived_all_blocks(derived, cell->name, arm);
        if (ifm_is_ok(change) && all > 0)
            least = fmin(least, (double)change->n / all);
    }
    return least;
}

int64_t ifm_derived_fewest_runs(const struct ifm_derived *derived, const struct ifm_cell *cell, bool all)
{
    const double share = all ? 1 : share_compared(derived, cell);
    int64_t fewest = IFM_TAIL_RUNS;
    for (size_t a = 0; a < cell->n_arms && ifm_cell_counts_programs(cell); a++) {
        const int64_t runs = (int64_t)round(share * (double)runs_of(derived, cell->name, cell->arms[a].name));
        fewest = runs < fewest ? runs : fewest;
    }
    return fewest;
}

const char *ifm_unseen_runs(int64_t runs, struct ifm_arena *arena)
{
    return ifm_arena_printf(arena, "%lld runs are too few to see slow ones rarer than 1 in %lld", (long long)runs,
                            (long long)(runs + 2) / 3);
}

const char *ifm_finding_name(enum ifm_finding_kind kind)
{
    static const char *const names[] = {
        [IFM_FINDING_OTHER] = "other",
        [IFM_FINDING_WEAK_BASELINE] = "weak_baseline",
        [IFM_FINDING_CACHES] = "caches",
        [IFM_FINDING_ORDER] = "order",
        [IFM_FINDING_ORDER_HIDDEN] = "order_hidden",
        [IFM_FINDING_ALTERNATES] = "alternates",
        [IFM_FINDING_TYPICAL] = "typical",
        [IFM_FINDING_CLOCKS] = "clocks",
        [IFM_FINDING_DISTURBS] = "disturbs",
        [IFM_FINDING_LOAD] = "load",
        [IFM_FINDING_SHARED_GPU] = "shared_gpu",
        [IFM_FINDING_FEW_BLOCKS] = "few_blocks",
        [IFM_FINDING_WARM_UP] = "warm_up",
        [IFM_FINDING_UNSTEADY] = "unsteady",
        [IFM_FINDING_TIME_CHANGES] = "time_changes",
        [IFM_FINDING_TIME_DRIFTS] = "time_drifts",
        [IFM_FINDING_RATIO_DRIFTS] = "ratio_drifts",
        [IFM_FINDING_FEW_WINDOWS] = "few_windows",
        [IFM_FINDING_SHORT_WINDOWS] = "short_windows",
        [IFM_FINDING_OUTPUT] = "output",
        [IFM_FINDING_NOTHING_RAN] = "nothing_ran",
        [IFM_FINDING_FAILED_RUNS] = "failed_runs",
        [IFM_FINDING_MODES] = "modes",
        [IFM_FINDING_LOPSIDED] = "lopsided",
    };
    return names[kind];
}

const char *ifm_severity_label(enum ifm_severity severity)
{
    static const char *const labels[] = {"note", "warning", "invalid"};
    return labels[severity];
}
