/* What the fake driver says of itself and its GPU. */
#include "fake_cuda/internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the driver: device ---- */

/* As the real driver does: a library of whoever set the variable, once. */
static void inject(void)
{
    static bool tried;
    const char *file = getenv("CUDA_INJECTION64_PATH");
    void *library = tried || file == NULL ? NULL : dlopen(file, RTLD_NOW);
    int (*initialize)(void);
    tried = true;
    void *symbol = library == NULL ? NULL : dlsym(library, "InitializeInjection");
    memcpy(&initialize, &symbol, sizeof initialize);
    if (symbol != NULL)
        (void)initialize();
}

CUresult fake_cuInit(unsigned flags)
{
    (void)flags;
    inject();
    return (CUresult)fake_number("init", CUDA_SUCCESS);
}

CUresult fake_cuDriverGetVersion(int *version)
{
    *version = (int)fake_number("version", 13000);
    return CUDA_SUCCESS;
}

static const char *error_name(CUresult error)
{
    switch ((int)error) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return "CUDA_ERROR_OUT_OF_MEMORY\0out of memory";
    case CUDA_ERROR_NO_DEVICE:
        return "CUDA_ERROR_NO_DEVICE\0no CUDA-capable device is detected";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
        return "CUDA_ERROR_ILLEGAL_ADDRESS\0an illegal memory access was encountered";
    case CUDA_ERROR_NOT_FOUND:
        return "CUDA_ERROR_NOT_FOUND\0named symbol not found";
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return "CUDA_ERROR_SYSTEM_NOT_READY\0system not yet initialized";
    default:
        return NULL;
    }
}

CUresult fake_cuGetErrorName(CUresult error, const char **name)
{
    *name = error_name(error);
    return *name == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult fake_cuGetErrorString(CUresult error, const char **text)
{
    const char *name = error_name(error);
    *text = name == NULL ? NULL : name + strlen(name) + 1;
    return name == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult fake_cuDeviceGetCount(int *count)
{
    *count = (int)fake_number("devices", 1);
    return CUDA_SUCCESS;
}

CUresult fake_cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return ordinal < (int)fake_number("devices", 1) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult fake_cuDeviceGetName(char *name, int size, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)size, "Fake GPU");
    return CUDA_SUCCESS;
}

CUresult fake_cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
    (void)device;
    *value = which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT             ? (int)fake_number("sms", 2)
             : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR       ? 9
             : which == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE                  ? 65536
             : which == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR ? 2048
             : which == CU_DEVICE_ATTRIBUTE_CLOCK_RATE                     ? 1980000
             : which == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE              ? 3201000
             : which == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH        ? 6144
                                                                           : 0;
    return CUDA_SUCCESS;
}

CUresult fake_cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    (void)device;
    const char *bus = fake_value("bus");
    snprintf(id, (size_t)size, "%s", bus == NULL ? "0000:01:00.0" : bus);
    return CUDA_SUCCESS;
}

/* ---- kernels ---- */

CUresult fake_cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value)
{
    (void)function;
    (void)which;
    return value > 227 * 1024 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Kernels of ours in C read a map back: where the values are, and what was asked. */
CUresult fake_cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                     const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
                                     const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill)
{
    (void)promotion;
    if (type != CU_TENSOR_MAP_DATA_TYPE_UINT16 || rank != 2 || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
        swizzle != CU_TENSOR_MAP_SWIZZLE_128B || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ||
        (uintptr_t)address % 16 != 0 || strides[0] % 16 != 0 || box[0] > 64 || box[1] == 0 || box[1] > 256 ||
        steps[0] != 1 || steps[1] != 1)
        return CUDA_ERROR_INVALID_VALUE;
    *map = (CUtensorMap){{(cuuint64_t)(uintptr_t)address, sizes[0], sizes[1], strides[0], box[0], box[1]}};
    return CUDA_SUCCESS;
}

CUresult fake_cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function)
{
    (void)function;
    *value = which == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 32
             : which == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? 1024
             : which == CU_FUNC_ATTRIBUTE_PTX_VERSION       ? (int)fake_number("ptx", 90)
                                                            : 0;
    return CUDA_SUCCESS;
}

CUresult fake_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared)
{
    (void)function;
    *blocks = shared > 227 * 1024 ? 0 : 2048 / threads > 32 ? 32 : 2048 / threads;
    return CUDA_SUCCESS;
}

/* ---- copies from the host ---- */

/* The end of the last copy from the host: it arrives when the default stream is waited for, or copies again. */
static struct {
    char *to;
    size_t bytes;
    unsigned char data[64];
} late;

void fake_let_arrive(void)
{
    if (late.bytes > 0 && fake_cuda_owns((uint64_t)(uintptr_t)late.to, late.bytes))
        memcpy(late.to, late.data, late.bytes);
    late.bytes = 0;
}

void fake_copy_late(void *to, const void *from, size_t bytes)
{
    late.bytes = bytes < sizeof late.data ? bytes : sizeof late.data;
    late.to = (char *)to + (bytes - late.bytes);
    memcpy(late.data, (const char *)from + (bytes - late.bytes), late.bytes);
    memcpy(to, from, bytes - late.bytes);
}

CUresult fake_cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    CUresult may = fake_may_copy(to, bytes);
    if (may == CUDA_SUCCESS)
        fake_copy_late((void *)(uintptr_t)to, from, bytes);
    return may;
}

CUresult fake_cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    CUresult may = fake_may_copy(from, bytes);
    if (may == CUDA_SUCCESS)
        memcpy(to, (const void *)(uintptr_t)from, bytes);
    return may;
}
