/* The specification's checklists and its advice on the page. The answers are computed elsewhere
 * (judge/review/checklist.h); here they are only set. */
#include "report/html.h"

static void add_item(const struct ifm_check_item *item, struct ifm_text *out)
{
    static const struct {
        const char *word, *tone;
    } looks[] = {{"met", "good"}, {"not met", "bad"}, {"absent", "warn"}};
    ifm_text_printf(out, "<tr><th scope=\"row\" class=\"left\">");
    ifm_html_escape(item->asks, out);
    ifm_text_printf(out, "</th><td class=\"left\" data-label=\"answer\"><span class=\"%s\">%s</span></td>",
                    looks[item->state].tone, looks[item->state].word);
    ifm_text_add(out, "<td class=\"left\" data-label=\"found\">");
    ifm_html_escape(item->found, out);
    if (item->remedy != NULL && item->remedy[0] != '\0') {
        ifm_text_add(out, ". <span class=\"dim\">Remedy: ");
        ifm_html_escape(item->remedy, out);
        ifm_text_add(out, "</span>");
    }
    ifm_text_add(out, "</td></tr>\n");
}

static void add_list(const struct ifm_checklist *list, struct ifm_text *out)
{
    ifm_text_add(out, "<details id=\"checklist-");
    ifm_html_escape(list->id, out);
    ifm_text_add(out, "\"><summary><h3>");
    ifm_html_escape(list->title, out);
    ifm_text_printf(out, ": %zu of %zu met</h3></summary>\n", list->n_met, list->n_items);
    ifm_text_add(out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"cards checks\"><caption class=\"sr\">");
    ifm_html_escape(list->title, out);
    ifm_text_add(out, "</caption><thead><tr><th scope=\"col\" class=\"left\">asks for</th><th scope=\"col\" "
                      "class=\"left\">answer</th><th scope=\"col\" class=\"left\">found</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < list->n_items; i++)
        add_item(&list->items[i], out);
    ifm_text_add(out, "</tbody></table></div></details>\n");
}

void ifm_html_checklists(struct ifm_page *page, const struct ifm_checklist *lists, size_t n)
{
    if (n == 0)
        return;
    ifm_text_add(page->out, "<section id=\"checklists\"><h2>Checklists of the specification</h2>\n<p class=\"dim\">"
                            "Answered from this run; nobody ticked a box. Absent is never counted as met.</p>\n");
    for (size_t i = 0; i < n; i++)
        add_list(&lists[i], page->out);
    ifm_text_add(page->out, "</section>\n");
}

void ifm_html_advice(struct ifm_page *page, const struct ifm_advice *advice, size_t n)
{
    struct ifm_text *out = page->out;
    if (n == 0)
        return;
    ifm_text_add(out, "<section id=\"advice\"><h2>What would help</h2>\n<ul class=\"findings\">\n");
    for (size_t i = 0; i < n; i++) {
        ifm_text_add(out, "<li><b>");
        ifm_html_escape(ifm_view_place(advice[i].cell, advice[i].arm, page->arena), out);
        ifm_text_add(out, "</b>: ");
        ifm_html_escape(advice[i].condition, out);
        ifm_text_add(out, ". ");
        ifm_html_escape(advice[i].text, out);
        ifm_text_add(out, "</li>\n");
    }
    ifm_text_add(out, "</ul></section>\n");
}
