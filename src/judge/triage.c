/* Triage: for each comparison, what else changed between the arms, and whether it accounts for the change of time.
 *
 * A column accounts for a share of the change by arithmetic alone: a clock that is r slower makes the time 1/(1+r)
 * longer; nanoseconds lost are nanoseconds; an event costs what is stated below; an amount of work costs at most in
 * proportion. It "explains" the change when it points the same way and accounts for at least half of it. That is a
 * place to look first, not a proof: whatever was not recorded may still be the cause. */
#include "judge/internal.h"

#include "base/names.h"
#include "base/text.h"
#include <math.h>
#include <string.h>

/* Half of the change. */
#define EXPLAINS 0.5
/* Changes below this share, in percent, are not worth a word. */
#define WORTH_A_WORD 0.05

enum effect { EFFECT_CLOCK, EFFECT_LOST_TIME, EFFECT_EVENT, EFFECT_AMOUNT, EFFECT_NONE };

struct look {
    const char *column, *name;
    enum effect effect;
    double cost_ns; /* of one event, at the most */
};

/* The columns that need a name or a cost of their own; others go by their unit. */
static const struct look looks[] = {
    {"cpu_khz", "clock", EFFECT_CLOCK, 0},
    {"gpu_clock_khz", "clock", EFFECT_CLOCK, 0},
    {"steal_ns", "steal", EFFECT_LOST_TIME, 0},
    {"run_delay_ns", "run delay", EFFECT_LOST_TIME, 0},
    {"context_switches_voluntary", "voluntary switches", EFFECT_EVENT, 1e4},
    {"context_switches_involuntary", "involuntary switches", EFFECT_EVENT, 1e4},
    {"faults_minor", "minor faults", EFFECT_EVENT, 2e3},
    {"faults_major", "major faults", EFFECT_EVENT, 1e7},
    {"throttle_count", "throttle events", EFFECT_EVENT, 1e6},
    {"temperature_mc", "temperature", EFFECT_NONE, 0},
    {"child_cpu_ns", "processor time", EFFECT_LOST_TIME, 0},
    {"child_rss_bytes", "peak memory", EFFECT_NONE, 0},
    {"child_faults_major", "major faults", EFFECT_EVENT, 1e7},
    {"child_switches_voluntary", "voluntary switches", EFFECT_EVENT, 1e4},
    {"child_switches_involuntary", "involuntary switches", EFFECT_EVENT, 1e4},
    {"child_failures", "failed runs", EFFECT_NONE, 0},
    {"child_strays", "processes that outlived the program", EFFECT_NONE, 0},
    {"l2_hits", "L2 hits", EFFECT_NONE, 0},
    {"energy_uj", "energy", EFFECT_NONE, 0},
};

static struct look look_of(const struct ifm_companion *c)
{
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        if (strcmp(looks[i].column, c->column) == 0)
            return looks[i];
    bool clock = strcmp(c->unit, "kHz") == 0 || strcmp(c->unit, "MHz") == 0;
    bool amount = strcmp(c->unit, "B") == 0 || strcmp(c->unit, "count") == 0;
    enum effect effect = clock                        ? EFFECT_CLOCK
                         : strcmp(c->unit, "ns") == 0 ? EFFECT_LOST_TIME
                         : amount                     ? EFFECT_AMOUNT
                                                      : EFFECT_NONE;
    return (struct look){c->column, c->column, c->kind == IFM_COMPANION_LEVEL && !clock ? EFFECT_NONE : effect, 0};
}

/* By how many percent of the baseline's time the column's difference accounts for. */
static double accounts_for(const struct look *look, const struct ifm_companion *c)
{
    double difference = c->own - c->base;
    switch (look->effect) {
    case EFFECT_CLOCK:
        return c->own > 0 ? 100.0 * (c->base / c->own - 1.0) : 0.0;
    case EFFECT_LOST_TIME:
        return c->step_ns > 0 ? 100.0 * difference / c->step_ns : 0.0;
    case EFFECT_EVENT:
        return c->step_ns > 0 ? 100.0 * difference * look->cost_ns / c->step_ns : 0.0;
    case EFFECT_AMOUNT:
        return c->base > 0 ? 100.0 * difference / c->base : 0.0;
    case EFFECT_NONE:
        break;
    }
    return 0.0;
}

