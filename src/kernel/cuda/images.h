/* Device code in the executable: each .cu file as text, which NVRTC compiles at run time, and, of a build with nvcc, as
 * a fat binary for compute capability 9.0 with its own instructions (sm_90a), 8.0, and PTX of 8.0 for everything newer.
 * Constant data; made by CMakeLists.txt of this folder. */
#ifndef IFM_KERNEL_CUDA_IMAGES_H
#define IFM_KERNEL_CUDA_IMAGES_H

#include <stddef.h>

struct ifm_cuda_image {
    const char *name;         /* of the .cu file: "stream" */
    const char *source;       /* its text */
    const char *binary, *end; /* NULL: this build was made without nvcc */
};
struct ifm_cuda_header {
    const char *name, *text; /* as sources include it: "kernel/cuda/stream.h" */
};

/* The row after the last has no name. */
extern const struct ifm_cuda_image ifm_cuda_images[];
extern const struct ifm_cuda_header ifm_cuda_headers[];

#endif
