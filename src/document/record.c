/* How to repeat a run, and what its numbers hold for. */
#include "document/build.h"
#include "model/machine_facts.h"

/* The revision that measured, as the journal says: "" when it does not. */
static const char *revision_of(struct ifm_builder *builder)
{
    struct ifm_fingerprint host = ifm_fingerprint_of(builder->from->events);
    if (host.revision == NULL)
        return "";
    return host.dirty ? ifm_arena_printf(builder->arena, "%s, changed", host.revision) : host.revision;
}

static void add_facts(struct ifm_builder *builder, struct ifm_block *section)
{
    const struct ifm_publication *from = builder->from;
    const struct ifm_plan *plan = from->plan;
    struct ifm_facts_table table = {.builder = builder};
    const struct ifm_event_run_start *start = IFM_FIRST(from->events, run_start);
    const char *revision = revision_of(builder), *machine = ifm_machine_measured(from->events, plan->device);
    char date[32];
    ifm_fact(&table, "run", ifm_arena_strdup(builder->arena, from->derived->run_id), false);
    if (ifm_events_date(from->events, date)[0] != '\0')
        ifm_fact(&table, "measured", ifm_arena_strdup(builder->arena, date), false);
    ifm_fact(&table, "by inferometer", start == NULL ? "absent: run.log does not say" : start->version, start == NULL);
    if (revision[0] != '\0')
        ifm_fact(&table, "git revision", revision, false);
    ifm_fact(&table, "configuration (SHA-256)", plan->config_hash, false);
    ifm_fact(&table, "seed", ifm_arena_printf(builder->arena, "%llu", (unsigned long long)plan->seed), false);
    ifm_fact(&table, "device",
             machine[0] == '\0' ? plan->device : ifm_arena_printf(builder->arena, "%s, %s", plan->device, machine),
             false);
    ifm_facts_end(&table, section);
}

void ifm_build_repeat(struct ifm_builder *builder)
{
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_VERBOSE, "repeat", "Repeat it");
    section->folded = builder->most == IFM_LEVEL_PAGE; /* its first screen has the command */
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
    bool resident = false, programs = false;
    for (size_t i = 0; i < from->plan->n_cells; i++) {
        resident |= from->plan->cells[i].cache_resident;
        programs |= from->plan->cells[i].n_arms > 1 && ifm_cell_counts_programs(&from->plan->cells[i]);
    }
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_VERBOSE, "limits", "Limits");
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
    if (programs)
        ifm_say(builder, line, IFM_TONE_PLAIN,
                "What one program leaves for good and the other one meets (a cache, a converted file) is in both "
                "times, and "
                "no taking turns shows it: give each a folder of its own. ");
    if (absent + refused > 0) {
        ifm_say(builder, line, IFM_TONE_PLAIN, "Absent numbers: %zu; refused: %zu; ", absent, refused);
        ifm_say_code(builder, line, "report.csv");
        ifm_say(builder, line, IFM_TONE_PLAIN, " gives the reason of each. ");
    }
    ifm_say(builder, line, IFM_TONE_PLAIN,
            "An interval covers the variation that was seen, not what was never sampled. ");
    ifm_say(builder, line, IFM_TONE_PLAIN,
            from->events != NULL && from->events->chained
                ? "The folder shows integrity: the journal holds a hash of each block of samples and of each of its "
                  "own lines, written as the run went. It does not show authorship: who can write all files can write "
                  "other hashes."
                : "The journal has no chain of hashes (an older version wrote it), so the manifest alone shows that "
                  "the files are whole; nothing shows who made them.");
}
