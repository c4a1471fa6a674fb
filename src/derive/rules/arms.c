/* Rules 10, 11 and 12: an arm's output is right, its feature ran, and outputs that must be equal are. */
#include "derive/internal.h"

#include <math.h>
#include <string.h>

/* What the checks of one arm say. */
struct checks {
    size_t done;
    bool finite;
    double worst;        /* error_max_rel */
    double part;         /* error_part */
    double row, bias;    /* error_row, error_bias */
    const char *output;  /* hash after the last check */
    const char *changed; /* an earlier hash that differs; NULL when none does */
    bool sets_differ;    /* the output depended on the set of buffers */
};

static struct checks gather_checks(const struct ifm_cell_work *work, const char *arm)
{
    struct checks out = {.finite = true};
    IFM_EACH_TOLD(event, work, check, arm) {
        const struct ifm_event_check *check = IFM_FACTS(event, check);
        if (!check->done)
            continue;
        out.done++;
        out.finite &= check->finite;
        out.sets_differ |= check->sets_differ;
        if (check->finite) { /* errors against values that are not finite have no meaning */
            out.worst = check->error_max_rel > out.worst ? check->error_max_rel : out.worst;
            out.part = check->error_part > out.part ? check->error_part : out.part;
            out.row = check->error_row > out.row ? check->error_row : out.row; /* NaN where it was not recorded */
            out.bias = check->error_bias > out.bias ? check->error_bias : out.bias;
        }
        if (out.output != NULL && strcmp(out.output, check->output_xxh3) != 0)
            out.changed = out.output;
        out.output = check->output_xxh3;
    }
    return out;
}

static void refuse_arm(struct ifm_arm_work *arm, const char *reason)
{
    ifm_refuse_arm(arm, &arm->refusal, IFM_SEVERITY_INVALID, "rule-10", reason);
}

/* Why the errors that were recorded are those of a wrong output; NULL when they are not. */
static const char *wrong_output(const struct ifm_arm_work *arm, const struct checks *checks)
{
    struct ifm_arena *arena = arm->d->arena;
    const double tolerance = arm->arm->tolerance;
    if (checks->worst > tolerance)
        return ifm_arena_printf(arena, "the arm's output is wrong: its error %.3g is above the tolerance %.3g",
                                checks->worst, tolerance);
    if (checks->part > IFM_PART_MOST)
        return ifm_arena_printf(arena,
                                "the arm's output is wrong: %.0f %% of some part of its input is missing in it, or "
                                "counted too often",
                                100 * checks->part);
    if (checks->row > ifm_row_bound(tolerance))
        return ifm_arena_printf(arena,
                                "the arm's output is wrong: one of its rows has an element that is off by %.3g of the "
                                "row's root mean square; %.3g is allowed",
                                checks->row, ifm_row_bound(tolerance));
    if (checks->bias > ifm_bias_bound(tolerance))
        return ifm_arena_printf(arena,
                                "the arm's output is wrong: as a whole it is off by %.3g of its size; %.3g is allowed",
                                checks->bias, ifm_bias_bound(tolerance));
    return NULL;
}

static void check_output(struct ifm_arm_work *arm, const struct checks *checks, const struct ifm_loss_fact *loss)
{
    const struct ifm_arm *a = arm->arm;
    if (checks->done == 0 && a->lossy)
        refuse_arm(arm, "the arm changes numerics and its error was not recorded");
    else if (checks->done == 0 && a->has_oracle)
        refuse_arm(arm, "the arm has an oracle and was not checked against it");
    else if (checks->done > 0 && !checks->finite)
        refuse_arm(arm, "the arm's output holds values that are not finite");
    else if (checks->done > 0 && a->has_oracle && wrong_output(arm, checks) != NULL)
        refuse_arm(arm, wrong_output(arm, checks));
    else if (ifm_derive_owes_loss(a, loss) && isnan(loss->rms_rel))
        refuse_arm(arm, "the arm keeps its content compressed, and what that did to its output was not recorded");
    if (ifm_arm_unchecked(a))
        ifm_refuse_arm(arm, &arm->compare_refused, IFM_SEVERITY_WARNING, "rule-10", IFM_UNCHECKED);
    const bool by_library = ifm_arm_of_library(a) && checks->done > 0;
    if (checks->changed != NULL && by_library)
        ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-12",
                           "the library gives other bits from time to time (hash %s, then %s), each within its "
                           "tolerance of the reference",
                           checks->changed, checks->output);
    else if (checks->changed != NULL)
        ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-12", "the output changed during the run: hash %s, then %s",
                           checks->changed, checks->output)
            ->kind = IFM_FINDING_OUTPUT;
    if (checks->sets_differ && by_library)
        ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-12",
                           "the library gives other bits in another set of buffers, each within its tolerance of the "
                           "reference");
    else if (checks->sets_differ)
        ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-12",
                           "the same inputs in another set of buffers gave another output: it depends on where the "
                           "buffers lie, or on what lay in them before")
            ->kind = IFM_FINDING_OUTPUT;
}

