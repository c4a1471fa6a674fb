/* Which metrics a summary shows. */
#include "document/columns.h"

const struct ifm_column_spec ifm_columns[] = {
    {"time/step", IFM_METRIC_TIME, IFM_COLUMN_QUANTITY, 1},
    {"K", "inner_steps", IFM_COLUMN_BATCH, 1},
    {"read", "read_bytes_per_s", IFM_COLUMN_QUANTITY, 2},
    {"of ceiling", "ceiling_read_percent", IFM_COLUMN_SHARE, 2},
    {"write", IFM_METRIC_WRITE, IFM_COLUMN_QUANTITY, 2},
    {"compute", "flops_per_s", IFM_COLUMN_QUANTITY, 2},
    {"of ceiling", "ceiling_flops_percent", IFM_COLUMN_SHARE, 2},
    {"tokens", "tokens_generated_per_s", IFM_COLUMN_QUANTITY, 1},
    {"prompt tokens", "tokens_prompt_per_s", IFM_COLUMN_QUANTITY, 1},
    {"cpu", "command_cpu_ns", IFM_COLUMN_QUANTITY, 1},
    {"memory", "command_rss_bytes", IFM_COLUMN_QUANTITY, 1},
    {"energy", "total_energy_j", IFM_COLUMN_QUANTITY, 1},
    {"power", "power_mean_w", IFM_COLUMN_QUANTITY, 1},
    {"vs baseline", IFM_METRIC_SPEEDUP, IFM_COLUMN_COMPARISON, 1},
    {"ratio", IFM_METRIC_COMPRESSION, IFM_COLUMN_RATIO, 1},
    {"loss", IFM_METRIC_LOSS, IFM_COLUMN_QUANTITY, 1},
    {"KL", IFM_METRIC_KL, IFM_COLUMN_QUANTITY, 1},
    {"error", IFM_METRIC_ERROR, IFM_COLUMN_QUANTITY, 1},
};
const size_t ifm_n_columns = sizeof ifm_columns / sizeof ifm_columns[0];

const struct ifm_column_spec ifm_compression_columns[] = {
    {"stored", "stored_bytes", IFM_COLUMN_QUANTITY, 0},
    {"ratio", IFM_METRIC_COMPRESSION, IFM_COLUMN_RATIO, 0},
    {"bits/value", "bits_per_value", IFM_COLUMN_QUANTITY, 0},
    {"loss (rms)", IFM_METRIC_LOSS, IFM_COLUMN_QUANTITY, 0},
    {"loss (p99)", "loss_p99_rel", IFM_COLUMN_QUANTITY, 0},
    {"cosine", "loss_cosine", IFM_COLUMN_QUANTITY, 0},
    {"KL", IFM_METRIC_KL, IFM_COLUMN_QUANTITY, 0},
    {"TV", IFM_METRIC_TV, IFM_COLUMN_QUANTITY, 0},
    {"fewer bytes", IFM_METRIC_BYTES_RATIO, IFM_COLUMN_RATIO, 0},
    {"vs baseline", IFM_METRIC_SPEEDUP, IFM_COLUMN_COMPARISON, 0},
};
const size_t ifm_n_compression_columns = sizeof ifm_compression_columns / sizeof ifm_compression_columns[0];

const struct ifm_column_spec ifm_energy_columns[] = {
    {"energy/token", IFM_METRIC_TOKEN_ENERGY, IFM_COLUMN_QUANTITY, 1},
    {"above idle", "energy_per_token_above_idle_j", IFM_COLUMN_QUANTITY, 1},
    {"per total token", "energy_per_total_token_j", IFM_COLUMN_QUANTITY, 2},
    {"power", IFM_METRIC_POWER, IFM_COLUMN_QUANTITY, 1},
    {"gpu", "gpu_power_w", IFM_COLUMN_QUANTITY, 1},
    {"cpu", "cpu_power_w", IFM_COLUMN_QUANTITY, 1},
    {"idle", "idle_power_w", IFM_COLUMN_QUANTITY, 1},
    {"tokens", "tokens_per_joule", IFM_COLUMN_SHARE, 1},
    {"arithmetic", "flops_per_joule", IFM_COLUMN_SHARE, 2},
    {"vs baseline", IFM_METRIC_TOKEN_ENERGY_CHANGE, IFM_COLUMN_QUANTITY, 1},
    {"all windows", IFM_METRIC_TOTAL_ENERGY, IFM_COLUMN_QUANTITY, 2},
    {"time", "duration_sec", IFM_COLUMN_SHARE, 2},
    {"windows", "energy_windows", IFM_COLUMN_SHARE, 2},
    {"sources differ", "energy_sources_differ_percent", IFM_COLUMN_SHARE, 2},
};
const size_t ifm_n_energy_columns = sizeof ifm_energy_columns / sizeof ifm_energy_columns[0];

const struct ifm_column_spec ifm_energy_step_columns[] = {
    {"energy/step", IFM_METRIC_STEP_ENERGY, IFM_COLUMN_QUANTITY, 1},
    {"power", IFM_METRIC_POWER, IFM_COLUMN_QUANTITY, 1},
    {"gpu", "gpu_power_w", IFM_COLUMN_QUANTITY, 1},
    {"cpu", "cpu_power_w", IFM_COLUMN_QUANTITY, 1},
    {"idle", "idle_power_w", IFM_COLUMN_QUANTITY, 1},
    {"arithmetic", "flops_per_joule", IFM_COLUMN_SHARE, 1},
    {"all windows", IFM_METRIC_TOTAL_ENERGY, IFM_COLUMN_QUANTITY, 2},
    {"of it above idle", "energy_above_idle_j", IFM_COLUMN_QUANTITY, 2},
    {"time", "duration_sec", IFM_COLUMN_SHARE, 2},
    {"windows", "energy_windows", IFM_COLUMN_SHARE, 2},
    {"sources differ", "energy_sources_differ_percent", IFM_COLUMN_SHARE, 2},
};
const size_t ifm_n_energy_step_columns = sizeof ifm_energy_step_columns / sizeof ifm_energy_step_columns[0];

const char *ifm_column_ceiling_metric(enum ifm_ceiling kind)
{
    static const char *const metrics[] = {
        "", "ceiling_read", "ceiling_write", "ceiling_copy", "ceiling_flops", "ceiling_matrix"};
    return metrics[kind];
}

const char *ifm_column_cache_metric(int level)
{
    static const char *const metrics[IFM_CACHES_SHOWN] = {"cache_l1_bytes", "cache_l2_bytes", "cache_l3_bytes"};
    return metrics[level - 1];
}
