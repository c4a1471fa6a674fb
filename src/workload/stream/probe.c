/* One stream arm at work. Amounts come from the arm's ledger, so that what is divided by time is what was done. */
#include "workload/stream/probe.h"

#include "base/hash.h"
#include "device/cuda.h"
#include "device/fake.h"
#include "workload/stream/cuda.h"
#include "workload/stream/cycle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN 0x5a5a5a5a5a5a5a5aULL
#define OTHER 0xa5a5a5a5a5a5a5a5ULL
static const float FACTOR = -1.0f, TERM = 3.0f; /* each lane is back at its start after a round */

static const char *const probe_names[] = {"read", "write", "copy", "flops", "matrix", "caches"};

struct result {
    _Alignas(IFM_LINE) uint64_t sum; /* a line each, so that workers do not share one */
};

struct ifm_workload_state {
    struct ifm_device *device;
    const char *arm;
    bool fake;
    struct ifm_stream_cuda *cuda; /* on the device cuda; nothing below is used then */
    unsigned threads;
    enum ifm_probe probe;
    const struct ifm_kernel *kernel;
    unsigned char *from, *to;
    uint64_t bytes, rounds, loads;
    uint64_t seed, pattern;
    uint64_t position[IFM_CHAINS], start[IFM_CHAINS];
    struct result *results;
};

const struct ifm_kernel *ifm_stream_kernel(enum ifm_probe probe, const char *variant, const char *isa)
{
    char op[64];
    snprintf(op, sizeof op, "%s.%s", probe_names[probe], probe == IFM_PROBE_CACHES ? "chase" : variant);
    return ifm_kernel_find(op, isa);
}

/* Word `i` of the source, from the seed: cheap, and no two words alike. */
static uint64_t word_at(uint64_t seed, uint64_t i)
{
    return (seed + i) * 0x9E3779B97F4A7C15ULL;
}

struct span {
    size_t from, bytes;
};

/* Worker `index`'s part, whole lines but for the end of the last one. */
static struct span span_of(uint64_t bytes, unsigned index, unsigned count)
{
    uint64_t lines = bytes / IFM_LINE;
    uint64_t from = lines * index / count * IFM_LINE, to = lines * (index + 1ULL) / count * IFM_LINE;
    return (struct span){from, (index + 1 == count ? bytes : to) - from};
}

static void fill_source(void *arg, unsigned index, unsigned count)
{
    const struct ifm_workload_state *state = arg;
    struct span span = span_of(state->bytes, index, count);
    for (size_t at = span.from; at < span.from + span.bytes; at += sizeof(uint64_t)) {
        uint64_t word = word_at(state->seed, at / sizeof word);
        size_t left = span.from + span.bytes - at;
        memcpy(state->from + at, &word, left < sizeof word ? left : sizeof word);
    }
}

static enum ifm_status buffer(struct ifm_workload_state *state, const char *what, unsigned char **out, bool *fresh,
                              struct ifm_error *error)
{
    char name[64];
    void *memory;
    snprintf(name, sizeof name, "stream.%s seed %016llx", what, (unsigned long long)state->seed);
    IFM_TRY(state->device->ops->buffer(state->device, name, state->bytes, &memory, fresh, error));
    *out = memory;
    return IFM_OK;
}

/* Read and copy arms of a cell share their source; targets belong to a probe. */
static enum ifm_status allocate(struct ifm_workload_state *state, struct ifm_error *error)
{
    bool fresh = false;
    state->results = aligned_alloc(IFM_LINE, state->threads * sizeof *state->results);
    if (state->results == NULL)
        return ifm_fail(error, IFM_INTERNAL, state->arm, NULL, "out of memory");
    memset(state->results, 0, state->threads * sizeof *state->results);
    if (state->probe == IFM_PROBE_READ || state->probe == IFM_PROBE_COPY) {
        IFM_TRY(buffer(state, "source", &state->from, &fresh, error));
        if (fresh)
            state->device->ops->parallel(state->device, state->threads, fill_source, state);
    }
    if (state->probe == IFM_PROBE_WRITE || state->probe == IFM_PROBE_COPY)
        IFM_TRY(buffer(state, probe_names[state->probe], &state->to, &fresh, error));
    if (state->probe == IFM_PROBE_CACHES) {
        IFM_TRY(buffer(state, "caches", &state->from, &fresh, error));
        IFM_TRY(ifm_cycle_write(state->from, state->bytes / IFM_LINE, state->seed, state->start, IFM_CHAINS, error));
        memcpy(state->position, state->start, sizeof state->position);
    }
    return IFM_OK;
}

