/* Rule 3 of speed-ups, and what a lossy arm gains over the exact arms of its cell that are not its baseline: over the
 * fastest of all, and over that of its own maker. A baseline is chosen before anything is measured; whoever changes to
 * the lossy arm leaves the fastest exact one. */
#include "derive/internal.h"

#include "derive/compare/between.h"
#include "model/plan_json.h"
#include <math.h>
#include <string.h>

/* How many times fewer bytes or operations the arm has than `base`: what its design can explain; 0 = no ledger. */
static double explained(const struct ifm_arm *base, const struct ifm_arm *arm)
{
    double best = 0.0;
    static const enum ifm_ceiling kinds[] = {IFM_CEILING_COPY, IFM_CEILING_FLOPS};
    for (size_t i = 0; i < 2; i++) {
        double a = ifm_ceiling_amount(base, kinds[i]), b = ifm_ceiling_amount(arm, kinds[i]);
        if (a > 0 && b > 0)
            best = fmax(best, a / b);
    }
    return best;
}

bool ifm_derive_nearest(const struct ifm_arm_work *base, struct ifm_nearest *out)
{
    struct ifm_log_mean read = {0}, flops = {0};
    if (base->rates_refused.rule != NULL)
        return false;
    const enum ifm_ceiling operations = ifm_roof_of_operations(base);
    bool by_memory = base->reads == IFM_CEILING_READ;
    bool has_read = (!by_memory || !base->cache_resident) && ifm_roof_share(base, base->reads, &read);
    bool has_flops = ifm_roof_share(base, operations, &flops);
    if (!has_read && !has_flops)
        return false;
    bool by_read = has_read && (!has_flops || read.mean >= flops.mean);
    const enum ifm_ceiling kind = by_read ? base->reads : operations;
    *out = (struct ifm_nearest){exp(by_read ? read.mean : flops.mean), ifm_roof_share_high(base, kind),
                                ifm_ceiling_name(kind), !by_read};
    return true;
}

/* How near `base` was to a ceiling, as words; NULL where that is not known. */
static const char *share_of(const struct ifm_arm_work *base, const char *name)
{
    struct ifm_nearest nearest;
    if (!ifm_derive_nearest(base, &nearest))
        return NULL;
    return ifm_arena_printf(base->d->arena, "%s at %.1f %% of its %s ceiling", name, 100.0 * nearest.share,
                            nearest.ceiling);
}

bool ifm_derive_hold_speedup(const struct ifm_arm_work *arm, const struct ifm_arm_work *base, struct ifm_value *value,
                             double *ratio)
{
    const struct ifm_cell_work *work = arm->work;
    const char *name = base == work->baseline ? "baseline" : base->arm->name;
    *ratio = explained(base->arm, arm->arm);
    if (arm->inactive) /* a twin of the baseline: that is its answer, whatever the machine made of its time */
        return false;
    if (*ratio == 0.0 || value->low <= fmax(1.0, *ratio) * (1.0 + work->cell->measure.margin))
        return false;
    const char *share = share_of(base, name);
    if (share != NULL) {
        value->text = share;
        return true;
    }
    const bool above = base->rates_refused.rule != NULL;
    const char *whose = base == work->baseline ? "the baseline" : base->arm->name;
    const char *why = ifm_arena_printf(arm->d->arena,
                                       above ? "%s's own rates, which would show how weak it is, are refused"
                                             : "no ceiling shows how weak %s is",
                                       whose);
    const char *reason = ifm_arena_printf(
        arm->d->arena, "a speed-up of %.3g is beyond the byte and FLOP ratio %.3g, and %s", value->number, *ratio, why);
    *value = ifm_value_refused(arm->d->arena, "rule-03", reason);
    value->remedy = above ? "measure again where nothing else runs" : "take ceilings along (ceilings: read, flops)";
    return true;
}

/* ---- rivals ---- */

/* Its output is what the cell is about, and its time stands. */
static bool is_exact(const struct ifm_arm_work *arm, const struct ifm_arm_work *lossy)
{
    const struct ifm_ledger *a = &arm->arm->ledger, *b = &lossy->arm->ledger;
    return (arm->arm->role == IFM_ROLE_BASELINE || arm->arm->role == IFM_ROLE_VARIANT) && !arm->arm->lossy &&
           arm->broken == NULL && arm->rates_refused.rule == NULL && arm->n_blocks > 0 &&
           a->tokens_generated == b->tokens_generated && a->tokens_prompt == b->tokens_prompt && a->rows == b->rows;
}

