/* Writing pages of the elastic KV cache ("kv_encode.int8", ... in the dispatch table; type ifm_kv_encode_fn).
 *
 * All instruction sets write the same bytes: the arithmetic is defined value by value in f32 without contraction or
 * reassociation. The compiler may vectorise it across channels (K) or tokens (V), but not change it. Compiled once per
 * instruction set. Thread rule: reentrant; no allocation, a few hundred KiB of stack at most. */
#ifndef IFM_KERNEL_CPU_KV_ENCODE_H
#define IFM_KERNEL_CPU_KV_ENCODE_H

#include "kv/format.h"

/* -- what kv/format.h leaves open --
 *
 * f16, e4m3 are rounded to nearest, ties to even. f16 keeps infinities and NaN (without its payload). The scale of an
 * e4m3 section is its largest finite magnitude / 448, 0 where that magnitude is below 2^-100; NaN and infinity become
 * NaN.
 *
 * Integers: scale and zero are f32 expressions rounded to f16, and saturate at 65504; a scale above 0 is at least
 * 2^-24. Then code = round((x - zero) * (1 / scale)), ties to even, clamped to the format's codes; where the scale is 0
 * (an empty range), the code is that of x = zero. K of int8: scale = (high - low) / 255, zero = low, for the channel's
 * lowest and highest value on the page. V of int8: scale = max |x| / 127, zero = 0. A channel (K) or token (V) that
 * holds NaN or infinity, or whose rotation overflows, has the scale NaN.
 *
 * Clip search (4 and 2 bits): among ranges [l, h], scale = (h - l) / (2^bits - 1), zero = l (K) or the negative half of
 * the range (V), the one with the least sum of squared errors of the decoded values, scale and zero as rounded; the one
 * tried first on a tie. For a channel from `low` to `high`, width w = high - low, these are tried, IFM_KV_TRIES in all:
 *   1. IFM_KV_CUTS ranges about the middle, the i-th narrower by i * cut * w;
 *   2. from the best one so far, its lower end moved by -m and by +m, then its upper end; m = IFM_KV_MOVE * w, then
 *      half of that.
 * A token of V has symmetric ranges: 1. IFM_KV_CUTS_V; 2. both ends moved apart and together, by a quarter and by an
 * eighth of cut * w.
 *
 * The squares of K are weighted: an error in a key matters as far as queries attend to that key, and those are the keys
 * far out in a channel of large values, which a plain sum of squares would clip. For queries of independent unit normal
 * components and a normal channel of variance s, the attention that falls on a value x is its density times
 * exp(y), y = (x - mean)^2 / (2 (D + s)): under the softmax a channel's values have the density times
 * exp(x q / sqrt(D)), normalised for each q; then the average over q. The weight is (1 + y / 4)^8, which is near
 * exp(2 y): twice the exponent gave the least KL, by a few percent, and so much tail costs channels of unit variance
 * nothing. */
enum { IFM_KV_CUTS = 3, IFM_KV_CUTS_V = 4, IFM_KV_ROUNDS = 2, IFM_KV_TRIES = IFM_KV_CUTS + 4 * IFM_KV_ROUNDS };
#define IFM_KV_CUT_K4 0.06f
#define IFM_KV_CUT_K2 0.20f
#define IFM_KV_CUT_V4 0.10f
#define IFM_KV_CUT_V2 0.14f
#define IFM_KV_MOVE 0.06f

#endif
