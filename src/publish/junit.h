/* Gates as lines for machines that wait for an answer: JUnit XML for a CI, a table for a pull request. Formats only. */
#ifndef IFM_PUBLISH_JUNIT_H
#define IFM_PUBLISH_JUNIT_H

#include "derive/compare/between.h"
#include "publish/comparison.h"

/* One gate of the run itself, or one ratio against a reference run. */
struct ifm_gate_line {
    const char *name; /* the gate's name, or "speedup against main" */
    const char *cell, *arm, *metric;
    enum ifm_outcome outcome;
    bool missing_capability;
    uint64_t
        further; /* inconclusive: so many more blocks (of each run) would probably decide; 0 = no sensible number */
    struct ifm_value observed;
    const char *seen;      /* the number as the reason has it; NULL = as tables have it */
    const char *threshold; /* "at most 900 ns", "at least -0.3 %" */
    const char *reason;    /* one sentence with number, interval and threshold */
    const char *caveat;    /* what the answer leaves out, in a sentence of its own; NULL or "" = nothing */
    const char *remedy;    /* of that reason; NULL or "" = none */
};

struct ifm_gate_lines {
    struct ifm_gate_line *items;
    size_t n, capacity;
    const char **notes; /* what is not judged, and why */
    size_t n_notes, notes_capacity;
    const char *trust; /* the run's word of trust with its cause: no gate asks about its baseline; NULL = not known */
};

/* The gates that a verdict of the run judged, and a line for what else keeps it from passing. */
void ifm_gate_lines_run(const struct ifm_run_view *run, const struct ifm_verdict *verdict, struct ifm_arena *arena,
                        struct ifm_gate_lines *out);
/* A line for a reason outside the gates that blocks the answer; without it files would show the run as passed. */
void ifm_gate_lines_block(struct ifm_gate_lines *out, struct ifm_arena *arena, const char *name, const char *reason);
/* The ratios of interleaved arms that the reference holds, and beside the speed-up of an arm that compresses what its
 * output loses. One that this run has lost blocks; one that the reference
 * does not hold, or whose cell or arm one run lacks, is not judged and noted. `label` names the reference. */
void ifm_gate_lines_between(const struct ifm_between *between, const char *label, struct ifm_arena *arena,
                            struct ifm_gate_lines *out);
/* Lines on arms that one of the runs says not to use are blocked, with the cause. */
void ifm_gate_lines_distrust(struct ifm_gate_lines *lines, const struct ifm_comparison_runs *runs,
                             struct ifm_arena *arena);
/* The worst of them: fail, then blocked, then inconclusive, then pass. */
enum ifm_outcome ifm_gate_lines_outcome(const struct ifm_gate_lines *lines);
/* Rejected when one fails; else IFM_INVALID when one is inconclusive or blocked by data, IFM_MISSING when only
 * capabilities miss. */
enum ifm_status ifm_gate_lines_status(const struct ifm_gate_lines *lines);

struct ifm_listing ifm_gate_lines_listing(const struct ifm_gate_lines *lines, struct ifm_arena *arena);
/* JUnit XML: a failed gate is a failure, an inconclusive or blocked one an error of that type, one that this machine
 * cannot judge skipped. UTF-8 that XML 1.0 cannot hold is replaced. */
void ifm_gate_lines_junit(const struct ifm_gate_lines *lines, const char *run_id, struct ifm_text *out);

#endif
