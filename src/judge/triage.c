/* Triage: for each comparison, what else changed between the arms, and whether it accounts for the change of time.
 *
 * What differs by construction comes first. A column accounts for a part of the change by arithmetic alone: a clock
 * that is r slower makes the time 1/(1+r) longer; time lost counts by its share of each arm's own time, since an arm
 * that takes twice as long loses twice as much for that alone; so do events, each at the cost stated below; processor
 * time counts by its ratio, where that agrees with the ratio of the times and there is enough of it, else by its
 * nanoseconds where one thread can have used them; an amount costs at most in proportion. It "explains" the change when
 * it points the same way and accounts for at least half of it; the one that accounts for most of it comes first.
 * Processor time that differs is work that differs, and leaves time that was lost, and events, no more than the rest of
 * the change. Bytes that counters saw are an amount too. That is a place to look first, not a proof: whatever was not
 * recorded may still be the cause. */
#include "judge/internal.h"

#include "base/names.h"
#include "base/text.h"
#include <math.h>
#include <string.h>

/* Half of the change, and all of it but for errors. */
#define EXPLAINS 0.5
#define EXPLAINS_ALL 0.9
/* Two ratios agree when their logarithms differ by at most this factor. */
#define AGREES 1.25
/* Changes below this share, in percent, are not worth a word. */
#define WORTH_A_WORD 0.05
#define SAME_EVENTS 0.01

enum effect { EFFECT_CLOCK, EFFECT_LOST_TIME, EFFECT_WORK_TIME, EFFECT_EVENT, EFFECT_AMOUNT, EFFECT_NONE };

struct look {
    const char *column, *name;
    enum effect effect;
    double cost_ns; /* of one event, at the most */
};

#define LAUNCHED "kernels launched"
#define WAITED_BY_THREADS "run_delay_ns"

