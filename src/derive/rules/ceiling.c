/* Rule 3: no rate above what the device can do, and cells that caches serve are named as such. */
#include "base/text.h"
#include "derive/internal.h"
#include "model/machine.h"
#include "model/plan_json.h"

#include <math.h>

/* As planning saw it; 0 = it is not known, or the machine is a GPU, whose own cache find_caches knows. */
static double reported_llc(const struct ifm_cell_work *work)
{
    const struct ifm_machine *machine = work->d->plan->machine;
    return machine == NULL || machine->gpu != NULL ? 0 : (double)ifm_machine_llc_total(machine);
}

/* Either witness is enough: a guest may be told of a larger cache than it gets, or find a larger one than it is told
 * of. In cold mode the caches are emptied before every sample, so that memory serves even a small working set. */
static bool is_resident(const struct ifm_cell_work *work, const struct ifm_arm *arm)
{
    if (arm->working_set == 0 || ifm_derive_is_cache_probe(arm) || work->cell->measure.cache == IFM_CACHE_COLD)
        return false;
    if ((double)arm->working_set < ifm_resident_below(work->d))
        return true;
    if (ifm_derive_is_probe(arm))
        return (double)arm->working_set < IFM_RESIDENT_FACTOR * reported_llc(work);
    return work->cell->cache_resident;
}

/* The level of the caches whose roof the arm's reads have; memory's where none was probed. */
static enum ifm_ceiling roof_of_reads(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    const struct ifm_machine *machine = work->d->plan->machine;
    if (!arm->cache_resident || machine == NULL || machine->gpu != NULL || ifm_derive_is_probe(arm->arm))
        return IFM_CEILING_READ;
    int level = ifm_machine_level(machine, work->cell->threads, arm->arm->working_set);
    enum ifm_ceiling kind = ifm_ceiling_of_level(level > 0 ? level : IFM_CACHE_LEVELS);
    for (size_t a = 0; a < work->cell->n_arms; a++)
        if (work->cell->arms[a].ceiling == kind)
            return kind;
    return IFM_CEILING_READ;
}

/* Names the levels that were probed for the cell: "L2", "L2, L3"; "" = none. */
static const char *probed_levels(const struct ifm_cell_work *work)
{
    const char *names = "";
    for (enum ifm_ceiling kind = IFM_CEILING_L1; kind <= IFM_CEILING_L3; kind++)
        for (size_t a = 0; a < work->cell->n_arms; a++)
            if (work->cell->arms[a].ceiling == kind)
                names = ifm_arena_printf(work->d->arena, "%s%s%s", names, names[0] == '\0' ? "" : ", ",
                                         ifm_ceiling_name(kind));
    return names;
}

void ifm_rules_resident(struct ifm_cell_work *work)
{
    uint64_t smallest = UINT64_MAX;
    bool subjects = false;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        struct ifm_arm_work *arm = &work->arms[a];
        arm->cache_resident = is_resident(work, arm->arm);
        arm->reads = roof_of_reads(arm);
        if (!arm->cache_resident)
            continue;
        subjects |= !ifm_derive_is_probe(arm->arm);
        smallest = arm->arm->working_set < smallest ? arm->arm->working_set : smallest;
    }
    if (smallest == UINT64_MAX)
        return;
    char set[48], cache[48];
    const char *levels = probed_levels(work);
    const char *basis =
        (double)smallest < ifm_resident_below(work->d)
            ? ifm_arena_printf(work->d->arena, "4 x the %s of %s",
                               work->d->llc_of_gpu ? "GPU's second-level cache" : "measured last-level cache",
                               ifm_format_human(work->d->llc_bytes, "B", cache))
            : "4 x the reported last-level cache";
    ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "rule-03", "cache-resident: a working set of %s is below %s; %s",
                        ifm_format_human((double)smallest, "B", set), basis,
                        !subjects ? "these ceilings are those of a cache"
                        : levels[0] == '\0'
                            ? "its rates are cache rates and are not held against memory"
                            : ifm_arena_printf(work->d->arena, "its reads are held against the cache, %s", levels));
}

/* A rate is an amount over the time that a speed-up compares: when nobody should believe the one, neither the other. */
static void refuse_comparisons(const struct ifm_arm_work *refused, const char *reason)
{
    struct ifm_cell_work *work = refused->work;
    const char *of_baseline =
        ifm_arena_printf(work->d->arena, IFM_OF_BASELINE_WORDS "%s: %s", refused->arm->name, reason);
    for (size_t a = 0; a < work->cell->n_arms; a++)
        if (&work->arms[a] == refused || refused == work->baseline)
            ifm_refuse(&work->arms[a].compare_refused, "rule-03", &work->arms[a] == refused ? reason : of_baseline);
}

