/* Work on the stream of the device cuda: kernels, and copies. */
#include "device/cuda_private.h"

#include "kernel/cuda/images.h"
#include "kernel/cuda/null.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ifm_cuda_note(struct ifm_cuda_device *device, CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS && device->failed == CUDA_SUCCESS) {
        device->failed = result;
        device->failed_at = what;
    }
    return device->failed == CUDA_SUCCESS;
}

void ifm_cuda_launched(struct ifm_cuda_device *device, CUresult result, const char *what)
{
    if (ifm_cuda_note(device, result, what))
        device->launches += !device->capturing;
}

enum ifm_status ifm_cuda_report(const struct ifm_cuda_device *device, struct ifm_error *error)
{
    return device->failed == CUDA_SUCCESS
               ? IFM_OK
               : ifm_cuda_fail(device->cuda, device->failed, device->gpu.name, device->failed_at, error);
}

/* ---- kernels ---- */

static CUdeviceptr address_of(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static enum ifm_status load_image(struct ifm_cuda_device *device, size_t i, struct ifm_error *error)
{
    const char *image = ifm_cuda_images[i].name;
    if (device->code[i].data == NULL)
        IFM_TRY(ifm_cuda_code_get(device, i, &device->code[i], error));
    CUresult result = device->cuda->p_cuModuleLoadData(&device->modules[i], device->code[i].data);
    return result == CUDA_SUCCESS
               ? IFM_OK
               : ifm_cuda_fail(device->cuda, result, image, "this GPU does not load the device code", error);
}

static enum ifm_status load(struct ifm_cuda_device *device, const char *image, size_t *out, struct ifm_error *error)
{
    for (size_t i = 0; i < IFM_CUDA_IMAGES && ifm_cuda_images[i].name != NULL; i++) {
        if (strcmp(ifm_cuda_images[i].name, image) != 0)
            continue;
        if (device->modules[i] == NULL)
            IFM_TRY(load_image(device, i, error));
        *out = i;
        return IFM_OK;
    }
    return ifm_fail(error, IFM_MISSING, image, NULL, "this build has no device code '%s'", image);
}

/* Its code has griddepcontrol: what a driver compiles from an older GPU's PTX waits for nothing. */
static bool waits_itself(const struct ifm_cuda_device *device, CUfunction function)
{
    enum { SM_90 = 90 };
    int ptx = 0;
    return device->gpu.major >= 9 &&
           device->cuda->p_cuFuncGetAttribute(&ptx, CU_FUNC_ATTRIBUTE_PTX_VERSION, function) == CUDA_SUCCESS &&
           ptx >= SM_90;
}

enum ifm_status ifm_cuda_find(struct ifm_device *base, const char *image, const char *name,
                              struct ifm_cuda_function **out, struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    size_t i = 0;
    IFM_TRY(load(device, image, &i, error));
    IFM_TRY(ifm_cuda_function_of(device, device->modules[i], device->code[i].compiler, name, out, error));
    (*out)->waits = waits_itself(device, (*out)->handle);
    return IFM_OK;
}

enum ifm_status ifm_cuda_allow_shared(struct ifm_device *base, struct ifm_cuda_function *function, unsigned bytes,
                                      struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    CUresult result = device->cuda->p_cuFuncSetAttribute(function->handle,
                                                         CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
    return result == CUDA_SUCCESS
               ? IFM_OK
               : ifm_cuda_fail(device->cuda, result, device->gpu.name, "a block cannot have the shared memory", error);
}

enum ifm_status ifm_cuda_prefer_shared(struct ifm_device *base, struct ifm_cuda_function *function,
                                       struct ifm_error *error)
{
    enum { ALL = 100 /* percent */ };
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    CUresult result = device->cuda->p_cuFuncSetAttribute(
        function->handle, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, ALL);
    return result == CUDA_SUCCESS
               ? IFM_OK
               : ifm_cuda_fail(device->cuda, result, device->gpu.name, "shared memory is not preferred", error);
}

unsigned ifm_cuda_blocks(struct ifm_device *base, struct ifm_cuda_function *function, unsigned threads, unsigned shared)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    int blocks = 0;
    if (device->cuda->p_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function->handle, (int)threads, shared) !=
        CUDA_SUCCESS)
        return 0;
    return (unsigned)blocks * device->gpu.multiprocessors;
}

void ifm_cuda_launch(struct ifm_device *base, const struct ifm_cuda_launch *launch)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    void *parameters[] = {(void *)(uintptr_t)launch->arguments};
    launch->function->threads = launch->threads;
    launch->function->shared = launch->shared;
    if (device->failed == CUDA_SUCCESS)
        ifm_cuda_launched(device,
                          device->cuda->p_cuLaunchKernel(launch->function->handle, launch->blocks, 1, 1,
                                                         launch->threads, 1, 1, launch->shared, device->stream,
                                                         parameters, NULL),
                          "cuLaunchKernel");
}

