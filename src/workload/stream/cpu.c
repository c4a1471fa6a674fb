/* stream on the processor: which probes there are, and one of them at work. */
#include "base/hash.h"
#include "base/text.h"
#include "kernel/cpu/isa.h"
#include "workload/data/data.h"
#include "workload/stream/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN 0x5a5a5a5a5a5a5a5aULL
#define OTHER 0xa5a5a5a5a5a5a5a5ULL
static const float FACTOR = 1.0f, TERM = 0x1p-10f; /* lanes grow by what they show of the rounds, exactly */

#define MIB (1ULL << 20)
#define CACHES_LEAST 4096ULL
#define CACHES_GRAIN (IFM_LINE * IFM_CHAINS) /* every chain walks the same number of lines */
#define SWEEP_LEAST (128 * MIB)
#define LOADS_MOST MIB
#define FLOPS_PER_THREAD (1ULL << 27)
#define DOT_ROUNDS_PER_THREAD (1ULL << 17)
#define CYCLES_PER_THREAD (1ULL << 21)
#define PIECE_PER_THREAD (8 * MIB) /* about a millisecond: the start of a step is a percent of it */
static const uint8_t LEFT = 1, RIGHT = 1;
static const uint64_t STEP = 3;
enum { SHAPES_MOST = 3, SINCE_WHOLE_WALKS = 8 /* of IFM_PLAN_RULES */ };

static const char *const shapes[IFM_PROBES][SHAPES_MOST] = {
    [IFM_PROBE_READ] = {"linear", "streams4", "prefetch"},
    [IFM_PROBE_WRITE] = {"store", "nontemporal", "memset"},
    [IFM_PROBE_COPY] = {"load_store", "nontemporal", "memcpy"},
    [IFM_PROBE_FLOPS] = {"fma8", "fma12", "fma16"},
    [IFM_PROBE_INT8] = {"dot12"},
    [IFM_PROBE_CLOCK] = {"chain"},
};

/* ---- what is offered ---- */

/* Row "probe.shape" of the dispatch table; an arm of caches has its size in the place of a shape, a read of a cache the
 * cache. */
static const char *operation(enum ifm_probe probe, const char *variant, char op[64])
{
    const bool of_cache = probe == IFM_PROBE_READ && variant[0] == 'L';
    snprintf(op, 64, "%s.%s", ifm_probe_names[probe],
             probe == IFM_PROBE_CACHES ? "chase"
             : of_cache                ? "linear"
                                       : variant);
    return op;
}

static bool counts_operations(enum ifm_probe probe)
{
    return probe == IFM_PROBE_FLOPS || probe == IFM_PROBE_INT8;
}

/* A number of operations that takes each worker about a millisecond. */
static struct ifm_stream_offer of_operations(enum ifm_probe probe, const char *shape, const struct ifm_kernel *kernel,
                                             uint64_t threads)
{
    struct ifm_stream_offer offer = {.variant = shape};
    if (probe == IFM_PROBE_CLOCK) {
        offer.chosen.rounds = CYCLES_PER_THREAD / IFM_CLOCK_CYCLES; /* of each worker */
        offer.ledger.rows = CYCLES_PER_THREAD;
    } else {
        offer.chosen.rounds = probe == IFM_PROBE_INT8 ? DOT_ROUNDS_PER_THREAD * threads
                                                      : FLOPS_PER_THREAD * threads / kernel->flops_per_round;
        offer.ledger.rows = offer.chosen.rounds;
        offer.ledger.flops = offer.chosen.rounds * kernel->flops_per_round;
    }
    return offer;
}

/* Each worker reads its half of what the level holds for it as often as makes a piece. */
static struct ifm_stream_offer of_level(const struct ifm_stream_ask *ask, const struct ifm_machine *machine,
                                        uint64_t threads)
{
    static const char *const names[] = {"L1", "L2", "L3"};
    const int level = ask->level > 3 ? 3 : ask->level;
    const bool last = machine->cache_reported[level] == 0;
    const uint64_t holds = last ? ifm_machine_llc_total(machine) : machine->cache_reported[level - 1] * threads;
    const uint64_t bytes = holds / 2 / IFM_LINE * IFM_LINE;
    struct ifm_stream_offer offer = ifm_stream_traffic(IFM_PROBE_READ, names[level - 1], bytes, 0);
    offer.chosen.rounds = 1 + PIECE_PER_THREAD * threads / bytes;
    offer.ledger.bytes_read = offer.chosen.rounds * bytes;
    return offer;
}

