/* Arguments and tile of the kernel of matrix.cu: C and CUDA. */
#ifndef IFM_KERNEL_CUDA_MATRIX_H
#define IFM_KERNEL_CUDA_MATRIX_H

#include <stdint.h>

/* Of a block: rows of A, rows of B, their common depth, threads. */
enum {
    IFM_MATRIX_ROWS = 64,
    IFM_MATRIX_COLUMNS = 256,
    IFM_MATRIX_DEPTH = 64,
    IFM_MATRIX_THREADS = 128,
    IFM_MATRIX_SHARED = (IFM_MATRIX_ROWS + IFM_MATRIX_COLUMNS) * IFM_MATRIX_DEPTH * 2 /* bytes */
};

struct ifm_matrix_arguments {
    uint64_t rounds, seed;
    float *out; /* [IFM_MATRIX_ROWS][IFM_MATRIX_COLUMNS] */
};

#endif
