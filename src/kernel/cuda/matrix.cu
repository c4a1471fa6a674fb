/* The rate of matrix products: bf16 factors, f32 sums, from shared memory and with no other traffic. Device code only.
 *
 * A block of one warpgroup multiplies the same 64 x 64 tile of A and 256 x 64 tile of B again and again, adding up
 * (wgmma, PTX ISA 8.0; compute capability 9.0 alone: other images of this file are empty). Factors are random within
 * one binade: toggling bits draw power, and power limits this rate. The sums of block 0 are kept to check. */
#include "kernel/cuda/matrix.h"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace {

enum { ROWS = IFM_MATRIX_ROWS, COLUMNS = IFM_MATRIX_COLUMNS, DEPTH = IFM_MATRIX_DEPTH };
enum { SUMS = ROWS * COLUMNS / IFM_MATRIX_THREADS }; /* of a thread */

__device__ __forceinline__ uint32_t shared_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/* Factor `i` of the stream `seed`: +-[0.5, 1), eight bits of significand. workload/stream/cuda.c has the same on the
 * host. */
__device__ __forceinline__ uint16_t factor(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed + i) * 0x9E3779B97F4A7C15ULL;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ULL;
    x ^= x >> 32;
    return static_cast<uint16_t>((x & 0x807f) | 0x3f00);
}

/* Rows of 128 bytes under the 128-byte swizzle: 16-byte pieces of eight rows are exchanged. */
__device__ __forceinline__ void store(char *tile, int row, int k, uint16_t value)
{
    *reinterpret_cast<uint16_t *>(tile + row * 128 + ((k * 2) ^ (row % 8 * 16))) = value;
}

/* Matrix descriptor: address, 1024 bytes between groups of eight rows, 128-byte swizzle. */
__device__ __forceinline__ uint64_t describe(const char *tile)
{
    return (shared_address(tile) & 0x3ffff) >> 4 | 1ULL << 16 | 64ULL << 32 | 1ULL << 62;
}

#define OUT4(b) "+f"(sum[b]), "+f"(sum[b + 1]), "+f"(sum[b + 2]), "+f"(sum[b + 3])
#define OUT16(b) OUT4(b), OUT4(b + 4), OUT4(b + 8), OUT4(b + 12)
#define OUT64(b) OUT16(b), OUT16(b + 16), OUT16(b + 32), OUT16(b + 48)

/* sum += A (64 x 16) B^T (16 x 256) */
__device__ __forceinline__ void multiply(float *sum, uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,"
                 "%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,"
                 "%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,"
                 "%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,"
                 "%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,"
                 "%119,%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, 1, 1, 1, 0, 0;"
                 : OUT64(0), OUT64(64)
                 : "l"(a), "l"(b));
}

} // namespace

/* `rounds` times the whole depth. Dynamic shared memory: IFM_MATRIX_SHARED. The sums of block 0 are kept; the other
 * blocks work as much and keep nothing. */
extern "C" __global__ void __launch_bounds__(IFM_MATRIX_THREADS) ifm_matrix_bf16(ifm_matrix_arguments args)
{
    extern __shared__ __align__(1024) char tiles[];
    char *a = tiles, *b = tiles + ROWS * 128;
    for (int i = threadIdx.x; i < ROWS * DEPTH; i += blockDim.x)
        store(a, i / DEPTH, i % DEPTH, factor(args.seed, i));
    for (int i = threadIdx.x; i < COLUMNS * DEPTH; i += blockDim.x)
        store(b, i / DEPTH, i % DEPTH, factor(args.seed, ROWS * DEPTH + i));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    float sum[SUMS];
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        sum[i] = 0;
    uint64_t tile_a = describe(a), tile_b = describe(b);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (uint64_t r = 0; r < args.rounds; r++) {
#pragma unroll
        for (int k = 0; k < DEPTH / 16; k++)
            multiply(sum, tile_a + 2 * k, tile_b + 2 * k);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");

    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (blockIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < SUMS; i++) {
            int row = warp * 16 + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
            args.out[row * COLUMNS + column] = sum[i];
        }
        return;
    }
    float all = 0;
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        all += sum[i];
    if (all == 1.2345e-30f) /* never: sums are multiples of 2^-16 */
        args.out[0] = all;
}

#endif
