/* Comparisons as rows: arms of one run, or one arm of several runs. Formats only. */
#ifndef IFM_PUBLISH_COMPARISON_H
#define IFM_PUBLISH_COMPARISON_H

#include "derive/compare/between.h"
#include "judge/judge.h"
#include "publish/listing.h"

/* One comparison: what, against what, and derive's answer. */
struct ifm_comparison_row {
    const char *run, *reference_run; /* run ids; the same inside a run */
    const char *cell, *arm, *reference;
    enum ifm_metric_id metric; /* what is compared: "step_ns", "speedup", "ceiling_read_percent", ... */
    struct ifm_value change, speedup, mde;
    const char *word;                     /* "" = no decision */
    const char *not_comparable;           /* "" or "not comparable: locks, time" */
    const char *not_used;                 /* between runs: why nobody should use its cell; NULL = they may */
    const struct ifm_derived *derived[2]; /* whose findings belong to the row; NULL = none */
    const char *label, *reference_label;  /* between runs: what people call them; "" inside a run */
    const struct ifm_value *values[2];    /* between runs: the numbers of this run and of the reference; NULL = nothing
                                             that may stand side by side */
    bool energy;                          /* of joules: their ratio is no speed-up */
    bool across;                          /* of shares of two devices' ceilings: nor is theirs */
    bool integer;                         /* of an arm that multiplies bytes */
};

/* Start with one of them; print with ifm_listing_compose. Between runs a change is of time or of energy. */
struct ifm_listing ifm_comparison_begin(struct ifm_arena *arena);
struct ifm_listing ifm_comparison_begin_runs(struct ifm_arena *arena);
void ifm_comparison_add(struct ifm_listing *listing, const struct ifm_comparison_row *row);
/* The comparisons that `derived` made inside its run, in the order of the plan; `cell` NULL = all. Returns how many.
 * `reference` NULL: each baseline, and of a gate that passes the words are the report's; `verdict` NULL: no gates. */
size_t ifm_comparison_add_run(struct ifm_listing *listing, const struct ifm_plan *plan,
                              const struct ifm_derived *derived, const struct ifm_verdict *verdict, const char *cell,
                              const char *reference);
/* Two runs with the labels that people know them by. */
struct ifm_comparison_runs {
    const struct ifm_run_view *reference, *other;
    const char *reference_label, *other_label;
};
void ifm_comparison_add_between(struct ifm_listing *listing, const struct ifm_comparison_runs *runs,
                                const struct ifm_between *between);
/* "2.18 %": the smallest change of time that the comparison can detect; ">6.93 %" where the interval holds more than
 * noise (a drift, what an arm leaves behind, clocks): no less than half of it is found. "" or a state where nobody
 * knows. */
const char *ifm_comparison_detects(const struct ifm_value *change, const struct ifm_value *mde,
                                   struct ifm_arena *arena);
/* Between runs people read a change beside the two numbers that it is of, and machines one of time: of what is better
 * where there is more, each is the other's inverse. */
struct ifm_value ifm_comparison_for_people(enum ifm_metric_id metric, const struct ifm_value *of_time);
/* A number with sign and interval: "-48.9 % [-49.2, -48.6]"; its state when it is none. */
const char *ifm_comparison_change(const struct ifm_value *value, struct ifm_arena *arena);
/* The arm's change of energy against its baseline, `*of` a token or a step; NULL where none was derived. */
const struct ifm_value *ifm_comparison_energy(const struct ifm_derived *derived, const char *cell, const char *arm,
                                              const char **of);

#endif
