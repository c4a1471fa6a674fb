/* A record that is not continued: renamed and kept unchanged. */
#include "base/file.h"
#include "base/text.h"
#include "sample/readings.h"
#include "sample/record_private.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ifm_status move(const char *from, const char *to, bool *any, struct ifm_error *error)
{
    if (!ifm_file_exists(from))
        return IFM_OK;
    if (ifm_file_exists(to))
        return ifm_fail(error, IFM_USAGE, to, "measure again into a new folder", "the file exists already");
    if (rename(from, to) != 0)
        return ifm_fail(error, IFM_INTERNAL, from, NULL, "cannot be renamed: %s", strerror(errno));
    *any = true;
    return IFM_OK;
}

enum ifm_status ifm_recorder_set_aside(const char *dir, unsigned cell, const char *pass, unsigned times, bool *any,
                                       struct ifm_error *error)
{
    static const char *const suffixes[] = {".csv", "-slots.csv"};
    enum ifm_status status = IFM_OK;
    *any = false;
    for (size_t i = 0; i < 2 && status == IFM_OK; i++) {
        char suffix[64];
        snprintf(suffix, sizeof suffix, "-before-%u%s", times, suffixes[i]);
        char *from = ifm_record_path(dir, cell, pass, suffixes[i]), *to = ifm_record_path(dir, cell, pass, suffix);
        status = move(from, to, any, error);
        free(from);
        free(to);
    }
    return status;
}

/* "<cell>-power-....csv" that was not set aside before: its name without the suffix, or NULL. malloc'd. */
static char *readings_stem(const char *name, unsigned cell)
{
    char prefix[32];
    size_t length = strlen(name), suffix = strlen(".csv");
    int prefixed = snprintf(prefix, sizeof prefix, "%u-power-", cell);
    if (strncmp(name, prefix, (size_t)prefixed) != 0 || length <= suffix ||
        strcmp(name + length - suffix, ".csv") != 0 || strstr(name, "-before-") != NULL)
        return NULL;
    return strndup(name, length - suffix);
}

enum ifm_status ifm_readings_set_aside(const char *dir, unsigned cell, unsigned times, bool *any,
                                       struct ifm_error *error)
{
    struct ifm_text folder = {0}, from = {0}, to = {0};
    enum ifm_status status = IFM_OK;
    *any = false;
    ifm_text_printf(&folder, "%s/samples", dir);
    DIR *entries = opendir(folder.data);
    for (struct dirent *entry = NULL; status == IFM_OK && entries != NULL && (entry = readdir(entries)) != NULL;) {
        char *stem = readings_stem(entry->d_name, cell);
        if (stem == NULL)
            continue;
        ifm_text_clear(&from);
        ifm_text_clear(&to);
        ifm_text_printf(&from, "%s/%s", folder.data, entry->d_name);
        ifm_text_printf(&to, "%s/%s-before-%u.csv", folder.data, stem, times);
        status = move(from.data, to.data, any, error);
        free(stem);
    }
    if (entries != NULL)
        closedir(entries);
    ifm_text_free(&folder);
    ifm_text_free(&from);
    ifm_text_free(&to);
    return status;
}
