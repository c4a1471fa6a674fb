/* The state of the machine's locks over a whole run. Reads events and keeps nothing. */
#include "model/lock_state.h"
#include <string.h>

const json_t *ifm_lock_knobs(const json_t *event)
{
    const char *stage = json_string_value(json_object_get(event, "stage"));
    const json_t *knobs = json_object_get(json_object_get(event, "meta"), "knobs");
    return stage != NULL && strcmp(stage, "locks") == 0 && json_is_array(knobs) ? knobs : NULL;
}

bool ifm_lock_is_held(const json_t *knob)
{
    return json_is_true(json_object_get(knob, "locked"));
}

enum ifm_lock_state ifm_lock_state(const json_t *events)
{
    enum ifm_lock_state state = IFM_LOCK_UNKNOWN;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *knobs = ifm_lock_knobs(json_array_get(events, i));
        for (size_t k = 0; k < json_array_size(knobs); k++) {
            if (!ifm_lock_is_held(json_array_get(knobs, k)))
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
