/* CUDA libraries that a program started here would load: found as the loader finds them, without loading them.
 *
 * The version comes from the file's name behind its links, "libcudart.so.13.0.96". Where a package names the file only
 * by its interface, "libcudart.so.13", the version is that number, and `version_from` says so. Loading cuDNN just to
 * ask for its version would cost hundreds of megabytes and about the time of creating a context. Source of the cache's
 * layout: glibc, dl-cache.h. */
#include "base/file.h"
#include "host/probe.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CACHE = 64 << 20, MOST_NAME = 64, MOST_FOUND = 8, CACHE_HEADER = 48, CACHE_ENTRY = 24 };

static const struct library {
    const char *member, *stem;
} libraries[] = {
    {"runtime", "libcudart.so."}, {"cublas", "libcublas.so."}, {"cudnn", "libcudnn.so."}, {"nccl", "libnccl.so."}};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

/* "libcudart.so.13": the stem and one number, the name that a program passes to the loader. */
static bool is_soname(const char *name, const char *stem)
{
    size_t n = strlen(stem);
    return strncmp(name, stem, n) == 0 && name[n] != '\0' && strspn(name + n, "0123456789") == strlen(name + n) &&
           strlen(name) < MOST_NAME;
}

static bool is_listed(const json_t *list, const char *soname)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(list, i), "soname")), soname) == 0)
            return true;
    return false;
}

/* The first file of a name wins, as in the loader. */
static void add(const char *path, const char *name, const char *from, json_t *found)
{
    for (size_t i = 0; i < LIBRARIES; i++) {
        json_t *list = json_object_get(found, libraries[i].member);
        char file[PATH_MAX];
        if (!is_soname(name, libraries[i].stem) || is_listed(list, name) || json_array_size(list) >= MOST_FOUND ||
            realpath(path, file) == NULL)
            continue;
        const char *base = ifm_path_base(file);
        size_t stem = strlen(libraries[i].stem);
        bool whole = strncmp(base, libraries[i].stem, stem) == 0 && strchr(base + stem, '.') != NULL &&
                     ifm_probe_is_plain(base + stem, MOST_NAME);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "soname", name, "version",
                                              whole ? base + stem : name + stem, "version_from",
                                              whole ? "name of the file" : "soname", "found_in", from));
    }
}

static void search_folder(const char *root, const char *folder, const char *from, json_t *found)
{
    DIR *open = ifm_probe_folder(root, "%s", folder);
    for (struct dirent *entry = open == NULL ? NULL : readdir(open); entry != NULL; entry = readdir(open)) {
        char file[PATH_MAX];
        if (strncmp(entry->d_name, "lib", 3) == 0 && ifm_probe_path(file, root, "%s/%s", folder, entry->d_name) != NULL)
            add(file, entry->d_name, from, found);
    }
    if (open != NULL)
        closedir(open);
}

static void search_variable(const char *root, json_t *found)
{
    char folders[PATH_MAX], *state = NULL;
    if (!ifm_probe_variable(root, "LD_LIBRARY_PATH", folders))
        return;
    for (char *folder = strtok_r(folders, ":;", &state); folder != NULL; folder = strtok_r(NULL, ":;", &state))
        if (folder[0] == '/')
            search_folder(root, folder, "LD_LIBRARY_PATH", found);
}

static uint32_t word_at(const char *data, size_t at)
{
    uint32_t word;
    memcpy(&word, data + at, sizeof word);
    return word;
}

/* A name inside the cache, which must end inside it. */
static const char *text_at(const char *data, size_t size, uint32_t at)
{
    return at < size && memchr(data + at, '\0', size - at) != NULL ? data + at : NULL;
}

/* Offsets count from the header of the new format, which may stand behind an old one. */
static void search_cache(const char *root, json_t *found)
{
    static const char magic[] = "glibc-ld.so.cache1.1";
    char path[PATH_MAX], file[PATH_MAX], *all = NULL;
    size_t size = 0;
    if (ifm_probe_path(path, root, "/etc/ld.so.cache") == NULL ||
        ifm_file_read(path, MOST_CACHE, &all, &size, NULL) != IFM_OK)
        return;
    const char *data = memmem(all, size, magic, sizeof magic - 1);
    size = data == NULL ? 0 : size - (size_t)(data - all);
    uint32_t n = size < CACHE_HEADER ? 0 : word_at(data, sizeof magic - 1);
    for (uint32_t i = 0; i < n && (size_t)(i + 1) * CACHE_ENTRY + CACHE_HEADER <= size; i++) {
        size_t entry = CACHE_HEADER + (size_t)i * CACHE_ENTRY;
        const char *name = text_at(data, size, word_at(data, entry + 4));
        const char *target = text_at(data, size, word_at(data, entry + 8));
        if (name != NULL && target != NULL && strncmp(name, "lib", 3) == 0 &&
            ifm_probe_path(file, root, "%s", target) != NULL)
            add(file, name, "cache of the loader", found);
    }
    free(all);
}

/* NVIDIA's packages install version.json in every toolkit. */
static json_t *toolkit(const char *root)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", NULL};
    char folder[PATH_MAX];
    for (size_t i = 0; i < 3; i++) {
        json_t *version = NULL;
        if (variables[i] != NULL ? !ifm_probe_variable(root, variables[i], folder)
                                 : snprintf(folder, sizeof folder, "/usr/local/cuda") < 0)
            continue;
        char *text = ifm_probe_text(root, "%s/version.json", folder);
        if (text != NULL && ifm_json_parse(text, strlen(text), "version.json", &version, NULL) == IFM_OK) {
            const char *word = json_string_value(json_object_get(json_object_get(version, "cuda"), "version"));
            json_t *found = word != NULL && ifm_probe_is_plain(word, MOST_NAME) ? json_string(word) : NULL;
            json_decref(version);
            free(text);
            if (found != NULL)
                return found;
            continue;
        }
        free(text);
    }
    return ifm_probe_absent("no CUDA toolkit names its version: there is no version.json in $CUDA_HOME, $CUDA_PATH or "
                            "the usual place",
                            "set CUDA_HOME to the toolkit's folder");
}

json_t *ifm_probe_cuda_libraries(const char *root)
{
    json_t *found = json_object();
    for (size_t i = 0; i < LIBRARIES; i++)
        json_object_set_new(found, libraries[i].member, json_array());
    search_variable(root, found);
    search_cache(root, found);
    static const char *const usual[] = {"/lib/x86_64-linux-gnu",
                                        "/usr/lib/x86_64-linux-gnu",
                                        "/lib/aarch64-linux-gnu",
                                        "/usr/lib/aarch64-linux-gnu",
                                        "/lib64",
                                        "/usr/lib64",
                                        "/lib",
                                        "/usr/lib"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !ifm_probe_exists(root, "/etc/ld.so.cache"); i++)
        search_folder(root, usual[i], "the usual folders", found);
    for (size_t i = 0; i < LIBRARIES; i++)
        if (json_array_size(json_object_get(found, libraries[i].member)) == 0)
            json_object_set_new(
                found, libraries[i].member,
                ifm_probe_absent("the loader would find none", "install it, or put its folder into LD_LIBRARY_PATH"));
    json_object_set_new(found, "toolkit", toolkit(root));
    return found;
}
