/* The numbers of one arm that come from its single samples, in time order. */
#include "derive/internal.h"
#include "stats/location.h"
#include "stats/tail.h"

#include <math.h>

#define TRIM 0.1 /* of the samples at either end, where measure.truncate does not say */

/* The samples of one arm: time per step, in time order and sorted. */
struct samples {
    size_t n, n_slots;
    double *series, *sorted, *scratch;
    double *slot_mean, *slot_median; /* [n_slots] */
    double *slot_worth;              /* [n_slots], room of worth() */
    size_t *slot_n;                  /* [n_slots] samples of each */
    struct ifm_moments moments;
    bool has_moments;
    double effective; /* independent samples that these are worth */
    bool tails;       /* every sample is one step */
};

/* x of data/metrics/time.txt: the time of a step in each sample of slot `k`, ns. Returns how many. */
static size_t times_of_slot(const struct ifm_record *record, size_t k, double *out)
{
    size_t n = 0;
    for (size_t i = record->first[k]; i < record->first[k + 1]; i++)
        out[n++] = (double)record->samples[i].duration_ns / (double)record->slots[k].inner;
    return n;
}

size_t ifm_derive_times(const struct ifm_facts_view *facts, size_t cell, size_t arm, size_t most, double *out)
{
    const struct ifm_record *record =
        facts->records == NULL || facts->max_passes == 0 ? NULL : facts->records[cell * facts->max_passes];
    size_t n = 0;
    for (size_t k = 0; record != NULL && k < record->n_slots; k++) {
        const struct ifm_slot *slot = &record->slots[k];
        if (slot->phase == IFM_PHASE_WARMUP || slot->arm != arm || slot->inner == 0)
            continue;
        if (record->first[k + 1] - record->first[k] > most - n)
            return 0;
        n += times_of_slot(record, k, out + n);
    }
    return n;
}

static void gather(const struct ifm_arm_work *arm, struct ifm_arena *arena, struct samples *s)
{
    s->series = IFM_ARENA_ARRAY(arena, double, arm->n_samples + 1);
    s->sorted = IFM_ARENA_ARRAY(arena, double, arm->n_samples + 1);
    s->scratch = IFM_ARENA_ARRAY(arena, double, 2 * arm->n_samples + 2);
    s->slot_mean = IFM_ARENA_ARRAY(arena, double, arm->n_slots + 1);
    s->slot_median = IFM_ARENA_ARRAY(arena, double, arm->n_slots + 1);
    s->slot_worth = IFM_ARENA_ARRAY(arena, double, arm->n_slots + 1);
    s->slot_n = IFM_ARENA_ARRAY(arena, size_t, arm->n_slots + 1);
    const struct ifm_slot *slot;
    for (size_t k = 0; (slot = ifm_next_slot(arm, &k)) != NULL; k++) {
        if (slot->inner == 0)
            continue;
        size_t start = s->n;
        s->n += times_of_slot(arm->work->record, k, s->series + start);
        size_t slot_n = s->n - start;
        double mean, median;
        if (ifm_stats_mean(s->series + start, slot_n, &mean) != IFM_STAT_OK ||
            ifm_stats_median(s->series + start, slot_n, s->scratch, &median) != IFM_STAT_OK)
            continue; /* an empty slot */
        s->slot_n[s->n_slots] = slot_n;
        s->slot_mean[s->n_slots] = mean;
        s->slot_median[s->n_slots++] = median;
    }
    for (size_t i = 0; i < s->n; i++)
        s->sorted[i] = s->series[i];
    ifm_stats_sort(s->sorted, s->scratch, s->n);
    s->tails = arm->inner_high <= 1;
}

/* Slots that lie in time order are worth fewer than their number when one resembles the one before it. */
static double independent_slots(const double *values, size_t n)
{
    double lag1, effective;
    if (ifm_stats_autocorrelation(values, n, &lag1) != IFM_STAT_OK ||
        ifm_stats_effective_size(n, lag1, &effective) != IFM_STAT_OK)
        return (double)n;
    return effective;
}

