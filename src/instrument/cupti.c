/* Instrument gpu_counters: what the hardware of a GPU counts over a slot, by CUPTI's range profiler.
 *
 * A slot is one range around live steps; where something runs between its samples, the range is around the last one.
 * Where the chip's counters do not fit into one pass, each set has slots of its own; a slot fills the columns of its
 * set, and the others are absent. What its calls cost the host is a column too. Whatever is not there or not permitted
 * makes columns absent, with the reason: nothing here fails a run. */
#include "base/arena.h"
#include "base/clock.h"
#include "instrument/instrument.h"
#include "instrument/range_profiler.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ifm_instrument_state {
    const struct ifm_range_profiler *profiler;
    struct ifm_range_set set; /* set.set NULL = none is open */
    bool begun;
    int64_t values[IFM_COUNTER_COLUMNS];
    size_t slots, read;
    char why[320]; /* of the last slot that was not read */
    char source[64];
};

static const char *counters_probe(size_t column, const char **remedy)
{
    static char why[64];
    const struct ifm_range_profiler *profiler = ifm_range_profiler_get();
    *remedy = profiler->remedy;
    if (profiler->cupti == NULL)
        return profiler->why;
    *remedy = "";
    if (column == IFM_COUNTER_COST || ifm_counter_sets_have(&profiler->sets, column))
        return "";
    snprintf(why, sizeof why, "the chip %s does not count it in one pass", profiler->sets.chip);
    return why;
}

static enum ifm_status counters_open(struct ifm_instrument_state **out, struct ifm_error *error)
{
    (void)error;
    struct ifm_instrument_state *state = ifm_zeros(1, sizeof *state);
    state->profiler = ifm_range_profiler_get();
    if (state->profiler->cupti != NULL)
        snprintf(state->source, sizeof state->source, "%s, chip %s", state->profiler->cupti->name,
                 state->profiler->sets.chip);
    *out = state;
    return IFM_OK;
}

static void counters_close(struct ifm_instrument_state *state)
{
    if (state->set.set != NULL)
        ifm_range_set_close(state->profiler, &state->set);
    free(state);
}

static unsigned counters_groups(const struct ifm_instrument_state *state)
{
    return state->profiler->cupti == NULL ? 0 : (unsigned)state->profiler->sets.n;
}

static void counters_choose(struct ifm_instrument_state *state, unsigned group)
{
    const struct ifm_counter_set *wanted = &state->profiler->sets.items[group];
    if (state->profiler->cupti == NULL || state->set.set == wanted)
        return;
    if (state->set.set != NULL)
        ifm_range_set_close(state->profiler, &state->set);
    (void)ifm_range_set_open(state->profiler, wanted, &state->set, state->why);
}

/* As seen on an H200: 0.2 s for the first range of a set, 30 ms for the others. */
static void counters_expects(struct ifm_instrument_expected *out)
{
    struct ifm_counter_sets sets;
    struct ifm_cuda_card card;
    struct ifm_cuda_absence absence;
    char capability[16];
    *out = (struct ifm_instrument_expected){0, 0.2, 0.03};
    if (!ifm_cuda_first(&card, &absence))
        return;
    snprintf(capability, sizeof capability, "%u.%u", card.major % 1000, card.minor % 1000);
    out->groups = ifm_counter_sets_of(capability, &sets) ? (unsigned)sets.n : 0;
}

/* Nothing of before the range is under way, and nothing of it when it ends. */
static bool is_idle(struct ifm_instrument_state *state)
{
    struct ifm_cuda_absence absence;
    CUcontext context = NULL;
    const struct ifm_cuda *cuda = ifm_cuda_load(&absence);
    if (cuda == NULL) /* it was there when the set was opened */
        return false;
    CUresult result = cuda->p_cuCtxGetCurrent(&context);
    if (result == CUDA_SUCCESS)
        result = cuda->p_cuCtxSynchronize(context);
    if (result == CUDA_SUCCESS)
        return true;
    snprintf(state->why, sizeof state->why, "the work around a range failed: %s", ifm_cuda_error(cuda, result));
    return false;
}

static void counters_start(struct ifm_instrument_state *state)
{
    const struct ifm_instant began = ifm_clock_now();
    for (size_t c = 0; c < IFM_COUNTER_COLUMNS; c++)
        state->values[c] = IFM_ABSENT;
    state->slots++;
    state->begun =
        state->set.set != NULL && is_idle(state) && ifm_range_begin(state->profiler, &state->set, state->why);
    if (state->begun)
        state->values[IFM_COUNTER_COST] = ifm_clock_since(began).ns;
}

static void counters_stop(struct ifm_instrument_state *state)
{
    double counted[IFM_COUNTER_METRICS_MOST];
    const struct ifm_counter_set *set = state->set.set;
    const struct ifm_instant began = ifm_clock_now();
    if (!state->begun)
        return;
    state->begun = false;
    const bool idle = is_idle(state);
    const bool whole = ifm_range_end(state->profiler, &state->set, counted, state->why) && idle;
    state->values[IFM_COUNTER_COST] += ifm_clock_since(began).ns;
    for (size_t m = 0; whole && m < set->n; m++) {
        int64_t *value = &state->values[set->column[m]];
        const bool percent = strcmp(ifm_counter_columns[set->column[m]].unit, "ppm") == 0;
        *value = (*value == IFM_ABSENT ? 0 : *value) + (int64_t)llround((percent ? 1e4 : 1) * counted[m]);
    }
    state->read += whole;
}

static void counters_collect(struct ifm_instrument_state *state, int64_t *values)
{
    memcpy(values, state->values, sizeof state->values);
}

static void counters_tell(const struct ifm_instrument_state *state, struct ifm_instrument_told *told)
{
    *told = (struct ifm_instrument_told){state->source, state->slots, state->read, state->why};
}

const struct ifm_instrument ifm_instrument_gpu_counters = {
    .name = "gpu_counters",
    .device = "cuda",
    .intrusion = IFM_INTRUSION_REPLAYING,
    .last_sample = true,
    .columns = ifm_counter_columns,
    .n_columns = IFM_COUNTER_COLUMNS,
    .probe = counters_probe,
    .open = counters_open,
    .start = counters_start,
    .stop = counters_stop,
    .collect = counters_collect,
    .close = counters_close,
    .groups = counters_groups,
    .choose = counters_choose,
    .expects = counters_expects,
    .tell = counters_tell,
};
