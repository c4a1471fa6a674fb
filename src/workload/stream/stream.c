/* stream: the device's own limits, which every other rate is held against.
 *
 * What the timed region contains: one pass of all workers over their parts of the buffer (read, write, copy), a fixed
 * number of multiply-adds (flops), or one walk through a random cycle of cache lines on one thread (caches). */
#include "base/text.h"
#include "kernel/cpu/isa.h"
#include "workload/data/data.h"
#include "workload/stream/cuda.h"
#include "workload/stream/probe.h"

#include <stdio.h>
#include <string.h>

enum { SHAPES_MOST = 3 };
#define MIB (1ULL << 20)
#define CACHES_LEAST 4096ULL
#define CACHES_GRAIN (IFM_LINE * IFM_CHAINS) /* every chain walks the same number of lines */
#define LOADS_MOST MIB
#define FLOPS_PER_THREAD (1ULL << 27)

struct settings {
    int probe;
    uint64_t size;
    int isa;
};

static const struct ifm_param rows[] = {
    {"stream.probe", "probe", IFM_TYPE_CHOICE, IFM_SWEEP, "", "read,write,copy,flops,caches", 1, 0,
     "read|write|copy|flops|matrix|caches",
     "what is probed: a bandwidth, the FLOP rate, the rate of a GPU's matrix products, or the cache sizes",
     offsetof(struct settings, probe)},
    {"stream.size", "size", IFM_TYPE_BYTES, IFM_SWEEP, "B", "0", 0, 1ULL << 50, NULL,
     "bytes in each buffer of read, write and copy; 0 takes the larger of 256 MiB and 4 x the last-level cache",
     offsetof(struct settings, size)},
    {"stream.isa", "isa", IFM_TYPE_CHOICE, IFM_SWEEP | IFM_PER_ARM, "", "auto", 1, 0, IFM_ISA_CHOICES,
     "instruction set of the probes; auto takes the best that the machine has", offsetof(struct settings, isa)},
};

static const struct ifm_section section = {
    .name = "stream",
    .help = "Bandwidth, FLOP rate and cache sizes of the device",
    .rows = rows,
    .n = sizeof rows / sizeof rows[0],
    .size = sizeof(struct settings),
};

