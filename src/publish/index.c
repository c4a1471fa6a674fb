/* An index of derived numbers. */
#include "publish/index.h"
#include <stdlib.h>
#include <string.h>

static int compare_keys(const struct ifm_number *a, const struct ifm_number *b)
{
    int order = strcmp(a->cell, b->cell);
    if (order == 0)
        order = strcmp(a->arm, b->arm);
    return order != 0 ? order : strcmp(a->metric, b->metric);
}

static int compare_numbers(const void *a, const void *b)
{
    return compare_keys(*(const struct ifm_number *const *)a, *(const struct ifm_number *const *)b);
}

struct ifm_index ifm_index_build(const struct ifm_derived *derived, struct ifm_arena *arena)
{
    struct ifm_index index = {IFM_ARENA_ARRAY(arena, const struct ifm_number *, derived->n_numbers + 1),
                              derived->n_numbers};
    for (size_t i = 0; i < index.n; i++)
        index.sorted[i] = &derived->numbers[i];
    qsort(index.sorted, index.n, sizeof *index.sorted, compare_numbers);
    return index;
}

const struct ifm_value *ifm_index_find(const struct ifm_index *index, const char *cell, const char *arm,
                                       const char *metric)
{
    const struct ifm_number key = {.cell = cell, .arm = arm, .metric = metric}, *pointer = &key;
    const struct ifm_number *const *found =
        bsearch(&pointer, index->sorted, index->n, sizeof *index->sorted, compare_numbers);
    return found == NULL ? NULL : &(*found)->value;
}
