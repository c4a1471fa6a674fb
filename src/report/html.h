/* The report's page: what its parts share.
 *
 * The page needs no network, and says the same without script: the script that it carries (web/report.js) only makes
 * reading easier. */
#ifndef IFM_REPORT_HTML_H
#define IFM_REPORT_HTML_H

#include "derive/picture/picture.h"
#include "judge/review/checklist.h"
#include "publish/power.h"
#include "publish/view.h"

struct ifm_page {
    struct ifm_text *out;
    struct ifm_arena *arena;
    const struct ifm_publication *publication;
    const struct ifm_view *view;
    const struct ifm_checklist *lists;
    size_t n_lists;
    const struct ifm_advice *advice;
    size_t n_advice;
    const struct ifm_power_shown *powers; /* energy passes that have readings */
    size_t n_powers;
    const struct ifm_picture *pictures; /* of the record, one a cell; none when the record is not at hand */
    size_t n_pictures;
};

/* Text as character data or as a quoted attribute: & < > " ' are escaped, control characters dropped. */
void ifm_html_escape(const char *text, struct ifm_text *out);

/* "", "strong", "dim", "good", "bad", "warn": the class of a tone. */
const char *ifm_html_tone(enum ifm_tone tone);

/* html_lead.c: the first screen. `date` may be "". */
void ifm_html_header(struct ifm_page *page, const char *date);
/* Each compared arm in a sentence with its price, or, of many cells, how many comparisons ended how. */
void ifm_html_outcomes(struct ifm_page *page);
/* How many sentences of a cell are shown there at most. */
size_t ifm_html_sentences_most(const struct ifm_page *page);
/* How many warnings there are and where they stand. */
void ifm_html_doubts(struct ifm_page *page);
/* What the words of the page mean, in a paragraph. */
void ifm_html_words(struct ifm_page *page);
/* Links to the cells with their outcomes, when there are too many for the first screen. */
void ifm_html_contents(struct ifm_page *page);

/* html_parts.c: verdict, root causes, cells, footnotes, findings. */
void ifm_html_verdict(struct ifm_page *page);
void ifm_html_causes(struct ifm_page *page);
void ifm_html_cell(struct ifm_page *page, const struct ifm_view_cell *cell);
void ifm_html_notes(struct ifm_page *page);
void ifm_html_findings(struct ifm_page *page);

/* A table; `class` "" or "small". Nothing for a grid without rows. The caption is for those who do not see where the
 * table stands: it is not drawn; "" = none. */
void ifm_html_grid(struct ifm_page *page, const struct ifm_grid *grid, const char *class);
void ifm_html_table(struct ifm_page *page, const struct ifm_grid *grid, const char *class, const char *caption);

/* figure.c: all figures of a cell. */
void ifm_html_figures(struct ifm_page *page, const struct ifm_view_cell *cell);

/* html_checklists.c: checklists with their answers; advice whose condition holds. Nothing for none. */
void ifm_html_checklists(struct ifm_page *page, const struct ifm_checklist *lists, size_t n);
void ifm_html_advice(struct ifm_page *page, const struct ifm_advice *advice, size_t n);

/* html_numbers.c */
void ifm_html_numbers(struct ifm_page *page);

/* html_record.c: environment, configuration, definitions, how to repeat it, limits. */
void ifm_html_environment(struct ifm_page *page);
/* One row of a table of facts; a tree of facts, one row a leaf: {"absent": reason, "remedy": ...} is a leaf. */
void ifm_html_fact(struct ifm_page *page, const char *name, const char *text, bool absent);
void ifm_html_facts(struct ifm_page *page, const char *name, const json_t *value);
/* A scalar's text, or "a, b" of a list of them; NULL for a list of anything else. */
const char *ifm_html_scalars(struct ifm_page *page, const json_t *value);
/* html_gpu.c: rows of the GPUs in the fingerprint (NULL: it names none), their states, what held them down. */
void ifm_html_gpus(struct ifm_page *page, const json_t *gpus);
void ifm_html_configuration(struct ifm_page *page);
void ifm_html_definitions(struct ifm_page *page);
void ifm_html_repeat(struct ifm_page *page);
void ifm_html_limits(struct ifm_page *page);

/* A metric's words, linked to its definition; of IFM_M_NONE the words alone. */
void ifm_html_metric(struct ifm_page *page, enum ifm_metric_id metric, const char *words);

/* The style sheet, one rule an item, NULL-terminated (html_style.c). */
extern const char *const ifm_html_style[];

/* html_script.c: the page's own script, the same bytes in every report; and the source expression of the
 * Content-Security-Policy that lets it run and no other: "'sha256-...'". The caller frees `out`. */
const char *ifm_html_script(void);
void ifm_html_script_source(struct ifm_text *out);

#endif
