/* The state of the machine's locks over a whole run, as run.log tells it: one rule for whoever reads a journal. */
#ifndef IFM_MODEL_LOCK_STATE_H
#define IFM_MODEL_LOCK_STATE_H

#include <jansson.h>
#include <stdbool.h>

enum ifm_lock_state { IFM_LOCK_UNKNOWN = 0, IFM_LOCK_OPEN, IFM_LOCK_HELD };

/* Held when every knob of every reading was locked; open when one was not; unknown without a reading. `events` is the
 * journal as an array; NULL counts as empty. */
enum ifm_lock_state ifm_lock_state(const json_t *events);
/* "locked", "not locked", "unknown" */
const char *ifm_lock_state_words(enum ifm_lock_state state);

/* The knobs of one event of stage "locks": an array, whose items have "knob", "value" and "locked". NULL for an event
 * of another stage, and where it holds no list. */
const json_t *ifm_lock_knobs(const json_t *event);
bool ifm_lock_is_held(const json_t *knob);

#endif
