/* The command line: commands and their options. src/story has the stages that they call.
 *
 * The only layer that prints an error, writes to standard output unasked, or exits. */
#ifndef IFM_CLI_CLI_H
#define IFM_CLI_CLI_H

#include "base/called.h"
#include "config/config.h"
#include "config/generate.h"
#include "judge/judge.h"
#include "model/catalog.h"
#include "publish/listing.h"
#include "publish/publish.h"
#include "run/run.h"
#include "story/story.h"
#include "workload/workload.h"
#include <stdbool.h>

/* The command line of this process, for private.json only (cmd_run.c). Set once by main. */
struct ifm_invocation {
    int argc;
    char **argv;
    const struct ifm_verb *(*find)(const char *name); /* a command; NULL = there is none of that name */
};
extern struct ifm_invocation ifm_invocation;

struct ifm_given;
/* A command: its texts for help and manual, and its function, one of two. */
struct ifm_verb {
    const char *name;
    const char *synopsis; /* after the command's name */
    const char *help;     /* one sentence, no full stop */
    const struct ifm_option *options;
    size_t n_options;
    bool measures;      /* takes the flags of the parameter tables: common ones, and a quick form its workload's */
    bool prints;        /* its output is all that it leaves: no file, and no exit code that says what was found */
    bool takes_command; /* another program's command line, behind "--" */
    enum ifm_status (*main)(int argc, char **argv, struct ifm_error *error); /* argv[0] is the command's name */
    enum ifm_status (*plain)(const struct ifm_given *given, struct ifm_error *error); /* arguments by `options` alone */
};
extern const struct ifm_verb ifm_verbs[]; /* ends with a NULL name */
const struct ifm_verb *ifm_verb_find(const char *name);

/* ---- arguments.c: commands that take no parameters ---- */
/* What such a command was given. */
struct ifm_given {
    struct ifm_arena *arena; /* ends with the command */
    const struct ifm_verb *verb;
    const char **values; /* of its options: the text, "" of a switch; NULL = not given */
    const char **words;  /* that are no flags */
    size_t n_words;
    enum ifm_format format;
    char **command; /* behind "--", ends with NULL; NULL = none */
};
/* Parse argv[1..] by the verb's options; each that takes a value may be given once. `given` holds verb and arena. */
IFM_CHECKED enum ifm_status ifm_arguments_parse(int argc, char **argv, struct ifm_given *given,
                                                struct ifm_error *error);
/* Parse, and run the command. */
enum ifm_status ifm_plain_run(const struct ifm_verb *verb, int argc, char **argv, struct ifm_error *error);
/* The text of an option of the verb; NULL = not given. */
const char *ifm_given_text(const struct ifm_given *given, const char *flag);
/* The number of an option that was given: above 0 and at most `most`. */
IFM_CHECKED enum ifm_status ifm_given_number(const struct ifm_given *given, const char *flag, double most, bool whole,
                                             double *out, struct ifm_error *error);
/* A list of whole numbers, parted by commas, in the arena; `*n` is 0 where the flag is not given. */
IFM_CHECKED enum ifm_status ifm_given_counts(const struct ifm_given *given, const char *flag, double most, double **out,
                                             size_t *n, struct ifm_error *error);
/* IFM_USAGE when there are more words than `most`. */
IFM_CHECKED enum ifm_status ifm_given_words(const struct ifm_given *given, size_t most, const char *hint,
                                            struct ifm_error *error);
/* The command takes a program behind -- and no words; a run folder is told apart from a forgotten --. */
IFM_CHECKED enum ifm_status ifm_given_program(const struct ifm_given *given, struct ifm_error *error);
/* IFM_USAGE: no `what` is called `name`; the nearest known one, or the list. */
enum ifm_status ifm_arguments_unknown(const char *what, const char *name, const char *const *known, size_t n,
                                      struct ifm_error *error);
/* Names of the formats that --format takes, by enum ifm_format. */
enum { IFM_FORMATS = IFM_FORMAT_JSONL + 1 };
extern const char *const ifm_format_names[IFM_FORMATS];
IFM_CHECKED enum ifm_status ifm_format_parse(const char *text, const char *hint, enum ifm_format *out,
                                             struct ifm_error *error);
