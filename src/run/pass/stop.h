/* The stop rule: a control decision, logged with its inputs. No published number comes from it.
 *
 * Decided, the default (Haybittle 1971): stop at a planned look, after 6 blocks and then half as many more, at which
 * every question of the cell is answered (stats/looks.h). Fixed width (Chow and Robbins 1965), also where nothing is
 * compared: stop when the minimum detectable effect of every decision of the cell has reached the wanted one and at
 * least ten blocks are there. Group-sequential (O'Brien and Fleming 1979): stop early at one of five planned looks only
 * when every decision of the cell is beyond its boundary (stats/sequential.h). Intervals hold for all looks. No rule
 * ends a comparison before a slow step in 50 must have been seen (stats/tail.h), but for a gate that no such step could
 * change; cap and most blocks end it all the same. Looking at a significance test to stop at any other time is
 * impossible by construction. The decision of a variant is the logarithm of its mean time over the baseline's, its
 * spread that of the blocks' influences on it (derive/estimate.c); a cell without variants is decided by the mean time
 * of each of its arms, and nothing in it is decided early. */
#ifndef IFM_RUN_PASS_STOP_H
#define IFM_RUN_PASS_STOP_H

#include "model/plan.h"
#include "run/cell/cell.h"
#include "stats/stop_blocks.h"
#include <stdbool.h>

/* Comparisons after the blocks so far, for a reader who waits: preliminary, of a single look, and in no record. */
struct ifm_so_far {
    uint32_t blocks;
    char text[192]; /* "int4 against f16 1.48x [1.41, 1.55]"; "" = nothing is compared */
};

struct ifm_stop {
    struct ifm_stop_blocks all; /* of the mean times of a step */
    uint32_t blocks;            /* also those that were passed over, which `all` lacks */
    uint64_t steps;             /* of arms that are compared, by block those of the one with fewest */
    unsigned rows;              /* in a block: slots of each arm in it */
    uint32_t samples_per_slot;  /* of the first arm; of all arms under IFM_STOP_REPEATS */
    double tick_ns;             /* of the device's clock */
    double outside, inside;     /* constants of the looks, for beyond the margin and within it; 0 = other rule */
};

void ifm_stop_init(struct ifm_stop *stop, const struct ifm_cell_run *cell);
void ifm_stop_free(struct ifm_stop *stop);
/* Take in a measured block: as many slots of each arm as it has rows. */
void ifm_stop_add(struct ifm_stop *stop, const struct ifm_slot *slots, const struct ifm_sample *samples);
/* A block that the machine disturbed and that is not run again: it counts, and says nothing about the arms. */
void ifm_stop_pass_over(struct ifm_stop *stop);
/* Largest minimum detectable effect of the cell's decisions so far, relative: the change that would be called faster or
 * slower with 80 % probability, the margin that it must clear included (in a cell without variants nothing is called,
 * and it is the change that would be seen). Infinite below two blocks. */
double ifm_stop_mde(const struct ifm_stop *stop);
/* The wanted effect: the configured one, or the clock's tick as a share of the deciding arm's sample where that is
 * larger, because more blocks cannot see below the tick. */
double ifm_stop_wanted(const struct ifm_stop *stop);
/* The rule's part of the stop fact: its detectable effect, and where it looked and at which level, both as the decision
 * took them; cell, reason, blocks and time are the caller's. */
struct ifm_event_stop ifm_stop_facts(const struct ifm_stop *stop);
/* The reason to stop now, or NULL. `elapsed_s` since the first block of this session. */
const char *ifm_stop_reason(const struct ifm_stop *stop, double elapsed_s);
void ifm_stop_so_far(const struct ifm_stop *stop, struct ifm_so_far *out);
/* Blocks that a cell will probably take, from what is known; for progress and for the dry run. */
double ifm_stop_expected_blocks(const struct ifm_stop *stop, double block_s);

#endif
