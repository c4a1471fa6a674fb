/* Container and Python environment. */
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "host/probe.h"
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ENVIRON = 1 << 20, MOST_WORD = 64, MOST_PACKAGES = 20000 };

bool ifm_probe_variable(const char *root, const char *name, char out[static PATH_MAX])
{
    const char *value = NULL;
    char path[PATH_MAX], *data = NULL;
    size_t size = 0, length = strlen(name);
    if (ifm_probe_live(root)) {
        value = getenv(name);
    } else if (ifm_probe_path(path, root, "/proc/self/environ") != NULL &&
               ifm_file_read(path, MOST_ENVIRON, &data, &size, NULL) == IFM_OK) {
        for (size_t at = 0; at < size && value == NULL; at += strlen(data + at) + 1)
            if (strncmp(data + at, name, length) == 0 && data[at + length] == '=')
                value = data + at + length + 1;
    }
    bool fits = value != NULL && value[0] != '\0' && strlen(value) < PATH_MAX;
    if (fits)
        memcpy(out, value, strlen(value) + 1);
    free(data);
    return fits;
}

bool ifm_probe_is_plain(const char *text, size_t most)
{
    size_t n = 0;
    for (; text[n] != '\0'; n++)
        if (n == most || text[n] <= ' ' || text[n] > '~' || text[n] == '/')
            return false;
    return n > 0;
}

/* ---- container ---- */

/* Signs of each kind of container: a file or a variable. The cgroup comes last: inside its own namespace it is "/" and
 * says nothing. */
static const char *container_kind(const char *root, const char **by)
{
    static const struct {
        const char *kind, *variable, *file, *cgroup;
    } signs[] = {
        {"kubernetes", "KUBERNETES_SERVICE_HOST", NULL, NULL},
        {"singularity", "APPTAINER_CONTAINER", NULL, NULL},
        {"singularity", "SINGULARITY_CONTAINER", NULL, NULL},
        {"singularity", NULL, "/.singularity.d", NULL},
        {"podman", NULL, "/run/.containerenv", NULL},
        {"docker", NULL, "/.dockerenv", NULL},
        {"kubernetes", NULL, NULL, "/kubepods"},
        {"docker", NULL, NULL, "/docker"},
        {"podman", NULL, NULL, "/libpod"},
        {"lxc", NULL, NULL, "/lxc"},
    };
    static const char *const names[] = {"docker", "podman", "lxc", "systemd-nspawn"};
    char value[PATH_MAX];
    char *cgroup = ifm_probe_text(root, "/proc/self/cgroup");
    const char *kind = NULL;
    for (size_t i = 0; i < sizeof signs / sizeof *signs && kind == NULL; i++) {
        bool is = (signs[i].variable != NULL && ifm_probe_variable(root, signs[i].variable, value)) ||
                  (signs[i].file != NULL && ifm_probe_exists(root, "%s", signs[i].file)) ||
                  (signs[i].cgroup != NULL && cgroup != NULL && strstr(cgroup, signs[i].cgroup) != NULL);
        kind = is ? signs[i].kind : NULL;
        *by = signs[i].variable != NULL ? signs[i].variable : signs[i].file != NULL ? signs[i].file : "cgroup";
    }
    free(cgroup);
    if (kind == NULL && ifm_probe_variable(root, "container", value)) {
        *by = "variable container";
        kind = "another kind";
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            kind = strcmp(value, names[i]) == 0 ? names[i] : kind;
    }
    return kind;
}

/* podman records it; a docker container cannot see its image. */
static json_t *image_hash(const char *root)
{
    char *text = ifm_probe_text(root, "/run/.containerenv");
    const char *id = text == NULL ? NULL : strstr(text, "imageid=\"");
    size_t n = id == NULL ? 0 : strcspn(id + 9, "\"\n");
    json_t *hash =
        n == 0 ? ifm_probe_absent("the container does not name its image", "record the image's digest with the run")
               : json_string(ifm_sha256_bytes(id + 9, n).hex);
    free(text);
    return hash;
}

json_t *ifm_probe_container(const char *root)
{
    const char *by = "", *kind = container_kind(root, &by);
    if (kind == NULL && !ifm_probe_exists(root, "/proc/self"))
        return ifm_probe_absent("/proc is not mounted: nothing says whether this is a container", NULL);
    if (kind == NULL)
        return json_pack("{s:s}", "kind", "none");
    return json_pack("{s:s, s:s, s:o}", "kind", kind, "found_by", by, "image_sha256", image_hash(root));
}

/* ---- Python ---- */

/* Packages that count as LLM frameworks. */
static const char *const frameworks[] = {
    "accelerate",
    "bitsandbytes",
    "ctranslate2",
    "datasets",
    "deepspeed",
    "exllamav2",
    "exllamav3",
    "flash-attn",
    "flashinfer-python",
    "jax",
    "jaxlib",
    "llama-cpp-python",
    "lmdeploy",
    "mlc-llm",
    "numpy",
    "nvidia-cublas",
    "nvidia-cublas-cu12",
    "nvidia-cuda-runtime",
    "nvidia-cuda-runtime-cu12",
    "nvidia-cudnn-cu12",
    "nvidia-cudnn-cu13",
    "nvidia-ml-py",
    "nvidia-nccl-cu12",
    "nvidia-nccl-cu13",
    "onnxruntime",
    "onnxruntime-gpu",
    "openvino",
    "safetensors",
    "sglang",
    "tensorflow",
    "tensorrt",
    "tensorrt-llm",
    "tokenizers",
    "torch",
    "transformers",
    "triton",
    "vllm",
    "xformers",
};