static const char *why_above(const struct ifm_arm_work *arm, enum ifm_ceiling kind, const char *above)
{
    const struct ifm_bound bound = ifm_bound_of(arm, kind);
    if (bound.rate > 0)
        return ifm_arena_printf(arm->d->arena, "%s, and above the physical bound (%s)", above, bound.words);
    const char *unknown =
        bound.words[0] == '\0' ? "" : ifm_arena_printf(arm->d->arena, " where no bound is known (%s)", bound.words);
    return ifm_arena_printf(arm->d->arena, "%s: a rate cannot exceed its ceiling by more than %.0f %%%s", above,
                            100.0 * IFM_RATE_TOLERANCE, unknown);
}

/* A probe above the bound makes no roof (roofs.c). */
static void check_probe(struct ifm_arm_work *arm)
{
    const enum ifm_ceiling kind = arm->arm->ceiling;
    const double amount = ifm_ceiling_amount(arm->arm, kind);
    struct ifm_bound bound;
    if (kind == IFM_CEILING_NONE || amount <= 0 || arm->broken != NULL || arm->n_blocks == 0 ||
        !ifm_roof_breaks(arm, kind, log(amount / ifm_roof_fastest_ns(arm)), &bound))
        return;
    const char *reason =
        ifm_arena_printf(arm->d->arena, "at its fastest it did %.0f %% of the physical bound of the %s ceiling (%s)",
                         100.0 * amount / ifm_roof_fastest_ns(arm) / bound.rate, ifm_ceiling_name(kind), bound.words);
    ifm_refuse_arm(arm, &arm->rates_refused, IFM_SEVERITY_WARNING, "rule-03", reason);
}

static void check_rate(struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    const struct ifm_roof *roof = &arm->work->roofs[kind];
    double surely = 0, excess = ifm_roof_excess(arm, kind, &surely);
    if (excess <= 0)
        return;
    const char *above = ifm_arena_printf(arm->d->arena, "%.0f %% of the measured %s ceiling (%s)", 100.0 * exp(excess),
                                         ifm_ceiling_name(kind), roof->by->arm->name);
    if (surely > ifm_roof_reach(roof, arm, kind)) {
        const char *reason = why_above(arm, kind, above);
        ifm_refuse_arm(arm, &arm->rates_refused, IFM_SEVERITY_WARNING, "rule-03", reason);
        refuse_comparisons(arm, reason);
    } else if (roof->raised_by == arm) {
        ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-03",
                           "%s: no probe was as fast, and the arm raises the ceiling", above);
    }
}

/* Where nothing of the kind was probed: an arm that does not do its work is still faster than any core. */
static void check_unprobed(struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    double steps = 0, ns = 0;
    const double amount = ifm_ceiling_amount(arm->arm, kind);
    const enum ifm_ceiling probed = kind == IFM_CEILING_READ ? arm->reads : ifm_roof_of_operations(arm);
    if (amount <= 0 || ifm_derive_is_probe(arm->arm) || arm->broken != NULL || arm->work->roofs[probed].by != NULL)
        return;
    for (size_t b = 0; b < arm->work->n_blocks; b++)
        if (arm->present[b]) {
            steps += arm->steps[b];
            ns += arm->time_ns[b];
        }
    const struct ifm_bound bound = ifm_bound_without_probe(arm, kind);
    if (bound.rate <= 0 || ns <= 0 || amount * steps / ns <= (1 + IFM_RATE_TOLERANCE) * bound.rate)
        return;
    const char *reason =
        ifm_arena_printf(arm->d->arena, "%.3g times what this processor can %s (%s): it did not do its work",
                         amount * steps / ns / bound.rate, kind == IFM_CEILING_READ ? "load" : "compute", bound.words);
    ifm_refuse_arm(arm, &arm->rates_refused, IFM_SEVERITY_WARNING, "rule-03", reason);
    refuse_comparisons(arm, reason);
}

void ifm_rules_ceiling(struct ifm_cell_work *work)
{
    if (work->record == NULL || work->refusal.rule != NULL)
        return;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        check_probe(&work->arms[a]);
        check_rate(&work->arms[a], ifm_roof_of_operations(&work->arms[a]));
        check_rate(&work->arms[a], work->arms[a].reads);
        check_rate(&work->arms[a], IFM_CEILING_WRITE);
        check_unprobed(&work->arms[a], IFM_CEILING_FLOPS);
        check_unprobed(&work->arms[a], IFM_CEILING_READ);
    }
}
