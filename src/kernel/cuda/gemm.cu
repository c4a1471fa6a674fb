/* Few activations times a weight matrix, plainly: the readable first rung, and the reference in f64. Device code only.
 *
 * A warp has one output: its lanes take every 32nd product and add theirs up. Weights are read by the definition of
 * their bytes (kernel/cuda/gemm.h), one at a time. */
#include "kernel/cuda/gemm.h"

namespace
{

__device__ __forceinline__ float of_f16(uint16_t bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

__device__ __forceinline__ float of_bf16(uint16_t bits)
{
    return __uint_as_float(static_cast<uint32_t>(bits) << 16);
}

__device__ __forceinline__ float value_of(uint32_t format, uint16_t bits)
{
    return format == IFM_CUDA_GEMM_BF16 ? of_bf16(bits) : of_f16(bits);
}

__device__ __forceinline__ float weight_at(const ifm_cuda_gemm &a, uint32_t format, uint32_t row, uint32_t k)
{
    if (format <= IFM_CUDA_GEMM_BF16)
        return value_of(format, static_cast<const uint16_t *>(a.w)[static_cast<uint64_t>(row) * a.k + k]);
    const bool is_int4 = format == IFM_CUDA_GEMM_INT4;
    const uint32_t groups = (a.k + a.group - 1) / a.group, bytes = a.group * IFM_CUDA_GEMM_PANEL / (is_int4 ? 2 : 1);
    const uint32_t g = k / a.group, in = k % a.group, lane = row % IFM_CUDA_GEMM_PANEL;
    const uint64_t panel = static_cast<uint64_t>((groups + 1) / 2) * IFM_CUDA_GEMM_LINE + groups * bytes;
    const uint8_t *pair = static_cast<const uint8_t *>(a.w) + row / IFM_CUDA_GEMM_PANEL * panel +
                          g / 2 * static_cast<uint64_t>(IFM_CUDA_GEMM_LINE + 2 * bytes);
    const uint8_t *codes = pair + IFM_CUDA_GEMM_LINE + g % 2 * bytes;
    const float scale = of_f16(reinterpret_cast<const uint16_t *>(pair)[g % 2 * IFM_CUDA_GEMM_PANEL + lane]);
    if (!is_int4)
        return scale * (static_cast<int>(codes[in / 4 * IFM_CUDA_GEMM_LINE + 4 * lane + in % 4]) - 128);
    const int byte = codes[in / 8 * IFM_CUDA_GEMM_LINE + 4 * lane + in % 4];
    return scale * ((in % 8 < 4 ? byte & 15 : byte >> 4) - 8);
}

/* The sum of products of the warp's output, in lane 0; `sum` says in which precision. */
template <typename Sum> __device__ __forceinline__ Sum product(const ifm_cuda_gemm &a, uint32_t format, uint64_t output)
{
    const uint32_t m = output / a.n, row = output % a.n;
    const uint16_t *x = static_cast<const uint16_t *>(a.x) + static_cast<uint64_t>(m) * a.x_stride;
    Sum sum = 0;
    for (uint32_t k = threadIdx.x % 32; k < a.k; k += 32)
        sum += static_cast<Sum>(weight_at(a, format, row, k)) * static_cast<Sum>(value_of(format, x[k]));
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    return sum;
}

__device__ __forceinline__ uint64_t warp_index()
{
    return (blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x) / 32;
}

template <int FORMAT> __device__ __forceinline__ void naive(const ifm_cuda_gemm &a)
{
    const uint64_t output = warp_index();
    if (output >= static_cast<uint64_t>(a.m) * a.n)
        return;
    const float sum = product<float>(a, FORMAT, output);
    uint16_t bits;
    if (FORMAT == IFM_CUDA_GEMM_BF16)
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(sum));
    else
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(sum));
    if (threadIdx.x % 32 == 0)
        static_cast<uint16_t *>(a.out)[output] = bits;
}

} // namespace

extern "C" __global__ void __launch_bounds__(IFM_CUDA_GEMM_THREADS) ifm_gemm_naive_f16(ifm_cuda_gemm a)
{
    naive<IFM_CUDA_GEMM_F16>(a);
}

extern "C" __global__ void __launch_bounds__(IFM_CUDA_GEMM_THREADS) ifm_gemm_naive_bf16(ifm_cuda_gemm a)
{
    naive<IFM_CUDA_GEMM_BF16>(a);
}

extern "C" __global__ void __launch_bounds__(IFM_CUDA_GEMM_THREADS) ifm_gemm_naive_int8(ifm_cuda_gemm a)
{
    naive<IFM_CUDA_GEMM_INT8>(a);
}

extern "C" __global__ void __launch_bounds__(IFM_CUDA_GEMM_THREADS) ifm_gemm_naive_int4(ifm_cuda_gemm a)
{
    naive<IFM_CUDA_GEMM_INT4>(a);
}

extern "C" __global__ void __launch_bounds__(IFM_CUDA_GEMM_THREADS) ifm_gemm_reference(ifm_cuda_gemm a)
{
    const uint64_t output = warp_index();
    if (output >= static_cast<uint64_t>(a.m) * a.n)
        return;
    const double sum = product<double>(a, a.format, output);
    if (threadIdx.x % 32 == 0)
        static_cast<double *>(a.out)[output] = sum;
}
