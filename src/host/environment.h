/* The software around the lab: container, Python environment and its frameworks, CUDA libraries, licences of models.
 *
 * Read from files, without starting a program or loading a library. Gives kinds, versions and hashes only: no path,
 * container id or user name. `root` as in probe.h; the environment variables of a recorded machine are those of its
 * /proc/self/environ. Thread rule: no shared state. */
#ifndef IFM_HOST_ENVIRONMENT_H
#define IFM_HOST_ENVIRONMENT_H

#include "base/json.h"
#include <limits.h>
#include <stdbool.h>

/* environment.c */
/* {"kind": "docker" | "podman" | "kubernetes" | "singularity" | "lxc" | "systemd-nspawn" | "none", "found_by",
 * "image_sha256"} (new reference). */
json_t *ifm_probe_container(const char *root);
/* {"kind": "conda" | "venv" | "system", "python": version, "frameworks": {name: version}} (new reference). Only
 * frameworks of a fixed list are looked for; missing ones are not listed. */
json_t *ifm_probe_python(const char *root);
/* The variable as the process has it; false when it is unset or empty. */
bool ifm_probe_variable(const char *root, const char *name, char out[static PATH_MAX]);
/* Text that is safe in JSON and on a terminal: at most `most` characters of printable ASCII without '/'. */
bool ifm_probe_is_plain(const char *text, size_t most);

/* libraries.c */
/* {"runtime", "cublas", "cudnn", "nccl": [{"soname", "version", "version_from", "found_in"}], "toolkit": version} (new
 * reference): the files that the loader would find, by LD_LIBRARY_PATH and then by its cache. */
json_t *ifm_probe_cuda_libraries(const char *root);

#endif
