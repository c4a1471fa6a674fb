/* Libraries of the CUDA toolkit: where they lie (the loader's path, a toolkit, and the Python packages that PyTorch
 * brings), opened at run time.
 *
 * Owns the search and the handle of what it opens, which stays open as long as the process. What a library is called,
 * and what it must have, its own file says in a table. Thread rule: the driving thread. */
#ifndef IFM_DYN_TOOLKIT_H
#define IFM_DYN_TOOLKIT_H

#include "dyn/cuda.h"
#include <stdbool.h>
#include <stddef.h>

/* A function that the library must have, and its place in the struct of functions. */
struct ifm_toolkit_symbol {
    const char *name;
    size_t offset;
};
/* A row for a struct whose members are called p_NAME. */
#define IFM_TOOLKIT_SYMBOL(type, name) {#name, offsetof(type, p_##name)},

struct ifm_toolkit_library {
    const char *what;                         /* "library cuBLASLt" */
    const char *file;                         /* what it is called when it is not found: "libcublasLt.so" */
    const char *variable;                     /* IFM_CUBLASLT: a file or a folder, and nowhere else when it is set */
    const char *remedy;                       /* where there is none */
    const char *const *files;                 /* "libcublasLt.so.13", newest first, NULL-terminated */
    const char *const *packages;              /* its folders below one of Python's packages, NULL-terminated */
    const struct ifm_toolkit_symbol *symbols; /* up to one without a name */
    /* Reads the version through the functions; false: the library does not say it. */
    bool (*identify)(void *functions);
    int mode; /* of dlopen */
};
enum { IFM_TOOLKIT_FILE = 512 };
/* The result, which is kept: a static of the library's own file, zero at first. */
struct ifm_toolkit_state {
    bool tried, found;
    char file[IFM_TOOLKIT_FILE]; /* as it was opened */
    char reason[640];
};

/* Fills the struct of functions at the first call. Without the variable: the first that the loader has, else under
 * CUDA_HOME, CUDA_PATH and /usr/local/cuda, then in the packages of Python environments: VIRTUAL_ENV, conda's, that of
 * the python3 on the path, the user's, the system's. False, and `*absence` says why, where there is none. */
bool ifm_toolkit_load(const struct ifm_toolkit_library *library, void *functions, struct ifm_toolkit_state *state,
                      struct ifm_cuda_absence *absence);

#endif