/* Does a slot resemble the one before it for certain (5 %)? Then samples are not what an interval may count. */
static bool slots_resemble(const struct samples *s)
{
    double lag1;
    return ifm_stats_autocorrelation(s->slot_mean, s->n_slots, &lag1) == IFM_STAT_OK &&
           lag1 > 1.645 / sqrt((double)s->n_slots);
}

/* The smaller of two effective sizes: lag 1 sees short memory, batch means over slots see what lasts a slot. */
static void weigh(struct samples *s, double *lag1, bool *has_lag1)
{
    s->has_moments = ifm_stats_moments(s->series, s->n, &s->moments) == IFM_STAT_OK;
    s->effective = (double)s->n;
    *has_lag1 = ifm_stats_autocorrelation(s->series, s->n, lag1) == IFM_STAT_OK;
    double effective;
    if (*has_lag1 && ifm_stats_effective_size(s->n, *lag1, &effective) == IFM_STAT_OK)
        s->effective = effective;
    if (s->has_moments && ifm_stats_effective_batches(s->slot_mean, s->n_slots, s->n, s->moments.sd * s->moments.sd,
                                                      &effective) == IFM_STAT_OK)
        s->effective = fmin(s->effective, effective);
}

/* Independent values that `x`, a number of each sample in time order, is worth: by lag 1, and by the means of slots,
 * where slots that resemble the one before count less. */
static double worth(const struct samples *s, const double *x)
{
    struct ifm_moments m;
    double lag1, effective, least = (double)s->n;
    if (ifm_stats_moments(x, s->n, &m) != IFM_STAT_OK || m.sd == 0)
        return least;
    if (ifm_stats_autocorrelation(x, s->n, &lag1) == IFM_STAT_OK &&
        ifm_stats_effective_size(s->n, lag1, &effective) == IFM_STAT_OK)
        least = effective;
    for (size_t k = 0, first = 0; k < s->n_slots; first += s->slot_n[k++])
        if (ifm_stats_mean(x + first, s->slot_n[k], &s->slot_worth[k]) != IFM_STAT_OK)
            return least;
    if (ifm_stats_effective_batches(s->slot_worth, s->n_slots, s->n, m.sd * m.sd, &effective) == IFM_STAT_OK)
        least = fmin(least, effective * independent_slots(s->slot_worth, s->n_slots) / (double)s->n_slots);
    return fmax(least, 1);
}

/* Of a quantile: also that of "lies at or below it", the only part of a sample that moves it (Woodruff, "Confidence
 * intervals for medians and other position measures", J. Am. Stat. Assoc. 47, 1952). Rare slow samples, which are
 * independent of each other, hide in the samples themselves that all others of a slot move together. */
static double worth_at(const struct samples *s, double quantile)
{
    for (size_t i = 0; i < s->n; i++)
        s->scratch[i] = s->series[i] <= quantile;
    return fmin(s->effective, worth(s, s->scratch));
}

/* Of the mean of the middle: also that of the samples with those at either end moved in to the last that count. */
static double worth_trimmed(const struct samples *s, size_t cut)
{
    for (size_t i = 0; i < s->n; i++)
        s->scratch[i] = fmin(fmax(s->series[i], s->sorted[cut]), s->sorted[s->n - cut - 1]);
    return fmin(s->effective, worth(s, s->scratch));
}

/* Resamples for an interval of a mean of n values, n <= 10,000: as many as the study asks for, or at most six million
 * draws, some 4 ms. */
static size_t resamples_for(const struct ifm_cell *cell, size_t n)
{
    size_t within = 6000000 / n;
    if (cell->measure.resamples > 0)
        return cell->measure.resamples;
    return within < 1999 ? within : 1999;
}

static struct ifm_resample_plan plan_of(const struct ifm_arm_work *arm, size_t resamples, size_t n,
                                        struct ifm_arena *scratch)
{
    return (struct ifm_resample_plan){.seed = ifm_derive_seed(arm),
                                      .resamples = resamples,
                                      .level = IFM_LEVEL,
                                      .scratch = IFM_ARENA_ARRAY(scratch, double, resamples + 2 * n)};
}

