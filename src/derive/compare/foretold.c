/* What a comparison's noise foretells: the least change that it shows, and the blocks that decide it. */
#include "derive/compare/comparison.h"
#include "model/machine_facts.h"
#include "stats/foretell.h"
#include <math.h>
#include <string.h>

struct ifm_value ifm_derive_mde(const struct comparison *c, double margin)
{
    double bound, t80, df = c->mean.n_effective - 1.0;
    if (ifm_stats_t_quantile(0.5 + 0.5 * c->level_looks, df, &bound) != IFM_STAT_OK ||
        ifm_stats_t_quantile(0.8, df, &t80) != IFM_STAT_OK)
        return ifm_value_absent("no quantile of t for these blocks", "", (int64_t)c->n, "blocks");
    return ifm_value_real(100.0 * expm1(log1p(margin) + (bound + t80) * c->mean.sd / sqrt(c->mean.n_effective)),
                          (int64_t)c->n, "blocks");
}

/* Why no number of blocks can be foretold; NULL = nothing speaks against one. */
static const char *unforeseen(const struct ifm_cell_work *work, const struct comparison *c, size_t all,
                              const char **remedy)
{
    *remedy = "";
    if (c->carried) {
        *remedy = ifm_arena_printf(work->d->arena,
                                   "%s, as the time depends on which arm ran before: twice that if it still does",
                                   ifm_derive_longer_slots(work));
        return "an arm seems to leave something behind for another: then more blocks do not help";
    }
    if (c->hidden) {
        *remedy = "a quieter machine";
        return "too many slots were disturbed to tell " IFM_ORDER_HIDDEN_WORDS;
    }
    if (c->drift != 0.0) {
        *remedy = "find what drifts";
        return "the difference itself drifts: more blocks do not make it one";
    }
    if (!ifm_stats_blocks_foretell(c->n, all, ifm_was_loaded(work->d->facts->events)))
        return IFM_TOO_FEW_TO_FORETELL;
    return NULL;
}

struct ifm_value ifm_derive_blocks_needed(const struct ifm_cell_work *work, const struct comparison *c,
                                          const struct ifm_aside *aside)
{
    const bool holds_zero = c->change.low <= 0 && c->change.high >= 0;
    const size_t all = aside->blocks == NULL ? c->n : aside->n + aside->left;
    const char *remedy, *reason = unforeseen(work, c, all, &remedy);
    if (reason != NULL)
        return ifm_value_absent(reason, remedy, (int64_t)c->n, "blocks");
    /* A run with looks decides, at the latest, at its last one. */
    const uint64_t last = work->cell->measure.blocks_max,
                   needed = ifm_stats_foretell_word(&c->mean, holds_zero, log1p(work->cell->measure.margin),
                                                    ifm_derive_level_over_looks(work, c->level, last),
                                                    ifm_derive_level_over_looks(work, c->level_equal, last));
    if (needed == 0)
        return ifm_value_absent(
            holds_zero ? "the estimate is within its noise of zero, so that no number of blocks can be foretold"
                       : "the estimate lies so near the edge of the margin that no sensible number of blocks decides",
            strcmp(work->cell->workload, "session") == 0 ? "a wider measure.margin, or a quieter machine"
                                                         : "a wider --margin, or a quieter machine",
            (int64_t)c->n, "blocks");
    const double further = (double)(needed - c->n);
    return ifm_value_count_of((int64_t)all + (int64_t)ceil(further * (double)all / (double)c->n), (int64_t)c->n,
                              "blocks");
}