static double step_ns(const struct ifm_arm_work *arm)
{
    const struct ifm_value step = ifm_derive_step_value(arm, NULL);
    return ifm_is_ok(&step) ? step.number : INFINITY;
}

/* The fastest exact arm; `maker`: of those of this implementation. NULL = there is none. */
static const struct ifm_arm_work *fastest(const struct ifm_arm_work *lossy, const char *maker)
{
    const struct ifm_cell_work *work = lossy->work;
    const struct ifm_arm_work *best = NULL;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *arm = &work->arms[a];
        const bool made =
            maker == NULL || (arm->arm->implementation != NULL && strcmp(arm->arm->implementation, maker) == 0);
        if (made && is_exact(arm, lossy) && (best == NULL || step_ns(arm) < step_ns(best)))
            best = arm;
    }
    return best;
}

/* The blocks that the comparison of either of the two leaves out; NULL = none. */
static const bool *set_aside(const struct ifm_arm_work *arm, const struct ifm_arm_work *rival)
{
    const bool *a = ifm_derive_set_aside(arm).blocks, *b = ifm_derive_set_aside(rival).blocks;
    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    bool *both = IFM_ARENA_ARRAY(arm->d->arena, bool, arm->work->n_blocks + 1);
    for (size_t i = 0; i < arm->work->n_blocks; i++)
        both[i] = a[i] || b[i];
    return both;
}

/* The interval holds what arms left behind for one another, and the change at one clock, as that of the change does. */
static void allow(const struct ifm_arm_work *arm, const struct ifm_arm_work *rival, struct ifm_interval *change)
{
    const struct ifm_carried own = ifm_derive_carried(arm), its = ifm_derive_carried(rival);
    const double apart = ifm_derive_clocks_apart(arm, rival);
    change->low -= own.high - its.low + fmax(-apart, 0);
    change->high -= own.low - its.high + fmin(-apart, 0);
}

static struct ifm_value over(const struct ifm_arm_work *arm, const struct ifm_arm_work *rival)
{
    const struct ifm_cell_work *work = arm->work;
    const bool *without = set_aside(arm, rival);
    struct ifm_log_mean mean;
    struct ifm_interval change;
    double ratio;
    const bool paired = ifm_pair_mean(arm, rival, without, &mean);
    const double level = ifm_derive_compare_level(work), looks = ifm_derive_level_over_looks(work, level, mean.n);
    if (!paired || !ifm_log_mean_interval(&mean, looks, &change))
        return ifm_value_absent(ifm_needs_blocks(arm->d->arena, mean.n), ifm_derive_more(work, "blocks"),
                                (int64_t)mean.n, "blocks");
    (void)ifm_derive_hold_drift(arm, rival, without, looks, &change);
    allow(arm, rival, &change);
    struct ifm_value value = ifm_value_real(exp(-mean.mean), (int64_t)mean.n, "blocks");
    ifm_value_bracket(&value, exp(-change.high), exp(-change.low), level);
    value.text = rival->arm->name;
    if (ifm_derive_hold_speedup(arm, rival, &value, &ratio) && ifm_is_ok(&value))
        value.text = ifm_arena_printf(arm->d->arena, "%s; %s", rival->arm->name, value.text);
    return value;
}

void ifm_derive_rivals(const struct ifm_cell_work *work)
{
    for (size_t a = 0; work->record != NULL && a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *arm = &work->arms[a];
        if (!arm->arm->lossy || !ifm_derive_is_compared(arm) || arm->broken != NULL || arm->n_blocks == 0)
            continue;
        const struct ifm_arm_work *best = fastest(arm, NULL);
        const struct ifm_arm_work *own =
            arm->arm->implementation == NULL ? NULL : fastest(arm, arm->arm->implementation);
        if (best != NULL && best != work->baseline)
            ifm_derive_emit(arm, IFM_M_SPEEDUP_OVER_FASTEST, over(arm, best));
        if (own != NULL && own != work->baseline)
            ifm_derive_emit(arm, IFM_M_SPEEDUP_OVER_OWN, over(arm, own));
    }
}
