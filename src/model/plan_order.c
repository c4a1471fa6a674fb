/* The order of slots in a block: a random permutation of the arms, then its mirror image. */
#include "base/random.h"
#include "model/plan.h"

/* A stream for each block, far from the small numbers that data streams use; odd factors keep them apart. */
static uint32_t order_stream(unsigned block)
{
    static const uint32_t base = 0x6f726472; /* "ordr" */
    return base ^ (block * 0x9e3779b9u);
}

void ifm_plan_order(const struct ifm_cell *cell, unsigned block, unsigned *order)
{
    unsigned n = (unsigned)cell->n_arms;
    struct ifm_random random = ifm_random_start(cell->seed, order_stream(block));
    for (unsigned i = 0; i < n; i++)
        order[i] = i;
    for (unsigned i = n; i > 1; i--) { /* Fisher and Yates */
        unsigned j = ifm_random_below(&random, i), last = order[i - 1];
        order[i - 1] = order[j];
        order[j] = last;
    }
    for (unsigned i = 0; i < n; i++)
        order[2 * n - 1 - i] = order[i];
}
