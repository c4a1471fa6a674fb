/* Whether a rule of honesty keeps a comparison from deciding anything, and whether its blocks foretell how many more
 * decide: one answer for gates, labels and comparisons between runs. */
#include "derive/derive.h"

#include "stats/paired.h"
#include <string.h>

#define WAITS 0.1

static bool compares(enum ifm_metric_id metric)
{
    return ifm_metrics[metric].kind == IFM_CLASS_COMPARE;
}

static bool is_energy(enum ifm_metric_id metric)
{
    return metric == IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT || metric == IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT;
}

/* Clocks differ, and the interval holds the change at one clock too. */
static bool holds_clocks(const struct ifm_finding *finding)
{
    return finding->kind == IFM_FINDING_CLOCKS && !finding->takes_word;
}

/* Without the disturbed blocks the word would be another (rule 2), what is typical says the opposite, or an arm pays
 * for what another left behind (rule 7), or the difference belongs to the clock (rule 8). That an arm disturbs itself
 * takes no word. */
static bool takes_words(const struct ifm_finding *finding)
{
    return finding->takes_word && finding->severity == IFM_SEVERITY_WARNING;
}

const struct ifm_finding *ifm_derived_dispute(const struct ifm_derived *derived, const char *cell, const char *arm,
                                              enum ifm_metric_id metric)
{
    const struct ifm_value *change = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    /* How sharp a comparison is stands whatever it says. */
    if (!compares(metric) || metric == IFM_M_CHANGE_CPU_PERCENT /* of all blocks, with a word of its own */ ||
        metric == IFM_M_MDE_PERCENT || metric == IFM_M_BLOCKS_NEEDED || change == NULL)
        return NULL;
    const bool taken = strcmp(change->text, "undecided") == 0;
    const struct ifm_finding *held = NULL;
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(derived, cell, f)) != NULL;) {
        if (strcmp(f->arm, arm) != 0 || !((taken && takes_words(f)) ||
                                          /* The voltage has a part in the energy, at one clock too. */
                                          (is_energy(metric) && holds_clocks(f))))
            continue;
        if (!f->in_intervals)
            return f;
        held = held == NULL ? f : held;
    }
    return held;
}

/* What widened them is of the mean: those of medians and tails are others, and need not hold it when widened by as
 * much. */
bool ifm_derived_is_held(const struct ifm_finding *dispute, enum ifm_metric_id metric, const struct ifm_value *value)
{
    return dispute != NULL && dispute->in_intervals && ifm_is_ok(value) && value->has_interval &&
           (metric == IFM_M_CHANGE_PERCENT || metric == IFM_M_SPEEDUP);
}

const struct ifm_finding *ifm_derived_widened(const struct ifm_derived *derived, const char *cell, const char *arm,
                                              enum ifm_metric_id metric)
{
    for (const struct ifm_finding *f = NULL; compares(metric) && (f = ifm_derived_finding(derived, cell, f)) != NULL;)
        if (strcmp(f->arm, arm) == 0 && (((f->kind == IFM_FINDING_ORDER || f->kind == IFM_FINDING_ORDER_HIDDEN) &&
                                          metric != IFM_M_CHANGE_CPU_PERCENT) ||
                                         holds_clocks(f)))
            return f;
    return NULL;
}

/* ---- blocks that the machine disturbed ---- */

int64_t ifm_derived_all_blocks(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    const struct ifm_value *change = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    const struct ifm_value *all = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT_ALL_BLOCKS);
    const int64_t n = ifm_is_ok(change) ? change->n : 0;
    return ifm_is_ok(all) && all->n > n ? all->n : n;
}

double ifm_derived_blocks_each(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    const struct ifm_value *change = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    return !ifm_is_ok(change) || change->n <= 0
               ? 1
               : (double)ifm_derived_all_blocks(derived, cell, arm) / (double)change->n;
}

bool ifm_derived_foretells(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    const struct ifm_value *change = ifm_derived_value(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    return !ifm_is_ok(change) ||
           ifm_stats_blocks_foretell((size_t)change->n, (size_t)ifm_derived_all_blocks(derived, cell, arm),
                                     derived->busy);
}

bool ifm_derived_waits(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    const struct ifm_value *time = ifm_derived_value(derived, cell, arm, IFM_M_STEP_NS);
    const struct ifm_value *cpu = ifm_derived_value(derived, cell, arm, IFM_M_COMMAND_CPU_NS);
    const struct ifm_value *delay = ifm_derived_value(derived, cell, arm, IFM_M_COMMAND_RUN_DELAY_NS); /* of all runs */
    const struct ifm_value *runs = ifm_derived_value(derived, cell, arm, IFM_M_SAMPLES_COUNT);
    if (!ifm_is_ok(time) || !ifm_is_ok(cpu))
        return false;
    const double waited_ns = ifm_is_ok(delay) && ifm_is_ok(runs) && runs->number > 0 ? delay->number / runs->number : 0;
    return time->number - cpu->number - waited_ns > WAITS * time->number;
}

/* The ceiling's probe keeps its best moments, the arm its mean: under load the share falls, and no kernel got slower.
 */
static const char *load_on(const struct ifm_derived *derived, const char *cell, const char *arm,
                           struct ifm_arena *arena)
{
    const struct ifm_value *marked = ifm_derived_value(derived, cell, arm, IFM_M_BLOCKS_MARKED);
    const struct ifm_value *count = ifm_derived_value(derived, cell, arm, IFM_M_BLOCKS_COUNT);
    if (ifm_is_ok(marked) && ifm_is_ok(count) && marked->number > 0 && 2 * marked->number >= count->number)
        return ifm_arena_printf(arena, "the machine disturbed %.0f of %.0f blocks", marked->number, count->number);
    return derived->busy ? "the machine was under load" : "";
}

const char *ifm_derived_load_on(const struct ifm_derived *reference, const struct ifm_derived *other, const char *cell,
                                const char *arm, enum ifm_metric_id metric, struct ifm_arena *arena)
{
    if (metric != IFM_M_CEILING_READ_PERCENT && metric != IFM_M_CEILING_FLOPS_PERCENT)
        return "";
    const char *there = load_on(reference, cell, arm, arena), *here = load_on(other, cell, arm, arena);
    if (there[0] == '\0' && here[0] == '\0')
        return "";
    return ifm_arena_printf(arena, "%s%s%s%s%s" IFM_LOAD_LOWERS ". Remedy: end other work, and measure both",
                            there[0] != '\0' ? "in the reference " : "", there,
                            there[0] != '\0' && here[0] != '\0' ? ", " : "", here[0] != '\0' ? "in this run " : "",
                            here);
}
