/* inferometer_trace.so: what the CUDA driver loads into any program that CUDA_INJECTION64_PATH is set for. It records
 * what the program's GPU does, from the driver's initialisation on, and writes the rows when the program exits:
 * IFM_TRACE_DIR/activity-<pid>.csv. It prints nothing and never fails the program; why there are no rows is a row.
 *
 * Thread rule: the driver calls it once; exit handlers run once. */
#include "instrument/activity.h"
#include "sample/activity.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) int InitializeInjection(void);

static char path[4096], why[320];
static bool records;
static pid_t process;

static void write_row(FILE *file, const struct ifm_activity_row *row)
{
    ifm_activity_write(file, ifm_activity_names[row->kind],
                       (const uint64_t[]){row->start, row->end, row->correlation, row->place, row->graph, row->bytes},
                       row->name);
}

static void finish(void)
{
    struct ifm_activity_rows rows = {NULL, 0, 0};
    if (getpid() != process) /* a fork of it: what it would write is not its own */
        return;
    const bool taken = records && ifm_activity_take(&rows, why);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return;
    fputs(IFM_ACTIVITY_COLUMNS "\n", file);
    if (!taken)
        ifm_activity_write(file, "absent", (const uint64_t[]){0, 0, 0, 0, 0, 0}, why);
    for (size_t i = 0; i < rows.n; i++)
        if (rows.items[i].end >= rows.items[i].start)
            write_row(file, &rows.items[i]);
        else
            rows.lost++; /* the program did not wait for it */
    if (rows.lost > 0)
        ifm_activity_write(file, "lost", (const uint64_t[]){0, 0, 0, 0, 0, rows.lost}, "");
    ifm_activity_write(file, "whole", (const uint64_t[]){0, 0, 0, 0, 0, rows.n}, "");
    fclose(file);
}

/* The driver is being initialised: its version alone may be asked for. */
static bool driver_version(int *out)
{
    CUresult (*get)(int *);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = driver == NULL ? NULL : dlsym(driver, "cuDriverGetVersion");
    memcpy(&get, &symbol, sizeof get);
    return symbol != NULL && get(out) == CUDA_SUCCESS;
}

int InitializeInjection(void)
{
    struct ifm_cuda_absence absence = {"the CUDA driver does not say its version", ""};
    int version = 0;
    const char *dir = getenv("IFM_TRACE_DIR");
    if (dir == NULL || process != 0)
        return 1;
    process = getpid();
    snprintf(path, sizeof path, "%s/activity-%ld.csv", dir, (long)process);
    const struct ifm_cupti *cupti = driver_version(&version) ? ifm_cupti_load(version, &absence) : NULL;
    snprintf(why, sizeof why, "%s", absence.reason);
    if (cupti != NULL) {
        if (cupti->file != NULL)
            (void)setenv("NVTX_INJECTION64_PATH", cupti->file, 0);
        records = ifm_activity_begin(cupti, true, why);
    }
    (void)atexit(finish);
    return 1;
}
