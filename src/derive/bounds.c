/* What a device cannot exceed: units x width x clock of its cores or multiprocessors, and what its memory bus carries.
 *
 * The clock is the highest of those that were seen, that the system reports and that any product of the model is sold
 * with: a limit must hold for the fastest moment of a run, and a guest is told of no clock. What is not known gives no
 * bound, and rule 3 keeps its tolerance above the probes. */
#include "derive/internal.h"

#include "model/machine_facts.h"

#include <math.h>
#include <string.h>

/* What a core does in a cycle at most, of a range of models. Operations count a multiply-add as two; of bytes those of
 * one instruction that multiplies and adds (VNNI), or of two that do (AVX2). Loads are of the nearest cache. */
struct core {
    const char *vendor;
    int family, first, last; /* models */
    double flops, byte_ops, load_bytes;
    double most_mhz; /* of any product */
};

/* Sources: AMD Software Optimization Guides 55723, 56305, 56665, 57647, 58455; Intel 64 and IA-32 Optimization Manual
 * 248966; boost clocks from the vendors' product pages. */
static const struct core cores[] = {
    {"AuthenticAMD", 23, 0x00, 0x2f, 16, 32, 32, 4400},   /* Zen */
    {"AuthenticAMD", 23, 0x30, 0xaf, 32, 64, 64, 4700},   /* Zen 2 */
    {"AuthenticAMD", 25, 0x00, 0x07, 32, 64, 64, 4100},   /* Zen 3: Milan */
    {"AuthenticAMD", 25, 0x08, 0x0f, 32, 64, 64, 4500},   /* of workstations */
    {"AuthenticAMD", 25, 0x20, 0x5f, 32, 64, 64, 5000},   /* of desktops */
    {"AuthenticAMD", 25, 0x10, 0x17, 32, 128, 64, 4400},  /* Zen 4: Genoa */
    {"AuthenticAMD", 25, 0x18, 0x1f, 32, 128, 64, 5300},  /* of workstations */
    {"AuthenticAMD", 25, 0x60, 0x7f, 32, 128, 64, 5700},  /* of desktops */
    {"AuthenticAMD", 25, 0xa0, 0xaf, 32, 128, 64, 3700},  /* Bergamo */
    {"AuthenticAMD", 26, 0x00, 0x1f, 64, 256, 128, 5400}, /* Zen 5: Turin */
    {"AuthenticAMD", 26, 0x20, 0x7f, 64, 256, 128, 5700}, /* of desktops */
    {"GenuineIntel", 6, 63, 63, 32, 64, 64, 4400},        /* Haswell servers */
    {"GenuineIntel", 6, 79, 79, 32, 64, 64, 4400},        /* Broadwell servers */
    {"GenuineIntel", 6, 85, 85, 64, 256, 128, 5100},      /* Skylake, Cascade Lake and Cooper Lake servers */
    {"GenuineIntel", 6, 106, 108, 64, 256, 128, 4200},    /* Ice Lake servers */
    {"GenuineIntel", 6, 143, 143, 64, 256, 128, 4800},    /* Sapphire Rapids */
    {"GenuineIntel", 6, 207, 207, 64, 256, 128, 4800},    /* Emerald Rapids */
    {"GenuineIntel", 6, 173, 174, 64, 256, 128, 4900},    /* Granite Rapids */
};

static const struct core *core_of(const struct ifm_processor_facts *processor)
{
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (strcmp(cores[i].vendor, processor->vendor) == 0 && cores[i].family == processor->family &&
            processor->model >= cores[i].first && processor->model <= cores[i].last)
            return &cores[i];
    return NULL;
}

/* Numbers of older folders stay what they were. */
enum { FIRST_RULES = 4, FIRST_WITHOUT_PROBE = 5 };
/* Cores that add beside their multiply-adds do half as much again; twice is beyond all of them. */
static const double ADDERS = 2;

static struct ifm_bound unknown(const char *words)
{
    return (struct ifm_bound){0, words};
}

