/* Kernels that have a file of their own beside kernels.c, which lists them. */
#ifndef IFM_TESTS_FAKE_CUDA_KERNELS_H
#define IFM_TESTS_FAKE_CUDA_KERNELS_H

#include "fake_cuda/fake_cuda.h"

/* ---- gemm.c ---- */
bool fake_gemm_naive(const struct fake_launch *launch, bool wrong);
bool fake_gemm_row(const struct fake_launch *launch, bool wrong);
bool fake_gemm_mma(const struct fake_launch *launch, bool wrong);
bool fake_gemm_wgmma(const struct fake_launch *launch, bool wrong);
bool fake_gemm_tma(const struct fake_launch *launch, bool wrong);
bool fake_gemm_tma_part(const struct fake_launch *launch, bool wrong);
bool fake_gemm_library(const struct fake_launch *launch, bool wrong); /* of tests/fake_cublaslt */
bool fake_gemm_reference(const struct fake_launch *launch, bool wrong);

/* ---- attention.c ---- */
#define FAKE_ATTENTION(name)                                                                                           \
    bool fake_attention_##name(const struct fake_launch *launch, bool wrong);                                          \
    bool fake_attention_##name##_strided(const struct fake_launch *launch, bool wrong)
FAKE_ATTENTION(naive);
FAKE_ATTENTION(flash);
FAKE_ATTENTION(hopper);
FAKE_ATTENTION(reference);
bool fake_attention_library(const struct fake_launch *launch, bool wrong); /* of tests/fake_cudnn */

/* ---- plugin.c ---- */
bool fake_plugin_rmsnorm(const struct fake_launch *launch, bool wrong);
bool fake_plugin_add(const struct fake_launch *launch, bool wrong);
/* Rows: of examples/plugin_cuda, and of tests/plugin/gpu.c. */
#define FAKE_PLUGIN_KERNELS                                                                                            \
    {"rmsnorm_naive", 0, fake_plugin_rmsnorm}, {"rmsnorm_vector", 0, fake_plugin_rmsnorm},                             \
        {"plugin_add", 0, fake_plugin_add},
/* Bytes of each parameter of a kernel that takes several, up to a 0; its arguments lie in this order. NULL: another. */
const unsigned char *fake_plugin_sizes(const struct fake_kernel *kernel);

#endif
