/* The comparisons of a record that is not at its end yet. */
#include "derive/compare/settled.h"

#include "derive/compare/comparison.h"
#include "stats/questions.h"
#include <string.h>

static bool is_settled(const struct ifm_arm_work *arm, const struct ifm_stop_blocks *rule)
{
    const struct ifm_aside aside = ifm_derive_set_aside(arm);
    struct comparison c, all;
    struct ifm_interval other;
    if (!ifm_derive_pair(arm, aside.blocks, &c))
        return true;
    const struct ifm_carried carried = ifm_derive_carried(arm);
    if (ifm_derive_is_carried(&carried))
        return true;
    if (ifm_derive_paid(arm, &aside, &all, &other))
        ifm_widen(&c, ifm_to_hold(c.change, other));
    if (ifm_derive_alone(arm, arm->work->baseline, aside.blocks, &other))
        ifm_widen(&c, ifm_to_hold(c.change, other));
    const double hidden = ifm_stop_blocks_unseen(rule);
    const struct ifm_interval wide = {c.change.low - hidden, c.change.high + hidden};
    const struct ifm_questions asked = ifm_questions_of(rule->plan, rule->cell, arm->arm, &wide);
    return asked.any ? !asked.open : strcmp(ifm_derive_word(&c, rule->cell->measure.margin), "undecided") != 0;
}

bool ifm_derive_settled(const struct ifm_stop_blocks *rule, const struct ifm_events *events,
                        const struct ifm_record *record, uint32_t last)
{
    struct ifm_record so_far = *record;
    while (so_far.n_slots > 0 && so_far.slots[so_far.n_slots - 1].block > last)
        so_far.n_slots--;
    so_far.n_samples = so_far.first[so_far.n_slots];
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_facts_view facts = {.plan = rule->plan, .events = events};
    struct ifm_derivation d = {.plan = rule->plan, .facts = &facts, .arena = arena};
    d.out = IFM_ARENA_NEW(arena, struct ifm_derived); /* what is said on the way is of no run */
    struct ifm_cell_work work = {
        .d = &d, .cell = rule->cell, .record = &so_far, .journal = events, .at_look = true, .missing = ""};
    ifm_derive_blocks(&work);
    bool settled = true;
    for (size_t a = 0; a < work.cell->n_arms; a++)
        settled = settled && (!ifm_derive_is_compared(&work.arms[a]) || is_settled(&work.arms[a], rule));
    ifm_arena_destroy(arena);
    return settled;
}
