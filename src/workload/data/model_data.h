/* Synthetic keys, values, queries, weights and activations that are shaped like a model's (docs/model-data.md).
 *
 * Independent normal numbers cannot rank the formats of a cache or of a weight: each format is as good as its number of
 * bits. What tells them apart is structure: a few channels that are much larger than the others, and neighbours that
 * resemble each other. This generator has both, and nothing else of a model: no figure computed on its data predicts
 * a perplexity.
 *
 *   key    k[t][c] = RoPE(t, a[c] x[t][c]), a = `outlier` in D / 32 channels (at least one), 1 in the others
 *   value  v[t][c] = s[c] y[t][c], s uniform in [0.75, 1.25)
 *   query  q[c]    = RoPE(position, z[c])
 *   x, y   first-order autoregression over the tokens of a block of 128: x[t] = rho x[t-1] + sqrt(1 - rho^2) e[t],
 *          rho = 0.5, and x = e at the start of each block
 *   e, z   nearly normal, mean 0 and variance 1: the scaled sum of four random bytes
 *   RoPE   channel c < D / 2 turns with channel c + D / 2 by t 10000^(-2 c / D) (Su et al. 2021,
 *          "RoFormer"; the pairing by halves is that of GPT-NeoX and Llama)
 *   weight w[r][c] = b[c] e[r][c] / sqrt(columns), activation x[r][c] = a[c] e[r][c]: a = `outlier`, b = sqrt(outlier)
 *          in the same columns / 128 input channels (at least one), 1 in the others
 *
 * Which channels are large follows from seed, layer and head (the layer alone for weights and activations), as it
 * follows from a model's weights and not from the text; s too. Every value is rounded to f16.
 *
 * Values depend on the arguments only: not on the order of calls, the thread, the compiler or the instruction set
 * (IEEE operations, no fused ones, no functions of the C library but the square root; test_model_data has the hash).
 * Pure functions; any thread. Sources of the constants: docs/maintain/model-data.md. */
#ifndef IFM_WORKLOAD_DATA_MODEL_DATA_H
#define IFM_WORKLOAD_DATA_MODEL_DATA_H

#include <stdint.h>

#define IFM_MODEL_BLOCK 128               /* tokens over which neighbours resemble each other */
#define IFM_MODEL_DIM_MOST 1024           /* head_dim */
#define IFM_MODEL_COLUMNS_MOST (1U << 20) /* of a weight */
#define IFM_MODEL_OUTLIER 12.0            /* the default amplification; 6 is milder, 1 is none */

struct ifm_model_data {
    uint64_t seed;
    unsigned head_dim; /* even, 2 .. IFM_MODEL_DIM_MOST */
    unsigned kv_heads; /* pair = sequence * kv_heads + head, as in kv/cache.h; 0 counts as 1 */
    double outlier;    /* amplification of the large channels, 1 .. 512 */
};

/* Keys and values of `tokens` tokens from `first_token` on, of one pair of one layer, rows [tokens][head_dim]. `k` or
 * `v` may be NULL: not wanted. Token numbers are positions, below 2^52. Any first token is allowed; one that is no
 * multiple of IFM_MODEL_BLOCK costs the tokens of its block before it too. */
void ifm_model_kv(const struct ifm_model_data *data, uint64_t layer, uint64_t pair, uint64_t first_token,
                  unsigned tokens, float *k, float *v);

/* Queries of the `n` query heads that share the pair's KV head, at one position, rows [n][head_dim]. */
void ifm_model_queries(const struct ifm_model_data *data, uint64_t layer, uint64_t pair, uint64_t position, unsigned n,
                       float *q);

/* Rows first_row .. first_row + rows of a weight or activation of `columns` input channels, rows [rows][columns];
 * columns from 1 to IFM_MODEL_COLUMNS_MOST. `layer` numbers the matrix: give each linear layer its own. A call takes
 * 200 KiB of stack and picks the large channels anew, so ask for many rows at once. head_dim and kv_heads
 * are not used. */
void ifm_model_weights(const struct ifm_model_data *data, uint64_t layer, uint64_t first_row, uint64_t rows,
                       unsigned columns, float *w);
void ifm_model_activations(const struct ifm_model_data *data, uint64_t layer, uint64_t first_row, uint64_t rows,
                           unsigned columns, float *x);

/* The large channels. `channels` has room for D / 32 numbers, of columns for columns / 128, one at least, in no
 * order; returns how many there are. For tests and for those who want to say which channels they promoted. */
unsigned ifm_model_key_outliers(const struct ifm_model_data *data, uint64_t layer, uint64_t pair, uint32_t *channels);
unsigned ifm_model_column_outliers(const struct ifm_model_data *data, uint64_t layer, unsigned columns,
                                   uint32_t *channels);

#endif