/* ---- processors ---- */

/* Of a kind: what a core does in a cycle, and of what. Loads bound what a cache gives. */
static double per_cycle(const struct core *core, enum ifm_ceiling kind, const char **unit)
{
    switch (kind) {
    case IFM_CEILING_FLOPS:
        *unit = "vector FLOP"; /* tiles would do more: no arm of ours uses them */
        return core->flops;
    case IFM_CEILING_INT8:
        *unit = "byte operations";
        return core->byte_ops;
    case IFM_CEILING_L1:
    case IFM_CEILING_L2:
    case IFM_CEILING_L3:
        *unit = "B of loads";
        return core->load_bytes;
    default:
        return 0;
    }
}

static double highest_clock(const struct ifm_arm_work *arm, const struct core *core,
                            const struct ifm_processor_facts *processor)
{
    const struct ifm_roof *seen = &arm->work->roofs[IFM_CEILING_CLOCK];
    return fmax(fmax(core->most_mhz * 1e6, processor->most_hz), seen->by == NULL ? 0 : 1e9 * exp(seen->log_rate));
}

/* Of a working set that counts as the memory's, caches may serve the part that they hold. */
static const double CACHES_KEEP = (double)IFM_RESIDENT_FACTOR / (IFM_RESIDENT_FACTOR - 1);

double ifm_bus_bytes_per_s(const struct ifm_derivation *d, const char **words)
{
    const struct ifm_machine *machine = d->plan->machine;
    *words = "";
    if (machine == NULL || machine->scripted || d->plan->rules < FIRST_RULES)
        return 0;
    if (machine->gpu == NULL) {
        const double modules = ifm_processor_facts_of(d->facts->events).memory_bytes_per_s;
        *words = ifm_arena_printf(d->arena, "%.1f GB/s of all modules of memory", 1e-9 * modules);
        return modules;
    }
    const struct ifm_gpu *gpu = machine->gpu;
    *words =
        ifm_arena_printf(d->arena, "%u bits of bus x 2 x %.2f GHz", gpu->memory_bus_bits, 1e-6 * gpu->memory_clock_khz);
    return 2e3 * gpu->memory_clock_khz * gpu->memory_bus_bits / 8;
}

static struct ifm_bound of_bus(const struct ifm_arm_work *arm, const char *why_not)
{
    const char *words;
    const double bytes_per_s = ifm_bus_bytes_per_s(arm->d, &words);
    if (bytes_per_s == 0)
        return unknown(why_not);
    return (struct ifm_bound){1e-9 * CACHES_KEEP * bytes_per_s,
                              ifm_arena_printf(arm->d->arena, "%s, x %.2f for what caches keep", words, CACHES_KEEP)};
}

static struct ifm_bound of_processor(const struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    const struct ifm_processor_facts processor = ifm_processor_facts_of(arm->d->facts->events);
    if (kind == IFM_CEILING_READ || kind == IFM_CEILING_WRITE || kind == IFM_CEILING_COPY)
        return arm->cache_resident ? unknown("a cache serves it")
                                   : of_bus(arm, "what the modules of memory carry is not known");
    const struct core *core = core_of(&processor);
    const char *unit = "";
    if (core == NULL)
        return unknown(ifm_arena_printf(arm->d->arena,
                                        "no table says what a core of %s family %d model %d does in a "
                                        "cycle",
                                        processor.vendor[0] == '\0' ? "an unnamed vendor," : processor.vendor,
                                        processor.family, processor.model));
    const double amount = per_cycle(core, kind, &unit), hz = highest_clock(arm, core, &processor);
    if (amount == 0)
        return unknown("no physical bound is known of this ceiling");
    return (struct ifm_bound){1e-9 * arm->work->cell->threads * amount * hz,
                              ifm_arena_printf(arm->d->arena, "%u cores x %.0f %s a cycle x %.2f GHz",
                                               arm->work->cell->threads, amount, unit, hz * 1e-9)};
}

