/* A plan is measured, or shown with its estimate. */
#include "story/story.h"

#include "base/json.h"
#include "base/text.h"
#include "instrument/cachegrind.h"
#include "model/plan_json.h"

/* The device opens with as many workers as the largest cell needs; smaller cells use the first of them. */
static unsigned most_threads(const struct ifm_plan *plan)
{
    unsigned most = 1;
    for (size_t i = 0; i < plan->n_cells; i++)
        most = plan->cells[i].threads > most ? plan->cells[i].threads : most;
    return most;
}

static struct ifm_run_options with_device(struct ifm_run_options run, const struct ifm_config *config,
                                          const struct ifm_plan *plan)
{
    const struct ifm_device_config *device = ifm_config_device(config);
    run.settled = ifm_story_settled;
    run.device = (struct ifm_device_options){
        .threads = most_threads(plan),
        .huge_pages = device->huge_pages,
        .no_graphs = !device->graphs,
        .kernels = (enum ifm_device_kernels)device->kernels,
        .script = device->script,
        .resumed = run.resume,
        .seed = ifm_config_study(config)->seed,
    };
    return run;
}

enum ifm_status ifm_story_check_machine(struct ifm_error *error)
{
    if (!ifm_cachegrind_is_around())
        return IFM_OK;
    return ifm_fail(error, IFM_INVALID, "valgrind", "run without it; `inferometer cachegrind` simulates caches",
                    "this process runs under valgrind: its times would be those of a simulated processor, and no "
                    "latency or gate takes them");
}

enum ifm_status ifm_story_settled(const char *dir, const struct ifm_stop_blocks *blocks, uint32_t last, bool *settled,
                                  struct ifm_error *error)
{
    return ifm_derive_folder_settled(dir, blocks, last, settled, error);
}

enum ifm_status ifm_story_measure(const struct ifm_config *config, const struct ifm_plan *plan,
                                  const struct ifm_run_options *how, struct ifm_error *error)
{
    const struct ifm_run_options options = with_device(*how, config, plan);
    IFM_TRY(ifm_story_check_machine(error));
    return ifm_run_execute(plan, &options, error);
}

/* Where a plan is shown: lines of `width` columns. */
struct page {
    FILE *out;
    struct ifm_arena *arena;
    size_t width;
};

static void say(const struct page *page, size_t margin, const char *text)
{
    struct ifm_text line = {0};
    ifm_text_printf(&line, "%*s", (int)margin, "");
    ifm_text_wrap(&line, ifm_text_plain(text, page->arena), page->width, margin, margin == 0 ? 0 : margin + 2);
    fprintf(page->out, "%s\n", line.data);
    ifm_text_free(&line);
}

/* "arms: f16 (baseline), int8" or "ceilings: read.linear". */
static void print_arms(const struct ifm_cell *cell, bool ceilings, const struct page *page)
{
    const char *names = "";
    for (size_t i = 0; i < cell->n_arms; i++) {
        const struct ifm_arm *arm = &cell->arms[i];
        if ((arm->role == IFM_ROLE_CEILING) == ceilings)
            names = ifm_arena_printf(page->arena, "%s%s %s%s", names, names[0] == '\0' ? "" : ",", arm->name,
                                     arm->role == IFM_ROLE_BASELINE ? " (baseline)" : "");
    }
    if (names[0] != '\0')
        say(page, 4, ifm_arena_printf(page->arena, "%s%s", ceilings ? "ceilings:" : "arms:", names));
}

