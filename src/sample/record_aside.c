/* A record that is no longer gone on with: renamed, and kept as it is. */
#include "base/file.h"
#include "sample/record_private.h"
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
