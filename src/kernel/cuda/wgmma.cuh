/* What the kernels by wgmma share: descriptors of tiles, and the fences around products. Device code of compute
 * capability 9.0 only, in images that have it. */
#ifndef IFM_KERNEL_CUDA_WGMMA_CUH
#define IFM_KERNEL_CUDA_WGMMA_CUH

#include <stdint.h>

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace
{

/* Matrix descriptor: address, 1024 bytes between groups of eight rows of 128, 128-byte swizzle. A panel is one group
 * wide, so that the other distance is of no account. */
__device__ __forceinline__ uint64_t describe(uint32_t address)
{
    return (address & 0x3ffff) >> 4 | 64ULL << 16 | 64ULL << 32 | 1ULL << 62;
}

__device__ __forceinline__ void begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Until at most `LEFT` of the products that were committed are under way. */
template <int LEFT> __device__ __forceinline__ void wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

} // namespace

#endif

#endif
