/* The word of trust where a comparison or a gate is left open: why, and what would decide it. */
#include "document/trust_open.h"

#include "document/build.h"
#include "document/remedy.h"
#include "stats/paired.h"
#include <string.h>

static const struct ifm_trust blank = {
    .word = IFM_TRUST_SOLID, .place = "", .cause = "", .brief = "", .told = "", .arm = "", .rule = "", .remedy = ""};

/* Of one pair of programs the arm says which is meant. */
const char *ifm_trust_place(const struct ifm_publication *from, const char *cell, const char *arm,
                            struct ifm_arena *arena)
{
    const bool alone = from->plan->n_cells == 1 && ifm_cell_counts_programs(from->plan->cells);
    return alone ? ifm_is_empty(arm) ? "" : arm : ifm_document_place(cell, arm, arena);
}

/* Of a warning: what spoils a comparison without any noise in it lies in an arm, or in how the two were set up. */
enum ifm_trust_word ifm_trust_word_of(const struct ifm_finding *finding)
{
    switch (finding->kind) {
    case IFM_FINDING_WEAK_BASELINE:
        return IFM_TRUST_WEAK;
    case IFM_FINDING_CACHES:
    case IFM_FINDING_ORDER:
    case IFM_FINDING_DISTURBS:
    case IFM_FINDING_CLOCKS:
        return IFM_TRUST_BIASED;
    default:
        return IFM_TRUST_NOISY;
    }
}

/* Do two texts differ in their numbers alone? */
static bool are_alike(const char *a, const char *b)
{
    const char *end = ifm_text_alike(a, b);
    return end != NULL && *end == '\0';
}

/* ---- undecided ---- */

/* Too few blocks for any word: that is why a comparison is open. */
bool ifm_trust_is_few(const struct ifm_finding *finding)
{
    return finding->kind == IFM_FINDING_FEW_BLOCKS;
}

/* Was anything found that makes times spread? */
static bool is_noise_found(const struct ifm_publication *from)
{
    for (size_t i = 0; i < from->derived->n_findings; i++) {
        const struct ifm_finding *f = &from->derived->findings[i];
        if (ifm_gravity_of(from, f) == IFM_TOUCHES_NUMBERS && ifm_trust_word_of(f) == IFM_TRUST_NOISY &&
            !ifm_trust_is_few(f))
            return true;
    }
    double all;
    return from->derived->busy || ifm_most_marked(from, &all) > 0;
}

/* Of gates on processor time alone. One that is inconclusive has a word of its own. */
static struct ifm_decisions decisions_of_gates(const struct ifm_publication *from, bool noise)
{
    struct ifm_decisions d = {.n = from->verdict->n_gates, .nearest = {.flag = ""}, .noise = noise};
    for (size_t i = 0; i < from->verdict->n_gates; i++) {
        const enum ifm_outcome outcome = from->verdict->gates[i].outcome;
        d.answered += outcome == IFM_OUTCOME_PASS || outcome == IFM_OUTCOME_FAIL;
        d.unanswered += outcome == IFM_OUTCOME_BLOCKED;
    }
    return d;
}

struct ifm_decisions ifm_decisions_of(const struct ifm_publication *from, struct ifm_arena *arena)
{
    struct ifm_decisions d = {.nearest = {.flag = ""}, .noise = is_noise_found(from)};
    if (ifm_judge_asks_processor_alone(from->verdict))
        return decisions_of_gates(from, d.noise);
    for (size_t i = 0; i < from->derived->n_numbers; i++) {
        const struct ifm_number *number = &from->derived->numbers[i];
        if (number->metric != IFM_M_CHANGE_PERCENT || ifm_is_left_out(from, number->cell, number->arm))
            continue;
        d.n++;
        d.unanswered += !ifm_is_ok(&number->value);
        const bool open = ifm_is_ok(&number->value) && strcmp(number->value.text, "undecided") == 0;
        d.answered += ifm_is_ok(&number->value) && !open;
        d.equal += ifm_is_ok(&number->value) && strcmp(number->value.text, "equivalent") == 0;
        if (!open)
            continue;
        const struct ifm_undecided of = {from->derived, from->verdict, from->events,
                                         ifm_plan_cell(from->plan, number->cell), number->arm};
        const struct ifm_more more = of.cell == NULL ? (struct ifm_more){.flag = ""} : ifm_judge_more(&of, arena);
        const struct ifm_finding *took = of.cell == NULL ? NULL : ifm_judge_took(&of);
        if (of.cell != NULL && ifm_judge_is_answered(from->verdict, of.cell, of.arm)) {
            d.answered++; /* the margin was not asked about */
            continue;
        }
        d.took = d.took == NULL ? took : d.took;
        d.alike += took != NULL && are_alike(took->text, d.took->text);
        d.noise |= more.disturbed || more.busy;
        const bool nearer = more.blocks > 0 && (d.nearest.blocks == 0 || more.blocks < d.nearest.blocks);
        if (d.undecided++ == 0 || nearer) {
            d.nearest = more;
            d.of = of;
        }
    }
    return d;
}

