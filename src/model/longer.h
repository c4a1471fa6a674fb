/* What measures more blocks of a cell, by what ended it: only that changes anything. */
#ifndef IFM_MODEL_LONGER_H
#define IFM_MODEL_LONGER_H

#include "base/arena.h"
#include "model/event.h"
#include "model/plan.h"

/* "--repeats 300 --slot-steps 2", "--cap 75s", "--mde 0.004"; "measure.cap=75s" in a session: what brings `times` as
 * many blocks, of slots as they were. "" = the journal does not tell what ended the cell. */
const char *ifm_longer(const struct ifm_cell *cell, const struct ifm_events *events, double times,
                       struct ifm_arena *arena);
/* "--override measure.slot_min=0s" where slots of so many samples are shorter than measure.slot_min, which would put
 * more into each and leave fewer blocks of the same repeats; "" elsewhere. */
const char *ifm_longer_slot_min(const struct ifm_cell *cell, const struct ifm_events *events, double samples,
                                struct ifm_arena *arena);
/* 4.3 is told as 5, 43 as 45, 432 as 440: whoever types it needs no digits, and never fewer. */
double ifm_longer_rounded(double number);

#endif
