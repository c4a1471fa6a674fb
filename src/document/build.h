/* Private to the builders of the document: what they share. */
#ifndef IFM_DOCUMENT_BUILD_H
#define IFM_DOCUMENT_BUILD_H

#include "base/names.h"
#include "document/document.h"

struct ifm_trust;
struct ifm_builder {
    const struct ifm_publication *from;
    struct ifm_document *document;
    struct ifm_arena *arena;
    enum ifm_level most;
    struct ifm_names *notes; /* of the document, by their texts; made with the first */
};

/* ---- blocks: each gives the new one, the last of `parent` ---- */

struct ifm_block *ifm_add_section(struct ifm_builder *builder, struct ifm_block *parent, enum ifm_level level,
                                  const char *id, const char *title);
/* A section of the document itself. */
struct ifm_block *ifm_add_part(struct ifm_builder *builder, enum ifm_level level, const char *id, const char *title);
/* A line of one span; more of it by ifm_say. */
struct ifm_line *ifm_add_line(struct ifm_builder *builder, struct ifm_block *parent, enum ifm_level level,
                              enum ifm_purpose purpose, const char *text);
/* At the level of its parent, as a grid and an item are too. */
struct ifm_block *ifm_add_list(struct ifm_builder *builder, struct ifm_block *parent, enum ifm_purpose purpose);
/* Nothing for a grid without rows. */
void ifm_add_grid(struct ifm_builder *builder, struct ifm_block *parent, const struct ifm_grid *grid);
struct ifm_block *ifm_add_block(struct ifm_builder *builder, struct ifm_block *parent, enum ifm_level level,
                                enum ifm_block_kind kind);
/* An item with a line that is empty yet, or a sentence. Holds until the list gets another. */
struct ifm_item *ifm_add_item(struct ifm_builder *builder, struct ifm_block *list);
struct ifm_item *ifm_add_sentence(struct ifm_builder *builder, struct ifm_block *list, const char *text);

/* ---- words ---- */

void ifm_say(struct ifm_builder *builder, struct ifm_line *line, enum ifm_tone tone, const char *format, ...)
    IFM_PRINTF(4, 5);
/* A link. */
void ifm_say_link(struct ifm_builder *builder, struct ifm_line *line, const char *target, const char *text);
/* A name as it is typed. */
void ifm_say_code(struct ifm_builder *builder, struct ifm_line *line, const char *text);

/* ---- numbers ---- */

const struct ifm_value *ifm_value_of(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                     const struct ifm_arm *arm, enum ifm_metric_id metric); /* arm NULL: of the cell */
bool ifm_is_row(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm);
/* A value in any state as a field; NULL gives an empty field. */
struct ifm_field ifm_field_value(struct ifm_builder *builder, const struct ifm_value *value);
/* The footnote of a reason and its remedy: the same text gets the same number. 0 for an empty reason. */
unsigned ifm_add_note(struct ifm_builder *builder, const char *reason, const char *remedy);
/* The words of derive's decision: good, bad or warn. */
enum ifm_tone ifm_tone_of_word(const char *word);

/* ---- builders, in the order of the document ---- */

void ifm_build_lead(struct ifm_builder *builder);                              /* lead.c */
void ifm_build_brief(struct ifm_builder *builder);                             /* brief.c: all of the short one */
void ifm_build_gates(struct ifm_builder *builder);                             /* lead.c */
void ifm_build_gate_table(struct ifm_builder *builder);                        /* lead.c: of gates, one at least */
void ifm_build_contents(struct ifm_builder *builder);                          /* lead.c */
void ifm_build_results(struct ifm_builder *builder);                           /* page.c */
void ifm_build_cell(struct ifm_builder *builder, const struct ifm_cell *cell); /* cell.c */
/* Is the energy of these cells told of tokens, or of steps? By what has a number; where nothing has, by what the arms
 * make. */
bool ifm_energy_takes_tokens(const struct ifm_builder *builder, const struct ifm_cell *first, size_t n);
void ifm_build_energy(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section);
/* hardware.c: at the level IFM_LEVEL_BRIEF the main columns alone, without a section of their own */
void ifm_build_counters(struct ifm_builder *builder, const struct ifm_cell *cell, enum ifm_level level,
                        struct ifm_block *parent);
/* The same of what was recorded. */
void ifm_build_trace(struct ifm_builder *builder, const struct ifm_cell *cell, enum ifm_level level,
                     struct ifm_block *parent);
