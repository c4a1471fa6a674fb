/* The kernels of gemm_mma.cu and gemm_row.cu, compiled from their own source for threads of the host, against products
 * in f64. */
#include "kernel/cuda/gemm_mma.cu"
#define __CUDA_ARCH_FEAT_SM90_ALL
#undef IFM_GEMM_KERNEL
#include "kernel/cuda/gemm_row.cu"

#include <cmath>
#include <thread>

extern "C" { /* kernel/cpu/gemm.h and workload/gemm/cuda.h are C */
struct ifm_gemm_shape {
    uint64_t m, n, k;
    unsigned group;
    int format;
};
uint64_t ifm_gemm_bytes(const ifm_gemm_shape *shape);
void ifm_gemm_encode(const ifm_gemm_shape *shape, uint64_t first, uint64_t rows, const float *w, void *out);
void ifm_gemm_decode(const ifm_gemm_shape *shape, const void *w, uint64_t row, float *to);
void ifm_gemm_to_fragments(const ifm_gemm_shape *shape, bool in_order, const void *from, void *to);
}

namespace
{

typedef void kernel_fn(ifm_cuda_gemm);

struct cell {
    kernel_fn *kernel;
    ifm_gemm_shape shape;
    uint32_t columns, warps, blocks, staged; /* columns 1: of gemm_row.cu */
};

struct aligned {
    explicit aligned(size_t n) : bytes((n + 63) / 64 * 64), at(static_cast<char *>(std::aligned_alloc(64, bytes)))
    {
        if (at == nullptr)
            std::abort();
        std::memset(at, 0, bytes);
    }
    ~aligned() { std::free(at); }
    aligned(const aligned &) = delete;
    aligned &operator=(const aligned &) = delete;
    size_t bytes;
    char *at;
};

std::vector<float> numbers(size_t n, unsigned seed, float scale)
{
    std::vector<float> out(n);
    for (float &v : out) {
        seed = seed * 1664525u + 1013904223u;
        v = (static_cast<float>(seed >> 16) / 32768.0f - 1.0f) * scale;
    }
    return out;
}

void run_blocks(const cell &c, const ifm_cuda_gemm &a)
{
    blockDim.x = 32 * (c.warps + (c.columns == 1)); /* with the producer */
    gridDim.x = c.blocks;
    pthread_barrier_init(&emulated::block, nullptr, blockDim.x);
    for (uint32_t i = 0; i < blockDim.x / 32; i++)
        pthread_barrier_init(&emulated::warps[i].barrier, nullptr, 32);
    for (uint32_t block = 0; block < c.blocks; block++) {
        std::vector<std::thread> threads;
        std::memset(shared, 0xff, sizeof shared); /* NaN */
        for (uint32_t i = 0; i < blockDim.x; i++)
            threads.emplace_back([&c, &a, i, block] {
                threadIdx.x = i;
                blockIdx.x = block;
                c.kernel(a);
                emulated::groups.clear();
            });
        for (std::thread &thread : threads)
            thread.join();
    }
}

/* What lies behind the shared memory that the host asks for is as it was. */
bool stays_within(const cell &c, uint32_t stride)
{
    uint32_t bytes = ifm_cuda_gemm_shared(static_cast<uint32_t>(c.shape.format), c.shape.group,
                                          static_cast<uint32_t>(c.shape.m), c.columns, c.warps);
    bytes += c.staged ? ifm_cuda_gemm_staged(static_cast<uint32_t>(c.shape.m), stride) : 0;
    if (c.columns == 1) {
        const uint32_t panels = static_cast<uint32_t>(c.shape.n) / IFM_CUDA_GEMM_PANEL;
        bytes = ifm_cuda_gemm_row_shared(c.shape.group, stride, (panels + c.blocks - 1) / c.blocks);
    }
    for (size_t i = bytes; i < sizeof shared; i++)
        if (shared[i] != 0xff)
            return false;
    return bytes <= sizeof shared;
}

/* The error over the root mean square of the products. */
double error_of(const cell &c, const char *w, const std::vector<float> &x, const std::vector<uint16_t> &out)
{
    const ifm_gemm_shape &s = c.shape;
    const bool is_bf16 = s.format == IFM_CUDA_GEMM_BF16;
    std::vector<float> row(s.k);
    double wrong = 0, all = 0;
    for (uint64_t n = 0; n < s.n; n++) {
        ifm_gemm_decode(&s, w, n, row.data());
        for (uint64_t m = 0; m < s.m; m++) {
            double sum = 0;
            for (uint64_t k = 0; k < s.k; k++)
                sum += static_cast<double>(row[k]) * x[m * s.k + k];
            const uint16_t bits = out[m * s.n + n];
            const double off = (is_bf16 ? ifm_bf16_to_f32(bits) : ifm_f16_to_f32(bits)) - sum;
            wrong += off * off;
            all += sum * sum;
        }
    }
    return std::sqrt(wrong / all);
}

bool is_right(const cell &c)
{
    const ifm_gemm_shape &s = c.shape;
    const bool is_bf16 = s.format == IFM_CUDA_GEMM_BF16;
    const uint64_t stride = (s.k + IFM_CUDA_GEMM_PAD - 1) / IFM_CUDA_GEMM_PAD * IFM_CUDA_GEMM_PAD;
    const std::vector<float> weights = numbers(s.n * s.k, 1, 0.2f);
    std::vector<float> x = numbers(s.m * s.k, 2, 2);
    std::vector<uint16_t> out(s.m * s.n, 0xffff);
    const aligned stored(ifm_gemm_bytes(&s)), w(ifm_gemm_bytes(&s)), x_bits(s.m * stride * 2);
    ifm_gemm_encode(&s, 0, s.n, weights.data(), stored.at);
    if (s.format == IFM_CUDA_GEMM_INT8 || s.format == IFM_CUDA_GEMM_INT4)
        ifm_gemm_to_fragments(&s, false, stored.at, w.at);
    else
        std::memcpy(w.at, stored.at, stored.bytes);
    for (uint64_t i = 0; i < x.size(); i++) {
        const uint16_t bits = is_bf16 ? ifm_f32_to_bf16(x[i]) : ifm_f32_to_f16(x[i]);
        reinterpret_cast<uint16_t *>(x_bits.at)[i / s.k * stride + i % s.k] = bits;
        x[i] = is_bf16 ? ifm_bf16_to_f32(bits) : ifm_f16_to_f32(bits);
    }
    emulated::readable[0] = {w.at, w.at + ifm_gemm_bytes(&s)};
    emulated::readable[1] = {x_bits.at, x_bits.at + s.m * stride * 2};
    const ifm_cuda_gemm a = {w.at, x_bits.at, out.data(), static_cast<uint32_t>(s.m), static_cast<uint32_t>(s.n),
                             static_cast<uint32_t>(s.k), static_cast<uint32_t>(stride), s.group,
                             static_cast<uint32_t>(s.format), c.staged,
                             static_cast<uint32_t>(s.n) / IFM_CUDA_GEMM_PANEL / c.blocks};
    run_blocks(c, a);
    const double error = error_of(c, stored.at, x, out);
    const bool within = stays_within(c, static_cast<uint32_t>(stride));
    const bool right = error < (is_bf16 ? 2.5e-3 : 4e-4) && within;
    std::printf("%s format %d group %u: m %u, %u x %u, %u warps, %u blocks, staged %u: error %.1e%s\n",
                right ? "right" : "WRONG", s.format, s.group, a.m, a.n, a.k, c.warps, c.blocks, c.staged, error,
                within ? "" : ", beyond its shared memory");
    return right;
}

} // namespace

