/* The view: what a summary shows, as text, before anybody decides how to draw it.
 *
 * Built once from plan, derived and verdict; drawn by the terminal table, by Markdown and by the report, so that the
 * three cannot disagree. Formats numbers and computes none. All texts are UTF-8 and live in the caller's arena. */
#ifndef IFM_PUBLISH_VIEW_H
#define IFM_PUBLISH_VIEW_H

#include "publish/publish.h"

enum ifm_tone { IFM_TONE_PLAIN = 0, IFM_TONE_STRONG, IFM_TONE_DIM, IFM_TONE_GOOD, IFM_TONE_BAD, IFM_TONE_WARN };

/* One field of a table: a text, its interval (or "") beside it, and a footnote (0 = none). */
struct ifm_field {
    const char *text, *interval;
    enum ifm_tone tone;
    unsigned note;
};

struct ifm_heading {
    const char *text;
    enum ifm_metric_id metric; /* id, or "" */
    bool left;                 /* flush left; numbers are flush right */
    int part; /* where a page is too narrow for all columns: those of one part stay together; 0 = in each */
};

struct ifm_grid {
    struct ifm_heading *headings;
    size_t n_columns;
    struct ifm_field *fields; /* n_rows x n_columns */
    size_t n_rows;
};

/* Ceiling arms of one kind, folded into one line: "read", "23.1 GB/s ±0.1", "best of 3: read.linear". */
struct ifm_view_ceiling {
    const char *kind;
    struct ifm_field field;
    const char *source;
};

/* A cache sweep: the time of one load by working set. */
struct ifm_view_point {
    const char *size, *time; /* for people */
    double bytes, number;
};
struct ifm_view_mark {
    const char *name; /* "L2" */
    double bytes;
};

struct ifm_view_cell {
    const struct ifm_cell *cell;
    const char *title, *conditions; /* "hot cache, 8 threads, margin ±0.3 %" */
    const char *unsupported;        /* "" or why there is nothing */
    struct ifm_grid arms;
    struct ifm_grid compression;      /* bytes, loss and speed of arms that store something; n_rows = 0: none does */
    struct ifm_view_line *compressed; /* each compared one in a sentence */
    size_t n_compressed;
    struct ifm_grid energy;   /* what the energy pass gave for each arm; n_rows = 0: there was none */
    const char **energy_said; /* what must be said beside it: systematic errors, refusals, or why there is nothing */
    size_t n_energy_said;
    struct ifm_view_ceiling *ceilings;
    size_t n_ceilings;
    struct ifm_grid caches; /* n_rows = 0: none */
    struct ifm_view_point *curve;
    size_t n_curve;
    struct ifm_view_mark *marks; /* the cache sizes that were found */
    size_t n_marks;
};

struct ifm_view_note {
    unsigned number;
    const char *text;
};

/* Findings of the same severity, rule and text are one, with all their places: "read.linear and 2 more". Those of which
 * only the figures differ are alike: the terminal tells the first of them, and how many others there are. */
struct ifm_view_finding {
    const struct ifm_finding *first;
    const char *place;
    size_t n;
    size_t n_alike; /* later ones that are alike */
    bool is_alike;  /* an earlier one is */
};

/* A sentence about a place: classes of an arm, or what else changed with its time. */
struct ifm_view_line {
    const char *place, *text;
};

struct ifm_view {
    const struct ifm_derived *derived;
    const char *label; /* "PASS", "FAIL", "BLOCKED", "MEASURED", "INVALID" */
    enum ifm_tone tone;
    const char *const *reasons;
    size_t n_reasons;
    const char *rollback;   /* "Roll back to plain." or "" */
    const char *const *rca; /* where to look for the cause, one sentence a rung */
    size_t n_rca;
    struct ifm_grid gates;
    struct ifm_view_line *classes, *triage;
    size_t n_classes, n_triage;
    struct ifm_view_cell *cells;
    size_t n_cells;
    struct ifm_view_note *notes;
    size_t n_notes;
    struct ifm_view_finding *findings; /* worst first */
    size_t n_findings;
};

const struct ifm_view *ifm_view_build(const struct ifm_publication *publication, struct ifm_arena *arena);

/* Whether an arm is a row of its cell's table: no cache probe, and a ceiling only in a cell of ceilings. */
bool ifm_view_is_row(const struct ifm_view *view, const struct ifm_cell *cell, const struct ifm_arm *arm);
/* Word and tone of a severity: "note", "warning", "invalid". */
const char *ifm_severity_label(enum ifm_severity severity);
enum ifm_tone ifm_severity_tone(enum ifm_severity severity);
/* A rung of the ladder on which nothing was found: a line without news. */
bool ifm_view_is_clean(const char *rung);
/* "cell, arm" as far as they are set. */
const char *ifm_view_place(const char *cell, const char *arm, struct ifm_arena *arena);

#endif
