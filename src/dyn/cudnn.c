/* cuDNN, opened at run time. */
#include "dyn/cudnn.h"

#include "dyn/cublaslt.h"
#include "dyn/nvrtc.h"
#include "dyn/toolkit.h"

#include <dlfcn.h>
#include <stdio.h>

static bool identify(void *functions)
{
    struct ifm_cudnn *out = functions;
    const size_t version = out->p_cudnnGetVersion();
    snprintf(out->name, sizeof out->name, "cuDNN %zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
    return true;
}

#define SYMBOL(name) IFM_TOOLKIT_SYMBOL(struct ifm_cudnn, name)
#define SYMBOL_OF(name, parameters) SYMBOL(name)
static const struct ifm_toolkit_library library = {
    .what = "library cuDNN",
    .file = "libcudnn.so.9",
    .variable = "IFM_CUDNN",
    .remedy = "pip install nvidia-cudnn-cu13 (PyTorch brings it), install cuDNN 9, or let IFM_CUDNN name libcudnn.so.9",
    .files = (const char *const[]){"libcudnn.so.9", NULL},
    .packages = (const char *const[]){"nvidia/cudnn/lib", NULL},
    .symbols = (const struct ifm_toolkit_symbol[]){IFM_CUDNN_FUNCTIONS(SYMBOL_OF) SYMBOL(cudnnGetErrorString) SYMBOL(
        cudnnGetLastErrorString) SYMBOL(cudnnGetVersion){NULL, 0}},
    .identify = identify,
    .mode = RTLD_LAZY | RTLD_LOCAL,
};

/* cuDNN asks the loader for them by name and finds those that are open already. One that is absent is cuDNN's to miss.
 */
static void open_helpers(void)
{
    struct ifm_cuda_absence absence;
    const struct ifm_cublaslt *blas = ifm_cublaslt_load(&absence);
    const struct ifm_nvrtc *nvrtc = ifm_nvrtc_load(&absence);
    if (blas != NULL)
        (void)dlopen(blas->file, RTLD_LAZY | RTLD_GLOBAL);
    if (nvrtc != NULL)
        (void)dlopen(nvrtc->file, RTLD_LAZY | RTLD_GLOBAL);
}

const struct ifm_cudnn *ifm_cudnn_load(struct ifm_cuda_absence *absence)
{
    static struct ifm_cudnn cudnn;
    static struct ifm_toolkit_state state;
    if (!state.tried)
        open_helpers();
    if (!ifm_toolkit_load(&library, &cudnn, &state, absence))
        return NULL;
    cudnn.file = state.file;
    return &cudnn;
}
