/* OpenBLAS, opened at run time: the library arm of matrix products. Everything else works without it.
 *
 * Owns the handle, which stays open as long as the process, and the choice of the core type: OPENBLAS_CORETYPE and
 * OPENBLAS_NUM_THREADS are set while the library loads and put back afterwards. Only the pthreads build with 32-bit
 * integers is accepted: workers call it at the same time, each for one thread (OpenBLAS README, "Multi-threading": the
 * single-threaded build needs locks that not every distribution compiles in).
 * Thread rule: the first call belongs to the driving thread, before there are workers; the functions are reentrant. */
#ifndef IFM_DYN_OPENBLAS_H
#define IFM_DYN_OPENBLAS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of CBLAS's enumerations. */
enum { IFM_BLAS_ROW_MAJOR = 101, IFM_BLAS_AS_IS = 111, IFM_BLAS_TRANSPOSED = 112 };

struct ifm_openblas {
    /* cblas_sgemm: c = alpha * op(a) * op(b) + beta * c, one thread. */
    void (*sgemm)(int order, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda,
                  const float *b, int ldb, float beta, float *c, int ldc);
    /* cblas_sgemv: y = alpha * op(a) * x + beta * y, a of m rows and n columns. */
    void (*sgemv)(int order, int trans, int m, int n, float alpha, const float *a, int lda, const float *x, int incx,
                  float beta, float *y, int incy);
    /* cblas_sbgemm: the same of bfloat16 factors; NULL in builds without it, Debian's among them. */
    void (*sbgemm)(int order, int transa, int transb, int m, int n, int k, float alpha, const uint16_t *a, int lda,
                   const uint16_t *b, int ldb, float beta, float *c, int ldc);
    const char *version; /* "0.3.21" */
    const char *core;    /* as read back: "Haswell" */
    const char *asked;   /* the core type that was asked for, by us or by the environment; "" = OpenBLAS's own choice */
    const char *config;  /* all of openblas_get_config */
    const char *name;    /* "OpenBLAS 0.3.21 Haswell" */
};

/* The library of this process; NULL where there is none, and `*why_not` is one sentence with the remedy. All results
 * have static storage. */
const struct ifm_openblas *ifm_openblas_load(const char **why_not);

/* The first product of each thread maps a buffer. If the system refuses it, OpenBLAS 0.3.21 retries forever; so this
 * check returns IFM_USAGE when `threads` buffers cannot be mapped now. Call it after everything else is allocated. */
enum ifm_status ifm_openblas_check_memory(unsigned threads, struct ifm_error *error);

/* The core type to ask for on this processor, NULL = leave the choice to OpenBLAS. Zen 4 executes 512-bit
 * multiply-adds as two halves, and there OpenBLAS 0.3.21 is faster with its kernels for Haswell than with any other
 * (figures in docs/performance.md); other processors with AVX-512 get SkylakeX. */
const char *ifm_openblas_best_core(void);

/* ifm_openblas_load for the file named `file`, without keeping the result: false, with `why_not` filled, where it is
 * not a usable OpenBLAS. `room` holds the strings of `out`. */
struct ifm_openblas_room {
    char version[32], core[32], asked[32], config[256], name[80], why_not[256];
};
bool ifm_openblas_open(const char *file, struct ifm_openblas *out, struct ifm_openblas_room *room);

#endif
