/* The painter of report.html: what its files share.
 *
 * The page needs no network, and says the same without script: the script that it carries (web/report.js) only makes
 * reading easier. */
#ifndef IFM_PUBLISH_PAINT_HTML_H
#define IFM_PUBLISH_PAINT_HTML_H

#include "base/text.h"
#include "document/document.h"

struct ifm_html {
    struct ifm_text *out;
    const struct ifm_document *document;
    bool linked[IFM_M_COUNT]; /* metrics whose first place led to its definition */
};

/* html_table.c. "", "strong", "dim", "good", "bad", "warn": the class of a tone. */
const char *ifm_html_tone(enum ifm_tone tone);
/* Nothing for a grid without rows. */
void ifm_html_grid(struct ifm_html *html, const struct ifm_grid *grid);
/* A footnote's link; 0 = none. */
void ifm_html_note(struct ifm_html *html, unsigned note);

/* html_assets.c: the script and the style, the same bytes in every report; and the source expression of the
 * Content-Security-Policy that lets the script run and no other: "'sha256-...'". The caller frees `out`. */
const char *ifm_html_script(void);
const char *ifm_html_style(void);
void ifm_html_script_source(struct ifm_text *out);

#endif
