/* The state of the machine's locks over a whole run. Reads events and keeps nothing. */
#include "model/lock_state.h"

enum ifm_lock_state ifm_lock_state(const struct ifm_events *events)
{
    enum ifm_lock_state state = IFM_LOCK_UNKNOWN;
    IFM_EACH(event, events, locks, NULL, NULL) {
        const struct ifm_knobs *knobs = &IFM_FACTS(event, locks)->knobs;
        for (size_t k = 0; k < knobs->n; k++) {
            if (!knobs->items[k].locked)
                return IFM_LOCK_OPEN;
            state = IFM_LOCK_HELD;
        }
    }
    return state;
}

const char *ifm_lock_state_words(enum ifm_lock_state state)
{
    static const char *const words[] = {"unknown", "not locked", "locked"};
    return words[state];
}
