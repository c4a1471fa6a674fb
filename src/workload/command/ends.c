/* Input and output of commands. */
#include "workload/command/ends.h"

#include "workload/command/files.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char ifm_command_sink[] = "/dev/zero";

bool ifm_command_keeps(const char *output)
{
    return strcmp(output, "discard") != 0 && strcmp(output, "null") != 0 && strcmp(output, "inherit") != 0;
}

bool ifm_command_needs_sink(const char *output)
{
    return strcmp(output, "null") != 0 && strcmp(output, "inherit") != 0;
}

static bool is_folder(const char *path)
{
    struct stat of;
    return stat(path, &of) == 0 && S_ISDIR(of.st_mode);
}

static enum ifm_status check_input(const char *where, const char *input, struct ifm_error *error)
{
    static const char hint[] = "name a file to be read";
    if (input[0] != '\0' && access(input, R_OK) != 0)
        return ifm_fail(error, IFM_USAGE, where, hint, "%s: %s", input, strerror(errno));
    return input[0] != '\0' && is_folder(input) ? ifm_fail(error, IFM_USAGE, where, hint, "%s is a folder", input)
                                                : IFM_OK;
}

static enum ifm_status check_output(const char *where, const char *output, struct ifm_arena *arena,
                                    struct ifm_error *error)
{
    static const char hint[] = "discard, null, inherit, or a file in a folder that can be written";
    if (!ifm_command_keeps(output))
        return IFM_OK;
    if (is_folder(output))
        return ifm_fail(error, IFM_USAGE, where, hint, "%s is a folder", output);
    if (access(output, W_OK) == 0)
        return IFM_OK;
    const char *slash = strrchr(output, '/');
    const char *folder =
        slash == NULL ? "." : ifm_arena_printf(arena, "%.*s", slash == output ? 1 : (int)(slash - output), output);
    if (errno == ENOENT && output[0] != '\0' && access(folder, W_OK) == 0)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, where, hint, "%s: %s", output, strerror(errno));
}

enum ifm_status ifm_command_check_ends(const char *arm, const char *input, const char *output, struct ifm_arena *arena,
                                       struct ifm_error *error)
{
    const char *where = ifm_arena_printf(arena, "arm %s: the output", arm);
    IFM_TRY(check_input(ifm_arena_printf(arena, "arm %s: the input", arm), input, error));
    if (ifm_command_needs_sink(output) && access(ifm_command_sink, W_OK) != 0)
        return ifm_fail(error, IFM_USAGE, where, "give this sandbox the device, or use --output null", "%s: %s",
                        ifm_command_sink, strerror(errno));
    return check_output(where, output, arena, error);
}

/* ---- files that are read ---- */

struct ifm_command_read {
    const char *arm, *what, *path;
    bool own; /* a word, which may name a file: only the output of its own arm is held against it */
};

static void add(struct ifm_command_reads *reads, struct ifm_arena *arena, const struct ifm_command_read *read)
{
    if (read->path == NULL || read->path[0] == '\0')
        return;
    IFM_ARENA_GROW(arena, reads->items, reads->n, reads->capacity);
    reads->items[reads->n++] = *read;
}

void ifm_command_reads_add(struct ifm_command_reads *reads, const char *arm, const char *what, const char *path,
                           struct ifm_arena *arena)
{
    add(reads, arena, &(struct ifm_command_read){.arm = arm, .what = what, .path = path});
}

/* Of `sort data.txt` the second. */
static void add_word(struct ifm_command_reads *reads, const char *arm, const char *word, struct ifm_arena *arena)
{
    add(reads, arena,
        &(struct ifm_command_read){.arm = arm, .what = "a file in the command", .path = word, .own = true});
}

/* Words of a shell's text, as far as they can be told without a shell. */
static void add_words(struct ifm_command_reads *reads, const char *arm, const char *text, struct ifm_arena *arena)
{
    static const char between[] = " \t\n;|&<>()'\"";
    for (const char *at = text + strspn(text, between); *at != '\0'; at += strspn(at, between)) {
        const size_t length = strcspn(at, between);
        add_word(reads, arm, ifm_arena_printf(arena, "%.*s", (int)length, at), arena);
        at += length;
    }
}

void ifm_command_reads_program(struct ifm_command_reads *reads, const char *arm, const char *hook,
                               const struct ifm_subprocess *program, bool shell, struct ifm_arena *arena)
{
    const char *what = hook == NULL ? "the program" : ifm_arena_printf(arena, "the %s", hook);
    char *const *argv = program->argv;
    if (shell) { /* /bin/sh -c TEXT */
        ifm_command_reads_add(reads, arm, what, ifm_command_first_program(argv[2], arena), arena);
        if (hook == NULL)
            add_words(reads, arm, argv[2], arena);
        return;
    }
    const char *wrapped = ifm_command_wrapped(program->path, &argv, arena);
    const char *script = ifm_command_script(wrapped != NULL ? wrapped : program->path, argv);
    ifm_command_reads_add(reads, arm, what, program->path, arena);
    ifm_command_reads_add(reads, arm, what, wrapped, arena);
    ifm_command_reads_add(reads, arm, hook == NULL ? "the script" : what, script, arena);
    for (size_t i = 1; hook == NULL && program->argv[i] != NULL; i++)
        add_word(reads, arm, program->argv[i], arena);
}

enum ifm_status ifm_command_check_kept(const char *arm, const char *output, const struct ifm_command_reads *reads,
                                       struct ifm_arena *arena, struct ifm_error *error)
{
    struct stat kept, read;
    if (!ifm_command_keeps(output) || stat(output, &kept) != 0 || !S_ISREG(kept.st_mode))
        return IFM_OK; /* what is not there yet holds nothing; a device or a pipe is not emptied */
    for (size_t i = 0; i < reads->n; i++) {
        const struct ifm_command_read *at = &reads->items[i];
        if ((at->own && strcmp(at->arm, arm) != 0) || stat(at->path, &read) != 0 || read.st_dev != kept.st_dev ||
            read.st_ino != kept.st_ino)
            continue;
        const char *is = strcmp(output, at->path) == 0 ? "also" : ifm_arena_printf(arena, "the file %s,", at->path);
        return ifm_fail(error, IFM_USAGE, ifm_arena_printf(arena, "arm %s: the output", arm),
                        "give --output a file of its own; without --output, what is printed is thrown away",
                        "%s is %s %s of arm %s, and each run would begin by emptying it", output, is, at->what,
                        at->arm);
    }
    return IFM_OK;
}
