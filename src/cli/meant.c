/* The command line that was meant, where the first word is no command of ours: a command of another tool, a program to
 * be measured, or a run folder to be looked at. Only hints are made of it. */
#include "cli/cli.h"

#include "base/text.h"
#include "workload/workload.h"
#include <string.h>

/* What the words behind a command are: programs to be measured, run folders, or nothing that helps. */
enum rest { PROGRAMS, FOLDERS, NOTHING };

static const struct {
    const char *word, *ours;
    enum rest rest;
} others[] = {
    {"bench", "exec", PROGRAMS},
    {"benchmark", "exec", PROGRAMS},
    {"measure", "exec", PROGRAMS},
    {"hyperfine", "exec", PROGRAMS},
    {"time", "exec", PROGRAMS},
    {"timeit", "exec", PROGRAMS},
    {"perf", "exec", PROGRAMS},
    {"stat", "exec", PROGRAMS},
    {"record", "exec", PROGRAMS},
    {"show", "report", FOLDERS},
    {"view", "report", FOLDERS},
    {"open", "report", FOLDERS},
    {"export", "report", FOLDERS},
    {"html", "report", FOLDERS},
    {"csv", "report --format csv", FOLDERS},
    {"json", "report --format json", FOLDERS},
    {"check", "verify", FOLDERS},
    {"resume", "run --resume", FOLDERS},
    {"diff", "compare", FOLDERS},
    {"ls", "list", NOTHING},
    {"dir", "list", NOTHING},
    {"plan", "decode --dry-run", NOTHING},
    {"llama-bench", "decode", NOTHING},
    {"generate", "decode", NOTHING},
    {"start", "decode", NOTHING},
    {"demo", "decode", NOTHING},
    {"quick", "decode --preset quick", NOTHING},
    {"test", "decode", NOTHING},
    {"model", "decode --model llama-3-8b", NOTHING},
    {"models", "decode --model llama-3-8b", NOTHING},
    {"prefill", "attention", NOTHING},
    {"matmul", "gemm", NOTHING},
    {"config", "schema", NOTHING},
    {"init", "help", NOTHING},
    {"info", "doctor", NOTHING},
    {"gpu", "doctor", NOTHING},
    {"nvidia-smi", "doctor", NOTHING},
    {"energy", "power", NOTHING},
    {"watts", "power", NOTHING},
};

/* `exec` with the words from argv[first] on; flags of another tool and what may be their values are left out. */
static const char *programs(int argc, char **argv, int first, struct ifm_arena *arena)
{
    const char **words = IFM_ARENA_ARRAY(arena, const char *, argc + 1);
    size_t n = 0;
    bool flags = false, whole = false;
    for (int i = first; i < argc; i++)
        whole |= strchr(argv[i], ' ') != NULL;
    for (int i = first; i < argc; i++) {
        flags |= n == 0 && argv[i][0] == '-';
        if (whole ? strchr(argv[i], ' ') != NULL : !flags)
            words[n++] = argv[i];
    }
    return n == 0 ? "exec 'COMMAND'" : ifm_arena_printf(arena, "exec%s", ifm_quoted_words(words, n, arena));
}

static const char *folders(const char *ours, int argc, char **argv, struct ifm_arena *arena)
{
    struct ifm_text line = {0};
    ifm_text_add(&line, ours);
    for (int i = 2; i < argc; i++)
        ifm_text_printf(&line, " %s", argv[i]);
    if (argc < 3)
        ifm_text_add(&line, strcmp(ours, "compare") == 0 ? " DIR DIR" : " DIR");
    return ifm_text_keep(&line, arena);
}

const char *ifm_meant_programs(const char *const *words, int n, struct ifm_arena *arena)
{
    const bool whole = strchr(words[0], ' ') != NULL;
    if (!whole && !ifm_is_program(words[0]))
        return NULL;
    return ifm_arena_printf(arena, "exec%s", ifm_quoted_words(words, (size_t)n, arena));
}

const char *ifm_meant(int argc, char **argv, struct ifm_arena *arena)
{
    const char *dot = strrchr(argv[1], '.');
    if (dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0))
        return ifm_arena_printf(arena, "run -c %s", argv[1]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i].word, argv[1]) != 0)
            continue;
        const bool perf = argc > 2 && (strcmp(argv[2], "stat") == 0 || strcmp(argv[2], "record") == 0);
        if (others[i].rest == PROGRAMS && argc > 2 && ifm_workload_find(argv[2]) != NULL)
            return argv[2];
        return others[i].rest == PROGRAMS  ? programs(argc, argv, perf ? 3 : 2, arena)
               : others[i].rest == FOLDERS ? folders(others[i].ours, argc, argv, arena)
                                           : others[i].ours;
    }
    return NULL;
}
