/* The story: the stages from a configuration to its published files, as calls.
 *
 * The command line and the session library tell the same story with them. Nothing here parses an argument, prints an
 * error or exits, and results are printed only to the FILE that a caller gives. Thread rule: one thread. */
#ifndef IFM_STORY_STORY_H
#define IFM_STORY_STORY_H

#include "config/config.h"
#include "model/catalog.h"
#include "publish/publish.h"
#include "run/run.h"

/* ---- config, plan (prepare.c) ---- */
/* An empty configuration that knows every workload's table. */
struct ifm_config *ifm_story_config(void);
/* The tables of all workloads, NULL-terminated; a plugin's too, once it is registered. */
const struct ifm_section *const *ifm_story_tables(void);
/* The plan of a resolved configuration on this machine. `own` replaces the workloads of the registry: a session
 * describes itself. NULL = the registry's. */
IFM_CHECKED enum ifm_status ifm_story_plan(const struct ifm_config *config, const struct ifm_workload_entry *own,
                                           struct ifm_arena *arena, struct ifm_plan **plan, struct ifm_error *error);
/* The same for valgrind, which knows no AVX-512. */
IFM_CHECKED enum ifm_status ifm_story_plan_simulated(const struct ifm_config *config, struct ifm_arena *arena,
                                                     struct ifm_plan **plan, struct ifm_error *error);
/* A plan that was read back holds the gates, measure settings and seed of its configuration; `where` names its file. */
IFM_CHECKED enum ifm_status ifm_story_check_plan(const char *where, const struct ifm_config *config,
                                                 const struct ifm_plan *plan, struct ifm_error *error);
/* What an arm needs of this machine (a program, a private text) is there, before anything is written. */
IFM_CHECKED enum ifm_status ifm_story_ready(const struct ifm_plan *plan, struct ifm_error *error);
/* The files that the run in `dir` read still hold what it read. */
IFM_CHECKED enum ifm_status ifm_story_same_inputs(const char *dir, const struct ifm_plan *plan,
                                                  struct ifm_error *error);

/* ---- the run folder (create.c); for an existing one see story/folder.h ---- */
/* A name below runs/ that no folder has, in the arena; `below`: the folder that holds runs/, NULL = this one. */
const char *ifm_story_fresh_dir(const char *below, const struct ifm_plan *plan, struct ifm_arena *arena);
/* Create the folder with private.json, config.lock.json and, last, plan.json: with a plan it can be resumed. A plan of
 * NULL is written later by its owner. `caller` holds private facts of the process (ifm_host_private); it is taken over.
 * `*claim` is held until it is closed. After a failure nothing is left of the folder. */
IFM_CHECKED enum ifm_status ifm_story_folder(const char *dir, const struct ifm_config *config,
                                             const struct ifm_plan *plan, json_t *caller, int *claim,
                                             struct ifm_error *error);

/* ---- measure (measure.c) ---- */
/* This process's times are those of a real processor: valgrind does not run it. */
IFM_CHECKED enum ifm_status ifm_story_check_machine(struct ifm_error *error);
/* What derive would say of the record so far (run/facts/facts.h): ifm_story_measure gives it to the run. */
IFM_CHECKED enum ifm_status ifm_story_settled(const char *dir, const struct ifm_stop_blocks *blocks, uint32_t last,
                                              bool *settled, struct ifm_error *error);
/* `how` (run/run.h) without its device, which the configuration describes. */
IFM_CHECKED enum ifm_status ifm_story_measure(const struct ifm_config *config, const struct ifm_plan *plan,
                                              const struct ifm_run_options *how, struct ifm_error *error);
/* Print what would be measured, and for how long, in lines of `width` or as JSON; nothing is recorded. */
IFM_CHECKED enum ifm_status ifm_story_dry_run(const struct ifm_config *config, const struct ifm_plan *plan,
                                              const struct ifm_progress *progress, bool json, size_t width, FILE *out,
                                              struct ifm_error *error);

/* ---- resume (resume.c) ---- */
/* Read back the configuration and plan of an interrupted run, and check everything that must hold before it continues.
 * `config` is empty before and resolved afterwards. */
IFM_CHECKED enum ifm_status ifm_story_read_back(const char *dir, struct ifm_config *config, struct ifm_arena *arena,
                                                struct ifm_plan **plan, struct ifm_error *error);

/* ---- derive, judge, publish (publish.c) ---- */
/* The gates as gate.md and junit.xml in the folder, and as copies that a user named; NULL = no copy. */
struct ifm_story_gates {
    const char *markdown, *junit;
};
struct ifm_story_printing {
    struct ifm_table_look look;
    FILE *out;
    FILE *advice;                        /* where a format has no room for advice, it goes here; NULL = nowhere */
    const struct ifm_story_gates *gates; /* NULL: the gates have no files of their own */
    const char *key;                     /* a private key that signs what was written, or NULL */
    void (*before)(void *context);       /* the files are written, and the table is next; may be NULL */
    void *context;
};
/* Derive, judge, write the files, print. `judged` receives the verdict's exit code. */
IFM_CHECKED enum ifm_status ifm_story_finish(const char *dir, const struct ifm_story_printing *how,
                                             enum ifm_status *judged, struct ifm_error *error);
/* Plan again, recompute every published number of the folder from its hashed record, and compare. */
struct ifm_story_verified {
    size_t n_numbers;
    size_t n_resting; /* of them, on what was not rebuilt */
    unsigned rules;   /* by which the run was planned: earlier ones than IFM_PLAN_RULES check less */
    bool chained;     /* the journal holds hashes of every block and line, written as the run went */
    struct ifm_verified published;
    const char *not_rebuilt; /* what of the plan could not be made again here, and why; NULL = nothing */
};
IFM_CHECKED enum ifm_status ifm_story_verify(const char *dir, struct ifm_arena *arena, struct ifm_story_verified *out,
                                             struct ifm_error *error);

#endif