static struct ifm_stream_offer of_shape(const struct ifm_stream_ask *ask, const char *shape,
                                        const struct ifm_kernel *kernel, const struct ifm_machine *machine)
{
    const struct ifm_stream_settings *s = ask->settings;
    const uint64_t usual = ifm_data_mul(4, ifm_machine_llc_total(machine));
    const uint64_t bytes = s->size != 0 ? s->size : usual > 256 * MIB ? usual : 256 * MIB;
    const enum ifm_probe probe = (enum ifm_probe)s->probe;
    const uint64_t threads = machine->threads > 0 ? machine->threads : 1,
                   piece = ifm_data_mul(PIECE_PER_THREAD, threads);
    struct ifm_stream_offer offer = ifm_stream_traffic(probe, shape, bytes, ask->pieces && piece < bytes ? piece : 0);
    if (counts_operations(probe) || probe == IFM_PROBE_CLOCK)
        offer = of_operations(probe, shape, kernel, threads);
    else if (ask->level > 0)
        offer = of_level(ask, machine, threads);
    offer.chosen.isa = kernel->isa;
    return offer;
}

static void offer_shapes(struct ifm_stream_ask *ask, const struct ifm_machine *machine, struct ifm_arena *arena)
{
    const int probe = ask->settings->probe;
    const size_t most = ask->level == 0                               ? SHAPES_MOST
                        : machine->cache_reported[ask->level - 1] > 0 ? 1 /* in a cache the shapes do not differ */
                                                                      : 0;
    ask->offers = IFM_ARENA_ARRAY(arena, struct ifm_stream_offer, SHAPES_MOST);
    for (size_t i = 0; i < most && shapes[probe][i] != NULL; i++) {
        char op[64];
        const struct ifm_kernel *kernel = ifm_data_kernel(operation((enum ifm_probe)probe, shapes[probe][i], op),
                                                          ifm_isa_name(ask->settings->isa), machine);
        if (kernel != NULL) /* else a shape that this architecture does not have */
            ask->offers[ask->n++] = of_shape(ask, shapes[probe][i], kernel, machine);
    }
}

/* Of a size that a cache may hold a step walks the whole cycle, so that the untimed step before the samples brings all
 * of it there; a guest may be told of less cache than it gets. Before rules 8 a walk was of LOADS_MOST at most. */
static uint64_t loads_of(uint64_t lines, const struct ifm_machine *machine)
{
    const uint64_t twice = 2 * ifm_machine_llc(machine), whole = twice > SWEEP_LEAST ? twice : SWEEP_LEAST;
    const bool as_before = !ifm_machine_plans_by(machine, SINCE_WHOLE_WALKS);
    return lines < LOADS_MOST || (!as_before && lines * IFM_LINE <= whole) ? lines : LOADS_MOST;
}

/* Sizes in half-octave steps: 2^k and 2^k x sqrt(2), in whole rounds of the chains. */
static void offer_caches(struct ifm_stream_ask *ask, const struct ifm_machine *machine, struct ifm_arena *arena)
{
    const uint64_t llc = 4 * ifm_machine_llc(machine), most = llc > SWEEP_LEAST ? llc : SWEEP_LEAST;
    size_t n = 0;
    for (uint64_t size = CACHES_LEAST; size <= most; size *= 2)
        n += 2;
    ask->offers = IFM_ARENA_ARRAY(arena, struct ifm_stream_offer, n);
    for (uint64_t octave = CACHES_LEAST; octave <= most; octave *= 2)
        for (int half = 0; half < 2; half++) {
            uint64_t size = half == 0 ? octave : octave / 10000 * 14142 + octave % 10000 * 14142 / 10000;
            size = size / CACHES_GRAIN * CACHES_GRAIN;
            if (size > most)
                return;
            const uint64_t lines = size / IFM_LINE, loads = loads_of(lines, machine);
            ask->offers[ask->n++] = (struct ifm_stream_offer){
                .variant = ifm_arena_printf(arena, "%llu", (unsigned long long)size),
                .ledger = {.rows = loads, .bytes_read = loads * IFM_LINE},
                .working_set = size,
                .chosen = {.bytes = size, .loads = loads, .isa = ""},
            };
        }
}

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_stream_ask *ask = asked;
    const char *why_not = ifm_data_isa_why_not(ifm_isa_name(ask->settings->isa), machine, arena);
    if (why_not != NULL)
        return why_not;
    if (ask->settings->probe == IFM_PROBE_CACHES)
        offer_caches(ask, machine, arena);
    else
        offer_shapes(ask, machine, arena);
    return NULL;
}

