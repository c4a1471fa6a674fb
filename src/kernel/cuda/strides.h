/* How rows of a tensor lie: C and CUDA. */
#ifndef IFM_KERNEL_CUDA_STRIDES_H
#define IFM_KERNEL_CUDA_STRIDES_H

#include <stdint.h>

/* Values from one sequence, head and row to the next; those of a row lie side by side. */
struct ifm_strides {
    uint64_t sequence;
    uint32_t head, row;
};

#endif
