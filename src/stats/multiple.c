/* Holm and Benjamini-Hochberg. */
#include "stats/multiple.h"

/* Sifts order[root] down: the heap keeps the largest p on top; equal p by index, so that the order is one. */
static void sift(const double *p, size_t *order, size_t root, size_t n)
{
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= n)
            return;
        if (child + 1 < n && (p[order[child + 1]] > p[order[child]] ||
                              (p[order[child + 1]] == p[order[child]] && order[child + 1] > order[child])))
            child++;
        if (p[order[child]] < p[order[root]] || (p[order[child]] == p[order[root]] && order[child] < order[root]))
            return;
        size_t swap = order[root];
        order[root] = order[child];
        order[child] = swap;
        root = child;
    }
}

/* Indices by ascending p. */
static enum ifm_stat rank_them(const double *p, size_t n, size_t *order)
{
    if (n == 0)
        return IFM_STAT_EMPTY;
    for (size_t i = 0; i < n; i++) {
        if (!(p[i] >= 0.0 && p[i] <= 1.0))
            return IFM_STAT_DOMAIN;
        order[i] = i;
    }
    for (size_t root = n / 2; root-- > 0;)
        sift(p, order, root, n);
    for (size_t end = n; end-- > 1;) {
        size_t swap = order[0];
        order[0] = order[end];
        order[end] = swap;
        sift(p, order, 0, end);
    }
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_holm(const double *p, size_t n, size_t *order, double *adjusted)
{
    IFM_STAT_TRY(rank_them(p, n, order));
    double highest = 0.0;
    for (size_t i = 0; i < n; i++) {
        double value = (double)(n - i) * p[order[i]];
        highest = value > highest ? value : highest;
        adjusted[order[i]] = highest < 1.0 ? highest : 1.0;
    }
    return IFM_STAT_OK;
}

enum ifm_stat ifm_stats_benjamini_hochberg(const double *p, size_t n, size_t *order, double *adjusted)
{
    IFM_STAT_TRY(rank_them(p, n, order));
    double lowest = 1.0;
    for (size_t i = n; i-- > 0;) {
        double value = (double)n * p[order[i]] / (double)(i + 1);
        lowest = value < lowest ? value : lowest;
        adjusted[order[i]] = lowest;
    }
    return IFM_STAT_OK;
}
