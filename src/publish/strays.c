/* Strays: files under a published name that the record does not give. They are of another record, or somebody put them
 * there; the next manifest would vouch for them. */
#include "base/file.h"
#include "publish/compose.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>

/* Like power.csv or power_gpu0_nvml.csv. */
static bool is_power(const char *name)
{
    size_t length = strlen(name);
    return strcmp(name, "power.csv") == 0 ||
           (strncmp(name, "power_", 6) == 0 && length > 10 && strcmp(name + length - 4, ".csv") == 0);
}

/* The number of config_NN.json; 0: it is no such name. */
static size_t config_number(const char *name)
{
    size_t number = 0;
    if (strncmp(name, "config_", 7) != 0)
        return 0;
    for (name += 7; isdigit((unsigned char)*name) && number < 1000000; name++)
        number = 10 * number + (size_t)(*name - '0');
    return strcmp(name, ".json") == 0 ? number : 0;
}

static bool is_of_gates(const char *name)
{
    return strcmp(name, "gate.md") == 0 || strcmp(name, "junit.xml") == 0;
}

static bool gives_power(const struct ifm_power_files *files, const char *name)
{
    for (size_t i = 0; i < files->n; i++)
        if (strcmp(files->list[i].name, name) == 0)
            return true;
    return false;
}

/* Power is read only where a file of such a name is there. */
static enum ifm_status check_power(const struct ifm_publication *publication, const char *name, struct ifm_error *error)
{
    struct ifm_power_files files;
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = ifm_compose_power(publication, arena, &files, error);
    if (status == IFM_OK && !gives_power(&files, name))
        status = ifm_fail(error, IFM_INVALID, name, "remove it, or measure with --energy",
                          "%s is there, and the record holds no reading for it", name);
    ifm_power_files_free(&files);
    ifm_arena_destroy(arena);
    return status;
}

static enum ifm_status check_name(const struct ifm_publication *publication, const char *name, struct ifm_error *error)
{
    const struct ifm_plan *plan = publication->plan;
    size_t n = ifm_compat_count_baseline(plan), number = config_number(name);
    if (is_power(name))
        return check_power(publication, name, error);
    bool stray = (strcmp(name, "elastic_kv.json") == 0 && !ifm_compat_has_elastic_kv(plan)) ||
                 (strcmp(name, "ncu.json") == 0 && !ifm_compat_has_ncu(plan)) ||
                 (strcmp(name, "summary.json") == 0 && n == 0) || number > n ||
                 (is_of_gates(name) && publication->verdict->n_gates == 0);
    return stray ? ifm_fail(error, IFM_INVALID, name, "remove it", "%s is there, and the record does not give it", name)
                 : IFM_OK;
}

enum ifm_status ifm_published_strays(const struct ifm_publication *publication, struct ifm_error *error)
{
    DIR *folder = opendir(publication->dir);
    if (folder == NULL)
        return ifm_file_fail(publication->dir, "cannot list the folder", errno, error);
    enum ifm_status status = IFM_OK;
    for (const struct dirent *entry; status == IFM_OK && (entry = readdir(folder)) != NULL;)
        status = check_name(publication, entry->d_name, error);
    closedir(folder);
    return status;
}
