/* The manual page, in mdoc. */
#include "config/generate_row.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH = 78 };

/* Whether the space at `at` follows the end of a sentence; closing marks may stand between. */
static bool ends_sentence(const char *text, size_t at)
{
    while (at > 0 && strchr(")]'\"", text[at - 1]) != NULL)
        at--;
    return at > 0 && strchr(".!?", text[at - 1]) != NULL;
}

/* A paragraph of running text: no line of it may look like a request, and each sentence begins a line. */
static void paragraph(const char *text, struct ifm_text *out)
{
    static const char *const by[] = {"\\e"};
    struct ifm_text escaped = {0}, lines = {0};
    ifm_escape(text, "\\", by, &escaped);
    ifm_wrap(escaped.data == NULL ? "" : escaped.data, 0, 0, WIDTH, &lines);
    bool start = true;
    for (size_t i = 0; i < lines.size; i++) {
        char byte = lines.data[i];
        if (byte == ' ' && ends_sentence(lines.data, i))
            byte = '\n';
        if (start && (byte == '.' || byte == '\''))
            ifm_text_add(out, "\\&");
        ifm_text_append(out, &byte, 1);
        start = byte == '\n';
    }
    ifm_text_add(out, "\n");
    ifm_text_free(&escaped);
    ifm_text_free(&lines);
}

/* A sentence of the tables, which have no full stop. */
static void sentence(const char *text, struct ifm_text *out)
{
    struct ifm_text whole = {0};
    ifm_text_printf(&whole, "%s.", text);
    paragraph(whole.data, out);
    ifm_text_free(&whole);
}

/* Words on a macro line; "\&" keeps a word that is the name of a macro from being one. */
static void arguments(const char *text, struct ifm_text *out)
{
    static const char *const by[] = {"\\e", "\\(dq", " \\&"};
    if (text[0] == '\0')
        return;
    ifm_text_add(out, " \\&");
    ifm_escape(text, "\\\" ", by, out);
}

static void option_item(const struct ifm_option *option, struct ifm_text *out)
{
    ifm_text_add(out, ".It");
    if (option->letter != '\0')
        ifm_text_printf(out, " Fl %c ,", option->letter);
    ifm_text_printf(out, " Fl -%s", option->flag);
    if (option->argument != NULL) {
        ifm_text_add(out, " Ar");
        arguments(option->choices != NULL ? option->choices : option->argument, out);
    }
    ifm_text_add(out, "\n");
    sentence(option->help, out);
}

static void commands(const struct ifm_program *program, struct ifm_text *out)
{
    ifm_text_add(out, ".Sh COMMANDS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < program->n_commands; i++) {
        const struct ifm_command *command = &program->commands[i];
        ifm_text_printf(out, ".It Cm %s", command->name);
        if (command->synopsis[0] != '\0')
            ifm_text_add(out, " No");
        arguments(command->synopsis, out);
        ifm_text_add(out, "\n");
        sentence(command->help, out);
        if (command->n_options == 0)
            continue;
        ifm_text_add(out, ".Bl -tag -width Ds\n");
        for (size_t j = 0; j < command->n_options; j++)
            option_item(&command->options[j], out);
        ifm_text_add(out, ".El\n");
    }
    ifm_text_add(out, ".El\n");
}

static void row_item(const struct ifm_param *row, bool flags, struct ifm_arena *arena, struct ifm_text *out)
{
    struct ifm_text value = {0}, text = {0};
    bool flag = flags && row->flag != NULL;
    const char *key = flag ? ifm_arena_printf(arena, "key %s", row->path) : NULL;
    ifm_row_value(row, &value);
    if (flag)
        ifm_text_printf(out, ".It Fl -%s%s", row->type == IFM_TYPE_BOOL ? "[no-]" : "", row->flag);
    else
        ifm_text_printf(out, ".It Ic %s", row->path);
    if (value.size > 0) {
        ifm_text_add(out, " Ar");
        arguments(value.data, out);
    }
    ifm_row_sentence(row, key, arena, &text);
    ifm_text_add(out, "\n");
    sentence(text.data, out);
    ifm_text_free(&value);
    ifm_text_free(&text);
}

static void section_items(const struct ifm_section *section, bool flags, struct ifm_arena *arena, struct ifm_text *out)
{
    if (section->n == 0)
        return;
    ifm_text_add(out, ".Ss");
    arguments(section->name, out);
    ifm_text_add(out, "\n");
    sentence(section->help, out);
    ifm_text_add(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < section->n; i++)
        row_item(&section->rows[i], flags, arena, out);
    ifm_text_add(out, ".El\n");
}

static void parameters(const struct ifm_program *program, struct ifm_text *out)
{
    struct ifm_arena *arena = ifm_arena_create();
    ifm_text_add(out, ".Sh PARAMETERS\n");
    paragraph("Every parameter is a key of the configuration file and can be given with --override key=value. Most "
              "have a flag of their own. A value marked [,..] takes a list, which becomes an axis of the study.",
              out);
    for (size_t i = 0; program->sections[i] != NULL; i++)
        section_items(program->sections[i], true, arena, out);
    section_items(&ifm_section_arm, false, arena, out);
    section_items(&ifm_section_gate, false, arena, out);
    ifm_arena_destroy(arena);
}

static void exit_status(struct ifm_text *out)
{
    static const struct {
        enum ifm_status code;
        const char *meaning;
    } codes[] = {{IFM_OK, "Measured and accepted."},
                 {IFM_REJECTED, "Measured, and rejected or regressed."},
                 {IFM_USAGE, "Wrong usage or configuration; nothing has run."},
                 {IFM_INVALID, "The measurement or its record is invalid, or a gate is blocked by it."},
                 {IFM_MISSING, "This machine lacks a required capability, or a gate is blocked by that."},
                 {IFM_INTERNAL, "An error of the program or of the operating system."},
                 {IFM_INTERRUPTED, "Interrupted."}};
    ifm_text_add(out, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        ifm_text_printf(out, ".It %d\n%s\n", (int)codes[i].code, codes[i].meaning);
    ifm_text_add(out, ".El\n");
}

void ifm_generate_man(const struct ifm_program *program, struct ifm_text *out)
{
    ifm_text_printf(out, ".Dd %s\n.Dt ", program->date);
    for (const char *at = program->name; *at != '\0'; at++)
        ifm_text_printf(out, "%c", toupper((unsigned char)*at));
    ifm_text_printf(out, " 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd", program->name);
    arguments(program->purpose, out);
    ifm_text_add(out, "\n.Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar options\n.Nm\n.Fl -help | Fl -version\n");
    ifm_text_add(out, ".Sh DESCRIPTION\n");
    paragraph(program->about, out);
    ifm_text_printf(out, ".Pp\nThis page describes version %s.\n", program->version);
    commands(program, out);
    parameters(program, out);
    exit_status(out);
}
