/* The table of commands, the program as the generators see it, and the commands that write about commands: help, man,
 * completion, schema. */
#include "cli/cli.h"

#include "base/text.h"
#include <stdio.h>
#include <string.h>

/* Rows that several commands have. */
#define HELP "help", 'h', NULL, NULL, "print this help"
#define PLUGIN "plugin", '\0', "FILE", NULL, "load a workload from a shared object; may be given often"
#define INPROCESS                                                                                                      \
    "inprocess", '\0', NULL, NULL, "run the code of plugins in this process, not in a child: for debuggers"
#define FORMAT "format", '\0', "FORMAT", "table|md|csv|json|jsonl"
#define RESULTS FORMAT, "how results are printed"
#define VERBOSE "verbose", '\0', NULL, NULL, "print rates, ceilings, notes, warnings and checklists too"
#define QUIET "quiet", '\0', NULL, NULL, "no progress and no notes"
#define PUBLISH                                                                                                        \
    "publish-commands", '\0', NULL, NULL,                                                                              \
        "the record and the report show the commands; else private.json alone has them"
#define NEW_FOLDER "out", '\0', "DIR", NULL, "the run folder, which must be new or empty (default: below runs/)"
#define RESUME "resume", '\0', "DIR", NULL, "go on with an interrupted run"
#define WAIT_QUIET                                                                                                     \
    "wait-quiet", '\0', "TIME", NULL, "wait at most so long until nothing else runs on this machine, then measure"
#define DRY_RUN "dry-run", '\0', NULL, NULL, "print the plan and a time estimate; record nothing"
#define SIGN                                                                                                           \
    "sign", '\0', "KEY", NULL, "sign the folder's manifest with this ed25519 key (a PEM file); verify says by whom"
#define LOCK_STATE                                                                                                     \
    "state", '\0', "FILE", NULL, "the state file with the old values (default: below XDG_STATE_HOME or ~/.local/state)"
#define LOCK_ROOT "root", '\0', "DIR", NULL, "a tree of files in place of this machine's /proc and /sys"
#define KNOBS_SHOWN FORMAT, "how the knobs are printed"

static const struct ifm_option help_options[] = {{HELP}};
static const struct ifm_option plugin_options[] = {{PLUGIN}, {INPROCESS}, {HELP}};

static const struct ifm_option run_options[] = {
    {"config", 'c', "FILE", NULL, "a YAML study, or the config.lock.json of a run"},
    {"override", '\0', "PATH=VALUE", NULL, "set one parameter; may be given often; VALUE may be a list"},
    {NEW_FOLDER},
    {RESUME},
    {PLUGIN},
    {INPROCESS},
    {WAIT_QUIET},
    {SIGN},
    {DRY_RUN},
    {RESULTS},
    {VERBOSE},
    {QUIET},
    {HELP},
};

/* What the measured commands of exec and ci have in common. */
#define OF_COMMANDS                                                                                                    \
    {"override", '\0', "PATH=VALUE", NULL, "set one parameter; may be given often"}, {PUBLISH}, {NEW_FOLDER},          \
        {RESUME}, {WAIT_QUIET}, {SIGN},                                                                                \
        {"dry-run", '\0', NULL, NULL, "run each command once to estimate the time, and print the plan; no record"},    \
        {RESULTS}, {VERBOSE}, {QUIET},                                                                                 \
    {                                                                                                                  \
        HELP                                                                                                           \
    }

static const struct ifm_option exec_options[] = {
    {"name", '\0', "NAME", NULL, "name of a command's arm, once for each command (default: the program's name)"},
    {"config", 'c', "FILE", NULL, "a YAML study whose settings are used"},
    OF_COMMANDS,
};

static const struct ifm_option ci_options[] = {
    {"max-regression", '\0', "PERCENT", NULL, "how much longer NEW may take than OLD (default: 3%)"},
    {"metric", '\0', "METRIC", "time|cpu",
     "what is judged: time, or processor time (may decide under load, sees no waiting)"},
    {"junit", '\0', "FILE", NULL, "a copy of the folder's junit.xml"},
    {"markdown", '\0', "FILE", NULL, "a copy of the folder's gate.md, for a pull request"},
    {"name", '\0', "NAME", NULL, "name of a command's arm, once for each (default: old and new)"},
    {"config", 'c', "FILE", NULL, "a YAML study whose settings and gates are used"},
    OF_COMMANDS,
};

