/* Which arms of a cell are compared with its baseline, and the level of each comparison. */
#include "derive/internal.h"

bool ifm_derive_is_compared(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    return work->baseline != NULL && arm != work->baseline && arm->is_variant && !ifm_derive_is_cache_probe(arm->arm) &&
           arm->arm->ceiling == work->baseline->arm->ceiling;
}

size_t ifm_derive_count_compared(const struct ifm_cell_work *work)
{
    size_t m = 0;
    for (size_t a = 0; a < work->cell->n_arms; a++)
        m += ifm_derive_is_compared(&work->arms[a]);
    return m;
}

double ifm_derive_compare_level(const struct ifm_cell_work *work)
{
    size_t m = ifm_derive_count_compared(work);
    return m > 1 ? 1.0 - (1.0 - IFM_LEVEL) / (double)m : IFM_LEVEL;
}
