/* Config, inside: the state that the files of this folder share. Nobody else includes it. */
#ifndef IFM_CONFIG_INTERNAL_H
#define IFM_CONFIG_INTERNAL_H

#include "base/hash.h"
#include "config/config.h"
#include "config/generate.h"

enum {
    IFM_CONFIG_BYTES_MAX = 1 << 20,
    IFM_CONFIG_DEPTH_MAX = 16,
    IFM_CONFIG_AXIS_MAX = 256,
    IFM_CONFIG_ARMS_MAX = 64,
    IFM_CONFIG_GATES_MAX = 256,
    IFM_LOCK_SCHEMA = 2,
};

/* Where a value came from; a higher rank wins, and among equals the later one. */
enum ifm_rank { IFM_RANK_DEFAULT = 0, IFM_RANK_PRESET, IFM_RANK_FILE, IFM_RANK_OVERRIDE, IFM_RANK_FLAG };

/* Where a value comes from that a model has set, before the model's name or file. */
#define IFM_WHERE_MODEL "model "

/* A row and its current value: canonical texts. A LIST is one text, its items joined by commas. */
struct ifm_config_slot {
    const struct ifm_section *section;
    const struct ifm_param *row;
    bool common; /* of general, device or measure; else of a workload */
    enum ifm_rank rank;
    const char *where;
    const char *given; /* by a flag, as it was typed */
    const char *const *texts;
    size_t n;
};

/* One record of `arms` as its table binds it; `set` holds "path=value" texts. */
struct ifm_arm_record {
    const char *name;
    bool baseline;
    struct ifm_list set;
};

struct ifm_config {
    struct ifm_arena *arena;
    const struct ifm_section *const *workloads; /* NULL-terminated */
    struct ifm_config_slot *slots;
    size_t n_slots;
    struct ifm_arm_spec *arms; /* each `where` is file:line:column */
    size_t n_arms;
    struct ifm_gate *gates;
    size_t n_gates;
    const char *twice; /* the flag that was given again with another value; NULL = none */
    bool locked; /* a lock file was read: it spells out every value */
    bool resolved;
    struct ifm_general general;
    struct ifm_device_config device;
    struct ifm_study study;
    json_t *lock; /* once resolved */
};

struct ifm_preset {
    const struct ifm_setting *settings;
    size_t n;
    const char *workload; /* whose settings they are; NULL = any */
};
extern const struct ifm_preset ifm_presets[]; /* by index of the row "preset" */

/* A text with its place in a file or on the command line. */
struct ifm_raw {
    const char *text;
    const char *where;
};

/* A configuration file as a tree; YAML and lock files become the same tree. Everything is in the arena. */
enum ifm_node_kind { IFM_NODE_SCALAR, IFM_NODE_SEQUENCE, IFM_NODE_MAPPING };
struct ifm_node {
    enum ifm_node_kind kind;
    const char *key;               /* in a mapping */
    const char *text;              /* of a scalar */
    bool plain;                    /* not quoted: an empty one is no value */
    unsigned line, column;         /* of the value; 0 when the source has no lines */
    unsigned key_line, key_column; /* of the key */
    struct ifm_node *first, *last, *next;
    size_t n; /* children */
};

/* config.c */
bool ifm_config_is_common(const struct ifm_section *section); /* general, device or measure */
IFM_CHECKED enum ifm_status ifm_config_open(const struct ifm_config *config, const char *where,
                                            struct ifm_error *error); /* fails when already resolved */
struct ifm_config_slot *ifm_config_find(const struct ifm_config *config, const char *path);
/* Whether some row's path continues after `path` and a dot. */
bool ifm_config_is_section(const struct ifm_config *config, const char *path);
enum ifm_status ifm_config_unknown_key(const struct ifm_config *config, const char *path, const char *where,
                                       struct ifm_error *error); /* always fails, with the nearest key */
/* Check and store the values of a row. A single text with commas is split where the row takes several. */
IFM_CHECKED enum ifm_status ifm_slot_set(struct ifm_config *config, struct ifm_config_slot *slot, enum ifm_rank rank,
                                         const struct ifm_raw *values, size_t n, struct ifm_error *error);
/* One value in canonical form. */
IFM_CHECKED enum ifm_status ifm_config_canonical(const struct ifm_config *config, const struct ifm_param *row,
                                                 struct ifm_raw value, const char **out, struct ifm_error *error);

