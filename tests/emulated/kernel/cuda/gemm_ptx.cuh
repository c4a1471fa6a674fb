/* A block of CUDA threads as threads of the host, and gemm_ptx.cuh for them: a kernel's own source runs where no GPU
 * is.
 *
 * Found before the real header by its folder. Copies happen as late as they may: when a thread waits for them, so that
 * a wait that is missing shows. Addresses that a copy reads must lie in what the test has declared. */
#ifndef IFM_KERNEL_CUDA_GEMM_PTX_CUH
#define IFM_KERNEL_CUDA_GEMM_PTX_CUH

#include "base/half.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <pthread.h>
#include <thread>
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

enum { WARPS = 17, SHARED = 227 * 1024 };
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
struct bulk {
    void *to;
    const void *from;
    size_t bytes;
};
struct barrier { /* in shared memory, of bulk copies */
    uint32_t arrivals, pending, phase;
    size_t expected;
    std::vector<bulk> copies;
};

inline pthread_barrier_t block;
inline warp warps[WARPS];
inline range readable[2];
inline std::mutex lock; /* of barriers */
inline bool at_once;    /* bulk copies happen when they are asked for, besides: whose room is still needed shows */
inline std::map<uint32_t, barrier> barriers;
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

inline void check_copy(const void *to, const void *from, size_t bytes, bool is_there)
{
    const char *at = static_cast<const char *>(from);
    bool known = !is_there;
    for (const emulated::range &r : emulated::readable)
        known = known || (at >= r.from && at + bytes <= r.to);
    if (!known || reinterpret_cast<uintptr_t>(to) % 16 != 0 || bytes % 16 != 0 ||
        (is_there && reinterpret_cast<uintptr_t>(at) % 16 != 0)) {
        std::puts("a copy reads what is not its own, or is not aligned");
        std::exit(1);
    }
}

inline void copy_async(void *to, const void *from, bool is_there)
{
    check_copy(to, from, 16, is_there);
    emulated::uncommitted.push_back({to, from, is_there});
}

inline void copy_async(uint32_t to, const void *from, bool is_there)
{
    copy_async(shared + to, from, is_there);
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

inline uint32_t shared_address(const void *pointer)
{
    return static_cast<uint32_t>(static_cast<const unsigned char *>(pointer) - shared);
}

template <typename T> inline T shared_at(uint32_t at)
{
    T value;
    if (at % sizeof value != 0 || at + sizeof value > sizeof shared) {
        std::puts("an address of shared memory that is not aligned, or beyond it");
        std::exit(1);
    }
    std::memcpy(&value, shared + at, sizeof value);
    return value;
}

inline uint4 load_shared(uint32_t at)
{
    return shared_at<uint4>(at);
}

inline uint16_t load_half(uint32_t at)
{
    return shared_at<uint16_t>(at);
}

inline emulated::barrier &barrier_at(uint32_t at)
{
    const auto found = emulated::barriers.find(at);
    if (found == emulated::barriers.end()) {
        std::puts("a barrier that nobody has made");
        std::exit(1);
    }
    return found->second;
}

inline void barrier_create(uint32_t barrier, uint32_t arrivals)
{
    const std::lock_guard<std::mutex> lock(emulated::lock);
    std::memset(shared + barrier, 0, 8);
    emulated::barriers[barrier] = {arrivals, arrivals, 0, 0, {}};
}

inline void barriers_created()
{
}

inline void arrive_locked(emulated::barrier &b)
{
    if (b.pending-- == 0) {
        std::puts("a barrier has more arrivals than it waits for");
        std::exit(1);
    }
}

/* The phase is over where everybody has arrived and the bytes are those that were announced. */
inline void end_phase(emulated::barrier &b)
{
    size_t bytes = 0;
    for (const emulated::bulk &c : b.copies)
        bytes += c.bytes;
    if (b.pending > 0 || bytes != b.expected)
        return;
    for (const emulated::bulk &c : b.copies)
        std::memcpy(c.to, c.from, c.bytes);
    b = {b.arrivals, b.arrivals, b.phase + 1, 0, {}};
}

inline void barrier_expect(uint32_t barrier, uint32_t bytes)
{
    const std::lock_guard<std::mutex> lock(emulated::lock);
    emulated::barrier &b = barrier_at(barrier);
    b.expected += bytes;
    arrive_locked(b);
}

inline void barrier_arrive(uint32_t barrier)
{
    const std::lock_guard<std::mutex> lock(emulated::lock);
    arrive_locked(barrier_at(barrier));
    if (barrier_at(barrier).expected == 0)
        end_phase(barrier_at(barrier));
}

inline void barrier_wait(uint32_t barrier, uint32_t parity)
{
    for (;; std::this_thread::yield()) {
        const std::lock_guard<std::mutex> lock(emulated::lock);
        emulated::barrier &b = barrier_at(barrier);
        if (b.phase % 2 == parity)
            end_phase(b);
        if (b.phase % 2 != parity)
            return;
    }
}

inline void copy_bulk(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier)
{
    check_copy(shared + to, from, bytes, true);
    const std::lock_guard<std::mutex> lock(emulated::lock);
    barrier_at(barrier).copies.push_back({shared + to, from, bytes});
    if (emulated::at_once)
        std::memcpy(shared + to, from, bytes);
}

inline void let_next_begin()
{
}
inline void wait_for_previous()
{
}

} // namespace

#endif
