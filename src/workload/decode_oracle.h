/* The oracle of decode: the textbook two-pass softmax in f64 on the same f32 data.
 *
 * Thread rule: called by the thread that drives the device, outside timed regions. */
#ifndef IFM_WORKLOAD_DECODE_ORACLE_H
#define IFM_WORKLOAD_DECODE_ORACLE_H

#include "device/device.h"
#include "kernel/cpu/decode.h"
#include "model/facts.h"

/* The output of query head `head` of sequence `sequence` into out[head_dim]; `weights` has room for kv_len. */
void ifm_decode_oracle(const struct ifm_decode_job *job, uint64_t sequence, uint64_t head, double *weights,
                       double *out);

/* Which (sequence, head) pairs are compared: all of them when that is cheap, else an even selection of at least 8
 * that visits every place within a group. Returns how many; pair i is `ifm_decode_pair`(i), sequence * q_heads + head.
 */
uint64_t ifm_decode_pairs(const struct ifm_decode_shape *shape);
uint64_t ifm_decode_pair(const struct ifm_decode_shape *shape, uint64_t i);

/* Compare job->out with the oracle: error_rms_rel, error_max_rel and values of `out`. */
IFM_CHECKED enum ifm_status ifm_decode_compare(struct ifm_device *device, unsigned threads,
                                               const struct ifm_decode_job *job, struct ifm_check *out,
                                               struct ifm_error *error);

#endif
