/* Which part of a cache the outputs of a kernel leave out, or count too often.
 *
 * Kernels of integer codes round the query, and the tolerance of their error allows for it: 24 % with int2, while a
 * sink of 32 in 8192 tokens is 1 % of an output. So the size of the error cannot show that the sink was forgotten; its
 * direction does. A part is the sink, some successive body pages, or a ring page. c = what a part adds to the outputs
 * of a pair's heads, e = their error, each less what lies along the head's output, since rounded totals err along that.
 * The least-squares coefficient a = <e, c> / <c, c> is -1 where the part is missing, and 1 where it counts twice; what
 * is left, e - a c, gives a the standard error |e - a c| / (|c| sqrt(values)). Thread rule: no shared state. */
#ifndef IFM_WORKLOAD_DECODE_PARTS_H
#define IFM_WORKLOAD_DECODE_PARTS_H

#include "workload/decode/oracle.h"

enum { IFM_DECODE_PARTS_MOST = 512 };

/* All arrays are the caller's. */
struct ifm_decode_parts {
    unsigned n;         /* parts ended so far, at most IFM_DECODE_PARTS_MOST */
    double *sum;        /* [IFM_DECODE_PARTS_MOST][heads][dim]: weighted rows of the part */
    double *top;        /* [IFM_DECODE_PARTS_MOST][heads]: the weights are relative to it */
    double *before_sum; /* [heads][dim] */
    double *before_top; /* [heads] */
};

/* Doubles that the arrays take together. */
size_t ifm_decode_parts_room(unsigned heads, unsigned dim);
/* `room`: that many. */
void ifm_decode_parts_start(struct ifm_decode_parts *parts, unsigned heads, unsigned dim, double *room);
/* What the oracle adds between the two is one part. */
void ifm_decode_part_begin(struct ifm_decode_parts *parts, const struct ifm_decode_oracle *oracle);
void ifm_decode_part_end(struct ifm_decode_parts *parts, const struct ifm_decode_oracle *oracle);
/* The greatest |a| of all parts less four standard errors, at least 0: as much of some part is wrong. `oracle` is
 * ended; `outputs` [heads][dim]. */
double ifm_decode_parts_wrong(const struct ifm_decode_parts *parts, const struct ifm_decode_oracle *oracle,
                              const float *outputs);

#endif
