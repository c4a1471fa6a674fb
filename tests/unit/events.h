/* A journal of a test: JSON lines in an array, decoded as run.log is. */
#ifndef IFM_TESTS_UNIT_EVENTS_H
#define IFM_TESTS_UNIT_EVENTS_H

#include "model/event.h"

#include <cmocka.h>
#include <stdio.h>

static inline enum ifm_status events_try(const json_t *lines, struct ifm_arena *arena, const struct ifm_events **out,
                                         struct ifm_error *error)
{
    struct ifm_events *events = ifm_events_create(arena);
    *out = events;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        char where[64];
        snprintf(where, sizeof where, "run.log:%zu", i + 1);
        IFM_TRY(ifm_events_add(events, json_array_get(lines, i), where, error));
    }
    return ifm_events_seal(events, "run.log", error);
}

static inline const struct ifm_events *events_of(const json_t *lines, struct ifm_arena *arena)
{
    struct ifm_error error = {0};
    const struct ifm_events *events;
    if (events_try(lines, arena, &events, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    return events;
}

#endif
