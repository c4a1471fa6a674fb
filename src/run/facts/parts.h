/* What a run spends its time on: for the progress line and for the dry run's estimate.
 *
 * By the clock of this process. Nothing of it is recorded, and nobody looks at it inside a slot. */
#ifndef IFM_RUN_FACTS_PARTS_H
#define IFM_RUN_FACTS_PARTS_H

#include "base/clock.h"
#include <stddef.h>

enum ifm_part {
    IFM_PART_MACHINE, /* what it is, its locks, its load, its sensors */
    IFM_PART_DATA,    /* memory and data of the arms */
    IFM_PART_CHECKS,  /* against the oracle, before and after */
    IFM_PART_CALIBRATION,
    IFM_PART_WARM_UP,
    IFM_PART_CEILINGS, /* rounds of them */
    IFM_PART_BLOCKS,
    IFM_PART_LATER, /* the passes behind the first: energy, counters, trace */
    IFM_PARTS
};
extern const char *const ifm_part_names[IFM_PARTS]; /* "data" */

struct ifm_parts {
    double seconds[IFM_PARTS]; /* of the open cell; of the one that is under way, when it last began */
    enum ifm_part at;
    struct ifm_instant since;
    const char *cell, *arm; /* NULL = none */
    /* A part or an arm has begun; may be NULL. */
    void (*tell)(void *context, const struct ifm_parts *parts);
    void *context;
};

/* From now on the time is of `part`, which works on `arm` or, with NULL, on no arm in particular. */
void ifm_parts_turn(struct ifm_parts *parts, enum ifm_part part, const char *arm);
/* The same, with the account of another cell; NULL = between cells. */
void ifm_parts_open(struct ifm_parts *parts, enum ifm_part part, const char *cell);
/* "data 2.9 s, checks 0.4 s": those of a tenth of a second or more; "" = none. */
const char *ifm_parts_text(const double seconds[IFM_PARTS], char *out, size_t room);

#endif
