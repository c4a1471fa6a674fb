/* flash_wgmma.cuh and wgmma.cuh for threads of the host: a product is done when it is asked for. */
#ifndef IFM_KERNEL_CUDA_FLASH_WGMMA_CUH
#define IFM_KERNEL_CUDA_FLASH_WGMMA_CUH

#include "kernel/cuda/flash_ptx.cuh"

namespace
{

inline uint64_t describe(uint32_t address)
{
    return (address & 0x3ffff) >> 4 | 64ULL << 16 | 64ULL << 32 | 1ULL << 62;
}
inline void show_matrix_units()
{
}
inline void begin()
{
}
inline void commit()
{
}
template <int LEFT> inline void wait()
{
}

/* Value `column` of row `row` of a tile: 1024 bytes a group of eight rows of 128, under the 128-byte swizzle. */
inline uint16_t tile_at(uint64_t descriptor, uint32_t row, uint32_t column)
{
    const uint32_t start = static_cast<uint32_t>(descriptor & 0x3fff) << 4;
    const uint32_t at = start + row / 8 * 1024 + row % 8 * 128 + column * 2;
    return room[(at ^ (at >> 7 & 7) << 4) / 2];
}

/* wgmma.m64n64k16: a warp has 16 of the rows of A, as in mma.m16n8k16; a lane 32 sums, of columns in eights. */
template <bool BF16, bool TRANSPOSED> inline void multiply(float *sum, const uint32_t *a, uint64_t b, int adds)
{
    emulated::warp &warp = emulated::warps[threadIdx.x / 32];
    const uint32_t lane = threadIdx.x % 32;
    std::memcpy(warp.a[lane], a, sizeof warp.a[lane]);
    __syncwarp();
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t row = lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        float of = adds ? sum[i] : 0;
        for (uint32_t k = 0; k < 16; k++) {
            const uint32_t word = warp.a[row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2];
            const uint16_t bits = TRANSPOSED ? tile_at(b, k, column) : tile_at(b, column, k);
            of += emulated::value_of(BF16, word, static_cast<int>(k)) * emulated::value_of(BF16, bits, 0);
        }
        sum[i] = of;
    }
    __syncwarp();
}

} // namespace

#endif
