/* The table of metrics, and the one way by which a number leaves derive. */
#include "derive/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct ifm_metric_row ifm_metric_rows[IFM_M_COUNT] = {
    [IFM_M_STEP_NS] = {"step_ns", "ns", IFM_CLASS_TIME},
    [IFM_M_STEP_NS_WITHOUT_MARKED] = {"step_ns_without_marked", "ns", IFM_CLASS_TIME},
    [IFM_M_LATENCY_MEAN] = {"latency_ns_mean", "ns", IFM_CLASS_TIME},
    [IFM_M_LATENCY_TRIMMED] = {"latency_ns_trimmed_mean", "ns", IFM_CLASS_TIME},
    [IFM_M_LATENCY_P50] = {"latency_ns_p50", "ns", IFM_CLASS_TIME},
    [IFM_M_LATENCY_P90] = {"latency_ns_p90", "ns", IFM_CLASS_TIME},
    [IFM_M_LATENCY_P95] = {"latency_ns_p95", "ns", IFM_CLASS_TIME},
    [IFM_M_LATENCY_P99] = {"latency_ns_p99", "ns", IFM_CLASS_TIME},
    [IFM_M_LATENCY_P999] = {"latency_ns_p999", "ns", IFM_CLASS_TIME},
    [IFM_M_LATENCY_SD] = {"latency_ns_sd", "ns", IFM_CLASS_TIME},
    [IFM_M_LATENCY_CV] = {"latency_cv_percent", "%", IFM_CLASS_TIME},
    [IFM_M_DRIFT] = {"drift_percent", "%", IFM_CLASS_TIME},
    [IFM_M_AUTOCORRELATION] = {"autocorrelation_lag1", "1", IFM_CLASS_TIME},
    [IFM_M_EFFECTIVE_SAMPLES] = {"effective_samples", "count", IFM_CLASS_TIME},
    [IFM_M_OUTLIERS] = {"outliers_count", "count", IFM_CLASS_TIME},
    [IFM_M_SAMPLES] = {"samples_count", "count", IFM_CLASS_COUNT},
    [IFM_M_SLOTS] = {"slots_count", "count", IFM_CLASS_COUNT},
    [IFM_M_BLOCKS] = {"blocks_count", "count", IFM_CLASS_COUNT},
    [IFM_M_BLOCKS_MARKED] = {"blocks_marked", "count", IFM_CLASS_COUNT},
    [IFM_M_WARMUP_SAMPLES] = {"warmup_samples", "count", IFM_CLASS_COUNT},
    [IFM_M_INNER_STEPS] = {"inner_steps", "count", IFM_CLASS_COUNT},
    [IFM_M_MODES] = {"modes_count", "count", IFM_CLASS_TIME},
    [IFM_M_CHANGE_POINTS] = {"change_points", "count", IFM_CLASS_TIME},
    [IFM_M_STEADY_FROM] = {"steady_from_percent", "%", IFM_CLASS_TIME},
    [IFM_M_LATENCY_P50_BOOTSTRAP] = {"latency_ns_p50_bootstrap", "ns", IFM_CLASS_TIME},
    [IFM_M_READ_RATE] = {"read_bytes_per_s", "B/s", IFM_CLASS_RATE},
    [IFM_M_WRITE_RATE] = {"write_bytes_per_s", "B/s", IFM_CLASS_RATE},
    [IFM_M_BANDWIDTH] = {"bandwidth_bytes_per_s", "B/s", IFM_CLASS_RATE},
    [IFM_M_FLOP_RATE] = {"flops_per_s", "FLOP/s", IFM_CLASS_RATE},
    [IFM_M_TOKENS_GENERATED_RATE] = {"tokens_generated_per_s", "tokens/s", IFM_CLASS_RATE},
    [IFM_M_TOKENS_PROMPT_RATE] = {"tokens_prompt_per_s", "tokens/s", IFM_CLASS_RATE},
    [IFM_M_ROW_RATE] = {"rows_per_s", "rows/s", IFM_CLASS_RATE},
    [IFM_M_LOAD_NS] = {"load_ns", "ns", IFM_CLASS_RATE},
    [IFM_M_INTENSITY] = {"arithmetic_intensity", "FLOP/B", IFM_CLASS_COUNT},
    [IFM_M_CEILING_READ_PERCENT] = {"ceiling_read_percent", "%", IFM_CLASS_RATE},
    [IFM_M_CEILING_FLOPS_PERCENT] = {"ceiling_flops_percent", "%", IFM_CLASS_RATE},
    [IFM_M_ROOFLINE_SCORE] = {"roofline_score", "1", IFM_CLASS_RATE},
    [IFM_M_CHANGE] = {"change_percent", "%", IFM_CLASS_COMPARE},
    [IFM_M_CHANGE_WITHOUT_MARKED] = {"change_percent_without_marked", "%", IFM_CLASS_COMPARE},
    [IFM_M_SPEEDUP] = {"speedup", "1", IFM_CLASS_COMPARE},
    [IFM_M_MDE] = {"mde_percent", "%", IFM_CLASS_COMPARE},
    [IFM_M_BLOCKS_TO_DECIDE] = {"blocks_needed", "count", IFM_CLASS_COMPARE},
    [IFM_M_CHANGE_MEDIAN] = {"change_percent_median", "%", IFM_CLASS_COMPARE},
    [IFM_M_GAP] = {"intervals_gap_percent", "%", IFM_CLASS_COMPARE},
    [IFM_M_CLIFF] = {"cliffs_delta", "1", IFM_CLASS_COMPARE},
    [IFM_M_HEDGES] = {"hedges_g", "1", IFM_CLASS_COMPARE},
    [IFM_M_SIGN_FLIP] = {"sign_flip_p", "1", IFM_CLASS_COMPARE},
    [IFM_M_L2_HIT] = {"l2_hit_percent", "%", IFM_CLASS_COUNTER},
    [IFM_M_L2_HIT_CHANGE] = {"l2_hit_change_pp", "pp", IFM_CLASS_COMPARE},
    [IFM_M_TEMPERATURE] = {"temperature_range_k", "K", IFM_CLASS_COUNTER},
    [IFM_M_ENERGY_PER_TOKEN] = {"energy_per_token_j", "J", IFM_CLASS_ENERGY},
    [IFM_M_ENERGY_PER_TOKEN_CHANGE] = {"energy_per_token_change_percent", "%", IFM_CLASS_COMPARE},
    [IFM_M_ENERGY_PER_STEP_CHANGE] = {"energy_per_step_change_percent", "%", IFM_CLASS_COMPARE},
    [IFM_M_ENERGY_TOTAL] = {"total_energy_j", "J", IFM_CLASS_ENERGY},
    [IFM_M_POWER] = {"power_mean_w", "W", IFM_CLASS_ENERGY},
    [IFM_M_ENERGY_DURATION] = {"duration_sec", "s", IFM_CLASS_ENERGY},
    [IFM_M_ENERGY_GPU] = {"gpu_energy_j", "J", IFM_CLASS_ENERGY},
    [IFM_M_POWER_GPU] = {"gpu_power_w", "W", IFM_CLASS_ENERGY},
    [IFM_M_ENERGY_CPU] = {"cpu_energy_j", "J", IFM_CLASS_ENERGY},
    [IFM_M_POWER_CPU] = {"cpu_power_w", "W", IFM_CLASS_ENERGY},
    [IFM_M_POWER_IDLE] = {"idle_power_w", "W", IFM_CLASS_ENERGY},
    [IFM_M_ENERGY_ABOVE_IDLE] = {"energy_above_idle_j", "J", IFM_CLASS_ENERGY},
    [IFM_M_ENERGY_PER_STEP] = {"energy_per_step_j", "J", IFM_CLASS_ENERGY},
    [IFM_M_ENERGY_PER_TOTAL_TOKEN] = {"energy_per_total_token_j", "J", IFM_CLASS_ENERGY},
    [IFM_M_ENERGY_PER_TOKEN_ABOVE_IDLE] = {"energy_per_token_above_idle_j", "J", IFM_CLASS_ENERGY},
    [IFM_M_TOKENS_PER_JOULE] = {"tokens_per_joule", "tokens/J", IFM_CLASS_ENERGY},
    [IFM_M_FLOPS_PER_JOULE] = {"flops_per_joule", "FLOP/J", IFM_CLASS_ENERGY},
    [IFM_M_WATTS_PER_TOKEN_RATE] = {"watts_per_token_rate", "W s/token", IFM_CLASS_ENERGY},
    [IFM_M_ENERGY_SYSTEMATIC] = {"energy_systematic_percent", "%", IFM_CLASS_ENERGY},
    [IFM_M_ENERGY_DIFFER] = {"energy_sources_differ_percent", "%", IFM_CLASS_ENERGY},
    [IFM_M_ENERGY_WINDOWS] = {"energy_windows", "count", IFM_CLASS_COUNT},
    [IFM_M_ENERGY_PER_STEP_CV] = {"energy_per_step_cv_percent", "%", IFM_CLASS_ENERGY},
    [IFM_M_QUALITY] = {"quality_percent", "%", IFM_CLASS_ERROR},
    [IFM_M_QUALITY_LOSS] = {"quality_loss_pp", "pp", IFM_CLASS_ERROR},
    [IFM_M_ERROR_RMS] = {"error_rms_rel", "1", IFM_CLASS_ERROR},
    [IFM_M_ERROR_MAX] = {"error_max_rel", "1", IFM_CLASS_ERROR},
    [IFM_M_ERROR_TOTAL] = {"total_error_rms_rel", "1", IFM_CLASS_ERROR},
    [IFM_M_LOSS_RMS] = {"loss_rms_rel", "1", IFM_CLASS_ERROR},
    [IFM_M_LOSS_P99] = {"loss_p99_rel", "1", IFM_CLASS_ERROR},
    [IFM_M_LOSS_COSINE] = {"loss_cosine", "1", IFM_CLASS_ERROR},
    [IFM_M_LOSS_KL] = {"attention_kl_nats", "nats", IFM_CLASS_ERROR},
    [IFM_M_LOSS_TV] = {"attention_tv", "1", IFM_CLASS_ERROR},
    [IFM_M_STORED] = {"stored_bytes", "B", IFM_CLASS_COUNT},
    [IFM_M_COMPRESSION] = {"compression_ratio", "1", IFM_CLASS_COUNT},
    [IFM_M_BITS] = {"bits_per_value", "bits", IFM_CLASS_COUNT},
    [IFM_M_BYTES_RATIO] = {"bytes_ratio", "1", IFM_CLASS_COUNT},
    [IFM_M_SWITCHES] = {"context_switches_involuntary", "count", IFM_CLASS_COUNTER},
    [IFM_M_FAULTS] = {"faults_major", "count", IFM_CLASS_COUNTER},
    [IFM_M_STEAL] = {"steal_ns", "ns", IFM_CLASS_COUNTER},
    [IFM_M_RUN_DELAY] = {"run_delay_ns", "ns", IFM_CLASS_COUNTER},
    [IFM_M_CEILING_READ] = {"ceiling_read", "B/s", IFM_CLASS_CEILING},
    [IFM_M_CEILING_WRITE] = {"ceiling_write", "B/s", IFM_CLASS_CEILING},
    [IFM_M_CEILING_COPY] = {"ceiling_copy", "B/s", IFM_CLASS_CEILING},
    [IFM_M_CEILING_FLOPS] = {"ceiling_flops", "FLOP/s", IFM_CLASS_CEILING},
    [IFM_M_CEILING_MATRIX] = {"ceiling_matrix", "FLOP/s", IFM_CLASS_CEILING},
    [IFM_M_RIDGE_POINT] = {"ridge_point", "FLOP/B", IFM_CLASS_CEILING},
    [IFM_M_CACHE_L1] = {"cache_l1_bytes", "B", IFM_CLASS_CACHE},
    [IFM_M_CACHE_L2] = {"cache_l2_bytes", "B", IFM_CLASS_CACHE},
    [IFM_M_CACHE_L3] = {"cache_l3_bytes", "B", IFM_CLASS_CACHE},
    [IFM_M_COMMAND_CPU] = {"command_cpu_ns", "ns", IFM_CLASS_TIME},
    [IFM_M_COMMAND_RSS] = {"command_rss_bytes", "B", IFM_CLASS_COUNTER},
    [IFM_M_COMMAND_FAULTS] = {"command_faults_major", "count", IFM_CLASS_COUNTER},
    [IFM_M_COMMAND_SWITCHES] = {"command_switches_involuntary", "count", IFM_CLASS_COUNTER},
    [IFM_M_COMMAND_FAILURES] = {"command_failures", "count", IFM_CLASS_COUNTER},
    [IFM_M_COMMAND_STRAYS] = {"command_strays", "count", IFM_CLASS_COUNTER},
};

