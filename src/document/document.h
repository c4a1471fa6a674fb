/* The document: what a run says, once, before any medium says it.
 *
 * A tree of sections that hold lines, lists, grids, commands, curves and figures. Built from plan, derived numbers,
 * verdict and journal; formats numbers and computes none. A painter (publish/paint) walks it and knows how a block
 * looks in its medium, not what a run is. Texts are as they came, in UTF-8: each painter has one door that makes them
 * harmless. Everything lives in the arena. Thread rule: no shared state. */
#ifndef IFM_DOCUMENT_DOCUMENT_H
#define IFM_DOCUMENT_DOCUMENT_H

#include "base/param.h"
#include "derive/derive.h"
#include "judge/judge.h"

enum { IFM_USUAL_WIDTH = 100 }; /* of lines that no terminal shows: files and pipes */

/* What a document is made of. */
struct ifm_publication {
    const char *dir;
    const struct ifm_plan *plan;
    const struct ifm_derived *derived;
    const struct ifm_verdict *verdict;
    const json_t *lock;              /* config.lock.json */
    const struct ifm_events *events; /* run.log */
    /* The record itself, for pictures and for files that hold raw samples; NULL: there are none of either. */
    const struct ifm_facts_view *facts;
    bool gate_files; /* gate.md and junit.xml are written where the folder has none yet */
    /* Tables of the workloads' settings, NULL-terminated: what differs from its default is shown first. NULL: unknown.
     */
    const struct ifm_section *const *tables;
    bool filed;   /* the brief document goes into a file: it names no folder, and no option to see more */
    size_t width; /* columns of the terminal that shows it; 0 = IFM_USUAL_WIDTH */
};

/* How much of a document a medium shows: a terminal with --verbose what is always shown, report.md all but the page's
 * own, the page everything. Folded: behind its summary, where a medium can fold. A brief document, which a terminal
 * shows else, is another one: the answer, its price and its trust. */
enum ifm_level { IFM_LEVEL_BRIEF = 0, IFM_LEVEL_ALWAYS, IFM_LEVEL_VERBOSE, IFM_LEVEL_FOLDED, IFM_LEVEL_PAGE };

enum ifm_tone { IFM_TONE_PLAIN = 0, IFM_TONE_STRONG, IFM_TONE_DIM, IFM_TONE_GOOD, IFM_TONE_BAD, IFM_TONE_WARN };

/* ---- text ---- */

/* A piece of a sentence; `target` is the id of a place in the page that it leads to, or NULL. */
struct ifm_span {
    const char *text;
    enum ifm_tone tone;
    bool code;     /* a name as it is typed */
    bool measured; /* as somebody else typed it: nothing in it is ours to replace */
    unsigned note; /* a footnote behind it; 0 = none */
    const char *target;
};
struct ifm_line {
    struct ifm_span *spans;
    size_t n, capacity;
};

/* One of a list. Items that a medium leaves out are counted, by their labels where they have them. */
struct ifm_item {
    enum ifm_level level;
    bool folded;       /* behind how many they are, where a medium can fold */
    const char *label; /* "warning"; "" = none */
    enum ifm_tone tone;
    size_t number;  /* of a numbered list; 0 = none */
    size_t n_alike; /* others that say the same of another place, or with other figures */
    bool again;     /* one of these, behind it: no line of its own where there is no room */
    const char *place;
    struct ifm_line line;
    const char *rule; /* of honesty, "rule-07"; "" = none */
    bool fits;        /* its builder made it short: no medium cuts it */
};

/* ---- tables ---- */

/* One field: a text, its interval (or "") beside it, and a footnote (0 = none). */
struct ifm_field {
    const char *text, *interval;
    enum ifm_tone tone;
    unsigned note;
    bool open; /* its interval allows more than one word anyway, whatever the note says of others that share it */
};

struct ifm_heading {
    const char *text;
    enum ifm_metric_id metric; /* IFM_M_NONE: it is none */
    bool left;                 /* flush left; numbers are flush right */
    int part; /* where a page is too narrow for all columns: those of one part stay together; 0 = in each */
};

