/* What packed.cu says in PTX of bulk copies and their barriers, of compute capability 9.0 and newer. Device code only;
 * a test exchanges this file for one that says it of threads of the host. */
#ifndef IFM_KERNEL_CUDA_PACKED_PTX_CUH
#define IFM_KERNEL_CUDA_PACKED_PTX_CUH

#include <stdint.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

namespace
{

__device__ __forceinline__ void bulk_copy(uint32_t shared, const void *from, uint32_t bytes, uint32_t barrier)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}

__device__ __forceinline__ void begin_barrier(uint32_t barrier, uint32_t arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void expect(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void await(uint32_t barrier, uint32_t phase)
{
    uint32_t done;
    do
        asm volatile("{.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(barrier), "r"(phase)
                     : "memory");
    while (done == 0);
}

/* Barriers that this thread has begun are there for all, and for the copy engine. */
__device__ __forceinline__ void fence_barriers()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Copies that follow are behind what threads have read and written. */
__device__ __forceinline__ void fence_copies()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void store_shared(uint32_t at, uint32_t x)
{
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(x) : "memory");
}

} // namespace

#endif

#endif
