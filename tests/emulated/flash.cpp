/* The kernels of flash.cu over views, compiled from their own source for threads of the host: lengths that no tile
 * divides, empty sequences, grouped heads, a mask, rows that are far apart and such that are not. */
#include "kernel/cuda/flash_ptx.cuh"

#include "kernel/cuda/flash_strided.cu"

#include "emulated/flash_views.h"

/* A cell of the kernel that IFM_FLASH_KERNELS has for the head. */
#define CELL(format, dim, tokens, q_heads, kv_heads, warps, rows, causal, layout)                                      \
    {                                                                                                                  \
        ifm_flash_##format##_##dim##_strided, dim, tokens, q_heads, kv_heads, warps, rows, IS_##format, causal,        \
            cell::layout                                                                                               \
    }
enum { IS_f16 = 0, IS_bf16 = 1 };

int main()
{
    cell large = CELL(f16, 64, 35, 4, 2, 4, 128, true, PACKED);
    large.size = 256;
    const cell cells[] = {
        large,
        CELL(f16, 32, 1, 2, 1, 4, 128, true, PACKED),
        CELL(f16, 32, 129, 2, 1, 4, 128, true, PACKED), /* two blocks of queries, three tiles of keys */
        CELL(f16, 64, 67, 4, 2, 4, 128, false, PACKED),
        CELL(bf16, 96, 131, 2, 1, 4, 64, true, PACKED), /* a row's pieces do not divide the threads */
        CELL(bf16, 128, 67, 1, 1, 8, 256, true, PACKED),
        CELL(f16, 160, 37, 2, 2, 4, 64, false, PACKED),
        CELL(f16, 64, 67, 4, 2, 4, 128, true, CONTIGUOUS),
    };
    return check_cells(cells);
}
