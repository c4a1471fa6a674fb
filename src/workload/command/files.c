/* The files that a command runs. */
#include "workload/command/files.h"

#include "base/subprocess.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum ifm_status ifm_command_check_file(const char *path, const char *word, struct ifm_error *error)
{
    char head[256];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    if (n < 0 || (n >= 2 && head[0] == '#' && head[1] == '!') || memchr(head, '\0', (size_t)n) != NULL)
        return IFM_OK;                                 /* one that cannot be read may still be executed */
    for (ssize_t i = 0; i < n && head[i] != '\n'; i++) /* as bash tells a script from another format */
        if ((unsigned char)head[i] < ' ' && head[i] != '\t' && head[i] != '\r')
            return IFM_OK;
    return ifm_fail(error, IFM_USAGE, "", "write #!/bin/sh as its first line, or name what runs it, such as 'sh FILE'",
                    "%s cannot be executed: it is a text without a #! line", word);
}

const char *ifm_command_first_program(const char *text, struct ifm_arena *arena)
{
    const char *word = text + strspn(text, " \t\n");
    char *path = IFM_ARENA_ARRAY(arena, char, PATH_MAX);
    struct ifm_error ignored;
    word = ifm_arena_printf(arena, "%.*s", (int)strcspn(word, " \t\n;|&<>()"), word);
    return word[0] != '\0' && ifm_subprocess_find(word, path, PATH_MAX, &ignored) == IFM_OK ? path : NULL;
}

/* Does the program only set something up, and execute another one, which is what is measured? */
static bool is_wrapper(const char *path)
{
    static const char *const names[] = {"env",    "nice",  "taskset", "timeout", "stdbuf",  "numactl", "chrt",
                                        "ionice", "nohup", "setsid",  "time",    "setarch", "prlimit"};
    const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(base, names[i]) == 0)
            return true;
    return false;
}

/* The first word that is a program: none of a wrapper's options and their values is ("-n 10", "FOO=1", "0-3"). */
const char *ifm_command_wrapped(const char *path, char *const **argv, struct ifm_arena *arena)
{
    const char *wrapped = NULL;
    while (is_wrapper(path)) {
        char *const *at = *argv, *found = IFM_ARENA_ARRAY(arena, char, PATH_MAX);
        struct ifm_error ignored;
        for (at++; *at != NULL && (**at == '-' || strchr(*at, '=') != NULL ||
                                   ifm_subprocess_find(*at, found, PATH_MAX, &ignored) != IFM_OK);)
            at++;
        if (*at == NULL)
            return NULL;
        *argv = at;
        path = wrapped = found;
    }
    return wrapped;
}

/* Does the program run another file, which is what is measured? */
static bool is_interpreter(const char *path)
{
    static const char *const names[] = {"sh",   "bash", "dash", "ash",  "zsh", "ksh", "fish",  "python",
                                        "perl", "ruby", "node", "deno", "lua", "php", "julia", "Rscript"};
    const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(base, names[i], length) == 0 && base[length + strspn(base + length, ".0123456789")] == '\0')
            return true;
    }
    return false;
}

const char *ifm_command_script(const char *path, char *const *argv)
{
    struct stat of;
    for (size_t i = 1; is_interpreter(path) && argv[i] != NULL; i++)
        if (argv[i][0] != '-')
            return stat(argv[i], &of) == 0 && S_ISREG(of.st_mode) ? argv[i] : NULL;
    return NULL;
}