/* "no interval: needs 30 samples" */
static const char *no_interval(const struct ifm_arm_work *arm, enum ifm_stat stat, const char *needs)
{
    return ifm_arena_printf(arm->d->arena, "no interval: %s", stat == IFM_STAT_TOO_FEW ? needs : ifm_stat_reason(stat));
}

/* "needs 2100 samples: few of them carry the mean" */
static const char *needs_more(const struct ifm_arm_work *arm, enum ifm_tail tail, size_t needs, const char *n_of)
{
    return ifm_arena_printf(arm->d->arena, "needs %zu %s%s%s", needs, n_of, tail == IFM_TAIL_HOLDS ? "" : ": ",
                            ifm_tail_reason(tail));
}

/* The interval that the rule in stats/resample.h chooses for the mean of `n` values in time order, and its name as the
 * value's text; or no interval, and why as the text, where stats/tail.h or the rule refuses it. The values are means of
 * `runs` independent samples, or these themselves. */
static void bracket_mean(const struct ifm_arm_work *arm, const double *values, size_t n, double effective, double runs,
                         struct ifm_value *value)
{
    enum ifm_tail tail = IFM_TAIL_HOLDS;
    size_t needs = 0, resamples = resamples_for(arm->work->cell, n > 0 ? n : 1);
    struct ifm_resampled resampled;
    struct ifm_arena *scratch = ifm_arena_create();
    struct ifm_resample_plan plan = plan_of(arm, resamples, n, scratch);
    enum ifm_stat stat = ifm_stats_tail_mean(values, n, effective, runs, &plan, &resampled, &tail, &needs);
    if (stat == IFM_STAT_OK) {
        double shift = value->number - resampled.value; /* slots of unequal length: their mean is not quite the mean */
        ifm_value_bracket(value, resampled.interval.low + shift, resampled.interval.high + shift, IFM_LEVEL);
        value->text = ifm_mean_method_name(resampled.method);
    } else {
        value->text = no_interval(arm, stat, needs_more(arm, tail, needs, value->n_of));
    }
    ifm_arena_destroy(scratch);
}

static struct ifm_value mean_of(const struct ifm_arm_work *arm, const struct samples *s)
{
    double mean;
    enum ifm_stat stat = ifm_stats_mean(s->series, s->n, &mean);
    if (stat != IFM_STAT_OK)
        return ifm_value_no_stat(stat, (int64_t)s->n, "samples");
    struct ifm_value value = ifm_value_real(mean, (int64_t)s->n, "samples");
    double runs = ifm_stats_independent_runs(s->n, s->effective);
    if (s->n > IFM_SLOT_SUMMARY_ABOVE || slots_resemble(s)) {
        double slots = independent_slots(s->slot_mean, s->n_slots);
        value.n = (int64_t)s->n_slots;
        value.n_of = "slots";
        bracket_mean(arm, s->slot_mean, s->n_slots, slots, fmax(runs, slots), &value);
    } else {
        bracket_mean(arm, s->series, s->n, s->effective, runs, &value);
    }
    return value;
}

/* Slots that resemble each other, and are worth fewer, tell too little of how much the level moves. */
enum { LEAST_SLOTS = 50 };

/* The mean of the middle, whatever the order of the samples; its interval knows what they are worth. */
static struct ifm_value trimmed_of(const struct ifm_arm_work *arm, const struct samples *s)
{
    const double truncate = arm->work->cell->measure.truncate, trim = truncate > 0 ? truncate / 100 : TRIM;
    struct ifm_trimmed trimmed;
    size_t cut = (size_t)floor(trim * (double)s->n + 1e-9);
    double mean;
    if (s->n == 0 || ifm_stats_mean(s->sorted + cut, s->n - 2 * cut, &mean) != IFM_STAT_OK)
        return ifm_value_no_stat(IFM_STAT_EMPTY, 0, "samples");
    struct ifm_value value = ifm_value_real(mean, (int64_t)s->n, "samples");
    const double slots = independent_slots(s->slot_mean, s->n_slots);
    if (slots < LEAST_SLOTS && slots_resemble(s)) {
        value.text = ifm_arena_printf(arm->d->arena, "no interval: needs %d independent slots, has %.0f", LEAST_SLOTS,
                                      floor(slots));
        return value;
    }
    enum ifm_stat stat = ifm_stats_trimmed_series(s->sorted, s->n, worth_trimmed(s, cut), trim, IFM_LEVEL, &trimmed);
    if (stat == IFM_STAT_OK)
        ifm_value_bracket(&value, trimmed.interval.low, trimmed.interval.high, IFM_LEVEL);
    else
        value.text = no_interval(arm, stat, ifm_arena_printf(arm->d->arena, "needs %d samples", IFM_TRIMMED_SERIES));
    return value;
}

