/* One comparison of an arm with its baseline, by pairs of blocks. Pure. */
#ifndef IFM_DERIVE_COMPARE_COMPARISON_H
#define IFM_DERIVE_COMPARE_COMPARISON_H

#include "derive/internal.h"
#include <math.h>

/* The levels hold for all comparisons of the cell at once (Bonferroni): with m variants each interval has the level
 * 1 - 0.05 / m, and each of the two one-sided tests for equivalence the error 0.05 / m. */
struct comparison {
    size_t n;
    struct ifm_log_mean mean; /* of ln(time of a step of the arm / of the baseline) */
    double level, level_equal;
    double
        level_looks; /* at which the interval is computed to hold at `level`: wider where the run looked as it went */
    struct ifm_interval change, equal;
    double drift; /* of the logarithm over the pass, which the intervals hold; 0 = none is visible */
    bool carried; /* the intervals hold what one arm left behind for the other */
    bool hidden;  /* ... or may have, which disturbed slots hide */
    const char *word;
};

/* Of `time_ns` and `steps` of the arm and of its cell's baseline, over the blocks that both have but `without`. False
 * where they are too few. */
bool ifm_derive_pair(const struct ifm_arm_work *arm, const bool *without, struct comparison *out);
/* Faster, slower, equivalent or undecided. */
const char *ifm_derive_word(const struct comparison *c, double margin);

/* ln(time of the arm / of the baseline) that may lie in a comparison and is no difference of the arms. */
struct allowance {
    double low, high;
};
/* What brings an interval to hold another one. */
static inline struct allowance ifm_to_hold(struct ifm_interval change, struct ifm_interval other)
{
    return (struct allowance){fmin(change.high - other.high, 0), fmax(change.low - other.low, 0)};
}
static inline void ifm_widen(struct comparison *c, struct allowance a)
{
    c->change = (struct ifm_interval){c->change.low - a.high, c->change.high - a.low};
    c->equal = (struct ifm_interval){c->equal.low - a.high, c->equal.high - a.low};
}
/* Where the disturbed blocks that are set aside are lopsided: what all blocks say, which the comparison holds too. */
bool ifm_derive_paid(const struct ifm_arm_work *arm, const struct ifm_aside *aside, struct comparison *all,
                     struct ifm_interval *paid);

/* ---- compare/foretold.c ---- */
/* The effect that this many blocks of this noise would show, beyond the margin, with 80 % probability. */
struct ifm_value ifm_derive_mde(const struct comparison *c, double margin);
/* Blocks of the run in all, disturbed ones among them, after which an undecided comparison probably has a
 * word (stats/foretell.h). */
struct ifm_value ifm_derive_blocks_needed(const struct ifm_cell_work *work, const struct comparison *c,
                                          const struct ifm_aside *aside);

#endif
