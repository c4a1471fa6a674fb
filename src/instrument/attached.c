/* Instruments without a source of their own: gpu, what a GPU counts itself over a slot, and fake, what the fake
 * device's script gives, so that what is made of counters can be tested without any.
 *
 * They never see the device: run attaches a source. The fake's is read when a slot stops, a GPU's when its values are
 * collected. The passive fake is offered on the fake device alone, and only when the script gives it something to read;
 * those of the other classes are for tests of their passes. */
#include "base/arena.h"
#include "instrument/instrument.h"
#include <stdlib.h>
#include <string.h>

static const struct ifm_column gpu_columns[] = {
    {"gpu_cycles", "count"}, {"gpu_clock_span_ns", "ns"}, {"gpu_clock_reported_mhz", "MHz"}};

/* In the order of enum ifm_fake_column of device/fake.h. */
static const struct ifm_column fake_columns[] = {
    {"l2_hits", "count"}, {"l2_accesses", "count"}, {"energy_uj", "uJ"}, {"cpu_khz", "kHz"}, {"steal_ns", "ns"}};

enum {
    GPU_COLUMNS = sizeof gpu_columns / sizeof *gpu_columns,
    FAKE_COLUMNS = sizeof fake_columns / sizeof *fake_columns
};

struct ifm_instrument_state {
    ifm_source_fn *read;
    void *context;
    size_t n;
    int64_t values[FAKE_COLUMNS];
};

static const char *gpu_probe(size_t column, const char **remedy)
{
    (void)column;
    *remedy = "measure on device.kind=cuda";
    return "only a GPU counts its cycles";
}

static const char *fake_probe(size_t column, const char **remedy)
{
    (void)column;
    *remedy = "choose device.kind=fake with a script that gives it";
    return "this column exists on the fake device only";
}

static enum ifm_status gpu_open(struct ifm_instrument_state **out, struct ifm_error *error)
{
    (void)error;
    *out = ifm_zeros(1, sizeof **out);
    (*out)->n = GPU_COLUMNS;
    return IFM_OK;
}

static enum ifm_status fake_open(struct ifm_instrument_state **out, struct ifm_error *error)
{
    (void)error;
    *out = ifm_zeros(1, sizeof **out);
    (*out)->n = FAKE_COLUMNS;
    return IFM_OK;
}

static void reset(struct ifm_instrument_state *state)
{
    for (size_t i = 0; i < state->n; i++)
        state->values[i] = IFM_ABSENT;
}

static void read_source(struct ifm_instrument_state *state)
{
    if (state->read != NULL)
        state->read(state->context, state->values);
}

static void collect(struct ifm_instrument_state *state, int64_t *values)
{
    memcpy(values, state->values, state->n * sizeof *values);
}

/* A GPU stamps its slots itself: nothing is left to do at their edges. */
static void no_edge(struct ifm_instrument_state *state)
{
    (void)state;
}

static void gpu_collect(struct ifm_instrument_state *state, int64_t *values)
{
    reset(state);
    read_source(state);
    collect(state, values);
}

static void close_attached(struct ifm_instrument_state *state)
{
    free(state);
}

static void attach(struct ifm_instrument_state *state, ifm_source_fn *read, void *context)
{
    state->read = read;
    state->context = context;
}

#define ATTACHED(id, class, list, kind, ...)                                                                           \
    {                                                                                                                  \
        .name = id, .intrusion = IFM_INTRUSION_##class, .columns = list, .n_columns = sizeof list / sizeof *list,      \
        .probe = kind##_probe, .open = kind##_open, .close = close_attached, .attach = attach, __VA_ARGS__             \
    }
#define FAKE(id, class)                                                                                                \
    ATTACHED(id, class, fake_columns, fake, .start = reset, .stop = read_source, .collect = collect)

const struct ifm_instrument ifm_instrument_gpu = ATTACHED("gpu", PASSIVE, gpu_columns, gpu, .device = "cuda",
                                                          .start = no_edge, .stop = no_edge, .collect = gpu_collect);
const struct ifm_instrument ifm_instrument_fake = FAKE("fake", PASSIVE);
static const struct ifm_instrument sampler = FAKE("fake_sampler", SAMPLING),
                                   replayer = FAKE("fake_replayer", REPLAYING), tracer = FAKE("fake_tracer", TRACING);

const struct ifm_instrument *const ifm_fake_instruments[IFM_INTRUSIONS] = {
    [IFM_INTRUSION_PASSIVE] = &ifm_instrument_fake,
    [IFM_INTRUSION_SAMPLING] = &sampler,
    [IFM_INTRUSION_REPLAYING] = &replayer,
    [IFM_INTRUSION_TRACING] = &tracer,
};
