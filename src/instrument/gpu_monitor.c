/* Instrument gpu_monitor: how busy a GPU's parts were over a window of energy, by its own monitor (GPM of NVML).
 *
 * The monitor updates ten times a second, so that only windows of seconds have numbers, and its two samples stand at
 * the edges of a window, where the load is already on: nothing is read while steps run. What the samples cost the host
 * is a column too. Thread rule: the driving thread. */
#include "base/arena.h"
#include "base/clock.h"
#include "dyn/cuda.h"
#include "instrument/gpm.h"
#include "instrument/instrument.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY, SM, OCCUPANCY, TENSOR, COST, N };

static const struct ifm_column columns[N] = {
    [MEMORY] = {"gpm_memory", "ppm"}, [SM] = {"gpm_sm", "ppm"},       [OCCUPANCY] = {"gpm_occupancy", "ppm"},
    [TENSOR] = {"gpm_tensor", "ppm"}, [COST] = {"gpm_cost_ns", "ns"},
};

struct ifm_instrument_state {
    struct ifm_gpm gpm;
    int64_t values[N], cost_ns;
};

static void open_monitor(struct ifm_gpm *gpm, const char **remedy)
{
    struct ifm_cuda_card card;
    struct ifm_cuda_absence absence;
    const char *reason = "";
    *remedy = "";
    const struct ifm_nvml *nvml = ifm_nvml_load(&reason, remedy);
    if (nvml != NULL && !ifm_cuda_first(&card, &absence)) {
        nvml = NULL;
        reason = absence.reason;
        *remedy = absence.remedy;
    }
    ifm_gpm_open(gpm, nvml, reason, nvml == NULL ? "" : card.bus);
    if (nvml != NULL && gpm->why[0] != '\0')
        *remedy = "an H100 or newer with a driver since 520 has one; --counters counts bytes and operations";
}

static const char *monitor_probe(size_t column, const char **remedy)
{
    struct ifm_gpm gpm;
    (void)column;
    open_monitor(&gpm, remedy);
    ifm_gpm_close(&gpm);
    return gpm.why;
}

static enum ifm_status monitor_open(struct ifm_instrument_state **out, struct ifm_error *error)
{
    const char *remedy;
    (void)error;
    *out = ifm_zeros(1, sizeof **out);
    open_monitor(&(*out)->gpm, &remedy);
    return IFM_OK;
}

static void monitor_close(struct ifm_instrument_state *state)
{
    ifm_gpm_close(&state->gpm);
    free(state);
}

static void monitor_start(struct ifm_instrument_state *state)
{
    const struct ifm_instant began = ifm_clock_now();
    ifm_gpm_start(&state->gpm);
    state->cost_ns = ifm_clock_since(began).ns;
}

static int64_t ppm(double percent)
{
    return isnan(percent) ? IFM_ABSENT : (int64_t)llround(1e4 * percent);
}

static void monitor_stop(struct ifm_instrument_state *state)
{
    const struct ifm_instant began = ifm_clock_now();
    const struct ifm_gpm_use use = ifm_gpm_read(&state->gpm);
    state->values[MEMORY] = ppm(use.memory);
    state->values[SM] = ppm(use.sm);
    state->values[OCCUPANCY] = ppm(use.occupancy);
    state->values[TENSOR] = ppm(use.tensor);
    state->values[COST] = use.why == NULL ? state->cost_ns + ifm_clock_since(began).ns : IFM_ABSENT;
}

static void monitor_collect(struct ifm_instrument_state *state, int64_t *values)
{
    memcpy(values, state->values, sizeof state->values);
}

const struct ifm_instrument ifm_instrument_gpu_monitor = {
    .name = "gpu_monitor",
    .device = "cuda",
    .intrusion = IFM_INTRUSION_SAMPLING,
    .columns = columns,
    .n_columns = N,
    .probe = monitor_probe,
    .open = monitor_open,
    .start = monitor_start,
    .stop = monitor_stop,
    .collect = monitor_collect,
    .close = monitor_close,
};
