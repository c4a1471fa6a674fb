/* What the files of the device cuda share. */
#ifndef IFM_DEVICE_CUDA_PRIVATE_H
#define IFM_DEVICE_CUDA_PRIVATE_H

#include "base/hash.h"
#include "device/buffers.h"
#include "device/cuda.h"
#include "device/stamp.h"
#include "dyn/cuda.h"
#include "dyn/nvml.h"

enum { IFM_CUDA_MARKS = 4096, IFM_CUDA_IMAGES = 32 };

/* A kernel of this process, as it was launched last. */
struct ifm_cuda_function {
    CUfunction handle;
    char name[48];
    const char *compiler;     /* that made its code */
    bool waits;               /* ifm_cuda_launch_early may launch it early */
    unsigned threads, shared; /* of a block, in its last launch; threads 0 = not launched for the open cell */
    struct ifm_cuda_function *next;
};

/* Code of one image. */
struct ifm_cuda_code {
    const void *data;
    size_t size;
    char *own;         /* malloc'd where it is no part of this build */
    char compiler[48]; /* that made it: "nvcc 13.0.88", "NVRTC 13.0, sm_90a" */
};

/* Loaded code of a plugin, known by its hash. */
struct ifm_cuda_module {
    struct ifm_cuda_module *next;
    struct ifm_sha256 hash;
    CUmodule handle;
    struct ifm_cuda_code code;
};

/* Stamps of the multiprocessors round a slot: [0, n) before its first mark, [n, 2n) behind its last. */
struct ifm_cuda_stamps {
    bool tried, begun;
    const char *why; /* there are none, for the last slot or at all; "" = there are */
    char reason[200];
    struct ifm_cuda_function *kernel;
    CUdeviceptr memory;
    struct ifm_stamp *host;
    size_t n;
    int64_t cycles, span_ns, reported_mhz;
};

/* Medians over `n` rounds, ns for each; n = 0: not measured. */
struct ifm_cuda_cost {
    double median_ns;
    unsigned n;
};

struct ifm_cuda_device {
    struct ifm_device base;
    const struct ifm_cuda *cuda;
    struct ifm_gpu gpu;
    CUdevice handle;
    CUcontext context;
    CUstream stream;
    CUmodule modules[IFM_CUDA_IMAGES]; /* in the order of ifm_cuda_images; NULL = not loaded yet */
    struct ifm_cuda_code code[IFM_CUDA_IMAGES];
    struct ifm_cuda_module *foreign;
    enum ifm_device_kernels kernels;
    bool no_graphs, capturing;
    uint64_t launches; /* of kernels, and calls of a library, outside any capture */
    /* marks: events[0] is recorded by hold, at the host's time `held_at` */
    CUevent *events;
    size_t n_events; /* that exist */
    size_t n_marks;  /* recorded since hold, events[0] included */
    bool held;
    struct ifm_instant held_at;
    struct ifm_buffer *buffers;
    struct ifm_buffer *flush;
    struct ifm_cuda_function *functions;
    struct ifm_cuda_stamps stamps;
    const struct ifm_nvml *nvml; /* NULL = not there, or it does not know this GPU */
    ifm_nvml_device nvml_device;
    struct {
        bool measured;
        struct ifm_cuda_cost launch, graph_node, event_pair;
    } costs;
    /* the first failure */
    CUresult failed;
    const char *failed_at;
};

static inline struct ifm_cuda_device *ifm_cuda_of(struct ifm_device *device)
{
    return (struct ifm_cuda_device *)(void *)device;
}

/* ---- cuda_work.c; device/cuda.h has the rest ---- */
/* Remember the first failure; true when `result` and everything before it succeeded. */
bool ifm_cuda_note(struct ifm_cuda_device *device, CUresult result, const char *what);
/* Kernels, or a library's call, are on the stream. */
void ifm_cuda_launched(struct ifm_cuda_device *device, CUresult result, const char *what);
/* The first failure, or IFM_OK. */
IFM_CHECKED enum ifm_status ifm_cuda_report(const struct ifm_cuda_device *device, struct ifm_error *error);

/* ---- cuda_code.c ---- */
/* IFM_MISSING where neither this build nor NVRTC has code for a GPU. */
IFM_CHECKED enum ifm_status ifm_cuda_code_possible(struct ifm_error *error);
/* The code of ifm_cuda_images[image] for the open GPU; the caller frees `own`. */
IFM_CHECKED enum ifm_status ifm_cuda_code_get(struct ifm_cuda_device *device, size_t image, struct ifm_cuda_code *out,
                                              struct ifm_error *error);

/* Code of a source that is no part of this build. */
IFM_CHECKED enum ifm_status ifm_cuda_code_compile(struct ifm_cuda_device *device, const char *name, const char *text,
                                                  struct ifm_cuda_code *out, struct ifm_error *error);

/* ---- cuda_module.c ---- */
/* The kernel `name` of a loaded module, whose code `compiler` made. */
IFM_CHECKED enum ifm_status ifm_cuda_function_of(struct ifm_cuda_device *device, CUmodule module, const char *compiler,
                                                 const char *name, struct ifm_cuda_function **out,
                                                 struct ifm_error *error);
void ifm_cuda_modules_close(struct ifm_cuda_device *device);

/* ---- cuda_host.c ---- */
void ifm_cuda_parallel(struct ifm_device *base, unsigned threads, ifm_work_fn *work, void *arg);

/* ---- cuda_clock.c: called by the marks ---- */
void ifm_cuda_clock_hold(struct ifm_cuda_device *device);  /* before a slot: all that takes time the first time */
void ifm_cuda_clock_begin(struct ifm_cuda_device *device); /* before its first mark */
void ifm_cuda_clock_end(struct ifm_cuda_device *device);   /* behind its last; nothing has been waited for */
void ifm_cuda_clock_read(struct ifm_cuda_device *device);  /* its work is done */
void ifm_cuda_clock_close(struct ifm_cuda_device *device);
void ifm_cuda_clock(struct ifm_device *device, struct ifm_device_clock *out);
int64_t ifm_cuda_temperature_mc(struct ifm_device *device);
/* ---- cuda_facts.c ---- */
json_t *ifm_cuda_facts(struct ifm_device *device);

#endif
