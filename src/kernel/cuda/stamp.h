/* Arguments and result of the kernel of stamp.cu: C and CUDA. */
#ifndef IFM_KERNEL_CUDA_STAMP_H
#define IFM_KERNEL_CUDA_STAMP_H

#include <stdint.h>

/* What one block leaves. */
struct ifm_stamp {
    uint32_t multiprocessor, unused;
    uint64_t cycles; /* of its own counter */
    uint64_t ns;     /* of the GPU's timer, which may tick in microseconds */
};

struct ifm_stamp_arguments {
    struct ifm_stamp *out; /* one a block */
};

#endif