/* ---- at work ---- */

/* Word `i` of the source, from the seed: cheap, and no two words alike. */
static uint64_t word_at(uint64_t seed, uint64_t i)
{
    return (seed + i) * 0x9E3779B97F4A7C15ULL;
}

struct stream_span {
    size_t from, bytes;
};

/* Worker `index`'s part, whole lines but for the end of the last one. */
static struct stream_span span_of(uint64_t bytes, unsigned index, unsigned count)
{
    uint64_t lines = bytes / IFM_LINE;
    uint64_t from = lines * index / count * IFM_LINE, to = lines * (index + 1ULL) / count * IFM_LINE;
    return (struct stream_span){from, (index + 1 == count ? bytes : to) - from};
}

/* Worker `index`'s part of the piece of this step. */
static struct stream_span span_now(const struct ifm_stream_run *state, unsigned index, unsigned count)
{
    struct stream_span span = span_of(state->now, index, count);
    span.from += state->at;
    return span;
}

static void fill_source(void *arg, unsigned index, unsigned count)
{
    const struct ifm_stream_run *state = arg;
    struct stream_span span = span_of(state->bytes, index, count);
    for (size_t at = span.from; at < span.from + span.bytes; at += sizeof(uint64_t)) {
        uint64_t word = word_at(state->seed, at / sizeof word);
        size_t left = span.from + span.bytes - at;
        memcpy(state->from + at, &word, left < sizeof word ? left : sizeof word);
    }
}

static void write_cycle(void *arg, unsigned index, unsigned count)
{
    const struct ifm_stream_run *state = arg;
    const struct stream_span span = span_of(state->bytes, index, count);
    ifm_cycle_write(&state->cycle, state->from, (uint32_t)(span.from / IFM_LINE),
                    (uint32_t)((span.from + span.bytes) / IFM_LINE));
}

static enum ifm_status buffer(struct ifm_stream_run *state, const char *what, unsigned char **out, bool *fresh,
                              struct ifm_error *error)
{
    char name[64];
    void *memory;
    snprintf(name, sizeof name, "stream.%s seed %016llx", what, (unsigned long long)state->seed);
    IFM_TRY(state->device->ops->buffer(state->device, name, state->bytes, &memory, fresh, error));
    *out = memory;
    return IFM_OK;
}

/* Arms that share a buffer take its pieces in turn. */
static enum ifm_status share_cursor(struct ifm_stream_run *state, struct ifm_error *error)
{
    char name[96];
    void *memory;
    bool fresh;
    if (state->asked.piece == 0)
        return IFM_OK;
    snprintf(name, sizeof name, "stream.next of %s, %llu bytes, seed %016llx",
             state->from != NULL ? "source" : ifm_probe_names[state->probe], (unsigned long long)state->bytes,
             (unsigned long long)state->seed);
    IFM_TRY(state->device->ops->buffer(state->device, name, sizeof *state->next, &memory, &fresh, error));
    state->next = memory;
    return IFM_OK;
}

/* Arms that read a piece a step read what other arms of the cell have lent, where that is as much. */
static enum ifm_status take_source(struct ifm_stream_run *state, struct ifm_error *error)
{
    bool fresh;
    if (state->probe == IFM_PROBE_READ && state->asked.piece > 0)
        IFM_TRY(ifm_stream_borrow(state->device, state->bytes, state->asked.piece, &state->lent, error));
    if (state->lent.pieces != NULL) {
        state->bytes = state->lent.n * state->asked.piece;
        state->from = (unsigned char *)(uintptr_t)state->lent.pieces[0]; /* which nobody writes through it */
        return IFM_OK;
    }
    IFM_TRY(buffer(state, "source", &state->from, &fresh, error));
    if (fresh)
        state->device->ops->parallel(state->device, state->threads, fill_source, state);
    return IFM_OK;
}

