/* The report's record: the machine, the configuration, the definitions, how to repeat it, its limits. */
#include "model/lock_state.h"
#include "model/machine_facts.h"
#include "report/html.h"
#include <string.h>

void ifm_html_metric(struct ifm_page *page, enum ifm_metric_id metric, const char *words)
{
    if (metric != IFM_M_NONE)
        ifm_text_printf(page->out, "<a href=\"#metric-%s\">", ifm_metrics[metric].id);
    ifm_html_escape(words, page->out);
    ifm_text_add(page->out, metric != IFM_M_NONE ? "</a>" : "");
}

/* ---- facts as name and value ---- */

void ifm_html_fact(struct ifm_page *page, const char *name, const char *text, bool absent)
{
    ifm_text_add(page->out, "<tr><th scope=\"row\">");
    ifm_html_escape(name, page->out);
    ifm_text_printf(page->out, "</th><td%s>", absent ? " class=\"dim\"" : "");
    ifm_html_escape(text, page->out);
    ifm_text_add(page->out, "</td></tr>\n");
}

static const char *scalar_text(struct ifm_page *page, const json_t *value)
{
    if (json_is_string(value))
        return json_string_value(value);
    struct ifm_text text = {0};
    ifm_json_print(value, false, &text);
    const char *copy = ifm_arena_printf(page->arena, "%s", text.data);
    ifm_text_free(&text);
    return copy;
}

static bool is_scalar_list(const json_t *list)
{
    size_t index;
    json_t *item;
    json_array_foreach((json_t *)list, index, item)
    {
        if (json_is_object(item) || json_is_array(item))
            return false;
    }
    return true;
}

/* "level 1, type Data, bytes 32768", or NULL when a member is itself a tree. */
static const char *flat_object(struct ifm_page *page, const json_t *object)
{
    const char *key, *text = "";
    json_t *member;
    if (!json_is_object(object) || json_object_get(object, "absent") != NULL)
        return NULL;
    json_object_foreach((json_t *)object, key, member)
    {
        if (json_is_object(member) || json_is_array(member))
            return NULL;
        text = ifm_arena_printf(page->arena, "%s%s%s %s", text, text[0] == '\0' ? "" : ", ", key,
                                scalar_text(page, member));
    }
    return text;
}

const char *ifm_html_scalars(struct ifm_page *page, const json_t *value)
{
    size_t index;
    json_t *item;
    const char *text = "";
    if (!json_is_array(value))
        return scalar_text(page, value);
    if (!is_scalar_list(value))
        return NULL;
    json_array_foreach((json_t *)value, index, item)
    {
        text = ifm_arena_printf(page->arena, "%s%s%s", text, index == 0 ? "" : ", ", scalar_text(page, item));
    }
    return text;
}

static void add_list(struct ifm_page *page, const char *name, const json_t *list)
{
    size_t index;
    json_t *item;
    const char *text = ifm_html_scalars(page, list);
    if (text == NULL) {
        json_array_foreach((json_t *)list, index, item)
        {
            const char *label = ifm_arena_printf(page->arena, "%s %zu", name, index + 1),
                       *flat = flat_object(page, item);
            if (flat != NULL)
                ifm_html_fact(page, label, flat, false);
            else
                ifm_html_facts(page, label, item);
        }
        return;
    }
    ifm_html_fact(page, name, text, false);
}

/* A tree of facts, one row a leaf; {"absent": reason, "remedy": ...} is a leaf. */
void ifm_html_facts(struct ifm_page *page, const char *name, const json_t *value)
{
    const char *absent = json_string_value(json_object_get(value, "absent"));
    const char *remedy = json_string_value(json_object_get(value, "remedy"));
    const char *key;
    json_t *member;
    if (absent != NULL) {
        ifm_html_fact(page, name,
                      ifm_arena_printf(page->arena, "absent: %s%s%s", absent,
                                       remedy == NULL ? "" : ". Remedy: ", remedy == NULL ? "" : remedy),
                      true);
    } else if (json_is_object(value)) {
        json_object_foreach((json_t *)value, key, member)
        {
            ifm_html_facts(page, ifm_arena_printf(page->arena, "%s%s%s", name, name[0] == '\0' ? "" : " ", key),
                           member);
        }
    } else if (json_is_array(value)) {
        add_list(page, name, value);
    } else if (value != NULL) {
        ifm_html_fact(page, name, scalar_text(page, value), json_is_null(value));
    }
}

