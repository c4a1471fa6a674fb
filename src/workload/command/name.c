/* What a command is called that nobody named: its program, without a folder. */
#include "workload/command/command.h"

#include "workload/command/words.h"
#include <string.h>

bool ifm_command_is_ceiling(const char *name)
{
    static const char *const ceilings[] = {"read", "write", "copy", "flops", "matrix", "none"};
    for (size_t i = 0; i < sizeof ceilings / sizeof *ceilings; i++)
        if (strcmp(name, ceilings[i]) == 0)
            return true;
    return false;
}

const char *ifm_command_base(const char *program, struct ifm_arena *arena)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.";
    enum { LONGEST = 40 };
    const char *slash = strrchr(program, '/');
    char *base = ifm_arena_printf(arena, "%.*s", LONGEST, slash != NULL ? slash + 1 : program);
    for (char *at = base; *at != '\0'; at++)
        if (strchr(letters, *at) == NULL)
            *at = '_';
    if (ifm_command_is_ceiling(base))
        return ifm_arena_printf(arena, "%s-program", base);
    return base[0] == '\0' ? "command" : base;
}

enum ifm_status ifm_command_name(const char *line, bool shell, const char *where, struct ifm_arena *arena,
                                 const char **name, struct ifm_error *error)
{
    static const char with_slash[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./~";
    struct ifm_words words = {0};
    const char *program = line + strspn(line, " \t\n");
    if (!shell) {
        words = ifm_words_split(line, arena);
        IFM_TRY(ifm_words_fail(&words, where, error));
        program = words.items[0];
    } else if (program[0] == '\0') {
        words.fault = IFM_WORDS_EMPTY;
        return ifm_words_fail(&words, where, error);
    } else {
        program = ifm_arena_printf(arena, "%.*s", (int)strcspn(program, " \t\n;|&<>"), program);
        if (program[strspn(program, with_slash)] != '\0') /* more than a path: quotes, brackets, expansions */
            program = "command";
    }
    if (strchr(program, '=') != NULL) /* a variable for the program: its value may be a secret */
        program = "command";
    *name = ifm_command_base(program, arena);
    return IFM_OK;
}
