/* Config: YAML, flags and overrides, bound through the parameter tables to one resolved study.
 *
 * Precedence, lowest first: table defaults, preset, file, --override, flags; among
 * equals the later one. A later file's `arms` or `gates` replace those of an earlier.
 * Every value remembers where it came from. Nothing has run when an error is raised.
 * Immutable once resolved; owned by its arena. */
#ifndef IFM_CONFIG_CONFIG_H
#define IFM_CONFIG_CONFIG_H

#include "base/json.h"
#include "base/param.h"
#include "model/study.h"

struct ifm_config; /* a resolved configuration under construction */

/* The sections that every run has: general, device, measure (config/common.c). Sub-tables of `arms` and
 * `gates` are sections too, bound once per record. */
extern const struct ifm_section ifm_section_general, ifm_section_device, ifm_section_measure, ifm_section_arm,
    ifm_section_gate;

/* The rows of section "general" and "device". */
struct ifm_general {
    struct ifm_list workload; /* names; a list runs several in one study */
    int preset;               /* "default", "quick", "sop", "baseline" */
    uint64_t seed;
    struct ifm_list gates_preset; /* names of data/gates/NAME.yaml, or NAME=3% */
    struct ifm_list ceilings;     /* read, write, copy, flops, or none */
};
/* In the order of the choices of device.kind. */
enum ifm_device_kind { IFM_DEVICE_CPU = 0, IFM_DEVICE_CUDA, IFM_DEVICE_FAKE };
struct ifm_device_config {
    int kind;         /* enum ifm_device_kind */
    uint64_t threads; /* 0 = every CPU in the affinity mask */
    bool huge_pages;
    bool graphs;        /* device cuda only, as the next */
    int kernels;        /* enum ifm_device_kernels */
    const char *script; /* fake device only */
};

/* `workload_sections`: the tables of all workloads, borrowed, NULL-terminated. */
struct ifm_config *ifm_config_create(const struct ifm_section *const *workload_sections);
void ifm_config_destroy(struct ifm_config *config);

/* A file: YAML, or a config.lock.json when its name ends in .json. At most 1 MiB and 16 levels; aliases and anchors are
 * errors. */
IFM_CHECKED enum ifm_status ifm_config_file(struct ifm_config *config, const char *path, struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_config_yaml(struct ifm_config *config, const char *data, size_t size, const char *where,
                                            struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_config_lock(struct ifm_config *config, const char *data, size_t size, const char *where,
                                            struct ifm_error *error);
/* The paths that the key `plugin` of a YAML file names, resolved from the folder of the file. Empty when the file
 * cannot be read: ifm_config_file reports that later. Plugins are loaded before the configuration exists. */
struct ifm_list ifm_config_plugins(const char *path, struct ifm_arena *arena);
/* A command's own default; it ranks as a preset does. */
IFM_CHECKED enum ifm_status ifm_config_default(struct ifm_config *config, const char *path, const char *text,
                                               struct ifm_error *error);
/* The arms of a quick form: each sets one row to a text of its own, the first is the baseline. They replace those of a
 * file. `where` names the command in messages. */
struct ifm_quick_arm {
    const char *name, *text;
};
IFM_CHECKED enum ifm_status ifm_config_quick_arms(struct ifm_config *config, const char *path,
                                                  const struct ifm_quick_arm *arms, size_t n, const char *where,
                                                  struct ifm_error *error);
/* Texts of this private row, and of the arms that set it, are published from now on, in place of their tokens. */
void ifm_config_publish(struct ifm_config *config, const char *path);
/* Whether a boolean row has been set to true so far, by anything but its default. */
bool ifm_config_is_true(const struct ifm_config *config, const char *path);
/* Whether a file, an override or a flag has set a row so far. */
bool ifm_config_is_set(const struct ifm_config *config, const char *path);
/* "path=value"; a value may be a list "512,1024" where the row is sweepable. */
IFM_CHECKED enum ifm_status ifm_config_override(struct ifm_config *config, const char *assignment,
                                                struct ifm_error *error);
/* A flag of the table: "--kv-len" with its value; false through *known when no row of the sections in use has this
 * flag. `workload` limits workload flags to one section (quick form); NULL allows only common flags. */
IFM_CHECKED enum ifm_status ifm_config_flag(struct ifm_config *config, const char *workload, const char *flag,
                                            const char *value, bool *known, struct ifm_error *error);
/* The same for a flag that was written under another name, which messages then give. */
IFM_CHECKED enum ifm_status ifm_config_flag_as(struct ifm_config *config, const char *workload, const char *flag,
                                               const char *written, const char *value, bool *known,
                                               struct ifm_error *error);
/* Flags are given without their dashes. `value` NULL means that none was given: true for a boolean row, an
 * error for any other; "no-" before a boolean's flag means false. Takes_value is false for booleans and unknown
 * flags: only "--flag=value" gives those a value. Nearest is the known flag that was most likely meant, or NULL. */
/* "--kv-len" that was given twice with different values, of which the last counts; NULL = none was. */
const char *ifm_config_given_twice(const struct ifm_config *config);
bool ifm_config_flag_takes_value(const struct ifm_config *config, const char *workload, const char *flag);
/* The one value that words behind a flag were meant to be: a list, or a number and its unit; NULL: none that it takes.
 */
const char *ifm_config_flag_joined(const struct ifm_config *config, const char *workload, const char *flag,
                                   const char *const *words, size_t n);
const char *ifm_config_nearest_flag(const struct ifm_config *config, const char *workload, const char *flag);

/* Resolve: apply preset and precedence, check ranges and cross-field rules, hash. */
IFM_CHECKED enum ifm_status ifm_config_resolve(struct ifm_config *config, struct ifm_error *error);
/* Whether both gates hold the same numbers against the same threshold; names and class tables may differ. */
bool ifm_gate_asks_the_same(const struct ifm_gate *a, const struct ifm_gate *b);
/* Replace a parameter's path in error->where by the place where that parameter was set, if it was set. */
void ifm_config_locate(const struct ifm_config *config, struct ifm_error *error);
const struct ifm_study *ifm_config_study(const struct ifm_config *config);
const struct ifm_device_config *ifm_config_device(const struct ifm_config *config);
/* config.lock.json (new reference): {"schema", "parameters": {every path: value or list}, "arms", "gates", "hash"}.
 * The hash is the SHA-256 of {"parameters", "arms", "gates"} in compact form. */
json_t *ifm_config_lock_json(const struct ifm_config *config);
/* A lock file's members are the known ones, "plugins" may be missing, and its hash fits its contents. */
IFM_CHECKED enum ifm_status ifm_config_lock_intact(const json_t *lock, const char *where, struct ifm_error *error);

#endif
