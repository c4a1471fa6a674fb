/* Inputs of attention: lengths of sequences, and Q, K and V like a model's, in the storage format.
 *
 * Thread rule: called by the thread that drives the device, outside timed regions. */
#ifndef IFM_WORKLOAD_ATTENTION_DATA_H
#define IFM_WORKLOAD_ATTENTION_DATA_H

#include "device/device.h"
#include "kernel/cpu/attention.h"
#include "workload/data/kv_file.h"

/* Length `rank` of the `batch` lengths that a study has: evenly spread from seq_len, rank 0, down to
 * seq_len x (1 - ragged), rounded to nearest. Their sum does not depend on the seed. */
uint64_t ifm_attention_length(uint64_t seq_len, double ragged, uint64_t batch, uint64_t rank);
/* The lengths of all sequences: these, in an order drawn by `seed`. */
void ifm_attention_lengths(uint64_t seq_len, double ragged, uint64_t batch, uint64_t seed, uint32_t *lengths);

/* Q, K, V of workload/data/model_data.h, rounded to shape->storage; rows behind a sequence's length are NaN, so that
 * reading them shows. Values depend on seed, sequence, head and position alone. NULL members are not wanted. With a
 * file, which must have what ifm_attention_file_require asks for, K and V are its own, and so is Q where it has
 * queries; a value that is no finite f16 is an error. */
struct ifm_attention_inputs {
    void *q, *k, *v;
    const struct ifm_kv_file *file; /* NULL: all are generated */
};
IFM_CHECKED enum ifm_status ifm_attention_generate(struct ifm_device *device, unsigned threads, uint64_t seed,
                                                   const struct ifm_attention_shape *shape, const uint32_t *lengths,
                                                   const struct ifm_attention_inputs *inputs, struct ifm_error *error);

/* Whether a file has the inputs of this shape, a query for every token among them if it has any. */
IFM_CHECKED enum ifm_status ifm_attention_file_require(const struct ifm_kv_file *file,
                                                       const struct ifm_attention_shape *shape,
                                                       struct ifm_error *error);

/* Value i of an array in `storage`. */
float ifm_attention_value(const void *from, enum ifm_attention_storage storage, size_t i);

#endif
