/* The command line: commands and their options. src/story has the stages that they call.
 *
 * The only layer that prints an error, writes to standard output unasked, or exits. */
#ifndef IFM_CLI_CLI_H
#define IFM_CLI_CLI_H

#include "config/config.h"
#include "config/generate.h"
#include "judge/judge.h"
#include "model/catalog.h"
#include "publish/publish.h"
#include "story/story.h"
#include "workload/workload.h"
#include <stdbool.h>

/* A command: its texts for help and manual, and its function. */
struct ifm_verb {
    const char *name;
    const char *synopsis; /* after the command's name */
    const char *help;     /* one sentence, no full stop */
    const struct ifm_option *options;
    size_t n_options;
    bool measures; /* takes the flags of the parameter tables: common ones, and a quick form its workload's */
    enum ifm_status (*main)(int argc, char **argv, struct ifm_error *error); /* argv[0] is the command's name */
};
extern const struct ifm_verb ifm_verbs[]; /* ends with a NULL name */
const struct ifm_verb *ifm_verb_find(const char *name);
/* The whole program for the generators of help, manual, completion and schema; in the arena. */
struct ifm_program *ifm_cli_program(struct ifm_arena *arena);

/* What `exec` takes beside flags: its commands and --name, in the order given. The arrays have room for all. */
struct ifm_positionals {
    const char **items, **names;
    size_t n, n_names;
};

/* Options of the commands that measure. */
struct ifm_options {
    const char *workload;                /* quick form; NULL for `run` and `rerun` */
    const char *out;                     /* NULL = a fresh folder below runs/ */
    const char *resume;                  /* folder of the run to continue, or NULL */
    const char *dir;                     /* positional folder, or NULL */
    struct ifm_positionals *positionals; /* where a command takes any number of them; else NULL */
    const char *changes;                 /* the first argument that changes what is measured, or NULL */
    enum ifm_format format;
    bool dry_run, quiet, help, colour;
    bool gates;      /* --gates was given: a second one would silently replace the first */
    bool has_format; /* --format or --json was given */
};

/* Parse argv[1..] into `options`; table flags, -c and --override go into `config` (NULL: the command takes none).
 * `wants_dir` says that one positional folder is required. */
IFM_CHECKED enum ifm_status ifm_options_parse(int argc, char **argv, bool wants_dir, struct ifm_config *config,
                                              struct ifm_options *options, struct ifm_error *error);

/* A new run, or the rest of an interrupted one, with all its stages (cmd_run.c). */
IFM_CHECKED enum ifm_status ifm_cli_run(const struct ifm_options *options, struct ifm_config *config,
                                        struct ifm_error *error);
/* How the last stage prints for these options. */
struct ifm_story_printing ifm_cli_printing(const struct ifm_options *options);

/* ---- commands ---- */
enum ifm_status ifm_cmd_run(int argc, char **argv, struct ifm_error *error); /* and the quick forms */
enum ifm_status ifm_cmd_exec(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_rerun(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_derive(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_judge(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_report(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_verify(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_compare(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_gate(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_list(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_summary(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_explain(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_doctor(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_power(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_lock(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_unlock(int argc, char **argv, struct ifm_error *error);
void ifm_power_rows(json_t *rows); /* the sources of power, as rows of doctor */
enum ifm_status ifm_cmd_workloads(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_worker(int argc, char **argv, struct ifm_error *error); /* hidden: no row in ifm_verbs */
enum ifm_status ifm_cmd_version(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_help(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_man(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_completion(int argc, char **argv, struct ifm_error *error);
enum ifm_status ifm_cmd_schema(int argc, char **argv, struct ifm_error *error);

#endif
