/* The word of trust: the gravest of what was found about rows of tables. Ceilings' probes are no rows: what is found
 * about them alone touches no comparison. */
#include "document/trust.h"

#include "document/build.h"
#include "document/remedy.h"
#include "document/trust_open.h"
#include "model/machine_facts.h"
#include "stats/paired.h"
#include <string.h>

static const struct ifm_trust blank = {
    .word = IFM_TRUST_SOLID, .place = "", .cause = "", .brief = "", .told = "", .arm = "", .rule = "", .remedy = ""};

/* "rule-03" of a reason that begins with it. */
static const char *rule_of(const char *reason, struct ifm_arena *arena)
{
    return strncmp(reason, "rule-", 5) == 0 ? ifm_arena_printf(arena, "%.7s", reason) : "";
}

static const char *rule_text(const struct ifm_finding *finding)
{
    return finding->rule == NULL ? "" : finding->rule;
}

/* That the run did not end, and what completes it: of no rule and no cell. */
static bool is_unfinished(const struct ifm_finding *finding)
{
    return finding->severity == IFM_SEVERITY_WARNING && rule_text(finding)[0] == '\0' && ifm_is_empty(finding->cell);
}

/* Of warnings, that the run did not end comes first: what it says of noise is said of a part. */
static bool is_graver(const struct ifm_publication *from, const struct ifm_finding *finding,
                      const struct ifm_finding *than)
{
    if (is_unfinished(finding) != is_unfinished(than))
        return is_unfinished(finding);
    return ifm_finding_weight(from->plan, finding) > ifm_finding_weight(from->plan, than);
}

/* What takes a word of the time answers nothing where processor time alone was asked about. */
static const struct ifm_finding *gravest(const struct ifm_publication *from, enum ifm_gravity *gravity)
{
    const bool processor = ifm_judge_asks_processor_alone(from->verdict);
    const struct ifm_finding *best = NULL;
    *gravity = IFM_TOUCHES_NOTHING;
    for (size_t i = 0; i < from->derived->n_findings; i++) {
        const struct ifm_finding *finding = &from->derived->findings[i];
        const enum ifm_gravity its = ifm_gravity_of(from, finding);
        bool more = its > *gravity || (its > 0 && its == *gravity && is_graver(from, finding, best));
        if (more && !(processor && finding->takes_word)) {
            best = finding;
            *gravity = its;
        }
    }
    return best;
}

/* The first refused number of a row, a time or a comparison before others; NULL = none is. */
static const struct ifm_number *refused(const struct ifm_publication *from)
{
    const struct ifm_number *first = NULL;
    for (size_t i = 0; i < from->derived->n_numbers; i++) {
        const struct ifm_number *number = &from->derived->numbers[i];
        enum ifm_metric_class kind = ifm_metrics[number->metric].kind;
        if (!ifm_is_distrusted(from, number))
            continue;
        if (kind == IFM_CLASS_TIME || kind == IFM_CLASS_COMPARE)
            return number;
        first = first == NULL ? number : first;
    }
    return first;
}

/* The reason without its rule and, of a comparison that is refused for its baseline, without that one's name; `*arm` is
 * the arm to blame. */
static const char *bare_reason(const struct ifm_publication *from, const struct ifm_number *number, const char **arm,
                               struct ifm_arena *arena)
{
    const char *reason = number->value.reason;
    const struct ifm_cell *cell = ifm_plan_cell(from->plan, number->cell);
    const struct ifm_arm *baseline = cell == NULL ? NULL : ifm_cell_baseline(cell);
    *arm = number->arm;
    if (rule_of(reason, arena)[0] != '\0' && strncmp(reason + 7, ": ", 2) == 0)
        reason += 9;
    const char *its = baseline == NULL ? "" : ifm_arena_printf(arena, IFM_OF_BASELINE_WORDS "%s: ", baseline->name);
    if (its[0] == '\0' || strncmp(reason, its, strlen(its)) != 0)
        return reason;
    *arm = baseline->name;
    return reason + strlen(its);
}

/* Does a finding say why the number is refused? It is the cause then, and none beside it. */
static bool is_told(const struct ifm_publication *from, const struct ifm_number *number, struct ifm_arena *arena)
{
    const char *arm, *reason = number->value.reason, *bare = bare_reason(from, number, &arm, arena);
    for (size_t i = 0; i < from->derived->n_findings; i++) {
        const struct ifm_finding *finding = &from->derived->findings[i];
        bool same = strcmp(finding->text, reason) == 0 || strcmp(finding->text, bare) == 0;
        if (same && ifm_gravity_of(from, finding) > 0)
            return true;
    }
    return false;
}