/* yaml.c: the tree of a text; nodes of no file, in the arena with their keys; where a node comes from. */
IFM_CHECKED enum ifm_status ifm_yaml_tree(const char *data, size_t size, const char *where, struct ifm_arena *arena,
                                          struct ifm_node **out, struct ifm_error *error);
void ifm_node_add(struct ifm_node *parent, struct ifm_node *child);
struct ifm_node *ifm_node_new(struct ifm_arena *arena, enum ifm_node_kind kind, const char *key, const char *text);
/* True when the bytes are UTF-8 without NUL. */
bool ifm_utf8_valid(const char *data, size_t size);

struct ifm_source {
    struct ifm_config *config;
    const char *name; /* of the file */
    bool lock;
};
const char *ifm_node_where(const struct ifm_source *source, const struct ifm_node *node);
const char *ifm_node_key_where(const struct ifm_source *source, const struct ifm_node *node);
/* The text of a scalar that has a value; `path` names it in the message. */
IFM_CHECKED enum ifm_status ifm_node_scalar(const struct ifm_source *source, const struct ifm_node *node,
                                            const char *path, struct ifm_raw *out, struct ifm_error *error);

/* bind.c: a file's tree into slots, arms and gates. `lock` allows the empty lists that a lock spells out. */
IFM_CHECKED enum ifm_status ifm_config_bind(struct ifm_config *config, const struct ifm_node *root, const char *where,
                                            bool lock, struct ifm_error *error);

/* record.c: the records of `arms` and `gates`; they replace those of a file read before. */
IFM_CHECKED enum ifm_status ifm_config_arms(const struct ifm_source *source, const struct ifm_node *node,
                                            struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_config_gates(const struct ifm_source *source, const struct ifm_node *node,
                                             struct ifm_error *error);
/* One record of `gates` into gates[index], its place into places[index]; names are held against those before it. */
IFM_CHECKED enum ifm_status ifm_config_gate(const struct ifm_source *source, const struct ifm_node *node,
                                            struct ifm_gate *gates, const char **places, size_t index,
                                            struct ifm_error *error);
/* gates.c: the gates of the chosen presets, added to those of the configuration. */
IFM_CHECKED enum ifm_status ifm_config_gates_preset(struct ifm_config *config, struct ifm_error *error);

/* fill.c: what a model's name says of the shape, below what was set explicitly. */
IFM_CHECKED enum ifm_status ifm_config_models(struct ifm_config *config, struct ifm_error *error);

/* content.c: {"parameters", "arms", "gates"} of a configuration whose workloads are known. New reference. */
json_t *ifm_config_content(const struct ifm_config *config);
json_t *ifm_slot_to_json(const struct ifm_config_slot *slot, struct ifm_arena *arena); /* a row's value or list */
struct ifm_sha256 ifm_config_hash(const json_t *content);
/* The row is common, or of a workload that the study runs. */
bool ifm_config_uses(const struct ifm_config *config, const struct ifm_config_slot *slot);
/* Lock and plan spell it out: it is used, and none of IFM_LATER that has its default, in canonical form. */
bool ifm_config_tells(const struct ifm_config *config, const struct ifm_config_slot *slot);

/* ---- generate_help.c: the pieces of text that describe one row, for all generators ---- */
/* "N[,..]", "hot|cold", "BYTES"; nothing for a boolean. */
void ifm_row_value(const struct ifm_param *row, struct ifm_text *out);
/* The row's help with "(tokens; default 4096; 1 .. 1048576; more)"; `more` may be NULL. Spaces that must not be
 * broken are 0x1f, which ifm_wrap prints as spaces. */
void ifm_row_sentence(const struct ifm_param *row, const char *more, struct ifm_arena *arena, struct ifm_text *out);
/* Append `text` broken at spaces: the cursor stands at `column`, further lines start at `indent`. */
void ifm_wrap(const char *text, size_t column, size_t indent, size_t width, struct ifm_text *out);
/* Append the words of "a|b|c" with `between` in place of the bars. */
void ifm_words(const char *choices, const char *between, struct ifm_text *out);
/* Append `text` with every character of `special` replaced by the string at the same index of `by`. */
void ifm_escape(const char *text, const char *special, const char *const *by, struct ifm_text *out);
/* The words that a flag's value completes to: choices, workload names, or "". In the arena. */
const char *ifm_row_words(const struct ifm_param *row, const struct ifm_section *const *sections,
                          struct ifm_arena *arena);

#endif
