/* How many runs of programs the answers of a cell rest on: few may hold no slow one of a program that has some. */
#include "derive/internal.h"

#include "stats/tail.h"
#include <math.h>

/* Each step of each sample is one; the median may count slots, of many samples each. */
static int64_t runs_of(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    const struct ifm_value *median = ifm_derived_value(derived, cell, arm, IFM_M_LATENCY_NS_P50),
                           *samples = ifm_derived_value(derived, cell, arm, IFM_M_SAMPLES_COUNT),
                           *steps = ifm_derived_value(derived, cell, arm, IFM_M_INNER_STEPS);
    if (!ifm_is_ok(median))
        return IFM_TAIL_RUNS;
    if (!ifm_is_ok(samples))
        return median->n;
    return (int64_t)(samples->number * (ifm_is_ok(steps) && steps->number > 1 ? steps->number : 1));
}

/* The least share of its blocks that a comparison rests on. */
static double share_compared(const struct ifm_derived *derived, const struct ifm_cell *cell)
{
    double least = 1;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const char *arm = cell->arms[a].name;
        const struct ifm_value *change = ifm_derived_value(derived, cell->name, arm, IFM_M_CHANGE_PERCENT);
        const double all = (double)ifm_derived_all_blocks(derived, cell->name, arm);
        if (ifm_is_ok(change) && all > 0)
            least = fmin(least, (double)change->n / all);
    }
    return least;
}

struct ifm_few_runs ifm_derived_fewest_runs(const struct ifm_derived *derived, const struct ifm_cell *cell, bool all)
{
    const double share = all ? 1 : share_compared(derived, cell);
    struct ifm_few_runs fewest = {IFM_TAIL_RUNS, share < 1};
    for (size_t a = 0; a < cell->n_arms && ifm_cell_counts_programs(cell); a++) {
        const int64_t runs = (int64_t)round(share * (double)runs_of(derived, cell->name, cell->arms[a].name));
        fewest.n = runs < fewest.n ? runs : fewest.n;
    }
    return fewest;
}

const char *ifm_unseen_runs(struct ifm_few_runs runs, struct ifm_arena *arena)
{
    return ifm_arena_printf(arena, "%lld %sruns are too few to see slow ones rarer than 1 in %lld", (long long)runs.n,
                            runs.undisturbed ? "undisturbed " : "", (long long)(runs.n + 2) / 3);
}
