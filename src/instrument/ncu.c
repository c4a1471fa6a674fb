/* ncu: found, asked, and its complaints understood. */
#include "instrument/ncu.h"

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "dyn/cupti.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEDY "install the CUDA toolkit, or let IFM_NCU name the program ncu"

/* The newest of the files that fit. */
static bool found_by(const char *pattern, char *path, size_t size)
{
    glob_t found;
    const bool any = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;
    if (any)
        snprintf(path, size, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return any;
}

enum ifm_status ifm_ncu_find(char *path, size_t size, struct ifm_error *error)
{
    const char *own = getenv("IFM_NCU");
    if (ifm_subprocess_find(own == NULL || own[0] == '\0' ? "ncu" : own, path, size, error) == IFM_OK)
        return IFM_OK;
    if (own != NULL && own[0] != '\0')
        return ifm_fail(error, IFM_MISSING, "IFM_NCU", REMEDY, "there is no program %.200s", own);
    if (found_by("/usr/local/cuda/bin/ncu", path, size) || found_by("/opt/nvidia/nsight-compute/*/ncu", path, size))
        return IFM_OK;
    return ifm_fail(error, IFM_MISSING, "", REMEDY, "ncu (Nsight Compute) is not installed");
}

/* ---- arguments ---- */

struct ncu_words {
    char **items;
    size_t n, capacity;
    struct ifm_arena *arena;
};

static void add(struct ncu_words *words, const char *word)
{
    IFM_ARENA_GROW(words->arena, words->items, words->n, words->capacity);
    words->items[words->n++] = word == NULL ? NULL : ifm_arena_strdup(words->arena, word);
}

/* An option with its value; left out where there is none. */
static void add_pair(struct ncu_words *words, const char *option, const char *value)
{
    if (value == NULL)
        return;
    add(words, option);
    add(words, value);
}

static void add_shape(struct ncu_words *words)
{
    add(words, "--csv");
    add_pair(words, "--page", "raw");
    add_pair(words, "--print-units", "base");
}

char *const *ifm_ncu_arguments(const char *ncu, const struct ifm_ncu_wish *wish, const char *log, char *const *program,
                               struct ifm_arena *arena)
{
    struct ncu_words words = {.arena = arena};
    add(&words, ncu);
    add_shape(&words);
    add_pair(&words, "--cache-control", "none");
    add_pair(&words, "--clock-control", "none");
    add_pair(&words, "--target-processes", "all");
    add_pair(&words, "--metrics", wish->metrics);
    add_pair(&words, "--replay-mode", wish->replay);
    add_pair(&words, "--launch-skip", wish->skip);
    add_pair(&words, "--launch-count", wish->count);
    if (wish->kernel != NULL)
        add_pair(&words, "--kernel-name", ifm_arena_printf(arena, "regex:%s", wish->kernel));
    if (wish->nvtx != NULL)
        add(&words, "--nvtx");
    add_pair(&words, "--nvtx-include", wish->nvtx);
    add_pair(&words, "--log-file", log);
    for (; *program != NULL; program++)
        add(&words, *program);
    add(&words, NULL);
    return words.items;
}

char *const *ifm_ncu_import_arguments(const char *ncu, const char *report, struct ifm_arena *arena)
{
    struct ncu_words words = {.arena = arena};
    add(&words, ncu);
    add_pair(&words, "--import", report);
    add_shape(&words);
    add(&words, NULL);
    return words.items;
}

/* ---- complaints ---- */

/* The line that begins with the word, without it; NULL = none. */
static const char *line_behind(const char *log, const char *word, struct ifm_arena *arena)
{
    for (const char *at = log; at != NULL && *at != '\0';) {
        if (strncmp(at, word, strlen(word)) == 0) {
            at += strlen(word);
            at += strspn(at, " ");
            return ifm_text_plain(ifm_arena_printf(arena, "%.*s", (int)strcspn(at, "\n"), at), arena);
        }
        at = strchr(at, '\n');
        at += at != NULL;
    }
    return NULL;
}

/* What the program has launched, as ncu lists it where nothing fitted: "add_to, fill". */
static const char *kernels_of(const char *log, struct ifm_arena *arena)
{
    const char *at = strstr(log, "Available Kernels:");
    struct ifm_text names = {0};
    for (at = at == NULL ? NULL : strchr(at, '\n'); at != NULL && at[1] >= '0' && at[1] <= '9';
         at = strchr(at + 1, '\n')) {
        const char *name = at + 1 + strcspn(at + 1, " \n");
        name += strspn(name, " ");
        if (names.size < 200)
            ifm_text_printf(&names, "%s%.*s", names.size > 0 ? ", " : "", (int)strcspn(name, "\n"), name);
    }
    return ifm_text_plain(ifm_text_keep(&names, arena), arena);
}

enum ifm_status ifm_ncu_judge(const char *log, int exit_code, struct ifm_arena *arena, struct ifm_error *error)
{
    const char *told = line_behind(log, "==ERROR==", arena), *kernels = kernels_of(log, arena);
    if (strstr(log, "ERR_NVGPUCTRPERM") != NULL) {
        struct ifm_cuda_card card;
        struct ifm_cuda_absence absence;
        const struct ifm_cuda_absence why = ifm_cupti_denied(ifm_cuda_first(&card, &absence) ? card.driver_version : 0);
        return ifm_fail(error, IFM_MISSING, "ncu", why.remedy, "%s", why.reason);
    }
    if (told != NULL)
        return ifm_fail(error, IFM_INVALID, "ncu", "run the program alone first; then `inferometer doctor`", "%.300s",
                        told);
    if (strstr(log, "No kernels were profiled") != NULL && kernels[0] != '\0')
        return ifm_fail(error, IFM_INVALID, "ncu", "choose another --kernel, --nvtx, --launch-skip",
                        "no kernel fits; the program launched %.300s", kernels);
    if (strstr(log, "No kernels were profiled") != NULL)
        return ifm_fail(error, IFM_INVALID, "ncu",
                        "does it use the GPU? with --nvtx, a push/pop range needs a \"/\": step/",
                        "the program launched no kernel that ncu saw");
    if (exit_code != 0)
        return ifm_fail(error, IFM_INVALID, "ncu", "run the program alone first", "the program exited with status %d",
                        exit_code);
    return IFM_OK;
}