/* Other arms of the cell of which the like was found; `*one` is the first. */
static size_t others_of(const struct ifm_publication *from, const struct ifm_finding *finding, const char **one)
{
    size_t n = 0;
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(from->derived, finding->cell, f)) != NULL;) {
        const bool like =
            f->kind == finding->kind && f->severity == finding->severity && f->drift * finding->drift >= 0;
        if (finding->kind == IFM_FINDING_OTHER || ifm_is_empty(finding->arm) || !like ||
            strcmp(f->arm, finding->arm) == 0 || !ifm_is_row_named(from, f->cell, f->arm))
            continue;
        *one = n++ == 0 ? f->arm : *one;
    }
    return n;
}

static size_t rows_of(const struct ifm_publication *from, const char *name)
{
    const struct ifm_cell *cell = ifm_plan_cell(from->plan, name);
    size_t n = 0;
    for (size_t a = 0; cell != NULL && a < cell->n_arms; a++)
        n += ifm_is_row_named(from, name, cell->arms[a].name);
    return n;
}

/* "decode, int8 (2 more too)" */
static const char *place_with(const struct ifm_publication *from, const struct ifm_finding *finding, size_t others,
                              const char *one, struct ifm_arena *arena)
{
    const char *place = ifm_trust_place(from, finding->cell, finding->arm, arena);
    return others == 0   ? place
           : others == 1 ? ifm_arena_printf(arena, "%s (%s too)", place, one)
                         : ifm_arena_printf(arena, "%s (%zu more too)", place, others);
}

/* The time of an arm does, over the run. */
static bool wanders(const struct ifm_finding *finding)
{
    return finding->kind == IFM_FINDING_UNSTEADY || finding->kind == IFM_FINDING_TIME_CHANGES ||
           finding->kind == IFM_FINDING_TIME_DRIFTS;
}

/* A ratio of programs does not have what moves the time of each. */
static bool is_of_times(const struct ifm_publication *from, const struct ifm_finding *finding)
{
    return from->plan->n_cells > 0 && ifm_cell_counts_programs(from->plan->cells) && wanders(finding);
}

/* A finding may end with its own remedy. */
static struct ifm_trust by_finding(const struct ifm_publication *from, const struct ifm_finding *finding,
                                   enum ifm_trust_word word, struct ifm_arena *arena)
{
    const char *one = "";
    const size_t others = others_of(from, finding, &one);
    const char *own = strstr(finding->text, IFM_REMEDY), *perhaps = strstr(finding->text, IFM_ONE_ARM_WORDS);
    const char *cause =
        own == NULL ? finding->text : ifm_arena_printf(arena, "%.*s", (int)(own - finding->text), finding->text);
    if (others > 0 && perhaps != NULL) /* it is of these too */
        cause = ifm_arena_printf(arena, "%.*s%s", (int)(perhaps - finding->text), finding->text,
                                 cause + (perhaps - finding->text) + strlen(IFM_ONE_ARM_WORDS));
    return (struct ifm_trust){
        .word = word,
        .place = place_with(from, finding, others, one, arena),
        .cause = cause,
        .brief = finding->weak.brief == NULL ? "" : finding->weak.brief,
        .told = finding->text,
        .arm = finding->arm,
        .of_times = is_of_times(from, finding),
        .rule = rule_text(finding),
        .remedy = own != NULL ? own + strlen(IFM_REMEDY)
                  : others > 0 && finding->kind == IFM_FINDING_TIME_DRIFTS && others + 1 == rows_of(from, finding->cell)
                      ? "another hour or machine: all drift one way"
                      : ifm_remedy_for(finding->text, rule_text(finding), finding, from, arena),
    };
}

/* The finding of the cell that says why a number is refused, be it of another arm: "of base: ..."; NULL = none. */
static const struct ifm_finding *behind(const struct ifm_publication *from, const char *cell, const char *reason)
{
    for (size_t i = 0; i < from->derived->n_findings; i++) {
        const struct ifm_finding *finding = &from->derived->findings[i];
        const size_t size = strlen(finding->text), whole = strlen(reason);
        if (strcmp(finding->cell, cell) == 0 && size > 0 && size <= whole &&
            strcmp(reason + whole - size, finding->text) == 0)
            return finding;
    }
    return NULL;
}

