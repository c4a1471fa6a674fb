/* A block of CUDA threads as threads of the host, and gemm_ptx.cuh for them: a kernel's own source runs where no GPU is.
 *
 * Found before the real header by its folder. Copies happen as late as they may: when their thread waits for them, so
 * that a wait that is missing shows. Addresses that a copy reads must lie in what the test has declared. */
#ifndef IFM_KERNEL_CUDA_GEMM_PTX_CUH
#define IFM_KERNEL_CUDA_GEMM_PTX_CUH

#include "base/half.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <vector>

#define __device__
#define __forceinline__ inline
#define __global__
#define __shared__
#define __align__(n)
#define __launch_bounds__(...)

struct uint4 {
    uint32_t x, y, z, w;
};
struct float2 {
    float x, y;
};

namespace emulated
{

enum { WARPS = 16, SHARED = 227 * 1024 };
struct index {
    uint32_t x;
};
struct copy {
    void *to;
    const void *from;
    bool is_there;
};
struct warp {
    pthread_barrier_t barrier;
    uint32_t a[32][4], b[32][2]; /* of a matrix instruction */
};
struct range {
    const char *from, *to;
};

inline pthread_barrier_t block;
inline warp warps[WARPS];
inline range readable[2];
inline thread_local std::vector<std::vector<copy>> groups;
inline thread_local std::vector<copy> uncommitted;

inline void do_copies(size_t left)
{
    while (groups.size() > left) {
        for (const copy &c : groups.front())
            if (c.is_there)
                std::memcpy(c.to, c.from, 16);
            else
                std::memset(c.to, 0, 16);
        groups.erase(groups.begin());
    }
}

inline float value_of(bool is_bf16, uint32_t word, int k)
{
    const uint16_t bits = static_cast<uint16_t>(word >> (16 * (k % 2)));
    return is_bf16 ? ifm_bf16_to_f32(bits) : ifm_f16_to_f32(bits);
}

} // namespace emulated

inline thread_local emulated::index threadIdx, blockIdx;
inline emulated::index blockDim, gridDim;

namespace
{

alignas(128) unsigned char shared[emulated::SHARED];

inline float2 make_float2(float x, float y)
{
    return {x, y};
}

inline void __syncthreads()
{
    pthread_barrier_wait(&emulated::block);
}

inline void __syncwarp()
{
    pthread_barrier_wait(&emulated::warps[threadIdx.x / 32].barrier);
}

inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t all = static_cast<uint64_t>(b) << 32 | a;
    uint32_t out = 0;
    for (int i = 0; i < 4; i++)
        out |= static_cast<uint32_t>(all >> (8 * (selector >> (4 * i) & 7)) & 255) << (8 * i);
    return out;
}

inline void copy_async(void *to, const void *from, bool is_there)
{
    const char *at = static_cast<const char *>(from);
    bool known = !is_there;
    for (const emulated::range &r : emulated::readable)
        known = known || (at >= r.from && at + 16 <= r.to);
    if (!known || reinterpret_cast<uintptr_t>(to) % 16 != 0 || (is_there && reinterpret_cast<uintptr_t>(at) % 16 != 0)) {
        std::puts("a copy reads what is not its own, or is not aligned");
        std::exit(1);
    }
    emulated::uncommitted.push_back({to, from, is_there});
}

inline void commit_copies()
{
    emulated::groups.push_back(emulated::uncommitted);
    emulated::uncommitted.clear();
}

template <int N> inline void wait_for_copies()
{
    emulated::do_copies(N);
}

/* mma.m16n8k16: lane 4 g + t has rows g and g + 8 of A, column g of B, columns 2 t and 2 t + 1 of the sums. */
template <bool IS_BF16>
inline void multiply(float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1)
{
    emulated::warp &warp = emulated::warps[threadIdx.x / 32];
    const uint32_t lane = threadIdx.x % 32, a[4] = {a0, a1, a2, a3};
    std::memcpy(warp.a[lane], a, sizeof a);
    warp.b[lane][0] = b0;
    warp.b[lane][1] = b1;
    __syncwarp();
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        for (int k = 0; k < 16; k++) {
            const int quarter = k % 8 / 2, half = k / 8;
            sum[i] += emulated::value_of(IS_BF16, warp.a[row % 8 * 4 + quarter][row / 8 + 2 * half], k) *
                      emulated::value_of(IS_BF16, warp.b[column * 4 + quarter][half], k);
        }
    }
    __syncwarp();
}

inline float of_f16(uint16_t bits)
{
    return ifm_f16_to_f32(bits);
}

inline uint16_t to_f16(float value)
{
    return ifm_f32_to_f16(value);
}

inline uint16_t to_bf16(float value)
{
    return ifm_f32_to_bf16(value);
}

inline void let_next_begin() {}
inline void wait_for_previous() {}

} // namespace

#endif