/* Read and copy arms of a cell share their source; targets belong to a probe. */
static enum ifm_status allocate(struct ifm_stream_run *state, struct ifm_error *error)
{
    bool fresh = false;
    state->results = aligned_alloc(IFM_LINE, state->threads * sizeof *state->results);
    if (state->results == NULL)
        return ifm_fail(error, IFM_INTERNAL, state->arm, NULL, "out of memory");
    state->wrong = calloc(state->threads, sizeof *state->wrong);
    if (state->wrong == NULL)
        return ifm_fail(error, IFM_INTERNAL, state->arm, NULL, "out of memory");
    for (unsigned i = 0; i < state->threads; i++)
        state->results[i].sum = OTHER;
    if (state->probe == IFM_PROBE_READ || state->probe == IFM_PROBE_COPY)
        IFM_TRY(take_source(state, error));
    if (state->probe == IFM_PROBE_WRITE || state->probe == IFM_PROBE_COPY)
        IFM_TRY(buffer(state, ifm_probe_names[state->probe], &state->to, &fresh, error));
    if (state->probe == IFM_PROBE_CACHES) {
        IFM_TRY(buffer(state, "caches", &state->from, &fresh, error));
        const uint32_t lines = (uint32_t)(state->bytes / IFM_LINE);
        state->cycle = ifm_cycle_of(state->seed, lines);
        state->device->ops->parallel(state->device, state->threads, write_cycle, state);
        for (uint32_t i = 0; i < IFM_CHAINS; i++)
            state->position[i] = state->start[i] = ifm_cycle_at(&state->cycle, i * (lines / IFM_CHAINS));
    }
    return share_cursor(state, error);
}

static void close_stream(void *opened)
{
    struct ifm_stream_run *state = opened;
    ifm_stream_give_back(&state->lent);
    free(state->results);
    free(state->wrong);
}

static enum ifm_status open_stream(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct ifm_stream_settings *settings = opening->settings;
    const struct ifm_stream_chosen *chosen = opening->chosen;
    struct ifm_stream_run *state = opened;
    *state = (struct ifm_stream_run){
        .device = opening->device,
        .arm = opening->arm->name,
        .threads = opening->threads,
        .probe = (enum ifm_probe)settings->probe,
        .bytes = chosen->bytes,
        .now = chosen->piece == 0 ? chosen->bytes : chosen->piece,
        .rounds = chosen->rounds,
        .loads = chosen->loads,
        .seed = opening->seed,
        .pattern = PATTERN,
        .asked = *chosen,
    };
    char op[64];
    state->kernel = ifm_kernel_find(operation(state->probe, opening->arm->variant, op), chosen->isa);
    if (state->kernel == NULL)
        return ifm_fail(error, IFM_MISSING, state->arm, "choose stream.isa=auto", "this build has no %s for %s", op,
                        chosen->isa);
    uint64_t accumulators = 0;
    if (counts_operations(state->probe) && /* "fma12", "dot12" */
        (!ifm_parse_u64(opening->arm->variant + strlen("fma"), &accumulators) || accumulators == 0))
        return ifm_fail(error, IFM_INTERNAL, state->arm, NULL, "a probe of operations is named after its accumulators");
    state->accumulators = (unsigned)accumulators;
    return allocate(state, error);
}

/* Worker `index`'s part of the rounds; each core has a clock of its own. */
static uint64_t rounds_of(enum ifm_probe probe, uint64_t rounds, unsigned index, unsigned count)
{
    return probe == IFM_PROBE_CLOCK ? rounds : rounds / count + (index < rounds % count);
}

static uint64_t read_part(const struct ifm_stream_run *state, struct stream_span span)
{
    uint64_t sum = state->kernel->fn.read(state->from + span.from, span.bytes);
    for (uint64_t pass = 1; pass < state->rounds; pass++) /* of a cache */
        sum += state->kernel->fn.read(state->from + span.from, span.bytes);
    return sum;
}

static void work(void *arg, unsigned index, unsigned count)
{
    struct ifm_stream_run *state = arg;
    const struct stream_span span = span_now(state, index, count);
    const uint64_t rounds = rounds_of(state->probe, state->rounds, index, count);
    switch (state->probe) {
    case IFM_PROBE_READ:
        state->results[index].sum = read_part(state, span);
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
    case IFM_PROBE_INT8:
        state->results[index].sum = state->kernel->fn.dots(rounds, LEFT, RIGHT);
        break;
    case IFM_PROBE_CLOCK:
        state->results[index].sum = state->kernel->fn.clock(rounds, STEP);
        break;
    case IFM_PROBE_MATRIX: /* on GPUs alone */
    case IFM_PROBE_CACHES: /* one thread, without the pool */
    case IFM_PROBES:
        break;
    }
}

/* The piece behind the last one that any arm took; a shorter one at the end would move fewer bytes than a step is said
 * to. */
