/* A journal of a test: JSON lines in an array, decoded as run.log is; and run.log as such an array, for tests of what
 * stands in it. */
#ifndef IFM_TESTS_UNIT_EVENTS_H
#define IFM_TESTS_UNIT_EVENTS_H

#include "base/file.h"
#include "model/event.h"

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line may leave out its clock and that all was well. */
static inline void events_complete(json_t *line)
{
    if (json_is_object(line) && json_object_get(line, "meta") != NULL && json_object_get(line, "ok") == NULL)
        json_object_set_new(line, "ok", json_true());
    if (json_is_object(line) && json_object_get(line, "meta") != NULL && json_object_get(line, "t_ns") == NULL)
        json_object_set_new(line, "t_ns", json_integer(1));
}

static inline enum ifm_status events_try(json_t *lines, struct ifm_arena *arena, const struct ifm_events **out,
                                         struct ifm_error *error)
{
    struct ifm_events *events = ifm_events_create(arena);
    *out = events;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        char where[64];
        snprintf(where, sizeof where, "run.log:%zu", i + 1);
        events_complete(json_array_get(lines, i));
        IFM_TRY(ifm_events_add(events, json_array_get(lines, i), where, error));
    }
    return ifm_events_seal(events, "run.log", error);
}

static inline const struct ifm_events *events_of(json_t *lines, struct ifm_arena *arena)
{
    struct ifm_error error = {0};
    const struct ifm_events *events;
    if (events_try(lines, arena, &events, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    return events;
}

/* The lines of DIR/run.log (new reference). */
static inline json_t *events_read(const char *dir)
{
    char path[512], *text = NULL;
    size_t size;
    struct ifm_error error = {0};
    json_t *lines = json_array();
    snprintf(path, sizeof path, "%s/run.log", dir);
    assert_int_equal(ifm_file_read(path, 1 << 30, &text, &size, &error), IFM_OK);
    for (char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1)
        json_array_append_new(lines, json_loadb(at, (size_t)(end - at), 0, NULL));
    free(text);
    return lines;
}

#endif
