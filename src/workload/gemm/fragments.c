/* The codes of int8 and int4 weights in the order in which the lanes of a GPU's warp multiply them. Pure. */
#include "workload/gemm/cuda.h"

#include <string.h>

enum { LINE = IFM_CUDA_GEMM_LINE, VECTOR = IFM_CUDA_GEMM_VECTOR, PANEL = IFM_GEMM_PANEL };

/* Where code `k` of a pair of groups, of row `row` of the panel, has its lowest bit, in bits. */
static size_t place_of(enum ifm_gemm_format format, bool in_order, unsigned row, unsigned k)
{
    const unsigned lane = row % 8 * 4 + (in_order ? k % 8 / 2 : k % 32 / 8), high = row / 8;
    const unsigned e = in_order ? k % 32 / 8 * 2 + k % 2 : k % 8;
    if (format == IFM_GEMM_INT8)
        return 8 * ((size_t)k / 32 * VECTOR + lane * 16 + (2 * high + e / 4) * 4 + e % 4);
    return 8 * ((size_t)k / 64 * VECTOR + lane * 16 + (k / 32 % 2 * 2 + e / 2 % 2) * 4) + 16 * (e % 2) + 8 * high +
           4 * (e / 4);
}

static unsigned code_at(enum ifm_gemm_format format, const unsigned char *group, unsigned row, unsigned k)
{
    if (format == IFM_GEMM_INT8)
        return group[k / 4 * LINE + 4 * row + k % 4];
    return group[k / 8 * LINE + 4 * row + k % 4] >> (k % 8 < 4 ? 0 : 4) & 15;
}

/* `groups` of one pair, their codes. */
static void convert(const struct ifm_gemm_shape *s, bool in_order, unsigned groups, const unsigned char *from,
                    unsigned char *to)
{
    const uint64_t bytes = ifm_gemm_group_bytes(s);
    memset(to, 0, groups * bytes);
    for (unsigned g = 0; g < groups; g++)
        for (unsigned row = 0; row < PANEL; row++)
            for (unsigned k = 0; k < s->group; k++) {
                const size_t at = place_of(s->format, in_order, row, g * s->group + k);
                to[at / 8] = (unsigned char)(to[at / 8] | code_at(s->format, from + g * bytes, row, k) << at % 8);
            }
}

/* A panel: the lines of all its pairs of groups, then the codes of all. */
static void convert_panel(const struct ifm_gemm_shape *s, bool in_order, const unsigned char *from, unsigned char *to)
{
    const uint64_t n = ifm_gemm_groups(s);
    unsigned char *codes = to + (n + 1) / 2 * LINE;
    for (uint64_t g = 0; g < n; g += 2) {
        const unsigned groups = n - g < 2 ? 1 : 2;
        memcpy(to + g / 2 * LINE, from, LINE);
        convert(s, in_order, groups, from + LINE, codes);
        from += LINE + groups * ifm_gemm_group_bytes(s);
        codes += groups * ifm_gemm_group_bytes(s);
    }
}

void ifm_gemm_to_fragments(const struct ifm_gemm_shape *s, bool in_order, const void *from, void *to)
{
    const uint64_t groups = ifm_gemm_groups(s), bytes = (groups + 1) / 2 * LINE + groups * ifm_gemm_group_bytes(s);
    for (uint64_t panel = 0; panel < (s->n + PANEL - 1) / PANEL; panel++)
        convert_panel(s, in_order, (const unsigned char *)from + panel * bytes, (unsigned char *)to + panel * bytes);
}
