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

/* A program that only sets something up, and executes another one, which is what is measured. */
struct wrapper {
    const char *name, *valued; /* the letters of its options whose value may be a word of its own */
};

static const struct wrapper *wrapper_of(const char *path)
{
    static const struct wrapper wrappers[] = {
        {"env", "uCa"},   {"nice", "n"}, {"taskset", ""}, {"timeout", "ks"}, {"stdbuf", "ioe"}, {"chrt", "TPD"},
        {"ionice", "cn"}, {"nohup", ""}, {"setsid", ""},  {"time", "fo"},    {"prlimit", "o"},  {"setarch", ""},
        {"x86_64", ""},   {"i386", ""},  {"linux32", ""}, {"linux64", ""},   {"uname26", ""},   {"numactl", "iNmCpPw"},
    };
    const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1;
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (strcmp(base, wrappers[i].name) == 0)
            return &wrappers[i];
    return NULL;
}

/* Is the next word the value of this option? One that is the name of a program too would be taken for it. */
static bool takes_next(const struct wrapper *wrapper, const char *option)
{
    static const char *const names[] = {"--unset", "--chdir", "--argv0",  "--signal", "--kill-after",
                                        "--class", "--input", "--output", "--error",  "--format"};
    const char *letter = option[1] == '-' ? NULL : strpbrk(option + 1, wrapper->valued);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(option, names[i]) == 0)
            return true;
    return letter != NULL && letter[1] == '\0';
}

/* "-S" of env, whose value is a line of its own. */
static bool splits(const struct wrapper *wrapper, const char *option)
{
    return strcmp(wrapper->name, "env") == 0 &&
           (strncmp(option, "--split", 7) == 0 || (option[1] != '-' && strcspn(option, "S") < strcspn(option, "uCa")));
}

/* The first word that is a program: no option, no value of one, and nothing else that the wrapper takes before it is
 * ("-n 10", "FOO=1", "0-3"). */
const char *ifm_command_wrapped(const char *path, char *const **argv, struct ifm_arena *arena)
{
    const char *wrapped = NULL;
    for (const struct wrapper *wrapper; (wrapper = wrapper_of(path)) != NULL;) {
        char *found = IFM_ARENA_ARRAY(arena, char, PATH_MAX);
        struct ifm_error ignored;
        char *const *at = *argv + 1;
        for (; *at != NULL; at++) {
            if (**at == '-' && splits(wrapper, *at))
                return NULL;
            if (**at == '-' && takes_next(wrapper, *at) && at[1] != NULL)
                at++;
            else if (**at != '-' && strchr(*at, '=') == NULL &&
                     ifm_subprocess_find(*at, found, PATH_MAX, &ignored) == IFM_OK)
                break;
        }
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