/* "clock -4.0 %", "steal +1.2 % of the time", "minor faults +0.3 a step". */
static const char *shown(const struct look *look, const struct ifm_companion *c, struct ifm_arena *arena)
{
    double difference = c->own - c->base;
    if (look->effect == EFFECT_LOST_TIME)
        return ifm_arena_printf(arena, "%s %+.1f %% of the time", look->name, accounts_for(look, c));
    if (strcmp(c->unit, "mC") == 0 || strcmp(c->column, "temperature_mc") == 0)
        return ifm_arena_printf(arena, "%s %+.1f K", look->name, 1e-3 * difference);
    if (c->base > 0 && look->effect != EFFECT_EVENT)
        return ifm_arena_printf(arena, "%s %+.1f %%", look->name, 100.0 * difference / c->base);
    return ifm_arena_printf(arena, "%s %+.3g a step", look->name, difference);
}

static bool has_changed(const struct look *look, const struct ifm_companion *c)
{
    double share =
        look->effect == EFFECT_NONE && c->base > 0 ? 100.0 * (c->own - c->base) / c->base : accounts_for(look, c);
    return fabs(share) >= WORTH_A_WORD;
}

/* `seen` 0: no column was recorded; 1: none differs; more: some do. `at_most`: no cause is more than a bound. */
static void conclude(struct ifm_text *text, const struct ifm_value *change, const char *causes, size_t n_causes,
                     bool at_most, size_t seen)
{
    const char *word = change->text;
    /* A clock that differs leaves a change undecided, which is there all the same. */
    bool seen_to_change = !change->has_interval || change->low > 0 || change->high < 0;
    const char *nothing = seen == 0   ? "nothing else was recorded that could explain it"
                          : seen == 1 ? "nothing else that was recorded differs"
                                      : "nothing recorded explains it";
    if (strcmp(word, "equivalent") == 0)
        ifm_text_add(text, "; there is no change to explain");
    else if (!seen_to_change && causes[0] != '\0')
        ifm_text_printf(text, "; the change is not decided; were it real, %s could explain it", causes);
    else if (causes[0] != '\0')
        ifm_text_printf(text, "; %s %s it", causes,
                        at_most        ? "could explain"
                        : n_causes > 1 ? "each explain"
                                       : "explains");
    else if (strcmp(word, "undecided") == 0)
        ifm_text_printf(text, "; the change is not decided, and %s", nothing);
    else
        ifm_text_printf(text, "; %s%s", nothing, seen > 0 ? ": the code itself, or what was not recorded" : "");
}

/* A line under construction. */
struct story {
    struct ifm_text text;
    const char *causes;
    size_t recorded, told, n_causes;
    bool at_most; /* every cause so far is an event or an amount, whose cost is known from above alone */
};

/* `able` false: what changed is told, and is no cause. */
static void tell(struct story *story, const struct ifm_companion *c, bool able, double change, struct ifm_arena *arena)
{
    struct look look = look_of(c);
    double share = accounts_for(&look, c);
    story->recorded++;
    if (!has_changed(&look, c))
        return;
    const char *what = shown(&look, c, arena);
    ifm_text_printf(&story->text, "%s%s", story->told++ == 0 ? "; beside it " : ", ", what);
    if (!able || !(share * change > 0 && fabs(share) >= EXPLAINS * fabs(change)))
        return;
    story->n_causes++;
    story->at_most = story->at_most && (look.effect == EFFECT_EVENT || look.effect == EFFECT_AMOUNT);
    story->causes = ifm_arena_printf(arena, "%s%s%s", story->causes, story->causes[0] == '\0' ? "" : " and ", what);
}