/* Median of all samples with the order-statistic interval of the slot medians, made to hold the number itself. */
static void bracket_by_slots(struct samples *s, struct ifm_value *value)
{
    struct ifm_interval interval;
    value->n = (int64_t)s->n_slots;
    value->n_of = "slots";
    size_t effective = (size_t)independent_slots(s->slot_median, s->n_slots); /* while they are in time order */
    ifm_stats_sort(s->slot_median, s->scratch, s->n_slots);
    if (ifm_stats_quantile_interval(s->slot_median, s->n_slots, effective, 0.5, IFM_LEVEL, &interval, NULL) ==
        IFM_STAT_OK)
        ifm_value_bracket(value, fmin(interval.low, value->number), fmax(interval.high, value->number), IFM_LEVEL);
}

static struct ifm_value quantile_of(struct samples *s, const struct ifm_arm_work *arm, double p)
{
    if (!s->tails && p > 0.5)
        return ifm_value_absent(
            ifm_arena_printf(arm->d->arena, "a sample is the mean of %u steps, whose tail is not the tail of a step",
                             (unsigned)arm->inner_high),
            "--inner 1, where one step is long enough for the clock", (int64_t)s->n, "samples");
    double number;
    struct ifm_interval interval;
    size_t needs = 0;
    enum ifm_stat stat = ifm_stats_quantile_sorted(s->sorted, s->n, p, &number);
    if (stat != IFM_STAT_OK)
        return ifm_value_no_stat(stat, (int64_t)s->n, "samples");
    struct ifm_value value = ifm_value_real(number, (int64_t)s->n, "samples");
    if (p == 0.5 && s->n > IFM_SLOT_SUMMARY_ABOVE) {
        bracket_by_slots(s, &value);
        return value;
    }
    if (p == 0.5 && s->n < IFM_MEDIAN_SERIES && s->n >= IFM_BLOCKS_NEEDED)
        return value; /* the samples may depend on each other without showing it */
    const size_t effective = (size_t)worth_at(s, number);
    stat = ifm_stats_quantile_interval(s->sorted, s->n, effective, p, IFM_LEVEL, &interval, &needs);
    if (stat == IFM_STAT_TOO_FEW && p == 0.5 && s->n >= IFM_BLOCKS_NEEDED)
        return value; /* a median stands without an interval; a tail does not */
    if (stat == IFM_STAT_TOO_FEW)
        return ifm_value_absent(
            ifm_arena_printf(arm->d->arena, "n too small: needs %zu independent samples, has %zu", needs, effective),
            ifm_derive_more(arm->work, "samples"), (int64_t)s->n, "samples");
    if (stat == IFM_STAT_OK)
        ifm_value_bracket(&value, interval.low, interval.high, IFM_LEVEL);
    return value;
}

/* The median of all samples again, with the interval of as many resamples as the study asks for; each is as large as
 * what the samples are worth. */
