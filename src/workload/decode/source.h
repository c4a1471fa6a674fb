/* The exact keys, values and queries of decode: what every arm compresses, and what its loss is measured against.
 *
 * All layers of a cell hold the same tokens, each in memory of its own: reading them costs what different ones would
 * cost, and a step has one result, whichever layer it was. Rows are generated, or read from the user's file, whenever
 * they are wanted; nothing keeps a whole cache in f32. Thread rule: opened and closed by one thread, read by any. */
#ifndef IFM_WORKLOAD_DECODE_SOURCE_H
#define IFM_WORKLOAD_DECODE_SOURCE_H

#include "workload/data/kv_file.h"
#include "workload/data/model_data.h"
#include "workload/decode/shape.h"

struct ifm_decode_source {
    struct ifm_model_data data;
    unsigned group;           /* query heads of a KV head */
    struct ifm_kv_file *file; /* NULL = generated */
};

/* Opens decode.kv_file, if one is given, and checks that it has what the settings ask for. */
IFM_CHECKED enum ifm_status ifm_decode_source_open(const struct ifm_decode_settings *s, uint64_t seed,
                                                   struct ifm_decode_source *out, struct ifm_error *error);
void ifm_decode_source_close(struct ifm_decode_source *source);
/* Rows [tokens][head_dim] of pair = sequence * kv_heads + head from token `first` on, rounded to f16. `v` may be NULL:
 * not wanted. */
IFM_CHECKED enum ifm_status ifm_decode_source_kv(const struct ifm_decode_source *source, uint64_t pair, uint64_t first,
                                                 unsigned tokens, float *k, float *v, struct ifm_error *error);
/* Queries [group][head_dim] of the heads that share the pair's KV head, at one position. A file that has n queries of
 * a head gives the one at position modulo n; one that has none leaves them to be generated. */
IFM_CHECKED enum ifm_status ifm_decode_source_queries(const struct ifm_decode_source *source, uint64_t pair,
                                                      uint64_t position, float *q, struct ifm_error *error);

/* Which of `length` tokens a form that evicts keeps: keep[i] is 1 or 0, ifm_decode_kept of them are 1. By `evict`:
 *   window  the sinks and the newest ones (Xiao et al. 2024, "StreamingLLM")
 *   mass    the sinks, the IFM_KV_PAGE newest, and those that got most attention from eight queries at the last
 *           positions, none of which is a query of a step (Li et al. 2024, "SnapKV"; Zhang et al. 2023, "H2O") */
IFM_CHECKED enum ifm_status ifm_decode_keep(const struct ifm_decode_source *source, const struct ifm_decode_settings *s,
                                            const struct ifm_decode_form *form, uint64_t pair, uint64_t length,
                                            uint8_t *keep, struct ifm_error *error);

#endif