static const struct ifm_option rerun_options[] = {
    {"out", '\0', "DIR", NULL, "the new run folder (default: below runs/)"},
    {"times", '\0', "N", NULL,
     "measure N sessions, into DIR-1, DIR-2, ..., and say which speed-up may be quoted (exit 0: all; 1: runs "
     "contradict one another, or times without a ratio do not repeat; 3: else)"},
    {"epsilon", '\0', "PERCENT", NULL, "sessions further than this from their mean are not repeatable (default: 5%)"},
    {PLUGIN},
    {INPROCESS},
    {WAIT_QUIET},
    {SIGN},
    {RESULTS},
    {VERBOSE},
    {QUIET},
    {HELP},
};

static const struct ifm_option folder_options[] = {{RESULTS}, {VERBOSE}, {HELP}};
static const struct ifm_option derive_options[] = {{SIGN}, {RESULTS}, {VERBOSE}, {HELP}};
static const struct ifm_option verify_options[] = {
    {"signer", '\0', "KEY", NULL, "the folder must be signed by this ed25519 key (a PEM file of the public part)"},
    {PLUGIN},
    {INPROCESS},
    {HELP},
};
static const struct ifm_option list_options[] = {{RESULTS}, {HELP}};

static const struct ifm_option compare_options[] = {
    {"cell", '\0', "NAME", NULL, "only this cell"},
    {"varies", '\0', "PATH[,PATH...]", NULL, "between runs: settings that may differ, such as decode.model"},
    {"across-devices", '\0', NULL, NULL, "runs of two devices: how near each comes to its own ceilings"},
    {"verbose", '\0', NULL, NULL, "between runs: every number that both have, with its notes"},
    {RESULTS},
    {HELP},
};

static const struct ifm_option gate_options[] = {
    {"against", '\0', "DIR", NULL, "judge against the ratios of this run instead of the run's own gates"},
    {"varies", '\0', "PATH[,PATH...]", NULL, "with --against: settings that may differ, such as decode.isa"},
    {"gates", '\0', "NAME[,NAME...]", "sop|golden-ticket|significant|no-cpu-regression=3%|no-regression=3%",
     "judge by these presets too; significant wants a speed-up of 1.1x as well"},
    {"junit", '\0', "FILE", NULL, "write JUnit XML; - is standard output"},
    {"markdown", '\0', "FILE", NULL, "write a table for a pull request; - is standard output"},
    {RESULTS},
    {HELP},
};

static const struct ifm_option power_options[] = {
    {"seconds", '\0', "NUMBER", NULL, "how long each sensor is watched (default: 1)"},
    {"meter", '\0', "FILE", NULL, "CSV file or pipe of an external meter, with lines t_s,power_w"},
    {"rated-w", '\0', "NUMBER", NULL, "rated power of all processors together, for an energy estimate"},
    {RESULTS},
    {HELP},
};

static const struct ifm_option cachegrind_options[] = {
    {"first-level", '\0', "SIZE,WAYS,LINE", NULL, "caches of data and of instructions (default: 32KiB,8,64)"},
    {"last-level", '\0', "SIZE,WAYS,LINE", NULL, "the last level (default: 1MiB,16,64)"},
    {"steps", '\0', "N", NULL, "steps that are averaged (default: 1)"},
    {RESULTS},
    {QUIET},
    {HELP},
};

/* Which launches ncu profiles, and how. */
#define LAUNCHES                                                                                                       \
    {"kernel", '\0', "REGEX", NULL, "only kernels whose name fits"},                                                   \
        {"nvtx", '\0', "RANGE", NULL,                                                                                  \
         "only launches in this NVTX range; \"step/\" for one that is pushed and popped"},                             \
        {"launch-skip", '\0', "N", NULL, "leave out the first launches that fit"},                                     \
        {"launch-count", '\0', "N", NULL, "profile so many launches"},                                                 \
    {                                                                                                                  \
        "replay", '\0', "MODE", "kernel|application|range|app-range", "how ncu runs more than one pass"                \
    }
#define TABLE                                                                                                          \
    {                                                                                                                  \
        "csv", '\0', "FILE", NULL, "write ncu's own table here"                                                        \
    }

