/* Instrument fake: columns from the fake device's script, so that what is made of counters can be tested without any.
 *
 * The passive one is offered on the fake device alone, and only when the script gives it something to read; those of
 * the other classes are for tests of their passes. They never see the device: run attaches a source. */
#include "instrument/instrument.h"
#include <stdlib.h>

enum { L2_HITS, L2_ACCESSES, ENERGY, CPU_KHZ, STEAL, N_COLUMNS };

/* In the order of enum ifm_fake_column of device/fake.h. */
static const struct ifm_column columns[N_COLUMNS] = {
    [L2_HITS] = {"l2_hits", "count"}, [L2_ACCESSES] = {"l2_accesses", "count"},
    [ENERGY] = {"energy_uj", "uJ"},   [CPU_KHZ] = {"cpu_khz", "kHz"},
    [STEAL] = {"steal_ns", "ns"},
};

struct ifm_instrument_state {
    ifm_source_fn *read;
    void *context;
    int64_t values[N_COLUMNS];
};

static const char *fake_probe(size_t column, const char **remedy)
{
    (void)column;
    *remedy = "choose device.kind=fake with a script that gives it";
    return "this column exists on the fake device only";
}

static enum ifm_status fake_open(struct ifm_instrument_state **out, struct ifm_error *error)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? IFM_OK : ifm_fail(error, IFM_INTERNAL, NULL, NULL, "no memory for the instrument fake");
}

static void fake_start(struct ifm_instrument_state *state)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        state->values[i] = IFM_ABSENT;
}

static void fake_stop(struct ifm_instrument_state *state)
{
    if (state->read != NULL)
        state->read(state->context, state->values);
}

static void fake_collect(struct ifm_instrument_state *state, int64_t *values)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        values[i] = state->values[i];
}

static void fake_close(struct ifm_instrument_state *state)
{
    free(state);
}

static void fake_attach(struct ifm_instrument_state *state, ifm_source_fn *read, void *context)
{
    state->read = read;
    state->context = context;
}

#define FAKE(id, class)                                                                                                \
    {                                                                                                                  \
        .name = id, .intrusion = IFM_INTRUSION_##class, .columns = columns, .n_columns = N_COLUMNS,                    \
        .probe = fake_probe, .open = fake_open, .start = fake_start, .stop = fake_stop, .collect = fake_collect,       \
        .close = fake_close, .attach = fake_attach                                                                     \
    }

const struct ifm_instrument ifm_instrument_fake = FAKE("fake", PASSIVE);
static const struct ifm_instrument sampler = FAKE("fake_sampler", SAMPLING),
                                   replayer = FAKE("fake_replayer", REPLAYING), tracer = FAKE("fake_tracer", TRACING);

const struct ifm_instrument *const ifm_fake_instruments[IFM_INTRUSIONS] = {
    [IFM_INTRUSION_PASSIVE] = &ifm_instrument_fake,
    [IFM_INTRUSION_SAMPLING] = &sampler,
    [IFM_INTRUSION_REPLAYING] = &replayer,
    [IFM_INTRUSION_TRACING] = &tracer,
};