static struct ifm_trust by_number(const struct ifm_publication *from, const struct ifm_number *number,
                                  struct ifm_arena *arena)
{
    const struct ifm_value *value = &number->value;
    const char *arm = number->arm;
    const bool has = !ifm_is_empty(value->reason);
    const char *rule = has ? rule_of(value->reason, arena) : "";
    const char *reason = has ? bare_reason(from, number, &arm, arena) : "a number is refused";
    return (struct ifm_trust){
        .word = IFM_TRUST_DO_NOT_USE,
        .place = ifm_trust_place(from, number->cell, arm, arena),
        .cause = reason,
        .brief = "",
        .told = "",
        .arm = "",
        .rule = rule,
        .remedy = ifm_is_empty(value->remedy)
                      ? ifm_remedy_for(reason, rule, behind(from, number->cell, reason), from, arena)
                      : value->remedy,
    };
}

/* ---- beside open comparisons ---- */

/* What leaves a comparison open is the run's main cause, as it is that comparison's: before other noise, but not before
 * a bias or an end that is missing, which no further block mends. */
static bool is_open(const struct ifm_decisions *d, const struct ifm_finding *finding)
{
    return d->undecided > 0 && !is_unfinished(finding) && ifm_trust_word_of(finding) == IFM_TRUST_NOISY &&
           !ifm_trust_is_few(finding);
}

static enum ifm_trust_word word_beside(const struct ifm_decisions *d, const struct ifm_finding *finding)
{
    return ifm_trust_is_few(finding) && d->n > 0 && !d->noise ? IFM_TRUST_UNDECIDED : ifm_trust_word_of(finding);
}

static bool is_answered(const struct ifm_publication *from, const struct ifm_decisions *d)
{
    const enum ifm_outcome outcome = from->verdict->outcome;
    return outcome == IFM_OUTCOME_PASS || outcome == IFM_OUTCOME_FAIL ||
           (outcome == IFM_OUTCOME_NOT_GATED && d->n > 0 && d->equal == d->n);
}

/* Noise of times, which more blocks average: then they are what helps a gate that is open. */
static bool is_averaged(const struct ifm_finding *finding)
{
    switch (finding->kind) {
    case IFM_FINDING_TYPICAL:
    case IFM_FINDING_MODES:
    case IFM_FINDING_LOPSIDED:
        return true;
    case IFM_FINDING_OTHER: /* a drift that both arms share has no kind */
        return strcmp(rule_text(finding), "rule-07") == 0;
    default:
        return wanders(finding);
    }
}

/* What narrows an interval that holds what an order of arms may do, before what steadies a ceiling: that is done here.
 */
static const char *remedy_of_order(const struct ifm_publication *from, const struct ifm_finding *finding,
                                   const char *own, struct ifm_arena *arena)
{
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(from->derived, finding->cell, f)) != NULL;) {
        const char *its =
            f->kind == IFM_FINDING_ORDER && f->severity == IFM_SEVERITY_WARNING ? strstr(f->text, IFM_REMEDY) : NULL;
        if (its != NULL && ifm_derived_widened(from->derived, f->cell, f->arm, IFM_M_SPEEDUP) == f)
            return ifm_arena_printf(arena, "%s%s%s", its + strlen(IFM_REMEDY), own[0] == '\0' ? "" : "; then ", own);
    }
    return own;
}

/* Of noise that more blocks average nothing is left to do where what was asked is answered without a size. `own`: what
 * helps else, behind a CPU of one's own where these differ. */
static const char *remedy_beside_noise(const struct ifm_publication *from, const struct ifm_decisions *d,
                                       const struct ifm_finding *finding, const char *own, struct ifm_arena *arena)
{
    const struct ifm_gate_result *gate = ifm_gate_left_open(from);
    double all;
    if (finding->kind == IFM_FINDING_ALTERNATES || from->derived->busy || ifm_most_marked(from, &all) > 0)
        return own;
    if (strcmp(rule_text(finding), "rule-03") == 0 || finding->kind == IFM_FINDING_RATIO_DRIFTS)
        return remedy_of_order(from, finding, own, arena);
    if (wanders(finding) && gate == NULL && is_answered(from, d))
        return "";
    if (gate != NULL && is_averaged(finding))
        own = ifm_trust_by_gate(from, gate, arena).remedy;
    return ifm_trust_word_of(finding) != IFM_TRUST_NOISY || is_unfinished(finding) || own[0] == '\0'
               ? own
               : ifm_trust_remedy_of_places(from->derived, own, arena);
}

/* ---- numbers without an interval ---- */

/* The times of steps that say why they have none: how many, and the first. */
struct bare {
    size_t n;
    const struct ifm_number *step;
};

