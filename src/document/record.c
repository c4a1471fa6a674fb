/* How to repeat a run, and what its numbers hold for. */
#include "document/build.h"
#include "document/facts.h"
#include "model/lock_state.h"

/* The revision that measured, as the journal says: "" when it does not. */
static const char *revision_of(struct ifm_builder *builder)
{
    const json_t *environment = ifm_event_meta(builder->from->events, "environment");
    const json_t *binary = json_object_get(json_object_get(environment, "fingerprint"), "binary");
    const char *revision = json_string_value(json_object_get(binary, "git_revision"));
    if (revision == NULL)
        return "";
    return json_is_true(json_object_get(binary, "git_dirty"))
               ? ifm_arena_printf(builder->arena, "%s, changed", revision)
               : revision;
}

static void add_facts(struct ifm_builder *builder, struct ifm_block *section)
{
    const struct ifm_publication *from = builder->from;
    const struct ifm_plan *plan = from->plan;
    struct ifm_facts_table table = {.builder = builder};
    const char *version = json_string_value(json_object_get(ifm_event_meta(from->events, "run_start"), "version"));
    const char *revision = revision_of(builder), *machine = ifm_event_measured(from->events, plan->device);
    char date[32];
    ifm_fact(&table, "run", ifm_arena_strdup(builder->arena, from->derived->run_id), false);
    if (ifm_event_date(from->events, date)[0] != '\0')
        ifm_fact(&table, "measured", ifm_arena_strdup(builder->arena, date), false);
    ifm_fact(&table, "by inferometer", version == NULL ? "absent: run.log does not say" : version, version == NULL);
    if (revision[0] != '\0')
        ifm_fact(&table, "git revision", revision, false);
    ifm_fact(&table, "configuration (SHA-256)", plan->config_hash, false);
    ifm_fact(&table, "seed", ifm_arena_printf(builder->arena, "%llu", (unsigned long long)plan->seed), false);
    ifm_fact(&table, "device",
             machine[0] == '\0' ? plan->device : ifm_arena_printf(builder->arena, "%s, %s", plan->device, machine),
             false);
    ifm_facts_end(&table, section, IFM_LEVEL_VERBOSE);
}

void ifm_build_repeat(struct ifm_builder *builder)
{
    struct ifm_block *section =
        ifm_add_section(builder, &builder->document->root, IFM_LEVEL_VERBOSE, "repeat", "Repeat it");
    struct ifm_line *line = ifm_add_line(builder, section, IFM_LEVEL_VERBOSE, IFM_AS_TEXT,
                                         "The run folder holds the exact configuration and every raw sample. With ");
    ifm_say_code(builder, line, "DIR");
    ifm_say(builder, line, IFM_TONE_PLAIN, " the folder of this report:");
    ifm_add_block(builder, section, IFM_LEVEL_VERBOSE, IFM_BLOCK_CODE)->title =
        "# measure again with the same configuration\ninferometer rerun DIR\n"
        "# recompute every number from the raw samples\ninferometer verify DIR";
    add_facts(builder, section);
}

static size_t count_state(const struct ifm_derived *derived, enum ifm_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < derived->n_numbers; i++)
        n += derived->numbers[i].value.state == state;
    return n;
}

void ifm_build_limits(struct ifm_builder *builder)
{
    const struct ifm_publication *from = builder->from;
    size_t absent = count_state(from->derived, IFM_STATE_ABSENT),
           refused = count_state(from->derived, IFM_STATE_REFUSED);
    bool resident = false;
    for (size_t i = 0; i < from->plan->n_cells; i++)
        resident |= from->plan->cells[i].cache_resident;
    struct ifm_block *section =
        ifm_add_section(builder, &builder->document->root, IFM_LEVEL_VERBOSE, "limits", "Limits of this report");
    struct ifm_line *line = ifm_add_line(
        builder, section, IFM_LEVEL_VERBOSE, IFM_AS_TEXT,
        "These numbers hold for this machine, this configuration and these minutes. Arms of one cell were interleaved "
        "and are comparable with each other. ");
    if (ifm_lock_state(from->events) != IFM_LOCK_HELD)
        ifm_say(builder, line, IFM_TONE_PLAIN,
                "Not every clock and governor was locked, so numbers of separate runs are not comparable. ");
    if (resident)
        ifm_say(builder, line, IFM_TONE_PLAIN,
                "A cell that is called cache-resident fits the caches in part: its rates say nothing about memory. ");
    ifm_say(builder, line, IFM_TONE_PLAIN,
            "Ceilings are measured by this program's own probes; a better probe may find a higher one. ");
    if (absent + refused > 0) {
        ifm_say(builder, line, IFM_TONE_PLAIN, "Absent numbers: %zu; refused: %zu; ", absent, refused);
        ifm_say_code(builder, line, "report.csv");
        ifm_say(builder, line, IFM_TONE_PLAIN, " gives the reason of each. ");
    }
    ifm_say(builder, line, IFM_TONE_PLAIN,
            "An interval covers the variation that was seen, not what was never sampled. The manifest's hashes show "
            "that the files are whole, not who made them.");
}
