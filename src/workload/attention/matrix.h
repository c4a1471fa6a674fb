/* Named shapes of attention: the ten configurations of the specification's baseline. Pure data. */
#ifndef IFM_WORKLOAD_ATTENTION_MATRIX_H
#define IFM_WORKLOAD_ATTENTION_MATRIX_H

#include <stdint.h>

/* In the order of the specification, behind "none": (B, H, S) = (32, 8, {128, 256, 512, 1024, 2048}),
 * ({8, 16, 64}, 8, 512), (32, {4, 16}, 512). */
#define IFM_ATTENTION_BASELINE                                                                                         \
    "b32h8s128,b32h8s256,b32h8s512,b32h8s1024,b32h8s2048,b8h8s512,b16h8s512,b64h8s512,b32h4s512,b32h16s512"
#define IFM_ATTENTION_MATRIX_CHOICES                                                                                   \
    "none|b32h8s128|b32h8s256|b32h8s512|b32h8s1024|b32h8s2048|b8h8s512|b16h8s512|b64h8s512|b32h4s512|b32h16s512"

struct ifm_attention_config {
    const char *name;
    uint64_t batch, heads, seq_len; /* as many KV heads as query heads */
};

enum { IFM_ATTENTION_MATRIX_DIM = 64 }; /* the head dimension of all of them */

/* Of choice `index` of IFM_ATTENTION_MATRIX_CHOICES; NULL for none. */
const struct ifm_attention_config *ifm_attention_config(int index);

#endif
