/* Where the libraries of the CUDA toolkit lie: the loader's path, a toolkit, and the Python packages that PyTorch
 * brings.
 *
 * Pure search; what a file is found to be is the caller's. Thread rule: the driving thread. */
#ifndef IFM_DYN_TOOLKIT_H
#define IFM_DYN_TOOLKIT_H

#include <stdbool.h>

struct ifm_toolkit_library {
    const char *const *files;    /* "libnvrtc.so.13", newest first, NULL-terminated */
    const char *const *packages; /* folders of it below one of Python's packages, NULL-terminated */
};
/* Whether the library named `file` is taken. */
typedef bool ifm_toolkit_take_fn(const char *file, void *arg);

/* The first that is taken: by the loader, under CUDA_HOME, CUDA_PATH and /usr/local/cuda, then in the packages of
 * Python environments: VIRTUAL_ENV, conda's, that of the python3 on the path, the user's, the system's. */
bool ifm_toolkit_find(const struct ifm_toolkit_library *library, ifm_toolkit_take_fn *take, void *arg);
/* The file `path`, or one in the folder `path`. */
bool ifm_toolkit_find_at(const struct ifm_toolkit_library *library, const char *path, ifm_toolkit_take_fn *take,
                         void *arg);

#endif
