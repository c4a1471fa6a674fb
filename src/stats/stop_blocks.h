/* The arithmetic of the stop rule, a block at a time: the run asks it while it measures (run/pass/stop.c), and derive
 * asks it again of the record (derive/rules/stop.c). One function gives both the same number, to the last bit.
 *
 * Pure but for the arrays, which are the caller's; the rules of stats.h hold. */
#ifndef IFM_STATS_STOP_BLOCKS_H
#define IFM_STATS_STOP_BLOCKS_H

#include "model/plan.h"
#include "stats/looks.h"
#include "stats/paired.h"

/* A fixed-width rule covers as promised from about ten blocks on (research: .93 to .95). */
enum { IFM_BLOCKS_FOR_WIDTH = 10 };

struct ifm_stop_blocks {
    const struct ifm_cell *cell;
    const struct ifm_plan *plan; /* whose gates ask; NULL = none do */
    enum ifm_stop_rule rule;     /* the cell's; without variants there is nothing to decide, and a width ends it */
    size_t baseline;
    unsigned variants;
    bool logarithms; /* blocks are logarithms of times, as earlier versions took them */
    double level;    /* of each decision's interval: 0.95, or more when several share the 5 % (Bonferroni) */
    double n;        /* blocks so far */
    double steps;    /* of the arms that are compared, by block those of the one with fewest */
    double spent_ns; /* by the arms of the blocks */
    /* Per arm, zeros at first: running mean of its blocks, squares about it, and products with the baseline's
     * (Welford); the block that is taken in, and its steps; the share of the clock's tick in a sample. */
    double *mean, *m2, *cross, *block, *done, *tick;
    /* Under IFM_STOP_DECIDED: `block` of the first `room` blocks, and room for 3 numbers of each. Else NULL. */
    double *past, *scratch;
    size_t room;
    bool open; /* of the look that the blocks so far make: an answer of theirs is open by all that derive allows for */
};

/* All but the arrays. */
struct ifm_stop_blocks ifm_stop_blocks_of(const struct ifm_cell *cell, const struct ifm_plan *plan);
/* Blocks up to the last look: what `past` has room for; 0 = the rule makes none. */
size_t ifm_stop_blocks_room(const struct ifm_stop_blocks *blocks);
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
/* Is every question answered at the look that the blocks so far make? False between looks. Where gates ask about a
 * change or a speed-up, they are the questions of its arm: the interval lies wholly on one side of their thresholds.
 * Elsewhere the margin is: the interval lies wholly on one side of it, and the speed-up is known to `measure.mde` or to
 * a tenth of itself, or it lies inside. */
bool ifm_stop_blocks_decided(const struct ifm_stop_blocks *blocks);
/* Must what is settled be asked before such an answer ends anything? */
bool ifm_stop_blocks_asks(const struct ifm_stop_blocks *blocks);
/* How far slow steps that are not among so few may move a comparison; 0 from those on that must have shown one in 50.
 */
double ifm_stop_blocks_unseen(const struct ifm_stop_blocks *blocks);
size_t ifm_stop_blocks_first_look(const struct ifm_cell *cell);
/* The level at which an interval of n blocks holds at `level` under IFM_STOP_DECIDED: that of a look in a run that one
 * has ended, else that of the end. */
double ifm_stop_blocks_level(const struct ifm_cell *cell, double level, size_t n, bool decided);
/* Blocks at the look that will probably answer; infinite where the estimate lies on the edge of the margin. */
double ifm_stop_blocks_foretold(const struct ifm_stop_blocks *blocks);
/* The largest detectable effect so far, and the wanted one (run/pass/stop.h). */
double ifm_stop_blocks_mde(const struct ifm_stop_blocks *blocks);
double ifm_stop_blocks_wanted(const struct ifm_stop_blocks *blocks);
/* A comparison of fewer steps than IFM_TAIL_RUNS says nothing of slow ones, however narrow its interval (stats/tail.h):
 * only a gate ends it, whose answer stands with all that they may hide (ifm_stats_tail_unseen);
 * and where ceilings have rounds of their own, two at least, the arms run nine times as long as those, or 80 % of the
 * cap. */
double ifm_stop_blocks_least_ns(const struct ifm_stop_blocks *blocks); /* of arms beside rounds of ceilings */
bool ifm_stop_blocks_may_end(const struct ifm_stop_blocks *blocks);

#endif