enum ifm_status ifm_stream_open(const struct ifm_arm *arm, enum ifm_probe probe, const char *isa,
                                struct ifm_device *device, unsigned threads, uint64_t seed,
                                struct ifm_workload_state **out, struct ifm_error *error)
{
    struct ifm_workload_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ifm_fail(error, IFM_INTERNAL, arm->name, NULL, "out of memory");
    state->device = device;
    state->arm = arm->name;
#if defined(IFM_HAVE_CUDA)
    if (ifm_device_is_cuda(device)) {
        enum ifm_status opened = ifm_stream_cuda_open(arm, probe, device, seed, &state->cuda, error);
        if (opened != IFM_OK)
            free(state);
        else
            *out = state;
        return opened;
    }
#endif
    state->fake = ifm_device_is_fake(device);
    state->threads = threads;
    state->probe = probe;
    state->seed = seed;
    state->pattern = PATTERN;
    state->kernel = ifm_stream_kernel(probe, arm->variant, isa);
    enum ifm_status status = IFM_OK;
    if (state->kernel == NULL) {
        status = ifm_fail(error, IFM_MISSING, arm->name, "choose stream.isa=auto", "this build has no %s.%s for %s",
                          probe_names[probe], arm->variant, isa);
    } else if (!state->fake) {
        const struct ifm_ledger *ledger = &arm->ledger;
        state->bytes = probe == IFM_PROBE_CACHES  ? arm->working_set
                       : probe == IFM_PROBE_WRITE ? ledger->bytes_written
                                                  : ledger->bytes_read;
        state->loads = ledger->rows;
        state->rounds = probe == IFM_PROBE_FLOPS ? ledger->flops / state->kernel->flops_per_round : 0;
        status = allocate(state, error);
    }
    if (status != IFM_OK)
        ifm_stream_close(state);
    else
        *out = state;
    return status;
}

static void work(void *arg, unsigned index, unsigned count)
{
    struct ifm_workload_state *state = arg;
    const struct span span = span_of(state->bytes, index, count);
    uint64_t rounds = state->rounds / count + (index < state->rounds % count);
    switch (state->probe) {
    case IFM_PROBE_READ:
        state->results[index].sum = state->kernel->fn.read(state->from + span.from, span.bytes);
        break;
    case IFM_PROBE_WRITE:
        state->kernel->fn.write(state->to + span.from, span.bytes, state->pattern);
        break;
    case IFM_PROBE_COPY:
        state->kernel->fn.copy(state->to + span.from, state->from + span.from, span.bytes);
        break;
    case IFM_PROBE_FLOPS:
        state->results[index].sum = state->kernel->fn.flops(rounds, FACTOR, TERM);
        break;
    case IFM_PROBE_MATRIX: /* on GPUs alone */
    case IFM_PROBE_CACHES:
        break; /* one thread, without the pool */
    }
}

void ifm_stream_step(struct ifm_workload_state *state, uint64_t n)
{
    if (state->fake) {
        ifm_fake_advance(state->device, state->arm, n);
        return;
    }
#if defined(IFM_HAVE_CUDA)
    if (state->cuda != NULL) {
        ifm_stream_cuda_step(state->cuda, n);
        return;
    }
#endif
    for (; n > 0; n--)
        if (state->probe == IFM_PROBE_CACHES)
            state->kernel->fn.chase(state->from, state->position, state->loads / IFM_CHAINS);
        else
            state->device->ops->parallel(state->device, state->threads, work, state);
}