static const struct ifm_option ncu_options[] = {
    {"import", '\0', "FILE", NULL, "read this report in place of running: its CSV, or a .ncu-rep"},
    {"set", '\0', "NAME", NULL, "counters: a set of the GPU's list, or all (default: memory, which one pass holds)"},
    {"metrics", '\0', "NAME[,NAME...]", NULL, "more metrics by ncu's names, for the JSON file"},
    LAUNCHES,
    {"out", '\0', "FILE", NULL, "write ncu.json here"},
    TABLE,
    {RESULTS},
    {HELP},
};

static const struct ifm_option flops_options[] = {
    {"prompt-tokens", '\0', "N[,N...]", NULL,
     "tokens of a sequence that are there at first; one for all, or one for each sequence (default: 512)"},
    {"generated-tokens", '\0', "N[,N...]", NULL, "tokens that follow them, in the same way (default: 128)"},
    {"batch", '\0', "N", NULL, "sequences (default: 1)"},
    {"tokens-per-second", '\0', "NUMBER", NULL, "a measured rate of generated tokens, for its FLOP/s"},
    {RESULTS},
    {HELP},
};

static const struct ifm_option profile_options[] = {
    {"import", '\0', "FILE", NULL, "read this report of ncu in place of running: its CSV, or a .ncu-rep"},
    {"all", '\0', NULL, NULL, "every limit of a kernel, not the three largest"},
    LAUNCHES,
    TABLE,
    {RESULTS},
    {HELP},
};

static const struct ifm_option trace_options[] = {
    {"out", '\0', "DIR", NULL, "folder for trace.json and the rows, new or empty (default: trace)"},
    {RESULTS},
    {HELP},
};

static const struct ifm_option lock_options[] = {
    {"gpu-clock", '\0', "MHZ", NULL, "lowest = highest clock of the multiprocessors"},
    {"memory-clock", '\0', "MHZ", NULL, "lowest = highest clock of the GPU's memory"},
    {"power-cap", '\0', "W", NULL, "power limit of the GPU"},
    {"persistence", '\0', NULL, NULL, "keep the GPU's driver loaded; it forgets locks when it unloads"},
    {"gpu", '\0', "LIST", NULL, "these GPUs, such as 0,1 (default: every one)"},
    {"governor", '\0', "NAME", NULL, "governor of every allowed CPU, such as performance"},
    {"frequency", '\0', "MHZ", NULL, "lowest = highest clock of every allowed CPU"},
    {"turbo", '\0', "off", "off", "no clocks above the nominal one"},
    {"dry-run", '\0', NULL, NULL, "print the plan and the present values; change nothing"},
    {LOCK_STATE},
    {LOCK_ROOT},
    {KNOBS_SHOWN},
    {HELP},
};
static const struct ifm_option unlock_options[] = {{LOCK_STATE}, {LOCK_ROOT}, {KNOBS_SHOWN}, {HELP}};

#define OPTIONS(table) (table), sizeof(table) / sizeof *(table)
#define MEASURES .measures = true, .main = ifm_cmd_run

static enum ifm_status cmd_help(int argc, char **argv, struct ifm_error *error);
static enum ifm_status cmd_document(int argc, char **argv, struct ifm_error *error);

