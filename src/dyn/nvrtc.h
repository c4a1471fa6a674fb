/* NVRTC, NVIDIA's run-time compiler, opened at run time: kernels for a GPU without nvcc.
 *
 * Owns the handle of libnvrtc.so, which stays open as long as the process. It is looked for where IFM_NVRTC says (a
 * file or a folder) and nowhere else when that is set; else where dyn/toolkit.h looks. Source: "NVRTC" in the
 * documentation of the CUDA toolkit 13.0; CUDA 12 has the same interface.
 * Thread rule: the driving thread. */
#ifndef IFM_DYN_NVRTC_H
#define IFM_DYN_NVRTC_H

#include "base/error.h"
#include "dyn/cuda.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct _nvrtcProgram *ifm_nvrtc_program;

/* F(name, parameters); all return an nvrtcResult, 0 = success, but the one that gives words. */
#define IFM_NVRTC_FUNCTIONS(F)                                                                                         \
    F(nvrtcVersion, (int *major, int *minor))                                                                          \
    F(nvrtcGetNumSupportedArchs, (int *n))                                                                             \
    F(nvrtcGetSupportedArchs, (int *archs))                                                                            \
    F(nvrtcCreateProgram, (ifm_nvrtc_program * out, const char *source, const char *name, int n_headers,               \
                           const char *const *headers, const char *const *names))                                      \
    F(nvrtcDestroyProgram, (ifm_nvrtc_program * program))                                                              \
    F(nvrtcCompileProgram, (ifm_nvrtc_program program, int n_options, const char *const *options))                     \
    F(nvrtcGetCUBINSize, (ifm_nvrtc_program program, size_t * size))                                                   \
    F(nvrtcGetCUBIN, (ifm_nvrtc_program program, char *cubin))                                                         \
    F(nvrtcGetPTXSize, (ifm_nvrtc_program program, size_t * size))                                                     \
    F(nvrtcGetPTX, (ifm_nvrtc_program program, char *ptx))                                                             \
    F(nvrtcGetProgramLogSize, (ifm_nvrtc_program program, size_t * size))                                              \
    F(nvrtcGetProgramLog, (ifm_nvrtc_program program, char *log))

struct ifm_nvrtc {
#define IFM_NVRTC_MEMBER(name, parameters) int(*p_##name) parameters;
    IFM_NVRTC_FUNCTIONS(IFM_NVRTC_MEMBER)
#undef IFM_NVRTC_MEMBER
    const char *(*p_nvrtcGetErrorString)(int result);
    int major, minor; /* 13, 0 */
    const char *file; /* as it was opened */
};

/* What is compiled: one source and the headers that it may include. */
struct ifm_nvrtc_source {
    const char *name, *text; /* "stream.cu" */
    size_t n_headers;
    const char *const *header_names, *const *header_texts;
};
enum { IFM_NVRTC_ARCH = 24 };

/* NULL where there is none, and `*absence` says why. */
const struct ifm_nvrtc *ifm_nvrtc_load(struct ifm_cuda_absence *absence);
/* What to compile for on compute capability major.minor: "sm_90a" gives machine code, "compute_80" PTX where NVRTC does
 * not know so new a GPU. False: it knows only newer ones. */
bool ifm_nvrtc_arch(const struct ifm_nvrtc *nvrtc, unsigned major, unsigned minor, char out[static IFM_NVRTC_ARCH]);
/* malloc'd machine code, or PTX with its zero. IFM_INVALID with the first lines of the compiler's words. */
IFM_CHECKED enum ifm_status ifm_nvrtc_compile(const struct ifm_nvrtc *nvrtc, const struct ifm_nvrtc_source *source,
                                              const char *arch, char **out, size_t *size, struct ifm_error *error);

#endif
