/* ncu.json: what the hardware counted, under the profiler's names as the specification's files have them.
 *
 * Numbers are per step, from ranges around live steps and without replay; the siblings of compat.h say unit, number of
 * ranges, interval, and why one is null. `summary.per_mode` has an entry for each arm of each cell; the top level tells
 * of the candidate of the first cell. A run that was not asked to count has no such file. */
#include "model/plan_json.h"
#include "publish/compat/compat.h"

#include <stdio.h>
#include <string.h>

#define NOT_COUNTED "counters of this arm were not read"

static const struct ifm_compat_field shares[] = {
    {"l2_hit_pct", IFM_M_L2_HIT_PERCENT, 1, "%", NOT_COUNTED},
    {"l2_hit_sd_pp", IFM_M_L2_HIT_SD_PP, 1, "pp", NOT_COUNTED},
    {"dram_bytes_over_ledger", IFM_M_DRAM_BYTES_OVER_LEDGER, 1, "1", NOT_COUNTED},
    {"dram_bytes_read_sd_pct", IFM_M_DRAM_BYTES_READ_SD_PERCENT, 1, "%", NOT_COUNTED},
    {"tensor_flops", IFM_M_TENSOR_FLOPS, 1, "FLOP", NOT_COUNTED},
    {"counters_slower_pct", IFM_M_COUNTERS_SLOWER_PERCENT, 1, "%", NOT_COUNTED},
};

/* Of runs that counted sectors by two passes. */
static const struct ifm_compat_field sectors[] = {
    {"l2_sector_hit_pct", IFM_M_L2_SECTOR_HIT_PERCENT, 1, "%", NOT_COUNTED},
    {"l2_fabric_pct", IFM_M_L2_FABRIC_PERCENT, 1, "%", NOT_COUNTED},
};

/* The specification's keys. `dram__throughput` is made of bytes, time and the bus, not read. */
static const struct ifm_compat_field named[] = {
    {"ncu_metrics.dram__bytes_read.sum", IFM_M_DRAM_BYTES_READ, 1, "B/step", NOT_COUNTED},
    {"ncu_metrics.dram__bytes_write.sum", IFM_M_DRAM_BYTES_WRITTEN, 1, "B/step", NOT_COUNTED},
    {"ncu_metrics.lts__t_sectors_op_write.sum", IFM_M_L2_WRITE_SECTORS, 1, "sectors/step", NOT_COUNTED},
    {"ncu_metrics.dram__throughput.avg.pct_of_peak", IFM_M_DRAM_THROUGHPUT_PERCENT, 1, "%", NOT_COUNTED},
    {"ncu_metrics.gpu__time_duration.sum", IFM_M_RANGE_STEP_NS, 1, "ns/step", NOT_COUNTED},
    {"ncu_metrics.sm__warps_launched.sum", IFM_M_WARPS_LAUNCHED, 1, "warps/step", NOT_COUNTED},
};

bool ifm_compat_has_ncu(const struct ifm_plan *plan)
{
    bool any = false;
    for (size_t i = 0; i < plan->n_cells; i++)
        any |= plan->cells[i].measure.counters;
    return any;
}

static void fill(const struct ifm_compat *c)
{
    ifm_compat_add_all(c, shares, sizeof shares / sizeof *shares);
    if (c->cell != NULL && ifm_plan_counts(c->cell, "l2_sector_hits"))
        ifm_compat_add_all(c, sectors, sizeof sectors / sizeof *sectors);
    ifm_compat_add_all(c, named, sizeof named / sizeof *named);
}

static json_t *arm_json(const struct ifm_publication *from, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_compat c = ifm_compat_begin(from, cell, arm);
    ifm_compat_put_text(&c, "mode", arm->name, NULL);
    ifm_compat_put_text(&c, "cell", cell->name, NULL);
    ifm_compat_put_text(&c, "role", ifm_role_name(arm->role), NULL);
    fill(&c);
    return ifm_compat_end(&c);
}

/* "CUPTI 13.0, chip GH100", as the journal names it; "" where nothing was counted. */
static const char *source_of(const struct ifm_publication *from)
{
    const struct ifm_event_counters_read *told = IFM_FIRST(from->events, counters_read);
    return told == NULL ? "" : told->source;
}

/* The first variant of the first cell, else its first arm. */
static const struct ifm_arm *candidate_of(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role == IFM_ROLE_VARIANT)
            return &cell->arms[a];
    return ifm_compat_first_arm(cell);
}

json_t *ifm_compat_ncu(const struct ifm_publication *publication)
{
    const struct ifm_plan *plan = publication->plan;
    const struct ifm_cell *first = plan->n_cells == 0 ? NULL : &plan->cells[0];
    const struct ifm_compat c = ifm_compat_begin(publication, first, first == NULL ? NULL : candidate_of(first));
    json_t *modes = json_array();
    ifm_compat_put_text(&c, "run_id", publication->derived->run_id, NULL);
    ifm_compat_put_text(&c, "source", source_of(publication), NOT_COUNTED);
    ifm_compat_put_text(&c, "arm", c.arm == NULL ? "" : c.arm->name, NULL);
    fill(&c);
    for (size_t i = 0; i < plan->n_cells; i++)
        for (size_t a = 0; a < plan->cells[i].n_arms; a++)
            if (ifm_plan_isolates(&plan->cells[i], a))
                json_array_append_new(modes, arm_json(publication, &plan->cells[i], &plan->cells[i].arms[a]));
    json_object_set_new(c.object, "summary", json_pack("{s:o}", "per_mode", modes));
    return ifm_compat_end(&c);
}
