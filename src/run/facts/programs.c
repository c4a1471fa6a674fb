/* The files that the programs of a cell are. */
#include "run/facts/programs.h"

#include "base/hash.h"
#include "run/cell/arm.h"
#include "run/facts/facts.h"
#include <string.h>
#include <sys/stat.h>

static int64_t ns_of(struct timespec time)
{
    const int64_t ns = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
    return ns > 0 ? ns : 0;
}

/* NULL: it cannot be read, as one that may be executed and nothing else. */
static const char *hash_of(const char *path, struct ifm_sha256 *out)
{
    struct ifm_error unread = {0};
    return ifm_sha256_file(path, out, &unread) == IFM_OK ? out->hex : NULL;
}

/* Before measuring the content has a hash too, which a rerun is held against. */
enum ifm_status ifm_programs_record(struct ifm_cell_run *cell, const char *when, struct ifm_error *error)
{
    static const char *const names[] = {"program", "script", "wrapped program"};
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        for (unsigned k = 0; k < sizeof names / sizeof *names; k++) {
            const struct ifm_arm_run *arm = &cell->arms[i];
            const bool has = arm->implementation != NULL && arm->implementation->file != NULL && arm->state != NULL;
            const char *path = has ? arm->implementation->file(arm->state, k) : NULL;
            struct stat of = {0};
            struct ifm_sha256 hash;
            if (path == NULL)
                continue;
            if (stat(path, &of) != 0)
                of = (struct stat){0}; /* it is gone: no file is like it */
            IFM_TRY(IFM_FACT(cell->session, error, program, true, .cell = cell->plan->name, .arm = arm->plan->name,
                             .when = when, .what = names[k], .inode = (int64_t)of.st_ino, .size = (int64_t)of.st_size,
                             .mtime_ns = ns_of(of.st_mtim), .ctime_ns = ns_of(of.st_ctim),
                             .sha256 = strcmp(when, "before") == 0 ? hash_of(path, &hash) : NULL));
        }
    return IFM_OK;
}
