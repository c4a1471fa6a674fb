/* The frontier of bytes, loss and time: which arms another one beats. */
#include "derive/picture/frontier.h"

static bool dominates(const struct ifm_frontier_point *a, const struct ifm_frontier_point *b)
{
    return a->known && b->known && a->stored <= b->stored && a->loss <= b->loss && a->step_high < b->step_low;
}

void ifm_frontier_mark(const struct ifm_frontier_point *points, size_t n, size_t *by)
{
    for (size_t i = 0; i < n; i++) {
        by[i] = n;
        for (size_t k = 0; k < n; k++)
            if (dominates(&points[k], &points[i]) && (by[i] == n || points[k].step_high < points[by[i]].step_high))
                by[i] = k;
    }
}
