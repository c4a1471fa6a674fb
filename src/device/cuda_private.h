/* What the files of the device cuda share. Only built where the CUDA toolkit is. */
#ifndef IFM_DEVICE_CUDA_PRIVATE_H
#define IFM_DEVICE_CUDA_PRIVATE_H

#include "device/buffers.h"
#include "device/cuda.h"
#include "dyn/cuda.h"

enum { IFM_CUDA_MARKS = 4096, IFM_CUDA_IMAGES = 16 };

struct ifm_cuda_device {
    struct ifm_device base;
    const struct ifm_cuda *cuda;
    struct ifm_gpu gpu;
    CUdevice handle;
    CUcontext context;
    CUstream stream;
    CUmodule modules[IFM_CUDA_IMAGES]; /* in the order of ifm_cuda_images; NULL = not loaded yet */
    bool no_graphs;
    /* marks: events[0] is recorded by hold, at the host's time `held_at` */
    CUevent *events;
    size_t n_events; /* that exist */
    size_t n_marks;  /* recorded since hold, events[0] included */
    bool held;
    struct ifm_instant held_at;
    struct ifm_buffer *buffers;
    struct ifm_buffer *flush;
    /* the first failure */
    CUresult failed;
    const char *failed_at;
};

static inline struct ifm_cuda_device *ifm_cuda_of(struct ifm_device *device)
{
    return (struct ifm_cuda_device *)(void *)device;
}

/* Remember the first failure; true when `result` and everything before it succeeded. */
bool ifm_cuda_note(struct ifm_cuda_device *device, CUresult result, const char *what);

#endif
