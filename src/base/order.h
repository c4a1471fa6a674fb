/* Numbers in order: comparisons for qsort, and the median. Pure functions; NaN has no place in an order. */
#ifndef IFM_BASE_ORDER_H
#define IFM_BASE_ORDER_H

#include <stddef.h>

/* Ascending, of double and of int64_t. */
int ifm_by_f64(const void *a, const void *b);
int ifm_by_i64(const void *a, const void *b);
/* Sorts `values`; of an even number the mean of the middle two. `n` is at least 1. */
double ifm_median(double *values, size_t n);

#endif