static int by_word(const void *word, const void *item)
{
    return strcmp(word, *(const char *const *)item);
}

/* "torch-2.9.0+cu128.dist-info": names are compared in the form of PEP 503, in which "_" and "." are "-". */
static void add_package(const char *entry, json_t *found)
{
    const char *end = strstr(entry, ".dist-info"), *dash = strchr(entry, '-');
    char name[MOST_WORD], version[MOST_WORD];
    if (end == NULL || end[10] != '\0' || dash == NULL || dash > end || (size_t)(dash - entry) >= sizeof name ||
        (size_t)(end - dash) > sizeof version || end - dash < 2)
        return;
    size_t n = 0;
    for (const char *at = entry; at < dash; at++) {
        bool separator = *at == '_' || *at == '.' || *at == '-';
        if (separator && n > 0 && name[n - 1] == '-')
            continue;
        name[n++] = separator ? '-' : (char)tolower((unsigned char)*at);
    }
    name[n] = '\0';
    ifm_probe_copy(dash + 1, (size_t)(end - dash - 1), version, sizeof version);
    if (bsearch(name, frameworks, sizeof frameworks / sizeof *frameworks, sizeof *frameworks, by_word) != NULL &&
        ifm_probe_is_plain(version, MOST_WORD - 1))
        json_object_set_new(found, name, json_string(version));
}

static void add_packages(const char *root, const char *folder, json_t *found)
{
    DIR *open = ifm_probe_folder(root, "%s", folder);
    struct dirent *entry = open == NULL ? NULL : readdir(open);
    for (int n = 0; entry != NULL && n < MOST_PACKAGES; n++, entry = readdir(open))
        add_package(entry->d_name, found);
    if (open != NULL)
        closedir(open);
}

/* Every lib/python3.N of `prefix`, in the order of the versions; `python` gets the newest's "3.N". */
static void search_prefix(const char *root, const char *prefix, const char *const *leaves, json_t *found,
                          char python[static 16])
{
    char folder[PATH_MAX];
    for (int minor = 6; minor < 40; minor++) {
        if (!ifm_probe_exists(root, "%s/lib/python3.%d", prefix, minor))
            continue;
        snprintf(python, 16, "3.%d", minor);
        for (const char *const *leaf = leaves; *leaf != NULL; leaf++)
            if (snprintf(folder, sizeof folder, "%s/lib/python3.%d/%s", prefix, minor, *leaf) < (int)sizeof folder)
                add_packages(root, folder, found);
    }
}

/* conda writes "conda-meta/python-3.11.4-h955ad1f_0.json". */
static void conda_python(const char *root, const char *prefix, char python[static 16])
{
    DIR *open = ifm_probe_folder(root, "%s/conda-meta", prefix);
    for (struct dirent *entry = open == NULL ? NULL : readdir(open); entry != NULL; entry = readdir(open)) {
        size_t n = strspn(entry->d_name + (strncmp(entry->d_name, "python-3.", 9) == 0 ? 7 : 0), "0123456789.");
        if (strncmp(entry->d_name, "python-3.", 9) == 0 && n < 16 && entry->d_name[7 + n] == '-')
            ifm_probe_copy(entry->d_name + 7, n, python, 16);
    }
    if (open != NULL)
        closedir(open);
}

/* venv writes "version = 3.11.2" into pyvenv.cfg, virtualenv "version_info = 3.11.2.final.0". */
static void venv_python(const char *root, const char *prefix, char python[static 16])
{
    char *text = ifm_probe_text(root, "%s/pyvenv.cfg", prefix);
    const char *line = text == NULL ? NULL : strstr(text, "version");
    const char *value = line == NULL ? NULL : strchr(line, '=');
    if (value != NULL) {
        value += 1 + strspn(value + 1, " ");
        size_t n = strspn(value, "0123456789.");
        while (n > 0 && value[n - 1] == '.')
            n--;
        ifm_probe_copy(value, n, python, 16);
    }
    free(text);
}

static json_t *python_of(const char *kind, const char *python, json_t *found)
{
    bool known = python[0] != '\0';
    return json_pack("{s:s, s:o, s:o}", "kind", kind, "python",
                     known ? json_string(python) : ifm_probe_absent("the environment does not name its Python", NULL),
                     "frameworks", found);
}

/* The environment that the variables name; without one, what the system's Python would import. */
json_t *ifm_probe_python(const char *root)
{
    static const char *const site[] = {"site-packages", NULL};
    static const char *const local[] = {"dist-packages", "site-packages", NULL};
    char prefix[PATH_MAX], python[16] = "", beside[16] = "";
    json_t *found = json_object();
    if (ifm_probe_variable(root, "VIRTUAL_ENV", prefix)) { /* made last, it stands first in PATH */
        search_prefix(root, prefix, site, found, python);
        venv_python(root, prefix, python);
        return python_of("venv", python, found);
    }
    if (ifm_probe_variable(root, "CONDA_PREFIX", prefix)) {
        search_prefix(root, prefix, site, found, python);
        conda_python(root, prefix, python);
        return python_of("conda", python, found);
    }
    bool is_local = ifm_probe_exists(root, "/usr/local/bin/python3"); /* it stands first in PATH */
    if (!is_local) {
        search_prefix(root, "/usr", site, found, python);
        add_packages(root, "/usr/lib/python3/dist-packages", found);
    }
    search_prefix(root, "/usr/local", local, found, is_local ? python : beside);
    if (python[0] != '\0')
        return python_of("system", python, found);
    json_decref(found);
    return ifm_probe_absent("there is no Python, and no environment of it is active", "activate it before the run");
}
