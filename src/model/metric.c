/* Metrics by their ids, and the words of a definition and of a number's state. */
#include "model/metric.h"

#include "base/text.h"
#include "model/plan.h"
#include "model/value.h"
#include <string.h>

const enum ifm_metric_id ifm_ceiling_metrics[] = {
    [IFM_CEILING_READ] = IFM_M_CEILING_READ,     [IFM_CEILING_WRITE] = IFM_M_CEILING_WRITE,
    [IFM_CEILING_COPY] = IFM_M_CEILING_COPY,     [IFM_CEILING_FLOPS] = IFM_M_CEILING_FLOPS,
    [IFM_CEILING_MATRIX] = IFM_M_CEILING_MATRIX, [IFM_CEILING_INT8] = IFM_M_CEILING_INT8,
    [IFM_CEILING_CLOCK] = IFM_M_CEILING_CLOCK,   [IFM_CEILING_L1] = IFM_M_CEILING_L1,
    [IFM_CEILING_L2] = IFM_M_CEILING_L2,         [IFM_CEILING_L3] = IFM_M_CEILING_L3};
const enum ifm_metric_id ifm_cache_metrics[IFM_CACHES_SHOWN] = {IFM_M_CACHE_L1_BYTES, IFM_M_CACHE_L2_BYTES,
                                                                IFM_M_CACHE_L3_BYTES};

struct ifm_metric_told ifm_metric_told(enum ifm_metric_id metric)
{
    static const char *const names[IFM_M_COUNT] = {
        [IFM_M_CHANGE_PERCENT] = "change in time",
        [IFM_M_CHANGE_CPU_PERCENT] = "change in CPU time",
        [IFM_M_CHANGE_PERCENT_MEDIAN] = "change in p50",
        [IFM_M_CHANGE_PERCENT_P95] = "change in p95",
        [IFM_M_SPEEDUP] = "speed-up",
        [IFM_M_SPEEDUP_OVER_FASTEST] = "speed-up over the fastest exact arm",
        [IFM_M_STEP_NS] = "time per step",
        [IFM_M_LATENCY_NS_P50] = "p50",
        [IFM_M_LATENCY_NS_P95] = "p95",
        [IFM_M_LATENCY_NS_P99] = "p99",
        [IFM_M_COMMAND_CPU_NS] = "CPU time per run",
        [IFM_M_ENERGY_PER_TOKEN_J] = "energy per token",
        [IFM_M_ENERGY_PER_TOTAL_TOKEN_J] = "energy per total token",
        [IFM_M_ENERGY_PER_STEP_J] = "energy per step",
        [IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT] = "change in energy per token",
        [IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT] = "change in energy per step",
        [IFM_M_CEILING_READ_PERCENT] = "share of the read ceiling",
        [IFM_M_CEILING_FLOPS_PERCENT] = "share of the flops ceiling",
        [IFM_M_L2_HIT_PERCENT] = "L2 hits",
        [IFM_M_L2_HIT_CHANGE_PP] = "change in L2 hits",
        [IFM_M_TOKENS_GENERATED_PER_S] = "generated tokens per second",
    };
    if (metric == IFM_M_LOSS_RMS_REL)
        return (struct ifm_metric_told){"output error", "%", 100};
    if (metric == IFM_M_LOSS_P99_REL)
        return (struct ifm_metric_told){"output error (p99)", "%", 100};
    const char *name = names[metric] == NULL ? ifm_metrics[metric].id : names[metric];
    return (struct ifm_metric_told){name, ifm_metrics[metric].unit, 1};
}

bool ifm_is_share(enum ifm_metric_id metric)
{
    return metric == IFM_M_CEILING_READ_PERCENT || metric == IFM_M_CEILING_FLOPS_PERCENT;
}

const char *ifm_share_told(enum ifm_metric_id metric, bool integer)
{
    return integer && metric == IFM_M_CEILING_FLOPS_PERCENT ? "share of the int8 ceiling"
                                                            : ifm_metric_told(metric).name;
}

enum ifm_metric_id ifm_metric_of(const char *id)
{
    size_t low = 0, high = IFM_M_COUNT - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(ifm_metrics[ifm_metrics_sorted[middle]].id, id);
        if (order == 0)
            return ifm_metrics_sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return IFM_M_NONE;
}

const char *ifm_metric_nearest(const char *id)
{
    const char *ids[IFM_M_COUNT - 1];
    for (size_t i = 0; i < IFM_M_COUNT - 1; i++)
        ids[i] = ifm_metrics[i + 1].id;
    return ifm_nearest(id, ids, IFM_M_COUNT - 1);
}

const char *ifm_better_word(enum ifm_better better)
{
    return better == IFM_BETTER_NONE ? "none" : better == IFM_BETTER_LOWER ? "lower" : "higher";
}

const char *ifm_scope_word(enum ifm_metric_scope scope)
{
    static const char *const words[] = {"arm", "cell", "run"};
    return words[scope];
}

const char *ifm_state_label(enum ifm_state state)
{
    static const char *const labels[] = {"ok", "absent", "refused", "inactive"};
    return labels[state];
}