enum ifm_grid_look {
    IFM_GRID_PLAIN = 0,
    IFM_GRID_SMALL, /* few short columns */
    IFM_GRID_DENSE, /* very many numbers */
    IFM_GRID_FACTS, /* names and what they are; no headings */
    IFM_GRID_CHECKS /* sentences */
};

struct ifm_grid {
    struct ifm_heading *headings;
    size_t n_columns;
    struct ifm_field *fields; /* n_rows x n_columns */
    size_t n_rows;
    enum ifm_grid_look look;
    const char *caption;     /* for those who do not see where the table stands; NULL = none */
    const char *note_prefix; /* of the anchors that its footnotes lead to; NULL = those of the document's notes */
};

static inline struct ifm_field *ifm_grid_at(const struct ifm_grid *grid, size_t row, size_t column)
{
    return &grid->fields[row * grid->n_columns + column];
}

/* ---- blocks ---- */

enum ifm_block_kind {
    IFM_BLOCK_SECTION = 0, /* blocks under a title */
    IFM_BLOCK_LINE,        /* a paragraph */
    IFM_BLOCK_LIST,
    IFM_BLOCK_GRID,
    IFM_BLOCK_CODE,    /* commands to type; `title` is the text */
    IFM_BLOCK_CURVE,   /* a number by size, for media without drawings */
    IFM_BLOCK_FIGURE,  /* a drawing of report/figure.h */
    IFM_BLOCK_GLOSSARY /* definitions of metrics */
};

/* What a block is for; a painter gives each its look. */
enum ifm_purpose {
    IFM_AS_TEXT = 0,
    IFM_AS_VERDICT,  /* a section: the outcome and the answer */
    IFM_AS_CONTENTS, /* a section: where things stand */
    IFM_AS_NEWS,     /* a section: who leaves it out says that it is there */
    IFM_AS_ASIDE,    /* a line or a list beside the matter */
    IFM_AS_DOUBTS,   /* a line: what to distrust */
    IFM_AS_WORDS,    /* a line: what the words mean */
    IFM_AS_OF,       /* a line: what the next list is about */
    IFM_AS_STRONG,   /* a line to be seen */
    IFM_AS_REASONS,  /* a list: why the verdict is what it is */
    IFM_AS_OUTCOMES, /* a list: comparisons in sentences, each of which begins with its place */
    IFM_AS_FACTS,    /* a list: measured limits */
    IFM_AS_FINDINGS, /* a list: findings, advice */
    IFM_AS_TRUST,    /* a list of one: how far the numbers may be trusted, its cause and remedy */
    IFM_AS_SCOPE,    /* a line: what the numbers are of */
    IFM_AS_NOTES     /* a numbered list that other places lead to: `id` and a number */
};

enum ifm_figure_kind {
    IFM_FIGURE_ANSWER = 0, /* of the whole run, on the first screen */
    IFM_FIGURE_RATIO,
    IFM_FIGURE_FRONTIER,
    IFM_FIGURE_ROOFLINE,
    IFM_FIGURE_RATES,
    IFM_FIGURE_TIMELINE,
    IFM_FIGURE_DISTRIBUTION,
    IFM_FIGURE_POWER,
    IFM_FIGURE_CACHES,
    IFM_FIGURE_KINDS
};

struct ifm_point {
    const char *size, *text;
    double number;
};

struct ifm_block {
    struct ifm_block *next; /* behind it in its section */
    enum ifm_block_kind kind;
    enum ifm_level level;
    enum ifm_purpose purpose;
    bool elsewhere; /* the page says it in another place: its first screen, a figure; of a list report.md too */
    /* of a section; of a list of notes `id` alone */
    const char *id, *title;         /* "" = none; of the verdict its label */
    const char *subtitle;           /* "cold cache, 8 threads"; "" = none */
    enum ifm_tone tone;             /* of the verdict; of a line */
    bool folded;                    /* behind its title */
    struct ifm_block *first, *last; /* what it holds */
    /* of the other kinds, each its own */
    struct ifm_line line;
    struct ifm_item *items;
    size_t n_items, items_capacity;
    struct ifm_grid grid;
    const struct ifm_point *points;
    size_t n_points;
    enum ifm_figure_kind figure;
    const struct ifm_cell *cell;       /* of a figure */
    const struct ifm_metric **metrics; /* of a glossary */
    size_t n_metrics;
};

