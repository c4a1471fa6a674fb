/* Rule 2: which blocks were run again follows from what the system counted beside their slots, by the budget of
 * sample/disturbed.h; run.log tells of these blocks and of no others. So no block can be dropped by calling it
 * disturbed, and none kept by silence. */
#include "derive/internal.h"

#include <string.h>

void ifm_rules_repeats(struct ifm_cell_work *work)
{
    const char *reason = NULL;
    size_t told = 0;
    if (work->record == NULL || work->refusal.rule != NULL)
        return;
    IFM_EACH_TOLD(event, work, repeated, NULL) {
        const struct ifm_event_repeated *fact = IFM_FACTS(event, repeated);
        size_t b = 0;
        while (b < work->n_blocks && work->block[b] != fact->block)
            b++;
        told++;
        if (b == work->n_blocks || work->fate[b] != IFM_BLOCK_REPEATED ||
            strcmp(fact->pass, ifm_pass_names[IFM_PASS_LATENCY]) != 0)
            reason = ifm_arena_printf(work->d->arena,
                                      "run.log calls block %lld disturbed and run again, and nothing beside its slots "
                                      "says so",
                                      (long long)fact->block);
    }
    if (reason == NULL && told != work->n_repeated)
        reason = ifm_arena_printf(work->d->arena,
                                  "%zu blocks were run again by what was counted beside their slots, and run.log tells "
                                  "of %zu",
                                  work->n_repeated, told);
    if (reason != NULL)
        ifm_refuse_cell(work, "rule-02", reason);
}