/* Columns of the terminal that shows standard output, between 60 and 160; IFM_USUAL_WIDTH where none does. */
size_t ifm_cli_width(void);
/* One line of a text, with commands as they are typed here. */
const char *ifm_cli_typed(const char *text, struct ifm_arena *arena);
/* A listing as it is printed. */
void ifm_cli_listing(struct ifm_listing *listing, enum ifm_format format, struct ifm_text *out);
/* One line below a name: "  unit     ns"; nothing where the text is NULL or "". */
void ifm_cli_field(const char *name, const char *text);
/* Print the text and free it. */
void ifm_cli_print(struct ifm_text *text, FILE *file);

/* ---- options.c: commands on runs ---- */
/* What `exec` takes beside flags: its commands and --name, in the order given. The arrays have room for all. */
struct ifm_positionals {
    const char **items, **names;
    size_t n, n_names;
    const struct ifm_options *options; /* of this command line, */
    int argc;                          /* and its words as they were typed */
    char **argv;
    /* Does the command take the flag "--NAME[=VALUE]"? `*words` = 2: its value is the next word. */
    bool (*takes)(const struct ifm_options *options, const char *token, int *words);
    bool publish; /* the commands and their hooks stand in the record */
};

/* What `rerun` takes beside flags: how often, and what counts as the same. */
struct ifm_again {
    unsigned times; /* 0 = once */
    double epsilon; /* relative; 0 = the usual one */
};

/* What `ci` takes beside flags. */
struct ifm_ci {
    const char *max_regression; /* NULL = the usual limit */
    const char *metric;         /* "time", "cpu"; NULL = time */
    struct ifm_story_gates files;
};

/* Options of the commands that measure. */
struct ifm_options {
    struct ifm_config *config;           /* what its flags set; NULL: the command takes none */
    const char *workload;                /* quick form; NULL for `run` and `rerun` */
    const char *out;                     /* NULL = a fresh folder below runs/ */
    const char *below;                   /* where that runs/ is; NULL = here */
    const char *resume;                  /* folder of the run to continue, or NULL */
    const char *dir;                     /* positional folder, or NULL */
    struct ifm_positionals *positionals; /* where a command takes any number of them; else NULL */
    struct ifm_again *again;             /* where a command takes these; else NULL */
    struct ifm_ci *ci;                   /* the same */
    const char *verb;                    /* the command's name */
    const char *key;                     /* of --sign the private key, of --signer the public one; NULL = not given */
    const char *changes;                 /* the first argument that changes what is measured, or NULL */
    enum ifm_format format;
    bool dry_run, quiet, verbose, colour;
    double wait_quiet_s; /* 0 = do not wait */
    bool gates;          /* --gates was given: a second one would silently replace the first */
    bool has_format;     /* --format or --json was given */
};

/* Parse argv[1..] into `options`; table flags, -c and --override go into `config` (NULL: the command takes none).
 * `wants_dir` says that one positional folder is required. */
IFM_CHECKED enum ifm_status ifm_options_parse(int argc, char **argv, bool wants_dir, struct ifm_config *config,
                                              struct ifm_options *options, struct ifm_error *error);

/* The specification's names of flags, as help lists them: `inferometer decode` takes them too. */
enum { IFM_SPECIFICATION_OPTIONS = 9 };
extern const struct ifm_option ifm_specification_options[IFM_SPECIFICATION_OPTIONS];

/* A new run, or the rest of an interrupted one, with all its stages (cmd_run.c). */
IFM_CHECKED enum ifm_status ifm_cli_run(const struct ifm_options *options, struct ifm_config *config,
                                        struct ifm_error *error);
/* there.c: a run with commands or files is repeated, and goes on, in the folder where it was first started; the paths
 * of the options then hold from there. Says so, or why it is not done. */
