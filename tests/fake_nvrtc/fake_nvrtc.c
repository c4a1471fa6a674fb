/* An NVRTC for tests, built as libnvrtc.so.13 and opened as one: it takes what it is given, and its code is what the
 * fake driver takes (tests/fake_cuda). Its version is one that no compiler has, so that no cache of a user holds its
 * code.
 *
 * The script is the environment variable FAKE_NVRTC, "key=value" separated by ';':
 *   fails=WORDS    sources do not compile; WORDS are the first line of the log
 *   newest=80      the newest compute capability that it knows (default 90)
 *   oldest=80      the oldest (default 75)
 *   log=FILE       gets one line for each source that is compiled: its name, architecture and number of headers */
#include "dyn/nvrtc.h"
#include "fake_script.h"

enum { COMPILATION = 6, CODE = 128 };

struct _nvrtcProgram {
    char name[64], log[256];
    int n_headers;
    bool compiled;
};

#define DECLARE(name, parameters) FAKE_EXPORT int name parameters;
IFM_NVRTC_FUNCTIONS(DECLARE)
FAKE_EXPORT const char *nvrtcGetErrorString(int result);

static const char *value_of(const char *key)
{
    return fake_script_value(getenv("FAKE_NVRTC"), key);
}

static int number_of(const char *key, int fallback)
{
    const char *value = value_of(key);
    return value == NULL ? fallback : atoi(value);
}

int nvrtcVersion(int *major, int *minor)
{
    *major = 99;
    *minor = 0;
    return 0;
}

int nvrtcGetNumSupportedArchs(int *n)
{
    *n = (number_of("newest", 90) - number_of("oldest", 75)) / 5 + 1;
    return 0;
}

int nvrtcGetSupportedArchs(int *archs)
{
    int n = 0, oldest = number_of("oldest", 75);
    (void)nvrtcGetNumSupportedArchs(&n);
    for (int i = 0; i < n; i++)
        archs[i] = oldest + 5 * i;
    return 0;
}

/* Whether a source has a kernel, itself or in a header that it includes by the name it was given under. */
static bool has_kernel(const char *source, int n_headers, const char *const *headers, const char *const *names)
{
    if (strstr(source, "__global__") != NULL)
        return true;
    for (int i = 0; i < n_headers; i++) {
        char line[128];
        snprintf(line, sizeof line, "#include \"%s\"", names[i]);
        if (strstr(source, line) != NULL && strstr(headers[i], "__global__") != NULL)
            return true;
    }
    return false;
}

int nvrtcCreateProgram(ifm_nvrtc_program *out, const char *source, const char *name, int n_headers,
                       const char *const *headers, const char *const *names)
{
    if (n_headers < 1 || headers[0] == NULL || names[0] == NULL || !has_kernel(source, n_headers, headers, names))
        return 3;
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return 1;
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    (*out)->n_headers = n_headers;
    return 0;
}

int nvrtcDestroyProgram(ifm_nvrtc_program *program)
{
    free(*program);
    *program = NULL;
    return 0;
}

int nvrtcCompileProgram(ifm_nvrtc_program program, int n_options, const char *const *options)
{
    const char *fails = value_of("fails"), *log;
    if (fails != NULL) {
        snprintf(program->log, sizeof program->log, "%s\nand a second line", fails);
        return COMPILATION;
    }
    program->compiled = true;
    log = value_of("log");
    FILE *file = log == NULL ? NULL : fopen(log, "a");
    if (file != NULL) {
        fprintf(file, "%s %s %d\n", program->name, options[n_options - 1], program->n_headers);
        fclose(file);
    }
    return 0;
}

/* What the driver tells machine code by. */
int nvrtcGetCUBINSize(ifm_nvrtc_program program, size_t *size)
{
    *size = program->compiled ? CODE : 0;
    return 0;
}

int nvrtcGetCUBIN(ifm_nvrtc_program program, char *cubin)
{
    memset(cubin, 0, CODE);
    snprintf(cubin, CODE, "\177ELF of %s", program->name);
    return 0;
}

int nvrtcGetPTXSize(ifm_nvrtc_program program, size_t *size)
{
    return nvrtcGetCUBINSize(program, size);
}

int nvrtcGetPTX(ifm_nvrtc_program program, char *ptx)
{
    memset(ptx, 0, CODE);
    snprintf(ptx, CODE, "//\n.version 8.0 of %s", program->name);
    return 0;
}

int nvrtcGetProgramLogSize(ifm_nvrtc_program program, size_t *size)
{
    *size = strlen(program->log) + 1;
    return 0;
}

int nvrtcGetProgramLog(ifm_nvrtc_program program, char *log)
{
    memcpy(log, program->log, strlen(program->log) + 1);
    return 0;
}

const char *nvrtcGetErrorString(int result)
{
    return result == COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}
