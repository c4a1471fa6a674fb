/* What the implementations of stream share: settings, and what a row offers to measure of a probe. Plain data. */
#ifndef IFM_WORKLOAD_STREAM_STREAM_H
#define IFM_WORKLOAD_STREAM_STREAM_H

#include "workload/workload.h"

/* The choices of stream.probe. */
enum ifm_probe {
    IFM_PROBE_READ = 0,
    IFM_PROBE_WRITE,
    IFM_PROBE_COPY,
    IFM_PROBE_FLOPS,
    IFM_PROBE_INT8,
    IFM_PROBE_CLOCK,
    IFM_PROBE_MATRIX,
    IFM_PROBE_CACHES,
    IFM_PROBES
};
extern const char *const ifm_probe_names[IFM_PROBES];

struct ifm_stream_settings {
    int probe;
    uint64_t size;
    int isa;
};

struct ifm_stream_chosen {
    uint64_t bytes;  /* of each buffer */
    uint64_t piece;  /* of a buffer in a step; 0 = all of it */
    uint64_t rounds; /* of operations in a step, all workers together; of a read in a cache: of passes over it */
    uint64_t loads;  /* of a walk through the lines */
    const char *isa; /* of the kernel; "" = the same code on every instruction set, or a GPU's */
};

/* One way to measure a probe: an arm. */
struct ifm_stream_offer {
    const char *variant;
    struct ifm_ledger ledger;
    uint64_t working_set;
    double tolerance; /* 0 = sums, bytes and positions are exact */
    struct ifm_stream_chosen chosen;
};

/* What `supports` is asked, and answers in the arena. */
struct ifm_stream_ask {
    const struct ifm_stream_settings *settings;
    bool pieces; /* a step passes over a piece of the buffer, the next one over the piece behind it; on processors */
    int level;   /* of a cache that the buffer fits, which a step reads again and again; on processors. 0 = none */
    struct ifm_stream_offer *offers;
    size_t n;
};

/* Reading, writing or copying buffers of `bytes`, `piece` of them a step; 0 = all. */
struct ifm_stream_offer ifm_stream_traffic(enum ifm_probe probe, const char *variant, uint64_t bytes, uint64_t piece);

extern const struct ifm_implementation ifm_stream_cpu, ifm_stream_cuda;

#endif
