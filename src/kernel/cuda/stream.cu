/* The device's own limits: memory traffic by plain and by bulk copies, fill and checks. Device code only.
 *
 * Amounts are exact: a kernel touches each of its bytes once. Sizes are multiples of 16 bytes; a thread handles its
 * share for a grid of any size. Bulk copies are those of PTX ISA 8.0, "cp.async.bulk", on compute capability 9.0; other
 * images of this file lack those kernels. */
#include "kernel/cuda/stream.h"

namespace
{

__device__ __forceinline__ uint64_t thread_index()
{
    return blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
}

__device__ __forceinline__ uint64_t thread_count()
{
    return static_cast<uint64_t>(gridDim.x) * blockDim.x;
}

/* Bytes that are read once need not stay in the first-level cache. */
__device__ __forceinline__ ulonglong2 load_once(const ulonglong2 *from)
{
    ulonglong2 value;
    asm volatile("ld.global.L1::no_allocate.v2.u64 {%0, %1}, [%2];" : "=l"(value.x), "=l"(value.y) : "l"(from));
    return value;
}

/* The whole warp's sum in lane 0. */
__device__ __forceinline__ uint64_t warp_sum(uint64_t value)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffffu, value, step);
    return value;
}

__device__ __forceinline__ void add_to(uint64_t *sums, uint64_t value)
{
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0)
        sums[thread_index() / 32] = value;
}

} // namespace

extern "C" __global__ void ifm_fill_source(ifm_stream_fill a)
{
    for (uint64_t i = thread_index(); i < a.words; i += thread_count())
        a.to[i] = (a.seed + i) * IFM_STREAM_GOLDEN;
}

/* The complement of what a step leaves there; the last word too. */
extern "C" __global__ void ifm_spoil(ifm_stream_spoil a)
{
    for (uint64_t i = thread_index(); i * a.stride < a.words + a.stride - 1; i += thread_count()) {
        uint64_t at = i * a.stride < a.words ? i * a.stride : a.words - 1;
        a.to[at] = ~(a.pattern != 0 ? a.pattern : (a.seed + at) * IFM_STREAM_GOLDEN);
    }
}

extern "C" __global__ void ifm_count_wrong(ifm_stream_count a)
{
    uint64_t n = 0;
    for (uint64_t i = thread_index(); i < a.words; i += thread_count())
        n += a.at[i] != (a.pattern != 0 ? a.pattern : (a.seed + i) * IFM_STREAM_GOLDEN);
    n = warp_sum(n);
    if (threadIdx.x % 32 == 0 && n != 0)
        atomicAdd(a.wrong, static_cast<unsigned long long>(n));
}

/* ---- read: the sum of all words, one partial sum a warp ---- */

extern "C" __global__ void __launch_bounds__(IFM_STREAM_THREADS) ifm_read_linear(ifm_stream_read args)
{
    const ulonglong2 *from = static_cast<const ulonglong2 *>(args.from);
    const uint64_t n = args.bytes / sizeof *from;
    uint64_t sum = 0, step = thread_count(), i = thread_index();
    for (; i + 3 * step < n; i += 4 * step) {
        ulonglong2 a = load_once(from + i), b = load_once(from + i + step);
        ulonglong2 c = load_once(from + i + 2 * step), d = load_once(from + i + 3 * step);
        sum += a.x + a.y + b.x + b.y + c.x + c.y + d.x + d.y;
    }
    for (; i < n; i += step) {
        ulonglong2 a = load_once(from + i);
        sum += a.x + a.y;
    }
    add_to(args.sums, sum);
}

/* ---- write ---- */

extern "C" __global__ void __launch_bounds__(IFM_STREAM_THREADS) ifm_write_store(ifm_stream_write a)
{
    ulonglong2 *to = static_cast<ulonglong2 *>(a.to);
    const uint64_t n = a.bytes / sizeof *to;
    for (uint64_t i = thread_index(); i < n; i += thread_count())
        to[i] = make_ulonglong2(a.pattern, a.pattern);
}

/* ---- copy: 16 bytes a thread, no loop, streaming cache hints. Of 70 forms that were tried on an H200 (threads,
 * vectors a thread, cache hints) this is the fastest. ---- */

extern "C" __global__ void __launch_bounds__(IFM_STREAM_FLAT_THREADS) ifm_copy_flat(ifm_stream_copy a)
{
    ulonglong2 *to = static_cast<ulonglong2 *>(a.to);
    const ulonglong2 *from = static_cast<const ulonglong2 *>(a.from);
    uint64_t i = thread_index();
    if (i >= a.bytes / sizeof *to)
        return;
    ulonglong2 value;
    asm volatile("ld.global.cs.v2.u64 {%0, %1}, [%2];" : "=l"(value.x), "=l"(value.y) : "l"(from + i));
    asm volatile("st.global.cs.v2.u64 [%0], {%1, %2};" ::"l"(to + i), "l"(value.x), "l"(value.y) : "memory");
}

/* ---- bulk copies through shared memory: one thread of a block starts them, the copy engine does the rest ---- */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

namespace
{

enum { PIECE = IFM_BULK_PIECE, STAGES = IFM_BULK_STAGES };

__device__ __forceinline__ uint32_t shared_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void barrier_init(uint64_t *barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)));
}

