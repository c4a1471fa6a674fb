/* Device code in the executable: one fat binary a .cu file, for compute capability 9.0 with its own instructions
 * (sm_90a), 8.0, and PTX of 8.0 for everything newer. Constant data; made by CMakeLists.txt of this folder. */
#ifndef IFM_KERNEL_CUDA_IMAGES_H
#define IFM_KERNEL_CUDA_IMAGES_H

#include <stddef.h>

struct ifm_cuda_image {
    const char *name; /* of the .cu file: "stream" */
    const unsigned char *data, *end;
};

/* The row after the last has no name. A build without the CUDA toolkit has no rows. */
extern const struct ifm_cuda_image ifm_cuda_images[];

#endif