static struct bare bare_of(const struct ifm_publication *from)
{
    struct bare bare = {0, NULL};
    for (size_t i = 0; i < from->derived->n_numbers; i++) {
        const struct ifm_number *number = &from->derived->numbers[i];
        if (number->metric != IFM_M_STEP_NS || !ifm_is_ok(&number->value) || number->value.has_interval ||
            ifm_is_empty(number->value.text) || !ifm_is_row_named(from, number->cell, number->arm))
            continue;
        bare.n++;
        bare.step = bare.step == NULL ? number : bare.step;
    }
    return bare;
}

/* Nothing was found against the run. A comparison has an interval of its own; a time alone that has none is no number
 * to rely on. */
static struct ifm_trust by_nothing(const struct ifm_publication *from, bool compares, struct ifm_arena *arena)
{
    static const char clean[] = "no number was refused, and no warning touches what is compared";
    const struct bare bare = bare_of(from);
    struct ifm_trust trust = blank;
    trust.cause = clean;
    if (bare.step != NULL && !compares) {
        trust.word = IFM_TRUST_NOISY;
        trust.place = ifm_trust_place(from, bare.step->cell, bare.step->arm, arena);
        trust.cause = ifm_arena_printf(arena, "the time has no interval: %s", bare.step->value.text);
        trust.remedy = ifm_arena_printf(arena, "go by p50, or %s", ifm_remedy_longer(from, arena));
    } else if (bare.n > 0) {
        trust.cause = ifm_arena_printf(arena, "%s; %zu time%s in the table %s no interval", clean, bare.n,
                                       bare.n == 1 ? "" : "s", bare.n == 1 ? "has" : "have");
    }
    return trust;
}

/* ---- the whole ---- */

static const char *reason_of(const struct ifm_publication *from)
{
    return from->verdict->n_reasons > 0 ? from->verdict->reasons[0] : "nothing was measured";
}

/* Runs of one thing differ by more than an interval of one says: memory lies elsewhere, neighbours have changed. */
static const char *scope_of(const struct ifm_publication *from, const struct ifm_trust *trust, bool answers)
{
    static const struct ifm_remedy again = {"", "inferometer rerun DIR --times 5, as another run may differ",
                                            "measure once more, as another run may differ", NULL};
    bool any = false;
    if (trust->word == IFM_TRUST_DO_NOT_USE || strcmp(from->plan->device, "fake") == 0)
        return "";
    for (size_t i = 0; i < from->derived->n_numbers && !any; i++)
        any = ifm_is_ok(&from->derived->numbers[i].value) && from->derived->numbers[i].value.has_interval;
    return answers || (any && trust->word == IFM_TRUST_SOLID) ? ifm_remedy_in(&again, from) : "";
}

/* Where half of all blocks are disturbed, that is the main cause of noise, and the finding stands beside it; a bias or
 * a weak baseline is none of that. */
static bool by_marked(const struct ifm_publication *from, const struct ifm_finding *finding, struct ifm_arena *arena,
                      struct ifm_trust *out)
{
    double all;
    const double marked = ifm_most_marked(from, &all);
    if (marked <= 0 || is_unfinished(finding) || ifm_trust_is_few(finding) ||
        ifm_trust_word_of(finding) != IFM_TRUST_NOISY || finding->kind == IFM_FINDING_LOAD || finding->takes_word)
        return false;
    *out = blank;
    out->word = IFM_TRUST_NOISY;
    out->cause = ifm_arena_printf(arena, "the machine disturbed %.0f of %.0f blocks", marked, all);
    out->remedy = ifm_remedy_for("", "rule-07", NULL, from, arena);
    return true;
}

/* Of too few blocks: what brings more of them, and what else would spoil these. */
static void add_few(const struct ifm_publication *from, const struct ifm_decisions *d, struct ifm_trust *trust,
                    struct ifm_arena *arena)
{
    double all;
    const double marked = ifm_most_marked(from, &all);
    trust->remedy = d->nearest.flag[0] != '\0' ? d->nearest.flag : trust->remedy;
    if (marked <= 0)
        return;
    trust->cause = ifm_arena_printf(arena, "the machine disturbed %.0f of %.0f blocks; %s", marked, all, trust->cause);
    trust->remedy = ifm_arena_printf(arena, "%s, on a quiet machine", trust->remedy);
}

static struct ifm_trust by_noise(const struct ifm_publication *from, const struct ifm_decisions *d,
                                 const struct ifm_finding *finding, struct ifm_arena *arena)
{
    struct ifm_trust trust = by_finding(from, finding, word_beside(d, finding), arena);
    trust.remedy = remedy_beside_noise(from, d, finding, trust.remedy, arena);
    if (ifm_trust_is_few(finding))
        add_few(from, d, &trust, arena);
    return trust;
}