/* Operations a core and cycle of whatever it has most of: vectors of floats or of bytes (a ledger counts both alike),
 * or tiles of bytes (AMX). */
static double most_operations(const struct core *core)
{
    const bool tiles = strcmp(core->vendor, "GenuineIntel") == 0 && core->first >= 143;
    return fmax(fmax(ADDERS * core->flops, core->byte_ops), tiles ? 2048 : 0);
}

struct ifm_bound ifm_bound_without_probe(const struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    const struct ifm_machine *machine = arm->d->plan->machine;
    if (machine == NULL || machine->scripted || machine->gpu != NULL || arm->d->plan->rules < FIRST_WITHOUT_PROBE)
        return unknown("");
    const struct ifm_processor_facts processor = ifm_processor_facts_of(arm->d->facts->events);
    const struct core *core = core_of(&processor);
    if (core == NULL)
        return unknown("");
    const int64_t allowed = ifm_fingerprint_of(arm->d->facts->events).cpus_allowed;
    const double allowed_cores = fmax((double)allowed, arm->work->cell->threads),
                 hz = highest_clock(arm, core, &processor);
    const bool loads = kind == IFM_CEILING_READ;
    const double amount = loads ? core->load_bytes : most_operations(core);
    return (struct ifm_bound){1e-9 * allowed_cores * amount * hz,
                              ifm_arena_printf(arm->d->arena, "%.0f cores x %.0f %s a cycle x %.2f GHz", allowed_cores,
                                               amount, loads ? "B of loads" : "operations", hz * 1e-9)};
}

/* ---- GPUs ---- */

struct multiprocessor {
    unsigned major, minor;
    double flops, matrix_flops; /* in a cycle; of 16-bit factors, dense */
};

/* Source: CUDA C++ Programming Guide, table of arithmetic instructions; the vendor's architecture papers for matrices.
 */
static const struct multiprocessor multiprocessors[] = {
    {7, 0, 128, 1024}, {7, 5, 128, 1024}, {8, 0, 128, 2048},  {8, 6, 256, 1024},  {8, 7, 256, 2048},
    {8, 9, 256, 1024}, {9, 0, 256, 4096}, {10, 0, 256, 8192}, {10, 3, 256, 8192}, {12, 0, 256, 1024},
};

static struct ifm_bound of_gpu(const struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    const struct ifm_gpu *gpu = arm->d->plan->machine->gpu;
    const bool of_memory = kind == IFM_CEILING_READ || kind == IFM_CEILING_WRITE || kind == IFM_CEILING_COPY;
    if (of_memory && !arm->cache_resident && gpu->memory_clock_khz > 0 && gpu->memory_bus_bits > 0)
        return of_bus(arm, "");
    for (size_t i = 0; i < sizeof multiprocessors / sizeof *multiprocessors; i++) {
        const struct multiprocessor *m = &multiprocessors[i];
        const double amount = kind == IFM_CEILING_FLOPS ? m->flops : kind == IFM_CEILING_MATRIX ? m->matrix_flops : 0;
        if (m->major == gpu->major && m->minor == gpu->minor && amount > 0 && gpu->clock_khz > 0)
            return (struct ifm_bound){1e-6 * gpu->multiprocessors * amount * gpu->clock_khz,
                                      ifm_arena_printf(arm->d->arena,
                                                       "%u multiprocessors x %.0f FLOP a cycle x %.2f "
                                                       "GHz",
                                                       gpu->multiprocessors, amount, 1e-6 * gpu->clock_khz)};
    }
    return unknown("the GPU does not say what its bus carries, or no table what its multiprocessors do in a cycle");
}

struct ifm_bound ifm_bound_of(const struct ifm_arm_work *arm, enum ifm_ceiling kind)
{
    const struct ifm_machine *machine = arm->d->plan->machine;
    if (machine == NULL || machine->scripted || arm->d->plan->rules < FIRST_RULES)
        return unknown("");
    return machine->gpu != NULL ? of_gpu(arm, kind) : of_processor(arm, kind);
}