void ifm_build_review(struct ifm_builder *builder);   /* review.c: notes, triage, causes */
void ifm_build_findings(struct ifm_builder *builder); /* findings.c */
void ifm_build_causes(struct ifm_builder *builder);   /* causes.c: the page's findings */
/* The first clause of its cause, where a finding of the page has the rest and a remedy stands beside it. */
const char *ifm_cause_short(struct ifm_builder *builder, const struct ifm_trust *trust);
/* Does the page list findings beside the word of trust? */
bool ifm_has_causes(struct ifm_builder *builder, const struct ifm_trust *trust);
void ifm_build_advice(struct ifm_builder *builder);        /* review.c */
void ifm_build_checklists(struct ifm_builder *builder);    /* review.c */
void ifm_build_repeat(struct ifm_builder *builder);        /* record.c */
void ifm_build_limits(struct ifm_builder *builder);        /* record.c */
void ifm_build_numbers(struct ifm_builder *builder);       /* numbers.c */
void ifm_build_environment(struct ifm_builder *builder);   /* environment.c */
void ifm_build_configuration(struct ifm_builder *builder); /* environment.c */

/* Findings of the same severity, rule and text are one, with all their places. Worst first. Those of which only the
 * figures differ are one kind, and kinds are what every medium counts. */
struct ifm_told {
    const struct ifm_finding *first;
    enum ifm_severity severity; /* as it is told: a warning that touches no comparison is a note */
    const char *place;          /* "read.linear and 2 more" */
    size_t n;
    size_t n_alike;  /* later ones of its kind */
    size_t alike_to; /* the first of its kind; of that itself */
    bool is_alike;   /* another one is the first */
};
size_t ifm_gather_findings(struct ifm_builder *builder, struct ifm_told **out);
/* Kinds of warnings, and of what makes a run invalid. */
size_t ifm_count_warnings(const struct ifm_publication *from);
void ifm_add_finding(struct ifm_builder *builder, struct ifm_block *list, enum ifm_level level,
                     const struct ifm_told *told);
/* The others of the kind of told[first], behind it. */
void ifm_add_alike(struct ifm_builder *builder, struct ifm_block *list, enum ifm_level level,
                   const struct ifm_told *told, size_t n, size_t first);
/* gravity.c: how much a finding touches what is compared; of a probe of a ceiling, or of what cannot run here, nothing.
 */
enum ifm_gravity { IFM_TOUCHES_NOTHING = 0, IFM_TOUCHES_NUMBERS, IFM_TOUCHES_OUTPUT, IFM_TOUCHES_RECORD };
enum ifm_gravity ifm_gravity_of(const struct ifm_publication *from, const struct ifm_finding *finding);
/* Without gates the verdict is not valid where nothing was measured, or nothing of what was asked for. */
bool ifm_is_measured(const struct ifm_publication *from);
/* Blocks of a row that the machine disturbed, where they are half of all or more; 0 = they are not. */
double ifm_most_marked(const struct ifm_publication *from, double *all);
/* Is the number of a row refused, so that its cell is not to be used? Not where an idle power does not fit: that
 * touches no other number, and a finding says it. */
bool ifm_is_distrusted(const struct ifm_publication *from, const struct ifm_number *number);
/* Is a comparison of the arm inactive beside others that have an answer? */
bool ifm_is_left_out(const struct ifm_publication *from, const char *cell, const char *arm);
/* Is the arm a row of its cell's table? */
bool ifm_is_row_named(const struct ifm_publication *from, const char *cell, const char *arm);
/* Does it concern a ceiling's probe alone? */
bool ifm_finding_is_of_probe(const struct ifm_plan *plan, const struct ifm_finding *finding);
/* Findings about the probes of a cell, folded, for the place of its ceilings (causes.c). */
void ifm_add_probe_findings(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section);
/* The graver of two findings weighs more. */
int ifm_finding_weight(const struct ifm_plan *plan, const struct ifm_finding *finding);

/* ---- pieces of a cell (cell.c) ---- */

/* Has any row something to say in a column? */
bool ifm_cell_shows(const struct ifm_builder *builder, const struct ifm_cell *cell,
                    const struct ifm_metric_column *spec);
