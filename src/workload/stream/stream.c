/* stream: the device's own limits, which every other rate is held against.
 *
 * What the timed region contains: one pass of all workers over their parts of the buffer (read, write, copy), a fixed
 * number of multiply-adds (flops), byte products (int8), dependent additions (clock) or matrix products (matrix), or
 * one walk through a random cycle of cache lines on one thread (caches). */
#include "workload/stream/stream.h"

#include "device/cuda.h"
#include "kernel/cpu/isa.h"
#include "workload/data/data.h"
#include <string.h>

static const struct ifm_param rows[] = {
    {"stream.probe", "probe", IFM_TYPE_CHOICE, IFM_SWEEP, "", "read,write,copy,flops,caches", 1, 0,
     "read|write|copy|flops|int8|clock|matrix|caches",
     "what is probed: a bandwidth, the FLOP rate, the rate of byte products, the core's clock, the rate of a GPU's "
     "matrix products, or the cache sizes",
     offsetof(struct ifm_stream_settings, probe)},
    {"stream.size", "size", IFM_TYPE_BYTES, IFM_SWEEP, "B", "0", 0, 1ULL << 50, NULL,
     "bytes in each buffer of read, write and copy; 0 takes the larger of 256 MiB and 4 x the last-level cache",
     offsetof(struct ifm_stream_settings, size)},
    {"stream.isa", "isa", IFM_TYPE_CHOICE, IFM_SWEEP | IFM_PER_ARM, "", "auto", 1, 0, IFM_ISA_CHOICES,
     "instruction set of the probes; auto takes the best that the machine has",
     offsetof(struct ifm_stream_settings, isa)},
};

static const struct ifm_section section =
    IFM_SECTION("stream", "Bandwidth, FLOP rate and cache sizes of the device", rows, struct ifm_stream_settings);

static const struct ifm_param chosen_rows[] = {
    {"bytes", NULL, IFM_TYPE_U64, 0, "B", "0", 1, 0, NULL, "bytes in each buffer",
     offsetof(struct ifm_stream_chosen, bytes)},
    {"piece", NULL, IFM_TYPE_U64, 0, "B", "0", 1, 0, NULL, "bytes of a step; 0 = the whole buffer",
     offsetof(struct ifm_stream_chosen, piece)},
    {"rounds", NULL, IFM_TYPE_U64, 0, "count", "0", 1, 0, NULL,
     "rounds of operations, or passes over a cache, in a step", offsetof(struct ifm_stream_chosen, rounds)},
    {"loads", NULL, IFM_TYPE_U64, 0, "count", "0", 1, 0, NULL, "loads of a walk",
     offsetof(struct ifm_stream_chosen, loads)},
    {"isa", NULL, IFM_TYPE_TEXT, 0, "", "", 1, 0, NULL, "instruction set of the kernel",
     offsetof(struct ifm_stream_chosen, isa)},
};

static const struct ifm_section chosen = IFM_SECTION("stream", NULL, chosen_rows, struct ifm_stream_chosen);

static const enum ifm_ceiling ceilings[IFM_PROBES] = {IFM_CEILING_READ,   IFM_CEILING_WRITE, IFM_CEILING_COPY,
                                                      IFM_CEILING_FLOPS,  IFM_CEILING_INT8,  IFM_CEILING_CLOCK,
                                                      IFM_CEILING_MATRIX, IFM_CEILING_NONE};

static const struct ifm_implementation *const implementations[] = {&ifm_stream_cpu, &ifm_stream_cuda, NULL};

static struct ifm_arm arm_of(const struct ifm_stream_ask *ask, const struct ifm_implementation *row,
                             const struct ifm_stream_offer *offer, struct ifm_arena *arena)
{
    const enum ifm_probe probe = (enum ifm_probe)ask->settings->probe;
    return (struct ifm_arm){
        .name = ifm_arena_printf(arena, "%s.%s", ifm_probe_names[probe], offer->variant),
        .variant = offer->variant,
        .implementation = row->name,
        .title = ifm_data_title(row->title, offer->chosen.isa, arena),
        .chosen = ifm_section_print(&chosen, &offer->chosen, arena),
        .n_chosen = chosen.n,
        .ceiling = ask->level > 0 ? ifm_ceiling_of_level(ask->level) : ceilings[probe],
        .integer = probe == IFM_PROBE_INT8,
        .ledger = offer->ledger,
        .working_set = offer->working_set,
        .memory = offer->working_set,
        .has_oracle = true,
        .tolerance = offer->tolerance,
    };
}

/* Not for users: what is asked of a ceiling that is taken along. */
static const char PIECES[] = "stream.pieces", LEVEL[] = "stream.level";

static const char *asked_for(const struct ifm_setting *settings, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(settings[i].path, path) == 0)
            return settings[i].text;
    return NULL;
}

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    struct ifm_stream_settings s;
    *arms = (struct ifm_arm_list){0};
    *why_not = NULL;
    IFM_TRY(ifm_section_bind(&section, settings, n, arena, &s, error));
    const char *level = asked_for(settings, n, LEVEL);
    for (size_t i = 0; implementations[i] != NULL && arms->n == 0 && *why_not == NULL; i++) {
        struct ifm_stream_ask ask = {.settings = &s, .pieces = asked_for(settings, n, PIECES) != NULL};
        if (level != NULL)
            ask.level = level[0] - '0';
        if (!ifm_implementation_serves(implementations[i], machine))
            continue;
        *why_not = implementations[i]->supports(machine, &ask, arena);
        if (*why_not != NULL)
            return IFM_OK;
        arms->items = IFM_ARENA_ARRAY(arena, struct ifm_arm, ask.n + 1);
        for (; arms->n < ask.n; arms->n++)
            arms->items[arms->n] = arm_of(&ask, implementations[i], &ask.offers[arms->n], arena);
    }
    if (arms->n == 0)
        *why_not = ifm_arena_printf(arena, "this build has no probe %s for %s", ifm_probe_names[s.probe],
                                    machine->gpu != NULL ? machine->gpu->name : ifm_isa_name(s.isa));
    return ifm_data_check_memory(ifm_data_most_memory(arms), machine, "stream.size",
                                 "lower stream.size, or free memory", "the buffers need", error);
}

static const struct ifm_ceiling_settings ceiling_settings = {"stream.probe", "stream.size", PIECES, LEVEL};

const struct ifm_workload ifm_workload_stream = {
    .name = "stream",
    .purpose = "the device's measured limits: read, write and copy bandwidth, FLOP rate, cache sizes",
    .timed_region = "one pass over the buffers, a fixed number of operations, or one walk through a cycle of lines",
    .params = &section,
    .chosen = &chosen,
    .describe = describe,
    .has_oracle = true,
    .implementations = implementations,
    .ceilings = &ceiling_settings,
};
