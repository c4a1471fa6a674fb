/* What flash_sm90.cu says in PTX beside flash_ptx.cuh: products by wgmma. Device code of compute capability 9.0 only;
 * tests/emulated has another one for threads of the host. */
#ifndef IFM_KERNEL_CUDA_FLASH_WGMMA_CUH
#define IFM_KERNEL_CUDA_FLASH_WGMMA_CUH

#include "kernel/cuda/wgmma.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace
{

/* What copies have brought is there for the matrix units, which read shared memory another way. */
__device__ __forceinline__ void show_matrix_units()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#define SUM4(b) "+f"(sum[b]), "+f"(sum[b + 1]), "+f"(sum[b + 2]), "+f"(sum[b + 3])
#define SUM16(b) SUM4(b), SUM4(b + 4), SUM4(b + 8), SUM4(b + 12)
#define REGISTERS32                                                                                                    \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,"  \
    "%30,%31}"
#define PRODUCT(format, transposed)                                                                                    \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %37, 0;\n"                                                             \
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32." format "." format " " REGISTERS32                       \
                 ", {%32,%33,%34,%35}, %36, p, 1, 1, " transposed ";}"                                                 \
                 : SUM16(0), SUM16(16)                                                                                 \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds))

/* sum (64 x 64) = a (64 x 16, registers) b (16 x 64), added to what is there if `adds`. A transposed b lies as rows of
 * 64 columns, the other as rows of 16. */
template <bool BF16, bool TRANSPOSED>
__device__ __forceinline__ void multiply(float *sum, const uint32_t *a, uint64_t b, int adds)
{
    if (BF16 && TRANSPOSED)
        PRODUCT("bf16", "1");
    else if (BF16)
        PRODUCT("bf16", "0");
    else if (TRANSPOSED)
        PRODUCT("f16", "1");
    else
        PRODUCT("f16", "0");
}

} // namespace

#endif

#endif