__device__ __forceinline__ void barrier_expect(uint64_t *barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void barrier_wait(uint64_t *barrier, uint32_t parity)
{
    asm volatile("{\n.reg .pred done;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra over;\nbra again;\n"
                 "over:\n}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

__device__ __forceinline__ void bulk_load(void *shared, const void *from, uint32_t bytes, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(shared)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

__device__ __forceinline__ void bulk_store(void *to, const void *shared, uint32_t bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(shared)),
                 "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

} // namespace

/* One thread a block; the pieces go round the blocks. A stage is loaded again when the store that reads it is done. */
extern "C" __global__ void __launch_bounds__(IFM_BULK_COPY_THREADS) ifm_copy_bulk(ifm_stream_copy args)
{
    char *to = static_cast<char *>(args.to);
    const char *from = static_cast<const char *>(args.from);
    const uint64_t bytes = args.bytes;
    extern __shared__ __align__(128) char pieces[];
    __shared__ uint64_t full[STAGES];
    if (threadIdx.x != 0)
        return;
    for (int s = 0; s < STAGES; s++)
        barrier_init(&full[s]);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    uint64_t n = (bytes + PIECE - 1) / PIECE;
    uint64_t mine = n > blockIdx.x ? (n - blockIdx.x + gridDim.x - 1) / gridDim.x : 0;
    for (uint64_t k = 0; k < mine + STAGES / 2; k++) {
        if (k < mine) { /* load piece k */
            int s = k % STAGES;
            uint64_t at = (blockIdx.x + k * gridDim.x) * PIECE;
            uint32_t size = bytes - at < PIECE ? bytes - at : PIECE;
            if (k >= STAGES) /* the store of piece k - STAGES has read this stage: at most STAGES / 2 - 1 are younger */
                asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(STAGES / 2 - 1) : "memory");
            barrier_expect(&full[s], size);
            bulk_load(pieces + s * PIECE, from + at, size, &full[s]);
        }
        if (k >= STAGES / 2) { /* store piece k - STAGES / 2 */
            uint64_t j = k - STAGES / 2;
            int s = j % STAGES;
            uint64_t at = (blockIdx.x + j * gridDim.x) * PIECE;
            uint32_t size = bytes - at < PIECE ? bytes - at : PIECE;
            barrier_wait(&full[s], j / STAGES % 2);
            bulk_store(to + at, pieces + s * PIECE, size);
        }
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* Loads alone: each block's pieces arrive in shared memory, where its threads add their words up. */
extern "C" __global__ void __launch_bounds__(IFM_BULK_READ_THREADS) ifm_read_bulk(ifm_stream_read args)
{
    const char *from = static_cast<const char *>(args.from);
    const uint64_t bytes = args.bytes;
    extern __shared__ __align__(128) char pieces[];
    __shared__ uint64_t full[STAGES];
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++)
            barrier_init(&full[s]);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    uint64_t n = (bytes + PIECE - 1) / PIECE;
    uint64_t mine = n > blockIdx.x ? (n - blockIdx.x + gridDim.x - 1) / gridDim.x : 0;
    uint64_t sum = 0;
    for (uint64_t k = 0; k < mine + STAGES - 1; k++) {
        if (k < mine && threadIdx.x == 0) {
            int s = k % STAGES;
            uint64_t at = (blockIdx.x + k * gridDim.x) * PIECE;
            uint32_t size = bytes - at < PIECE ? bytes - at : PIECE;
            barrier_expect(&full[s], size);
            bulk_load(pieces + s * PIECE, from + at, size, &full[s]);
        }
        if (k >= STAGES - 1) {
            uint64_t j = k - (STAGES - 1);
            int s = j % STAGES;
            uint64_t at = (blockIdx.x + j * gridDim.x) * PIECE;
            uint32_t size = bytes - at < PIECE ? bytes - at : PIECE;
            barrier_wait(&full[s], j / STAGES % 2);
            const ulonglong2 *piece = reinterpret_cast<const ulonglong2 *>(pieces + s * PIECE);
            for (uint32_t i = threadIdx.x; i < size / sizeof *piece; i += blockDim.x)
                sum += piece[i].x + piece[i].y;
            __syncthreads(); /* before the next load of this stage */
        }
    }
    add_to(args.sums, sum);
}

#endif

/* ---- flops: multiply-adds in registers, 2 operations each ---- */

/* Eight independent chains a thread, 16 operations a round. */
extern "C" __global__ void __launch_bounds__(IFM_STREAM_FLOPS_THREADS) ifm_flops_fma(ifm_stream_flops a)
{
    enum { CHAINS = IFM_STREAM_FLOPS_CHAINS };
    float x[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        x[i] = static_cast<float>(threadIdx.x % 32) + 0.125f * i;
    for (uint64_t r = 0; r < a.rounds; r += 8) {
#pragma unroll
        for (int k = 0; k < 8; k++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++)
                asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[i]) : "f"(a.factor), "f"(a.term));
    }
    float sum = 0;
    for (int i = 0; i < CHAINS; i++)
        sum += x[i];
    a.out[thread_index()] = sum;
}
