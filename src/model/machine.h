/* A machine and its device, as far as planning needs to know it. Plain data. */
#ifndef IFM_MODEL_MACHINE_H
#define IFM_MODEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IFM_CACHE_LEVELS 4

/* A GPU, as far as planning needs to know it. */
struct ifm_gpu {
    char name[96];             /* "NVIDIA H200" */
    unsigned multiprocessors;  /* 132 */
    unsigned major, minor;     /* compute capability: 9.0 */
    uint64_t l2_bytes;         /* as the driver reports it */
    uint64_t memory_bytes;     /* of the card */
    unsigned clock_khz;        /* highest clock of the multiprocessors */
    unsigned memory_clock_khz; /* and of the memory; 0 = not reported */
    unsigned memory_bus_bits;  /* 6144; 0 = not reported */
    int driver_version;        /* 13000 = CUDA 13.0 */
    char bus[32];              /* PCI bus id, "0000:01:00.0": what NVML knows it by; "" = not reported */
};

struct ifm_machine {
    const char *device;                        /* "cpu", "cuda", "fake" */
    bool scripted;                             /* its times come from a script, and steps compute nothing */
    const struct ifm_gpu *gpu;                 /* of the device cuda; NULL elsewhere */
    unsigned cpus_allowed;                     /* CPUs in the affinity mask, limited by the cgroup quota rounded up */
    unsigned threads;                          /* worker threads that cells use */
    uint64_t memory_available;                 /* bytes this process may still take (MemAvailable and cgroup limit) */
    uint64_t cache_reported[IFM_CACHE_LEVELS]; /* data or unified caches L1..L4 as the system reports them, one
                                                  instance, bytes; 0 = not reported */
    unsigned llc_instances;  /* last-level caches behind the worker threads together; 0 = not known, taken as one */
    const char *arch;        /* of the kernels of the build that planned: "x86_64", "aarch64"; NULL = of no account */
    const char *const *isas; /* instruction sets this device can run, best first: "avx512", "avx2", "sse2", "scalar" */
    size_t n_isas;
    const char *blas;         /* the BLAS library that kernels may call: "OpenBLAS 0.3.21 SkylakeX", "cuBLASLt 13.1.0";
                                 NULL = none */
    const char *dnn;          /* the library of fused attention on a GPU, "cuDNN 9.19.0"; NULL = none */
    const char *dnn_why_not;  /* as below */
    const char *blas_why_not; /* why there is none, with the remedy; NULL when there is one or nothing looked */
    unsigned rules; /* no fact of it: the earlier IFM_PLAN_RULES (model/plan.h) to plan by, in folders; 0 = today's */
};

/* Does a plan for it follow the rules that came with `since`? */
static inline bool ifm_machine_plans_by(const struct ifm_machine *machine, unsigned since)
{
    return machine->rules == 0 || machine->rules >= since;
}

/* The last-level cache as reported, or 32 MiB where nothing is reported. */
static inline uint64_t ifm_machine_llc(const struct ifm_machine *machine)
{
    for (int level = IFM_CACHE_LEVELS - 1; level >= 0; level--)
        if (machine->cache_reported[level] != 0)
            return machine->cache_reported[level];
    return (uint64_t)32 << 20;
}

/* All last-level caches behind the worker threads: a working set that memory serves must exceed them. */
static inline uint64_t ifm_machine_llc_total(const struct ifm_machine *machine)
{
    return ifm_machine_llc(machine) * (machine->llc_instances > 0 ? machine->llc_instances : 1);
}

/* The level of the caches that serves `bytes` which `threads` threads share: 1, 2, ... as reported; 0 = memory does, or
 * nothing is reported. A level counts from 4 times the one before it on, as what fits that one in part is served by it
 * in part; so the answer is the fastest level that has a part in it. */
static inline int ifm_machine_level(const struct ifm_machine *machine, unsigned threads, uint64_t bytes)
{
    int last = 0;
    for (int level = 1; level <= IFM_CACHE_LEVELS; level++)
        last = machine->cache_reported[level - 1] != 0 ? level : last;
    for (int level = 1; level <= last; level++) {
        const uint64_t one = machine->cache_reported[level - 1];
        if (one > 0 && bytes < 4 * (level == last ? ifm_machine_llc_total(machine) : one * (threads > 0 ? threads : 1)))
            return level;
    }
    return 0;
}

#endif
