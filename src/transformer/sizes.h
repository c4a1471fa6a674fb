/* Sizes of a model in its config.json. Keys are those of Hugging Face; GPT-2 has older ones.
 *
 * Thread rule: no shared state. */
#ifndef IFM_TRANSFORMER_SIZES_H
#define IFM_TRANSFORMER_SIZES_H

#include "base/error.h"
#include <jansson.h>
#include <stdint.h>

#define IFM_SIZE_MOST (1 << 24) /* of any size in a shape */

/* What is read, and what a message says of it. */
struct ifm_sizes {
    const json_t *object;
    const char *where;
    const char *instead; /* what to do where a number is none of a shape */
    const char *takes;   /* and where a key is missing that every model has */
    struct ifm_error *error;
};

/* The object that has the sizes: of a model of text and images its text part is inside. */
const json_t *ifm_sizes_object(const json_t *root);
/* The first of the keys that is there; a size of a model is a whole number from 1 on. 0 = none of them. */
IFM_CHECKED enum ifm_status ifm_sizes_read(const struct ifm_sizes *in, const char *const keys[3], uint64_t *out);
/* One of the keys must be there. */
IFM_CHECKED enum ifm_status ifm_sizes_need(const struct ifm_sizes *in, const char *const keys[3], uint64_t *out);

/* What every attention has. */
struct ifm_attention_sizes {
    uint64_t layers, hidden, q_heads, kv_heads, head_dim;
};
IFM_CHECKED enum ifm_status ifm_sizes_attention(const struct ifm_sizes *in, struct ifm_attention_sizes *out);

#endif
