/* One gate on one number: three answers where the number has an interval, two where its value decides alone.
 *
 * pass: the interval lies wholly on the good side of the threshold; fail: wholly on the other one; else inconclusive.
 * So more noise never makes an arm fail, and equal code is not failed for being measured badly. */
#include "judge/internal.h"

#include "stats/foretell.h"
#include <math.h>
#include <string.h>

bool ifm_judge_by_interval(const struct ifm_gate *gate, const struct ifm_value *v)
{
    bool limit = ifm_metrics[ifm_metric_of(gate->metric)].kind == IFM_CLASS_CEILING;
    return gate->interval && (v->has_interval || !limit);
}

static bool satisfies(const struct ifm_gate *gate, double number)
{
    return gate->op == IFM_GATE_AT_MOST ? number <= gate->threshold : number >= gate->threshold;
}

/* ---- how many more ---- */

/* Ratios spread evenly in their logarithms, and a change in percent is a ratio. */
static double on_scale(const struct ifm_value *v, double number, bool ratio)
{
    return !ratio ? number : strcmp(v->unit, "%") == 0 ? log1p(number / 100.0) : log(number);
}

/* Observations in all after which the interval probably lies on one side; 0 = no sensible number. */
static uint64_t foretell(const struct ifm_gate *gate, const struct ifm_value *v)
{
    bool percent = strcmp(v->unit, "%") == 0;
    double least = percent ? -100.0 : 0.0, bound = gate->threshold;
    bool ratio = v->low > least && bound > least;
    double at = on_scale(v, v->number, ratio);
    double room = fabs(on_scale(v, bound, ratio) - at);
    double half = fabs(on_scale(v, bound > v->number ? v->high : v->low, ratio) - at);
    half *= v->caution > 1 ? v->caution : 1;
    return v->n < 2 ? 0 : ifm_stats_foretell_half(room, half, (uint64_t)v->n, v->level);
}

/* ---- in words ---- */

/* So many significant digits, in full where that is not long: 100030 and not 1e+05. */
static const char *shown(double number, int digits, struct ifm_arena *arena)
{
    double size = fabs(number);
    if (size < 1e-4 || size >= 1e15)
        return ifm_arena_printf(arena, "%.*g", digits, number);
    int decimals = digits - 1 - (int)floor(log10(size));
    char *text = ifm_arena_printf(arena, "%.*f", decimals > 0 ? decimals : 0, number);
    for (size_t end = strlen(text); decimals > 0 && (text[end - 1] == '0' || text[end - 1] == '.'); end--) {
        bool point = text[end - 1] == '.';
        text[end - 1] = '\0';
        if (point)
            break;
    }
    return text;
}

struct ifm_metric_told ifm_judge_told(const struct ifm_gate *gate)
{
    const enum ifm_metric_id metric = ifm_metric_of(gate->metric);
    return metric == IFM_M_NONE ? (struct ifm_metric_told){gate->metric, "", 1} : ifm_metric_told(metric);
}

const char *ifm_judge_gate_name(const struct ifm_gate *gate)
{
    return gate->name == NULL || gate->name[0] == '\0' || strcmp(gate->name, gate->metric) == 0
               ? ifm_judge_told(gate).name
               : gate->name;
}

/* A number and the gate's threshold in the unit that people read. */
struct gate_reading {
    struct ifm_metric_told told;
    double number, low, high, level, threshold;
    bool interval; /* decides */
};

static struct gate_reading reading_of(const struct ifm_gate *gate, const struct ifm_value *v)
{
    const struct ifm_metric_told told = ifm_judge_told(gate);
    return (struct gate_reading){
        .told = {told.name, told.factor == 1 ? v->unit : told.unit, told.factor},
        .number = told.factor * v->number,
        .low = told.factor * v->low,
        .high = told.factor * v->high,
        .level = v->level,
        .threshold = told.factor * gate->threshold,
        .interval = ifm_judge_by_interval(gate, v),
    };
}

static bool are_alike(double a, double b, int digits, struct ifm_arena *arena)
{
    return a != b && strcmp(shown(a, digits, arena), shown(b, digits, arena)) == 0;
}