/* `told`: what must be said beside a comparison stands in a sentence, and needs no footnote. */
struct ifm_field ifm_cell_field(struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                                enum ifm_metric_id metric, bool told);
/* What a step is, over its time: a run of a program, one layer of a model, or `usual`. */
const char *ifm_cell_time_heading(const struct ifm_cell *cell, const char *usual);
/* Of what its tokens are, as their rate is no model's: "6 attention layers, generated data"; "" of other work. */
const char *ifm_cell_tokens_of(struct ifm_builder *builder, const struct ifm_cell *cell);
/* "batch 4, kv_len 8192, 2 threads, equal if within ±0.3 %", in about `most` bytes, else in a line more. */
const char *ifm_cell_conditions(struct ifm_builder *builder, const struct ifm_cell *cell, size_t most);
/* "batch 1": what attention.scale made of the batch that the name says; "" where it made nothing of it. */
const char *ifm_cell_scaled(struct ifm_builder *builder, const struct ifm_cell *cell);
/* "batch 1 (divided by --scale 32), "; not `alike`: of cells beside it that have other batches now. */
const char *ifm_cell_scaled_words(struct ifm_builder *builder, const struct ifm_cell *cell, bool alike);
/* What was measured as the most that the machine gives, and by what. */
void ifm_cell_ceilings(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section);
/* The caches that a cell of probes found. */
void ifm_cell_caches(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section);

/* The published commands of the arms, a line each; nothing where they are private (commands.c). */
void ifm_add_commands(struct ifm_builder *builder, const struct ifm_cell *cell, enum ifm_level level,
                      struct ifm_block *section);

/* ---- the main table (table.c) ---- */

/* Cells that stand in one table, from `first` on: they differ in nothing but the values of their axes. */
struct ifm_group {
    const struct ifm_cell *first;
    size_t n;
    const char *conditions;
};
struct ifm_group ifm_group_at(struct ifm_builder *builder, size_t first);
const char *ifm_group_title(const struct ifm_group *group);
/* "batch 1 (divided by --scale 32), ", where that is so of all its cells; where they differ, that they were divided,
 * and each says its own. */
const char *ifm_group_scaled(struct ifm_builder *builder, const struct ifm_group *group);
/* Has any row the metric; `ok`: as a number. */
bool ifm_group_has(const struct ifm_builder *builder, const struct ifm_group *group, enum ifm_metric_id metric,
                   bool ok);
/* `told`: sentences stand beside it. `whole`: as wide as it likes, with p50 and p95. */
void ifm_group_table(struct ifm_builder *builder, const struct ifm_group *group, bool told, bool whole,
                     struct ifm_block *section);
/* What tells a cell from the others of its group: the values of its axes. */
const char *ifm_cell_label(const struct ifm_cell *cell);
/* "at kv_len 2048", of a cell of several; else its name. */
const char *ifm_cell_at(const struct ifm_builder *builder, const struct ifm_cell *cell);

/* ---- sentences about arms (outcome.c) ---- */

bool ifm_is_compared(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm);
/* Does the first screen, or the list of cells, tell so many outcomes of a cell? */
bool ifm_lead_holds(const struct ifm_builder *builder, size_t n_outcomes);
/* Adds the outcomes of a cell; `times`: of a cell that compares nothing the time of each row; `most` of them at most;
 * returns how many there are. */
size_t ifm_add_outcomes(struct ifm_builder *builder, struct ifm_block *list, const struct ifm_cell *cell, size_t most,
                        bool times);

/* The word of a comparison, `change`: "" of one that is undecided by a margin that nobody asked about, as a gate on it
 * passes. */
const char *ifm_word_shown(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                           const struct ifm_value *change);
/* Does a word of any table go by the margin? Cells that differ in their axes alone have one head. */
bool ifm_goes_by_margin(const struct ifm_builder *builder);
/* Below the table of `n` cells: "34 runs are too few to see slow ones rarer than 1 in 12", by the arm of fewest runs;
 * "" of other work than programs, and of runs enough. */
const char *ifm_unseen_words(const struct ifm_builder *builder, const struct ifm_cell *cells, size_t n);
/* That the times of the table give another ratio than `speedup`, with theirs; "" where they agree. */
const char *ifm_unlike_the_times(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                 const struct ifm_arm *arm, const struct ifm_value *speedup);
#define IFM_DRIFT_NOTE_WORDS "its interval holds each fifth of the run" /* of a time */
bool ifm_tells_the_times(const char *text);                            /* Does a note say so? */
/* Such a note of several rows, whose ratios differ: without that of one; NULL = it is another note. */
const char *ifm_unlike_of_several(const char *text);
/* footnotes.c: below the last table, in so many lines. Returns how many are left out; adds to `warnings` those that
 * they say. */
size_t ifm_add_footnotes(struct ifm_builder *builder, const struct ifm_trust *trust, struct ifm_block *section,
                         size_t room, size_t *warnings);
/* Why a run measured nothing, which its first line says; "" of another. */
const char *ifm_nothing_measured(const struct ifm_builder *builder);
/* The length of "the machine disturbed 24 of 24 blocks" of what goes on. */
size_t ifm_first_clause(const char *text);
/* wide.c: why the interval of the arm's speed-up is more than twice as wide as its times' are together, or was widened
 * for the order of arms; "" where it is neither, or no rule says. Of what is undecided its width has a reason of its
 * own. */