static void take_piece(struct ifm_stream_run *state)
{
    if (state->next == NULL)
        return;
    const uint64_t piece = state->asked.piece, at = *state->next + piece > state->bytes ? 0 : *state->next;
    *state->next = at + piece;
    if (state->lent.pieces != NULL)
        state->from = (unsigned char *)(uintptr_t)state->lent.pieces[at / piece];
    else
        state->at = at;
}

static void step(void *opened, uint64_t n)
{
    struct ifm_stream_run *state = opened;
    for (; n > 0; n--) {
        state->steps++;
        take_piece(state);
        if (state->probe == IFM_PROBE_CACHES)
            state->kernel->fn.chase(state->from, state->position, state->loads / IFM_CHAINS);
        else
            state->device->ops->parallel(state->device, state->threads, work, state);
    }
}

/* ---- the check ---- */

static void spoil_part(void *arg, unsigned index, unsigned count)
{
    const struct ifm_stream_run *state = arg;
    const struct stream_span span = span_of(state->bytes, index, count);
    memset(state->to + span.from, (int)(OTHER & 0xff), span.bytes);
}

/* A byte a MiB, and the last one. */
static void spoil_some(const struct ifm_stream_run *state)
{
    for (uint64_t at = 0; at < state->bytes; at += MIB)
        state->to[at] = state->from == NULL ? (unsigned char)(OTHER & 0xff) : (unsigned char)~state->from[at];
    state->to[state->bytes - 1] =
        state->from == NULL ? (unsigned char)(OTHER & 0xff) : (unsigned char)~state->from[state->bytes - 1];
}

static void spoil(void *opened, bool all)
{
    struct ifm_stream_run *state = opened;
    state->spoilt = state->steps;
    for (unsigned i = 0; i < state->threads; i++)
        state->results[i].sum = OTHER;
    if (state->to != NULL && all)
        state->device->ops->parallel(state->device, state->threads, spoil_part, state);
    else if (state->to != NULL)
        spoil_some(state);
}

/* The sum of a worker's part of the source, from the formula that filled it; of lent memory, from what lies there. */
static uint64_t sum_of_span(const struct ifm_stream_run *state, struct stream_span span)
{
    const uint64_t first = span.from / sizeof(uint64_t), words = span.bytes / sizeof(uint64_t);
    uint64_t sum = 0, last = 0, word = word_at(state->seed, first + words);
    if (state->lent.pieces != NULL)
        return ifm_stream_sum(state->from + span.from, span.bytes);
    for (uint64_t i = first; i < first + words; i++)
        sum += word_at(state->seed, i);
    memcpy(&last, &word, span.bytes % sizeof word);
    return sum + last;
}

/* What is left of a worker's rounds: lane j of accumulator i starts at 1.5 + (17 i + j + 1) / 1024. */
static uint64_t sum_of_lanes(const struct ifm_stream_run *state, uint64_t rounds)
{
    const unsigned lanes = state->kernel->flops_per_round / 4 / state->accumulators;
    uint64_t sum = 0;
    for (unsigned i = 0; i < state->accumulators; i++)
        for (unsigned j = 0; j < lanes; j++)
            sum += (uint64_t)((1.5 + (17 * i + j + 1) / 1024.0 + (double)(2 * rounds) * (double)TERM) *
                              (double)IFM_FLOPS_SCALE);
    return sum;
}

/* The same of byte products: lane j of accumulator i starts at 17 i + j, and keeps 32 bits. */
static uint64_t sum_of_dots(const struct ifm_stream_run *state, uint64_t rounds)
{
    const unsigned lanes = state->kernel->flops_per_round / 16 / state->accumulators;
    uint64_t sum = 0;
    for (unsigned i = 0; i < state->accumulators; i++)
        for (unsigned j = 0; j < lanes; j++)
            sum += (uint32_t)(17 * i + j + 2 * rounds * 4 * LEFT * RIGHT);
    return sum;
}

/* Whether each worker's sum, which is exact, is the one of its part. */
static void check_sum(void *arg, unsigned index, unsigned count)
{
    const struct ifm_stream_run *state = arg;
    const uint64_t rounds = rounds_of(state->probe, state->asked.rounds, index, count);
    uint64_t right = 0;
    if (state->probe == IFM_PROBE_READ)
        right = sum_of_span(state, span_now(state, index, count)) * (state->asked.rounds > 0 ? state->asked.rounds : 1);
    else if (state->probe == IFM_PROBE_FLOPS)
        right = sum_of_lanes(state, rounds);
    else
        right = state->probe == IFM_PROBE_INT8 ? sum_of_dots(state, rounds) : rounds * IFM_CLOCK_CYCLES * STEP;
    state->wrong[index] = state->results[index].sum != right;
}

