/* The word of trust: the gravest of what was found about rows of tables. Ceilings' probes are no rows: what is found
 * about them alone touches no comparison. */
#include "document/trust.h"

#include "document/build.h"
#include <string.h>

const char *ifm_trust_label(enum ifm_trust_word word)
{
    static const char *const labels[] = {"solid", "noisy", "do not use"};
    return labels[word];
}

/* What most often helps against what a rule found. */
static const char *remedy_of(const char *rule)
{
    static const char *const remedies[][2] = {
        {"rule-01", "measure again"},
        {"rule-02", "end other work, or --wait-quiet 10min"},
        {"rule-03", "see rates beside their ceilings: --verbose"},
        {"rule-04", "measure again into a new folder"},
        {"rule-05", "see what each sensor can do: inferometer power"},
        {"rule-07", "end other work, or --wait-quiet 10min"},
        {"rule-08", "lock the clocks: inferometer lock"},
        {"rule-10", "compare the output with the baseline's before the speed"},
        {"rule-11", "see why the feature did not run: --verbose"},
        {"rule-12", "find what the output depends on before the speed"},
    };
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strcmp(rule, remedies[i][0]) == 0)
            return remedies[i][1];
    return "";
}

/* What the words of a cause ask for; else what most often helps against what its rule finds. */
static const char *remedy_for(const char *cause, const char *rule)
{
    static const char *const remedies[][2] = {
        {"blocks, has ", "measure more blocks, with a larger --repeats or --cap"},
        {"warm-up ended", "warm up for longer: --warmup-cap"},
        {"reaches only", "see what holds the baseline back: --verbose"},
        {"runs failed", "run the command alone, and see why it fails"},
    };
    if (strstr(cause, "--") != NULL) /* they say so themselves */
        return "";
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strstr(cause, remedies[i][0]) != NULL)
            return remedies[i][1];
    return remedy_of(rule);
}

/* "rule-03" of a reason that begins with it. */
static const char *rule_of(const char *reason, struct ifm_arena *arena)
{
    return strncmp(reason, "rule-", 5) == 0 ? ifm_arena_printf(arena, "%.7s", reason) : "";
}

static bool is_row(const struct ifm_publication *from, const char *cell_name, const char *arm_name)
{
    const struct ifm_cell *cell = ifm_plan_cell(from->plan, cell_name);
    const struct ifm_arm *arm = cell == NULL ? NULL : ifm_cell_arm(cell, arm_name);
    return arm != NULL && ifm_document_is_row(from->derived, cell, arm);
}

/* A check that the output must pass, or a feature that had to run. */
static bool is_check(const char *rule)
{
    return strcmp(rule, "rule-10") == 0 || strcmp(rule, "rule-11") == 0 || strcmp(rule, "rule-12") == 0;
}

static const char *rule_text(const struct ifm_finding *finding)
{
    return finding->rule == NULL ? "" : finding->rule;
}

/* A cell that this machine cannot run is absent from the tables, and touches no other. */
static bool is_absent(const struct ifm_publication *from, const char *name)
{
    const struct ifm_cell *cell = ifm_plan_cell(from->plan, name);
    return cell != NULL && !ifm_is_empty(cell->unsupported);
}