const char *ifm_wider_than_times(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                 const struct ifm_arm *arm, bool undecided);
/* "no interval: needs 772 runs: CPU times are skewed. Remedy: go by p50": of a number that has none. */
const char *ifm_no_interval_words(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                  enum ifm_metric_id metric, const struct ifm_value *value);
/* What to know of a time: "2 modes: of its runs 54 % at 11 ms, 46 % at 21 ms", which a file tells of among what was
 * found, or how mean and median lie, or a drift; "" = nothing. */
const char *ifm_time_words(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                           const struct ifm_value *value);
/* Lines below a table: "mean and p50 disagree: b 0.73x by the mean, 1.05x by p50" where they do, beyond the margin and
 * what is chance, and no finding says it; and ifm_unseen_words. */
void ifm_add_cautions(struct ifm_builder *builder, const struct ifm_cell *cells, size_t n, enum ifm_level level,
                      struct ifm_block *section);
/* What a step of a whole model reads, where one is named: its weights whatever the cache is; "" where none is. `told`:
 * how many fewer bytes stand in the sentences of the arms. */
const char *ifm_model_words(struct ifm_builder *builder, const struct ifm_cell *cells, size_t n, bool told);
/* How much of a sentence stands in the table above it: nothing, the speed, which only a price needs beside it, the
 * intervals too, all numbers that it has. */
enum ifm_telling { IFM_TELL_ALL = 0, IFM_TELL_BELOW, IFM_TELL_BARE, IFM_TELL_SHORT };
/* The sentence about a compared arm. */
void ifm_say_outcome(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                     const struct ifm_arm *arm, enum ifm_telling telling);

/* "in memory, and in time unless a better f16 is as fast: int8, int4; if a model bears their output error" (pays.c); ""
 * of a cell that compares no smaller form with another. */
const char *ifm_pays_words(const struct ifm_builder *builder, const struct ifm_cell *cell);
/* What a weak baseline leaves of a cell's speed-ups: "with f16 at its ceiling: int4 1.63x [1.60, 1.66]"; "" where
 * nothing was found. */
const char *ifm_left_words(const struct ifm_builder *builder, const struct ifm_cell *cell);

/* ---- the first screen of the page, and of report.md (page.c) ---- */

enum { IFM_FEW_CELLS = 6 }; /* of more each has its own place on the page, and the first screen counts */

/* What follows the answer: trust, what the tokens are of; on the page the command that repeats it, and the chart. */
void ifm_end_answer(struct ifm_builder *builder, struct ifm_block *section);
/* What the words of the tables mean. */
void ifm_add_words(struct ifm_builder *builder, struct ifm_block *section);

/* ---- the terminal's lines (brief.c, trust_line.c) ---- */

/* The whole clauses of at most `most` columns, where those are most of it; else the whole words. What to type is never
 * cut: such a text is told whole. */
const char *ifm_cut(const struct ifm_builder *builder, const char *text, size_t most);
/* Lines of the usual width that a text takes from `column` on. */
size_t ifm_lines_of(const char *text, size_t column, size_t margin);
/* With the run's folder in the place of DIR, as a line that a shell takes; a file stays where folders are not named. */
const char *ifm_with_folder(const struct ifm_builder *builder, const char *text);
/* Behind the word of trust, and behind "next" and "again". In two lines each where anything can be left out: clauses of
 * the cause; all but the first remedy. "" = none. */
struct ifm_trust_lines {
    const char *cause; /* "decode, int4: it drifts ..." */
    const char *next;  /* "--warmup 10s" */
    const char *again; /* "inferometer rerun DIR --times 5, as another run may differ" */
};
struct ifm_trust_lines ifm_trust_lines(const struct ifm_builder *builder, const struct ifm_trust *trust);

/* ---- of many comparisons (lead.c) ---- */

/* "9 comparisons with a baseline: 7 faster, 0 slower, 1 equivalent, 1 undecided."; "" where there are none. */
const char *ifm_counts_of_comparisons(const struct ifm_builder *builder, const struct ifm_cell *cells, size_t n_cells);

/* ---- facts of the journal (environment.c) ---- */

/* Rows of a table of facts. */
struct ifm_facts_table {
    struct ifm_builder *builder;
    struct ifm_field *fields; /* two a row */
    size_t n, capacity;
};
void ifm_fact(struct ifm_facts_table *table, const char *name, const char *text, bool absent);
void ifm_facts_end(struct ifm_facts_table *table, struct ifm_block *parent);

#endif
