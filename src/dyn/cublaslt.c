/* cuBLASLt, opened at run time. */
#include "dyn/cublaslt.h"

#include "dyn/toolkit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEDY                                                                                                         \
    "pip install nvidia-cublas (PyTorch brings it), install the CUDA toolkit, or let IFM_CUBLASLT name libcublasLt.so"

static const char *const files[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL};
static const char *const packages[] = {"nvidia/cu13/lib", "nvidia/cublas/lib", NULL};

/* What was found; `missing` names what the last library that was tried lacks. */
struct cublaslt_search {
    struct ifm_cublaslt *out;
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
    struct cublaslt_search *search = arg;
    struct ifm_cublaslt *out = search->out;
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        return false;
    search->missing = NULL;
#define IFM_CUBLASLT_FIND(name, parameters)                                                                            \
    if (!find(library, #name, &out->p_##name, sizeof out->p_##name))                                                   \
        search->missing = #name;
    IFM_CUBLASLT_FUNCTIONS(IFM_CUBLASLT_FIND)
#undef IFM_CUBLASLT_FIND
    if (!find(library, "cublasLtGetStatusString", &out->p_cublasLtGetStatusString,
              sizeof out->p_cublasLtGetStatusString))
        search->missing = "cublasLtGetStatusString";
    if (!find(library, "cublasLtGetVersion", &out->p_cublasLtGetVersion, sizeof out->p_cublasLtGetVersion))
        search->missing = "cublasLtGetVersion";
    if (search->missing != NULL) {
        dlclose(library);
        return false;
    }
    const size_t version = out->p_cublasLtGetVersion();
    snprintf(out->name, sizeof out->name, "cuBLASLt %zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
    snprintf(out->file, sizeof out->file, "%s", file);
    return true;
}

const struct ifm_cublaslt *ifm_cublaslt_load(struct ifm_cuda_absence *absence)
{
    static const struct ifm_toolkit_library library = {files, packages};
    static struct ifm_cublaslt cublaslt;
    static struct ifm_cuda_absence kept = {"", ""};
    static char why[640];
    static bool tried, found;
    if (!tried) {
        struct cublaslt_search search = {&cublaslt, NULL};
        const char *asked = getenv("IFM_CUBLASLT");
        const bool named = asked != NULL && asked[0] != '\0';
        tried = true;
        found = named ? ifm_toolkit_find_at(&library, asked, take, &search) : ifm_toolkit_find(&library, take, &search);
        if (!found && search.missing != NULL)
            snprintf(why, sizeof why, "the library cuBLASLt is too old: it has no %s", search.missing);
        else if (!found && named)
            snprintf(why, sizeof why, "there is no library cuBLASLt at IFM_CUBLASLT=%s", asked);
        else if (!found)
            snprintf(why, sizeof why, "the library cuBLASLt (libcublasLt.so) is not found");
        if (!found)
            kept = (struct ifm_cuda_absence){why, REMEDY};
    }
    *absence = kept;
    return found ? &cublaslt : NULL;
}
