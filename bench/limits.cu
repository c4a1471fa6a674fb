/* Kernels of known limits, for `inferometer profile`: nvcc -O2 -arch=sm_90a -o limits bench/limits.cu. */
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>
__global__ void copies(const float4 *in, float4 *out, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        out[i] = in[i];
}
__global__ void conflicts(float *out) // 32 threads, one bank: 31 of 32 accesses are repeats
{
    __shared__ float tile[32 * 64];
    const int lane = threadIdx.x & 31;
    float sum = 0;
    tile[threadIdx.x] = lane;
    __syncthreads();
    volatile float *t = tile;
    for (int i = 0; i < 4096; i++)
        sum += t[lane * 32 + (i & 31)];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void chain(float *out) // one warp a multiprocessor, each step waits for the last
{
    float x = threadIdx.x;
    for (int i = 0; i < 100000; i++)
        x = x * 1.0001f + 0.5f;
    out[blockIdx.x * 32 + threadIdx.x] = x;
}
__global__ void chase(const unsigned *next, unsigned *out) // one warp a multiprocessor, each load waits for the last
{
    unsigned at = (blockIdx.x * 32 + threadIdx.x) * 4099u & ((1u << 26) - 1);
    for (int i = 0; i < 300; i++)
        at = next[at];
    out[blockIdx.x * 32 + threadIdx.x] = at;
}
__global__ void few(float *out) // one block of a whole GPU
{
    float x = threadIdx.x;
    for (int i = 0; i < 100000; i++)
        x = x * 1.0001f + 0.5f;
    out[threadIdx.x] = x;
}
__global__ void matrix(float *out)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, col_major> b;
    fragment<accumulator, 16, 16, 16, float> c[4];
    fill_fragment(a, __float2half(0.001f));
    fill_fragment(b, __float2half(0.001f));
    for (int k = 0; k < 4; k++)
        fill_fragment(c[k], 0);
    for (int i = 0; i < 4000; i++)
        for (int k = 0; k < 4; k++)
            mma_sync(c[k], a, b, c[k]);
    for (int k = 1; k < 4; k++)
        for (int j = 0; j < c[0].num_elements; j++)
            c[0].x[j] += c[k].x[j];
    store_matrix_sync(out + (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 256, c[0], 16, mem_row_major);
}
int main()
{
    const size_t bytes = 1ull << 30;
    float4 *a, *b;
    float *o;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&o, 64 << 20);
    unsigned *next, *h = (unsigned *)malloc(256 << 20);
    cudaMalloc(&next, 256 << 20);
    cudaMemset(a, 1, bytes);
    for (unsigned i = 0; i < 1u << 26; i++)
        h[i] = (i * 1664525u + 1013904223u) & ((1u << 26) - 1);
    cudaMemcpy(next, h, 256 << 20, cudaMemcpyHostToDevice);
    for (int r = 0; r < 2; r++) {
        copies<<<132 * 8, 256>>>(a, b, bytes / 16);
        conflicts<<<132 * 8, 256>>>(o);
        chain<<<132, 32>>>(o);
        chase<<<132, 32>>>(next, (unsigned *)o);
        few<<<1, 256>>>(o);
        matrix<<<132 * 4, 256>>>(o);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