/* The columns that need a name or a cost of their own; others go by their unit. */
static const struct look looks[] = {
    {"cpu_khz", "clock", EFFECT_CLOCK, 0},
    {"gpu_clock_khz", "clock", EFFECT_CLOCK, 0},
    {"steal_ns", "stolen time", EFFECT_LOST_TIME, 0},
    {WAITED_BY_THREADS, "waiting for a CPU", EFFECT_LOST_TIME, 0},
    {"context_switches_voluntary", "voluntary switches", EFFECT_EVENT, 1e4},
    {"context_switches_involuntary", "involuntary switches", EFFECT_EVENT, 1e4},
    {"faults_minor", "minor faults", EFFECT_EVENT, 2e3},
    {"faults_major", "major faults", EFFECT_EVENT, 1e7},
    {"throttle_count", "throttle events", EFFECT_EVENT, 1e6},
    {"temperature_mc", "temperature", EFFECT_NONE, 0},
    {"child_cpu_ns", "processor time", EFFECT_WORK_TIME, 0},
    {"child_run_delay_ns", "waiting for a CPU", EFFECT_LOST_TIME, 0},
    {"child_rss_bytes", "peak memory", EFFECT_NONE, 0},
    {"child_faults_major", "major faults", EFFECT_EVENT, 1e7},
    {"child_switches_voluntary", "voluntary switches", EFFECT_EVENT, 1e4},
    {"child_switches_involuntary", "involuntary switches", EFFECT_EVENT, 1e4},
    {"child_failures", "failed runs", EFFECT_NONE, 0},
    {"child_strays", "processes that outlived the program", EFFECT_NONE, 0},
    {"l2_hits", "L2 hits", EFFECT_NONE, 0},
    {"energy_uj", "energy", EFFECT_NONE, 0},
    {LAUNCHED, LAUNCHED, EFFECT_EVENT, 5e3}, /* a launch and the gap before it took 0.2 to 2 us where it was measured */
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

/* A companion beside the change of time that it may explain, in percent; `room`: the share of the change that is not
 * the processor time of a program. */
struct beside_change {
    const struct ifm_companion *c;
    double change, room;
    double waited;    /* the share of the baseline's time that it waited for a CPU, which grows as the work does */
    unsigned threads; /* whose waiting is added up in run_delay_ns */
};

/* Over whose time the column adds up. */
static unsigned spread_over(const struct look *look, const struct beside_change *b)
{
    return strcmp(look->column, WAITED_BY_THREADS) == 0 && b->threads > 1 ? b->threads : 1;
}

/* What the column took of the time of one step, as a share: of the arm's own or of the baseline's. What threads waited
 * is a share of the time of all of them: how much of it they waited at once is not known, so that the step may have
 * lost more. */
static double share_of(const struct look *look, const struct beside_change *b, bool own)
{
    double step_ns = own ? b->c->step_ns * (1.0 + b->change / 100.0) : b->c->step_ns;
    double lost = (own ? b->c->own : b->c->base) * (look->effect == EFFECT_EVENT ? look->cost_ns : 1.0);
    return step_ns > 0 ? fmin(lost / step_ns / spread_over(look, b), 0.99) : 0.0;
}

/* By how many percent the column's difference changes the time of a step. */
static double accounts_for(const struct look *look, const struct beside_change *b)
{
    const struct ifm_companion *c = b->c;
    switch (look->effect) {
    case EFFECT_CLOCK:
        return c->own > 0 ? 100.0 * (c->base / c->own - 1.0) : 0.0;
    case EFFECT_LOST_TIME:
    case EFFECT_EVENT: /* the rest of the time is as long in both */
        return 100.0 * ((1.0 - share_of(look, b, false)) / (1.0 - share_of(look, b, true)) - 1.0);
    case EFFECT_WORK_TIME:
    case EFFECT_AMOUNT:
        return c->base > 0 ? 100.0 * (c->own / c->base - 1.0) : 0.0;
    case EFFECT_NONE:
        break;
    }
    return 0.0;
}

/* Processor time agrees with the change when both have about the same ratio. Of a program that waits it is too little:
 * the difference must be at least half of the time that the change is about. */
static bool agrees(const struct beside_change *b, double share)
{
    double agreement = log1p(share / 100.0) / log1p(b->change / 100.0);
    double change_ns = b->c->step_ns * fabs(b->change) / 100.0 * (1.0 - b->waited);
    return agreement <= AGREES && agreement >= 1.0 / AGREES && fabs(b->c->own - b->c->base) >= EXPLAINS * change_ns;
}

/* The part of the change that the nanoseconds of processor time make, whatever its ratio: the rest of a program that
 * sleeps is as long as before. Not of threads that work at once, whose nanoseconds lie beside one another. */
static double part_of_work(const struct beside_change *b)
{
    const struct ifm_companion *c = b->c;
    const double own_step_ns = c->step_ns * (1.0 + b->change / 100.0);
    const double part = (c->own - c->base) / (own_step_ns - c->step_ns);
    return c->base <= c->step_ns && c->own <= own_step_ns && part >= EXPLAINS && part <= AGREES ? part : 0.0;
}

/* The share of the change that the column accounts for; 0 where that is too little to be its cause. */
static double explained(const struct look *look, const struct beside_change *b)
{
    double share = accounts_for(look, b), part = fabs(share) / fabs(b->change);
    if (!(share * b->change > 0))
        return 0.0;
    if (look->effect == EFFECT_WORK_TIME) {
        part = agrees(b, share) ? part : part_of_work(b);
        return part > 0 ? fmin(part, 1.0 / part) : 0.0;
    }
    if (look->effect == EFFECT_LOST_TIME || look->effect == EFFECT_EVENT)
        part = fmin(part, b->room);
    return part >= EXPLAINS ? part : 0.0;
}

/* "clock -4.0 %", "stolen time 3.1 % of its time against 0.1 %", "minor faults +0.3 a step"; "waiting for a CPU 49 % of
 * the time of its 2 threads against 45 %". */
static const char *shown(const struct look *look, const struct beside_change *b, struct ifm_arena *arena)
{
    const struct ifm_companion *c = b->c;
    double difference = c->own - c->base;
    const unsigned threads = spread_over(look, b);
    if (look->effect == EFFECT_LOST_TIME)
        return ifm_arena_printf(arena, "%s %.3g %% of %s against %.3g %%", look->name, 100.0 * share_of(look, b, true),
                                threads > 1 ? ifm_arena_printf(arena, "the time of its %u threads", threads)
                                            : "its time",
                                100.0 * share_of(look, b, false));
    if (strcmp(c->unit, "mC") == 0 || strcmp(c->column, "temperature_mc") == 0)
        return ifm_arena_printf(arena, "%s %+.1f K", look->name, 1e-3 * difference);
    if (c->base > 0 && look->effect != EFFECT_EVENT)
        return ifm_arena_printf(arena, "%s %+.1f %%", look->name, 100.0 * difference / c->base);
    return ifm_arena_printf(arena, "%s %+.3g a step", look->name, difference);
}

/* As many events in a step of another length are another share of its time, and no change. */
static bool has_changed(const struct look *look, const struct beside_change *b)
{
    const struct ifm_companion *c = b->c;
    if (look->effect == EFFECT_EVENT && fabs(c->own - c->base) <= SAME_EVENTS * fmax(c->own, c->base))
        return false;
    double share =
        look->effect == EFFECT_NONE && c->base > 0 ? 100.0 * (c->own - c->base) / c->base : accounts_for(look, b);
    return fabs(share) >= WORTH_A_WORD;
}

enum { MOST_CAUSES = 8 };

/* A line under construction. */
struct story {
    struct ifm_text text;
    struct triage_cause {
        const char *text;
        double part; /* of the change */
    } causes[MOST_CAUSES];
    size_t recorded, told, n_causes;
    bool at_most;        /* every cause so far is an event or an amount, whose cost is known from above alone */
    double room, waited; /* of struct beside_change */
    unsigned threads;
};

/* In their order: what accounts for most of the change first. */
static void add_cause(struct story *story, const char *text, double part)
{
    size_t at = story->n_causes < MOST_CAUSES ? story->n_causes++ : MOST_CAUSES - 1;
    for (; at > 0 && story->causes[at - 1].part < part; at--)
        story->causes[at] = story->causes[at - 1];
    story->causes[at] = (struct triage_cause){text, part};
}

/* "clock -4.0 % explains it", "stolen time explains 62 % of it", "clock -4.0 % and processor time +4.0 % each explain
 * it". */
static void say_causes(struct ifm_text *text, const struct story *story, bool decided)
{
    const char *lead = decided ? "; " : "; the change is not decided; were it real, ";
    for (size_t i = 0; i < story->n_causes; i++)
        ifm_text_printf(text, "%s%s", i == 0 ? lead : " and ", story->causes[i].text);
    if (!decided || story->at_most)
        ifm_text_add(text, " could explain it");
    else if (story->n_causes > 1)
        ifm_text_add(text, " each explain it");
    else if (story->causes[0].part >= EXPLAINS_ALL)
        ifm_text_add(text, " explains it");
    else
        ifm_text_printf(text, " explains %.0f %% of it", 100.0 * story->causes[0].part);
}

static void conclude(struct story *story, const char *word, bool by_construction)
{
    struct ifm_text *text = &story->text;
    /* One policy, whatever took the word: of an undecided change causes are said as what could explain it. */
    const bool decided = strcmp(word, "undecided") != 0;
    const char *nothing = story->recorded == 0 ? "nothing else was recorded of both arms that could explain it"
                          : story->told == 0   ? "nothing else that was recorded differs"
                                               : "nothing recorded explains it";
    if (strcmp(word, "equivalent") == 0)
        ifm_text_add(text, "; there is no change to explain");
    else if (strcmp(word, IFM_WITHIN_LIMIT) == 0)
        ifm_text_add(text, "; its gate asks for no more");
    else if (story->n_causes > 0)
        say_causes(text, story, decided);
    else if (!decided)
        ifm_text_printf(text, "; the change is not decided, and %s", nothing);
    else
        ifm_text_printf(text, "; %s%s", nothing,
                        by_construction       ? ": its construction, or what was not recorded"
                        : story->recorded > 0 ? ": the code itself, or what was not recorded"
                                              : "");
}

/* `able` false: what changed is told, and is no cause. */
static void tell(struct story *story, const struct ifm_companion *c, bool able, double change, struct ifm_arena *arena)
{
    struct look look = look_of(c);
    const struct beside_change b = {c, change, story->room, story->waited, story->threads};
    story->recorded++;
    if (!has_changed(&look, &b))
        return;
    const char *what = shown(&look, &b, arena);
    ifm_text_printf(&story->text, "%s%s", story->told++ == 0 ? "; beside it " : ", ", what);
    const double part = able ? explained(&look, &b) : 0.0;
    if (!(part > 0))
        return;
    story->at_most = story->at_most && (look.effect == EFFECT_EVENT || look.effect == EFFECT_AMOUNT);
    if (look.effect == EFFECT_WORK_TIME)
        what = ifm_arena_printf(arena, "%s (%s)", what,
                                change > 0 ? "more work, or slower instructions" : "less work, or faster instructions");
    add_cause(story, look.effect == EFFECT_LOST_TIME ? look.name : what, part);
}

/* The share of the change of time that is none of the program's processor time. */
static double room_beside_work(const struct ifm_companion *companions, size_t n, double change)
{
    for (size_t i = 0; i < n; i++) {
        const struct ifm_companion *c = &companions[i];
        const double change_ns = c->step_ns * change / 100.0;
        if (strcmp(c->column, "child_cpu_ns") == 0 && change_ns != 0)
            return 1.0 - fmin(1.0, fmax(0.0, (c->own - c->base) / change_ns));
    }
    return 1.0;
}

/* What the lab's own thread waited beside a program says nothing that the program's does not. */
static bool is_of_the_lab(const struct ifm_companion *c, const struct ifm_companion *all, size_t n)
{
    bool programs = false;
    for (size_t i = 0; i < n; i++)
        programs |= strncmp(all[i].column, "child_", sizeof "child_" - 1) == 0; /* theirs may not be told */
    return programs && strcmp(c->column, "run_delay_ns") == 0;
}

/* The share of the baseline's time that its program waited for a CPU. */
static double waited_for(const struct ifm_companion *companions, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(companions[i].column, "child_run_delay_ns") == 0 && companions[i].step_ns > 0)
            return fmin(fmax(companions[i].base / companions[i].step_ns, 0.0), 0.99);
    return 0.0;
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

/* An amount that numbers of the arm add up to; NAN where one is missing. */
static double measured(const struct ifm_derived *derived, const char *cell, const char *arm,
                       const enum ifm_metric_id *metrics, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ifm_number *number = ifm_derived_find(derived, cell, arm, metrics[i]);
        sum += number == NULL || number->value.state != IFM_STATE_OK ? NAN : number->value.number;
    }
    return sum;
}

