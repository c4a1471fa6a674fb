/* Shell completion for bash, zsh and fish. */
#include "config/internal.h"

#include <string.h>

/* A flag of a command, wherever it comes from. */
struct flag {
    const char *name, *help;
    char letter;
    bool takes_value;
    const char *argument; /* what the value is called */
    const char *words;    /* that the value completes to, or "" */
};

struct walk {
    const struct ifm_program *program;
    struct ifm_arena *arena;
    struct ifm_text *out;
};

typedef void flag_fn(const struct walk *walk, const struct ifm_command *command, const struct flag *flag);

/* The keys that --override takes, each with its "=". */
static const char *override_words(const struct walk *walk)
{
    struct ifm_text words = {0};
    for (size_t i = 0; walk->program->sections[i] != NULL; i++)
        for (size_t j = 0; j < walk->program->sections[i]->n; j++)
            ifm_text_printf(&words, "%s%s=", words.size > 0 ? " " : "", walk->program->sections[i]->rows[j].path);
    return ifm_text_keep(&words, walk->arena);
}

static void option_flag(const struct walk *walk, const struct ifm_command *command, const struct ifm_option *option,
                        flag_fn *visit)
{
    struct ifm_text words = {0};
    if (option->choices != NULL)
        ifm_words(option->choices, " ", &words);
    struct flag flag = {option->flag,     option->help,
                        option->letter,   option->argument != NULL,
                        option->argument, ifm_text_keep(&words, walk->arena)};
    if (strcmp(option->flag, "override") == 0)
        flag.words = override_words(walk);
    visit(walk, command, &flag);
}

static void row_flag(const struct walk *walk, const struct ifm_command *command, const struct ifm_param *row,
                     flag_fn *visit)
{
    if (row->flag == NULL)
        return;
    bool boolean = row->type == IFM_TYPE_BOOL;
    struct flag flag = {row->flag, row->help, '\0', !boolean, "value", ""};
    if (!boolean)
        flag.words = ifm_row_words(row, walk->program->sections, walk->arena);
    visit(walk, command, &flag);
    if (boolean) {
        flag.name = ifm_arena_printf(walk->arena, "no-%s", row->flag);
        flag.help = ifm_arena_printf(walk->arena, "Not: %s", row->help);
        visit(walk, command, &flag);
    }
}

static void each_flag(const struct walk *walk, const struct ifm_command *command, flag_fn *visit)
{
    for (size_t i = 0; i < command->n_options; i++)
        option_flag(walk, command, &command->options[i], visit);
    for (size_t i = 0; command->sections != NULL && command->sections[i] != NULL; i++)
        for (size_t j = 0; j < command->sections[i]->n; j++)
            row_flag(walk, command, &command->sections[i]->rows[j], visit);
}

static bool is_path(const struct flag *flag, const char *kind)
{
    return flag->argument != NULL && strcmp(flag->argument, kind) == 0;
}

/* "inferometer" as part of a shell function's name. */
static void function_name(const struct ifm_program *program, struct ifm_text *out)
{
    for (const char *at = program->name; *at != '\0'; at++)
        ifm_text_append(out, *at == '-' ? "_" : at, 1);
}

/* The value of a flag whose words are known, or which names a file or folder. */
static void bash_value(const struct walk *walk, const struct ifm_command *command, const struct flag *flag)
{
    if (!flag->takes_value)
        return;
    ifm_text_printf(walk->out, "    %s:--%s", command->name, flag->name);
    if (flag->letter != '\0')
        ifm_text_printf(walk->out, " | %s:-%c", command->name, flag->letter);
    ifm_text_add(walk->out, ")\n");
    if (flag->words[0] != '\0')
        ifm_text_printf(walk->out, "        mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\")\n", flag->words);
    else if (is_path(flag, "DIR"))
        ifm_text_add(walk->out, "        mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n");
    else if (is_path(flag, "FILE"))
        ifm_text_add(walk->out, "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n");
    if (strcmp(flag->name, "override") == 0)
        ifm_text_add(walk->out, "        compopt -o nospace\n");
    ifm_text_add(walk->out, "        return ;;\n");
}

static void bash_name(const struct walk *walk, const struct ifm_command *command, const struct flag *flag)
{
    (void)command;
    ifm_text_printf(walk->out, " --%s", flag->name);
}

void ifm_generate_bash(const struct ifm_program *program, struct ifm_text *out)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct walk walk = {program, arena, out};
    ifm_text_printf(out, "# bash completion for %s, generated from the parameter tables\n_", program->name);
    function_name(program, out);
    ifm_text_add(out, "()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                      "    local command=${COMP_WORDS[1]}\n    COMPREPLY=()\n"
                      "    if ((COMP_CWORD == 1)); then\n        mapfile -t COMPREPLY < <(compgen -W '");
    for (size_t i = 0; i < program->n_commands; i++)
        ifm_text_printf(out, "%s ", program->commands[i].name);
    ifm_text_add(out, "--help --version' -- \"$cur\")\n        return\n    fi\n    case $command:$prev in\n");
    for (size_t i = 0; i < program->n_commands; i++)
        each_flag(&walk, &program->commands[i], bash_value);
    ifm_text_add(out, "    esac\n    [[ $cur == -* ]] || return\n    case $command in\n");
    for (size_t i = 0; i < program->n_commands; i++) {
        ifm_text_printf(out, "    %s) mapfile -t COMPREPLY < <(compgen -W '--help", program->commands[i].name);
        each_flag(&walk, &program->commands[i], bash_name);
        ifm_text_add(out, "' -- \"$cur\") ;;\n");
    }
    ifm_text_add(out, "    esac\n}\ncomplete -o default -F _");
    function_name(program, out);
    ifm_text_printf(out, " %s\n", program->name);
    ifm_arena_destroy(arena);
}

