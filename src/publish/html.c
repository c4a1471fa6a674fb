/* report.html: one page, no script, no network, readable on a phone, in the dark and on paper. */
#include "publish/html.h"
#include "publish/compose.h"
#include "publish/facts.h"
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

/* When the run began, by the wall clock of its first event; "" without events. */
static const char *date_of(const json_t *events, char buffer[32])
{
    time_t seconds = (time_t)(json_integer_value(json_object_get(json_array_get(events, 0), "t_ns")) / 1000000000);
    struct tm utc;
    buffer[0] = '\0';
    if (seconds > 0 && gmtime_r(&seconds, &utc) != NULL)
        strftime(buffer, 32, "%Y-%m-%d %H:%M UTC", &utc);
    return buffer;
}

static void add_head(struct ifm_page *page)
{
    struct ifm_text *out = page->out;
    ifm_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta name=\"referrer\" content=\"no-referrer\">\n"
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
    ifm_text_add(out, "<body>\n<main>\n<header class=\"top\"><h1>Inferometer report</h1>");
    const char *machine = ifm_event_machine(page->publication->events);
    if (machine[0] != '\0') {
        ifm_text_add(out, "<span>");
        ifm_html_escape(machine, out);
        ifm_text_add(out, "</span>");
    }
    ifm_text_add(out, "<span>run <code>");
    ifm_html_escape(page->publication->derived->run_id, out);
    ifm_text_printf(out, "</code></span><span>%s</span></header>\n", date_of(page->publication->events, date));
    ifm_html_verdict(page);
    for (size_t i = 0; i < page->view->n_cells; i++)
        ifm_html_cell(page, &page->view->cells[i]);
    ifm_html_causes(page);
    ifm_html_notes(page);
    ifm_html_findings(page);
    ifm_html_numbers(page);
    ifm_html_repeat(page);
    ifm_html_limits(page);
    ifm_html_environment(page);
    ifm_html_configuration(page);
    ifm_html_definitions(page);
    ifm_text_add(out, "</main>\n</body>\n</html>\n");
}

enum ifm_status ifm_compose_html(const struct ifm_publication *publication, struct ifm_text *out,
                                 struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_page page = {.out = out, .arena = arena, .publication = publication};
    enum ifm_status status = ifm_metrics_load(arena, &page.metrics, &page.n_metrics, error);
    if (status == IFM_OK) {
        page.view = ifm_view_build(publication, arena);
        add_head(&page);
        add_body(&page);
    }
    ifm_arena_destroy(arena);
    return status;
}