const char *ifm_derive_metric(size_t index)
{
    return index < IFM_M_COUNT ? ifm_metric_rows[index].id : NULL;
}

struct ifm_value ifm_value_real(double number, int64_t n, const char *n_of)
{
    if (!isfinite(number))
        return ifm_value_absent("the result is not a finite number", "", n, n_of);
    return (struct ifm_value){.number = number, .n = n, .n_of = n_of, .reason = "", .remedy = "", .text = ""};
}

struct ifm_value ifm_value_count(int64_t number, const char *n_of)
{
    struct ifm_value value = ifm_value_real((double)number, number, n_of);
    value.is_integer = true;
    return value;
}

struct ifm_value ifm_value_absent(const char *reason, const char *remedy, int64_t n, const char *n_of)
{
    return (struct ifm_value){
        .state = IFM_STATE_ABSENT, .n = n, .n_of = n_of, .reason = reason, .remedy = remedy, .text = ""};
}

struct ifm_value ifm_value_integer_products(void)
{
    return ifm_value_absent("the arm multiplies codes as integers, and no ceiling of such products is measured", "", 0,
                            "blocks");
}

struct ifm_value ifm_value_refused(struct ifm_arena *arena, const char *rule, const char *reason)
{
    return (struct ifm_value){.state = IFM_STATE_REFUSED,
                              .n_of = "",
                              .reason = ifm_arena_printf(arena, "%s: %s", rule, reason),
                              .remedy = "",
                              .text = ""};
}

