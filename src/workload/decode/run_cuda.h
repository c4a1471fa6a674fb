/* An arm of decode on the device cuda. Private to cuda*.c, and to tests that spoil what it does.
 *
 * Thread rule: the thread that drives the device. */
#ifndef IFM_WORKLOAD_DECODE_RUN_CUDA_H
#define IFM_WORKLOAD_DECODE_RUN_CUDA_H

#include "device/cuda.h"
#include "kernel/cuda/decode.h"
#include "workload/data/data.h"
#include "workload/decode/source.h"
#include "workload/implementation.h"

struct ifm_decode_cuda_run {
    struct ifm_device *device;
    const struct ifm_implementation *row;
    const char *arm;
    const struct ifm_decode_settings *settings;
    const struct ifm_decode_form *form;
    struct ifm_data_source source;
    uint64_t pairs, pages; /* of a layer */
    uint64_t half;         /* bytes of a layer's K, and of its V behind it */
    uint64_t *first;       /* [pairs + 1] into the table */
    uint32_t *table;       /* [pages] */
    size_t outputs;        /* values */
    float *q, *out;        /* on the host: as generated, and as read back */
    bool halves;           /* queries and outputs are f16 on the device, else f32 */
    void *q_at, *out_at;   /* there */
    const char *code;      /* what ran, in the record; NULL = code for this GPU */
    unsigned layers, turn; /* turn: the layer of the last step */
    void *pools[IFM_CUDA_TURNS];
    struct ifm_cuda_steps *steps;
    struct ifm_cuda_launch launch;
    bool early; /* before the step in front has ended */
    struct ifm_decode_attend arguments; /* `k` and `v` are the turn's */
    struct ifm_cuda_function *digester;
    unsigned long long *digest;
    struct ifm_data_known known;
};

/* A buffer of the device, filled from the host where it is new. `from` may be NULL: zeros. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_buffer(struct ifm_decode_cuda_run *run, const char *what, const void *from,
                                                   size_t bytes, void **out, struct ifm_error *error);
/* All layers, with their tables: run->first, table, half, pools, and what the arguments say of them. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_caches(struct ifm_decode_cuda_run *run, struct ifm_error *error);

/* What holds for every row: f16, no cycle, no instruction set, so many layers. */
const char *ifm_decode_cuda_supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena);
/* All but what steps do: `enqueue` puts one on the stream, of the layer run->turn. */
IFM_CHECKED enum ifm_status ifm_decode_cuda_open(struct ifm_decode_cuda_run *run, const struct ifm_opening *opening,
                                                 bool halves, ifm_cuda_enqueue_fn *enqueue, struct ifm_error *error);
void ifm_decode_cuda_step(void *opened, uint64_t n);
void ifm_decode_cuda_spoil(void *opened, bool all);
IFM_CHECKED enum ifm_status ifm_decode_cuda_check(void *opened, struct ifm_check *out, struct ifm_error *error);
void ifm_decode_cuda_close(void *opened);

/* Weights are rounded to f16 for the tensor cores: each is off by sd = 2^-12 / sqrt(3) of itself at most, and so is an
 * output, which is a sum of rows that are independent of it. Four times that leaves room for the largest. */
#define IFM_DECODE_CUDA_ROUNDING (4 * 0x1p-12 / 1.7320508075688772)

#endif
