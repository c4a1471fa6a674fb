/* Commands of `exec` and `ci`, and values of flags, that somebody wrote without quotes: the command line that was
 * meant, to be copied. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./=,:%@";

bool ifm_is_program(const char *word)
{
    char path[PATH_MAX];
    struct ifm_error ignored;
    return ifm_subprocess_find(word, path, sizeof path, &ignored) == IFM_OK;
}

/* ---- quotes ---- */

/* A word as a command line of ours has it, where the whole line stands in single quotes. */
static void add_word(struct ifm_text *out, const char *word)
{
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        ifm_text_add(out, word);
        return;
    }
    ifm_text_add(out, "\"");
    for (; *word != '\0'; word++)
        if (*word == '\'') /* ends the quotes of the shell, and begins others */
            ifm_text_add(out, "'\\''");
        else
            ifm_text_printf(out, "%s%c", strchr("$`\"\\", *word) != NULL ? "\\" : "", *word);
    ifm_text_add(out, "\"");
}

/* A flag or its value as a shell takes it. */
static void add_argument(struct ifm_text *out, const char *word)
{
    const bool bare = word[0] != '\0' && word[strspn(word, plain)] == '\0';
    ifm_text_add(out, bare ? " " : " '");
    for (; *word != '\0'; word++)
        ifm_text_printf(out, *word == '\'' ? "'\\%c'" : "%c", *word);
    ifm_text_add(out, bare ? "" : "'");
}

/* ---- where a command begins ---- */

/* Commands of as many words each, as those of a comparison mostly are. */
static bool is_even(const bool *begins, size_t n)
{
    size_t first = 0, length = 0;
    for (size_t i = 1; i <= n; i++) {
        length++;
        if (i < n && !begins[i])
            continue;
        first = first == 0 ? length : first;
        if (length != first)
            return false;
        length = 0;
    }
    return true;
}

/* At each word that is the first one again; else at each program behind a word that is none. A word like `test` is a
 * program too, so that commands of different lengths are not believed, unless each is a path. */
static void find_beginnings(const char *const *words, size_t n, bool *begins)
{
    bool again = false, paths = true;
    for (size_t i = 1; i < n; i++)
        again |= begins[i] = strcmp(words[i], words[0]) == 0;
    if (again)
        return;
    for (size_t i = 1; i < n; i++) {
        begins[i] = words[i][0] != '-' && ifm_is_program(words[i]) && !ifm_is_program(words[i - 1]);
        paths &= !begins[i] || strchr(words[i], '/') != NULL;
    }
    if (!paths && !is_even(begins, n))
        memset(begins + 1, false, (n - 1) * sizeof *begins);
}

static void add_commands(struct ifm_text *out, const char *const *words, size_t n, struct ifm_arena *arena)
{
    bool *begins = IFM_ARENA_ARRAY(arena, bool, n + 1);
    begins[0] = true;
    if (n > 1)
        find_beginnings(words, n, begins);
    for (size_t i = 0; i < n; i++) {
        ifm_text_add(out, begins[i] ? " '" : " ");
        add_word(out, words[i]);
        ifm_text_add(out, i + 1 == n || begins[i + 1] ? "'" : "");
    }
}

const char *ifm_quoted_words(const char *const *words, size_t n, struct ifm_arena *arena)
{
    struct ifm_text line = {0};
    bool whole = false, paths = true;
    for (size_t i = 0; i < n; i++) {
        whole |= strchr(words[i], ' ') != NULL;
        paths &= strchr(words[i], '/') != NULL && ifm_is_program(words[i]);
    }
    whole |= paths;
    for (size_t i = 0; i < n && whole; i++) { /* each is a command already */
        ifm_text_add(&line, " '");
        for (const char *at = words[i]; *at != '\0'; at++)
            ifm_text_printf(&line, *at == '\'' ? "'\\%c'" : "%c", *at);
        ifm_text_add(&line, "'");
    }
    if (!whole)
        add_commands(&line, words, n, arena);
    return ifm_text_keep(&line, arena);
}

/* ---- the command line ---- */

