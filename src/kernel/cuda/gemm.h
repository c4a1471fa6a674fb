/* Arguments of the kernels of gemm.cu, gemm_row.cu, gemm_mma.cu, gemm_wgmma.cu and gemm_tma.cu, and the layout of their
 * weights: C and CUDA.
 *
 * f16 and bf16: rows in order, [n][k]. int8 and int4 in kernel/cpu/gemm.h's layout, panels of 16 rows; or in fragments:
 * the same panels, each with the lines of scales of all its pairs of groups first, so that loads of codes are whole
 * lines of a cache, and the codes of a pair in the order in which the lanes of a warp want them for mma.m16n8k16. Lane
 * 4 g + t has the rows g and g + 8 of the panel and, of every 32 values of k, those from 8 t to 8 t + 7 ("e" below).
 * The codes of a pair are vectors of 512 bytes, 16 a lane: int8  a vector holds 32 values of k; word 2 (row / 8) + e /
 * 4, byte e % 4 int4  a vector holds 64 values of k; word 2 (k / 32 % 2) + e / 2 % 2, bit 16 (e % 2) + 8 (row / 8) + 4
 * (e / 4)
 *
 * wgmma reads activations where they lie, so its fragments have k in order: lane 4 g + t has, of every 32 values, those
 * that are 2 t and 2 t + 1 from a multiple of 8 on, and "e" is 2 (k % 32 / 8) + k % 2. */
#ifndef IFM_KERNEL_CUDA_GEMM_H
#define IFM_KERNEL_CUDA_GEMM_H

#include <stdint.h>

/* Formats of the weights, in the order of enum ifm_gemm_format; activations and outputs are bf16 beside bf16, else
 * f16. */
enum { IFM_CUDA_GEMM_F16 = 1, IFM_CUDA_GEMM_BF16, IFM_CUDA_GEMM_INT8, IFM_CUDA_GEMM_INT4 };

enum {
    IFM_CUDA_GEMM_THREADS = 256, /* of a block of ifm_gemm_naive_* and ifm_gemm_reference, a warp an output */
    IFM_CUDA_GEMM_PANEL = 16,    /* rows of the weights that are multiplied at once */
    IFM_CUDA_GEMM_LINE = 64,     /* bytes of the scales of a pair of groups */
    IFM_CUDA_GEMM_VECTOR = 512,  /* bytes that a warp loads at once */
    IFM_CUDA_GEMM_PAD = 256,     /* a row of activations is a multiple of it; what it has beyond k is 0 */
    IFM_CUDA_GEMM_WARPS = 16,    /* of a block of ifm_gemm_mma_*, at most */
    IFM_CUDA_GEMM_LOADS = 4,     /* of a warp at a time, where groups allow it: fewer are slower */
    IFM_CUDA_GEMM_GAP = 32,      /* elements between rows of activations in shared memory, for its banks */
    /* ifm_gemm_wgmma_* and ifm_gemm_tma_*: */
    IFM_CUDA_GEMM_DEPTH = 64,     /* values of k of a step */
    IFM_CUDA_GEMM_TMA_ROWS = 128, /* of the weights, of a block */
    IFM_CUDA_GEMM_TMA_SPLIT = 4,
    IFM_CUDA_GEMM_TMA_THREADS = 2 * IFM_CUDA_GEMM_TMA_ROWS + 32,
    /* ifm_gemm_row_*: */
    IFM_CUDA_GEMM_ROW_UNIT = 256, /* values of k of a warp and a chunk */
    IFM_CUDA_GEMM_ROW_THREADS = 32 * IFM_CUDA_GEMM_WARPS + 32,
    IFM_CUDA_GEMM_ROW_SLOTS = 4, /* chunks in shared memory */
    IFM_CUDA_GEMM_ROW_DEPTH = 2  /* chunks on their way; one and three are slower */
};
/* Steps in shared memory, by the warpgroups of a block. */
#define IFM_CUDA_GEMM_STAGES_OF(groups) ((groups) == 4 ? 4 : 6)

struct ifm_cuda_gemm {
    const void *w, *x; /* x: [m][x_stride] */
    void *out;         /* [m][n]; of the reference: double */
    uint32_t m, n, k, x_stride;
    uint32_t group, format;
    uint32_t staged; /* ifm_gemm_mma_*: activations are copied to shared memory first */
    uint32_t panels; /* ifm_gemm_row_*: of a block; the first blocks have one more where some are left */
};

/* ifm_gemm_tma_*: also how the copy engine finds tiles of 64 values of k, of IFM_CUDA_GEMM_TMA_ROWS rows of `w`, and
 * of all of `x` (CUtensorMap). n is a multiple of these rows, k of 64. Of ifm_gemm_tma_part_*, where `split` blocks
 * share k: sums of each block, and how many blocks of a tile have left theirs, which is 0 between launches. */
struct ifm_cuda_gemm_tma {
    struct ifm_cuda_gemm a;
    void *parts;       /* [blocks][columns / 8][threads that multiply][4] floats */
    uint32_t *tickets; /* [n / IFM_CUDA_GEMM_TMA_ROWS] */
    uint32_t split;    /* at most IFM_CUDA_GEMM_TMA_SPLIT; all blocks run at the same time */
    unsigned char w_map[128] __attribute__((aligned(64))), x_map[128] __attribute__((aligned(64)));
};

