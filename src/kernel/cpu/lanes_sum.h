/* Horizontal sums of several vectors at once: a tree of additions that interleaves two vectors at each step, at about
 * three instructions a vector instead of eight. */
#ifndef IFM_KERNEL_CPU_LANES_SUM_H
#define IFM_KERNEL_CPU_LANES_SUM_H

#include "kernel/cpu/lanes.h"

#if IFM_LANES == 1
IFM_INLINE void sum_each(const floats *v, const int n, float *out)
{
    for (int i = 0; i < n; i++)
        out[i] = v[i];
}
#else

/* Lane i of fold(a, b, step): where bit `step` of i is clear a[i] + a[i + step], else b[i - step] + b[i]. */
#define LOW(i, step) (((i) & (step)) == 0 ? (i) : (i) - (step) + IFM_LANES)
#define HIGH(i, step) (((i) & (step)) == 0 ? (i) + (step) : (i) + IFM_LANES)
#define LIST_4(m, s) m(0, s), m(1, s), m(2, s), m(3, s)
#define LIST_8(m, s) LIST_4(m, s), m(4, s), m(5, s), m(6, s), m(7, s)
#define LIST_16(m, s) LIST_8(m, s), m(8, s), m(9, s), m(10, s), m(11, s), m(12, s), m(13, s), m(14, s), m(15, s)
#if IFM_LANES == 16
#define LIST LIST_16
#elif IFM_LANES == 8
#define LIST LIST_8
#else
#define LIST LIST_4
#endif
#define FOLD(a, b, step)                                                                                               \
    (__builtin_shufflevector(a, b, LIST(LOW, step)) + __builtin_shufflevector(a, b, LIST(HIGH, step)))

IFM_INLINE floats fold(floats a, floats b, const int step)
{
    switch (step) {
    case 1:
        return FOLD(a, b, 1);
    case 2:
        return FOLD(a, b, 2);
#if IFM_LANES >= 8
    case 4:
        return FOLD(a, b, 4);
#endif
#if IFM_LANES >= 16
    case 8:
        return FOLD(a, b, 8);
#endif
    default:
        return a;
    }
}

/* v[i] = fold(v[2i], v[2i + 1]); the last one is folded with itself. */
IFM_INLINE void fold_all(floats *v, const int n, const int step)
{
    if (n <= 1)
        v[0] = fold(v[0], v[0], step);
    for (int i = 0; i < n / 2; i++)
        v[i] = fold(v[2 * i], v[2 * i + 1], step);
}

/* out[i] = the sum over the lanes of v[i]; n is a power of two. Changes v. */
IFM_INLINE void sum_each(floats *v, const int n, float *out)
{
    const int group = n < IFM_LANES ? n : IFM_LANES;
    for (int at = 0; at < n; at += group) {
        fold_all(v + at, group, 1);
        fold_all(v + at, group / 2, 2);
        if (IFM_LANES >= 8)
            fold_all(v + at, group / 4, 4);
        if (IFM_LANES >= 16)
            fold_all(v + at, group / 8, 8);
        memcpy(out + at, v + at, (size_t)group * sizeof(float));
    }
}
#endif

#endif
