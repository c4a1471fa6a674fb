/* Stamps of multiprocessors, held against each other. */
#include "device/stamp.h"

#include "model/facts.h"
#include <stdbool.h>

enum { MOST = 1024 }; /* multiprocessors that are looked at; the largest GPUs have some 150 */
#define ABOVE 1.05    /* of the highest clock: a counter that jumped */
#define BELOW 0.05    /* of it: a counter that was reset or stood still */
#define UNKNOWN_MOST_KHZ 10e6

struct stretch {
    int64_t cycles, ns;
};

static double khz_of(const struct stretch *stretch)
{
    return (double)stretch->cycles / (double)stretch->ns * 1e6;
}

/* Its first stamp; blocks that shared a multiprocessor stamped it twice. */
static const struct ifm_stamp *find(const struct ifm_stamp *stamps, size_t n, uint32_t multiprocessor)
{
    for (size_t i = 0; i < n; i++)
        if (stamps[i].multiprocessor == multiprocessor)
            return &stamps[i];
    return NULL;
}

/* By insertion: there are few. */
static void insert(struct stretch *sorted, size_t n, struct stretch stretch)
{
    size_t at = n;
    for (; at > 0 && khz_of(&sorted[at - 1]) > khz_of(&stretch); at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = stretch;
}

static bool is_possible(const struct stretch *stretch, unsigned most_khz)
{
    double most = most_khz > 0 ? (double)most_khz : UNKNOWN_MOST_KHZ, khz = khz_of(stretch);
    return stretch->cycles > 0 && khz <= ABOVE * most && (most_khz == 0 || khz >= BELOW * most);
}

const char *ifm_stamp_between(const struct ifm_stamp *first, const struct ifm_stamp *second, size_t n,
                              unsigned most_khz, int64_t *cycles, int64_t *span_ns)
{
    struct stretch good[MOST];
    size_t common = 0, n_good = 0, n_short = 0;
    *cycles = *span_ns = IFM_ABSENT;
    for (size_t i = 0; i < n && i < MOST; i++) {
        const struct ifm_stamp *then = find(second, n, first[i].multiprocessor);
        if (then == NULL || find(first, n, first[i].multiprocessor) != &first[i])
            continue;
        struct stretch stretch = {(int64_t)(then->cycles - first[i].cycles), (int64_t)(then->ns - first[i].ns)};
        common++;
        n_short += stretch.ns < IFM_STAMP_LEAST_NS;
        if (stretch.ns >= IFM_STAMP_LEAST_NS && is_possible(&stretch, most_khz))
            insert(good, n_good++, stretch);
    }
    if (common == 0)
        return "no multiprocessor was stamped both before and after the slot";
    if (2 * n_short > common)
        return "the slot is shorter than 0.4 ms, too short for the GPU's timer";
    if (2 * n_good <= common)
        return "the cycle counters of most multiprocessors went back, stood still or jumped";
    *cycles = good[n_good / 2].cycles;
    *span_ns = good[n_good / 2].ns;
    return "";
}
