/* Device cuda, as workloads use it: kernels by name, work on its stream, and steps as graphs.
 *
 * Every call that puts work on the stream returns at once. The first one that fails is remembered, what follows is left
 * out, and ifm_cuda_wait or the device's `resolve` reports it: a step of a workload cannot. A failure inside a kernel
 * is sticky in CUDA: nothing works in that context afterwards. Thread rule: the thread that drives the device. */
#ifndef IFM_DEVICE_CUDA_H
#define IFM_DEVICE_CUDA_H

#include "device/device.h"
#include "model/machine.h"

const struct ifm_gpu *ifm_cuda_gpu(const struct ifm_device *device);

/* Threads of the host for `parallel` of the device's ops: as many as it has for us. */
unsigned ifm_cuda_host_threads(void);

/* A kernel of the image `image` (the .cu file's name). IFM_MISSING where the image for this GPU lacks it. */
struct ifm_cuda_function;
IFM_CHECKED enum ifm_status ifm_cuda_find(struct ifm_device *device, const char *image, const char *name,
                                          struct ifm_cuda_function **out, struct ifm_error *error);
/* Let the kernel have `bytes` of dynamic shared memory a block; needed above 48 KiB. */
IFM_CHECKED enum ifm_status ifm_cuda_allow_shared(struct ifm_device *device, struct ifm_cuda_function *function,
                                                  unsigned bytes, struct ifm_error *error);
/* Let it have all of a multiprocessor's memory that may be shared, so that as many blocks fit as can. */
IFM_CHECKED enum ifm_status ifm_cuda_prefer_shared(struct ifm_device *device, struct ifm_cuda_function *function,
                                                   struct ifm_error *error);
/* Blocks of `threads` threads and `shared` dynamic bytes that run on the GPU at the same time; 0 = none fits. */
unsigned ifm_cuda_blocks(struct ifm_device *device, struct ifm_cuda_function *function, unsigned threads,
                         unsigned shared);

/* Code that is no part of this build: a plugin's. It stays loaded until the device is closed; the same code is loaded
 * once. IFM_MISSING where it is a source and there is no NVRTC. */
