/* The kernel error of decode: every output against f64 attention over the reference reading of the same cache.
 *
 * Thread rule: called by the thread that drives the device, outside timed regions. */
#ifndef IFM_WORKLOAD_DECODE_COMPARE_H
#define IFM_WORKLOAD_DECODE_COMPARE_H

#include "workload/decode/check.h"

/* error_*, values: of all pairs and all heads. A pair whose cache has not as many tokens as it should misses a part. */
IFM_CHECKED enum ifm_status ifm_decode_compare_kernel(const struct ifm_decode_outputs *outputs, struct ifm_check *out,
                                                      struct ifm_error *error);
/* Tokens that the pair's cache holds. */
uint64_t ifm_decode_held(const struct ifm_decode_outputs *outputs, uint64_t pair);
/* Attention over the cache as it is read, page by page, in the order of its tokens, each page, sink and ring a part
 * (several pages one part where the cache has more than IFM_DECODE_PARTS_MOST). `parts` may be NULL. `k` and `v` have
 * room for a page. */
struct ifm_decode_parts;
struct ifm_decode_oracle;
void ifm_decode_attend_cache(const struct ifm_decode_outputs *outputs, uint64_t pair, struct ifm_decode_oracle *oracle,
                             struct ifm_decode_parts *parts, float *k, float *v);

#endif
