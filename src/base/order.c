/* Numbers in order. */
#include "base/order.h"

#include <stdint.h>
#include <stdlib.h>

int ifm_by_f64(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int ifm_by_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

double ifm_median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, ifm_by_f64);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
