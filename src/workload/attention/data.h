/* Inputs of attention: lengths of sequences, and Q, K and V like a model's, in the storage format.
 *
 * Thread rule: called by the thread that drives the device, outside timed regions. */
#ifndef IFM_WORKLOAD_ATTENTION_DATA_H
#define IFM_WORKLOAD_ATTENTION_DATA_H

#include "device/device.h"
#include "kernel/cpu/attention.h"
#include "workload/data/source.h"

/* Length `rank` of the `batch` lengths that a study has: evenly spread from seq_len, rank 0, down to
 * seq_len x (1 - ragged), rounded to nearest. Their sum does not depend on the seed. */
uint64_t ifm_attention_length(uint64_t seq_len, double ragged, uint64_t batch, uint64_t rank);
/* The lengths of all sequences: these, in an order drawn by `seed`. */
void ifm_attention_lengths(uint64_t seq_len, double ragged, uint64_t batch, uint64_t seed, uint32_t *lengths);

/* Where Q, K and V come from: as ifm_data_source_open, with a query for every token if the file has any. */
IFM_CHECKED enum ifm_status ifm_attention_source(const char *kv_file, const struct ifm_attention_shape *shape,
                                                 uint64_t seed, struct ifm_data_source *out, struct ifm_error *error);

/* Q, K, V of the source, rounded to shape->storage; rows behind a sequence's length are NaN, so that reading them
 * shows. Generated values depend on seed, sequence, head and position alone. NULL members are not wanted. A value of a
 * file that is no finite f16 is an error. */
struct ifm_attention_inputs {
    void *q, *k, *v;
    struct ifm_attention_views at;
    const struct ifm_data_source *source;
};
IFM_CHECKED enum ifm_status ifm_attention_generate(struct ifm_device *device, unsigned threads,
                                                   const struct ifm_attention_shape *shape, const uint32_t *lengths,
                                                   const struct ifm_attention_inputs *inputs, struct ifm_error *error);

/* Value i of an array in `storage`. */
float ifm_attention_value(const void *from, enum ifm_attention_storage storage, size_t i);

#endif
