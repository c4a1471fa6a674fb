/* Blocks of a cluster and their shared memory. Device code of compute capability 9.0 and newer. */
#ifndef IFM_KERNEL_CUDA_CLUSTER_CUH
#define IFM_KERNEL_CUDA_CLUSTER_CUH

#include <stdint.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

namespace
{

__device__ __forceinline__ void meet_cluster()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* The address of `at`, of this block's shared memory, in that of block `rank` of the cluster. */
__device__ __forceinline__ uint32_t in_block(uint32_t at, uint32_t rank)
{
    uint32_t mapped;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(at), "r"(rank));
    return mapped;
}

__device__ __forceinline__ uint32_t in_block(const float *at, uint32_t rank)
{
    return in_block(static_cast<uint32_t>(__cvta_generic_to_shared(at)), rank);
}

__device__ __forceinline__ float cluster_float(uint32_t at)
{
    float x;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(at));
    return x;
}

__device__ __forceinline__ float4 cluster_float4(uint32_t at)
{
    float4 x;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                 : "r"(at));
    return x;
}

} // namespace

#endif

#endif