/* Digits that keep the number and its ends apart from the threshold, three where they do; and those of a percentage
 * from each other, which tables show as they are here. */
static int digits_of(const struct gate_reading *r, struct ifm_arena *arena)
{
    const double numbers[] = {r->number, r->low, r->high};
    const bool ends = r->interval && strcmp(r->told.unit, "%") == 0;
    int digits = 3;
    for (size_t i = 0; i < (r->interval ? 3 : 1); i++)
        while (digits < 15 && (are_alike(numbers[i], r->threshold, digits, arena) ||
                               (ends && i > 0 && are_alike(r->number, numbers[i], digits, arena))))
            digits++;
    return digits;
}

/* A change in time as the tables tell it: " (0.667x the speed)". */
static const char *as_speed(const struct ifm_gate *gate, const struct ifm_value *v, int digits, struct ifm_arena *arena)
{
    if (ifm_metric_of(gate->metric) != IFM_M_CHANGE_PERCENT || !(v->number > -100))
        return "";
    const double speed = 1 / (1 + v->number / 100);
    return digits <= 3 && fabs(speed - 1) < 0.1
               ? ifm_arena_printf(arena, " (%.3fx the speed)", speed)
               : ifm_arena_printf(arena, " (%sx the speed)", shown(speed, digits, arena));
}

void ifm_judge_seen(const struct ifm_gate *gate, const struct ifm_value *v, struct ifm_arena *arena,
                    const char **number, const char **range)
{
    const struct gate_reading r = reading_of(gate, v);
    const int digits = digits_of(&r, arena);
    *number = ifm_arena_printf(arena, "%s %s", shown(r.number, digits, arena), r.told.unit);
    *range = !v->has_interval
                 ? ""
                 : ifm_arena_printf(arena, "[%s, %s]", shown(r.low, digits, arena), shown(r.high, digits, arena));
}

/* "speed-up is 1.86 [1.84, 1.88]"; its level where it is not 95 %. */
static const char *observed(const struct gate_reading *r, int digits, struct ifm_arena *arena)
{
    bool bare = strcmp(r->told.unit, "1") == 0; /* a pure number has no unit to name */
    const char *number = ifm_arena_printf(arena, "%s is %s%s%s", r->told.name, shown(r->number, digits, arena),
                                          bare ? "" : " ", bare ? "" : r->told.unit);
    if (!r->interval)
        return number;
    const char *level = fabs(r->level - 0.95) < 1e-9 ? "" : ifm_arena_printf(arena, " at %.4g %%", 100.0 * r->level);
    return ifm_arena_printf(arena, "%s [%s, %s]%s", number, shown(r->low, digits, arena), shown(r->high, digits, arena),
                            level);
}

static const char *what_would_help(const struct ifm_gate_result *result, bool foretells, struct ifm_arena *arena)
{
    const char *of = result->further_of;
    if (!foretells)
        return IFM_TOO_FEW_TO_FORETELL;
    if (result->further == 0)
        return ifm_arena_printf(arena,
                                "the estimate is within its noise of it, so that no number of %s can be foretold; four "
                                "times as many about halve the interval",
                                of);
    return ifm_arena_printf(arena, "about %llu more %s would probably decide", (unsigned long long)result->further, of);
}

static const char *side_of(bool most, bool passed)
{
    return passed ? most ? "at or below" : "at or above" : most ? "above" : "below";
}

bool ifm_judge_is_open(const struct ifm_gate *gate, const struct ifm_value *v)
{
    return ifm_judge_by_interval(gate, v) && v->has_interval && satisfies(gate, v->low) != satisfies(gate, v->high);
}