bool ifm_is_our_config(const char *token, const char *value)
{
    const char *dot = value == NULL ? NULL : strrchr(value, '.');
    return strcmp(token, "-c") == 0 && dot != NULL &&
           (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

/* "--metric is an option of ci: inferometer ci a b --metric cpu": two programs stand before the flag, which is an
 * argument of neither. NULL: it is no such flag. */
static const char *meant_ci(const struct ifm_options *options, const char *const *words, size_t n, int at,
                            struct ifm_arena *arena)
{
    const struct ifm_positionals *given = options->positionals;
    const char *token = given->argv[at];
    const char *flag = ifm_arena_printf(arena, "%.*s", (int)strcspn(token, "="), token);
    struct ifm_text line = {0};
    if (n != 2 || !ifm_is_program(words[0]) || !ifm_is_program(words[1]) || strncmp(flag, "--", 2) != 0 ||
        !ifm_verb_named_takes("ci", flag + 2) || ifm_verb_named_takes(options->verb, flag + 2))
        return NULL;
    for (int i = 1; i < given->argc; i++)
        add_argument(&line, given->argv[i]);
    const char *hint = ifm_arena_printf(arena, "%s is an option of ci: inferometer ci%s", flag, line.data);
    ifm_text_free(&line);
    return hint;
}

const char *ifm_quoted_hint(const struct ifm_options *options, struct ifm_arena *arena)
{
    const struct ifm_positionals *given = options->positionals;
    const char **words = IFM_ARENA_ARRAY(arena, const char *, given->argc + 1);
    struct ifm_text line = {0}, flags = {0};
    const char *hint = NULL;
    size_t n = 0;
    for (int i = 1, used; i < given->argc && hint == NULL; i += used) {
        const char *token = given->argv[i];
        used = ifm_is_our_config(token, i + 1 < given->argc ? given->argv[i + 1] : NULL) ? 2 : 1;
        const bool ours = used == 2 || (strncmp(token, "--", 2) == 0 && given->takes(options, token, &used));
        for (int k = i; ours && k < i + used && k < given->argc; k++)
            add_argument(&flags, given->argv[k]);
        hint = ours ? NULL : meant_ci(options, words, n, i, arena);
        if (!ours && strcmp(token, "--") != 0)
            words[n++] = token;
    }
    if (hint == NULL) {
        add_commands(&line, words, n, arena);
        hint = ifm_arena_printf(arena, "quote each command with its arguments: inferometer %s%s%s", options->verb,
                                line.size > 0 ? line.data : " 'ls -l'", flags.size > 0 ? flags.data : "");
    }
    ifm_text_free(&line);
    ifm_text_free(&flags);
    return hint;
}

/* ---- a value of several words ---- */

/* "3 percent", of a flag that takes a percentage. */
static bool is_percent_apart(const char *flag, const char *number, const char *word)
{
    static const char *const flags[] = {"--max-regression", "--margin", "--epsilon"};
    static const char *const words[] = {"%", "percent", "pct"};
    double parsed;
    bool takes = false, says = false;
    for (size_t i = 0; i < 3; i++) {
        takes |= strcmp(flag, flags[i]) == 0;
        says |= strcmp(word, words[i]) == 0;
    }
    return takes && says && ifm_parse_f64(number, &parsed);
}

/* The flag in front of the word at `at` and the value between them: of "--cap 10 s" and of "--cap=10 s"; NULL: none. */
static const char *flag_before(char **argv, int at, const char **value, struct ifm_arena *arena)
{
    const char *equals = at < 2 ? NULL : strchr(argv[at - 1], '=');
    if (equals != NULL && strncmp(argv[at - 1], "--", 2) == 0) {
        *value = equals + 1;
        return ifm_arena_printf(arena, "%.*s", (int)(equals - argv[at - 1]), argv[at - 1]);
    }
    if (at < 3 || strncmp(argv[at - 2], "--", 2) != 0)
        return NULL;
    *value = argv[at - 1];
    return argv[at - 2];
}

/* One value of the first words: of all of them where they are a list, else of two; NULL: they are none. */
static const char *join(const char *flag, const char **words, size_t n, const struct ifm_options *options,
                        struct ifm_arena *arena)
{
    if (is_percent_apart(flag, words[0], words[1]))
        return ifm_arena_printf(arena, "%s%%", words[0]);
    if (strcmp(flag, "--wait-quiet") == 0)
        return ifm_param_duration_meant(ifm_arena_printf(arena, "%s%s", words[0], words[1]), arena);
    if (options->config == NULL)
        return NULL;
    const char *all = ifm_config_flag_joined(options->config, options->workload, flag + 2, words, n);
    return all != NULL || n == 2 ? all : ifm_config_flag_joined(options->config, options->workload, flag + 2, words, 2);
}

bool ifm_hint_of_joined(int argc, char **argv, const char *token, const struct ifm_options *options, char *hint,
                        size_t size)
{
    struct ifm_arena *arena = ifm_arena_create();
    const char **words = IFM_ARENA_ARRAY(arena, const char *, argc + 1), *flag, *joined = NULL;
    int at = 1;
    size_t n = 1;
    while (at < argc && argv[at] != token)
        at++;
    if (at < argc && (flag = flag_before(argv, at, &words[0], arena)) != NULL) {
        for (int i = at; i < argc && argv[i][0] != '-'; i++)
            words[n++] = argv[i];
        joined = n < 2 ? NULL : join(flag, words, n, options, arena);
    }
    if (joined != NULL)
        snprintf(hint, size, IFM_JOINED, flag, joined);
    ifm_arena_destroy(arena);
    return joined != NULL;
}

bool ifm_is_unquoted(const struct ifm_options *options)
{
    const struct ifm_positionals *given = options->positionals;
    return given != NULL && given->n > 0 && strchr(given->items[given->n - 1], ' ') == NULL;
}

enum ifm_status ifm_check_quoted(const struct ifm_positionals *given, const char *verb, struct ifm_arena *arena,
                                 struct ifm_error *error)
{
    size_t missing = given->n;
    char joined[256];
    for (size_t i = 0; i < given->n; i++)
        if (!ifm_is_program(given->items[i]) &&
            ifm_hint_of_joined(given->argc, given->argv, given->items[i], given->options, joined, sizeof joined))
            return ifm_fail(error, IFM_USAGE, "", joined, "unexpected argument \"%s\"", given->items[i]);
    for (size_t i = 0; i < given->n; i++) {
        if (strpbrk(given->items[i], " \t\n'\"\\") != NULL)
            return IFM_OK;
        if (missing == given->n && !ifm_is_program(given->items[i]))
            missing = i;
    }
    if (missing == 0 || missing == given->n)
        return IFM_OK;
    const bool file = ifm_file_exists(given->items[missing]) && strchr(given->items[missing - 1], '/') == NULL;
    if (strchr(given->items[missing], '/') != NULL && !file)
        return IFM_OK; /* a path that is not there is said as such; `python3 dir/a.py` is one command */
    return ifm_fail(
        error, IFM_USAGE, ifm_arena_printf(arena, "command %zu", missing + 1), ifm_quoted_hint(given->options, arena),
        "each argument of %s is a whole command, and there is no program %.60s", verb, given->items[missing]);
}