/* What passes of their own measured: counters, energy, activity. Bytes and launches may be the cause; warps and power
 * follow from the work. Folders of before counters had sectors were judged without it, and without launches those of
 * before rules `since`. */
static void tell_measured(struct story *story, const struct ifm_plan *plan, const struct ifm_cell *cell,
                          const struct ifm_number *change, const struct ifm_derived *derived, struct ifm_arena *arena)
{
    static const struct {
        const char *name, *unit;
        enum ifm_companion_kind kind;
        enum ifm_metric_id metrics[2];
        size_t n;
        unsigned since;
    } rows[] = {
        {"bytes of memory", "B", IFM_COMPANION_AMOUNT, {IFM_M_DRAM_BYTES_READ, IFM_M_DRAM_BYTES_WRITTEN}, 2, 0},
        {"warps", "", IFM_COMPANION_LEVEL, {IFM_M_WARPS_LAUNCHED}, 1, 0},
        {"power", "W", IFM_COMPANION_LEVEL, {IFM_M_GPU_POWER_W}, 1, 0},
        {LAUNCHED, "", IFM_COMPANION_LEVEL, {IFM_M_KERNELS_LAUNCHED, IFM_M_GRAPH_KERNELS}, 2, IFM_PLAN_RULES_LIMITS}};
    const struct ifm_arm *baseline = NULL;
    for (size_t a = 0; baseline == NULL && a < cell->n_arms; a++)
        baseline = cell->arms[a].role == IFM_ROLE_BASELINE ? &cell->arms[a] : NULL;
    if (baseline == NULL)
        return;
    const double step_ns = measured(derived, change->cell, baseline->name, (enum ifm_metric_id[]){IFM_M_STEP_NS}, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].since == 0 ? !ifm_plan_counts(cell, "l2_sector_hits") : plan->rules < rows[i].since)
            continue;
        const double own = measured(derived, change->cell, change->arm, rows[i].metrics, rows[i].n);
        const double base = measured(derived, change->cell, baseline->name, rows[i].metrics, rows[i].n);
        if (own > 0 && base > 0)
            tell(story,
                 &(struct ifm_companion){.column = rows[i].name,
                                         .unit = rows[i].unit,
                                         .kind = rows[i].kind,
                                         .own = own,
                                         .base = base,
                                         .step_ns = step_ns},
                 true, change->value.number, arena);
    }
}