const struct ifm_verb ifm_verbs[] = {
    {"run", "[-c FILE] [--out DIR] [OPTIONS]", "measure a study and judge it", OPTIONS(run_options), MEASURES},
    {"decode", "[OPTIONS]", "measure decode attention over f16 and compressed KV caches, with the loss of each",
     OPTIONS(run_options), MEASURES},
    {"attention", "[OPTIONS]", "measure attention of whole sequences beside OpenBLAS matrix products",
     OPTIONS(run_options), MEASURES},
    {"gemm", "[OPTIONS]", "measure products of a few rows with weights in f32, bf16, int8 and int4",
     OPTIONS(run_options), MEASURES},
    {"stream", "[OPTIONS]", "measure this device's bandwidth, FLOP rate and cache sizes", OPTIONS(run_options),
     MEASURES},
    {"null", "[OPTIONS]", "measure the lab itself with a step that does nothing", OPTIONS(run_options), MEASURES},
    {"exec", "'COMMAND' ['COMMAND'...] [OPTIONS]",
     "measure any programs, each argument one command, in mirrored blocks", OPTIONS(exec_options), .measures = true,
     .main = ifm_cmd_exec},
    {"ci", "'OLD' 'NEW' [OPTIONS]",
     "measure two programs in mirrored blocks and fail where NEW is slower; Markdown and JUnit in the run folder",
     OPTIONS(ci_options), .measures = true, .main = ifm_cmd_ci},
    {"rerun", "DIR [OPTIONS]", "measure again with the exact configuration of a run folder", OPTIONS(rerun_options),
     .main = ifm_cmd_rerun},
    {"derive", "DIR", "recompute every number of a run folder from its raw record", OPTIONS(derive_options),
     .main = ifm_cmd_derive},
    {"judge", "DIR", "recompute the verdict of a run folder and exit with it", OPTIONS(folder_options),
     .main = ifm_cmd_judge},
    {"report", "DIR", "write the report of a run folder again", OPTIONS(folder_options), .main = ifm_cmd_derive},
    {"verify", "DIR", "check every hash of a run folder and recompute every number", OPTIONS(verify_options),
     .main = ifm_cmd_verify},
    {"compare", "DIR [ARM...] | DIR DIR...",
     "compare arms of a run, or whole runs; the exit code is 0 whatever was found", OPTIONS(compare_options),
     .plain = ifm_cmd_compare, .prints = true},
    {"gate", "DIR [--gates NAME | --against DIR]", "judge a run for a pipeline and exit with the answer",
     OPTIONS(gate_options), .plain = ifm_cmd_gate},
    {"list", "[DIR]", "list the run folders below DIR (default: runs), newest first", OPTIONS(list_options),
     .plain = ifm_cmd_list, .prints = true},
    {"summary", "DIR", "print a summary of at most 1,024 bytes to paste", OPTIONS(help_options),
     .plain = ifm_cmd_summary, .prints = true},
    {"explain", "[NAME]", "print what a metric, a heading, a rule or a word of the output means", OPTIONS(help_options),
     .main = ifm_cmd_explain, .prints = true},
    {"doctor", "", "print what this machine can and cannot measure, with remedies", OPTIONS(help_options),
     .main = ifm_cmd_doctor, .prints = true},
    {"cachegrind", "WORKLOAD [OPTIONS]",
     "print what a step of each arm reads, writes and misses in simulated caches (valgrind)",
     OPTIONS(cachegrind_options), .main = ifm_cmd_cachegrind},
    {"ncu", "[OPTIONS] -- PROGRAM ARGUMENTS... | --import FILE",
     "print what each kernel of any program reads, writes and hits, by Nsight Compute", OPTIONS(ncu_options),
     .plain = ifm_cmd_ncu, .takes_command = true},
    {"profile", "DIR | [OPTIONS] -- PROGRAM ARGUMENTS... | --import FILE",
     "print what limits each arm of a run, or each kernel of a program (by Nsight Compute): the three largest shares "
     "first, "
     "with what to do",
     OPTIONS(profile_options), .plain = ifm_cmd_profile, .takes_command = true},
    {"trace", "[--out DIR] -- COMMAND ARGUMENTS...",
     "run a program and count the kernels, launches, copies and calls of its GPU, with a trace for a viewer",
     OPTIONS(trace_options), .plain = ifm_cmd_trace, .takes_command = true},
    {"flops", "MODEL [OPTIONS]",
     "print the operations that a model takes for a prompt and generated tokens, by its config.json or its files",
     OPTIONS(flops_options), .plain = ifm_cmd_flops, .prints = true},
    {"power", "[OPTIONS]", "print what can measure power and energy here, each sensor watched for a moment",
     OPTIONS(power_options), .plain = ifm_cmd_power, .prints = true},
    {"lock", "KNOBS [-- COMMAND ARGUMENTS...]",
     "fix clocks, power limit, governor or turbo while a command runs, or until `unlock`", OPTIONS(lock_options),
     .plain = ifm_cmd_lock, .takes_command = true},
    {"unlock", "", "put back what `lock` has changed, also after a crash", OPTIONS(unlock_options),
     .plain = ifm_cmd_unlock},
    {"workloads", "", "list what can be measured", OPTIONS(plugin_options), .main = ifm_cmd_workloads, .prints = true},
    {"help", "[COMMAND]", "print help", plugin_options, 2, .main = cmd_help, .prints = true},
    {"man", "", "print the manual page", NULL, 0, .main = cmd_document, .prints = true},
    {"completion", "bash|zsh|fish", "print a shell completion script", NULL, 0, .main = cmd_document, .prints = true},
    {"schema", "[--markdown]", "print the JSON Schema of the configuration", plugin_options, 2, .main = cmd_document,
     .prints = true},
    {"version", "", "print the version", NULL, 0, .main = ifm_cmd_version, .prints = true},
    {NULL, NULL, NULL, NULL, 0, .main = NULL},
};

