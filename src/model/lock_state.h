/* The state of the machine's locks over a whole run, as run.log tells it: one rule for whoever reads a journal. */
#ifndef IFM_MODEL_LOCK_STATE_H
#define IFM_MODEL_LOCK_STATE_H

#include "model/event.h"

enum ifm_lock_state { IFM_LOCK_UNKNOWN = 0, IFM_LOCK_OPEN, IFM_LOCK_HELD };

/* Held when every knob of every reading was locked; open when one was not; unknown without a reading. */
enum ifm_lock_state ifm_lock_state(const struct ifm_events *events);
/* "locked", "not locked", "unknown" */
const char *ifm_lock_state_words(enum ifm_lock_state state);

#endif
