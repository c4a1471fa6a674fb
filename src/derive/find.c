/* Looking derived numbers and findings up by name: an order beside each list, which itself stays in the order of the
 * report. */
#include "derive/derive.h"

#include "base/arena.h"

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

bool ifm_is_alternating(const char *text)
{
    return strncmp(text, IFM_ALTERNATES_WORDS, strlen(IFM_ALTERNATES_WORDS)) == 0 ||
           strncmp(text, IFM_PLACES_WORDS, strlen(IFM_PLACES_WORDS)) == 0;
}

bool ifm_tells_alternating(const char *text)
{
    return strstr(text, IFM_ALTERNATES_WORDS) != NULL || strstr(text, IFM_PLACES_WORDS) != NULL;
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
