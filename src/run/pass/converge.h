/* After the warm-up: wait until power and temperature settle, and find each arm's level of power, which decides whether
 * slots need pre-rolls.
 *
 * A GPU at its power cap needs up to half a second to find its clock after an arm of another power level, and its first
 * steps are then some 5 % slower (docs/maintain/energy.md). So each arm runs by itself for about measure.pre_roll while
 * power is read, until it is steady or measure.warmup_cap is spent; and a measured slot whose arm differs by more than
 * 5 % from the arm before it is preceded by measure.pre_roll of its own steps, which nothing records. At the cap all
 * arms draw the same, so there they differ by the clock that this leaves them.
 *
 * Control decisions, logged with their inputs (facts `converge` and `pre_roll`); no published number comes from them.
 * Where power cannot be read, the fact says why and no time is spent. Thread rule: the driving thread. */
#ifndef IFM_RUN_PASS_CONVERGE_H
#define IFM_RUN_PASS_CONVERGE_H

#include "power/power.h"
#include "run/cell/cell.h"

/* Steady: the standard deviation of power over the last half of an arm's turn is at most this share of its mean, ... */
#define IFM_CONVERGE_SPREAD 0.03
/* ... and the temperature of the last five seconds of the gate moved by at most one kelvin, the step of such sensors,
 * or by no more than this slope. */
#define IFM_CONVERGE_K_PER_S 0.5
/* Levels, of power or of the clock, that differ by more than this share of the higher one are two levels, */
#define IFM_CONVERGE_LEVELS 0.05
/* and slots have pre-rolls where one of them is above this share of the device's limit of power, or no limit is known:
 * far below it a device runs at the clock that it would have anyway. */
#define IFM_CONVERGE_NEAR_LIMIT 0.85

/* Where watts and degrees come from. Times are those of the device's marks outside a slot. */
struct ifm_gauge {
    const char *device, *source; /* "gpu0", "nvml_samples" */
    double limit_w;              /* power limit of the device; 0 = not known */
    double lag_s;                /* a reading is the mean over so long before it */
    /* Readings since the last call, oldest first; 0 = none. */
    size_t (*watts)(void *context, struct ifm_power_point *points, size_t room);
    int64_t (*temperature_mc)(void *context); /* IFM_ABSENT where it cannot be read */
    double (*mhz)(void *context); /* mean clock over the slot that was timed last, NaN = not known; NULL = never is */
    void *context;
};

/* The machine's gauge for the device; NULL, with reason and remedy, where nothing measures its power. `where`: its root
 * and its NVML; the bus of a GPU is the device's own. */
struct ifm_gauge *ifm_gauge_open(struct ifm_device *device, const struct ifm_power_options *where,
                                 char reason[static 200], char remedy[static 200]);
void ifm_gauge_close(struct ifm_gauge *gauge); /* NULL is allowed */

struct ifm_converge {
    struct ifm_cell_run *cell;
    double watts[IFM_MOST_ARMS]; /* level of each arm; NaN = not known */
    double mhz[IFM_MOST_ARMS];   /* its clock there; NaN = not known */
    double limit_w;              /* of the device's power; 0 = not known */
    double pre_roll_s;           /* 0 = no slot has one */
    int last;                    /* the arm that ran last; -1 = none */
};

/* Run the gate, `used_s` of measure.warmup_cap being spent. `gauge` NULL: `reason` and `remedy` say why. */
IFM_CHECKED enum ifm_status ifm_converge(struct ifm_cell_run *cell, const struct ifm_gauge *gauge, const char *reason,
                                         const char *remedy, double used_s, struct ifm_converge *out,
                                         struct ifm_error *error);
/* The gate with what this machine has; nothing on a scripted device. */
IFM_CHECKED enum ifm_status ifm_converge_here(struct ifm_cell_run *cell, double used_s, struct ifm_converge *out,
                                              struct ifm_error *error);
/* Before each slot of the arm: its pre-roll, where it follows an arm of another level. */
IFM_CHECKED enum ifm_status ifm_converge_pre_roll(struct ifm_converge *converge, unsigned arm, struct ifm_error *error);
/* For the dry run: runs the gate, since nothing else tells the levels; gives the seconds that it took, and those of the
 * pre-rolls of an average block. */
IFM_CHECKED enum ifm_status ifm_converge_estimate(struct ifm_cell_run *cell, double used_s, double *gate_s,
                                                  double *block_s, struct ifm_error *error);

#endif
