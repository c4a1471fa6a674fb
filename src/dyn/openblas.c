/* OpenBLAS, opened at run time: which build may be used, with which core type, and its functions. */
#include "dyn/openblas.h"

#include "dyn/symbol.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define FILE_NAME "libopenblas.so.0"
#define REMEDY "apt install libopenblas0-pthread"

enum { PARALLEL_PTHREADS = 1 }; /* of openblas_get_parallel */

#if defined(__x86_64__)
/* AMD's family 25 (Zen 3 and Zen 4). */
static bool is_amd_family_25(void)
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__builtin_cpu_is("amd") || __get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0)
        return false;
    return (eax >> 8 & 15) + (eax >> 20 & 255) == 25;
}
#endif

const char *ifm_openblas_best_core(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return is_amd_family_25() ? "Haswell" : "SkylakeX";
#endif
    return NULL;
}

/* An environment variable with a temporary value. */
struct variable {
    const char *name;
    char *before; /* NULL = it was not set */
};

static struct variable set_variable(const char *name, const char *value)
{
    const char *before = getenv(name);
    struct variable variable = {name, before != NULL ? strdup(before) : NULL};
    if (value != NULL)
        setenv(name, value, 1);
    return variable;
}

static void put_back(struct variable variable)
{
    if (variable.before != NULL)
        setenv(variable.name, variable.before, 1);
    else
        unsetenv(variable.name);
    free(variable.before);
}

/* Its constructors read the environment: how many threads it starts, and which kernels it takes. */
static void *open_library(const char *file, char asked[static 32])
{
    const char *core = getenv("OPENBLAS_CORETYPE");
    const bool chosen = core != NULL && core[0] != '\0'; /* by the user */
    core = chosen ? core : ifm_openblas_best_core();
    snprintf(asked, 32, "%s", core != NULL ? core : "");
    struct variable type = set_variable("OPENBLAS_CORETYPE", core);
    struct variable threads = set_variable("OPENBLAS_NUM_THREADS", "1");
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    put_back(threads);
    put_back(type);
    return library;
}

/* What is wrong with the build, NULL = nothing. */
static const char *fault(const char *config, int parallel)
{
    if (strncmp(config, "OpenBLAS ", strlen("OpenBLAS ")) != 0)
        return "does not report its version";
    if (strstr(config, "USE64BITINT") != NULL)
        return "takes 64-bit integers";
    if (parallel != PARALLEL_PTHREADS)
        return "is not the pthreads build, the only one that workers may call at the same time";
    return NULL;
}

static bool take(void *library, struct ifm_openblas *out, struct ifm_openblas_room *room)
{
    char *(*config)(void), *(*core)(void);
    int (*parallel)(void);
    void (*set_threads)(int);
    if (!ifm_symbol_find(library, "openblas_get_config", &config) ||
        !ifm_symbol_find(library, "openblas_get_corename", &core) ||
        !ifm_symbol_find(library, "openblas_get_parallel", &parallel) ||
        !ifm_symbol_find(library, "openblas_set_num_threads", &set_threads) ||
        !ifm_symbol_find(library, "cblas_sgemm", &out->sgemm) ||
        !ifm_symbol_find(library, "cblas_sgemv", &out->sgemv)) {
        snprintf(room->why_not, sizeof room->why_not, "%s is not OpenBLAS (%s)", FILE_NAME, REMEDY);
        return false;
    }
    ifm_symbol_find(library, "cblas_sbgemm", &out->sbgemm);
    snprintf(room->config, sizeof room->config, "%s", config());
    const char *wrong = fault(room->config, parallel());
    if (wrong != NULL) {
        snprintf(room->why_not, sizeof room->why_not, "the installed OpenBLAS %s (%s)", wrong, REMEDY);
        return false;
    }
    set_threads(1);
    snprintf(room->version, sizeof room->version, "%.*s", (int)strcspn(room->config + strlen("OpenBLAS "), " "),
             room->config + strlen("OpenBLAS "));
    snprintf(room->core, sizeof room->core, "%s", core());
    snprintf(room->name, sizeof room->name, "OpenBLAS %s %s", room->version, room->core);
    return true;
}

bool ifm_openblas_open(const char *file, struct ifm_openblas *out, struct ifm_openblas_room *room)
{
    *out = (struct ifm_openblas){0};
    *room = (struct ifm_openblas_room){0};
    void *library = open_library(file, room->asked);
    if (library == NULL) {
        const char *text = dlerror(), *slash = text != NULL ? strrchr(text, '/') : NULL;
        /* Without the folder, because the message is published. */
        snprintf(room->why_not, sizeof room->why_not, "OpenBLAS cannot be opened: %.150s (%s)",
                 slash != NULL  ? slash + 1
                 : text != NULL ? text
                                : FILE_NAME,
                 REMEDY);
        return false;
    }
    out->version = room->version;
    out->core = room->core;
    out->asked = room->asked;
    out->config = room->config;
    out->name = room->name;
    if (take(library, out, room))
        return true;
    dlclose(library);
    return false;
}

const struct ifm_openblas *ifm_openblas_load(const char **why_not)
{
    static struct ifm_openblas library;
    static struct ifm_openblas_room room;
    static bool tried, usable;
    if (!tried)
        usable = ifm_openblas_open(FILE_NAME, &library, &room);
    tried = true;
    *why_not = usable ? NULL : room.why_not;
    return usable ? &library : NULL;
}

enum { BUFFER_BYTES = 32 << 22 }; /* BUFFER_SIZE of OpenBLAS's common_x86_64.h, the largest of all processors */

enum ifm_status ifm_openblas_check_memory(unsigned threads, struct ifm_error *error)
{
    const size_t bytes = (size_t)BUFFER_BYTES * threads;
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return ifm_fail(error, IFM_USAGE, "openblas", "raise the limit (ulimit -v), or leave openblas out",
                        "the system refuses %zu B for the buffers of OpenBLAS", bytes);
    munmap(room, bytes);
    return IFM_OK;
}