static void add_locks(struct ifm_page *page)
{
    IFM_EACH(event, page->publication->events, locks, NULL, NULL)
    {
        const struct ifm_event_locks *locks = IFM_FACTS(event, locks);
        for (size_t k = 0; k < locks->knobs.n; k++) {
            const struct ifm_event_knob *knob = &locks->knobs.items[k];
            const char *text = ifm_arena_printf(page->arena, "%s%s%s%s%s", knob->locked ? "locked" : "not locked",
                                                knob->value == NULL ? "" : ", ", knob->value == NULL ? "" : knob->value,
                                                knob->reason[0] == '\0' ? "" : ": ", knob->reason);
            ifm_html_fact(page, ifm_arena_printf(page->arena, "lock %s, %s the run", knob->knob, locks->when), text,
                          false);
        }
    }
}

/* A later session says the same again. */
static bool is_told_before(const struct ifm_page *page, const struct ifm_event *event)
{
    const struct ifm_event *earlier = NULL;
    while ((earlier = ifm_events_next(page->publication->events, event->stage, NULL, NULL, earlier)) != event)
        if (ifm_event_equal(earlier, event))
            return true;
    return false;
}

/* The files that arms read, by base name and content. */
static void add_inputs(struct ifm_page *page)
{
    IFM_EACH(event, page->publication->events, input, NULL, NULL)
    {
        const struct ifm_event_input *input = IFM_FACTS(event, input);
        if (is_told_before(page, event))
            continue;
        ifm_html_fact(page, ifm_arena_printf(page->arena, "input file, %s", input->setting),
                      ifm_arena_printf(page->arena, "%s, SHA-256 %s", input->file, input->sha256), false);
        const char *id = json_string_value(json_object_get(input->licence, "id"));
        const char *from = json_string_value(json_object_get(input->licence, "from"));
        const char *name = ifm_arena_printf(page->arena, "licence of %s", input->file);
        if (id != NULL && from != NULL)
            ifm_html_fact(page, name, ifm_arena_printf(page->arena, "%s, as %s beside it says", id, from), false);
        else
            ifm_html_facts(page, name, input->licence);
    }
}

/* The device of each cell that has a GPU. */
static void add_gpus(struct ifm_page *page)
{
    IFM_EACH(event, page->publication->events, device, NULL, NULL)
    {
        const struct ifm_event_device *device = IFM_FACTS(event, device);
        if (ifm_device_facts_of(page->publication->events, device->cell).gpu != NULL && !is_told_before(page, event))
            ifm_html_facts(page, ifm_arena_printf(page->arena, "device of %s,", device->cell), device->facts);
    }
}

void ifm_html_environment(struct ifm_page *page)
{
    struct ifm_fingerprint fingerprint = ifm_fingerprint_of(page->publication->events);
    ifm_text_add(page->out, "<section id=\"environment\"><details><summary><h2>Environment</h2></summary>\n");
    if (fingerprint.all == NULL)
        ifm_text_add(page->out, "<p class=\"dim\">absent: run.log holds no environment event.</p>\n");
    ifm_text_add(page->out, "<table class=\"facts\"><tbody>\n");
    json_t *host = json_copy((json_t *)fingerprint.all);
    json_t *gpus = json_incref(json_object_get(host, "gpu"));
    bool apart = json_object_get(gpus, "absent") == NULL && json_is_object(gpus);
    if (apart)
        json_object_del(host, "gpu");
    ifm_html_facts(page, "", host);
    ifm_html_gpus(page, apart ? gpus : NULL);
    json_decref(gpus);
    json_decref(host);
    add_gpus(page);
    add_inputs(page);
    add_locks(page);
    ifm_text_add(page->out, "</tbody></table></details></section>\n");
}

void ifm_html_configuration(struct ifm_page *page)
{
    const json_t *lock = page->publication->lock;
    const json_t *parameters = json_object_get(lock, "parameters");
    if (parameters == NULL)
        return;
    ifm_text_add(page->out, "<section id=\"configuration\"><details><summary><h2>Configuration</h2></summary>\n"
                            "<table class=\"facts\"><tbody>\n");
    ifm_html_facts(page, "", parameters);
    ifm_html_facts(page, "arms", json_object_get(lock, "arms"));
    ifm_html_facts(page, "gates", json_object_get(lock, "gates"));
    ifm_text_add(page->out, "</tbody></table></details></section>\n");
}

/* ---- definitions ---- */