static struct ifm_value resampled_median_of(const struct ifm_arm_work *arm, const struct samples *s)
{
    double median;
    enum ifm_stat stat = ifm_stats_quantile_sorted(s->sorted, s->n, 0.5, &median);
    if (stat != IFM_STAT_OK)
        return ifm_value_no_stat(stat, (int64_t)s->n, "samples");
    struct ifm_value value = ifm_value_real(median, (int64_t)s->n, "samples");
    const double effective = worth_at(s, median);
    struct ifm_arena *scratch = ifm_arena_create();
    const size_t resamples = arm->work->cell->measure.resamples;
    struct ifm_resample_plan plan = plan_of(arm, resamples, s->n, scratch);
    struct ifm_resampled resampled;
    stat = ifm_stats_bootstrap_median(s->sorted, s->n, effective, &plan, &resampled);
    if (stat == IFM_STAT_OK) {
        ifm_value_bracket(&value, resampled.interval.low, resampled.interval.high, IFM_LEVEL);
        value.text =
            ifm_arena_printf(arm->d->arena, "percentile bootstrap, %zu resamples of %zu", resamples, (size_t)effective);
    } else {
        value.text = no_interval(arm, stat,
                                 ifm_arena_printf(arm->d->arena, "needs %d independent samples, has %zu",
                                                  2 * IFM_ORDER_NEEDED - 1, (size_t)effective));
    }
    ifm_arena_destroy(scratch);
    return value;
}

enum ifm_stat ifm_derive_trend(const struct ifm_arm_work *arm, double *mid_ns, size_t *n, struct ifm_slope *line)
{
    struct ifm_arena *scratch = ifm_arena_create();
    double *logs = IFM_ARENA_ARRAY(scratch, double, arm->work->n_blocks + 1);
    *n = ifm_arm_logs(arm, NULL, logs, mid_ns);
    enum ifm_stat stat = arm->broken != NULL || *n < IFM_BLOCKS_NEEDED
                             ? IFM_STAT_TOO_FEW
                             : ifm_stats_slope(mid_ns, logs, *n, IFM_LEVEL, line);
    ifm_arena_destroy(scratch);
    return stat;
}

/* Change of the fitted line over the whole pass, in percent, from block means. */
static struct ifm_value drift_of(const struct ifm_arm_work *arm)
{
    double *mid = IFM_ARENA_ARRAY(arm->d->arena, double, arm->work->n_blocks + 1);
    size_t n = 0;
    struct ifm_slope line;
    enum ifm_stat stat = ifm_derive_trend(arm, mid, &n, &line);
    if (arm->broken != NULL || n < IFM_BLOCKS_NEEDED)
        return ifm_value_absent(arm->broken != NULL ? arm->broken : ifm_needs_blocks(arm->d->arena, n), "", (int64_t)n,
                                "blocks");
    if (stat != IFM_STAT_OK)
        return ifm_value_no_stat(stat, (int64_t)n, "blocks");
    double span = mid[n - 1] - mid[0];
    struct ifm_interval interval = {line.interval.low * span, line.interval.high * span};
    return ifm_value_of_change(line.slope * span, interval, IFM_LEVEL, n, "blocks");
}

static void emit_series(const struct ifm_arm_work *arm, struct samples *s)
{
    int64_t n = (int64_t)s->n;
    double lag1, cv = 0;
    bool has_lag1;
    size_t outside = 0;
    weigh(s, &lag1, &has_lag1);
    enum ifm_stat stat = s->has_moments ? IFM_STAT_OK : n < 1 ? IFM_STAT_EMPTY : IFM_STAT_TOO_FEW;
    ifm_derive_emit(arm, IFM_M_LATENCY_NS_SD, ifm_value_of_stat(stat, s->moments.sd, n, "samples"));
    stat = ifm_stats_cv(s->series, s->n, &cv);
    ifm_derive_emit(arm, IFM_M_LATENCY_CV_PERCENT, ifm_value_of_stat(stat, 100.0 * cv, n, "samples"));
    ifm_derive_emit(arm, IFM_M_AUTOCORRELATION_LAG1,
                    has_lag1
                        ? ifm_value_real(lag1, n, "samples")
                        : ifm_value_absent(n < 10 ? "needs 10 samples" : "all samples are equal", "", n, "samples"));
    ifm_derive_emit(arm, IFM_M_EFFECTIVE_SAMPLES, ifm_value_count_of((int64_t)s->effective, n, "samples"));
    stat = ifm_stats_outliers(s->sorted, s->n, s->scratch, &outside);
    ifm_derive_emit(arm, IFM_M_OUTLIERS_COUNT,
                    stat == IFM_STAT_OK ? ifm_value_count_of((int64_t)outside, n, "samples")
                                        : ifm_value_no_stat(stat, n, "samples"));
}

