/* Private to src/derive/picture*.c: order statistics by selection, and the density of a sample. */
#ifndef IFM_DERIVE_PICTURE_PICTURE_BINS_H
#define IFM_DERIVE_PICTURE_PICTURE_BINS_H

#include "derive/internal.h"
#include "derive/picture/picture.h"

/* The median (of type 7) of n >= 1 values, which are reordered; `scratch` holds n. */
double ifm_picture_median(double *x, size_t n, double *scratch);

/* Edges and bins of `n` values (reordered), and how many lie outside. No bin is narrower than the values' grain, so
 * that a coarse clock makes no comb: the smallest difference between unequal ones among a thousand of them, `finest` at
 * least. The edges hold the values up to three interquartile ranges beyond the quartiles, and always those between the
 * 1 % and the 99 % quantile; they are a ratio apart where the last is more than four times the first. Gives the median;
 * 0 without values. */
double ifm_picture_bins(double *x, size_t n, double finest, struct ifm_arena *arena, struct ifm_picture_arm *out);

#endif