/* Of 8, 16 or 32 columns: stages on their way to a warp, and panels between two barriers of a block. */
#define IFM_CUDA_GEMM_SLOTS_OF(format, columns) ((columns) == 8 && (format) != IFM_CUDA_GEMM_INT4 ? 4 : 2)
#define IFM_CUDA_GEMM_PASS_OF(format, columns, m)                                                                      \
    ((columns) > 8 ? 2 : (format) > IFM_CUDA_GEMM_BF16 || (m) == 1 ? 8 : 4)
/* Bytes of a step of ifm_gemm_wgmma_* in shared memory: activations, then weights, or codes and a line of scales for
 * each warp; to a multiple of 1024. */
#define IFM_CUDA_GEMM_STAGE(format, columns, groups)                                                                   \
    ((columns)*2 * IFM_CUDA_GEMM_DEPTH +                                                                               \
     ((format) <= IFM_CUDA_GEMM_BF16 ? (groups)*64 * 2 * IFM_CUDA_GEMM_DEPTH                                           \
      : (format) == IFM_CUDA_GEMM_INT8                                                                                 \
          ? (groups)*4 * (2 * IFM_CUDA_GEMM_VECTOR + IFM_CUDA_GEMM_LINE) + 1024 - (groups)*256                         \
          : (groups)*4 * (IFM_CUDA_GEMM_VECTOR + IFM_CUDA_GEMM_LINE) + 1024 - (groups)*256))
/* The same of ifm_gemm_tma_*, how many of them are on their way, and with their barriers. */
#define IFM_CUDA_GEMM_TMA_STAGE(columns) (((columns) + IFM_CUDA_GEMM_TMA_ROWS) * 2 * IFM_CUDA_GEMM_DEPTH)
#define IFM_CUDA_GEMM_TMA_STAGES(columns) ((216 << 10) / IFM_CUDA_GEMM_TMA_STAGE(columns))
#define IFM_CUDA_GEMM_TMA_SHARED(columns)                                                                              \
    (IFM_CUDA_GEMM_TMA_STAGES(columns) * (IFM_CUDA_GEMM_TMA_STAGE(columns) + 16) + 1024)
/* Bytes of the sums of a part of k. */
#define IFM_CUDA_GEMM_TMA_PART(columns) ((columns)*IFM_CUDA_GEMM_TMA_ROWS * 4)
/* Bytes of a chunk of ifm_gemm_row_*: lines of scales, then codes. */
#define IFM_CUDA_GEMM_ROW_CHUNK(group)                                                                                 \
    (IFM_CUDA_GEMM_WARPS *                                                                                             \
     (IFM_CUDA_GEMM_ROW_UNIT / (2 * (group)) * IFM_CUDA_GEMM_LINE + IFM_CUDA_GEMM_ROW_UNIT * IFM_CUDA_GEMM_PANEL / 2))
/* Floats of a row of partial sums. */
#define IFM_CUDA_GEMM_WIDTH(m) ((m) == 1 ? 1u : ((m) + 1) / 2 * 2)

#if !defined(__CUDACC_RTC__) /* the host's */
/* Bytes of a warp's ring: stages of a few loads, and a line of scales each; a stage is no part of a group. */
static inline uint32_t ifm_cuda_gemm_ring(uint32_t format, uint32_t group, uint32_t columns)
{
    const uint32_t loads = IFM_CUDA_GEMM_LOADS, of_group = format == IFM_CUDA_GEMM_INT4 ? group / 64 : group / 32;
    const uint32_t pair = format == IFM_CUDA_GEMM_INT4 ? group / 32 : group / 16;
    const uint32_t few = pair < loads ? pair : loads, vectors = of_group > few ? of_group : few;
    return IFM_CUDA_GEMM_SLOTS_OF(format, columns) * (format <= IFM_CUDA_GEMM_BF16
                                                          ? 4 * IFM_CUDA_GEMM_VECTOR
                                                          : vectors * IFM_CUDA_GEMM_VECTOR + IFM_CUDA_GEMM_LINE);
}
/* Shared bytes of a block of ifm_gemm_mma_*: rings; partial sums of 16 rows x m for each panel of a pass and each warp,
 * `columns` being m rounded up to 8, 16 or 32; then activations, where they are staged. */
static inline uint32_t ifm_cuda_gemm_shared(uint32_t format, uint32_t group, uint32_t m, uint32_t columns,
                                            uint32_t warps)
{
    return warps * (ifm_cuda_gemm_ring(format, group, columns) +
                    IFM_CUDA_GEMM_PASS_OF(format, columns, m) * IFM_CUDA_GEMM_PANEL * IFM_CUDA_GEMM_WIDTH(m) * 4);
}
/* The same of ifm_gemm_row_*: chunks, activations, barriers, partial sums of each row of `panels` and each warp. */
static inline uint32_t ifm_cuda_gemm_row_shared(uint32_t group, uint32_t x_stride, uint32_t panels)
{
    return IFM_CUDA_GEMM_ROW_SLOTS * (IFM_CUDA_GEMM_ROW_CHUNK(group) + 16) + 2 * x_stride + 8 +
           panels * IFM_CUDA_GEMM_PANEL * (IFM_CUDA_GEMM_WARPS + 1) * 4;
}
static inline uint32_t ifm_cuda_gemm_staged(uint32_t m, uint32_t x_stride)
{
    return m * (x_stride + IFM_CUDA_GEMM_GAP) * 2;
}
#endif

#endif
