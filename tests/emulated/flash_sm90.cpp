/* The kernels of flash_sm90.cu over views, compiled from their own source for threads of the host: see flash.cpp. */
#include "kernel/cuda/flash_wgmma.cuh"

#define __CUDA_ARCH_FEAT_SM90_ALL
#include "kernel/cuda/flash_sm90_strided.cu"

#include "emulated/flash_views.h"

#define CELL(format, dim, groups, tokens, q_heads, kv_heads, causal, layout)                                           \
    {                                                                                                                  \
        ifm_hopper_##format##_##dim##_##groups##_strided, dim, tokens, q_heads, kv_heads, 4 * groups, 64 * groups,     \
            IS_##format, causal, cell::layout                                                                          \
    }
enum { IS_f16 = 0, IS_bf16 = 1 };

int main()
{
    cell large = CELL(f16, 64, 1, 35, 4, 2, true, PACKED);
    large.size = 256;
    const cell cells[] = {
        large,
        CELL(f16, 64, 1, 1, 2, 1, true, PACKED),
        CELL(f16, 64, 1, 131, 4, 2, true, PACKED), /* three tiles, of which two are odd and even */
        CELL(bf16, 64, 2, 257, 1, 1, false, PACKED),
        CELL(bf16, 128, 2, 67, 2, 1, true, PACKED),
        CELL(f16, 128, 2, 129, 2, 1, false, CONTIGUOUS),
    };
    return check_cells(cells);
}