static void emit_counts(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    ifm_derive_emit(arm, IFM_M_SAMPLES_COUNT, ifm_value_count((int64_t)arm->n_samples, "samples"));
    ifm_derive_emit(arm, IFM_M_SLOTS_COUNT, ifm_value_count((int64_t)arm->n_slots, "slots"));
    ifm_derive_emit(arm, IFM_M_BLOCKS_COUNT, ifm_value_count((int64_t)arm->n_blocks, "blocks"));
    ifm_derive_emit(arm, IFM_M_BLOCKS_MARKED,
                    work->marks_unknown == NULL ? ifm_value_count((int64_t)work->n_marked, "blocks")
                                                : ifm_value_absent(work->marks_unknown, "", 0, "blocks"));
    ifm_derive_emit(arm, IFM_M_WARMUP_SAMPLES, ifm_value_count((int64_t)arm->n_warmup, "samples"));
    if (arm->n_slots > 0 && arm->inner_low == arm->inner_high)
        ifm_derive_emit(arm, IFM_M_INNER_STEPS, ifm_value_count(arm->inner_high, "steps"));
    else
        ifm_derive_emit(arm, IFM_M_INNER_STEPS,
                        ifm_value_absent(arm->n_slots == 0 ? "no slot was recorded" : "it differs between slots", "",
                                         (int64_t)arm->n_slots, "slots"));
}

void ifm_derive_latency(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    static const struct {
        enum ifm_metric_id metric;
        double p;
    } quantiles[] = {{IFM_M_LATENCY_NS_P50, 0.5},
                     {IFM_M_LATENCY_NS_P90, 0.9},
                     {IFM_M_LATENCY_NS_P95, 0.95},
                     {IFM_M_LATENCY_NS_P99, 0.99},
                     {IFM_M_LATENCY_NS_P999, 0.999}};
    if (work->record == NULL) {
        static const enum ifm_metric_id made[] = {
            IFM_M_LATENCY_NS_MEAN, IFM_M_LATENCY_NS_TRIMMED_MEAN, IFM_M_LATENCY_NS_P50,
            IFM_M_LATENCY_NS_P90,  IFM_M_LATENCY_NS_P95,          IFM_M_LATENCY_NS_P99,
            IFM_M_LATENCY_NS_P999, IFM_M_LATENCY_NS_SD,           IFM_M_LATENCY_CV_PERCENT,
            IFM_M_DRIFT_PERCENT,   IFM_M_AUTOCORRELATION_LAG1,    IFM_M_EFFECTIVE_SAMPLES,
            IFM_M_OUTLIERS_COUNT,  IFM_M_SAMPLES_COUNT,           IFM_M_SLOTS_COUNT,
            IFM_M_BLOCKS_COUNT,    IFM_M_BLOCKS_MARKED,           IFM_M_WARMUP_SAMPLES,
            IFM_M_INNER_STEPS};
        for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
            ifm_derive_emit(arm, made[i], ifm_value_missing(work, ""));
        if (work->cell->measure.resamples > 0)
            ifm_derive_emit(arm, IFM_M_LATENCY_NS_P50_BOOTSTRAP, ifm_value_missing(work, ""));
        return;
    }
    struct ifm_arena *scratch = ifm_arena_create();
    struct samples s = {0};
    gather(arm, scratch, &s);
    emit_series(arm, &s);
    ifm_derive_emit(arm, IFM_M_LATENCY_NS_MEAN, mean_of(arm, &s));
    ifm_derive_emit(arm, IFM_M_LATENCY_NS_TRIMMED_MEAN, trimmed_of(arm, &s));
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++)
        ifm_derive_emit(arm, quantiles[i].metric, quantile_of(&s, arm, quantiles[i].p));
    if (work->cell->measure.resamples > 0)
        ifm_derive_emit(arm, IFM_M_LATENCY_NS_P50_BOOTSTRAP, resampled_median_of(arm, &s));
    ifm_derive_emit(arm, IFM_M_DRIFT_PERCENT, drift_of(arm));
    emit_counts(arm);
    ifm_arena_destroy(scratch);
}