static const struct probe {
    const char *name;
    enum ifm_ceiling ceiling;
    const char *shapes[SHAPES_MOST];
} probes[] = {
    [IFM_PROBE_READ] = {"read", IFM_CEILING_READ, {"linear", "streams4", "prefetch"}},
    [IFM_PROBE_WRITE] = {"write", IFM_CEILING_WRITE, {"store", "nontemporal", "memset"}},
    [IFM_PROBE_COPY] = {"copy", IFM_CEILING_COPY, {"load_store", "nontemporal", "memcpy"}},
    [IFM_PROBE_FLOPS] = {"flops", IFM_CEILING_FLOPS, {"fma8", "fma12", "fma16"}},
    [IFM_PROBE_MATRIX] = {"matrix", IFM_CEILING_MATRIX, {NULL}},
    [IFM_PROBE_CACHES] = {"caches", IFM_CEILING_NONE, {NULL}},
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void amounts(struct ifm_arm *arm, const struct settings *s, const struct ifm_kernel *kernel, uint64_t size,
                    const struct ifm_machine *machine)
{
    struct ifm_ledger *ledger = &arm->ledger;
    if (s->probe == IFM_PROBE_FLOPS) {
        uint64_t all = FLOPS_PER_THREAD * (machine->threads > 0 ? machine->threads : 1);
        ledger->rows = all / kernel->flops_per_round;
        ledger->flops = ledger->rows * kernel->flops_per_round;
        return;
    }
    ledger->rows = 1;
    ledger->bytes_read = s->probe == IFM_PROBE_WRITE ? 0 : size;
    ledger->bytes_written = s->probe == IFM_PROBE_READ ? 0 : size;
    arm->working_set = arm->memory = ifm_data_add(ledger->bytes_read, ledger->bytes_written);
}

static struct ifm_arm new_arm(const char *probe, const char *variant, enum ifm_ceiling ceiling,
                              const struct ifm_machine *machine, struct ifm_arena *arena)
{
    return (struct ifm_arm){
        .name = ifm_arena_printf(arena, "%s.%s", probe, variant),
        .variant = ifm_arena_strdup(arena, variant),
        .ceiling = ceiling,
        .feature = "",
        .equals = "",
        .has_oracle = ifm_data_computes(machine), /* exact: sums, bytes and positions, so the tolerance is zero */
    };
}

static void describe_shapes(const struct settings *s, const struct ifm_machine *machine, struct ifm_arena *arena,
                            struct ifm_arm_list *arms)
{
    const struct probe *probe = &probes[s->probe];
    uint64_t size = s->size != 0 ? s->size : larger(256 * MIB, ifm_data_mul(4, ifm_machine_llc_total(machine)));
    *arms = (struct ifm_arm_list){.items = IFM_ARENA_ARRAY(arena, struct ifm_arm, SHAPES_MOST)};
    for (size_t i = 0; i < SHAPES_MOST; i++) {
        const struct ifm_kernel *kernel =
            probe->shapes[i] == NULL
                ? NULL
                : ifm_stream_kernel((enum ifm_probe)s->probe, probe->shapes[i], ifm_isa_name(s->isa));
        if (kernel == NULL) /* a shape that this architecture does not have */
            continue;
        struct ifm_arm arm = new_arm(probe->name, probe->shapes[i], probe->ceiling, machine, arena);
        amounts(&arm, s, kernel, size, machine);
        arms->items[arms->n++] = arm;
    }
}

#if defined(IFM_HAVE_CUDA)
static void describe_cuda(const struct settings *s, const struct ifm_machine *machine, struct ifm_arena *arena,
                          struct ifm_arm_list *arms)
{
    const struct probe *probe = &probes[s->probe];
    const char *const *shapes = ifm_stream_cuda_shapes((enum ifm_probe)s->probe, machine->gpu);
    uint64_t size = s->size != 0 ? s->size / 16 * 16 : ifm_stream_cuda_size(machine->gpu);
    *arms = (struct ifm_arm_list){.items = IFM_ARENA_ARRAY(arena, struct ifm_arm, SHAPES_MOST)};
    for (size_t i = 0; shapes != NULL && shapes[i] != NULL && size > 0; i++) {
        struct ifm_arm arm = new_arm(probe->name, shapes[i], probe->ceiling, machine, arena);
        arm.ledger.rows = 1;
        if (s->probe == IFM_PROBE_FLOPS || s->probe == IFM_PROBE_MATRIX) {
            arm.ledger.flops = ifm_stream_cuda_flops((enum ifm_probe)s->probe, machine->gpu);
            arm.tolerance = ifm_stream_cuda_tolerance((enum ifm_probe)s->probe);
        } else {
            arm.ledger.bytes_read = s->probe == IFM_PROBE_WRITE ? 0 : size;
            arm.ledger.bytes_written = s->probe == IFM_PROBE_READ ? 0 : size;
            arm.working_set = arm.memory = ifm_data_add(arm.ledger.bytes_read, arm.ledger.bytes_written);
        }
        arms->items[arms->n++] = arm;
    }
}
#endif

/* Sizes in half-octave steps: 2^k and 2^k x sqrt(2), in whole rounds of the chains. */
static void describe_caches(const struct ifm_machine *machine, struct ifm_arena *arena, struct ifm_arm_list *arms)
{
    const uint64_t most = larger(128 * MIB, 4 * ifm_machine_llc(machine));
    size_t n = 0;
    for (uint64_t size = CACHES_LEAST; size <= most; size *= 2)
        n += 2;
    *arms = (struct ifm_arm_list){.items = IFM_ARENA_ARRAY(arena, struct ifm_arm, n)};
    for (uint64_t octave = CACHES_LEAST; octave <= most; octave *= 2)
        for (int half = 0; half < 2; half++) {
            uint64_t size = half == 0 ? octave : octave / 10000 * 14142 + octave % 10000 * 14142 / 10000;
            size = size / CACHES_GRAIN * CACHES_GRAIN;
            if (size > most)
                return;
            char variant[32];
            snprintf(variant, sizeof variant, "%llu", (unsigned long long)size);
            struct ifm_arm arm = new_arm("caches", variant, IFM_CEILING_NONE, machine, arena);
            uint64_t lines = size / IFM_LINE;
            arm.ledger.rows = lines < LOADS_MOST ? lines : LOADS_MOST;
            arm.ledger.bytes_read = arm.ledger.rows * IFM_LINE;
            arm.working_set = arm.memory = size;
            arms->items[arms->n++] = arm;
        }
}

static enum ifm_status check_memory(const struct ifm_arm_list *arms, const struct ifm_machine *machine,
                                    struct ifm_error *error)
{
    uint64_t most = 0;
    for (size_t i = 0; i < arms->n; i++)
        most = larger(most, arms->items[i].memory);
    if (most <= machine->memory_available)
        return IFM_OK;
    char need[48], have[48];
    return ifm_fail(error, IFM_USAGE, "stream.size", "lower stream.size, or free memory",
                    "the buffers need %s of memory, but %s are available", ifm_format_human((double)most, "B", need),
                    ifm_format_human((double)machine->memory_available, "B", have));
}

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    struct settings s;
    *arms = (struct ifm_arm_list){0};
    IFM_TRY(ifm_section_bind(&section, settings, n, arena, &s, error));
    if (machine->gpu != NULL && strcmp(ifm_isa_name(s.isa), "auto") != 0) {
        *why_not = "instruction sets are a processor's: leave stream.isa out on the device cuda";
        return IFM_OK;
    }
    *why_not = ifm_data_isa_why_not(ifm_isa_name(s.isa), machine, arena);
    if (*why_not != NULL)
        return IFM_OK;
    if (machine->gpu != NULL) {
#if defined(IFM_HAVE_CUDA)
        describe_cuda(&s, machine, arena, arms);
#endif
    } else if (s.probe == IFM_PROBE_CACHES) {
        describe_caches(machine, arena, arms);
    } else {
        describe_shapes(&s, machine, arena, arms);
    }
    if (arms->n == 0)
        *why_not = ifm_arena_printf(arena, "this build has no probe %s for %s", probes[s.probe].name,
                                    machine->gpu != NULL ? machine->gpu->name : ifm_isa_name(s.isa));
    return check_memory(arms, machine, error);
}

static enum ifm_status open_stream(const struct ifm_arm *arm, struct ifm_device *device, unsigned threads,
                                   uint64_t seed, struct ifm_workload_state **out, struct ifm_error *error)
{
    struct settings s;
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = ifm_section_bind(&section, arm->settings, arm->n_settings, arena, &s, error);
    ifm_arena_destroy(arena);
    IFM_TRY(status);
    return ifm_stream_open(arm, (enum ifm_probe)s.probe, ifm_isa_name(s.isa), device, threads, seed, out, error);
}

const struct ifm_workload ifm_workload_stream = {
    .name = "stream",
    .purpose = "the device's measured limits: read, write and copy bandwidth, FLOP rate, cache sizes",
    .timed_region = "one pass over the buffers, a fixed number of multiply-adds, or one walk through a cycle of lines",
    .on_gpu = true,
    .params = &section,
    .describe = describe,
    .open = open_stream,
    .step = ifm_stream_step,
    .check = ifm_stream_check,
    .close = ifm_stream_close,
};
