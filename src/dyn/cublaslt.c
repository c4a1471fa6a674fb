/* cuBLASLt, opened at run time. */
#include "dyn/cublaslt.h"

#include "dyn/toolkit.h"

#include <dlfcn.h>
#include <stdio.h>

static bool identify(void *functions)
{
    struct ifm_cublaslt *out = functions;
    const size_t version = out->p_cublasLtGetVersion();
    snprintf(out->name, sizeof out->name, "cuBLASLt %zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
    return true;
}

#define SYMBOL(name) IFM_TOOLKIT_SYMBOL(struct ifm_cublaslt, name)
#define SYMBOL_OF(name, parameters) SYMBOL(name)
static const struct ifm_toolkit_library library = {
    .what = "library cuBLASLt",
    .file = "libcublasLt.so",
    .variable = "IFM_CUBLASLT",
    .remedy = "pip install nvidia-cublas (PyTorch brings it), install the CUDA toolkit, or let IFM_CUBLASLT name "
              "libcublasLt.so",
    .files = (const char *const[]){"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL},
    .packages = (const char *const[]){"nvidia/cu13/lib", "nvidia/cublas/lib", NULL},
    .symbols = (const struct ifm_toolkit_symbol[]){IFM_CUBLASLT_FUNCTIONS(SYMBOL_OF) SYMBOL(cublasLtGetStatusString)
                                                       SYMBOL(cublasLtGetVersion){NULL, 0}},
    .identify = identify,
    .mode = RTLD_LAZY | RTLD_LOCAL,
};

const struct ifm_cublaslt *ifm_cublaslt_load(struct ifm_cuda_absence *absence)
{
    static struct ifm_cublaslt cublaslt;
    static struct ifm_toolkit_state state;
    if (!ifm_toolkit_load(&library, &cublaslt, &state, absence))
        return NULL;
    cublaslt.file = state.file;
    return &cublaslt;
}