void ifm_value_bracket(struct ifm_value *value, double low, double high, double level)
{
    if (value->state != IFM_STATE_OK || !isfinite(low) || !isfinite(high))
        return;
    value->has_interval = true;
    value->low = low;
    value->high = high;
    value->level = level;
}

/* The first rule that withholds a metric of this class, or NULL. */
static const struct ifm_refusal *refusal_of(const struct ifm_derivation *d, const struct ifm_cell_work *work,
                                            const struct ifm_arm_work *arm, enum ifm_metric_class kind)
{
    if (kind == IFM_CLASS_COUNT || kind == IFM_CLASS_ERROR || kind == IFM_CLASS_COUNTER)
        return NULL;
    if (d->refusal.rule != NULL)
        return &d->refusal;
    if (work->refusal.rule != NULL)
        return &work->refusal;
    if (arm == NULL)
        return kind == IFM_CLASS_ENERGY && work->energy_refused.rule != NULL ? &work->energy_refused : NULL;
    if (arm->refusal.rule != NULL)
        return &arm->refusal;
    if (kind == IFM_CLASS_RATE && arm->rates_refused.rule != NULL)
        return &arm->rates_refused;
    if (kind == IFM_CLASS_COMPARE && arm->compare_refused.rule != NULL)
        return &arm->compare_refused;
    if (kind == IFM_CLASS_ENERGY && arm->energy_refused.rule != NULL)
        return &arm->energy_refused;
    return NULL;
}