/* Three digits, as the gates' sentences have them. */
static int decimals_of(double percent)
{
    const double size = fabs(percent);
    const int decimals = size > 0 ? 2 - (int)floor(log10(size)) : 1;
    return decimals < 0 ? 0 : decimals > 3 ? 3 : decimals;
}

/* `word`: as the tables have it. */
static const char *one_line(const struct ifm_plan *plan, const struct ifm_cell *cell, const struct ifm_number *change,
                            const char *word, const struct ifm_derived *derived, const struct beside *beside,
                            bool *explained, struct ifm_arena *arena)
{
    const struct ifm_value *v = &change->value;
    const char *construction = ifm_judge_construction(cell, change->arm, arena);
    size_t at = ifm_names_find(beside->names, name_of(change->cell, change->arm, arena));
    const size_t n = at == IFM_NO_NAME ? 0 : beside->n[at];
    struct story story = {.at_most = true,
                          .room = n == 0 ? 1.0 : room_beside_work(beside->first[at], n, v->number),
                          .threads = strcmp(plan->device, "cuda") == 0 ? 1 : cell->threads};
    story.waited = n == 0 ? 0.0 : waited_for(beside->first[at], n);
    ifm_text_printf(&story.text, "time %+.*f %% (%s)", decimals_of(v->number), v->number, word);
    if (construction[0] != '\0')
        ifm_text_printf(&story.text, "; by construction %s", construction);
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
    for (size_t i = 0; i < n; i++)
        if (!is_of_the_lab(beside->first[at] + i, beside->first[at], n))
            tell(&story, beside->first[at] + i, true, v->number, arena);
    tell_measured(&story, plan, cell, change, derived, arena);
    conclude(&story, word, construction[0] != '\0');
    *explained = story.n_causes > 0 && story.causes[0].part >= EXPLAINS_ALL && strcmp(v->text, "undecided") != 0;
    const char *line = ifm_arena_printf(arena, "%s", story.text.data);
    ifm_text_free(&story.text);
    return line;
}

void ifm_judge_triage(const struct ifm_plan *plan, const struct ifm_derived *derived, struct ifm_arena *arena,
                      struct ifm_verdict *verdict)
{
    size_t capacity = 0;
    struct beside beside = gather_beside(derived, arena);
    for (size_t i = 0; i < derived->n_numbers; i++) {
        const struct ifm_number *change = &derived->numbers[i];
        const struct ifm_cell *cell = change->metric == IFM_M_CHANGE_PERCENT ? ifm_plan_cell(plan, change->cell) : NULL;
        if (cell == NULL)
            continue;
        bool explained = false;
        const char *word = ifm_judge_word(verdict, cell, change->arm, &change->value);
        const char *text = change->value.state == IFM_STATE_OK
                               ? one_line(plan, cell, change, word, derived, &beside, &explained, arena)
                               : ifm_judge_failed_program(cell, change, derived, arena);
        if (text == NULL)
            continue;
        IFM_ARENA_GROW(arena, verdict->triage, verdict->n_triage, capacity);
        verdict->triage[verdict->n_triage++] = (struct ifm_triage_line){change->cell, change->arm, text, explained};
    }
}
