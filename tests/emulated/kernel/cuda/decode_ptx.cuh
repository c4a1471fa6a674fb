/* decode_ptx.cuh for threads of the host, with what decode_tile.cuh and packed_tile.cuh take from CUDA. An address of
 * shared memory is an offset in `shared`. */
#ifndef IFM_KERNEL_CUDA_DECODE_PTX_CUH
#define IFM_KERNEL_CUDA_DECODE_PTX_CUH

#include "kernel/cuda/gemm_ptx.cuh"

#include <cmath>

struct uint2 {
    uint32_t x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};

namespace
{

using std::fmaf;

inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return {x, y, z, w};
}
inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
inline float fmaxf(float a, float b)
{
    return std::fmax(a, b);
}
inline float __uint_as_float(uint32_t bits)
{
    return ifm_f32_of_bits(bits);
}
inline uint32_t __float_as_uint(float x)
{
    return ifm_f32_bits(x);
}
inline float __int_as_float(int32_t bits)
{
    return ifm_f32_of_bits(static_cast<uint32_t>(bits));
}

/* What lane `from` of the warp has. All lanes ask at once. */
inline uint32_t of_lane(uint32_t value, uint32_t from)
{
    emulated::warp &warp = emulated::warps[threadIdx.x / 32];
    warp.a[threadIdx.x % 32][0] = value;
    __syncwarp();
    const uint32_t other = warp.a[from][0];
    __syncwarp();
    return other;
}

inline uint32_t __shfl_xor_sync(uint32_t, uint32_t value, uint32_t step)
{
    return of_lane(value, (threadIdx.x % 32) ^ step);
}
inline float __shfl_xor_sync(uint32_t, float value, uint32_t step)
{
    return ifm_f32_of_bits(of_lane(ifm_f32_bits(value), (threadIdx.x % 32) ^ step));
}

inline bool __any_sync(uint32_t, bool is_true)
{
    emulated::warp &warp = emulated::warps[threadIdx.x / 32];
    warp.a[threadIdx.x % 32][0] = is_true;
    __syncwarp();
    bool any = false;
    for (const auto &lane : warp.a)
        any = any || lane[0] != 0;
    __syncwarp();
    return any;
}

/* ---- decode_ptx.cuh ---- */

inline float power_of_2(float x)
{
    return std::exp2(x);
}
inline float from_f16(uint16_t x)
{
    return ifm_f16_to_f32(x);
}
inline uint32_t pack(float low, float high)
{
    return ifm_f32_to_f16(low) | static_cast<uint32_t>(ifm_f32_to_f16(high)) << 16;
}

inline uint32_t shared_word(uint32_t at)
{
    return shared_at<uint32_t>(at);
}
inline uint32_t shared_half(uint32_t at)
{
    return shared_at<uint16_t>(at);
}

inline void multiply(float *c, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1)
{
    float sum[4] = {c[0], c[1], c[2], c[3]};
    multiply<false>(sum, a0, a1, a2, a3, b0, b1);
    std::memcpy(c, sum, sizeof sum);
}

/* Lane 4 g + t has values 2 t and 2 t + 1 of row g. */
inline uint32_t transpose(uint32_t x)
{
    const uint32_t g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const uint32_t even = of_lane(x, 8 * t + g / 2), odd = of_lane(x, 8 * t + 4 + g / 2);
    return (even >> g % 2 * 16 & 0xffff) | (odd >> g % 2 * 16) << 16;
}

/* As f16, rounded once: to f32 the last bit tells that there was more. */
inline uint32_t f16_of(double x)
{
    float near = static_cast<float>(x);
    if (static_cast<double>(near) != x && std::isfinite(near)) {
        near = std::fabs(static_cast<double>(near)) > std::fabs(x) ? std::nextafter(near, 0.0f) : near;
        near = ifm_f32_of_bits(ifm_f32_bits(near) | 1);
    }
    return ifm_f32_to_f16(near);
}

/* a b + c of f16 in each half. */
inline uint32_t times_and(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t y = 0;
    for (int i = 0; i < 32; i += 16) {
        const auto of = [i](uint32_t x) { return static_cast<double>(ifm_f16_to_f32(static_cast<uint16_t>(x >> i))); };
        y |= f16_of(of(a) * of(b) + of(c)) << i;
    }
    return y;
}
inline uint32_t times_less(uint32_t a, uint32_t b, uint32_t c)
{
    return times_and(a, b, c ^ 0x80008000u);
}
inline uint32_t less_product(uint32_t c, uint32_t a, uint32_t b)
{
    return times_and(a ^ 0x80008000u, b, c);
}
inline uint32_t difference(uint32_t a, uint32_t b)
{
    return times_less(a, 0x3c003c00u, b);
}
inline uint32_t times(uint32_t a, uint32_t b)
{
    return times_less(a, b, 0); /* plus minus zero: a product of zero keeps its sign */
}

inline uint32_t from_e4m3(uint32_t x)
{
    return ifm_f32_to_f16(ifm_e4m3_to_f32(static_cast<uint8_t>(x))) |
           static_cast<uint32_t>(ifm_f32_to_f16(ifm_e4m3_to_f32(static_cast<uint8_t>(x >> 8)))) << 16;
}

} // namespace

#endif
