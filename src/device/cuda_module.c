/* Code and kernels on the device cuda: functions of loaded modules, and modules that are no part of this build. */
#include "device/cuda_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum ifm_status ifm_cuda_function_of(struct ifm_cuda_device *device, CUmodule module, const char *compiler,
                                     const char *name, struct ifm_cuda_function **out, struct ifm_error *error)
{
    CUfunction function;
    CUresult result = device->cuda->p_cuModuleGetFunction(&function, module, name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return ifm_fail(error, IFM_MISSING, name, NULL, "there is no kernel %s for compute capability %u.%u", name,
                        device->gpu.major, device->gpu.minor);
    if (result != CUDA_SUCCESS)
        return ifm_cuda_fail(device->cuda, result, name, "the kernel cannot be had", error);
    for (*out = device->functions; *out != NULL; *out = (*out)->next)
        if ((*out)->handle == function)
            return IFM_OK;
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return ifm_fail(error, IFM_INTERNAL, name, NULL, "out of memory");
    **out = (struct ifm_cuda_function){.handle = function, .compiler = compiler, .next = device->functions};
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    device->functions = *out;
    return IFM_OK;
}

enum ifm_status ifm_cuda_find_in(struct ifm_device *base, const struct ifm_cuda_module *module, const char *name,
                                 struct ifm_cuda_function **out, struct ifm_error *error)
{
    return ifm_cuda_function_of(ifm_cuda_of(base), module->handle, module->code.compiler, name, out, error);
}

/* A copy: the driver wants text with its zero, and nobody knows how long the caller keeps its own. */
static enum ifm_status take_code(struct ifm_cuda_device *device, const struct ifm_cuda_foreign *code,
                                 struct ifm_cuda_code *out, struct ifm_error *error)
{
    char *copy = calloc(1, code->bytes + 1);
    if (copy == NULL)
        return ifm_fail(error, IFM_INTERNAL, code->name, NULL, "out of memory");
    memcpy(copy, code->data, code->bytes);
    if (code->is_source) {
        enum ifm_status status = ifm_cuda_code_compile(device, code->name, copy, out, error);
        free(copy);
        return status;
    }
    *out = (struct ifm_cuda_code){.data = copy, .size = code->bytes, .own = copy};
    snprintf(out->compiler, sizeof out->compiler, "as given: %.32s", code->name);
    return IFM_OK;
}

enum ifm_status ifm_cuda_load_module(struct ifm_device *base, const struct ifm_cuda_foreign *code,
                                     struct ifm_cuda_module **out, struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    const struct ifm_sha256 hash = ifm_sha256_bytes(code->data, code->bytes);
    for (*out = device->foreign; *out != NULL; *out = (*out)->next)
        if (strcmp((*out)->hash.hex, hash.hex) == 0)
            return IFM_OK;
    struct ifm_cuda_module *module = calloc(1, sizeof *module);
    if (module == NULL)
        return ifm_fail(error, IFM_INTERNAL, code->name, NULL, "out of memory");
    module->hash = hash;
    enum ifm_status status = take_code(device, code, &module->code, error);
    if (status == IFM_OK) {
        CUresult result = device->cuda->p_cuModuleLoadData(&module->handle, module->code.data);
        if (result != CUDA_SUCCESS)
            status = ifm_cuda_fail(device->cuda, result, code->name, "this GPU does not load the device code", error);
    }
    if (status != IFM_OK) {
        free(module->code.own);
        free(module);
        return status;
    }
    module->next = device->foreign;
    device->foreign = *out = module;
    return IFM_OK;
}

void ifm_cuda_modules_close(struct ifm_cuda_device *device)
{
    for (struct ifm_cuda_module *module = device->foreign, *next; module != NULL; module = next) {
        next = module->next;
        (void)device->cuda->p_cuModuleUnload(module->handle);
        free(module->code.own);
        free(module);
    }
    device->foreign = NULL;
}