/* `alone`: the plan's total says how long it takes. */
static void print_cell(const struct ifm_cell *cell, const struct ifm_estimate *estimate, bool alone,
                       const struct page *page)
{
    struct ifm_arena *arena = page->arena;
    char seconds[48], memory[48], parts[160];
    ifm_parts_text(estimate->parts, parts, sizeof parts);
    say(page, 2, cell->name);
    if (cell->unsupported[0] != '\0') {
        say(page, 4, ifm_arena_printf(arena, "absent: %s", cell->unsupported));
        return;
    }
    say(page, 4,
        ifm_arena_printf(arena, "%u thread%s, %s caches, %s of memory%s%s%s%s%s%s", cell->threads,
                         cell->threads == 1 ? "" : "s", cell->measure.cache == IFM_CACHE_COLD ? "cold" : "hot",
                         ifm_format_human((double)estimate->memory, "B", memory),
                         cell->cache_resident ? ", cache-resident" : "", alone ? "" : ", about ",
                         alone ? "" : ifm_format_human(estimate->seconds, "s", seconds),
                         estimate->scaled ? ", by its size" : "", parts[0] == '\0' ? "" : ": ", parts));
    if (estimate->cap_wanted_s > 0)
        say(page, 4,
            ifm_arena_printf(arena, "the fewest blocks take longer than measure.cap; %gs holds them",
                             estimate->cap_wanted_s));
    print_arms(cell, false, page);
    print_arms(cell, true, page);
}

static void print_table(const struct ifm_plan *plan, const struct ifm_estimate *cells, const struct ifm_estimate *total,
                        const struct page *page)
{
    char seconds[48], low[48], high[48];
    say(page, 0,
        ifm_arena_printf(page->arena, "plan: %zu cell%s on %s; nothing has been recorded", plan->n_cells,
                         plan->n_cells == 1 ? "" : "s", plan->device));
    for (size_t i = 0; i < plan->n_cells; i++)
        print_cell(&plan->cells[i], &cells[i], plan->n_cells == 1, page);
    say(page, 0,
        ifm_arena_printf(page->arena, "time: about %s with start and end (%s to %s, as the stop rule decides)",
                         ifm_format_human(total->seconds, "s", seconds), ifm_format_human(total->low, "s", low),
                         ifm_format_human(total->high, "s", high)));
}

/* Seconds of each part of each cell. */
static json_t *parts_json(const struct ifm_plan *plan, const struct ifm_estimate *cells)
{
    json_t *list = json_array();
    for (size_t i = 0; i < plan->n_cells; i++) {
        json_t *of_cell = json_pack("{s:s}", "cell", plan->cells[i].name);
        for (int part = 0; part < IFM_PARTS; part++)
            if (cells[i].parts[part] > 0)
                json_object_set_new(of_cell, ifm_part_names[part], json_real(cells[i].parts[part]));
        json_array_append_new(list, of_cell);
    }
    return list;
}

static void print_json(const struct ifm_plan *plan, const struct ifm_estimate *cells, const struct ifm_estimate *total,
                       FILE *out)
{
    json_t *json = json_pack("{s:o, s:f, s:f, s:f, s:o}", "plan", ifm_plan_to_json(plan), "seconds", total->seconds,
                             "seconds_low", total->low, "seconds_high", total->high, "parts", parts_json(plan, cells));
    struct ifm_text text = {0};
    ifm_json_print(json, true, &text);
    fprintf(out, "%s\n", text.data);
    ifm_text_free(&text);
    json_decref(json);
}

enum ifm_status ifm_story_dry_run(const struct ifm_config *config, const struct ifm_plan *plan,
                                  const struct ifm_progress *progress, bool json, size_t width, FILE *out,
                                  struct ifm_error *error)
{
    const struct ifm_run_options run =
        with_device((struct ifm_run_options){.dir = "", .progress = *progress}, config, plan);
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_estimate *cells = IFM_ARENA_ARRAY(arena, struct ifm_estimate, plan->n_cells + 1), total;
    enum ifm_status status = ifm_run_estimate(plan, &run, cells, &total, error);
    if (progress->tell != NULL)
        progress->tell(progress->context, NULL);
    if (status == IFM_OK && json)
        print_json(plan, cells, &total, out);
    else if (status == IFM_OK)
        print_table(plan, cells, &total, &(struct page){out, arena, width});
    ifm_arena_destroy(arena);
    return status;
}