/* Bytes of a worker's part that are not the pattern, or not what filled the source. */
static void check_bytes(void *arg, unsigned index, unsigned count)
{
    const struct ifm_stream_run *state = arg;
    const struct stream_span span = span_now(state, index, count);
    uint64_t wrong = 0;
    for (size_t at = span.from; at < span.from + span.bytes; at += sizeof(uint64_t)) {
        const size_t left = span.from + span.bytes - at, n = left < sizeof(uint64_t) ? left : sizeof(uint64_t);
        const uint64_t word = state->probe == IFM_PROBE_COPY ? word_at(state->seed, at / sizeof word) : PATTERN;
        const unsigned char *expected = (const unsigned char *)&word;
        if (memcmp(state->to + at, expected, n) != 0)
            for (size_t i = 0; i < n; i++)
                wrong += state->to[at + i] != expected[i];
    }
    state->wrong[index] = wrong;
}

static uint64_t sum_wrong(struct ifm_stream_run *state, ifm_work_fn *compare)
{
    uint64_t wrong = 0;
    state->device->ops->parallel(state->device, state->threads, compare, state);
    for (unsigned i = 0; i < state->threads; i++)
        wrong += state->wrong[i];
    return wrong;
}

static void check_cycle(void *arg, unsigned index, unsigned count)
{
    struct ifm_stream_run *state = arg;
    const struct stream_span span = span_of(state->bytes, index, count);
    state->wrong[index] = ifm_cycle_wrong(&state->cycle, state->from, (uint32_t)(span.from / IFM_LINE),
                                          (uint32_t)((span.from + span.bytes) / IFM_LINE));
}

/* Chains that are not where all steps since open lead them; all, where the cycle is another one. */
static uint64_t wrong_chains(struct ifm_stream_run *state)
{
    const uint64_t lines = state->cycle.lines, each = lines / IFM_CHAINS;
    const uint64_t walked = state->steps * (state->asked.loads / IFM_CHAINS) % lines;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < IFM_CHAINS; i++)
        wrong += state->position[i] != ifm_cycle_at(&state->cycle, (uint32_t)((i * each + walked) % lines));
    return sum_wrong(state, check_cycle) > 0 ? IFM_CHAINS : wrong;
}

static enum ifm_status check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_stream_run *state = opened;
    const bool sums =
        state->probe == IFM_PROBE_READ || state->probe == IFM_PROBE_CLOCK || counts_operations(state->probe);
    uint64_t wrong, sum = 0;
    (void)error;
    *out = (struct ifm_check){.done = true, .finite = true};
    snprintf(out->isa, sizeof out->isa, "%s", state->kernel->isa);
    if (state->probe == IFM_PROBE_CACHES) {
        out->values = IFM_CHAINS;
        wrong = wrong_chains(state);
        out->output_xxh3 = ifm_xxh3(state->start, sizeof state->start); /* where a walk ends depends on their number */
    } else if (sums) {
        out->values = state->threads;
        wrong = sum_wrong(state, check_sum);
        for (unsigned i = 0; i < state->threads; i++)
            sum += state->results[i].sum;
        out->output_xxh3 = ifm_xxh3(&sum, sizeof sum);
    } else {
        out->values = state->now;
        wrong = sum_wrong(state, check_bytes);
        out->output_xxh3 = ifm_xxh3(state->to, state->bytes);
    }
    if (state->asked.piece > 0) /* what is left is of another piece each time: that it is right is all to say */
        out->output_xxh3 = ifm_xxh3(&wrong, sizeof wrong);
    if (state->steps == state->spoilt) /* no step since then, whatever is left of earlier ones */
        wrong = out->values;
    out->error_rms_rel = out->error_max_rel = (double)wrong / (double)out->values;
    return IFM_OK;
}

const struct ifm_implementation ifm_stream_cpu = {
    .name = "ours",
    .title = "ours",
    .device = "cpu",
    .purpose = "kernels of each instruction set, memset and memcpy",
    .supports = supports,
    .state_bytes = sizeof(struct ifm_stream_run),
    .open = open_stream,
    .step = step,
    .spoil = spoil,
    .check = check,
    .close = close_stream,
};
