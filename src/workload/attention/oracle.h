/* The oracle of attention: the textbook two-pass softmax in f64 on the stored values.
 *
 * Thread rule: called by the thread that drives the device, outside timed regions. */
#ifndef IFM_WORKLOAD_ATTENTION_ORACLE_H
#define IFM_WORKLOAD_ATTENTION_ORACLE_H

#include "device/device.h"
#include "kernel/cpu/attention.h"
#include "model/facts.h"
#include "workload/data/errors.h"

/* Value `d` of row `row` of the outputs, counted over [batch][q_heads][seq_len], lies in job->out at this + d. */
size_t ifm_attention_out_at(const struct ifm_attention_job *job, uint64_t row);
/* That row into out[head_dim]; `weights` has room for seq_len. A query that sees no key gets zeros. */
void ifm_attention_oracle(const struct ifm_attention_job *job, uint64_t row, double *weights, double *out);

/* Which rows are compared with this oracle instead of the reference in f32: all of them when that is cheap, else one of
 * each `period` successive ones, drawn by the seed. */
uint64_t ifm_attention_period(const struct ifm_attention_shape *shape);
bool ifm_attention_drawn(const struct ifm_attention_shape *shape, uint64_t seed, uint64_t row);

/* Compare outputs of rows [first, first + n) with `reference`, n rows of head_dim, in which drawn rows become this
 * oracle's; `weights` has room for seq_len. */
void ifm_attention_compare_rows(const struct ifm_attention_job *job, uint64_t seed, uint64_t first, uint64_t n,
                                double *reference, double *weights, struct ifm_data_errors *errors);
/* Compare all of job->out: error_*, values. */
IFM_CHECKED enum ifm_status ifm_attention_compare(struct ifm_device *device, unsigned threads,
                                                  const struct ifm_attention_job *job, uint64_t seed,
                                                  struct ifm_check *out, struct ifm_error *error);

#endif
