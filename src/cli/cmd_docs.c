/* Commands that write about the command itself: help, man, completion, schema. All of it comes from the tables. */
#include "cli/cli.h"

#include "base/text.h"
#include <stdio.h>
#include <string.h>

static void print_and_free(struct ifm_text *text)
{
    if (text->data != NULL)
        fwrite(text->data, 1, text->size, stdout);
    ifm_text_free(text);
}

static void print_overview(void)
{
    printf("inferometer measures LLM inference and refuses numbers that it cannot defend.\n\n"
           "usage: inferometer COMMAND [OPTIONS]\n\n");
    for (const struct ifm_verb *verb = ifm_verbs; verb->name != NULL; verb++)
        printf("  %-11s %s\n", verb->name, verb->help);
    printf("\n`inferometer help COMMAND` lists a command's options. Start with `inferometer decode`.\n"
           "Exit codes: 0 accepted, 1 rejected, 2 usage, 3 measurement invalid, 4 capability missing, 5 internal, "
           "130 interrupted.\n");
}

static void print_command(const struct ifm_command *command)
{
    struct ifm_text text = {0};
    printf("usage: inferometer %s%s%s\n\n%s.\n", command->name, command->synopsis[0] == '\0' ? "" : " ",
           command->synopsis, command->help);
    if (command->n_options > 0) {
        printf("\nOptions:\n");
        ifm_generate_options(command->options, command->n_options, &text);
    }
    if (command->sections != NULL) {
        ifm_text_add(&text, "\nParameters (a list such as 512,1024 makes an axis where \"[,..]\" stands):\n");
        ifm_generate_help(command->sections, &text);
    }
    print_and_free(&text);
}

enum ifm_status ifm_cmd_help(int argc, char **argv, struct ifm_error *error)
{
    if (argc > 2)
        return ifm_fail(error, IFM_USAGE, "", "`inferometer help COMMAND`", "unexpected argument \"%s\"", argv[2]);
    if (argc < 2) {
        print_overview();
        return IFM_OK;
    }
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_program *program = ifm_cli_program(arena);
    enum ifm_status status =
        ifm_fail(error, IFM_USAGE, "", "`inferometer help` lists the commands", "unknown command \"%s\"", argv[1]);
    for (size_t i = 0; i < program->n_commands; i++)
        if (strcmp(program->commands[i].name, argv[1]) == 0) {
            print_command(&program->commands[i]);
            status = IFM_OK;
        }
    ifm_arena_destroy(arena);
    return status;
}

static enum ifm_status generate(int argc, char **argv, int wanted,
                                void (*make)(const struct ifm_program *, struct ifm_text *), struct ifm_error *error)
{
    if (argc > wanted)
        return ifm_fail(error, IFM_USAGE, "", "", "unexpected argument \"%s\"", argv[wanted]);
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_text text = {0};
    make(ifm_cli_program(arena), &text);
    print_and_free(&text);
    ifm_arena_destroy(arena);
    return IFM_OK;
}

enum ifm_status ifm_cmd_man(int argc, char **argv, struct ifm_error *error)
{
    return generate(argc, argv, 1, ifm_generate_man, error);
}

static void schema(const struct ifm_program *program, struct ifm_text *out)
{
    ifm_generate_schema(program->sections, out);
}

static void markdown(const struct ifm_program *program, struct ifm_text *out)
{
    ifm_generate_markdown(program->sections, out);
}

enum ifm_status ifm_cmd_schema(int argc, char **argv, struct ifm_error *error)
{
    if (argc == 2 && strcmp(argv[1], "--markdown") == 0)
        return generate(argc, argv, 2, markdown, error);
    return generate(argc, argv, 1, schema, error);
}

enum ifm_status ifm_cmd_completion(int argc, char **argv, struct ifm_error *error)
{
    const char *shell = argc > 1 ? argv[1] : "";
    if (strcmp(shell, "bash") == 0)
        return generate(argc, argv, 2, ifm_generate_bash, error);
    if (strcmp(shell, "zsh") == 0)
        return generate(argc, argv, 2, ifm_generate_zsh, error);
    if (strcmp(shell, "fish") == 0)
        return generate(argc, argv, 2, ifm_generate_fish, error);
    return ifm_fail(error, IFM_USAGE, "", "name one of bash, zsh, fish", "unknown shell \"%s\"", shell);
}
