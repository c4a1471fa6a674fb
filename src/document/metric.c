/* The definitions as Markdown, grouped by whose numbers they are. */
#include "document/metric.h"
#include "model/metric.h"

void ifm_metric_better(const struct ifm_metric *metric, struct ifm_text *out)
{
    ifm_text_add(out, ifm_better_word(metric->better));
    if (metric->better == IFM_BETTER_NONE)
        ifm_text_printf(out, ": %s", metric->undirected);
    if (metric->instead != IFM_M_NONE)
        ifm_text_printf(out, "; gate `%s` instead", ifm_metrics[metric->instead].id);
}

static void add_definition(const struct ifm_metric *m, struct ifm_text *out)
{
    ifm_text_printf(out, "### `%s`\n\n%s\n\n", m->id, m->prose);
    ifm_text_printf(out, "- **Unit:** `%s`; better: ", m->unit);
    ifm_metric_better(m, out);
    ifm_text_printf(out, "\n- **Formula:** `%s`\n- **Source:** %s\n- **Limits:** %s\n\n", m->formula, m->source,
                    m->limits);
}

void ifm_metrics_markdown(struct ifm_text *out)
{
    static const char *const titles[] = {"Numbers of an arm", "Numbers of a cell", "Numbers of a run"};
    for (size_t s = 0; s < 3; s++) {
        bool open = false;
        for (int m = IFM_M_NONE + 1; m < IFM_M_COUNT; m++) {
            if (ifm_metrics[m].scope != (enum ifm_metric_scope)s)
                continue;
            if (!open)
                ifm_text_printf(out, "## %s\n\n", titles[s]);
            open = true;
            add_definition(&ifm_metrics[m], out);
        }
    }
}
