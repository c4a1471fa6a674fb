/* Where the rows of attention's tensors lie. Device code only.
 *
 * A source that defines IFM_STRIDED first has the kernels of the one that it includes, over views: an image of its own,
 * whose kernels have _strided behind their names. In the others rows are adjacent, which is known when they are
 * compiled, so that views cost them nothing; these are macros and no functions, as the code of the others shall be that
 * of the bare expression. All places are in values. */
#ifndef IFM_KERNEL_CUDA_ATTENTION_ROWS_CUH
#define IFM_KERNEL_CUDA_ATTENTION_ROWS_CUH

#include "kernel/cuda/attention.h"

/* PLACE_OF_ROW: row `row` of Q or of the output, counted over all heads, which is `position` of head `pair`.
 * PLACE_OF_KV: the first row of head `all` of K or V, counted over all sequences, which is `head` of `sequence`.
 * STEP: from a row to the next.
 * BYTES_OF_PIECES: bytes to 16 of them, piece `piece` counted from row `row` on.
 * BYTES_OF_PIECE: bytes to 16 of them, piece `piece` of the `pieces` of row `row`. */
#ifdef IFM_STRIDED

typedef ifm_attention_strided ifm_attention_given;
static_assert(sizeof(ifm_attention_given) == sizeof(ifm_attention_arguments) + 3 * sizeof(ifm_strides), "as C has it");
#define ATTENTION_KERNEL(name) name##_strided
#define PLACE_OF_ROW(a, views, row, pair, position, dim)                                                               \
    ((void)(row), place_by((a).views, (pair) / (a).q_heads, (pair) % (a).q_heads, position))
#define PLACE_OF_KV(a, all, sequence, head, dim) ((void)(all), place_by((a).kv_views, sequence, head, 0))
#define STEP(a, views, dim) ((a).views.row)
#define BYTES_OF_PIECES(row, piece, dim, step)                                                                         \
    (static_cast<uint64_t>(static_cast<uint32_t>((row) + (piece) / ((dim) / 8))) * (2 * (step)) +                      \
     (piece) % ((dim) / 8) * 16)
#define BYTES_OF_PIECE(row, piece, pieces, step)                                                                       \
    (static_cast<uint64_t>(static_cast<uint32_t>(row)) * (2 * (step)) + (piece) * 16)

namespace
{

__device__ __forceinline__ uint64_t place_by(const ifm_strides &strides, uint64_t sequence, uint64_t head, uint64_t row)
{
    return sequence * strides.sequence + head * strides.head + row * strides.row;
}

} // namespace

#else

typedef ifm_attention_arguments ifm_attention_given;
#define ATTENTION_KERNEL(name) name
#define PLACE_OF_ROW(a, views, row, pair, position, dim) ((row) * (dim))
#define PLACE_OF_KV(a, all, sequence, head, dim) ((all) * (a).seq_len * (dim))
#define STEP(a, views, dim) (dim)
#define BYTES_OF_PIECES(row, piece, dim, step) (static_cast<int64_t>(row) * (dim) * 2 + (piece) * 16)
#define BYTES_OF_PIECE(row, piece, pieces, step) ((static_cast<int64_t>(row) * (pieces) + (piece)) * 16)

#endif

#endif
