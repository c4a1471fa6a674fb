/* NVRTC, opened at run time. */
#include "dyn/nvrtc.h"

#include "dyn/toolkit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static bool identify(void *functions)
{
    struct ifm_nvrtc *out = functions;
    return out->p_nvrtcVersion(&out->major, &out->minor) == 0;
}

#define SYMBOL(name) IFM_TOOLKIT_SYMBOL(struct ifm_nvrtc, name)
#define SYMBOL_OF(name, parameters) SYMBOL(name)
static const struct ifm_toolkit_library library = {
    .what = "run-time compiler NVRTC",
    .file = "libnvrtc.so",
    .variable = "IFM_NVRTC",
    .remedy = "pip install nvidia-cuda-nvrtc (PyTorch brings it), install the CUDA toolkit, or let IFM_NVRTC name "
              "libnvrtc.so",
    .files = (const char *const[]){"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL},
    .packages = (const char *const[]){"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", NULL},
    .symbols = (const struct ifm_toolkit_symbol[]){IFM_NVRTC_FUNCTIONS(SYMBOL_OF) SYMBOL(nvrtcGetErrorString){NULL, 0}},
    .identify = identify,
    .mode = RTLD_NOW | RTLD_LOCAL,
};

const struct ifm_nvrtc *ifm_nvrtc_load(struct ifm_cuda_absence *absence)
{
    static struct ifm_nvrtc nvrtc;
    static struct ifm_toolkit_state state;
    if (!ifm_toolkit_load(&library, &nvrtc, &state, absence))
        return NULL;
    nvrtc.file = state.file;
    return &nvrtc;
}

/* ---- compiling ---- */

bool ifm_nvrtc_arch(const struct ifm_nvrtc *nvrtc, unsigned major, unsigned minor, char out[static IFM_NVRTC_ARCH])
{
    int archs[128], n = 0, wanted = (int)(10 * major + minor), best = 0;
    if (nvrtc->p_nvrtcGetNumSupportedArchs(&n) != 0 || n < 1 || n > (int)(sizeof archs / sizeof *archs) ||
        nvrtc->p_nvrtcGetSupportedArchs(archs) != 0)
        return false;
    for (int i = 0; i < n; i++)
        best = archs[i] <= wanted && archs[i] > best ? archs[i] : best;
    if (best == wanted) /* of 9.0 with the instructions that no other capability has */
        snprintf(out, IFM_NVRTC_ARCH, "sm_%d%s", wanted, wanted == 90 ? "a" : "");
    else
        snprintf(out, IFM_NVRTC_ARCH, "compute_%d", best);
    return best > 0;
}

static enum ifm_status fail(const struct ifm_nvrtc *nvrtc, const char *name, const char *what, int result,
                            struct ifm_error *error)
{
    const char *words = nvrtc->p_nvrtcGetErrorString(result);
    return ifm_fail(error, IFM_INTERNAL, name, "another NVRTC: set IFM_NVRTC", "NVRTC %d.%d %s: %s", nvrtc->major,
                    nvrtc->minor, what, words != NULL ? words : "no words");
}

/* The compiler's first words; the whole log has one screen and more. */
static enum ifm_status fail_of_log(const struct ifm_nvrtc *nvrtc, ifm_nvrtc_program program, const char *name,
                                   int result, struct ifm_error *error)
{
    size_t size = 0;
    char *log = NULL;
    if (nvrtc->p_nvrtcGetProgramLogSize(program, &size) == 0 && size > 1)
        log = calloc(1, size + 1);
    if (log == NULL || nvrtc->p_nvrtcGetProgramLog(program, log) != 0) {
        free(log);
        return fail(nvrtc, name, "does not compile a kernel", result, error);
    }
    log[strcspn(log, "\n")] = '\0';
    enum ifm_status status = ifm_fail(error, IFM_INVALID, name, "another NVRTC: set IFM_NVRTC",
                                      "NVRTC %d.%d does not compile it: %.300s", nvrtc->major, nvrtc->minor, log);
    free(log);
    return status;
}

static enum ifm_status take_code(const struct ifm_nvrtc *nvrtc, ifm_nvrtc_program program, const char *name,
                                 bool is_ptx, char **out, size_t *size, struct ifm_error *error)
{
    int result = is_ptx ? nvrtc->p_nvrtcGetPTXSize(program, size) : nvrtc->p_nvrtcGetCUBINSize(program, size);
    if (result != 0 || *size == 0)
        return fail(nvrtc, name, "gives no code", result, error);
    *out = calloc(1, *size + 1);
    if (*out == NULL)
        return ifm_fail(error, IFM_INTERNAL, name, NULL, "out of memory");
    result = is_ptx ? nvrtc->p_nvrtcGetPTX(program, *out) : nvrtc->p_nvrtcGetCUBIN(program, *out);
    if (result == 0)
        return IFM_OK;
    free(*out);
    *out = NULL;
    return fail(nvrtc, name, "gives no code", result, error);
}

enum ifm_status ifm_nvrtc_compile(const struct ifm_nvrtc *nvrtc, const struct ifm_nvrtc_source *source,
                                  const char *arch, char **out, size_t *size, struct ifm_error *error)
{
    char architecture[48];
    const char *options[] = {"--std=c++17", architecture};
    ifm_nvrtc_program program = NULL;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=%s", arch);
    int result = nvrtc->p_nvrtcCreateProgram(&program, source->text, source->name, (int)source->n_headers,
                                             source->header_texts, source->header_names);
    if (result != 0)
        return fail(nvrtc, source->name, "takes no program", result, error);
    result = nvrtc->p_nvrtcCompileProgram(program, 2, options);
    bool is_ptx = strncmp(arch, "compute_", 8) == 0;
    enum ifm_status status = result != 0 ? fail_of_log(nvrtc, program, source->name, result, error)
                                         : take_code(nvrtc, program, source->name, is_ptx, out, size, error);
    (void)nvrtc->p_nvrtcDestroyProgram(&program);
    return status;
}