/* "3 of 12 comparisons are undecided, 1 has no answer"; behind the word undecided without it. */
static const char *decision_words(const struct ifm_decisions *d, struct ifm_arena *arena)
{
    const size_t first = d->undecided > 0 ? d->undecided : d->unanswered;
    const char *text = ifm_arena_printf(arena, "%zu of %zu comparison%s%s", first, d->n, d->n == 1 ? "" : "s",
                                        d->undecided == 0 ? first == 1 ? " has no answer" : " have no answer"
                                        : !d->noise       ? ""
                                        : first == 1      ? " is undecided"
                                                          : " are undecided");
    if (d->undecided == 0 || d->unanswered == 0)
        return text;
    return ifm_arena_printf(arena, "%s, %zu %s no answer", text, d->unanswered, d->unanswered == 1 ? "has" : "have");
}

/* What the one open comparison says of itself, without its remedy: "undecided after 24 blocks". */
static const char *cause_of_one(const char *told, bool foretold, struct ifm_arena *arena)
{
    const char *end = strstr(told, foretold ? ": " : IFM_REMEDY), *remedy = strstr(told, IFM_REMEDY);
    end = remedy != NULL && (end == NULL || remedy < end) ? remedy : end;
    return end == NULL ? told : ifm_arena_printf(arena, "%.*s", (int)(end - told), told);
}

/* Behind the word undecided. */
static const char *without_word(const char *cause)
{
    static const char word[] = "undecided";
    const char *rest = strncmp(cause, word, sizeof word - 1) == 0 ? cause + sizeof word - 1 : cause;
    return rest + strspn(rest, ": ");
}

/* What helps where more blocks do not, by the comparison's own words or the number that says so. */
static const char *remedy_of_open(const struct ifm_decisions *d, bool one, struct ifm_arena *arena)
{
    const struct ifm_undecided *of = &d->of;
    const char *own = of->cell == NULL ? NULL : strstr(ifm_judge_undecided(of, arena), IFM_REMEDY);
    if (own != NULL || !one)
        return own != NULL ? own + strlen(IFM_REMEDY) : "";
    const struct ifm_value *needed = ifm_derived_value(of->derived, of->cell->name, of->arm, IFM_M_BLOCKS_NEEDED);
    return needed == NULL || needed->state != IFM_STATE_ABSENT || ifm_is_empty(needed->remedy) ? "" : needed->remedy;
}

/* Of one that may be none at all no longer run is promised to decide. */
static bool may_be_none(const struct ifm_decisions *d)
{
    const struct ifm_value *change =
        d->of.cell == NULL ? NULL : ifm_derived_value(d->of.derived, d->of.cell->name, d->of.arm, IFM_M_CHANGE_PERCENT);
    return ifm_is_ok(change) && !d->nearest.few && change->has_interval && change->low <= 0 && change->high >= 0;
}

#define ENOUGH " where that is enough"

/* Nothing that an hour holds probably decides: an even chance, where there is one, and what would do otherwise. */
static const char *improbable(const struct ifm_decisions *d, bool one, const char *known, struct ifm_arena *arena)
{
    const char *even = one ? ifm_judge_even(&d->of, arena) : "",
               *margin = known[0] == '\0' ? "a wider margin"
                                          : ifm_arena_printf(arena, "%s" ENOUGH " (probably equal then)", known);
    return even[0] != '\0' ? ifm_arena_printf(arena, "%s for an even chance to decide, or %s", even, margin)
                           : ifm_arena_printf(arena, "an hour more may not decide: %s, or a quieter machine", margin);
}