static uint64_t sum_of_results(const struct ifm_workload_state *state)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < state->threads; i++)
        sum += state->results[i].sum;
    return sum;
}

/* The source's sum, from the formula that filled it. */
static uint64_t expected_sum(const struct ifm_workload_state *state)
{
    uint64_t words = state->bytes / sizeof(uint64_t), sum = 0, last = 0, word = word_at(state->seed, words);
    for (uint64_t i = 0; i < words; i++)
        sum += word_at(state->seed, i);
    memcpy(&last, &word, state->bytes % sizeof word);
    return sum + last;
}

/* Values that a read or compute probe got wrong: its checksum is exact, so that is all or none. */
static uint64_t wrong_sum(const struct ifm_workload_state *state, struct ifm_check *out)
{
    uint64_t sum = sum_of_results(state), expected;
    if (state->probe == IFM_PROBE_READ)
        expected = expected_sum(state);
    else /* -x + 3 an even number of times: what no rounds at all return */
        expected = state->threads * state->kernel->fn.flops(0, FACTOR, TERM);
    out->values = 1;
    out->output_xxh3 = ifm_xxh3(&sum, sizeof sum);
    return sum != expected;
}

/* Bytes that differ from what one more step over a spoiled target must leave. */
static uint64_t wrong_bytes(struct ifm_workload_state *state, struct ifm_check *out)
{
    memset(state->to, (int)(OTHER & 0xff), state->bytes);
    ifm_stream_step(state, 1);
    uint64_t wrong = 0;
    if (state->probe == IFM_PROBE_COPY) {
        if (memcmp(state->to, state->from, state->bytes) != 0)
            for (uint64_t i = 0; i < state->bytes; i++)
                wrong += state->to[i] != state->from[i];
    } else {
        for (uint64_t i = 0; i < state->bytes; i++)
            wrong += state->to[i] != (unsigned char)(PATTERN & 0xff);
    }
    out->values = state->bytes;
    out->output_xxh3 = ifm_xxh3(state->to, state->bytes);
    return wrong;
}

/* Chains that, after walking the whole cycle's length between them, are not where the next one began. */
static uint64_t wrong_chains(struct ifm_workload_state *state, struct ifm_check *out)
{
    uint64_t position[IFM_CHAINS], wrong = 0;
    memcpy(position, state->start, sizeof position);
    state->kernel->fn.chase(state->from, position, state->bytes / IFM_LINE / IFM_CHAINS);
    for (int i = 0; i < IFM_CHAINS; i++)
        wrong += position[i] != state->start[(i + 1) % IFM_CHAINS];
    out->values = IFM_CHAINS;
    out->output_xxh3 = ifm_xxh3(position, sizeof position);
    return wrong;
}

enum ifm_status ifm_stream_check(struct ifm_workload_state *state, struct ifm_check *out, struct ifm_error *error)
{
    (void)error;
    *out = (struct ifm_check){0};
    if (state->fake)
        return IFM_OK;
#if defined(IFM_HAVE_CUDA)
    if (state->cuda != NULL)
        return ifm_stream_cuda_check(state->cuda, out, error);
#endif
    uint64_t wrong = state->probe == IFM_PROBE_CACHES                                    ? wrong_chains(state, out)
                     : state->probe == IFM_PROBE_READ || state->probe == IFM_PROBE_FLOPS ? wrong_sum(state, out)
                                                                                         : wrong_bytes(state, out);
    snprintf(out->isa, sizeof out->isa, "%s", state->kernel->isa);
    out->done = true;
    out->finite = true;
    out->error_rms_rel = out->error_max_rel = (double)wrong / (double)out->values;
    return IFM_OK;
}

void ifm_stream_close(struct ifm_workload_state *state)
{
    if (state == NULL)
        return;
#if defined(IFM_HAVE_CUDA)
    ifm_stream_cuda_close(state->cuda);
#endif
    free(state->results);
    free(state);
}
