/* NVTX's protocol with a tool, as far as pushed ranges need it. Names and numbers are those of nvtxTypes.h. */
#include "instrument/nvtx.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    TABLE_CALLBACKS = 1, /* NVTX_ETID_CALLBACKS */
    TABLE_VERSION = 3,   /* NVTX_ETID_VERSIONINFO */
    MODULE_CORE = 1,     /* NVTX_CB_MODULE_CORE */
    RANGE_PUSH = 9,      /* NVTX_CBID_CORE_RangePushA */
    RANGE_POP = 11,      /* NVTX_CBID_CORE_RangePop */
    FUNCTIONS = 16,      /* the most of a module */
    MODULES = 7,
    VERSION = 3
};

/* NVTX_CBID_CORE_SIZE, and those of CUDA, OPENCL, CUDART, CORE2 and SYNC: NVIDIA's header has them all, and a tool may
 * refuse a program that has fewer. */
static const unsigned sizes[MODULES] = {0, FUNCTIONS, 9, 15, 7, 16, 7};

static void (*tapped_push)(const char *name);
static void (*tapped_pop)(void);

typedef void nvtx_function(void);
typedef const void *nvtx_get_table_fn(uint32_t table);

/* The tool writes the functions that it has, through `places`; only those of the first module are called. */
static nvtx_function *functions[MODULES][FUNCTIONS];
static nvtx_function **places[MODULES][FUNCTIONS + 1];

static int give_functions(unsigned module, nvtx_function ****table, unsigned *size)
{
    if (module == 0 || module >= MODULES)
        return 0;
    for (size_t i = 0; i < sizes[module]; i++)
        places[module][i] = &functions[module][i];
    if (table != NULL)
        *table = places[module];
    if (size != NULL)
        *size = sizes[module];
    return 1;
}

static void take_version(uint32_t version)
{
    (void)version;
}

static const void *get_table(uint32_t table)
{
    static const struct {
        size_t size;
        int (*functions)(unsigned module, nvtx_function ****table, unsigned *size);
    } callbacks = {sizeof callbacks, give_functions};
    static const struct {
        size_t size;
        uint32_t version, reserved;
        void (*take)(uint32_t version);
    } versions = {sizeof versions, VERSION, 0, take_version};
    return table == TABLE_CALLBACKS ? (const void *)&callbacks : table == TABLE_VERSION ? &versions : NULL;
}

static void attach(void)
{
    static bool tried;
    const char *file = getenv("NVTX_INJECTION64_PATH");
    int (*initialize)(nvtx_get_table_fn *);
    void *library = tried || file == NULL || file[0] == '\0' ? NULL : dlopen(file, RTLD_LAZY);
    tried = true;
    void *symbol = library == NULL ? NULL : dlsym(library, "InitializeInjectionNvtx2");
    memcpy(&initialize, &symbol, sizeof initialize);
    if (symbol != NULL && initialize(get_table) == 0)
        memset(functions, 0, sizeof functions);
}

void ifm_nvtx_tap(void (*push)(const char *name), void (*pop)(void))
{
    tapped_push = push;
    tapped_pop = pop;
}

void ifm_nvtx_push(const char *name)
{
    int (*push)(const char *);
    if (tapped_push != NULL) {
        tapped_push(name);
        return;
    }
    attach();
    memcpy(&push, &functions[MODULE_CORE][RANGE_PUSH], sizeof push);
    if (push != NULL)
        (void)push(name);
}

void ifm_nvtx_pop(void)
{
    int (*pop)(void);
    if (tapped_pop != NULL) {
        tapped_pop();
        return;
    }
    memcpy(&pop, &functions[MODULE_CORE][RANGE_POP], sizeof pop);
    if (pop != NULL)
        (void)pop();
}