struct ifm_cuda_module;
struct ifm_cuda_foreign {
    const char *name; /* "rmsnorm.cu" */
    const void *data;
    size_t bytes;
    bool is_source; /* else machine code, a fat binary, or PTX with its zero */
};
IFM_CHECKED enum ifm_status ifm_cuda_load_module(struct ifm_device *device, const struct ifm_cuda_foreign *code,
                                                 struct ifm_cuda_module **out, struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_cuda_find_in(struct ifm_device *device, const struct ifm_cuda_module *module,
                                             const char *name, struct ifm_cuda_function **out, struct ifm_error *error);
/* A launch of such a kernel: `parameters` as cuLaunchKernel takes them. */
struct ifm_cuda_grid {
    struct ifm_cuda_function *function;
    unsigned grid[3], block[3], shared;
    void **parameters;
};
void ifm_cuda_launch_grid(struct ifm_device *device, const struct ifm_cuda_grid *launch);

/* `arguments`: the kernel's one parameter, a struct of the header of its .cu; NULL for a kernel that takes none. */
struct ifm_cuda_launch {
    struct ifm_cuda_function *function;
    unsigned blocks, threads, shared;
    const void *arguments;
};
void ifm_cuda_launch(struct ifm_device *device, const struct ifm_cuda_launch *launch);
/* The same of a kernel that may begin before the work in front of it has ended, because it waits itself
 * (kernel/cuda/early.cuh) before it touches what that writes. Below compute capability 9.0 it begins behind it. */
void ifm_cuda_launch_early(struct ifm_device *device, const struct ifm_cuda_launch *launch);
/* A matrix of 16-bit values, as its tiles are copied: 64 values of `tile_rows` rows, in the 128-byte swizzle, and zeros
 * for what is outside. `map`: 128 bytes at a multiple of 64, for an argument of a kernel that asks for them. */
struct ifm_cuda_tiles {
    const void *values;
    uint64_t rows, columns, stride; /* stride: values from row to row, a multiple of 8 */
    unsigned tile_rows;             /* at most 256 */
};
void ifm_cuda_map_tiles(struct ifm_device *device, const struct ifm_cuda_tiles *tiles, void *map);
void ifm_cuda_copy(struct ifm_device *device, void *to, const void *from, size_t bytes); /* both on the device */
void ifm_cuda_fill(struct ifm_device *device, void *to, uint32_t word, size_t words);
/* Keep the stream busy for some milliseconds, which other streams have in the meantime. */
IFM_CHECKED enum ifm_status ifm_cuda_delay(struct ifm_device *device, struct ifm_error *error);
/* Its stream, for a library whose work goes there, and its context. */
struct CUstream_st *ifm_cuda_stream(struct ifm_device *device);
struct CUctx_st *ifm_cuda_context(struct ifm_device *device);
/* Make its context the current one; false when another one was. */
bool ifm_cuda_restore_context(struct ifm_device *device);
/* Wait for all work; the first failure since the device was opened. */
IFM_CHECKED enum ifm_status ifm_cuda_wait(struct ifm_device *device, struct ifm_error *error);
/* Copy from the host; it is done on return. */
IFM_CHECKED enum ifm_status ifm_cuda_write(struct ifm_device *device, void *to, const void *from, size_t bytes,
                                           struct ifm_error *error);
/* Wait, and copy to the host. */
IFM_CHECKED enum ifm_status ifm_cuda_read(struct ifm_device *device, void *to, const void *from, size_t bytes,
                                          struct ifm_error *error);

/* Steps of one arm. `enqueue` puts one step on the stream, always the same work. Under graphs the first call for a
 * number of steps captures them (at most IFM_CUDA_NODES in a graph); later ones replay. Every step of a sample is in
 * the sample, whichever way. */
enum { IFM_CUDA_NODES = 1024, IFM_CUDA_TURNS = 64 };
struct ifm_cuda_steps;
typedef void ifm_cuda_enqueue_fn(void *arg);
IFM_CHECKED enum ifm_status ifm_cuda_steps_create(struct ifm_device *device, ifm_cuda_enqueue_fn *enqueue, void *arg,
                                                  struct ifm_cuda_steps **out, struct ifm_error *error);
/* Steps take `n` buffers in turn, at most IFM_CUDA_TURNS: `*turn` is 0 .. n - 1 while one is enqueued, and that of the
 * last step after a run. Called before the first run. The next run goes on where the last one ended; the first call for
 * a number of steps captures them for every turn that they may begin with. */
void ifm_cuda_steps_turns(struct ifm_cuda_steps *steps, unsigned n, unsigned *turn);
/* The steps are code that nobody here answers for. A step is captured once for each turn, and a graph of n steps is
 * that work n times: so all steps are alike, whatever `enqueue` does when it is called again. `launched`: it cannot be
 * captured, and is called for each step. Before the first run. */
void ifm_cuda_steps_foreign(struct ifm_cuda_steps *steps, bool launched);
/* Whether these are replayed as graphs; without this call as the device was opened. Before the first run. Where the
 * device was opened without graphs there are none. */
void ifm_cuda_steps_graphs(struct ifm_cuda_steps *steps, bool graphs);
void ifm_cuda_steps_run(struct ifm_cuda_steps *steps, uint64_t n);
/* What the runs of these steps put on the stream so far: graphs, and work that is in none: kernels, and calls of a
 * library. */
struct ifm_cuda_counts {
    uint64_t graphs, launches;
};
struct ifm_cuda_counts ifm_cuda_steps_counts(const struct ifm_cuda_steps *steps);
void ifm_cuda_steps_destroy(struct ifm_cuda_steps *steps); /* NULL is allowed */

#endif
