/* Composers: each gives the whole text of one output. Files and `verify` use the same ones. */
#ifndef IFM_PUBLISH_COMPOSE_H
#define IFM_PUBLISH_COMPOSE_H

#include "publish/publish.h"

/* Every OK number is finite, and so are its bounds; anything else is our own fault and is named. */
IFM_CHECKED enum ifm_status ifm_compose_check(const struct ifm_publication *publication, struct ifm_error *error);

/* A published file: a tree or a text. */
enum ifm_published_kind {
    IFM_PUBLISHED_NUMBERS = 0, /* derived.json, the first */
    IFM_PUBLISHED_TREE,
    IFM_PUBLISHED_SERIES, /* power over time, a trace */
    IFM_PUBLISHED_TABLE,  /* rows of numbers, states and words */
    IFM_PUBLISHED_WORDS
};
struct ifm_published {
    const char *name;
    enum ifm_published_kind kind;
    json_t *tree; /* NULL: it is a text */
    const struct ifm_text *text;
};
typedef enum ifm_status ifm_publish_visit(void *context, const struct ifm_published *file, struct ifm_error *error);
/* Every file of the folder but the manifest, as the record gives it, until one fails: what is written, and what
 * `verify` compares. */
IFM_CHECKED enum ifm_status ifm_published_each(const struct ifm_publication *publication, struct ifm_arena *arena,
                                               ifm_publish_visit *visit, void *context, struct ifm_error *error);

/* IFM_INVALID: a file lies in the folder under a published name that the record does not give. */
IFM_CHECKED enum ifm_status ifm_published_strays(const struct ifm_publication *publication, struct ifm_error *error);

/* Names in `out` what lies in the folder and is neither one of the `n` files `published` nor of the record: nothing
 * says that it belongs to the run. */
IFM_CHECKED enum ifm_status ifm_published_others(const struct ifm_publication *publication,
                                                 const char *const *published, size_t n,
                                                 char out[static IFM_OTHERS_SIZE], struct ifm_error *error);

/* Takes the name of the program that published a folder out of its derived.json. True: this very program, by version
 * and revision. False: another one, in words; a file without a name is from a version that wrote none. */
bool ifm_publisher_take(json_t *derived, char name[static IFM_PUBLISHER_SIZE]);

void ifm_compose_csv(const struct ifm_publication *publication, struct ifm_text *out);
void ifm_compose_jsonl(const struct ifm_publication *publication, struct ifm_text *out);
json_t *ifm_compose_json(const struct ifm_publication *publication); /* new reference */
/* The painters: what each medium makes of a document. `utf8`: false writes ASCII only. */
void ifm_paint_markdown(const struct ifm_document *document, struct ifm_text *out);
void ifm_paint_html(const struct ifm_document *document, struct ifm_text *out);
IFM_CHECKED enum ifm_status ifm_paint_terminal(const struct ifm_document *document, bool colour, bool utf8,
                                               struct ifm_text *out, struct ifm_error *error);
/* One table alone; on the terminal without colour, from the first column on, in lines of `width`. */
void ifm_paint_markdown_grid(const struct ifm_grid *grid, struct ifm_text *out);
void ifm_paint_terminal_grid(const struct ifm_grid *grid, size_t width, struct ifm_arena *arena, struct ifm_text *out);
/* The same of a document that is built for it: at IFM_LEVEL_BRIEF what a terminal
 * shows, at IFM_LEVEL_ALWAYS what it shows with --verbose, at IFM_LEVEL_FOLDED
 * report.md, which `--format md` prints too, at IFM_LEVEL_PAGE report.html. `colour` and `utf8` are the terminal's. */
IFM_CHECKED enum ifm_status ifm_compose_document(const struct ifm_publication *publication, enum ifm_level most,
                                                 bool colour, bool utf8, struct ifm_text *out, struct ifm_error *error);
/* metrics.json in the shape of the measurement standard. New reference. */
json_t *ifm_compat_sop(const struct ifm_publication *publication);
/* elastic_kv.json, and what `decode --json` prints: the specification's JSON of compressed KV caches. New reference. A
 * run without cells of decode has none: an empty object. */
bool ifm_compat_has_elastic_kv(const struct ifm_plan *plan);
json_t *ifm_compat_elastic_kv(const struct ifm_publication *publication);
/* ncu.json: what the hardware counted; of a run that was asked to count. New reference. */
bool ifm_compat_has_ncu(const struct ifm_plan *plan);
json_t *ifm_compat_ncu(const struct ifm_publication *publication);
/* summary.json and config_NN.json, NN from 01: the specification's files of a baseline, one for each cell of attention
 * in the order of the plan. New references; `index` from 0, below the number of those cells. */
size_t ifm_compat_count_baseline(const struct ifm_plan *plan);
json_t *ifm_compat_baseline_summary(const struct ifm_publication *publication);
json_t *ifm_compat_baseline_config(const struct ifm_publication *publication, size_t index);

/* trace.json, of a run that recorded one: what the GPU and the host did, for Chrome's trace viewer. IFM_INVALID where
 * the record is not the one that the journal tells of. */
bool ifm_compose_has_trace(const struct ifm_publication *publication);
IFM_CHECKED enum ifm_status ifm_compose_trace(const struct ifm_publication *publication, struct ifm_arena *arena,
                                              struct ifm_text *out, struct ifm_error *error);

/* power.csv first, where a device was measured, and a file for each sensor; none where there are no readings. Names and
 * the list live in the arena, the texts are freed with ifm_power_files_free. */
struct ifm_power_file {
    const char *name, *device, *source;
    struct ifm_text text;
};
struct ifm_power_files {
    struct ifm_power_file *list;
    size_t n;
};
IFM_CHECKED enum ifm_status ifm_compose_power(const struct ifm_publication *publication, struct ifm_arena *arena,
                                              struct ifm_power_files *out, struct ifm_error *error);
void ifm_power_files_free(struct ifm_power_files *files);
/* The same of what was gathered (power.h). */
struct ifm_power_shown;
void ifm_power_files_of(const struct ifm_power_shown *shown, size_t n, struct ifm_arena *arena,
                        struct ifm_power_files *out);

#endif