int main()
{
    enum { F16 = IFM_CUDA_GEMM_F16, BF16 = IFM_CUDA_GEMM_BF16, INT8 = IFM_CUDA_GEMM_INT8, INT4 = IFM_CUDA_GEMM_INT4 };
    static const cell cells[] = {
        {ifm_gemm_mma_f16_8, {1, 64, 192, 128, F16}, 8, 4, 2, 1},
        {ifm_gemm_mma_f16_8, {3, 160, 128, 128, F16}, 8, 8, 1, 1}, /* passes of 5 panels */
        {ifm_gemm_mma_f16_8, {1, 304, 64, 128, F16}, 8, 16, 1, 1}, /* fewer stages of a panel than warps */
        {ifm_gemm_mma_bf16_8, {8, 64, 128, 128, BF16}, 8, 4, 1, 0},
        {ifm_gemm_mma_f16_16, {13, 96, 64, 128, F16}, 16, 4, 1, 1},
        {ifm_gemm_mma_bf16_32, {31, 64, 64, 128, BF16}, 32, 4, 2, 1},
        {ifm_gemm_mma_int4_128_8, {1, 64, 320, 128, INT4}, 8, 4, 2, 1}, /* the last pair is half full */
        {ifm_gemm_mma_int4_128_8, {5, 192, 704, 128, INT4}, 8, 8, 1, 1},
        {ifm_gemm_mma_int4_64_8, {3, 64, 320, 64, INT4}, 8, 4, 1, 1},
        {ifm_gemm_mma_int4_32_16, {9, 64, 192, 32, INT4}, 16, 4, 1, 0},
        {ifm_gemm_mma_int4_128_32, {32, 64, 64, 128, INT4}, 32, 4, 1, 1},
        {ifm_gemm_mma_int8_128_8, {2, 64, 320, 128, INT8}, 8, 4, 1, 1},
        {ifm_gemm_mma_int8_64_8, {8, 160, 448, 64, INT8}, 8, 8, 1, 1},
        {ifm_gemm_mma_int8_32_16, {16, 64, 128, 32, INT8}, 16, 4, 2, 1},
        {ifm_gemm_mma_int8_128_32, {17, 64, 192, 128, INT8}, 32, 4, 1, 0},
        {ifm_gemm_row_int4_128, {1, 64, 320, 128, INT4}, 1, 16, 1, 0},   /* half of a unit; a chunk of two in halves */
        {ifm_gemm_row_int4_128, {1, 64, 64, 128, INT4}, 1, 16, 2, 0},    /* one unit: there are no halves */
        {ifm_gemm_row_int4_128, {1, 112, 4096, 128, INT4}, 1, 16, 1, 0}, /* more chunks than slots */
        {ifm_gemm_row_int4_128, {1, 176, 320, 128, INT4}, 1, 16, 1, 0},  /* the same, and warps that have no unit */
        {ifm_gemm_row_int4_128, {1, 80, 8640, 128, INT4}, 1, 16, 2, 0},  /* three chunks a panel, of 16, 16 and 2 units */
        {ifm_gemm_row_int4_64, {1, 64, 4544, 64, INT4}, 1, 16, 2, 0},
        {ifm_gemm_row_int4_32, {1, 64, 4288, 32, INT4}, 1, 16, 3, 0},
    };
    bool all = true;
    for (const cell &c : cells)
        all = is_right(c) && all;
    return all ? 0 : 1;
}
