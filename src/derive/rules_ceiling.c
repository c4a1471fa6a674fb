/* Rule 3: no rate above its ceiling, and cells that caches serve are named as such. */
#include "derive/internal.h"

#include <math.h>

/* In cold mode every cache is emptied before a sample, so that memory serves however small a working set. */
static bool is_resident(const struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm *arm)
{
    double below = ifm_resident_below(d);
    if (arm->working_set == 0 || ifm_derive_is_cache_probe(arm) || work->cell->measure.cache == IFM_CACHE_COLD)
        return false;
    if (below > 0)
        return (double)arm->working_set < below;
    return work->cell->cache_resident && !ifm_derive_is_probe(arm);
}

static void mark_resident(struct ifm_derivation *d, struct ifm_cell_work *work)
{
    uint64_t smallest = UINT64_MAX;
    bool subjects = false;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        struct ifm_arm_work *arm = &work->arms[a];
        arm->cache_resident = is_resident(d, work, arm->arm);
        if (!arm->cache_resident)
            continue;
        subjects |= !ifm_derive_is_probe(arm->arm);
        smallest = arm->arm->working_set < smallest ? arm->arm->working_set : smallest;
    }
    if (smallest == UINT64_MAX)
        return;
    const char *basis =
        d->llc_bytes > 0 ? ifm_arena_printf(d->arena, "4 x the measured last-level cache of %.0f bytes", d->llc_bytes)
                         : "4 x the reported last-level cache";
    ifm_derive_find_fault(
        d, IFM_SEVERITY_NOTE, "rule-03", work->cell->name, "",
        "cache-resident: a working set of %llu bytes is below %s; %s", (unsigned long long)smallest, basis,
        subjects ? "its rates are cache rates and are not held against memory" : "these ceilings are those of a cache");
}

static const char *name_of(enum ifm_ceiling kind)
{
    return kind == IFM_CEILING_READ ? "read" : kind == IFM_CEILING_WRITE ? "write" : "flops";
}

static void check_rate(struct ifm_derivation *d, struct ifm_cell_work *work, struct ifm_arm_work *arm,
                       enum ifm_ceiling kind)
{
    struct ifm_log_mean share;
    struct ifm_interval interval;
    const struct ifm_arm_work *ceiling;
    if (!ifm_ceiling_share(work, arm, kind, &share, &ceiling))
        return;
    double low = ifm_log_mean_interval(&share, IFM_LEVEL, &interval) ? interval.low : share.mean;
    if (low <= log1p(IFM_RATE_TOLERANCE))
        return;
    const char *reason = ifm_arena_printf(
        d->arena, "%.0f %% of the measured %s ceiling (%s): a rate cannot exceed its ceiling by more than %.0f %%",
        100.0 * exp(share.mean), name_of(kind), ceiling->arm->name, 100.0 * IFM_RATE_TOLERANCE);
    if (arm->rates_refused.rule == NULL)
        arm->rates_refused = (struct ifm_refusal){"rule-03", reason};
    ifm_derive_find_fault(d, IFM_SEVERITY_WARNING, "rule-03", work->cell->name, arm->arm->name, "%s", reason);
}

void ifm_rules_ceiling(struct ifm_derivation *d, struct ifm_cell_work *work)
{
    mark_resident(d, work);
    if (work->record == NULL || work->refusal.rule != NULL)
        return;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        struct ifm_arm_work *arm = &work->arms[a];
        if (ifm_derive_is_probe(arm->arm) || arm->broken != NULL)
            continue;
        check_rate(d, work, arm, IFM_CEILING_FLOPS);
        if (arm->cache_resident)
            continue;
        check_rate(d, work, arm, IFM_CEILING_READ);
        check_rate(d, work, arm, IFM_CEILING_WRITE);
    }
}