static void check_feature(struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    const char *feature = arm->arm->feature;
    if (ifm_is_empty(feature))
        return;
    size_t seen = 0;
    int64_t runs = 0;
    IFM_EACH_TOLD(event, work, feature, arm->arm->name) {
        seen++;
        runs += IFM_FACTS(event, feature)->runs;
    }
    if ((seen > 0 && runs > 0) || (seen == 0 && work->n_blocks == 0)) /* without a block it is absent, which says why */
        return;
    const char *reason =
        seen == 0 ? ifm_arena_printf(arm->d->arena, "how often %s ran was not recorded", feature)
                  : ifm_arena_printf(arm->d->arena, "no step used %s: the arm is a twin of the baseline", feature);
    arm->inactive = seen > 0 && arm->refusal.rule == NULL;
    struct ifm_finding *said = ifm_refuse_arm(arm, &arm->refusal, IFM_SEVERITY_WARNING, "rule-11", reason);
    said->kind = seen > 0 ? IFM_FINDING_NOTHING_RAN : IFM_FINDING_OTHER;
}

static void check_equal(struct ifm_arm_work *arm)
{
    struct ifm_cell_work *work = arm->work;
    const struct ifm_arm *a = arm->arm;
    if (ifm_is_empty(a->equals))
        return;
    struct checks mine = gather_checks(work, a->name), other = gather_checks(work, a->equals);
    const char *reason = NULL;
    if (ifm_cell_arm(work->cell, a->equals) == NULL || mine.done == 0 || other.done == 0)
        reason = ifm_arena_printf(arm->d->arena, "the output must equal that of arm %s, and this was not checked",
                                  a->equals);
    else if (a->equal_bound == 0 && strcmp(mine.output, other.output) != 0)
        reason =
            ifm_arena_printf(arm->d->arena, "the output must equal that of arm %s bit for bit, and differs (%s, %s)",
                             a->equals, mine.output, other.output);
    else if (a->equal_bound == 0 && (mine.sets_differ || other.sets_differ))
        reason = ifm_arena_printf(arm->d->arena,
                                  "the output must equal that of arm %s bit for bit, and that of %s differs from one "
                                  "set of buffers to the next",
                                  a->equals, mine.sets_differ ? a->name : a->equals);
    else if (a->equal_bound > 0 &&
             (!mine.finite || !other.finite || mine.worst > a->equal_bound || other.worst > a->equal_bound))
        reason = ifm_arena_printf(
            arm->d->arena, "the output must equal that of arm %s within %.3g; its error is %.3g, that of %s %.3g",
            a->equals, a->equal_bound, mine.worst, a->equals, other.worst);
    if (reason != NULL)
        ifm_refuse_arm(arm, &arm->compare_refused, IFM_SEVERITY_WARNING, "rule-12", reason)->kind = IFM_FINDING_OUTPUT;
}

/* A comparison needs both its arms. */
static void spread_to_comparisons(struct ifm_cell_work *work)
{
    const struct ifm_arm_work *base = work->baseline;
    if (base == NULL)
        return;
    const struct ifm_refusal *why =
        base->refusal.rule == NULL && ifm_arm_unchecked(base->arm) ? &base->compare_refused : &base->refusal;
    if (why->rule == NULL)
        return;
    const char *reason = ifm_arena_printf(work->d->arena, IFM_OF_BASELINE_WORDS "%s: %s", base->arm->name, why->reason);
    for (size_t a = 0; a < work->cell->n_arms; a++)
        if (&work->arms[a] != base)
            ifm_refuse(&work->arms[a].compare_refused, why->rule, reason);
}

void ifm_rules_arms(struct ifm_cell_work *work)
{
    ifm_rules_command(work);
    for (size_t a = 0; work->record != NULL && a < work->cell->n_arms; a++) {
        struct checks checks = gather_checks(work, work->arms[a].arm->name);
        struct ifm_loss_fact loss = ifm_derive_loss(work, work->arms[a].arm->name);
        if (work->arms[a].failed) /* it has no number that could be wrong */
            continue;
        check_output(&work->arms[a], &checks, &loss);
        check_feature(&work->arms[a]);
        check_equal(&work->arms[a]);
    }
    spread_to_comparisons(work);
}
