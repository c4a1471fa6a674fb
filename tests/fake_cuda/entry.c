/* The way into the fake driver: one exported function, which knows the others by name. */
#include "fake_cuda/internal.h"

#include <string.h>

FAKE_EXPORT ifm_cuda_get_proc_fn cuGetProcAddress_v2;
FAKE_EXPORT CUresult cuDriverGetVersion(int *version);

FAKE_EXPORT CUresult cuDriverGetVersion(int *version)
{
    return fake_cuDriverGetVersion(version);
}

FAKE_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                                         CUdriverProcAddressQueryResult *status)
{
    const char *lacks = fake_value("lacks");
    (void)version;
    (void)flags;
    *function = NULL;
    *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (lacks != NULL && strcmp(lacks, symbol) == 0)
        return CUDA_ERROR_NOT_FOUND;
#define FAKE_FIND(name, parameters)                                                                                    \
    if (strcmp(symbol, #name) == 0) {                                                                                  \
        CUresult(*address) parameters = fake_##name;                                                                   \
        memcpy(function, &address, sizeof address);                                                                    \
        *status = CU_GET_PROC_ADDRESS_SUCCESS;                                                                         \
        return CUDA_SUCCESS;                                                                                           \
    }
    IFM_CUDA_FUNCTIONS(FAKE_FIND)
#undef FAKE_FIND
    return CUDA_ERROR_NOT_FOUND;
}
