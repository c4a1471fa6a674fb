/* The oracle of gemm: products in f64, of the weights as they are stored (what the kernel did) and of the weights as
 * they were (what the format lost).
 *
 * Thread rule: called by the thread that drives the device, outside timed regions. */
#ifndef IFM_WORKLOAD_GEMM_ORACLE_H
#define IFM_WORKLOAD_GEMM_ORACLE_H

#include "device/device.h"
#include "kernel/cpu/gemm.h"
#include "model/facts.h"
#include "workload/data/model_data.h"

struct ifm_gemm_outputs {
    struct ifm_gemm_shape shape; /* m may be larger than what our kernels take */
    const float *x;              /* [m][k] */
    const void *w;
    const float *out; /* [m][n] */
    bool lossy;
    struct ifm_model_data data; /* where the original weights come from */
    const double *sums;         /* [m][n] of the stored weights, computed elsewhere; NULL = none were. Rows of the
                                   weights that the seed draws are computed here all the same, and theirs count. */
};

/* Of which rows of the weights the loss is taken: all when that is cheap, else an even selection of at least 8, moved
 * by `draw`. Returns how many; number i is `ifm_gemm_row`(i). */
uint64_t ifm_gemm_rows(const struct ifm_gemm_shape *shape);
uint64_t ifm_gemm_row(const struct ifm_gemm_shape *shape, uint64_t draw, uint64_t i);

/* Errors of all outputs and, of lossy weights, the loss: rms_rel and p99_rel over the rows that it is taken of, cosine
 * the least over the rows of x; kl and tv are NaN, since there are no attention weights. */
IFM_CHECKED enum ifm_status ifm_gemm_compare(struct ifm_device *device, unsigned threads,
                                             const struct ifm_gemm_outputs *outputs, struct ifm_check *out,
                                             struct ifm_error *error);

#endif
