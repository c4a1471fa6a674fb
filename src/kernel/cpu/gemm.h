/* Few activations times a weight matrix, the other half of a decode step: out[m][n] = sum over k of x[m][k] w[n][k], m
 * <= 8, so that reading the weights is most of the work: each byte of them is read once for all m.
 *
 * Weights, the same bytes for every instruction set:
 *   f32, f16, bf16  rows in order, [n][k], nothing between them: the matrix that a BLAS reads too; no kernel here
 *              takes f16, which is a GPU's
 *   int8, int4 panels of 16 rows, the last one filled up with zeros. Along k a panel consists of groups of `group`
 *              values; two groups (the second may not exist) are one 64-byte line of their scales, 2 x 16 f16, lane =
 *              row, and then their codes. A 64-byte line of codes is 16 rows x 4 bytes:
 *                int8  byte 4 r + i = code of k 4 l + i of row r, plus 128
 *                int4  the low half of byte 4 r + i = code of k 8 l + i of row r, plus 8; the high half that of
 *                      k 8 l + 4 + i
 *              with l the number of the line in its group. weight = scale x code, codes -127 .. 127 and -8 .. 7; where
 *              k ends within a group, codes of zero fill it up.
 * A scale is the largest magnitude of the group / 127 or / 7, rounded to f16 before the codes are, and at most 65504. A
 * group that holds NaN or infinity has the scale NaN.
 *
 * Sums of int8 and int4 are exact: activations are rounded to 16 bits in steps of their largest magnitude / 32639
 * within each group of one row (so |code| <= 127 x 256 + 127, two signed bytes), a group's sum of products fits 32
 * bits, and groups add up in f32. A group of activations with NaN or infinity gives NaN in all outputs of its row; one
 * whose largest magnitude is below 1e-34 counts as zero.
 *
 * Thread rule: workers of one job write disjoint memory, each to its own scratch. */
#ifndef IFM_KERNEL_CPU_GEMM_H
#define IFM_KERNEL_CPU_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ifm_gemm_format { IFM_GEMM_F32 = 0, IFM_GEMM_F16, IFM_GEMM_BF16, IFM_GEMM_INT8, IFM_GEMM_INT4, IFM_GEMM_FORMATS };
enum { IFM_GEMM_M_MOST = 8, IFM_GEMM_PANEL = 16 };

struct ifm_gemm_shape {
    uint64_t m, n, k; /* at least 1; m <= IFM_GEMM_M_MOST */
    unsigned group;   /* of int8 and int4: 32, 64 or 128 */
    enum ifm_gemm_format format;
};

struct ifm_gemm_job {
    struct ifm_gemm_shape shape;
    const float *x; /* [m][k] */
    const void *w;  /* ifm_gemm_bytes, 64-byte aligned */
    float *out;     /* [m][n] */
    void *scratch;  /* ifm_gemm_scratch_bytes of as many workers as run, 64-byte aligned; NULL for f32 and bf16 */
};

/* The rows of worker `index` of `count`: whole panels. */
typedef void ifm_gemm_fn(const struct ifm_gemm_job *job, unsigned index, unsigned count);

const char *ifm_gemm_format_name(enum ifm_gemm_format format); /* "f32", "f16", "bf16", "int8", "int4" */
/* Bytes of the weights; of int8 and int4 scales and padding included. UINT64_MAX where they overflow. */
uint64_t ifm_gemm_bytes(const struct ifm_gemm_shape *shape);
/* Store rows [first, first + rows) from w[rows][k]; `first` is a multiple of 16, and `rows` too unless the matrix ends
 * there. Calls for different rows may run at the same time. */
void ifm_gemm_encode(const struct ifm_gemm_shape *shape, uint64_t first, uint64_t rows, const float *w, void *out);
/* The weights of one row as they are stored, into to[k]: the definition of the bytes. */
void ifm_gemm_decode(const struct ifm_gemm_shape *shape, const void *w, uint64_t row, float *to);

/* Rows [from, to) of worker `index` of `count`. */
struct ifm_gemm_share {
    uint64_t from, to;
};
struct ifm_gemm_share ifm_gemm_share_of(uint64_t n, unsigned index, unsigned count);

size_t ifm_gemm_scratch_bytes(const struct ifm_gemm_shape *shape, unsigned count);

/* Layout of int8 and int4. */
static inline uint64_t ifm_gemm_groups(const struct ifm_gemm_shape *s)
{
    return (s->k + s->group - 1) / s->group;
}
static inline uint64_t ifm_gemm_group_bytes(const struct ifm_gemm_shape *s) /* codes of a group of a panel */
{
    return (uint64_t)s->group * IFM_GEMM_PANEL / (s->format == IFM_GEMM_INT4 ? 2 : 1);
}
static inline uint64_t ifm_gemm_panel_bytes(const struct ifm_gemm_shape *s)
{
    return (ifm_gemm_groups(s) + 1) / 2 * 64 + ifm_gemm_groups(s) * ifm_gemm_group_bytes(s);
}

/* A worker's activations in 16 bits: per row of x, `row_bytes` bytes of codes, 8 for four values of k, in the order
 * that the kernel wants; then scales and sums of the groups. */
struct ifm_gemm_codes {
    unsigned char *x; /* [m][row_bytes] */
    size_t row_bytes;
    float *scale;  /* [m][groups] */
    int32_t *bias; /* [m][groups]: the group's sum x (8 or 128) */
};
struct ifm_gemm_codes ifm_gemm_codes_at(const struct ifm_gemm_job *job, unsigned index);

#endif