/* A gate that has no answer was asked too. */
static bool is_settled(const struct ifm_publication *from, const struct ifm_decisions *d)
{
    const enum ifm_outcome outcome = from->verdict->outcome;
    return d->answered > 0 && d->undecided == 0 && outcome != IFM_OUTCOME_INCONCLUSIVE &&
           outcome != IFM_OUTCOME_BLOCKED;
}

static const struct ifm_remedy scripted = {"", "of scripted times (--device fake), which say nothing of any hardware",
                                           "of scripted times (device.kind=fake), which say nothing of any hardware",
                                           NULL};

struct ifm_trust ifm_trust_of(const struct ifm_publication *from, struct ifm_arena *arena)
{
    struct ifm_error distrust = {0};
    struct ifm_trust trust = blank;
    bool told = false;
    enum ifm_gravity gravity;
    const struct ifm_finding *finding = gravest(from, &gravity), *beside = NULL;
    const struct ifm_number *number = refused(from);
    const struct ifm_decisions decisions = ifm_decisions_of(from, arena);
    if (gravity == IFM_TOUCHES_RECORD || (gravity == IFM_TOUCHES_OUTPUT && number == NULL)) {
        trust = by_finding(from, finding, IFM_TRUST_DO_NOT_USE, arena);
        told = true;
    } else if (ifm_derived_agree(from->plan, from->derived, &distrust) != IFM_OK) {
        trust.word = IFM_TRUST_DO_NOT_USE;
        trust.cause = ifm_arena_printf(arena, "the derived numbers do not agree: %s", distrust.message);
    } else if (number != NULL) {
        trust = by_number(from, number, arena);
        told = is_told(from, number, arena);
    } else if (!ifm_is_measured(from)) {
        told = finding != NULL && is_unfinished(finding);
        if (told) /* it names the remedy; the verdict says what is missing */
            trust = by_finding(from, finding, IFM_TRUST_DO_NOT_USE, arena);
        trust.word = IFM_TRUST_DO_NOT_USE;
        trust.cause = told ? trust.cause : reason_of(from);
    } else if (ifm_judge_asks_processor_alone(from->verdict) && ifm_gate_left_open(from) != NULL) {
        trust = ifm_trust_by_gate(from, ifm_gate_left_open(from), arena); /* before noise of the time */
    } else if (gravity == IFM_TOUCHES_NUMBERS && !is_open(&decisions, finding)) {
        trust = by_noise(from, &decisions, finding, arena);
        told = !by_marked(from, finding, arena, &trust);
        beside = told ? NULL : finding;
    } else if (decisions.took != NULL) {
        trust = by_finding(from, decisions.took, ifm_trust_word_of(decisions.took), arena);
        if (decisions.nearest.disturbed && trust.word == IFM_TRUST_NOISY && trust.remedy[0] != '\0')
            trust.remedy = ifm_judge_quiet(&decisions.of, arena); /* what most blocks had is the main cause */
        told = ifm_gravity_of(from, decisions.took) > 0;
        if (decisions.alike > 1 && strncmp(trust.cause, "undecided: ", 11) == 0) {
            trust.place = "";
            trust.cause =
                ifm_arena_printf(arena, "%zu of %zu comparisons are %s", decisions.alike, decisions.n, trust.cause);
        }
    } else if (decisions.undecided + decisions.unanswered > 0) {
        trust = ifm_trust_by_decisions(from, &decisions, arena);
        told = decisions.undecided > 0 && decisions.nearest.busy; /* the load is one of the warnings */
        beside = gravity == IFM_TOUCHES_NUMBERS && !told && !decisions.nearest.disturbed ? finding : NULL;
    } else if (ifm_gate_left_open(from) != NULL) {
        trust = ifm_trust_by_gate(from, ifm_gate_left_open(from), arena);
    } else {
        trust = by_nothing(from, decisions.n > 0, arena);
    }
    trust.warnings = ifm_count_warnings(from);
    trust.warnings -= (told || beside != NULL) && trust.warnings > 0;
    trust.also = ifm_trust_also(from, &trust, beside,
                                beside == NULL ? "" : ifm_trust_place(from, beside->cell, beside->arm, arena), arena);
    trust.settled = is_settled(from, &decisions);
    trust.scope = scope_of(from, &trust, decisions.answered > 0);
    if (trust.word == IFM_TRUST_SOLID && strcmp(from->plan->device, "fake") == 0)
        trust.cause = ifm_remedy_in(&scripted, from);
    return trust;
}
