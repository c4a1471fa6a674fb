/* Numbers and findings of arms that keep their content compressed: bytes, what the output lost, and against what.
 *
 * The loss is not the error: the error is the kernel's, against an oracle on the same stored values; the loss is what
 * the stored values themselves do to the output. A speed is never shown without both (rule 10). */
#include "derive/internal.h"
#include "derive/picture/frontier.h"

#include "base/text.h"
#include "model/plan_json.h"
#include <math.h>
#include <string.h>

/* The larger of two, either of which may be unknown. */
static double larger(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

struct ifm_loss_fact ifm_derive_loss(const struct ifm_cell_work *work, const char *arm)
{
    struct ifm_loss_fact out = {.rms_rel = NAN, .p99_rel = NAN, .cosine = NAN, .kl = NAN, .tv = NAN};
    IFM_EACH_TOLD(event, work, check, arm) {
        const struct ifm_event_check *check = IFM_FACTS(event, check);
        const struct ifm_event_loss *loss = check->loss;
        if (loss == NULL)
            continue;
        out.seen = true;
        out.dropped |= loss->kl < 0;
        out.values = check->values == IFM_ABSENT ? 0 : check->values;
        out.rms_rel = larger(out.rms_rel, loss->rms_rel);
        out.p99_rel = larger(out.p99_rel, loss->p99_rel);
        out.cosine = -larger(-out.cosine, -loss->cosine);
        out.kl = larger(out.kl, loss->kl < 0 ? NAN : loss->kl);
        out.tv = larger(out.tv, loss->tv);
    }
    return out;
}

bool ifm_derive_owes_loss(const struct ifm_arm *arm, const struct ifm_loss_fact *loss)
{
    return loss->seen || (arm->lossy && arm->stored > 0);
}

static struct ifm_value no_loss(const struct ifm_cell_work *work)
{
    bool missing = work->record == NULL && work->missing[0] != '\0';
    return ifm_value_absent(missing ? work->missing : "no check recorded what compression did to the output", "", 0,
                            "values");
}

/* A member that does not apply (matrix products have no attention weights) gives no number at all. */
static void emit_losses(const struct ifm_arm_work *arm, const struct ifm_loss_fact *loss)
{
    const struct {
        enum ifm_metric_id metric;
        double number;
    } members[] = {{IFM_M_LOSS_RMS_REL, loss->rms_rel},
                   {IFM_M_LOSS_P99_REL, loss->p99_rel},
                   {IFM_M_LOSS_COSINE, loss->cosine},
                   {IFM_M_ATTENTION_KL_NATS, loss->dropped ? NAN : loss->kl},
                   {IFM_M_ATTENTION_TV, loss->tv}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        enum ifm_metric_id metric = members[i].metric;
        if (!isnan(members[i].number))
            ifm_derive_emit(arm, metric, ifm_value_real(members[i].number, loss->values, "values"));
        else if (metric == IFM_M_LOSS_RMS_REL)
            ifm_derive_emit(arm, metric, no_loss(arm->work));
        else if (metric == IFM_M_ATTENTION_KL_NATS && loss->dropped)
            ifm_derive_emit(arm, metric,
                            ifm_value_absent("tokens were dropped, so the divergence is infinite; see attention_tv", "",
                                             loss->values, "values"));
    }
}

/* |x - exact| <= |x - ref| + |ref - exact|, and |ref| <= (1 + loss) |exact|: what the kernel and the compression can
 * have done together. */
static struct ifm_value total_error(const struct ifm_cell_work *work, const struct ifm_arm *arm,
                                    const struct ifm_value *error_rms, const struct ifm_loss_fact *loss)
{
    if (error_rms->state != IFM_STATE_OK || !ifm_derive_owes_loss(arm, loss))
        return *error_rms;
    if (isnan(loss->rms_rel))
        return no_loss(work);
    return ifm_value_real(error_rms->number * (1.0 + loss->rms_rel) + loss->rms_rel, error_rms->n, error_rms->n_of);
}

static void emit_stored(const struct ifm_arm_work *arm)
{
    double stored = (double)arm->arm->stored, plain = (double)arm->arm->stored_plain;
    if (stored <= 0 || plain <= 0)
        return;
    struct ifm_value bytes = ifm_value_real(stored, 0, "");
    bytes.is_integer = true;
    ifm_derive_emit(arm, IFM_M_STORED_BYTES, bytes);
    ifm_derive_emit(arm, IFM_M_COMPRESSION_RATIO, ifm_value_real(plain / stored, 0, ""));
    ifm_derive_emit(arm, IFM_M_BITS_PER_VALUE, ifm_value_real(16.0 * stored / plain, 0, ""));
}

void ifm_derive_compression(const struct ifm_arm_work *arm, const struct ifm_value *error_rms)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_loss_fact loss = ifm_derive_loss(work, arm->arm->name);
    bool owes = ifm_derive_owes_loss(arm->arm, &loss);
    if (owes || ifm_derive_is_wanted(work, IFM_M_TOTAL_ERROR_RMS_REL))
        ifm_derive_emit(arm, IFM_M_TOTAL_ERROR_RMS_REL, total_error(work, arm->arm, error_rms, &loss));
    if (owes)
        emit_losses(arm, &loss);
    emit_stored(arm);
}

void ifm_derive_bytes_ratio(const struct ifm_arm_work *arm)
{
    double own = ifm_ceiling_amount(arm->arm, IFM_CEILING_COPY);
    double base = ifm_ceiling_amount(arm->work->baseline->arm, IFM_CEILING_COPY);
    if (arm->arm->stored > 0 && own > 0 && base > 0)
        ifm_derive_emit(arm, IFM_M_BYTES_RATIO, ifm_value_real(base / own, 0, ""));
}