void ifm_cli_go_there(struct ifm_options *options, struct ifm_arena *arena);
/* One arm for each command, the first is the baseline (cmd_exec.c). `verb` names the command in messages. */
IFM_CHECKED enum ifm_status ifm_cli_programs(const struct ifm_positionals *given, const char *verb, bool quiet,
                                             struct ifm_config *config, struct ifm_arena *arena,
                                             struct ifm_error *error);
/* rerun_times.c: one of its flags; and its sessions. IFM_REJECTED: a speed-up may not be quoted. */
IFM_CHECKED enum ifm_status ifm_again_take(const char *name, const char *value, struct ifm_again *again,
                                           struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_rerun_times(const struct ifm_options *options, const struct ifm_again *again,
                                            struct ifm_error *error);
/* ---- progress.c: the line of progress ---- */
struct ifm_progress_line {
    bool shows, shown; /* on this terminal at all; now */
    bool reported;     /* fraction and left_s are known */
    int at;            /* the part that it names */
    int64_t last_ns;
    double fraction, left_s;  /* as said: they grow, and fall */
    double stands_s, since_s; /* what left_s was when it last fell, and when that was by the clock */
    struct ifm_so_far so_far;
};
/* For a run's options; what it calls does nothing where no terminal shows it. */
struct ifm_progress ifm_progress_open(const struct ifm_options *options, struct ifm_progress_line *line);
void ifm_progress_say(struct ifm_progress_line *line, const char *words);
void ifm_progress_clear(void *line);

/* ---- unquoted.c: commands that somebody wrote without quotes ---- */
/* `exec sleep 0.01`: the words of one or more commands, of which some alone are no program; the error shows the line
 * that was meant. */
IFM_CHECKED enum ifm_status ifm_check_quoted(const struct ifm_positionals *given, const char *verb,
                                             struct ifm_arena *arena, struct ifm_error *error);
#define IFM_JOINED "write its value as one word: %.60s %.120s"
/* `--formats f16 int4`, `--cap 10 s`: the words from that before `token` on, where they are one value. */
bool ifm_hint_of_joined(int argc, char **argv, const char *token, const struct ifm_options *options, char *hint,
                        size_t size);
/* `-c study.yaml` is ours, `python3 -c 'print(1)'` is not. */
bool ifm_is_our_config(const char *token, const char *value);
/* `exec ls -l`: a flag that is none of ours, behind a command without quotes. */
bool ifm_is_unquoted(const struct ifm_options *options);
/* Words of programs as they are quoted, each command behind a blank. */
const char *ifm_quoted_words(const char *const *words, size_t n, struct ifm_arena *arena);
bool ifm_is_program(const char *word);
/* "quote each command: inferometer exec 'ls -l' --out a", of the whole command line; its flags stay flags. */
const char *ifm_quoted_hint(const struct ifm_options *options, struct ifm_arena *arena);

/* How the last stage prints for these options, and its table alone. */
struct ifm_table_look ifm_cli_look(const struct ifm_options *options);
struct ifm_story_printing ifm_cli_printing(const struct ifm_options *options);

/* ---- foreign.c ---- */
/* What a flag of another tool is called here, as a hint; `name` without its dashes. False: nothing is known of it, or
 * the command takes nothing like it. */
typedef bool ifm_takes_flag(const char *flag, const void *command);
bool ifm_foreign_flag(const char *name, ifm_takes_flag *takes, const void *command, char *hint, size_t size);
/* The commands, which main knows; until then there is none. */
void ifm_foreign_verbs(const struct ifm_verb *verbs);
bool ifm_verb_takes(const struct ifm_verb *verb, const char *flag);
/* The same of a command by its name. */
bool ifm_verb_named_takes(const char *name, const char *flag);
/* Of a flag that one command alone has, as a hint: which one. */
bool ifm_flag_elsewhere(const char *name, char *hint, size_t size);
/* What to type in the place of a flag that the command `verb` lacks, as a hint; NULL: nothing is known of it. */
const char *ifm_foreign_instead(const char *verb, const char *flag);

/* ---- owners.c ---- */
/* A workload's flag, given where only common flags are accepted: name the commands that take it. */
bool ifm_workload_flag_hint(const char *name, const char *workload, char *hint, size_t size);
/* The very flag of some workload, not one like it. */
bool ifm_is_workload_flag(const char *name);

/* ---- meant.c ---- */
/* What to type for a command line whose command, argv[1], is of another tool, behind "inferometer "; NULL: it is not
 * known. */
const char *ifm_meant(int argc, char **argv, struct ifm_arena *arena);
/* `exec` with these words, where they are programs; else NULL. */
const char *ifm_meant_programs(const char *const *words, int n, struct ifm_arena *arena);

/* ---- plugins.c ---- */
/* Load every `--plugin FILE` of the command line and take it out of `argv`, wherever it stands; then what the key
 * `plugin` of each `-c FILE` names. A command of `verbs` that takes no plugins keeps its arguments and refuses
 * --plugin. A plugin may not use the words of `verbs`. */
IFM_CHECKED enum ifm_status ifm_plugins_take(const struct ifm_verb *verbs, int *argc, char **argv,
                                             struct ifm_error *error);
/* Load the plugins of the run in `dir` again (story/folder.h); they may not use those words either. */
IFM_CHECKED enum ifm_status ifm_plugins_again(const char *dir, struct ifm_error *error);

/* ---- supervise.c ---- */
/* To be called before a plugin is loaded; only the first call does something. The command goes on in a child process,
 * and this call returns there alone; with `inprocess` it goes on in this one, guarded against exits. `flags` (ends with
 * NULL) name the plugins to a process that goes on with the run. */
IFM_CHECKED enum ifm_status ifm_supervise(bool inprocess, const char *const *flags, struct ifm_error *error);
/* A run in `dir` begins: where an arm ends the process, another one goes on without the arm. Returns what is told of
 * the arm at work; NULL where no plugin is loaded. */
struct ifm_witness *ifm_supervise_run(const char *dir, const struct ifm_options *options);
/* Goes on with the run in `dir` in a new process in place of this one: --resume, with the options that change nothing
 * of what is measured. Returns only where that cannot be done. */
void ifm_supervise_go_on(const char *dir, const struct ifm_options *options);
/* The command has come to its end. */
void ifm_supervise_done(enum ifm_status status);

/* ---- commands ---- */
enum ifm_status ifm_cmd_run(int argc, char **argv, struct ifm_error *error); /* and the quick forms */
enum ifm_status ifm_cmd_exec(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_ci(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_rerun(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_derive(int argc, char **argv, struct ifm_error *error); /* and report */
enum ifm_status ifm_cmd_judge(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_verify(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_explain(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_cachegrind(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_doctor(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_workloads(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_version(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_compare(const struct ifm_given *given, struct ifm_error *error);
/* The setting of --varies is one that some of the folders' locks have. */
struct ifm_folder;
IFM_CHECKED enum ifm_status ifm_check_varies(const char *varies, const struct ifm_folder *const *folders,
                                             size_t n_folders, struct ifm_arena *arena, struct ifm_error *error);
enum ifm_status ifm_cmd_gate(const struct ifm_given *given, struct ifm_error *error);
enum ifm_status ifm_cmd_list(const struct ifm_given *given, struct ifm_error *error);
enum ifm_status ifm_cmd_summary(const struct ifm_given *given, struct ifm_error *error);
enum ifm_status ifm_cmd_flops(const struct ifm_given *given, struct ifm_error *error);
enum ifm_status ifm_cmd_ncu(const struct ifm_given *given, struct ifm_error *error);
enum ifm_status ifm_cmd_power(const struct ifm_given *given, struct ifm_error *error);
enum ifm_status ifm_cmd_lock(const struct ifm_given *given, struct ifm_error *error);
enum ifm_status ifm_cmd_profile(const struct ifm_given *given, struct ifm_error *error);
enum ifm_status ifm_cmd_trace(const struct ifm_given *given, struct ifm_error *error);
enum ifm_status ifm_cmd_unlock(const struct ifm_given *given, struct ifm_error *error);
void ifm_power_rows(json_t *rows); /* the sources of power, as rows of doctor */

#endif
