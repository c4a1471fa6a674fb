/* Which metrics a summary shows. */
#include "publish/columns.h"

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
    {"vs baseline", "speedup", IFM_COLUMN_COMPARISON, 1},
    {"error", "error_rms_rel", IFM_COLUMN_QUANTITY, 1},
};
const size_t ifm_n_columns = sizeof ifm_columns / sizeof ifm_columns[0];

const char *ifm_column_ceiling_metric(enum ifm_ceiling kind)
{
    static const char *const metrics[] = {"", "ceiling_read", "ceiling_write", "ceiling_copy", "ceiling_flops"};
    return metrics[kind];
}

const char *ifm_column_cache_metric(int level)
{
    static const char *const metrics[IFM_CACHES_SHOWN] = {"cache_l1_bytes", "cache_l2_bytes", "cache_l3_bytes"};
    return metrics[level - 1];
}