/* ---- findings ---- */

bool ifm_derive_is_compressed(const struct ifm_arm_work *arm)
{
    return arm->arm->lossy && arm->arm->stored > 0 && ifm_derive_is_compared(arm);
}

bool ifm_derive_is_withheld(const struct ifm_arm_work *arm)
{
    return arm->work->record == NULL || arm->d->refusal.rule != NULL || arm->work->refusal.rule != NULL ||
           arm->refusal.rule != NULL || arm->broken != NULL;
}

/* In per cent; cut where rounding would show 89.97 % as the 90.0 % that it misses. */
double ifm_shown_below(double share, double bar)
{
    const double shown = round(1000.0 * share) / 10.0;
    return shown >= 100.0 * bar ? floor(1000.0 * share) / 10.0 : shown;
}

void ifm_derive_say_weak(const struct ifm_cell_work *work, double percent, const char *ceiling, double bar,
                         const char *left, const char *rest)
{
    struct ifm_arena *arena = work->d->arena;
    const char *share = ifm_arena_printf(arena, "%.1f %% of its %s ceiling", percent, ceiling);
    const char *brief =
        ifm_arena_printf(arena, "%s reaches only %s, below %.0f %%", work->baseline->arm->name, share, 100.0 * bar);
    struct ifm_finding *said = ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "rule-03", "the baseline %s%s%s%s",
                                                   brief, left == NULL ? "" : ", and one that reached it would leave ",
                                                   left == NULL ? "" : left, rest);
    said->kind = IFM_FINDING_WEAK_BASELINE;
    said->weak = (struct ifm_weakness){share, brief, left};
}

/* An exact arm whose speed-up its bytes and operations do not explain is held to the same bars: what it gains it may
 * gain from the baseline's weakness alone. */
static void say_weak_rival(const struct ifm_cell_work *work)
{
    struct ifm_nearest nearest;
    bool beyond = false;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const char *arm = work->arms[a].arm->name;
        const struct ifm_value *speedup = ifm_derived_value(work->d->out, work->cell->name, arm, IFM_M_SPEEDUP);
        beyond |= ifm_is_ok(speedup) && !ifm_is_empty(speedup->text);
    }
    if (!beyond || !ifm_derive_nearest(work->baseline, &nearest))
        return;
    const double bar = nearest.of_operations ? IFM_LIMITED_BY_OPERATIONS : IFM_BASELINE_AT_LEAST;
    if (nearest.share < bar && nearest.high < bar)
        ifm_derive_say_weak(work, ifm_shown_below(nearest.share, bar), nearest.ceiling, bar, NULL,
                            ": speed-ups beyond fewer bytes and operations tell of the baseline's weakness too");
}

static bool same_work(const struct ifm_ledger *a, const struct ifm_ledger *b)
{
    return a->tokens_generated == b->tokens_generated && a->tokens_prompt == b->tokens_prompt && a->rows == b->rows;
}

static struct ifm_frontier_point point_of(const struct ifm_arm_work *arm)
{
    struct ifm_frontier_point out = {.stored = arm->arm->stored};
    if (arm->arm->stored == 0 || ifm_derive_is_withheld(arm) ||
        !same_work(&arm->arm->ledger, &arm->work->baseline->arm->ledger))
        return out;
    struct ifm_loss_fact loss = ifm_derive_loss(arm->work, arm->arm->name);
    struct ifm_value step = ifm_derive_step_value(arm, NULL);
    out.known = step.state == IFM_STATE_OK && step.has_interval &&
                !(ifm_derive_owes_loss(arm->arm, &loss) && isnan(loss.rms_rel));
    out.loss = isnan(loss.rms_rel) ? 0.0 : loss.rms_rel;
    out.step_low = step.low;
    out.step_high = step.high;
    return out;
}

static void say_dominated(const struct ifm_cell_work *work)
{
    size_t n = work->cell->n_arms, *by = IFM_ARENA_ARRAY(work->d->arena, size_t, n + 1);
    struct ifm_frontier_point *points = IFM_ARENA_ARRAY(work->d->arena, struct ifm_frontier_point, n + 1);
    for (size_t a = 0; a < n; a++)
        points[a] = point_of(&work->arms[a]);
    ifm_frontier_mark(points, n, by);
    for (size_t a = 0; a < n; a++) {
        if (by[a] == n)
            continue;
        char own[48], other[48];
        const struct ifm_frontier_point *mine = &points[a], *best = &points[by[a]];
        ifm_derive_say_arm(&work->arms[a], IFM_SEVERITY_NOTE, "",
                           "off the frontier: %s stores no more (%s against %s), loses no more of the output (%.3g "
                           "against %.3g) and is "
                           "faster, the intervals of step_ns apart",
                           work->cell->arms[by[a]].name, ifm_format_human((double)best->stored, "B", other),
                           ifm_format_human((double)mine->stored, "B", own), best->loss, mine->loss);
    }
}

void ifm_derive_say_compression(const struct ifm_cell_work *work)
{
    size_t compressed = 0;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *arm = &work->arms[a];
        if (!ifm_derive_is_compressed(arm) || ifm_derive_is_withheld(arm))
            continue;
        compressed++;
        if (arm->cache_resident && !work->baseline->cache_resident)
            ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-03",
                               "the arm's working set is served by caches and the baseline's by memory: its speed-up "
                               "is not that of moving fewer bytes alone")
                ->kind = IFM_FINDING_CACHES;
    }
    if (compressed == 0) {
        if (work->baseline != NULL && !ifm_derive_is_withheld(work->baseline))
            say_weak_rival(work);
        return;
    }
    say_dominated(work);
}