const char *ifm_judge_held(const struct ifm_gate *gate, const struct ifm_value *v, struct ifm_arena *arena)
{
    const bool most = gate->op == IFM_GATE_AT_MOST, passed = satisfies(gate, v->low);
    const struct gate_reading reading = reading_of(gate, v);
    enum { OF_LIMITS = 6 }; /* a limit is somebody's own number */
    const int digits = digits_of(&reading, arena);
    const char *bound = shown(reading.threshold, digits > OF_LIMITS ? digits : OF_LIMITS, arena);
    const char *what =
        ifm_arena_printf(arena, "%s%s", observed(&reading, digits, arena), as_speed(gate, v, digits, arena));
    if (strcmp(reading.told.unit, "1") != 0)
        bound = ifm_arena_printf(arena, "%s %s", bound, reading.told.unit);
    if (!reading.interval)
        return ifm_arena_printf(arena, "%s, %s %s (the value alone, without an interval)", what,
                                side_of(most, satisfies(gate, v->number)), bound);
    if (passed != satisfies(gate, v->high))
        return ifm_arena_printf(arena, "%s, on both sides of %s", what, bound);
    return ifm_arena_printf(arena, "%s, wholly %s %s", what, side_of(most, passed), bound);
}

/* ---- the answer ---- */

void ifm_judge_decide(struct ifm_gate_result *result, const struct ifm_value *v, const struct ifm_derived *derived,
                      struct ifm_arena *arena)
{
    const struct ifm_gate *gate = result->gate;
    const enum ifm_metric_id metric = ifm_metric_of(result->gate->metric);
    const bool foretells =
        ifm_metrics[metric].kind != IFM_CLASS_COMPARE || ifm_derived_foretells(derived, result->cell, result->arm);
    result->observed = *v;
    if (!ifm_judge_by_interval(gate, v)) {
        result->outcome = satisfies(gate, v->number) ? IFM_OUTCOME_PASS : IFM_OUTCOME_FAIL;
    } else if (satisfies(gate, v->low) == satisfies(gate, v->high)) {
        result->outcome = satisfies(gate, v->low) ? IFM_OUTCOME_PASS : IFM_OUTCOME_FAIL;
    } else {
        const bool blocks = metric == IFM_M_CHANGE_PERCENT || metric == IFM_M_SPEEDUP;
        result->outcome = IFM_OUTCOME_INCONCLUSIVE;
        result->further =
            ifm_stats_foretell_more(foretells ? foretell(gate, v) : 0, (uint64_t)v->n,
                                    blocks ? ifm_derived_blocks_each(derived, result->cell, result->arm) : 1);
        result->further_of = v->n_of[0] != '\0' ? v->n_of : "observations";
    }
    result->reason = ifm_judge_held(gate, v, arena);
    if (ifm_metric_of(gate->metric) == IFM_M_CHANGE_CPU_PERCENT)
        result->reason =
            ifm_arena_printf(arena, "%s (CPU time per run: waiting, I/O and GPUs are not in it)", result->reason);
    if (result->outcome == IFM_OUTCOME_INCONCLUSIVE)
        result->reason = ifm_arena_printf(arena, "%s: %s", result->reason, what_would_help(result, foretells, arena));
}

/* By the limit of the gate, where it is one of a regression: nobody asked about another. */
static const char *side_of_time(const struct ifm_gate *gate, const struct ifm_value *change)
{
    return gate->op != IFM_GATE_AT_MOST || !change->has_interval ? change->text
           : change->high <= gate->threshold                     ? IFM_WITHIN_LIMIT " too"
           : change->low > gate->threshold                       ? "above the limit"
                                                                 : "on both sides of the limit";
}

const char *ifm_judge_beside_processor(const struct ifm_verdict *verdict, const struct ifm_derived *derived,
                                       struct ifm_arena *arena)
{
    const struct ifm_gate_result *of = NULL;
    for (size_t i = 0; i < verdict->n_gates; i++) {
        of = &verdict->gates[i];
        if (ifm_metric_of(of->gate->metric) != IFM_M_CHANGE_CPU_PERCENT)
            return "";
    }
    if (of == NULL)
        return "";
    const struct ifm_value *change = ifm_derived_value(derived, of->cell, of->arm, IFM_M_CHANGE_PERCENT);
    return ifm_is_ok(change) ? ifm_arena_printf(arena, "; its time is %s", side_of_time(of->gate, change)) : "";
}
