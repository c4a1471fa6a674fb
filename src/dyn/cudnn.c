/* cuDNN, opened at run time. */
#include "dyn/cudnn.h"

#include "dyn/cublaslt.h"
#include "dyn/nvrtc.h"
#include "dyn/toolkit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEDY "pip install nvidia-cudnn-cu13 (PyTorch brings it), install cuDNN 9, or let IFM_CUDNN name libcudnn.so.9"

static const char *const files[] = {"libcudnn.so.9", NULL};
static const char *const packages[] = {"nvidia/cudnn/lib", NULL};

/* What was found; `missing` names what the last library that was tried lacks. */
struct search {
    struct ifm_cudnn *out;
    const char *missing;
};

/* dlsym returns an object pointer, which ISO C does not convert to a function pointer. */
static bool find(void *library, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, size);
    return symbol != NULL;
}

static bool take(const char *file, void *arg)
{
    struct search *search = arg;
    struct ifm_cudnn *out = search->out;
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        return false;
    search->missing = NULL;
#define IFM_CUDNN_FIND(name)                                                                                           \
    if (!find(library, #name, &out->p_##name, sizeof out->p_##name))                                                   \
        search->missing = #name;
#define IFM_CUDNN_FIND_EACH(name, parameters) IFM_CUDNN_FIND(name)
    IFM_CUDNN_FUNCTIONS(IFM_CUDNN_FIND_EACH)
    IFM_CUDNN_FIND(cudnnGetErrorString)
    IFM_CUDNN_FIND(cudnnGetLastErrorString)
    IFM_CUDNN_FIND(cudnnGetVersion)
#undef IFM_CUDNN_FIND_EACH
#undef IFM_CUDNN_FIND
    if (search->missing != NULL) {
        dlclose(library);
        return false;
    }
    const size_t version = out->p_cudnnGetVersion();
    snprintf(out->name, sizeof out->name, "cuDNN %zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
    snprintf(out->file, sizeof out->file, "%s", file);
    return true;
}

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
    static const struct ifm_toolkit_library library = {files, packages};
    static struct ifm_cudnn cudnn;
    static struct ifm_cuda_absence kept = {"", ""};
    static char why[640];
    static bool tried, found;
    if (!tried) {
        struct search search = {&cudnn, NULL};
        const char *asked = getenv("IFM_CUDNN");
        const bool named = asked != NULL && asked[0] != '\0';
        tried = true;
        open_helpers();
        found = named ? ifm_toolkit_find_at(&library, asked, take, &search) : ifm_toolkit_find(&library, take, &search);
        if (!found && search.missing != NULL)
            snprintf(why, sizeof why, "the library cuDNN is too old: it has no %s", search.missing);
        else if (!found && named)
            snprintf(why, sizeof why, "there is no library cuDNN at IFM_CUDNN=%s", asked);
        else if (!found)
            snprintf(why, sizeof why, "the library cuDNN (libcudnn.so.9) is not found");
        if (!found)
            kept = (struct ifm_cuda_absence){why, REMEDY};
    }
    *absence = kept;
    return found ? &cudnn : NULL;
}
