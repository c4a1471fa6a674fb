/* Products of 64 rows of weights and 64 to 256 activations by wgmma, both in shared memory, f16 or bf16: what the
 * kernels of gemm by wgmma share. Device code of compute capability 9.0 only, in images that have it. */
#ifndef IFM_KERNEL_CUDA_GEMM_SUMS_CUH
#define IFM_KERNEL_CUDA_GEMM_SUMS_CUH

#include "kernel/cuda/wgmma.cuh"

#include <stdint.h>

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace
{

#define SUM4(b) "+f"(sum[b]), "+f"(sum[b + 1]), "+f"(sum[b + 2]), "+f"(sum[b + 3])
#define SUM32(b) SUM4(b), SUM4(b + 4), SUM4(b + 8), SUM4(b + 12), SUM4(b + 16), SUM4(b + 20), SUM4(b + 24), SUM4(b + 28)
#define REGISTERS32                                                                                                    \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,"   \
    "%30,%31"
#define REGISTERS64                                                                                                    \
    REGISTERS32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,"    \
                "%56,%57,%58,%59,%60,%61,%62,%63"
#define REGISTERS96                                                                                                    \
    REGISTERS64                                                                                                        \
    ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"                                                 \
    ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define REGISTERS128                                                                                                   \
    REGISTERS96                                                                                                        \
    ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"                                     \
    ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
/* sum (64 rows x COLUMNS) = a b (16 deep), added to what is there if `adds`: a from shared memory, or registers. */
#define SHARED64(format)                                                                                               \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %34, 0;\n"                                                             \
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32." format "." format " {" REGISTERS32                      \
                 "}, %32, %33, p, 1, 1, 0, 0;}"                                                                        \
                 : SUM32(0)                                                                                            \
                 : "l"(a), "l"(b), "r"(adds))
#define SHARED128(format)                                                                                              \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %66, 0;\n"                                                             \
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32." format "." format " {" REGISTERS64                     \
                 "}, %64, %65, p, 1, 1, 0, 0;}"                                                                        \
                 : SUM32(0), SUM32(32)                                                                                 \
                 : "l"(a), "l"(b), "r"(adds))
#define SHARED192(format)                                                                                              \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %98, 0;\n"                                                             \
                 "wgmma.mma_async.sync.aligned.m64n192k16.f32." format "." format " {" REGISTERS96                     \
                 "}, %96, %97, p, 1, 1, 0, 0;}"                                                                        \
                 : SUM32(0), SUM32(32), SUM32(64)                                                                      \
                 : "l"(a), "l"(b), "r"(adds))
#define SHARED256(format)                                                                                              \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %130, 0;\n"                                                            \
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32." format "." format " {" REGISTERS128                    \
                 "}, %128, %129, p, 1, 1, 0, 0;}"                                                                      \
                 : SUM32(0), SUM32(32), SUM32(64), SUM32(96)                                                           \
                 : "l"(a), "l"(b), "r"(adds))

template <bool IS_BF16>
__device__ __forceinline__ void multiply_shared(float (&sum)[32], uint64_t a, uint64_t b, int adds)
{
    if (IS_BF16)
        SHARED64("bf16");
    else
        SHARED64("f16");
}

template <bool IS_BF16>
__device__ __forceinline__ void multiply_shared(float (&sum)[64], uint64_t a, uint64_t b, int adds)
{
    if (IS_BF16)
        SHARED128("bf16");
    else
        SHARED128("f16");
}

template <bool IS_BF16>
__device__ __forceinline__ void multiply_shared(float (&sum)[96], uint64_t a, uint64_t b, int adds)
{
    if (IS_BF16)
        SHARED192("bf16");
    else
        SHARED192("f16");
}

template <bool IS_BF16>
__device__ __forceinline__ void multiply_shared(float (&sum)[128], uint64_t a, uint64_t b, int adds)
{
    if (IS_BF16)
        SHARED256("bf16");
    else
        SHARED256("f16");
}

} // namespace

#endif

#endif