void ifm_cuda_launch_early(struct ifm_device *base, const struct ifm_cuda_launch *launch)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    if (!launch->function->waits) {
        ifm_cuda_launch(base, launch);
        return;
    }
    void *parameters[] = {(void *)(uintptr_t)launch->arguments};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
    attribute.value.programmaticStreamSerializationAllowed = 1;
    const CUlaunchConfig config = {launch->blocks, 1,          1, launch->threads, 1, 1, launch->shared,
                                   device->stream, &attribute, 1};
    launch->function->threads = launch->threads;
    launch->function->shared = launch->shared;
    if (device->failed == CUDA_SUCCESS)
        ifm_cuda_launched(device, device->cuda->p_cuLaunchKernelEx(&config, launch->function->handle, parameters, NULL),
                          "cuLaunchKernelEx");
}

void ifm_cuda_map_tiles(struct ifm_device *base, const struct ifm_cuda_tiles *tiles, void *map)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    const cuuint64_t sizes[] = {tiles->columns, tiles->rows}, strides[] = {tiles->stride * sizeof(uint16_t)};
    const cuuint32_t box[] = {64, tiles->tile_rows}, steps[] = {1, 1};
    CUtensorMap made;
    if (ifm_cuda_note(device,
                      device->cuda->p_cuTensorMapEncodeTiled(
                          &made, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, (void *)(uintptr_t)tiles->values, sizes, strides,
                          box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                          CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                      "cuTensorMapEncodeTiled"))
        memcpy(map, &made, sizeof made);
}

void ifm_cuda_launch_grid(struct ifm_device *base, const struct ifm_cuda_grid *launch)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    const unsigned *grid = launch->grid, *block = launch->block;
    launch->function->threads = block[0] * block[1] * block[2];
    launch->function->shared = launch->shared;
    if (device->failed == CUDA_SUCCESS)
        ifm_cuda_launched(device,
                          device->cuda->p_cuLaunchKernel(launch->function->handle, grid[0], grid[1], grid[2], block[0],
                                                         block[1], block[2], launch->shared, device->stream,
                                                         launch->parameters, NULL),
                          "cuLaunchKernel");
}

void ifm_cuda_copy(struct ifm_device *base, void *to, const void *from, size_t bytes)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    if (device->failed == CUDA_SUCCESS)
        ifm_cuda_note(device,
                      device->cuda->p_cuMemcpyDtoDAsync(address_of(to), address_of(from), bytes, device->stream),
                      "cuMemcpyDtoDAsync");
}

void ifm_cuda_fill(struct ifm_device *base, void *to, uint32_t word, size_t words)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    if (device->failed == CUDA_SUCCESS)
        ifm_cuda_note(device, device->cuda->p_cuMemsetD32Async(address_of(to), word, words, device->stream),
                      "cuMemsetD32Async");
}

enum ifm_status ifm_cuda_delay(struct ifm_device *base, struct ifm_error *error)
{
    struct ifm_null_spin_arguments arguments = {.n = 1 << 20};
    struct ifm_cuda_function *spin;
    void *left;
    bool fresh;
    IFM_TRY(ifm_cuda_find(base, "null", "ifm_null_spin", &spin, error));
    IFM_TRY(base->ops->buffer(base, "delay", sizeof *arguments.value, &left, &fresh, error));
    const unsigned threads = spin->threads;
    arguments.value = left;
    ifm_cuda_launch(base, &(struct ifm_cuda_launch){spin, 1, 1, 0, &arguments});
    spin->threads = threads; /* no kernel of the cell */
    return IFM_OK;
}

CUstream ifm_cuda_stream(struct ifm_device *base)
{
    return ifm_cuda_of(base)->stream;
}

CUcontext ifm_cuda_context(struct ifm_device *base)
{
    return ifm_cuda_of(base)->context;
}

bool ifm_cuda_restore_context(struct ifm_device *base)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    CUcontext current = NULL;
    if (device->cuda->p_cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == device->context)
        return true;
    (void)device->cuda->p_cuCtxSetCurrent(device->context);
    return false;
}

enum ifm_status ifm_cuda_wait(struct ifm_device *base, struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    ifm_cuda_note(device, device->cuda->p_cuStreamSynchronize(device->stream), "work on the GPU");
    return ifm_cuda_report(device, error);
}

enum ifm_status ifm_cuda_write(struct ifm_device *base, void *to, const void *from, size_t bytes,
                               struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    IFM_TRY(ifm_cuda_wait(base, error));
    ifm_cuda_note(device, device->cuda->p_cuMemcpyHtoD(address_of(to), from, bytes), "a copy from the host");
    /* It returns once the last bytes are in the driver's staging memory: they reach the GPU on the default stream, for
     * which ours does not wait. */
    ifm_cuda_note(device, device->cuda->p_cuStreamSynchronize(NULL), "a copy from the host");
    return ifm_cuda_wait(base, error);
}

enum ifm_status ifm_cuda_read(struct ifm_device *base, void *to, const void *from, size_t bytes,
                              struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    IFM_TRY(ifm_cuda_wait(base, error));
    ifm_cuda_note(device, device->cuda->p_cuMemcpyDtoH(to, address_of(from), bytes), "a copy to the host");
    return ifm_cuda_wait(base, error);
}
