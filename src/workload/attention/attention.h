/* What the implementations of attention share: settings, what is asked of a row, and what describe chooses. Plain data.
 */
#ifndef IFM_WORKLOAD_ATTENTION_ATTENTION_H
#define IFM_WORKLOAD_ATTENTION_ATTENTION_H

#include "kernel/cpu/attention.h"
#include "workload/workload.h"

struct ifm_attention_settings {
    const char *model;     /* whose shape it is; "" = none */
    uint64_t model_layers; /* that a prompt goes through; 0 = one */
    uint64_t batch, q_heads, kv_heads, seq_len, head_dim, scale, layers;
    double ragged;
    bool causal;
    int storage, layout, isa, matrix; /* layout: enum ifm_attention_layout */
    struct ifm_list arms;
    const char *kv_file; /* "" = generated inputs */
};

/* The shape once attention.matrix and attention.scale are applied, and the code of the arm. */
struct ifm_attention_chosen {
    uint64_t batch, q_heads, kv_heads, seq_len, head_dim;
    const char *isa; /* of our kernels in the arm; "" = it has none */
    uint64_t layers; /* sets of Q, K, V and outputs that steps take in turn */
};

/* A choice of attention.matrix: one of the ten configurations of the specification's baseline. */
struct ifm_attention_config {
    const char *name;
    uint64_t batch, heads, seq_len; /* as many KV heads as query heads */
};
/* Of choice `index` of attention.matrix; NULL for none. */
const struct ifm_attention_config *ifm_attention_config(int index);

/* Whether a row runs; `isa` is what is asked for ("auto": the best), and what the row answers. */
struct ifm_attention_ask {
    const struct ifm_attention_settings *settings;
    struct ifm_attention_shape shape;
    const char *isa;
    uint64_t scratch; /* what the row answers: bytes of all workers */
    bool matrix;      /* what the row answers: products run on matrix units, weights rounded to the storage format */
};

extern const struct ifm_implementation ifm_attention_openblas, ifm_attention_cpu, ifm_attention_cuda,
    ifm_attention_cuda_mma, ifm_attention_cuda_naive, ifm_attention_cuda_cudnn;

#endif
