/* Record against journal, block by block: the chain that the run wrote into run.log as it went (sample/record.h).
 *
 * A block that was changed, removed or put in fits no longer, whoever made the hashes of the folder fit. Only the last
 * block of a run that was cut short may lack its event. Folders of older versions have no chain. */
#include "derive/internal.h"

#include <stdio.h>
#include <string.h>

struct told_blocks {
    const struct ifm_event_block **blocks; /* by number; NULL = none */
    size_t n;                              /* the largest number and one */
};

static enum ifm_status edited(const struct ifm_cell *cell, const char *pass, const char *what, size_t block,
                              struct ifm_error *error)
{
    char where[64];
    snprintf(where, sizeof where, "samples/%u-%s.csv", cell->index, pass);
    return ifm_fail(error, IFM_INVALID, where,
                    "bring the files back from a copy, or measure again with `inferometer rerun`",
                    "block %zu %s: the record or the journal was edited", block, what);
}

/* Of a block that was measured again (the machine lost what was not yet on its disk) the last word counts. */
static struct told_blocks gather(const struct ifm_events *events, const char *cell, const char *pass, size_t most,
                                 struct ifm_arena *arena)
{
    struct told_blocks told = {IFM_ARENA_ARRAY(arena, const struct ifm_event_block *, most + 1), 0};
    IFM_EACH(event, events, block, cell, NULL) {
        const struct ifm_event_block *fact = IFM_FACTS(event, block);
        if (strcmp(fact->pass, pass) != 0)
            continue;
        if (fact->block < (int64_t)most)
            told.blocks[fact->block] = fact;
        told.n = (size_t)fact->block + 1 > told.n ? (size_t)fact->block + 1 : told.n;
    }
    return told;
}

static enum ifm_status hold_record(const struct ifm_cell *cell, const char *pass, const struct ifm_record *record,
                                   const struct ifm_events *events, struct ifm_arena *arena, struct ifm_error *error)
{
    size_t n = record == NULL ? 0 : ifm_record_count_blocks(record);
    struct told_blocks told = gather(events, cell->name, pass, n, arena);
    bool done = IFM_LAST(events, cell_done, cell->name, NULL) != NULL;
    if (told.n == 0 && !events->chained)
        return IFM_OK;
    if (told.n > n)
        return edited(cell, pass, "is told of in run.log, and is not in the record", n, error);
    if (n > told.n && (done || n > told.n + 1))
        return edited(cell, pass, "is in the record, and run.log does not tell of it", told.n, error);
    struct ifm_sha256 *values = IFM_ARENA_ARRAY(arena, struct ifm_sha256, n + 1);
    if (record != NULL)
        ifm_record_chain(record, values);
    for (size_t i = 0; i < told.n; i++) {
        if (told.blocks[i] == NULL)
            return edited(cell, pass, "is in the record, and run.log does not tell of it", i, error);
        if (strcmp(told.blocks[i]->chain, values[i].hex) != 0)
            return edited(cell, pass, "is not the one that run.log tells of", i, error);
    }
    return IFM_OK;
}

enum ifm_status ifm_derive_hold_to_chain(const struct ifm_facts_view *facts, struct ifm_error *error)
{
    if (facts->plan->rules > 0 && !facts->events->chained)
        return ifm_fail(error, IFM_INVALID, "run.log", "bring the file back from a copy, or measure again",
                        "it has no chain of hashes, and whoever wrote plan.json writes one: the journal was edited");
    struct ifm_arena *scratch = ifm_arena_create();
    enum ifm_status status = IFM_OK;
    for (size_t c = 0; c < facts->plan->n_cells && status == IFM_OK; c++) {
        const struct ifm_cell *cell = &facts->plan->cells[c];
        for (size_t p = 0; p < cell->n_passes && status == IFM_OK; p++)
            status = hold_record(cell, ifm_pass_name(&cell->passes[p]), facts->records[c * facts->max_passes + p],
                                 facts->events, scratch, error);
    }
    ifm_arena_destroy(scratch);
    return status;
}