/* Rule 3: the speed-up is refused, or stands with the baseline's share only, when less work does not explain it. */
static bool is_beyond_its_work(const struct ifm_derived *derived, const struct ifm_number *change)
{
    const struct ifm_number *speedup = ifm_derived_find(derived, change->cell, change->arm, IFM_M_SPEEDUP);
    if (speedup == NULL)
        return false;
    const struct ifm_value *value = &speedup->value;
    return value->state == IFM_STATE_REFUSED || (!ifm_is_empty(value->text));
}

/* The companions of each arm, which stand together. */
struct beside {
    struct ifm_names *names; /* of cell and arm */
    const struct ifm_companion **first;
    size_t *n;
};

static const char *name_of(const char *cell, const char *arm, struct ifm_arena *arena)
{
    return ifm_arena_printf(arena, "%s\n%s", cell, arm);
}

static struct beside gather_beside(const struct ifm_derived *derived, struct ifm_arena *arena)
{
    struct beside beside = {.names = ifm_names_create(arena)};
    beside.first = IFM_ARENA_ARRAY(arena, const struct ifm_companion *, derived->n_companions + 1);
    beside.n = IFM_ARENA_ARRAY(arena, size_t, derived->n_companions + 1);
    for (size_t i = 0; i < derived->n_companions; i++) {
        const struct ifm_companion *c = &derived->companions[i];
        size_t at = ifm_names_add(beside.names, name_of(c->cell, c->arm, arena));
        if (beside.n[at]++ == 0)
            beside.first[at] = c;
    }
    return beside;
}

static const char *one_line(const struct ifm_number *change, const struct ifm_derived *derived,
                            const struct beside *beside, struct ifm_arena *arena)
{
    const struct ifm_value *v = &change->value;
    struct story story = {.causes = "", .at_most = true};
    ifm_text_printf(&story.text, "time %+.1f %% (%s)", v->number, v->text);
    /* No column, but a fact of the plan: a compressed arm moves another amount of bytes by design. */
    const struct ifm_number *bytes = ifm_derived_find(derived, change->cell, change->arm, IFM_M_BYTES_RATIO);
    bool beyond = is_beyond_its_work(derived, change);
    if (beyond)
        ifm_text_add(&story.text, ", more than its bytes and operations account for (rule 3)");
    if (bytes != NULL && bytes->value.state == IFM_STATE_OK && bytes->value.number > 0)
        tell(&story,
             &(struct ifm_companion){
                 .column = "bytes moved", .unit = "B", .own = 1, .base = bytes->value.number, .step_ns = 0},
             !beyond, v->number, arena);
    size_t at = ifm_names_find(beside->names, name_of(change->cell, change->arm, arena));
    for (size_t i = 0; at != IFM_NO_NAME && i < beside->n[at]; i++)
        tell(&story, beside->first[at] + i, true, v->number, arena);
    conclude(&story.text, v, story.causes, story.n_causes, story.at_most, story.recorded == 0 ? 0 : story.told + 1);
    const char *line = ifm_arena_printf(arena, "%s", story.text.data);
    ifm_text_free(&story.text);
    return line;
}

void ifm_judge_triage(const struct ifm_derived *derived, struct ifm_arena *arena, struct ifm_verdict *verdict)
{
    size_t capacity = 0;
    struct beside beside = gather_beside(derived, arena);
    for (size_t i = 0; i < derived->n_numbers; i++) {
        const struct ifm_number *change = &derived->numbers[i];
        if (change->metric != IFM_M_CHANGE_PERCENT || change->value.state != IFM_STATE_OK)
            continue;
        IFM_ARENA_GROW(arena, verdict->triage, verdict->n_triage, capacity);
        verdict->triage[verdict->n_triage++] =
            (struct ifm_triage_line){change->cell, change->arm, one_line(change, derived, &beside, arena)};
    }
}