/* 0 = it touches nothing that is compared. */
static int gravity_of(const struct ifm_publication *from, const struct ifm_finding *finding)
{
    if (finding->severity == IFM_SEVERITY_INVALID)
        return 3;
    if (finding->severity == IFM_SEVERITY_NOTE || is_absent(from, finding->cell) ||
        (!ifm_is_empty(finding->arm) && !is_row(from, finding->cell, finding->arm)))
        return 0;
    return is_check(rule_text(finding)) ? 2 : 1;
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

static const struct ifm_finding *gravest(const struct ifm_publication *from, int *gravity)
{
    const struct ifm_finding *best = NULL;
    *gravity = 0;
    for (size_t i = 0; i < from->derived->n_findings; i++) {
        const struct ifm_finding *finding = &from->derived->findings[i];
        int its = gravity_of(from, finding);
        bool more = its > *gravity || (its > 0 && its == *gravity && is_graver(from, finding, best));
        if (more) {
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
        if (number->value.state != IFM_STATE_REFUSED || !is_row(from, number->cell, number->arm))
            continue;
        if (kind == IFM_CLASS_TIME || kind == IFM_CLASS_COMPARE)
            return number;
        first = first == NULL ? number : first;
    }
    return first;
}

/* Kinds of warnings that touch what is compared. */
static size_t count_warnings(const struct ifm_publication *from, struct ifm_arena *arena)
{
    struct ifm_names *texts = ifm_names_create(arena);
    for (size_t i = 0; i < from->derived->n_findings; i++)
        if (gravity_of(from, &from->derived->findings[i]) > 0)
            ifm_names_add(texts, from->derived->findings[i].text);
    return ifm_names_count(texts);
}

/* Does a finding say why the number is refused? It is the cause then, and none beside it. */
static bool is_told(const struct ifm_publication *from, const struct ifm_number *number, struct ifm_arena *arena)
{
    const char *rule = rule_of(number->value.reason, arena), *reason = number->value.reason;
    const char *bare = rule[0] != '\0' && strncmp(reason + 7, ": ", 2) == 0 ? reason + 9 : reason;
    for (size_t i = 0; i < from->derived->n_findings; i++) {
        const struct ifm_finding *finding = &from->derived->findings[i];
        bool same = strcmp(finding->text, reason) == 0 || strcmp(finding->text, bare) == 0;
        if (same && gravity_of(from, finding) > 0)
            return true;
    }
    return false;
}

static struct ifm_trust by_finding(const struct ifm_finding *finding, enum ifm_trust_word word, struct ifm_arena *arena)
{
    return (struct ifm_trust){
        .word = word,
        .place = ifm_document_place(finding->cell, finding->arm, arena),
        .cause = finding->text,
        .rule = rule_text(finding),
        .remedy = remedy_for(finding->text, rule_text(finding)),
    };
}

static struct ifm_trust by_number(const struct ifm_number *number, struct ifm_arena *arena)
{
    const struct ifm_value *value = &number->value;
    const char *reason = ifm_is_empty(value->reason) ? "a number is refused" : value->reason;
    const char *rule = rule_of(reason, arena);
    if (rule[0] != '\0' && strncmp(reason + 7, ": ", 2) == 0)
        reason += 9;
    return (struct ifm_trust){
        .word = IFM_TRUST_DO_NOT_USE,
        .place = ifm_document_place(number->cell, number->arm, arena),
        .cause = reason,
        .rule = rule,
        .remedy = ifm_is_empty(value->remedy) ? remedy_for(reason, rule) : value->remedy,
    };
}

/* ---- undecided ---- */

struct decisions {
    size_t n, undecided; /* or without an answer at all */
    double needed;       /* blocks, of the one that needs fewest; 0 = not known */
};

static struct decisions decisions_of(const struct ifm_publication *from)
{
    struct decisions d = {0};
    for (size_t i = 0; i < from->derived->n_numbers; i++) {
        const struct ifm_number *number = &from->derived->numbers[i];
        if (number->metric != IFM_M_CHANGE_PERCENT)
            continue;
        d.n++;
        if (ifm_is_ok(&number->value) && strcmp(number->value.text, "undecided") != 0)
            continue;
        const struct ifm_value *needed =
            ifm_derived_value(from->derived, number->cell, number->arm, IFM_M_BLOCKS_NEEDED);
        d.undecided++;
        if (ifm_is_ok(needed) && (d.needed <= 0 || needed->number < d.needed))
            d.needed = needed->number;
    }
    return d;
}

static struct ifm_trust by_decisions(const struct ifm_publication *from, const struct decisions *d,
                                     struct ifm_arena *arena)
{
    const bool counts = from->plan->n_cells > 0 && from->plan->cells[0].measure.stop == IFM_STOP_REPEATS;
    const char *longer = counts ? "more samples (--repeats)" : "a longer --cap";
    return (struct ifm_trust){
        .word = IFM_TRUST_NOISY,
        .place = "",
        .cause = ifm_arena_printf(arena, "%zu of %zu comparison%s undecided", d->undecided, d->n,
                                  d->n == 1           ? " is"
                                  : d->undecided == 1 ? "s is"
                                                      : "s are"),
        .rule = "",
        .remedy = d->needed > 0 ? ifm_arena_printf(arena, "%s, for about %.0f blocks", longer, d->needed)
                                : ifm_arena_printf(arena, "%s, or a quieter machine", longer),
    };
}

/* ---- the whole ---- */

/* Without gates the verdict is not valid where nothing was measured, or nothing of what was asked for. */
static bool is_measured(const struct ifm_publication *from)
{
    if (from->verdict->outcome == IFM_OUTCOME_NOT_GATED && from->verdict->exit_code == IFM_INVALID)
        return false;
    for (size_t i = 0; i < from->derived->n_numbers; i++)
        if (ifm_is_ok(&from->derived->numbers[i].value) &&
            ifm_metrics[from->derived->numbers[i].metric].kind != IFM_CLASS_COUNT)
            return true;
    return false;
}

static const char *reason_of(const struct ifm_publication *from)
{
    return from->verdict->n_reasons > 0 ? from->verdict->reasons[0] : "nothing was measured";
}

struct ifm_trust ifm_trust_of(const struct ifm_publication *from, struct ifm_arena *arena)
{
    struct ifm_error distrust = {0};
    struct ifm_trust trust = {.word = IFM_TRUST_SOLID, .place = "", .rule = "", .remedy = "", .cause = ""};
    int gravity;
    const struct ifm_finding *finding = gravest(from, &gravity);
    const struct ifm_number *number = refused(from);
    const struct decisions decisions = decisions_of(from);
    size_t warnings = count_warnings(from, arena);
    bool told = false;
    if (gravity == 3 || (gravity == 2 && number == NULL)) {
        trust = by_finding(finding, IFM_TRUST_DO_NOT_USE, arena);
        told = true;
    } else if (ifm_derived_agree(from->plan, from->derived, &distrust) != IFM_OK) {
        trust.word = IFM_TRUST_DO_NOT_USE;
        trust.cause = ifm_arena_printf(arena, "the derived numbers do not agree: %s", distrust.message);
    } else if (number != NULL) {
        trust = by_number(number, arena);
        told = is_told(from, number, arena);
    } else if (!is_measured(from)) {
        told = finding != NULL && is_unfinished(finding);
        if (told) /* it names the remedy; the verdict says what is missing */
            trust = by_finding(finding, IFM_TRUST_DO_NOT_USE, arena);
        trust.word = IFM_TRUST_DO_NOT_USE;
        trust.cause = told ? trust.cause : reason_of(from);
    } else if (gravity == 1) {
        trust = by_finding(finding, IFM_TRUST_NOISY, arena);
        told = true;
    } else if (decisions.undecided > 0) {
        trust = by_decisions(from, &decisions, arena);
    } else {
        trust.cause = "no number was refused, and no warning touches what is compared";
    }
    trust.warnings = warnings - (told && warnings > 0);
    return trust;
}
