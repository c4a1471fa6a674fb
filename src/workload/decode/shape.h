/* What the settings of `decode` mean: parameters, arms' forms, lengths, bytes and operations of a step.
 *
 * Pure; knows no device and allocates only in the caller's arena. */
#ifndef IFM_WORKLOAD_DECODE_SHAPE_H
#define IFM_WORKLOAD_DECODE_SHAPE_H

#include "kv/cache.h"
#include "model/catalog.h"

enum ifm_decode_evict { IFM_DECODE_EVICT_WINDOW = 0, IFM_DECODE_EVICT_MASS };
enum ifm_decode_layout { IFM_DECODE_CONTIGUOUS = 0, IFM_DECODE_PAGED };
enum ifm_decode_append { IFM_DECODE_APPEND_COMPRESS = 0, IFM_DECODE_APPEND_NONE };

struct ifm_decode_settings {
    uint64_t batch, q_heads, kv_heads, kv_len, head_dim, sink, layers, decode_tokens;
    int isa, evict, layout, outliers, append;
    struct ifm_list compress, format, formats, arms, graphs;
    uint64_t model_layers, weight_bytes, weight_bits; /* of decode.model; 0 = no model */
    const char *model;
    double ragged;
    const char *kv_file; /* token of a private text */
    bool inference;
};

/* What describe chooses. */
struct ifm_decode_chosen {
    uint64_t layers;                        /* caches that steps take in turn */
    const char *isa, *isa_f16, *isa_encode; /* of the kernels for the body, for sink and ring, and for encoding */
    const char *graphs; /* "true", "false": whether steps are replayed as CUDA graphs; "" = as the device is opened */
};

extern const struct ifm_section ifm_decode_section, ifm_decode_chosen_section;

struct ifm_implementation;
extern const struct ifm_implementation ifm_decode_cpu, ifm_decode_cuda_naive, ifm_decode_cuda, ifm_decode_cuda_cudnn;

/* Whether an implementation runs a format with these settings; the rest is what it answers. */
struct ifm_decode_ask {
    const struct ifm_decode_settings *settings;
    enum ifm_kv_format format;
    const char *isa, *isa_f16, *isa_encode; /* "" on a GPU */
    uint64_t layers_most;                   /* that it takes in turn; 0 = any number */
    bool matrix;                            /* it multiplies on a GPU's matrix units */
    bool halves;                            /* queries and outputs are f16, else f32 */
    double rounding;                        /* error that it makes beside that of f32 sums, as the tolerance has it */
    double folded; /* integers: that of queries folded with scales, of keys of unit variance; < 0 = as on the CPU */
};

/* IFM_PLAN_RULES since which the device cuda runs compressed caches, and cycles over them. */
enum { IFM_DECODE_SINCE_PACKED = 11, IFM_DECODE_SINCE_PACKED_CYCLES = 12 };

/* How an arm keeps its cache. */
struct ifm_decode_form {
    const char *name; /* "int4"; also the arm's and the variant's */
    unsigned ratio;   /* of decode.compress */
    enum ifm_kv_format format;
    bool usual; /* what decode.format=auto takes for the ratio */
    bool half;  /* of the tokens only half are kept */
};
enum { IFM_DECODE_FORMS = 6 };

/* "f16", ... or NULL. */
const struct ifm_decode_form *ifm_decode_form_find(const char *name);
/* It is one, and not f16. */
bool ifm_decode_form_is_packed(const char *name);
/* The forms of decode.formats, in its order; without it those that decode.compress and decode.format ask for, f16
 * first. Fails when a format's ratio is not among those of decode.compress, and when both ways are taken. */
IFM_CHECKED enum ifm_status ifm_decode_forms(const struct ifm_decode_settings *s,
                                             const struct ifm_decode_form *out[IFM_DECODE_FORMS], size_t *n,
                                             struct ifm_error *error);

/* Amplification of outlier channels in the generated data. */
double ifm_decode_outlier(const struct ifm_decode_settings *s);
/* Tokens of sequence `index` before anything is appended, at least 1. Lengths of ragged batches are drawn by a seed of
 * their own, because the ledger, which sums them, knows no other. */
uint64_t ifm_decode_length(const struct ifm_decode_settings *s, uint64_t index);
/* How many of `length` tokens the form keeps: all, or half, rounded up. */
uint64_t ifm_decode_kept(const struct ifm_decode_form *form, uint64_t length);
/* Tokens in a cache of the sequence when a sample begins, and the most that it grows to. */
uint64_t ifm_decode_first(const struct ifm_decode_settings *s, const struct ifm_decode_form *form, uint64_t length);
uint64_t ifm_decode_most(const struct ifm_decode_settings *s, const struct ifm_decode_form *form, uint64_t length);

/* Shape of a cache whose pairs have the capacities given. */
struct ifm_kv_shape ifm_decode_cache_shape(const struct ifm_decode_settings *s, const struct ifm_decode_form *form,
                                           uint64_t pairs, const uint64_t *capacity, uint64_t seed);

/* Amounts of one layer of one arm; UINT64_MAX where they overflow. A step is one pass over one layer, or the whole
 * inference cycle's work in one layer. */
struct ifm_decode_amounts {
    uint64_t attended; /* tokens, summed over sequences and decode steps */
    uint64_t pages;    /* body pages attended over, and compressed ones written, in a step */
    uint64_t read;     /* bytes of the cache that a step reads */
    uint64_t appended; /* bytes that a step writes into the cache */
    uint64_t touched;  /* bytes of the cache that are used at all */
    uint64_t stored, plain;
    uint64_t pool; /* bytes that the pages take in memory, with the rings that a cycle keeps to go back to */
};
struct ifm_decode_amounts ifm_decode_amounts_of(const struct ifm_decode_settings *s,
                                                const struct ifm_decode_form *form);

/* Decode steps in a sample: 1, or decode.decode_tokens. */
uint64_t ifm_decode_steps(const struct ifm_decode_settings *s);
/* Bytes of the queries of all sequences and heads, as f32; of outputs too. */
uint64_t ifm_decode_query_bytes(const struct ifm_decode_settings *s);

#endif
