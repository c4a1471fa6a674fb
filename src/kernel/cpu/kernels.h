/* Declarations of every kernel, per instruction set; only dispatch.c and the kernels themselves need them. */
#ifndef IFM_KERNEL_CPU_KERNELS_H
#define IFM_KERNEL_CPU_KERNELS_H

#include "kernel/cpu/dispatch.h"
#include "kv/format.h"

#define IFM_DECLARE_KERNELS(isa)                                                                                       \
    ifm_read_fn ifm_read_linear_##isa, ifm_read_streams4_##isa, ifm_read_prefetch_##isa;                               \
    ifm_write_fn ifm_write_store_##isa, ifm_write_nontemporal_##isa;                                                   \
    ifm_copy_fn ifm_copy_load_store_##isa, ifm_copy_nontemporal_##isa;                                                 \
    ifm_flops_fn ifm_flops_fma8_##isa, ifm_flops_fma12_##isa, ifm_flops_fma16_##isa;                                   \
    ifm_attention_fn ifm_attention_tiled_##isa;                                                                        \
    ifm_attention_softmax_fn ifm_attention_softmax_##isa;                                                              \
    ifm_attention_widen_fn ifm_attention_widen_##isa;                                                                  \
    ifm_attention_store_fn ifm_attention_store_##isa;

#define IFM_DECLARE_KV_ENCODE(isa)                                                                                     \
    ifm_kv_encode_fn ifm_kv_encode_f16_##isa, ifm_kv_encode_int8_##isa, ifm_kv_encode_e4m3_##isa,                      \
        ifm_kv_encode_int4_##isa, ifm_kv_encode_int2_##isa;

IFM_DECLARE_KERNELS(scalar)
IFM_DECLARE_KV_ENCODE(scalar)
#if defined(__x86_64__)
IFM_DECLARE_KERNELS(sse2)
IFM_DECLARE_KERNELS(avx2)
IFM_DECLARE_KERNELS(avx512)
IFM_DECLARE_KV_ENCODE(avx2)
IFM_DECLARE_KV_ENCODE(avx512)
#endif

#define IFM_DECLARE_KV_PLAIN(isa) ifm_kv_attend_fn ifm_kv_attend_f16_##isa, ifm_kv_attend_e4m3_##isa;
#define IFM_DECLARE_KV_CODED(isa)                                                                                      \
    ifm_kv_attend_fn ifm_kv_attend_int8_##isa, ifm_kv_attend_int4_##isa, ifm_kv_attend_int2_##isa;
IFM_DECLARE_KV_PLAIN(scalar)
IFM_DECLARE_KV_CODED(scalar)
#if defined(__x86_64__)
IFM_DECLARE_KV_PLAIN(avx2)
IFM_DECLARE_KV_CODED(avx2)
IFM_DECLARE_KV_PLAIN(avx512)
IFM_DECLARE_KV_CODED(avx512vnni)
#endif

ifm_chase_fn ifm_caches_chase;
ifm_clock_fn ifm_clock_chain;

#define IFM_DECLARE_DOTS(isa) ifm_dots_fn ifm_dots_dot12_##isa;
IFM_DECLARE_DOTS(scalar)
#if defined(__x86_64__)
IFM_DECLARE_DOTS(avx2)
IFM_DECLARE_DOTS(avx512)
IFM_DECLARE_DOTS(avx512vnni)
#endif

#define IFM_DECLARE_GEMM(isa) ifm_gemm_fn ifm_gemm_int8_##isa, ifm_gemm_int4_##isa
ifm_gemm_fn ifm_gemm_f32_scalar, ifm_gemm_bf16_scalar;
IFM_DECLARE_GEMM(scalar);
#if defined(__x86_64__)
ifm_gemm_fn ifm_gemm_f32_avx2, ifm_gemm_bf16_avx2, ifm_gemm_f32_avx512, ifm_gemm_bf16_avx512;
IFM_DECLARE_GEMM(avx2);
IFM_DECLARE_GEMM(avx512);
IFM_DECLARE_GEMM(avx512vnni);
#endif

#endif
