/* The arithmetic of the stop rule, a block at a time: the run asks it while it measures (run/pass/stop.c), and derive
 * asks it again of the record (derive/rules/stop.c). One function gives both the same number, to the last bit.
 *
 * Pure but for the arrays, which are the caller's; the rules of stats.h hold. */
#ifndef IFM_STATS_STOP_BLOCKS_H
#define IFM_STATS_STOP_BLOCKS_H

#include "model/plan.h"
#include "stats/stats.h"

/* A fixed-width rule covers as promised from about ten blocks on (research: .93 to .95). */
enum { IFM_BLOCKS_FOR_WIDTH = 10 };

struct ifm_stop_blocks {
    const struct ifm_cell *cell;
    size_t baseline;
    unsigned variants;
    bool logarithms; /* blocks are logarithms of times, as earlier versions took them */
    double level;    /* of each decision's interval: 0.95, or more when several share the 5 % (Bonferroni) */
    double n;        /* blocks so far */
    double steps;    /* of the arms that are compared, by block those of the one with fewest */
    /* Per arm, zeros at first: running mean of its blocks, squares about it, and products with the baseline's
     * (Welford); the block that is taken in, and its steps; the share of the clock's tick in a sample. */
    double *mean, *m2, *cross, *block, *done, *tick;
};

/* All but the arrays. */
struct ifm_stop_blocks ifm_stop_blocks_of(const struct ifm_cell *cell);
/* What a decision must clear before anything counts as changed, as a logarithm; where nothing is compared, nothing. */
double ifm_stop_blocks_margin(const struct ifm_stop_blocks *blocks);
/* Make `block` and `done` zero, before a block is put there. */
void ifm_stop_blocks_begin(struct ifm_stop_blocks *blocks);
/* Take in `block`. */
void ifm_stop_blocks_add(struct ifm_stop_blocks *blocks);
/* Does the arm decide when to stop? Probes only when there is nothing else. */
bool ifm_stop_blocks_decides(const struct ifm_stop_blocks *blocks, size_t arm);
/* Standard deviation of an arm's decision over blocks: of what each says of ln(its time / the baseline's). */
double ifm_stop_blocks_sd(const struct ifm_stop_blocks *blocks, size_t arm);
double ifm_stop_blocks_worst_sd(const struct ifm_stop_blocks *blocks); /* of the arms that decide */
/* Called with 80 % power at the level of the decisions, after n blocks: t_level + t_.8. */
double ifm_stop_blocks_factor(const struct ifm_stop_blocks *blocks, double n);
/* The largest detectable effect so far, and the wanted one (run/pass/stop.h). */
double ifm_stop_blocks_mde(const struct ifm_stop_blocks *blocks);
double ifm_stop_blocks_wanted(const struct ifm_stop_blocks *blocks);
/* A comparison of fewer steps than IFM_TAIL_RUNS says nothing of slow ones, however narrow its interval (stats/tail.h).
 */
bool ifm_stop_blocks_has_seen_the_tail(const struct ifm_stop_blocks *blocks);

#endif
