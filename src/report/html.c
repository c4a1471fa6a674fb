/* report.html: one page, no network, the same without script, readable on a phone, in the dark and on paper. */
#include "report/html.h"
#include "publish/compose.h"
#include <time.h>

void ifm_html_escape(const char *text, struct ifm_text *out)
{
    for (; text != NULL && *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        switch (c) {
        case '&':
            ifm_text_add(out, "&amp;");
            break;
        case '<':
            ifm_text_add(out, "&lt;");
            break;
        case '>':
            ifm_text_add(out, "&gt;");
            break;
        case '"':
            ifm_text_add(out, "&quot;");
            break;
        case '\'':
            ifm_text_add(out, "&#39;");
            break;
        default:
            if (c >= 0x20 || c == '\n' || c == '\t')
                ifm_text_append(out, text, 1);
        }
    }
}

static void add_head(struct ifm_page *page)
{
    struct ifm_text *out = page->out;
    ifm_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'; script-src ");
    ifm_html_script_source(out);
    ifm_text_add(out, "; base-uri 'none'; form-action 'none'\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta name=\"referrer\" content=\"no-referrer\">\n"
                      "<meta name=\"color-scheme\" content=\"light dark\">\n"
                      "<meta name=\"generator\" content=\"inferometer " IFM_VERSION "\">\n<title>");
    ifm_html_escape(page->view->label, out);
    ifm_text_add(out, ": inferometer run ");
    ifm_html_escape(page->publication->derived->run_id, out);
    ifm_text_add(out, "</title>\n<style>\n");
    for (size_t i = 0; ifm_html_style[i] != NULL; i++)
        ifm_text_printf(out, "%s\n", ifm_html_style[i]);
    ifm_text_add(out, "</style>\n</head>\n");
}

static void add_body(struct ifm_page *page)
{
    struct ifm_text *out = page->out;
    char date[32];
    ifm_text_add(out, "<body>\n");
    ifm_html_header(page, ifm_events_date(page->publication->events, date));
    ifm_text_add(out, "<main>\n");
    ifm_html_verdict(page);
    ifm_html_contents(page);
    for (size_t i = 0; i < page->view->n_cells; i++)
        ifm_html_cell(page, &page->view->cells[i]);
    ifm_html_causes(page);
    ifm_html_notes(page);
    ifm_html_findings(page);
    ifm_html_advice(page, page->advice, page->n_advice);
    ifm_html_checklists(page, page->lists, page->n_lists);
    ifm_html_repeat(page);
    ifm_html_limits(page);
    ifm_html_numbers(page);
    ifm_html_environment(page);
    ifm_html_configuration(page);
    ifm_html_definitions(page);
    ifm_text_add(out, "</main>\n<footer><p>Made by inferometer " IFM_VERSION "; <code>inferometer verify DIR</code> "
                      "computes this page again.</p></footer>\n<script>");
    ifm_text_add(out, ifm_html_script());
    ifm_text_add(out, "</script>\n</body>\n</html>\n");
}

static enum ifm_status gather(struct ifm_page *page, struct ifm_error *error)
{
    const struct ifm_publication *from = page->publication;
    struct ifm_picture *pictures = NULL;
    struct ifm_checklist *lists;
    struct ifm_advice *advice;
    if (from->facts != NULL)
        IFM_TRY(ifm_derive_pictures(from->facts, from->derived, page->arena, &pictures, error));
    struct ifm_power_shown *powers;
    IFM_TRY(ifm_power_gather(from, page->arena, &powers, &page->n_powers, error));
    page->powers = powers;
    page->pictures = pictures;
    page->n_pictures = pictures != NULL ? from->plan->n_cells : 0;
    IFM_TRY(ifm_checklists(from->plan, from->derived, from->verdict, from->events, page->arena, &lists, &page->n_lists,
                           error));
    page->lists = lists;
    ifm_advise(from->plan, from->derived, from->events, page->arena, &advice, &page->n_advice);
    page->advice = advice;
    page->view = ifm_view_build(from, page->arena);
    return IFM_OK;
}

enum ifm_status ifm_compose_html(const struct ifm_publication *publication, struct ifm_text *out,
                                 struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_page page = {.out = out, .arena = arena, .publication = publication};
    enum ifm_status status = gather(&page, error);
    if (status == IFM_OK) {
        add_head(&page);
        add_body(&page);
    }
    ifm_arena_destroy(arena);
    return status;
}
