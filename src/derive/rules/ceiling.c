/* Rule 3: no rate above its ceiling, and cells that caches serve are named as such. */
#include "base/text.h"
#include "derive/internal.h"
#include "model/plan_json.h"

#include <math.h>

/* Either witness is enough: a guest may be told of a larger cache than it gets, or find a larger one than it is told
 * of. In cold mode the caches are emptied before every sample, so that memory serves even a small working set. */
static bool is_resident(const struct ifm_cell_work *work, const struct ifm_arm *arm)
{
    if (arm->working_set == 0 || ifm_derive_is_cache_probe(arm) || work->cell->measure.cache == IFM_CACHE_COLD)
        return false;
    if ((double)arm->working_set < ifm_resident_below(work->d))
        return true;
    return work->cell->cache_resident && !ifm_derive_is_probe(arm);
}

static void mark_resident(struct ifm_cell_work *work)
{
    uint64_t smallest = UINT64_MAX;
    bool subjects = false;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        struct ifm_arm_work *arm = &work->arms[a];
        arm->cache_resident = is_resident(work, arm->arm);
        if (!arm->cache_resident)
            continue;
        subjects |= !ifm_derive_is_probe(arm->arm);
        smallest = arm->arm->working_set < smallest ? arm->arm->working_set : smallest;
    }
    if (smallest == UINT64_MAX)
        return;
    char set[48], cache[48];
    const char *basis =
        (double)smallest < ifm_resident_below(work->d)
            ? ifm_arena_printf(work->d->arena, "4 x the %s of %s",
                               work->d->llc_of_gpu ? "GPU's second-level cache" : "measured last-level cache",
                               ifm_format_human(work->d->llc_bytes, "B", cache))
            : "4 x the reported last-level cache";
    ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "rule-03", "cache-resident: a working set of %s is below %s; %s",
                        ifm_format_human((double)smallest, "B", set), basis,
                        subjects ? "its rates are cache rates and are not held against memory"
                                 : "these ceilings are those of a cache");
}

/* A rate is an amount over the time that a speed-up compares: when nobody should believe the one, neither the other. */
static void refuse_comparisons(const struct ifm_arm_work *refused, const char *reason)
{
    struct ifm_cell_work *work = refused->work;
    for (size_t a = 0; a < work->cell->n_arms; a++)
        if (&work->arms[a] == refused || refused == work->baseline)
            ifm_refuse(&work->arms[a].compare_refused, "rule-03", reason);
}

static void check_rate(struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    struct ifm_log_mean share;
    struct ifm_interval interval;
    const struct ifm_arm_work *ceiling;
    if (!ifm_ceiling_share(arm, kind, &share, &ceiling))
        return;
    double low = ifm_log_mean_interval(&share, IFM_LEVEL, &interval) ? interval.low : share.mean;
    if (low <= log1p(IFM_RATE_TOLERANCE))
        return;
    const char *reason = ifm_arena_printf(
        arm->d->arena, "%.0f %% of the measured %s ceiling (%s): a rate cannot exceed its ceiling by more than %.0f %%",
        100.0 * exp(share.mean), ifm_ceiling_name(kind), ceiling->arm->name, 100.0 * IFM_RATE_TOLERANCE);
    ifm_refuse_arm(arm, &arm->rates_refused, IFM_SEVERITY_WARNING, "rule-03", reason);
    refuse_comparisons(arm, reason);
}

void ifm_rules_ceiling(struct ifm_cell_work *work)
{
    mark_resident(work);
    if (work->record == NULL || work->refusal.rule != NULL)
        return;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        struct ifm_arm_work *arm = &work->arms[a];
        if (ifm_derive_is_probe(arm->arm) || arm->broken != NULL)
            continue;
        check_rate(arm, IFM_CEILING_FLOPS);
        if (arm->cache_resident)
            continue;
        check_rate(arm, IFM_CEILING_READ);
        check_rate(arm, IFM_CEILING_WRITE);
    }
}
