/* Arguments of the kernels of null.cu: C and CUDA. */
#ifndef IFM_KERNEL_CUDA_NULL_H
#define IFM_KERNEL_CUDA_NULL_H

#include <stdint.h>

struct ifm_null_spin_arguments {
    uint64_t n;
    uint64_t *value; /* what the additions leave, so that they are made */
};

#endif
