/* Parameter rows: the one description of a setting.
 *
 * A row generates flag parsing, YAML binding, `--override`, help, man page,
 * completion, JSON Schema and the lock file, and it binds text to a struct field.
 * This header holds the row and the scalar conversions; files, flags and lists
 * are src/config's. Rows are static and const. Thread rule: no shared state. */
#ifndef IFM_BASE_PARAM_H
#define IFM_BASE_PARAM_H

#include "base/arena.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ifm_type {
    IFM_TYPE_U64,     /* uint64_t */
    IFM_TYPE_F64,     /* double */
    IFM_TYPE_BOOL,    /* bool; true, false */
    IFM_TYPE_TEXT,    /* const char *, in the arena */
    IFM_TYPE_CHOICE,  /* int: index into the `choices` of the row */
    IFM_TYPE_BYTES,   /* uint64_t; suffixes KiB, MB, ... */
    IFM_TYPE_SECONDS, /* double; suffixes ns, us, ms, s, min */
};

enum ifm_param_flags {
    IFM_SWEEP = 1,   /* a list makes an axis of the study */
    IFM_LIST = 2,    /* a list is one value (its items are bound by the owner); the field is a struct ifm_list */
    IFM_PER_ARM = 4, /* an arm may set it */
    IFM_LATER = 16,  /* younger than locks that are kept: lock and plan leave it out while it has its default */
    IFM_PRIVATE = 8, /* a TEXT that is used but never published: configuration, plan and every artifact hold its token
                        (base/private.h) in its place, unless it is the default; neither SWEEP nor LIST */
};

struct ifm_list {
    const char *const *items;
    size_t n;
};

bool ifm_list_has(const struct ifm_list *list, const char *item);

struct ifm_param;
/* Whether the row takes its choices and nothing else. */
bool ifm_param_is_choice(const struct ifm_param *row);
/* Whether the text may stand in artifacts: not of a private row, its default, or one of its choices. */
bool ifm_param_is_open(const struct ifm_param *row, const char *text);

struct ifm_param {
    const char *path; /* "decode.kv_len" */
    const char *flag; /* "kv-len", or NULL when only --override and YAML reach it */
    enum ifm_type type;
    unsigned flags;
    const char *unit;     /* unit id or "" */
    const char *fallback; /* the default, as text in the form that the parser takes; NULL = must be given */
    double min, max;      /* of numbers; min > max means unbounded, INFINITY unbounded on one side */
    const char *choices;  /* "hot|cold", or NULL; what stands behind the '=' of "no-regression=3%" is an example, whose
                             like the owner checks. Of a private text the words that hide nothing and stand as they are,
                             beside any other text */
    const char *help;     /* one sentence, no full stop */
    size_t offset;        /* of the field in the section's struct */
};

/* A word that is written in place of a value of a row, or of several of a sweepable one, which it replaces only when
 * given alone. */
struct ifm_word {
    const char *path, *word, *values; /* "attention.matrix", "baseline", "b32h8s128,b32h8s256" */
};

/* A section: the rows that share a struct and a path prefix ("" for rows of several prefixes). */
struct ifm_section {
    const char *name; /* "decode" */
    const char *help;
    const struct ifm_param *rows;
    size_t n;
    size_t size;                  /* of the struct */
    const struct ifm_word *words; /* up to one without a path; NULL = none */
};

/* A resolved setting: full path and canonical text. */
struct ifm_setting {
    const char *path, *text;
};

/* Parse `text` for `row` and store it at `field`; an error names the allowed range or choices and
 * the nearest choice. `where` locates the text. TEXT and LIST items are copied into `arena`. The items of a
 * LIST stand between commas and are canonical, distinct and at least one; only a row whose default is "" may be empty.
 */
IFM_CHECKED enum ifm_status ifm_param_parse(const struct ifm_param *row, const char *text, const char *where,
                                            struct ifm_arena *arena, void *field, struct ifm_error *error);
/* The canonical text of the field: what the lock file holds. In the arena. */
const char *ifm_param_print(const struct ifm_param *row, const void *field, struct ifm_arena *arena);
/* The items of "a, b,c" without the spaces around them, in the arena; text without a comma is one item. */
struct ifm_list ifm_param_split(const char *text, struct ifm_arena *arena);
/* The items with `between` between them, in the arena; "" without items. */
const char *ifm_list_join(struct ifm_list list, const char *between, struct ifm_arena *arena);
/* The number that "4,096", "4_096" or "4 096" means to who writes groups of digits, in the arena; NULL: the text has no
 * such groups. */
const char *ifm_param_ungrouped(const char *text, struct ifm_arena *arena);
/* "10min" of "10minutes", "10 Min" and other spellings; NULL: another text. */
const char *ifm_param_duration_meant(const char *text, struct ifm_arena *arena);
/* What a word of the section stands for in this row; any other text is returned as it is. */
const char *ifm_param_meant(const struct ifm_section *section, const struct ifm_param *row, const char *text);
/* A user's text, fit for a message: at most 60 bytes; control characters and a character cut in half are replaced. */
const char *ifm_param_shown(const char *text, char buffer[72]);
/* "1 .. 1048576", "hot, cold", "true, false" or "any text". */
const char *ifm_param_range(const struct ifm_param *row, struct ifm_arena *arena);

/* Fill `out` (section->size bytes) with the defaults, then with every setting whose path is a row of
 * the section; other paths are ignored. A row without default and without setting is an error; of a default that
 * is an axis ("read,write"), the first value is taken. */
/* The section of an array of rows, which bind the struct `type`; without words. */
#define IFM_SECTION(id, text, array, type)                                                                             \
    {                                                                                                                  \
        .name = (id), .help = (text), .rows = (array), .n = sizeof(array) / sizeof *(array), .size = sizeof(type)      \
    }
IFM_CHECKED enum ifm_status ifm_section_bind(const struct ifm_section *section, const struct ifm_setting *settings,
                                             size_t n, struct ifm_arena *arena, void *out, struct ifm_error *error);
/* The other way: one setting a row (section->n) of the struct at `values`, as canonical text. In the arena. */
const struct ifm_setting *ifm_section_print(const struct ifm_section *section, const void *values,
                                            struct ifm_arena *arena);

#endif