/* Text inside '...[here]...' of an _arguments specification. */
static void zsh_text(const char *text, struct ifm_text *out)
{
    static const char *const by[] = {"'\\''", "\\[", "\\]", "\\:", "\\\\"};
    ifm_escape(text, "'[]:\\", by, out);
}

static void zsh_flag(const struct walk *walk, const struct ifm_command *command, const struct flag *flag)
{
    static const char *const by[] = {"'\\''", "\\:"};
    (void)command;
    ifm_text_printf(walk->out, " \\\n            '%s--%s%s[", strcmp(flag->name, "override") == 0 ? "*" : "",
                    flag->name, flag->takes_value ? "=" : "");
    zsh_text(flag->help, walk->out);
    ifm_text_add(walk->out, "]");
    if (flag->takes_value && flag->words[0] != '\0') {
        ifm_text_printf(walk->out, ":%s:(", flag->argument);
        ifm_escape(flag->words, "':", by, walk->out);
        ifm_text_add(walk->out, ")");
    } else if (flag->takes_value) {
        const char *action = is_path(flag, "DIR") ? "_files -/" : is_path(flag, "FILE") ? "_files" : " ";
        ifm_text_printf(walk->out, ":%s:%s", flag->argument, action);
    }
    ifm_text_add(walk->out, "'");
    if (flag->letter != '\0')
        ifm_text_printf(walk->out, " \\\n            '-%c+[same as --%s]:%s:_files'", flag->letter, flag->name,
                        flag->argument != NULL ? flag->argument : "value");
}

void ifm_generate_zsh(const struct ifm_program *program, struct ifm_text *out)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct walk walk = {program, arena, out};
    ifm_text_printf(out, "#compdef %s\n# Generated from the parameter tables.\n_", program->name);
    function_name(program, out);
    ifm_text_add(out, "()\n{\n    local -a commands\n    commands=(\n");
    for (size_t i = 0; i < program->n_commands; i++) {
        ifm_text_printf(out, "        '%s:", program->commands[i].name);
        zsh_text(program->commands[i].help, out);
        ifm_text_add(out, "'\n");
    }
    ifm_text_add(out, "    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n        return\n"
                      "    fi\n    shift words\n    ((CURRENT--))\n    case $words[1] in\n");
    for (size_t i = 0; i < program->n_commands; i++) {
        ifm_text_printf(out, "    %s)\n        _arguments '--help[Show help]'", program->commands[i].name);
        each_flag(&walk, &program->commands[i], zsh_flag);
        ifm_text_add(out, " \\\n            '*:file:_files' ;;\n");
    }
    ifm_text_add(out, "    esac\n}\n_");
    function_name(program, out);
    ifm_text_add(out, " \"$@\"\n");
    ifm_arena_destroy(arena);
}

static void fish_text(const char *text, struct ifm_text *out)
{
    static const char *const by[] = {"\\'", "\\\\"};
    ifm_escape(text, "'\\", by, out);
}

static void fish_flag(const struct walk *walk, const struct ifm_command *command, const struct flag *flag)
{
    ifm_text_printf(walk->out, "complete -c %s -n '__fish_seen_subcommand_from %s' -l %s", walk->program->name,
                    command->name, flag->name);
    if (flag->letter != '\0')
        ifm_text_printf(walk->out, " -s %c", flag->letter);
    if (flag->takes_value && flag->words[0] != '\0') {
        ifm_text_add(walk->out, " -xa '");
        fish_text(flag->words, walk->out);
        ifm_text_add(walk->out, "'");
    } else if (flag->takes_value) {
        ifm_text_add(walk->out, is_path(flag, "DIR")    ? " -xa '(__fish_complete_directories)'"
                                : is_path(flag, "FILE") ? " -rF"
                                                        : " -x");
    }
    ifm_text_add(walk->out, " -d '");
    fish_text(flag->help, walk->out);
    ifm_text_add(walk->out, "'\n");
}

void ifm_generate_fish(const struct ifm_program *program, struct ifm_text *out)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct walk walk = {program, arena, out};
    ifm_text_printf(out, "# fish completion for %s, generated from the parameter tables\n", program->name);
    for (size_t i = 0; i < program->n_commands; i++) {
        ifm_text_printf(out, "complete -c %s -n __fish_use_subcommand -xa %s -d '", program->name,
                        program->commands[i].name);
        fish_text(program->commands[i].help, out);
        ifm_text_add(out, "'\n");
    }
    for (size_t i = 0; i < program->n_commands; i++)
        each_flag(&walk, &program->commands[i], fish_flag);
    ifm_arena_destroy(arena);
}
