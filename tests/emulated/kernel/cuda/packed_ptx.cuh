/* packed_ptx.cuh for threads of the host, and what else packed.cu takes from CUDA. */
#ifndef IFM_KERNEL_CUDA_PACKED_PTX_CUH
#define IFM_KERNEL_CUDA_PACKED_PTX_CUH

#include "kernel/cuda/decode_ptx.cuh"

namespace
{

inline uint2 make_uint2(uint32_t x, uint32_t y)
{
    return {x, y};
}
inline float __fmul_rn(float a, float b)
{
    return a * b;
}
template <typename T> inline T __ldcg(const T *from)
{
    return *from;
}
inline void __threadfence()
{
}
inline uint32_t atomicAdd(uint32_t *to, uint32_t x)
{
    return __atomic_fetch_add(to, x, __ATOMIC_SEQ_CST);
}
inline uint64_t __cvta_generic_to_shared(const void *at)
{
    return shared_address(at);
}

/* ---- packed_ptx.cuh ---- */

inline void bulk_copy(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier)
{
    copy_bulk(to, from, bytes, barrier);
}
inline void begin_barrier(uint32_t barrier, uint32_t arrivals)
{
    barrier_create(barrier, arrivals);
}
inline void arrive(uint32_t barrier)
{
    barrier_arrive(barrier);
}
inline void expect(uint32_t barrier, uint32_t bytes)
{
    barrier_expect(barrier, bytes);
}
inline void await(uint32_t barrier, uint32_t parity)
{
    barrier_wait(barrier, parity);
}
inline void fence_barriers()
{
}
inline void fence_copies()
{
}

inline void store_shared(uint32_t at, uint32_t x)
{
    std::memcpy(shared + at, &x, sizeof x);
}

} // namespace

#endif
