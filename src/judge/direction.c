/* Which way a metric improves, and gates that ask for the other way (rule 9). Measures nothing.
 *
 * A gate that asks for a change of at least 10 % passes an arm that became slower and fails one that became faster. It
 * is refused, not turned round: nobody but its author knows whether the word or the sign was meant. Beside a gate on
 * the right side the same words are the other end of a band, and stand. */
#include "judge/internal.h"

#include <string.h>

static const char *const lower[] = {
    "step_ns",
    "step_ns_without_marked",
    "latency_ns_mean",
    "latency_ns_trimmed_mean",
    "latency_ns_p50",
    "latency_ns_p50_bootstrap",
    "latency_ns_p90",
    "latency_ns_p95",
    "latency_ns_p99",
    "latency_ns_p999",
    "latency_cv_percent",
    "latency_ns_sd",
    "load_ns",
    "change_percent",
    "change_percent_without_marked",
    "change_percent_median",
    "energy_per_token_j",
    "energy_per_token_change_percent",
    "energy_per_step_change_percent",
    "total_energy_j",
    "gpu_energy_j",
    "cpu_energy_j",
    "energy_above_idle_j",
    "energy_per_step_j",
    "energy_per_total_token_j",
    "energy_per_token_above_idle_j",
    "watts_per_token_rate",
    "energy_systematic_percent",
    "energy_per_step_cv_percent",
    "command_cpu_ns",
    "quality_loss_pp",
    "error_rms_rel",
    "error_max_rel",
    "total_error_rms_rel",
    "loss_rms_rel",
    "loss_p99_rel",
    "attention_kl_nats",
    "attention_tv",
    NULL,
};
static const char *const higher[] = {
    "read_bytes_per_s",
    "write_bytes_per_s",
    "bandwidth_bytes_per_s",
    "flops_per_s",
    "tokens_generated_per_s",
    "tokens_prompt_per_s",
    "rows_per_s",
    "ceiling_read_percent",
    "ceiling_flops_percent",
    "roofline_score",
    "speedup",
    "intervals_gap_percent",
    "cliffs_delta",
    "l2_hit_percent",
    "l2_hit_change_pp",
    "tokens_per_joule",
    "flops_per_joule",
    "quality_percent",
    "loss_cosine",
    NULL,
};

static bool holds(const char *const *list, const char *name)
{
    for (; *list != NULL; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

int ifm_judge_direction(const char *metric)
{
    return holds(higher, metric) ? 1 : holds(lower, metric) ? -1 : 0;
}

bool ifm_judge_is_inverted(const struct ifm_gate *gates, size_t n, const struct ifm_gate *gate)
{
    int direction = ifm_judge_direction(gate->metric);
    bool right = direction > 0 ? gate->op == IFM_GATE_AT_LEAST : gate->op == IFM_GATE_AT_MOST;
    if (direction == 0 || right)
        return false;
    for (size_t i = 0; i < n; i++)
        if (gates[i].op != gate->op && strcmp(gates[i].metric, gate->metric) == 0 &&
            strcmp(gates[i].arm, gate->arm) == 0 && strcmp(gates[i].cell, gate->cell) == 0)
            return false;
    return true;
}

const char *ifm_judge_inverted_reason(struct ifm_arena *arena, const struct ifm_gate *gate)
{
    bool least = gate->op == IFM_GATE_AT_LEAST;
    return ifm_arena_printf(arena,
                            "rule-09: the gate is inverted: %s is better when it is %s, and the gate asks for %s %.6g; "
                            "it would pass an arm for being worse",
                            gate->metric, least ? "lower" : "higher", least ? "at least" : "at most", gate->threshold);
}
