/* What CUPTI records of a process: kernels, copies, waits, calls and ranges, kept as rows until somebody takes them.
 *
 * Kinds are chosen once, before the process has a context of the GPU, and never changed: turning them on behind a graph
 * has crashed drivers. So a process records from its beginning to its end, and it is one of its own. A record that was
 * lost, or that memory could not hold, makes all rows since the last reset worthless, and is counted. Thread rule:
 * CUPTI delivers on threads of its own, which a lock guards; everything else belongs to the driving thread. */
#ifndef IFM_INSTRUMENT_ACTIVITY_H
#define IFM_INSTRUMENT_ACTIVITY_H

#include "dyn/cupti.h"
#include <stdbool.h>
#include <stdint.h>

/* In the order of `ifm_activity_names`. */
enum ifm_activity_kind {
    IFM_ACTIVITY_KERNEL = 0,
    IFM_ACTIVITY_COPY,
    IFM_ACTIVITY_FILL,
    IFM_ACTIVITY_WAIT,
    IFM_ACTIVITY_CALL,    /* of the driver */
    IFM_ACTIVITY_RUNTIME, /* a call of the runtime, around calls of the driver */
    IFM_ACTIVITY_BEGIN,   /* of a range, by NVTX */
    IFM_ACTIVITY_END,
    IFM_ACTIVITY_OVERHEAD, /* what CUPTI itself took */
    IFM_ACTIVITY_KINDS
};
extern const char *const ifm_activity_names[IFM_ACTIVITY_KINDS];
extern const char *const ifm_activity_nameless; /* the name of all that came when 1024 texts were kept */

struct ifm_activity_row {
    enum ifm_activity_kind kind;
    uint64_t start, end;  /* ns */
    uint32_t correlation; /* the same in a call and in what it started; of a range its id */
    uint32_t place;       /* stream; of calls and ranges the thread */
    uint32_t graph;       /* 0 = in no graph */
    uint64_t bytes;
    const char *name; /* "" where it has none; lives as long as the process */
};

struct ifm_activity_rows {
    struct ifm_activity_row *items;
    size_t n;
    uint64_t lost; /* records that are not among them */
};

/* Begin to record; only the first call does something. False: `why` says why not. `runtime`: its calls too. */
bool ifm_activity_begin(const struct ifm_cupti *cupti, bool runtime, char why[static 320]);
/* Forget what was recorded so far, once the GPU has done its work. Returns the time; 0 = it failed, and
 * `why` says how. */
uint64_t ifm_activity_reset(char why[static 320]);
/* All rows since then, sorted by their start, once the GPU has done its work; they live until the next reset. */
bool ifm_activity_take(struct ifm_activity_rows *out, char why[static 320]);
uint64_t ifm_activity_now(void);
/* Ranges of this process itself, as rows. */
void ifm_activity_push(const char *name);
void ifm_activity_pop(void);

/* What rows amount to. Stamps of our own clock, and events of a stream, are no work and no call of the steps. */
struct ifm_activity_counts {
    int64_t kernels, graph_kernels; /* outside of graphs, and nodes of graphs */
    int64_t launches, graph_launches;
    int64_t copies, copy_bytes, waits, calls;
    int64_t kernel_ns, call_ns; /* sums; a call inside another of its thread is the other's */
    int64_t graph_kernel_ns;    /* of kernel_ns: nodes of graphs */
    int64_t launch_ns, wait_ns; /* of call_ns: starting kernels and graphs, and waiting for the GPU */
    int64_t busy_ns, span_ns;   /* of the GPU: time with any work, and from its first work to its last kernel */
    int64_t overhead_ns;        /* that CUPTI says it took */
};
/* How many ranges IFM_NVTX_SAMPLE there are. */
size_t ifm_activity_samples(const struct ifm_activity_row *rows, size_t n);
/* Calls count that began from `from` to `to`. Rows are sorted by their start. */
struct ifm_activity_counts ifm_activity_count(const struct ifm_activity_row *rows, size_t n, uint64_t from,
                                              uint64_t to);
/* Calls count that began inside a sample, and work that such a call started. False: whether some of the work did is not
 * known, for its call has no record. */
bool ifm_activity_count_samples(const struct ifm_activity_row *rows, size_t n, struct ifm_activity_counts *out);

#endif