struct ifm_note {
    unsigned number;
    const char *text;
    bool open; /* says why a comparison has no answer */
    bool took; /* the word of an interval that would decide, which no gate says */
};

struct ifm_document {
    struct ifm_arena *arena;
    const struct ifm_plan *plan;
    const struct ifm_derived *derived;
    size_t width;           /* of a terminal's lines */
    const char *title;      /* "decode on Example CPU" */
    struct ifm_line about;  /* "run a1b2, 2026-01-01 12:00 UTC, 1 cell" */
    struct ifm_block root;  /* its sections; the verdict first */
    bool lists_numbers;     /* every number stands in a table */
    struct ifm_note *notes; /* why a number is absent, refused or undecided: what footnotes lead to */
    size_t n_notes, notes_capacity;
    /* What figures are drawn from; none below IFM_LEVEL_PAGE, and without a record. */
    const struct ifm_picture *pictures; /* one a cell */
    size_t n_pictures;
    const struct ifm_power_shown *powers;
    size_t n_powers;
    const char *const *cell_ids; /* what ids of a cell's figures begin with: different for each cell of the plan */
};

/* `most`: blocks of a higher level need not be built. At IFM_LEVEL_BRIEF the brief document. */
IFM_CHECKED enum ifm_status ifm_document_build(const struct ifm_publication *publication, enum ifm_level most,
                                               struct ifm_arena *arena, struct ifm_document **out,
                                               struct ifm_error *error);
/* What would help, as the document says it; nothing else. */
struct ifm_document *ifm_document_advice(const struct ifm_publication *publication, struct ifm_arena *arena);

/* Whether an arm is a row of its cell's table: no cache probe, and a ceiling only in a cell of ceilings. */
bool ifm_document_is_row(const struct ifm_derived *derived, const struct ifm_cell *cell, const struct ifm_arm *arm);
/* "layer-tokens", "attention tokens"; `usual` where no layer is counted. */
const char *ifm_cell_tokens_heading(const struct ifm_cell *cell, const char *usual);
/* shape.c: "decode llama-3-8b, batch 4, kv_len 8192"; the cell's name where it has no model and no such shape. */
const char *ifm_document_shape(const struct ifm_cell *cell, struct ifm_arena *arena);
/* "decode llama-3-8b", of cells of any size. */
const char *ifm_document_family(const struct ifm_cell *cell, struct ifm_arena *arena);
/* "cell, arm" as far as they are set. */
const char *ifm_document_place(const char *cell, const char *arm, struct ifm_arena *arena);
/* "reason. Remedy: remedy" */
const char *ifm_with_remedy(const char *reason, const char *remedy, struct ifm_arena *arena);
static inline struct ifm_field ifm_field_text(const char *text, enum ifm_tone tone)
{
    return (struct ifm_field){text, "", tone, 0, false};
}
/* A table without headings, and room for `n_rows`. */
struct ifm_grid ifm_grid_make(struct ifm_arena *arena, size_t n_columns, size_t n_rows);

/* What an arm gives up for its speed, in words: bytes, error and rule 3's share stand together, since none of them
 * stands alone (rule 10): "moves 3.71x fewer bytes, output error 7.9 %, attention KL 0.021"; "" for an arm without a
 * ratio of bytes: one that stores nothing, or is compared with nothing. A number that is not there is said to be so,
 * never left out. */
const char *ifm_outcome_price(const struct ifm_derived *derived, const char *cell, const char *arm,
                              struct ifm_arena *arena);
/* Why rule 3 refused the arm's rates, which stands beside its speed-up; NULL when it did not. */
const char *ifm_outcome_refused_rate(const struct ifm_derived *derived, const char *cell, const char *arm);

#endif