void ifm_derive_emit(struct ifm_derivation *d, const struct ifm_cell_work *work, const struct ifm_arm_work *arm,
                     enum ifm_metric_id metric, struct ifm_value value)
{
    const struct ifm_metric_row *row = &ifm_metric_rows[metric];
    const struct ifm_refusal *refusal = refusal_of(d, work, arm, row->kind);
    /* What was never recorded stays absent; what was recorded and may not be printed is refused, even where it is also
     * too little. */
    bool recorded = value.state == IFM_STATE_OK || (value.state == IFM_STATE_ABSENT && work->record != NULL);
    if (recorded && refusal != NULL) {
        bool inactive = arm != NULL && arm->inactive && refusal == &arm->refusal;
        value = ifm_value_refused(d->arena, refusal->rule, refusal->reason);
        value.state = inactive ? IFM_STATE_INACTIVE : IFM_STATE_REFUSED;
    }
    value.unit = row->unit;
    struct ifm_derived *out = d->out;
    IFM_ARENA_GROW(d->arena, out->numbers, out->n_numbers, d->numbers_capacity);
    out->numbers[out->n_numbers++] =
        (struct ifm_number){work->cell->name, arm == NULL ? "" : arm->arm->name, row->id, value};
}

void ifm_derive_find_fault(struct ifm_derivation *d, enum ifm_severity severity, const char *rule, const char *cell,
                           const char *arm, const char *format, ...)
{
    struct ifm_derived *out = d->out;
    IFM_ARENA_GROW(d->arena, out->findings, out->n_findings, d->findings_capacity);
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    out->findings[out->n_findings++] =
        (struct ifm_finding){severity, rule, cell, arm, ifm_arena_strdup(d->arena, text)};
}
