/* Commands that inform: doctor, workloads, version. */
#include "cli/cli.h"

#include "base/text.h"
#include "dyn/cublaslt.h"
#include "dyn/cudnn.h"
#include "host/host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum ifm_status no_arguments(int argc, char **argv, struct ifm_error *error)
{
    const bool format = argc > 1 && (strcmp(argv[1], "--json") == 0 || strncmp(argv[1], "--format", 8) == 0);
    if (argc > 1)
        return ifm_fail(error, IFM_USAGE, "",
                        format ? "leave it out; as JSON, the machine stands in the run.log of every run folder"
                               : "leave it out",
                        "%s takes no argument, but got \"%s\"", argv[0], argv[1]);
    return IFM_OK;
}

static const char *doctor_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text == NULL ? "" : text;
}

static bool is_fine(const json_t *row)
{
    return strcmp(doctor_text(row, "state"), "ok") == 0;
}

/* Words from `column` on, later lines from `margin` on; whole into a pipe, where each row is a line. */
static void print_words(const char *text, size_t column, size_t margin)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_text out = {0};
    ifm_text_wrap(&out, ifm_cli_typed(text, arena), isatty(STDOUT_FILENO) ? ifm_cli_width() : SIZE_MAX, column, margin);
    ifm_text_add(&out, "\n");
    ifm_cli_print(&out, stdout);
    ifm_arena_destroy(arena);
}

static void print_rows(const json_t *rows)
{
    enum { STATE = 6 /* "absent" */ };
    const bool paint = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
    const json_t *row;
    size_t index, widest = strlen("what");
    json_array_foreach(rows, index, row)
    {
        const size_t width = strlen(doctor_text(row, "what"));
        widest = width > widest ? width : widest;
    }
    printf("%-*s %-*s detail\n", (int)widest, "what", STATE, "state");
    json_array_foreach(rows, index, row)
    {
        const bool seen = paint && !is_fine(row);
        const size_t column = widest + 1 + STATE + 1;
        printf("%-*s %s%-*s%s ", (int)widest, doctor_text(row, "what"), seen ? "\033[33m" : "", STATE,
               doctor_text(row, "state"), seen ? "\033[0m" : "");
        print_words(doctor_text(row, "detail"), column, column);
    }
}

/* Remedies stand below the table, each on a line of its own, because they are commands to copy. */
static void print_remedies(const json_t *rows)
{
    const json_t *row;
    size_t index, open = 0, listed = 0;
    json_array_foreach(rows, index, row)
    {
        const char *what = doctor_text(row, "what");
        if (is_fine(row))
            continue;
        open++;
        if (doctor_text(row, "remedy")[0] == '\0') /* its line says it */
            continue;
        if (listed++ == 0)
            printf("\nMissing or unfavourable, why it matters, the remedy:\n");
        printf("  %s: ", what);
        print_words(doctor_text(row, "why"), 2 + strlen(what) + 2, 6);
        printf("    ");
        print_words(doctor_text(row, "remedy"), 4, 6);
    }
    char ready[128];
    snprintf(ready, sizeof ready, "%zu of %zu are ready for measurement; every report lists what is absent.",
             json_array_size(rows) - open, json_array_size(rows));
    printf("\n");
    print_words(ready, 0, 0);
}

/* The answer first: what to do before anything else on this machine. */
static void print_first(const json_t *rows)
{
    const json_t *row = ifm_doctor_first(rows);
    struct ifm_arena *arena = ifm_arena_create();
    if (row == NULL) {
        printf("Nothing here would make measurements better.\n\n");
    } else {
        print_words(ifm_arena_printf(arena, "Most would help: %s", doctor_text(row, "remedy")), 0, 2);
        printf("  ");
        print_words(ifm_arena_printf(arena, "(%s: %s)", doctor_text(row, "what"), doctor_text(row, "detail")), 2, 3);
        printf("\n");
    }
    ifm_arena_destroy(arena);
}

/* Exits 0 whatever it finds. A study that needs locks sets measure.locks=required. */
enum ifm_status ifm_cmd_doctor(int argc, char **argv, struct ifm_error *error)
{
    IFM_TRY(no_arguments(argc, argv, error));
    json_t *rows = ifm_host_doctor("");
    ifm_power_rows(rows);
    ifm_doctor_fold_gpus(rows);
    print_first(rows);
    print_rows(rows);
    print_remedies(rows);
    json_decref(rows);
    return IFM_OK;
}

static void print_implementations(const struct ifm_implementation *const *rows, struct ifm_arena *arena)
{
    for (size_t i = 0; rows != NULL && rows[i] != NULL; i++)
        ifm_cli_field(i == 0 ? "by" : "",
                      ifm_arena_printf(arena, "%s on %s: %s", rows[i]->title, rows[i]->device, rows[i]->purpose));
}

enum ifm_status ifm_cmd_workloads(int argc, char **argv, struct ifm_error *error)
{
    IFM_TRY(no_arguments(argc, argv, error));
    struct ifm_arena *arena = ifm_arena_create();
    for (size_t i = 0; ifm_workloads[i] != NULL; i++) {
        printf("%s\n", ifm_workloads[i]->name);
        ifm_cli_field("purpose", ifm_workloads[i]->purpose);
        ifm_cli_field("timed", ifm_workloads[i]->timed_region);
        print_implementations(ifm_workloads[i]->implementations, arena);
        ifm_cli_field("plugin", ifm_workloads[i]->plugin == NULL ? NULL : ifm_workloads[i]->plugin->file);
        ifm_cli_field("flags", ifm_workloads[i]->params->n == 0 ? "none of its own" : "");
        for (size_t r = 0; r < ifm_workloads[i]->params->n; r++) {
            const struct ifm_param *row = &ifm_workloads[i]->params->rows[r];
            ifm_cli_field(
                r == 0 ? "flags" : "",
                ifm_arena_printf(arena, "--%s (%s)", row->flag == NULL ? row->path : row->flag, row->fallback));
        }
    }
    ifm_arena_destroy(arena);
    return IFM_OK;
}

enum ifm_status ifm_cmd_version(int argc, char **argv, struct ifm_error *error)
{
    if (argc > 1)
        return ifm_fail(error, IFM_USAGE, "", "leave it out", "unexpected argument \"%s\"", argv[1]);
    printf("inferometer %s\n", IFM_VERSION);
    if (IFM_NVCC[0] != '\0')
        printf("CUDA: kernels by %s for sm_90a, sm_80 and PTX for compute capability 8.0\n", IFM_NVCC);
    else
        printf("CUDA: kernels as sources, which NVRTC compiles at run time\n");
    struct ifm_cuda_absence absence;
    const struct ifm_cublaslt *blas = ifm_cublaslt_load(&absence);
    printf("CUDA: %s\n", blas != NULL ? blas->name : absence.reason);
    const struct ifm_cudnn *dnn = ifm_cudnn_load(&absence);
    printf("CUDA: %s\n", dnn != NULL ? dnn->name : absence.reason);
    return IFM_OK;
}
