/* The report's page: what its parts share. The page needs no script and no network. */
#ifndef IFM_PUBLISH_HTML_H
#define IFM_PUBLISH_HTML_H

#include "publish/metric.h"
#include "publish/view.h"

struct ifm_page {
    struct ifm_text *out;
    struct ifm_arena *arena;
    const struct ifm_publication *publication;
    const struct ifm_view *view;
    const struct ifm_metric *metrics;
    size_t n_metrics;
};

/* Text as character data or as a quoted attribute: & < > " ' are escaped, control characters dropped. */
void ifm_html_escape(const char *text, struct ifm_text *out);

/* html_parts.c: verdict, root causes, cells, footnotes, findings. */
void ifm_html_verdict(struct ifm_page *page);
void ifm_html_causes(struct ifm_page *page);
void ifm_html_cell(struct ifm_page *page, const struct ifm_view_cell *cell);
void ifm_html_notes(struct ifm_page *page);
void ifm_html_findings(struct ifm_page *page);

/* html_record.c: every number, environment, configuration, definitions, how to repeat it, limits. */
void ifm_html_numbers(struct ifm_page *page);
void ifm_html_environment(struct ifm_page *page);
void ifm_html_configuration(struct ifm_page *page);
void ifm_html_definitions(struct ifm_page *page);
void ifm_html_repeat(struct ifm_page *page);
void ifm_html_limits(struct ifm_page *page);

/* A metric's words, linked to its definition where there is one. */
void ifm_html_metric(struct ifm_page *page, const char *metric, const char *words);

/* The style sheet, one rule an item, NULL-terminated (html_style.c). */
extern const char *const ifm_html_style[];

#endif