/* The same cause and the same first step as the note of the comparison. */
struct ifm_trust ifm_trust_by_decisions(const struct ifm_publication *from, const struct ifm_decisions *d,
                                        struct ifm_arena *arena)
{
    static const struct ifm_remedy wider = {"", "a wider --margin", "a wider measure.margin", NULL};
    const struct ifm_more *more = &d->nearest;
    const bool other_work = d->undecided > 0 && (more->disturbed || more->busy);
    const bool one = d->undecided == 1 && d->unanswered == 0 && d->of.cell != NULL;
    const char *tells =
        d->undecided > 1 ? "would probably decide one of them" IFM_IF_NOISE_STAYS : ifm_more_tells(&d->of, arena);
    const char *words = ifm_more_words(more, arena),
               *what = more->flag[0] != '\0' ? more->flag : ifm_remedy_longer(from, arena);
    const char *known = one ? ifm_judge_margin_for_next(&d->of, arena) : "", *instead = remedy_of_open(d, one, arena);
    struct ifm_trust trust = blank;
    trust.word = d->noise ? IFM_TRUST_NOISY : IFM_TRUST_UNDECIDED;
    trust.cause = decision_words(d, arena);
    if (one) {
        trust.arm = d->of.arm;
        trust.told = ifm_judge_undecided(&d->of, arena);
        trust.cause = cause_of_one(trust.told, words[0] != '\0' || more->hopeless, arena);
        trust.cause = d->noise ? trust.cause : without_word(trust.cause);
        trust.place = ifm_trust_place(from, d->of.cell->name, d->of.arm, arena);
    } else if (other_work) {
        trust.cause = ifm_arena_printf(arena, "%s%s", trust.cause,
                                       more->busy ? " on a machine under load" : ": other work disturbed most blocks");
    }
    if (one && ifm_derived_all_blocks(from->derived, d->of.cell->name, d->of.arm) < IFM_BLOCKS_NEEDED)
        trust.remedy = ifm_arena_printf(arena, "%s%s", ifm_remedy_more_blocks(from, d->of.cell->name, arena),
                                        other_work ? ", on a quiet machine" : "");
    else if (other_work)
        trust.remedy = one ? ifm_judge_quiet_first(&d->of, arena) : ifm_judge_quiet(&d->of, arena);
    else if (more->hopeless)
        trust.remedy = improbable(d, one, known, arena);
    else if (known[0] != '\0' && words[0] != '\0')
        trust.remedy =
            ifm_arena_printf(arena, "%s, or %s" ENOUGH ": either probably decides" IFM_IF_NOISE_STAYS, what, known);
    else if (words[0] != '\0')
        trust.remedy = ifm_arena_printf(arena, "%s: %s %s", what, words, tells);
    else if (instead[0] != '\0')
        trust.remedy = instead;
    else
        trust.remedy =
            ifm_arena_printf(arena, "%s, or a quieter machine", may_be_none(d) ? ifm_remedy_in(&wider, from) : what);
    if (!more->disturbed && !more->busy)
        trust.remedy = ifm_trust_remedy_of_places(from->derived, trust.remedy, arena);
    return trust;
}

/* A gate that is inconclusive, beside comparisons that are not: nothing is wrong with the numbers, and they do not
 * answer what was asked. */
const struct ifm_gate_result *ifm_gate_left_open(const struct ifm_publication *from)
{
    for (size_t i = 0; from->verdict->outcome == IFM_OUTCOME_INCONCLUSIVE && i < from->verdict->n_gates; i++)
        if (from->verdict->gates[i].outcome == IFM_OUTCOME_INCONCLUSIVE)
            return &from->verdict->gates[i];
    return NULL;
}

struct ifm_trust ifm_trust_by_gate(const struct ifm_publication *from, const struct ifm_gate_result *gate,
                                   struct ifm_arena *arena)
{
    const struct ifm_undecided of = {from->derived, from->verdict, from->events, ifm_plan_cell(from->plan, gate->cell),
                                     gate->arm};
    const bool of_processor = ifm_metric_of(gate->gate->metric) == IFM_M_CHANGE_CPU_PERCENT;
    const struct ifm_more more = of.cell == NULL ? (struct ifm_more){.flag = ""}
                                 : of_processor  ? ifm_judge_more_for(&of, gate->further, arena)
                                                 : ifm_judge_more(&of, arena);
    const char *words = ifm_more_words(&more, arena), *longer = ifm_remedy_longer(from, arena);
    return (struct ifm_trust){
        .word = is_noise_found(from) || more.disturbed ? IFM_TRUST_NOISY : IFM_TRUST_UNDECIDED,
        .place = ifm_trust_place(from, gate->cell, gate->arm, arena),
        .cause = "the gate's limit lies inside the interval",
        .brief = "",
        .told = "",
        .arm = "",
        .rule = "",
        .remedy = gate->further == 0 || more.hopeless ? ifm_judge_at_limit(&of, arena)
                  : words[0] != '\0'
                      ? ifm_arena_printf(arena, "%s: %s would probably decide the gate" IFM_IF_NOISE_STAYS,
                                         more.flag[0] != '\0' ? more.flag : longer, words)
                      : ifm_arena_printf(arena, "%s, or a quieter machine", longer),
    };
}
