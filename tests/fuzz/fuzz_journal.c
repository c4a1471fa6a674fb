/* Any bytes as run.log: one error that names the file, or events that are still the same when the journal was opened
 * again, its torn last line cut off, and one more event written; each of them is encoded and decoded as it is. */
#include "sample/journal.h"
#include "tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ifm_events *read_events(struct ifm_arena *arena, enum ifm_status *status)
{
    struct ifm_error error = {0};
    const struct ifm_events *events = NULL;
    *status = ifm_journal_read(tree_root(), arena, &events, &error);
    if (*status != IFM_OK && (*status != IFM_INVALID || error.message[0] == '\0' || events != NULL ||
                              strncmp(error.where, tree_root(), strlen(tree_root())) != 0))
        abort();
    return events;
}

/* Of a stage that is known. */
static void check_round_trip(const struct ifm_event *event, struct ifm_arena *arena)
{
    struct ifm_error error = {0};
    struct ifm_event again;
    json_t *line;
    if (event->stage == IFM_STAGE_unknown)
        return;
    if (ifm_event_encode(event, &line, &error) != IFM_OK ||
        ifm_event_decode(line, "again", arena, &again, &error) != IFM_OK)
        abort();
    json_decref(line);
}

static void check_same(const struct ifm_events *before, const struct ifm_events *events, struct ifm_arena *arena)
{
    if (events->n != before->n + 1)
        abort();
    for (size_t i = 0; i < before->n; i++) {
        const struct ifm_event *was = &before->items[i], *is = &events->items[i];
        check_round_trip(was, arena);
        if (was->stage != is->stage || was->line != is->line || was->t_ns != is->t_ns ||
            (was->stage != IFM_STAGE_unknown && !ifm_event_equal(was, is)))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_journal *journal = NULL;
    struct ifm_error error = {0};
    enum ifm_status status, after;
    tree_root();
    if (!tree_write("run.log", (const char *)data, size))
        abort();
    const struct ifm_events *before = read_events(arena, &status);
    if (ifm_journal_open(tree_root(), &journal, &error) != IFM_OK ||
        ifm_journal_add(journal, IFM_EVENT(cell_start, true, .cell = "fuzz"), &error) != IFM_OK)
        abort();
    ifm_journal_close(journal);
    const struct ifm_events *events = read_events(arena, &after);
    if (after != status)
        abort();
    if (status == IFM_OK)
        check_same(before, events, arena);
    ifm_arena_destroy(arena);
    return 0;
}
