/* The search for libraries of the CUDA toolkit, and their opening. */
#include "dyn/toolkit.h"

#include "dyn/symbol.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const in_toolkit[] = {"lib64", "targets/x86_64-linux/lib", "lib", "extras/CUPTI/lib64"};
static const char *const packages[] = {"lib/python3*/site-packages", "lib/python3*/dist-packages"};

struct toolkit_search {
    const struct ifm_toolkit_library *library;
    void *functions;
    char *opened;        /* the file */
    const char *missing; /* what the last library that was tried lacks */
};

/* Whether `file` is the library, with all that it must have. */
static bool take(struct toolkit_search *search, const char *file)
{
    void *handle = dlopen(file, search->library->mode);
    if (handle == NULL)
        return false;
    search->missing = NULL;
    for (const struct ifm_toolkit_symbol *symbol = search->library->symbols; symbol->name != NULL; symbol++)
        if (!ifm_symbol_find(handle, symbol->name, (char *)search->functions + symbol->offset))
            search->missing = symbol->name;
    if (search->missing == NULL && !search->library->identify(search->functions))
        search->missing = "version";
    if (search->missing != NULL) {
        dlclose(handle);
        return false;
    }
    snprintf(search->opened, IFM_TOOLKIT_FILE, "%s", file);
    return true;
}

static bool find_in(struct toolkit_search *search, const char *folder)
{
    char file[1024];
    for (size_t i = 0; search->library->files[i] != NULL; i++) {
        snprintf(file, sizeof file, "%s/%s", folder, search->library->files[i]);
        if (take(search, file))
            return true;
    }
    return false;
}

static bool find_in_toolkit(struct toolkit_search *search, const char *root)
{
    char folder[768];
    if (root == NULL || root[0] == '\0')
        return false;
    for (size_t i = 0; i < sizeof in_toolkit / sizeof *in_toolkit; i++) {
        snprintf(folder, sizeof folder, "%s/%s", root, in_toolkit[i]);
        if (find_in(search, folder))
            return true;
    }
    return false;
}

/* Python's packages below a prefix (a virtual environment, /usr, ~/.local), of the newest Python first. */
static bool find_in_packages(struct toolkit_search *search, const char *prefix)
{
    char pattern[512], folder[1024];
    bool found = false;
    for (size_t i = 0; i < sizeof packages / sizeof *packages && prefix != NULL && prefix[0] != '\0' && !found; i++) {
        glob_t globbed;
        snprintf(pattern, sizeof pattern, "%s/%s", prefix, packages[i]);
        if (glob(pattern, 0, NULL, &globbed) != 0)
            continue;
        for (size_t p = globbed.gl_pathc; p-- > 0 && !found;)
            for (size_t k = 0; search->library->packages[k] != NULL && !found; k++) {
                snprintf(folder, sizeof folder, "%s/%s", globbed.gl_pathv[p], search->library->packages[k]);
                found = find_in(search, folder);
            }
        globfree(&globbed);
    }
    return found;
}

/* What a plain python3 is: the environment whose bin is the first on the path that has one. */
static const char *python_prefix(char prefix[static 512])
{
    char file[560];
    for (const char *at = getenv("PATH"); at != NULL && at[0] != '\0'; at += strcspn(at, ":"), at += at[0] == ':') {
        snprintf(prefix, 512, "%.*s/..", (int)strcspn(at, ":"), at);
        snprintf(file, sizeof file, "%.*s/python3", (int)strcspn(at, ":"), at);
        if (access(file, X_OK) == 0)
            return prefix;
    }
    return NULL;
}

static bool find_anywhere(struct toolkit_search *search)
{
    char local[512] = "", prefix[512];
    const char *home = getenv("HOME"), *conda = getenv("CONDA_PREFIX");
    if (home != NULL)
        snprintf(local, sizeof local, "%s/.local", home);
    for (size_t i = 0; search->library->files[i] != NULL; i++)
        if (take(search, search->library->files[i]))
            return true;
    return find_in_toolkit(search, getenv("CUDA_HOME")) || find_in_toolkit(search, getenv("CUDA_PATH")) ||
           find_in_toolkit(search, "/usr/local/cuda") || find_in_packages(search, getenv("VIRTUAL_ENV")) ||
           find_in_packages(search, conda) || find_in_toolkit(search, conda) ||
           find_in_packages(search, python_prefix(prefix)) || find_in_packages(search, local) ||
           find_in_packages(search, "/usr/local") || find_in_packages(search, "/usr");
}

static bool search_for(const struct ifm_toolkit_library *library, void *functions, struct ifm_toolkit_state *state)
{
    struct toolkit_search search = {library, functions, state->file, NULL};
    const char *asked = getenv(library->variable);
    const bool named = asked != NULL && asked[0] != '\0';
    if (named ? take(&search, asked) || find_in(&search, asked) : find_anywhere(&search))
        return true;
    if (search.missing != NULL)
        snprintf(state->reason, sizeof state->reason, "the %s is too old: it has no %s", library->what, search.missing);
    else if (named)
        snprintf(state->reason, sizeof state->reason, "there is no %s at %s=%s", library->what, library->variable,
                 asked);
    else
        snprintf(state->reason, sizeof state->reason, "the %s (%s) is not found", library->what, library->file);
    return false;
}

bool ifm_toolkit_load(const struct ifm_toolkit_library *library, void *functions, struct ifm_toolkit_state *state,
                      struct ifm_cuda_absence *absence)
{
    if (!state->tried)
        state->found = search_for(library, functions, state);
    state->tried = true;
    *absence =
        state->found ? (struct ifm_cuda_absence){"", ""} : (struct ifm_cuda_absence){state->reason, library->remedy};
    return state->found;
}
