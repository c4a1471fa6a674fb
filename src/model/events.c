/* A whole journal: which events stand, and where those of a stage and about a cell are found. */
#include "model/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ifm_events *ifm_events_create(struct ifm_arena *arena)
{
    struct ifm_events *events = IFM_ARENA_NEW(arena, struct ifm_events);
    events->arena = arena;
    return events;
}

enum ifm_status ifm_events_add(struct ifm_events *events, const json_t *line, const char *where,
                               struct ifm_error *error)
{
    IFM_ARENA_GROW(events->arena, events->items, events->n, events->capacity);
    struct ifm_event *event = &events->items[events->n];
    IFM_TRY(ifm_event_decode(line, where, events->arena, event, error));
    event->line = ++events->n;
    return IFM_OK;
}

/* By cell, then in the order of the file. */
static int by_cell(const void *a, const void *b)
{
    const struct ifm_event *one = *(const struct ifm_event *const *)a, *other = *(const struct ifm_event *const *)b;
    int order = strcmp(one->cell, other->cell);
    return order != 0 ? order : (one->line > other->line) - (one->line < other->line);
}

/* What was said of a cell before it began anew is about a record that was set aside. */
static void make_void(const struct ifm_event **sorted, size_t n)
{
    bool restarted = false;
    for (size_t i = n; i > 0; i--) {
        struct ifm_event *event = (struct ifm_event *)sorted[i - 1];
        if (i < n && strcmp(event->cell, sorted[i]->cell) != 0)
            restarted = false;
        event->is_void = restarted && !ifm_event_rows[event->stage].kept;
        restarted |= event->stage == IFM_STAGE_cell_restarted;
    }
}

static struct ifm_event_list sort_by_cell(const struct ifm_events *events)
{
    const struct ifm_event **sorted = IFM_ARENA_ARRAY(events->arena, const struct ifm_event *, events->n + 1);
    size_t n = 0, standing = 0;
    for (size_t i = 0; i < events->n; i++)
        if (events->items[i].cell != NULL)
            sorted[n++] = &events->items[i];
    qsort(sorted, n, sizeof *sorted, by_cell);
    make_void(sorted, n);
    for (size_t i = 0; i < n; i++)
        if (!sorted[i]->is_void) {
            ((struct ifm_event *)sorted[i])->in_cell = standing;
            sorted[standing++] = sorted[i];
        }
    return (struct ifm_event_list){sorted, standing};
}

static void sort_by_stage(struct ifm_events *events)
{
    const struct ifm_event **sorted = IFM_ARENA_ARRAY(events->arena, const struct ifm_event *, events->n + 1);
    size_t from[IFM_STAGE_COUNT + 1] = {0};
    for (size_t i = 0; i < events->n; i++)
        from[events->items[i].stage + 1] += !events->items[i].is_void;
    for (size_t s = 0; s < IFM_STAGE_COUNT; s++) {
        from[s + 1] += from[s];
        events->of_stage[s].items = &sorted[from[s]];
    }
    for (size_t i = 0; i < events->n; i++) {
        struct ifm_event *event = &events->items[i];
        if (event->is_void)
            continue;
        event->in_stage = events->of_stage[event->stage].n++;
        sorted[from[event->stage] + event->in_stage] = event;
    }
}

/* The event that a stage has once too often; NULL when there is none. */
static const struct ifm_event *find_repeated(const struct ifm_events *events)
{
    for (size_t s = 1; s < IFM_STAGE_COUNT; s++) {
        const struct ifm_event_list *list = &events->of_stage[s];
        if (ifm_event_rows[s].repeat == IFM_REPEAT_once_a_run && list->n > 1)
            return list->items[1];
        for (size_t i = 0; ifm_event_rows[s].repeat == IFM_REPEAT_once_a_cell && i < list->n; i++)
            if (ifm_events_next(events, (enum ifm_stage)s, list->items[i]->cell, NULL, NULL) != list->items[i])
                return list->items[i];
    }
    return NULL;
}

enum ifm_status ifm_events_seal(struct ifm_events *events, const char *where, struct ifm_error *error)
{
    char place[512];
    events->about_cells = sort_by_cell(events);
    sort_by_stage(events);
    const struct ifm_event *repeated = find_repeated(events);
    if (repeated == NULL)
        return IFM_OK;
    snprintf(place, sizeof place, "%s:%zu", where, repeated->line);
    return ifm_fail(error, IFM_INVALID, place, "the journal was edited, or two runs were put together",
                    "event \"%s\" stands twice%s%s", ifm_stage_name(repeated->stage),
                    repeated->cell == NULL ? "" : " about cell ", repeated->cell == NULL ? "" : repeated->cell);
}

/* ---- look-ups ---- */

/* Where the events about a cell begin. */
static size_t first_about(const struct ifm_event_list *all, const char *cell)
{
    size_t low = 0, high = all->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(all->items[middle]->cell, cell) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct ifm_event_list ifm_events_about(const struct ifm_events *events, const char *cell)
{
    if (events == NULL || events->about_cells.n == 0)
        return (struct ifm_event_list){0};
    const struct ifm_event_list *all = &events->about_cells;
    size_t from = first_about(all, cell), to = from;
    while (to < all->n && strcmp(all->items[to]->cell, cell) == 0)
        to++;
    return (struct ifm_event_list){all->items + from, to - from};
}

const struct ifm_event *ifm_events_next(const struct ifm_events *events, enum ifm_stage stage, const char *cell,
                                        const char *arm, const struct ifm_event *after)
{
    if (events == NULL)
        return NULL;
    const struct ifm_event_list *list = cell == NULL ? &events->of_stage[stage] : &events->about_cells;
    size_t i = after == NULL ? 0 : (cell == NULL ? after->in_stage : after->in_cell) + 1;
    if (after == NULL && cell != NULL)
        i = first_about(list, cell);
    for (; i < list->n && (cell == NULL || strcmp(list->items[i]->cell, cell) == 0); i++) {
        const struct ifm_event *event = list->items[i];
        if (event->stage == stage && (arm == NULL || (event->arm != NULL && strcmp(event->arm, arm) == 0)))
            return event;
    }
    return NULL;
}

const struct ifm_event *ifm_events_last(const struct ifm_events *events, enum ifm_stage stage, const char *cell,
                                        const char *arm)
{
    const struct ifm_event *last = NULL, *event = NULL;
    while ((event = ifm_events_next(events, stage, cell, arm, event)) != NULL)
        last = event;
    return last;
}

const void *ifm_facts_of(const struct ifm_event *event)
{
    return event == NULL ? NULL : event->facts;
}

const char *ifm_events_date(const struct ifm_events *events, char buffer[32])
{
    time_t seconds = events == NULL || events->n == 0 ? 0 : (time_t)(events->items[0].t_ns / 1000000000);
    struct tm utc;
    buffer[0] = '\0';
    if (seconds > 0 && gmtime_r(&seconds, &utc) != NULL)
        strftime(buffer, 32, "%Y-%m-%d %H:%M UTC", &utc);
    return buffer;
}