const struct ifm_verb *ifm_verb_find(const char *name)
{
    for (const struct ifm_verb *verb = ifm_verbs; verb->name != NULL; verb++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

/* Sections whose flags a command takes: the common ones, then its own workload's or, for the program, all of them. */
static const struct ifm_section *const *sections_of(const char *command, bool all, struct ifm_arena *arena)
{
    size_t n = 0;
    bool programs = strcmp(command, "exec") == 0 || strcmp(command, "ci") == 0;
    const char *workload = programs ? "command" : command;
    const struct ifm_section **sections = IFM_ARENA_ARRAY(arena, const struct ifm_section *, 64);
    sections[n++] = &ifm_section_general;
    sections[n++] = &ifm_section_device;
    sections[n++] = &ifm_section_measure;
    for (size_t i = 0; ifm_workloads[i] != NULL; i++)
        if (all || strcmp(ifm_workloads[i]->name, workload) == 0)
            sections[n++] = ifm_workloads[i]->params;
    return sections;
}

/* The specification's flags follow the options of `decode`, which accepts them. */
static void add_specification(struct ifm_command *commands, size_t n, struct ifm_arena *arena)
{
    for (size_t i = 0; i < n; i++) {
        struct ifm_command *command = &commands[i];
        if (strcmp(command->name, "decode") != 0)
            continue;
        size_t own = command->n_options;
        struct ifm_option *options = IFM_ARENA_ARRAY(arena, struct ifm_option, own + IFM_SPECIFICATION_OPTIONS);
        memcpy(options, command->options, own * sizeof *options);
        memcpy(options + own, ifm_specification_options, IFM_SPECIFICATION_OPTIONS * sizeof *options);
        command->options = options;
        command->n_options = own + IFM_SPECIFICATION_OPTIONS;
    }
}

static struct ifm_program *make_program(struct ifm_arena *arena)
{
    enum { VERBS = sizeof ifm_verbs / sizeof *ifm_verbs - 1 };
    struct ifm_program *program = IFM_ARENA_NEW(arena, struct ifm_program);
    struct ifm_command *commands = IFM_ARENA_ARRAY(arena, struct ifm_command, VERBS + IFM_WORKLOADS_MOST);
    size_t n = VERBS;
    for (size_t i = 0; i < VERBS; i++) {
        const struct ifm_verb *verb = &ifm_verbs[i];
        commands[i] =
            (struct ifm_command){verb->name, verb->synopsis, verb->help, verb->options, verb->n_options, NULL};
        if (verb->measures)
            commands[i].sections = sections_of(verb->name, false, arena);
    }
    for (size_t i = 0; ifm_workloads[i] != NULL; i++) { /* quick forms of plugins */
        const struct ifm_workload *workload = ifm_workloads[i];
        if (workload->plugin != NULL)
            commands[n++] = (struct ifm_command){workload->name, "[OPTIONS]",
                                                 ifm_arena_printf(arena, "measure %s", workload->purpose),
                                                 OPTIONS(run_options), sections_of(workload->name, false, arena)};
    }
    add_specification(commands, n, arena);
    *program = (struct ifm_program){
        .name = "inferometer",
        .purpose = "measure LLM inference, and refuse numbers that cannot be defended",
        .version = IFM_VERSION,
        .date = "November 21, 2026",
        .about = "Inferometer runs real inference kernels, measures them against the limits of the machine measured in "
                 "the same minutes, decides whether a change is an improvement, and refuses to print a number that it "
                 "cannot defend. A run leaves a folder from which every published number can be recomputed.",
        .commands = commands,
        .n_commands = n,
        .sections = sections_of("", true, arena),
    };
    return program;
}

/* ---- the commands about commands ---- */

static void print_overview(void)
{
    printf("inferometer measures LLM inference and refuses numbers that it cannot defend.\n\n"
           "usage: inferometer COMMAND [OPTIONS]\n\n");
    enum { COLUMN = 14 };
    struct ifm_text text = {0};
    for (const struct ifm_verb *verb = ifm_verbs; verb->name != NULL; verb++) {
        ifm_text_printf(&text, "  %-11s ", verb->name);
        ifm_text_wrap(&text, verb->help, ifm_cli_width(), COLUMN, COLUMN);
        ifm_text_add(&text, "\n");
    }
    ifm_cli_print(&text, stdout);
    printf("\n`inferometer help COMMAND` lists a command's options. Start with `inferometer decode`.\n"
           "Exit codes: 0 accepted, 1 rejected, 2 usage, 3 measurement invalid or gate inconclusive, "
           "4 capability missing, 5 internal, 130 interrupted.\n");
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
    if (strcmp(command->name, "run") == 0 || strcmp(command->name, "cachegrind") == 0)
        ifm_text_add(&text, "\nParameters of a workload: `inferometer help decode`, and so for each that `inferometer "
                            "workloads` lists.\n");
    ifm_cli_print(&text, stdout);
}

static enum ifm_status cmd_help(int argc, char **argv, struct ifm_error *error)
{
    if (argc > 2)
        return ifm_fail(error, IFM_USAGE, "", "`inferometer help COMMAND`", "unexpected argument \"%s\"", argv[2]);
    if (argc < 2) {
        print_overview();
        return IFM_OK;
    }
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_program *program = make_program(arena);
    enum ifm_status status =
        ifm_fail(error, IFM_USAGE, "", "`inferometer help` lists the commands", "unknown command \"%s\"", argv[1]);
    for (size_t i = 0; i < program->n_commands; i++)
        if (strcmp(program->commands[i].name, argv[1]) == 0) {
            print_command(&program->commands[i]);
            status = IFM_OK;
        }
    if (status != IFM_OK) {
        const char *words[IFM_WORKLOADS_MOST + sizeof ifm_verbs / sizeof *ifm_verbs];
        for (size_t i = 0; i < program->n_commands; i++)
            words[i] = program->commands[i].name;
        const char *nearest = ifm_nearest(argv[1], words, program->n_commands);
        if (nearest != NULL)
            ifm_error_hint(error, "did you mean `inferometer help %s`?", nearest);
    }
    ifm_arena_destroy(arena);
    return status;
}

static void schema(const struct ifm_program *program, struct ifm_text *out)
{
    ifm_generate_schema(program->sections, out);
}

static void markdown(const struct ifm_program *program, struct ifm_text *out)
{
    ifm_generate_markdown(program->sections, out);
}

/* What is written about the commands; of the rows for a command, the last one that fits its word. */
static const struct document {
    const char *command, *word;
    void (*make)(const struct ifm_program *program, struct ifm_text *out);
} documents[] = {
    {"man", NULL, ifm_generate_man},         {"schema", NULL, schema},
    {"schema", "--markdown", markdown},      {"completion", "bash", ifm_generate_bash},
    {"completion", "zsh", ifm_generate_zsh}, {"completion", "fish", ifm_generate_fish},
};

static enum ifm_status cmd_document(int argc, char **argv, struct ifm_error *error)
{
    const char *word = argc > 1 ? argv[1] : "";
    const struct document *found = NULL;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        if (strcmp(documents[i].command, argv[0]) == 0 &&
            (documents[i].word == NULL || strcmp(documents[i].word, word) == 0))
            found = &documents[i];
    if (found == NULL && argc < 2)
        return ifm_fail(error, IFM_USAGE, "", "such as `inferometer completion bash`", "completion needs a shell");
    if (found == NULL)
        return ifm_fail(error, IFM_USAGE, "", "name one of bash, zsh, fish", "unknown shell \"%s\"", word);
    int wanted = found->word == NULL ? 1 : 2;
    if (argc > wanted)
        return ifm_fail(error, IFM_USAGE, "",
                        strcmp(argv[0], "schema") == 0 ? "write `inferometer schema --markdown` or `inferometer schema`"
                                                       : "leave it out",
                        "unexpected argument \"%s\"", argv[wanted]);
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_text text = {0};
    found->make(make_program(arena), &text);
    ifm_cli_print(&text, stdout);
    ifm_arena_destroy(arena);
    return IFM_OK;
}
