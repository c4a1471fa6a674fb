/* The kinds of passes: one row each, shared by the planner, the block loop and the readers of a record.
 *
 * A pass is one execution of a cell with one set of instruments. What disturbs the steps that it observes has a pass of
 * its own, so that no latency includes the cost of a counter. Programs of seconds alone are measured while power
 * sensors are read (run/energy/along.c): tens of readings a second are lost in them. What the block loop does for a
 * kind is run/pass/pass.c.
 */
#ifndef IFM_MODEL_PASS_H
#define IFM_MODEL_PASS_H

#include <stdbool.h>

/* How an instrument disturbs what it observes: this decides which pass takes it along. */
enum ifm_intrusion {
    IFM_INTRUSION_PASSIVE = 0, /* reads between slots: no step takes longer */
    IFM_INTRUSION_SAMPLING,    /* reads while steps run */
    IFM_INTRUSION_REPLAYING,   /* programs counters: steps may be serialised or run again */
    IFM_INTRUSION_TRACING,     /* records every launch and call */
    IFM_INTRUSIONS
};

/* A cell has at most one pass of each kind, in this order. */
enum ifm_pass_kind {
    IFM_PASS_LATENCY = 0, /* every cell that runs has it */
    IFM_PASS_ENERGY,
    IFM_PASS_COUNTERS,
    IFM_PASS_TRACE,
    IFM_PASS_KINDS
};

struct ifm_cell;

struct ifm_pass_row {
    const char *purpose; /* what is measured, for messages */
    unsigned admits;     /* classes of instruments that it takes along: 1 << enum ifm_intrusion */
    bool ceilings;       /* ceilings that are taken along have slots too; else only the arms in question */
    bool readings;       /* sensors are read during it: samples/<cell>-power-<device>-<source>.csv */
    /* Why the cell cannot have this pass on the device, with `remedy` filled; NULL = it can. */
    const char *(*why_not)(const struct ifm_cell *cell, const char *device, const char **remedy);
};

extern const struct ifm_pass_row ifm_pass_rows[IFM_PASS_KINDS];
/* Their names in plan.json; a record is samples/<cell>-<name>.csv and <cell>-<name>-slots.csv. NULL ends the list. */
extern const char *const ifm_pass_names[IFM_PASS_KINDS + 1];

/* The kind of pass that an instrument of this class is for: the first that admits it. */
enum ifm_pass_kind ifm_pass_for(enum ifm_intrusion intrusion);

#endif
