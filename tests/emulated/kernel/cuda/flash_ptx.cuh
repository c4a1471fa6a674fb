/* flash_ptx.cuh for threads of the host, with what flash.cu and flash_plain.cuh take from CUDA. An address of shared
 * memory is an offset in `room`. */
#ifndef IFM_KERNEL_CUDA_FLASH_PTX_CUH
#define IFM_KERNEL_CUDA_FLASH_PTX_CUH

#include "kernel/cuda/decode_ptx.cuh"

extern "C" {
alignas(128) uint16_t room[emulated::SHARED / 2]; /* the kernels' own name of it */
}

namespace
{

inline double __shfl_sync(uint32_t, double value, uint32_t from)
{
    uint32_t words[2];
    std::memcpy(words, &value, sizeof words);
    for (uint32_t &word : words)
        word = of_lane(word, from);
    std::memcpy(&value, words, sizeof words);
    return value;
}
inline double __shfl_xor_sync(uint32_t all, double value, uint32_t step)
{
    return __shfl_sync(all, value, (threadIdx.x % 32) ^ step);
}

inline uint32_t __ballot_sync(uint32_t, bool is_true)
{
    emulated::warp &warp = emulated::warps[threadIdx.x / 32];
    uint32_t bits = 0;
    warp.a[threadIdx.x % 32][0] = is_true;
    __syncwarp();
    for (uint32_t i = 0; i < 32; i++)
        bits |= static_cast<uint32_t>(warp.a[i][0] != 0) << i;
    __syncwarp();
    return bits;
}

inline float infinity()
{
    return __int_as_float(0x7f800000);
}

template <bool BF16> inline uint32_t pack(float low, float high)
{
    return BF16 ? ifm_f32_to_bf16(low) | static_cast<uint32_t>(ifm_f32_to_bf16(high)) << 16 : pack(low, high);
}

inline uint32_t address_in_room(const void *pointer)
{
    return static_cast<uint32_t>(static_cast<const char *>(pointer) - reinterpret_cast<const char *>(room));
}
#define shared_address address_in_room

inline void copy_or_zero(uint32_t to, const void *from, bool is_there)
{
    copy_async(reinterpret_cast<char *>(room) + to, from, is_there);
}

/* ldmatrix: matrix i has the rows that lanes 8 i to 8 i + 7 name; a lane gets row lane / 4 of each, or that column. */
template <bool TRANSPOSED> inline void load_matrices(uint32_t *r, uint32_t from)
{
    emulated::warp &warp = emulated::warps[threadIdx.x / 32];
    const uint32_t lane = threadIdx.x % 32;
    if (from % 16 != 0 || from + 16 > sizeof room) {
        std::puts("a row of a matrix that is not aligned, or beyond shared memory");
        std::exit(1);
    }
    warp.a[lane][0] = from;
    __syncwarp();
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t halves[2];
        for (uint32_t j = 0; j < 2; j++) {
            const uint32_t other = lane % 4 * 2 + j, row = TRANSPOSED ? other : lane / 4;
            halves[j] = room[warp.a[8 * i + row][0] / 2 + (TRANSPOSED ? lane / 4 : other)];
        }
        r[i] = halves[0] | halves[1] << 16;
    }
    __syncwarp();
}
inline void load4(uint32_t *r, uint32_t from)
{
    load_matrices<false>(r, from);
}
inline void load4_transposed(uint32_t *r, uint32_t from)
{
    load_matrices<true>(r, from);
}

template <bool BF16> inline void multiply(float *sum, const uint32_t *a, uint32_t b0, uint32_t b1)
{
    multiply<BF16>(*reinterpret_cast<float(*)[4]>(sum), a[0], a[1], a[2], a[3], b0, b1);
}

} // namespace

#endif
