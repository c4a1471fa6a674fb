/* Instrument gpu: what a GPU counts itself over a slot. It never sees the device: run attaches a source. */
#include "instrument/instrument.h"
#include <stdlib.h>

enum { CYCLES, SPAN, REPORTED, N_COLUMNS };

static const struct ifm_column columns[N_COLUMNS] = {
    [CYCLES] = {"gpu_cycles", "count"},
    [SPAN] = {"gpu_clock_span_ns", "ns"},
    [REPORTED] = {"gpu_clock_reported_mhz", "MHz"},
};

struct ifm_instrument_state {
    ifm_source_fn *read;
    void *context;
};

static const char *gpu_probe(size_t column, const char **remedy)
{
    (void)column;
    *remedy = "measure on device.kind=cuda";
    return "only a GPU counts its cycles";
}

static enum ifm_status gpu_open(struct ifm_instrument_state **out, struct ifm_error *error)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? IFM_OK : ifm_fail(error, IFM_INTERNAL, NULL, NULL, "no memory for the instrument gpu");
}

/* The device stamps its slots itself: nothing is left to do at their edges. */
static void gpu_edge(struct ifm_instrument_state *state)
{
    (void)state;
}

static void gpu_collect(struct ifm_instrument_state *state, int64_t *values)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        values[i] = IFM_ABSENT;
    if (state->read != NULL)
        state->read(state->context, values);
}

static void gpu_close(struct ifm_instrument_state *state)
{
    free(state);
}

static void gpu_attach(struct ifm_instrument_state *state, ifm_source_fn *read, void *context)
{
    state->read = read;
    state->context = context;
}

const struct ifm_instrument ifm_instrument_gpu = {
    .name = "gpu",
    .device = "cuda",
    .intrusion = IFM_INTRUSION_PASSIVE,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .probe = gpu_probe,
    .open = gpu_open,
    .start = gpu_edge,
    .stop = gpu_edge,
    .collect = gpu_collect,
    .close = gpu_close,
    .attach = gpu_attach,
};
