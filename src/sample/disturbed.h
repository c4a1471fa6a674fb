/* What the machine did to a slot, by the columns that the operating system's counters left beside it; and which blocks
 * are run again for it.
 *
 * The run asks after each block, derive asks again of the record, so both take the same blocks. No time of an arm is
 * looked at: how long a step took never decides whether it counts. Pure. */
#ifndef IFM_SAMPLE_DISTURBED_H
#define IFM_SAMPLE_DISTURBED_H

#include "model/plan.h"
#include "sample/record.h"
#include <stdbool.h>

/* Worst first. */
enum ifm_cause {
    IFM_CAUSE_NONE,
    IFM_CAUSE_THROTTLED, /* the processor slowed itself down */
    IFM_CAUSE_FAULTED,   /* pages were read from a disk: memory was short, or the arm reads files */
    IFM_CAUSE_STOLEN,    /* by the hypervisor, of a virtual machine */
    IFM_CAUSE_WAITED,    /* threads waited for a CPU that others had */
    IFM_CAUSE_PROGRAM,   /* a program that is measured waited so */
    IFM_CAUSE_FOREIGN,   /* others ran beside a tree of programs that was taken off its CPUs */
    IFM_CAUSE_SWITCHED,  /* threads were taken off their CPUs; how long they waited, the kernel does not say */
    IFM_CAUSES
};

/* Places of the columns that can mark a slot, -1 where the record lacks one. */
struct ifm_cause_columns {
    int steal, delay, switches, throttles, faults;
    int program_delay, program_ns; /* of programs: what they waited, and how long they ran, in a slot */
    int foreign, program_switches; /* of that time what others took of each CPU; how often they were taken off theirs */
};

struct ifm_cause_columns ifm_cause_columns_of(const char *const *names, size_t n);
/* Does the record tell what programs waited? Then nothing else says that an arm was undisturbed. */
bool ifm_cause_of_programs(const struct ifm_cause_columns *columns);
/* Was a column read that tells of others on our CPUs? Without one, no mark means nothing. Where steps are programs, the
 * lab's own thread sleeps through them, and what it waited says nothing of theirs. */
bool ifm_cause_was_read(const struct ifm_slot *slot, const struct ifm_cause_columns *columns);
/* What disturbed the slot, and how much of it: a share of the slot, or a count. */
enum ifm_cause ifm_slot_cause(const struct ifm_slot *slot, const struct ifm_cause_columns *columns, double *amount);
/* A slot that lost more than this share of its time to others is disturbed. */
#define IFM_LOST_SHARE 0.05
/* What the slot lost, ns: the longer of what its programs and the lab's threads waited for a CPU. 0 = it was not read.
 */
double ifm_slot_waited_ns(const struct ifm_slot *slot, const struct ifm_cause_columns *columns);
double ifm_slot_stolen_ns(const struct ifm_slot *slot, const struct ifm_cause_columns *columns);
/* What the amount of a cause is a share of, in ns: a mean of several slots is weighted by it. 1 of a count. */
double ifm_cause_weight(const struct ifm_slot *slot, const struct ifm_cause_columns *columns, enum ifm_cause cause);
/* The worst cause of `n` slots. */
enum ifm_cause ifm_slots_cause(const struct ifm_slot *slots, size_t n, const struct ifm_cause_columns *columns,
                               double *amount);
/* "stolen time 12 % of a slot", "..., together longer than the slot itself"; "" for none. */
enum { IFM_CAUSE_TEXT = 80 };
const char *ifm_cause_text(enum ifm_cause cause, double amount, char text[IFM_CAUSE_TEXT]);

/* Repeats of a latency pass. A disturbed block is followed by one more, while no more than every second block is such a
 * repeat, and while it and what is left of the fewest blocks fit into the cell's cap of time. The repeat has the same
 * order, but for blocks of one row: they go on with the mirror image, so that arms go on running behind themselves,
 * however many blocks are disturbed, and what one arm leaves behind for the other can be told from what it is. Where a
 * number of samples is asked for, it is what is measured, and runs of programs may be windows of energy too: nothing is
 * repeated. */
struct ifm_repeats {
    struct ifm_cause_columns columns;
    bool wanted;               /* false: an older plan, whose blocks all stand */
    bool mirrors;              /* a repeat has the mirror image of its block */
    double cap_ns, used_ns;    /* of all measured blocks */
    uint64_t fewest;           /* blocks that count and are measured whatever they take */
    uint32_t blocks, repeated; /* so far */
};

enum ifm_block_fate {
    IFM_BLOCK_STANDS,
    IFM_BLOCK_REPEATED, /* disturbed, and one more block is measured: it counts for no plan and no rule */
    IFM_BLOCK_DISTURBED /* disturbed, and nothing is left to repeat it with: it counts as a block, and decides nothing
                         */
};

/* Before the first block. `rules`: of the plan (IFM_PLAN_RULES); `rows`: of a block, 1 or 2. */
struct ifm_repeats ifm_repeats_of(const char *const *columns, size_t n, unsigned rules, unsigned rows,
                                  const struct ifm_cell *cell);
/* Which of the plan's orders the next block has, behind `measured` others (ifm_plan_order_rows). */
uint32_t ifm_repeats_turn(const struct ifm_repeats *repeats, uint32_t measured);
/* Takes in the `n` slots of the next measured block. */
enum ifm_block_fate ifm_repeats_take(struct ifm_repeats *repeats, const struct ifm_slot *slots, size_t n);

#endif