static void add_definition(struct ifm_page *page, const struct ifm_metric *metric)
{
    struct ifm_text *out = page->out;
    const struct {
        const char *title, *text;
    } lines[] = {
        {"Unit", metric->unit}, {"Formula", metric->formula}, {"Source", metric->source}, {"Limits", metric->limits}};
    ifm_text_printf(out, "<dt id=\"metric-%s\"><code>%s</code><dd>", metric->id, metric->id);
    ifm_html_escape(metric->prose, out);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        ifm_text_printf(out, "<br><i>%s</i> ", lines[i].title);
        ifm_html_escape(lines[i].text, out);
    }
    ifm_text_add(out, "\n");
}

/* Not folded away: a link into a closed fold leads nowhere without script in some browsers. */
void ifm_html_definitions(struct ifm_page *page)
{
    const struct ifm_derived *derived = page->publication->derived;
    bool used[IFM_M_COUNT] = {false};
    for (size_t i = 0; i < derived->n_numbers; i++)
        used[derived->numbers[i].metric] = true;
    if (derived->n_numbers == 0)
        return;
    ifm_text_add(page->out, "<section id=\"definitions\"><h2>What the numbers mean</h2>\n<dl class=\"metrics\">\n");
    for (int m = IFM_M_NONE + 1; m < IFM_M_COUNT; m++)
        if (used[m])
            add_definition(page, &ifm_metrics[m]);
    ifm_text_add(page->out, "</dl></section>\n");
}

/* ---- repeat and limits ---- */

/* The revision that measured, as the journal says: "" when it does not. */
static const char *revision_of(struct ifm_page *page)
{
    struct ifm_fingerprint host = ifm_fingerprint_of(page->publication->events);
    if (host.revision == NULL)
        return "";
    return host.dirty ? ifm_arena_printf(page->arena, "%s, changed", host.revision) : host.revision;
}

void ifm_html_repeat(struct ifm_page *page)
{
    const struct ifm_plan *plan = page->publication->plan;
    struct ifm_text *out = page->out;
    const struct ifm_event_run_start *start = IFM_FIRST(page->publication->events, run_start);
    const char *revision = revision_of(page);
    ifm_text_add(out, "<section id=\"repeat\"><h2>Repeat it</h2>\n<p>The run folder holds the exact configuration and "
                      "every raw sample. With <code>DIR</code> the folder of this report:</p>\n<pre tabindex=\"0\">"
                      "# measure again with the same configuration\ninferometer rerun DIR\n"
                      "# recompute every number from the raw samples\ninferometer verify DIR</pre>\n"
                      "<table class=\"facts\"><tbody>\n");
    ifm_html_fact(page, "measured by inferometer", start == NULL ? "absent: run.log does not say" : start->version,
                  start == NULL);
    if (revision[0] != '\0')
        ifm_html_fact(page, "git revision", revision, false);
    ifm_html_fact(page, "configuration (SHA-256)", plan->config_hash, false);
    ifm_html_fact(page, "seed", ifm_arena_printf(page->arena, "%llu", (unsigned long long)plan->seed), false);
    ifm_html_fact(page, "device", plan->device, false);
    ifm_text_add(out, "</tbody></table></section>\n");
}

static size_t count_state(const struct ifm_page *page, enum ifm_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < page->publication->derived->n_numbers; i++)
        n += page->publication->derived->numbers[i].value.state == state;
    return n;
}

void ifm_html_limits(struct ifm_page *page)
{
    struct ifm_text *out = page->out;
    enum ifm_lock_state locks = ifm_lock_state(page->publication->events);
    size_t absent = count_state(page, IFM_STATE_ABSENT), refused = count_state(page, IFM_STATE_REFUSED);
    bool resident = false;
    for (size_t i = 0; i < page->publication->plan->n_cells; i++)
        resident |= page->publication->plan->cells[i].cache_resident;
    ifm_text_add(out,
                 "<section id=\"limits\"><h2>Limits of this report</h2>\n<p>These numbers hold for this machine, this "
                 "configuration and these minutes. Arms of one cell were interleaved and are comparable with each "
                 "other. ");
    if (locks != IFM_LOCK_HELD)
        ifm_text_add(out, "Not every clock and governor was locked, so numbers of separate runs are not comparable. ");
    if (resident)
        ifm_text_add(out, "A cell that is called cache-resident fits the caches in part: its rates say nothing about "
                          "memory. ");
    ifm_text_add(out, "Ceilings are measured by this program's own probes; a better probe may find a higher one. ");
    if (absent + refused > 0)
        ifm_text_printf(out, "Absent numbers: %zu; refused: %zu; each says why. ", absent, refused);
    ifm_text_add(out,
                 "An interval covers the variation that was seen, not what was never sampled. The manifest's hashes "
                 "show that the files are whole, not who made them.</p></section>\n");
}
