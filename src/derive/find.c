/* Looking derived numbers up by name: an order beside the list, which itself stays in the order of the report. */
#include "derive/derive.h"

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

void ifm_derived_sort(struct ifm_derived *derived, struct ifm_arena *arena)
{
    struct ifm_number_order *order = &derived->order;
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

const char *ifm_severity_label(enum ifm_severity severity)
{
    static const char *const labels[] = {"note", "warning", "invalid"};
    return labels[severity];
}
