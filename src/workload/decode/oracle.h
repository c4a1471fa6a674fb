/* The oracle of decode: attention in f64, plain sums, on rows that come in pieces of a few tokens.
 *
 * The maximum runs along as they come (Milakov and Gimelshein 2018), which in f64 costs nothing of what it is compared
 * with; so no whole cache is ever held in f32. Owns no memory. Thread rule: no shared state. */
#ifndef IFM_WORKLOAD_DECODE_ORACLE_H
#define IFM_WORKLOAD_DECODE_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A few query heads over the tokens of one pair. All arrays are the caller's. */
struct ifm_decode_oracle {
    unsigned heads, dim;
    uint64_t tokens, room; /* added so far, at most */
    const float *q;        /* [heads][dim] */
    double *top, *total;   /* [heads] */
    double *sum;           /* [heads][dim]: the output, once it is ended */
    double *scores;        /* [heads][room]: natural logarithms of the weights, up to `top` + log(`total`) */
    bool passing;          /* nobody asks for them later: `room` is what comes at once, at most */
};

void ifm_decode_oracle_begin(struct ifm_decode_oracle *oracle);
/* Rows [tokens][dim] of further tokens. */
void ifm_decode_oracle_add(struct ifm_decode_oracle *oracle, unsigned tokens, const float *k, const float *v);
void ifm_decode_oracle_end(struct ifm_decode_oracle *oracle);

/* How far the weights of head `head` of `other` are from those of `exact`, whose token i is the next one of `other`
 * where keep[i] is 1 and is missing in it where it is 0; keep == NULL: it has all of them, in order. */
struct ifm_decode_divergence {
    double kl; /* sum p log(p / p'), nats; infinite where a token is missing */
    double tv; /* total variation, 0 .. 1 */
};
struct ifm_decode_divergence ifm_decode_divergence_of(const struct ifm_decode_oracle *exact,
                                                      const struct ifm_decode_oracle *other, unsigned head,
                                                      const uint8_t *keep);

#endif
