/* The manual page, in mdoc. */
#include "config/internal.h"

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

/* A paragraph: no line may look like an mdoc request, and each sentence begins a line. */
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

/* Words on a macro line. "\&" keeps a word from being read as a macro; "\:" allows a line break after each choice. */
static void arguments(const char *text, struct ifm_text *out)
{
    static const char *const by[] = {"\\e", "\\(dq", " \\&", "|\\:"};
    if (text[0] == '\0')
        return;
    ifm_text_add(out, " \\&");
    ifm_escape(text, "\\\" |", by, out);
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
    } codes[] = {
        {IFM_OK, "Measured and accepted."},
        {IFM_REJECTED, "Measured, and rejected or regressed."},
        {IFM_USAGE, "Wrong usage or configuration; nothing has run."},
        {IFM_INVALID,
         "The measurement or its record is invalid, a gate is blocked by that, or a gate is inconclusive: its interval "
         "lies on both sides of the threshold; the outcome in verdict.json says which."},
        {IFM_MISSING, "This machine lacks a required capability, or a gate is blocked by that."},
        {IFM_INTERNAL, "An error of the program or of the operating system."},
        {IFM_INTERRUPTED, "Interrupted."}};
    ifm_text_add(out, ".Sh EXIT STATUS\nCommands that measure or judge exit with the answer; those that only inform, "
                      "such as\n.Cm doctor ,\nexit with 0 whatever they found.\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        ifm_text_printf(out, ".It %d\n%s\n", (int)codes[i].code, codes[i].meaning);
    ifm_text_add(out, ".El\n");
}

struct item {
    const char *name, *text;
};

/* A tagged list; `macro` marks the names: "Ev", "Pa". */
static void items(const char *heading, const char *before, const char *macro, const struct item *list, size_t n,
                  struct ifm_text *out)
{
    ifm_text_printf(out, ".Sh %s\n", heading);
    if (before != NULL)
        paragraph(before, out);
    ifm_text_add(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < n; i++) {
        ifm_text_printf(out, ".It %s %s\n", macro, list[i].name);
        paragraph(list[i].text, out);
    }
    ifm_text_add(out, ".El\n");
}

static void environment(struct ifm_text *out)
{
    static const struct item list[] = {
        {"COLUMNS", "How wide lines are, from 60 to 160, on a terminal that does not tell; in a pipe they take 100."},
        {"NO_COLOR", "When set, tables have no colour. They also have none when standard output is not a terminal."},
        {"OPENBLAS_CORETYPE", "Which kernels OpenBLAS uses; the run records it."},
        {"PATH", "Where programs of measured commands are found; the path itself is never published."},
    };
    items("ENVIRONMENT", NULL, "Ev", list, sizeof list / sizeof *list, out);
}

static void files(struct ifm_text *out)
{
    static const struct item list[] = {
        {"config.lock.json", "The configuration, resolved: every parameter with its value. It measures the same again "
                             "with -c, or with rerun."},
        {"plan.json", "Cells, arms, their bytes and operations, and the gates."},
        {"run.log", "The facts of the run, one JSON object a line."},
        {"samples/", "Every sample and every slot, as CSV; nothing is left out or altered."},
        {"derived.json", "Every number with unit, n, interval and state, or the reason why it is absent."},
        {"verdict.json", "The verdict, gate by gate."},
        {"metrics.json", "The numbers in a flat form, for other tools."},
        {"report.csv", "The numbers, one a row."},
        {"report.html", "The report, one file that opens without a network."},
        {"manifest.sha256", "Hashes of all files above."},
        {"manifest.sig", "With --sign, an ed25519 signature over the manifest."},
        {"private.json",
         "Host name, user, folders and command line. They are in no other file, and this file is not hashed."},
    };
    items("FILES", "A run folder, by default below runs/ in the working folder, holds:", "Pa", list,
          sizeof list / sizeof *list, out);
}

static void examples(const char *name, struct ifm_text *out)
{
    static const struct {
        const char *what, *command;
    } list[] = {
        {"What can this machine measure, and what would help?", "doctor"},
        {"Measure decode attention over a KV cache of 4,096 tokens, plain and compressed:",
         "decode --kv-len 4096 --out runs/first"},
        {"See what a study would measure, and for how long:", "run -c study.yaml --dry-run"},
        {"Compare two programs in mirrored blocks:", "exec 'gzip -9 -c FILE' 'gzip -1 -c FILE'"},
        {"Recompute every number from the raw samples, then measure again:",
         "verify runs/first && inferometer rerun runs/first"},
        {"Let a pipeline decide:", "gate runs/first --gates significant --junit gate.xml"},
    };
    ifm_text_add(out, ".Sh EXAMPLES\n");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (i > 0)
            ifm_text_add(out, ".Pp\n");
        paragraph(list[i].what, out);
        ifm_text_printf(out, ".Dl $ %s %s\n", name, list[i].command);
    }
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
    environment(out);
    files(out);
    exit_status(out);
    examples(program->name, out);
}
