/* A cell: its conditions, its arms as a grid, what compressed arms store and lose, its figures. */
#include "base/private.h"
#include "derive/energy/power_run.h"
#include "document/build.h"
#include "document/quantity.h"
#include "model/machine_facts.h"
#include "model/plan_json.h"
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

/* A few bytes written beside many read say little, unless writing has a ceiling of its own. report.csv has them.
 * Energy of a pass of its own has a table of its own. */
static bool is_aside(const struct ifm_builder *builder, const struct ifm_cell *cell,
                     const struct ifm_metric_column *spec)
{
    if (spec->metric == IFM_M_TOTAL_ENERGY_J || spec->metric == IFM_M_POWER_MEAN_W)
        return ifm_power_is_planned(cell);
    if (spec->metric != IFM_M_WRITE_BYTES_PER_S)
        return false;
    bool held = ifm_value_of(builder, cell, NULL, IFM_M_CEILING_WRITE) != NULL ||
                ifm_value_of(builder, cell, NULL, IFM_M_CEILING_COPY) != NULL;
    bool reads = false;
    for (size_t a = 0; a < cell->n_arms; a++)
        reads |= ifm_is_row(builder, cell, &cell->arms[a]) && cell->arms[a].ledger.bytes_read > 0;
    return reads && !held;
}

/* Steps in a sample and a ratio of bytes say something where they are not one. */
static bool is_said(const struct ifm_metric_column *spec, const struct ifm_value *value)
{
    bool one_is_silent = ifm_metrics[spec->metric].rounding == IFM_ROUNDING_STEPS ||
                         ifm_metrics[spec->metric].rounding == IFM_ROUNDING_RATIO;
    return value != NULL && (!one_is_silent || (value->state == IFM_STATE_OK && value->number != 1));
}

bool ifm_cell_shows(const struct ifm_builder *builder, const struct ifm_cell *cell,
                    const struct ifm_metric_column *spec)
{
    if (is_aside(builder, cell, spec))
        return false;
    for (size_t a = 0; a < cell->n_arms; a++) {
        if (!ifm_is_row(builder, cell, &cell->arms[a]))
            continue;
        if (is_said(spec, ifm_value_of(builder, cell, &cell->arms[a], spec->metric)))
            return true;
    }
    return false;
}

/* "faster 1.94x" with its interval: the word is derive's decision, and what must be said beside the number its note,
 * unless a sentence has told it. */
static struct ifm_field comparison_field(struct ifm_builder *builder, const struct ifm_cell *cell,
                                         const struct ifm_arm *arm, const struct ifm_value *value, bool told)
{
    if (value == NULL)
        return ifm_field_text(arm->role == IFM_ROLE_BASELINE ? "baseline" : "", IFM_TONE_DIM);
    struct ifm_field field = ifm_field_value(builder, value);
    if (value->state != IFM_STATE_OK)
        return field;
    const struct ifm_value *change = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT);
    const char *word = ifm_word_shown(builder, cell, arm, change);
    struct ifm_quantity ratio = ifm_quantity_of(value, builder->arena);
    field.text = ifm_arena_printf(builder->arena, "%s%s%sx", word, word[0] == '\0' ? "" : " ", ratio.number);
    field.interval = ifm_quantity_range(value, builder->arena);
    field.tone = ifm_tone_of_word(word);
    const char *beside = told || ifm_is_empty(value->text) ? "" : value->text;
    const double margin = 1 + cell->measure.margin;
    const bool undecided = strcmp(word, "undecided") == 0;
    bool took = false, taken = false;
    if (undecided) { /* what stands beside the number is no reason of it */
        const struct ifm_publication *from = builder->from;
        const struct ifm_undecided of = {from->derived, from->verdict, from->events, cell, arm->name};
        const char *why = ifm_judge_undecided(&of, builder->arena);
        taken = ifm_judge_took(&of) != NULL;
        took = from->verdict->n_gates == 0 && taken && value->has_interval &&
               (value->low > margin || value->high < 1 / margin);
        beside = beside[0] == '\0' ? why : ifm_arena_printf(builder->arena, "%s; the %s", why, beside);
    }
    const char *unlike = ifm_unlike_the_times(builder, cell, arm, value);
    if (unlike[0] != '\0')
        beside = beside[0] == '\0' ? unlike : ifm_arena_printf(builder->arena, "%s; %s", unlike, beside);
    const char *wider = taken ? "" : ifm_wider_than_times(builder, cell, arm, undecided);
    if (wider[0] != '\0')
        beside =
            ifm_arena_printf(builder->arena, "interval holds %s%s%s", wider, beside[0] == '\0' ? "" : "; ", beside);
    field.note = beside[0] == '\0' ? 0 : ifm_add_note(builder, beside, "");
    if (field.note > 0) {
        struct ifm_note *note = &builder->document->notes[field.note - 1];
        note->took |= took;
        field.open = !took;
        note->open |= undecided;
    }
    return field;
}

/* A quantity without interval says why; `slow`: what else its note says. */
static struct ifm_field quantity_field(struct ifm_builder *builder, const struct ifm_cell *cell,
                                       enum ifm_metric_id metric, const struct ifm_value *value, const char *slow)
{
    struct ifm_field field = ifm_field_value(builder, value);
    if (!ifm_is_ok(value) || value->has_interval || ifm_is_empty(value->text))
        return field;
    const char *why = ifm_no_interval_words(builder, cell, metric, value);
    const char *text = ifm_arena_printf(builder->arena, "%s%s%s", slow, slow[0] == '\0' ? "" : "; ", why);
    field.note = ifm_add_note(builder, text, "");
    return field;
}

/* What an arm stores and loses that had nothing to do says nothing of what it would do: it is as inactive as its time.
 * NULL: of any other number. */
static const struct ifm_value *idle_value(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                          const struct ifm_arm *arm, enum ifm_metric_id metric)
{
    const struct ifm_value *time = ifm_value_of(builder, cell, arm, IFM_M_STEP_NS);
    const bool of_format =
        metric == IFM_M_COMPRESSION_RATIO || metric == IFM_M_LOSS_RMS_REL || metric == IFM_M_ATTENTION_KL_NATS;
    return of_format && time != NULL && time->state == IFM_STATE_INACTIVE ? time : NULL;
}

/* Is the baseline itself other than 16-bit values, so that a reader takes "smaller" for smaller than the baseline? */
static bool is_beside_other_values(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const struct ifm_value *kept =
        baseline == NULL ? NULL : ifm_value_of(builder, cell, baseline, IFM_M_COMPRESSION_RATIO);
    return ifm_is_ok(kept) && kept->number > 1;
}

/* A cache that is larger than its tokens says why, and weights say than what. */
static struct ifm_field ratio_field(struct ifm_builder *builder, const struct ifm_cell *cell, enum ifm_metric_id metric,
                                    double ratio)
{
    static const struct {
        const char *workload, *than, *why;
    } values[] = {
        {"decode", "than its tokens as 16-bit values", ": pages are stored whole, and so few tokens do not fill them"},
        {"gemm", "than its weights as 16-bit values", ""}};
    struct ifm_field field = ifm_field_text(ifm_quantity_bytes_words(metric, ratio, builder->arena), IFM_TONE_PLAIN);
    const bool told = metric == IFM_M_COMPRESSION_RATIO && (ratio < 1 || is_beside_other_values(builder, cell));
    for (size_t i = 0; told && i < sizeof values / sizeof *values; i++)
        if (strcmp(cell->workload, values[i].workload) == 0)
            field.note = ifm_add_note(
                builder, ifm_arena_printf(builder->arena, "%s%s", values[i].than, ratio < 1 ? values[i].why : ""), "");
    return field;
}

struct ifm_field ifm_cell_field(struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                                enum ifm_metric_id metric, bool told)
{
    const struct ifm_value *idle = idle_value(builder, cell, arm, metric);
    const struct ifm_value *mean = ifm_value_of(builder, cell, arm, IFM_M_STEP_NS);
    const struct ifm_value *value =
        ifm_quantity_for_people(metric, ifm_value_of(builder, cell, arm, metric), builder->arena);
    if (value != NULL && idle != NULL)
        return ifm_field_value(builder, idle);
    if (ifm_metrics[metric].rounding == IFM_ROUNDING_COMPARISON)
        return comparison_field(builder, cell, arm, value, told);
    if (ifm_metrics[metric].rounding == IFM_ROUNDING_RATIO && ifm_is_ok(value))
        return ratio_field(builder, cell, metric, value->number);
    const char *slow = metric == IFM_M_STEP_NS && ifm_is_ok(value) ? ifm_time_words(builder, cell, arm, value) : "";
    /* on a terminal it stands beside the time and decides nothing: as p50 without an interval, which some rows lack */
    const bool aside = metric == IFM_M_COMMAND_CPU_NS && builder->most == IFM_LEVEL_BRIEF && ifm_is_ok(value);
    struct ifm_value bare;
    if (aside) {
        bare = *value;
        bare.has_interval = false;
        value = &bare;
    }
    struct ifm_field field = ifm_metrics[metric].rounding == IFM_ROUNDING_PLAIN || aside
                                 ? ifm_field_value(builder, value)
                                 : quantity_field(builder, cell, metric, value, slow);
    if (field.note == 0 && slow[0] != '\0')
        field.note = ifm_add_note(builder, slow, "");
    if ((metric == IFM_M_LATENCY_NS_P50 || metric == IFM_M_LATENCY_NS_P95) && ifm_is_ok(value)) {
        field.text = ifm_is_ok(mean) ? ifm_quantity_beside(value, mean, builder->arena) : field.text;
        field.interval = ""; /* it is that of the time, or stands among all numbers */
    }
    if (value != NULL)
        ifm_quantity_of_integers(arm, metric, value->state, &field.text, &field.interval, builder->arena);
    return field;
}

/* The columns of a table that this cell has something for. */
struct shown {
    const struct ifm_metric_column **specs;
    size_t n;
};

/* On a page of few cells the main table stands above, and a cell has what that leaves out. */
static bool in_detail(const struct ifm_builder *builder)
{
    return builder->most == IFM_LEVEL_PAGE && builder->from->plan->n_cells <= IFM_FEW_CELLS;
}

static bool is_told_above(enum ifm_metric_id metric)
{
    static const enum ifm_metric_id told[] = {
        IFM_M_STEP_NS,        IFM_M_LATENCY_NS_P50,    IFM_M_TOKENS_GENERATED_PER_S,
        IFM_M_COMMAND_CPU_NS, IFM_M_COMMAND_RSS_BYTES, IFM_M_SPEEDUP,
        IFM_M_LOSS_RMS_REL,   IFM_M_COMPRESSION_RATIO, IFM_M_ATTENTION_KL_NATS,
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (told[i] == metric)
            return true;
    return false;
}

static struct shown shown_of(struct ifm_builder *builder, const struct ifm_cell *cell,
                             const struct ifm_metric_columns *columns)
{
    struct shown shown = {IFM_ARENA_ARRAY(builder->arena, const struct ifm_metric_column *, columns->n), 0};
    for (size_t c = 0; c < columns->n; c++)
        if (ifm_cell_shows(builder, cell, &columns->items[c]) &&
            !(in_detail(builder) && is_told_above(columns->items[c].metric)))
            shown.specs[shown.n++] = &columns->items[c];
    return shown;
}

static void fill_headings(const struct shown *shown, struct ifm_grid *grid)
{
    grid->headings[0] = (struct ifm_heading){"arm", IFM_M_NONE, true, 0};
    for (size_t c = 0; c < shown->n; c++) {
        const struct ifm_metric_column *spec = shown->specs[c];
        grid->headings[c + 1] = (struct ifm_heading){
            spec->heading, spec->metric, ifm_metrics[spec->metric].rounding == IFM_ROUNDING_COMPARISON, spec->part};
    }
}

static void fill_row(struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                     const struct shown *shown, struct ifm_grid *grid, size_t row)
{
    size_t n_shown = shown->n;
    *ifm_grid_at(grid, row, 0) = ifm_field_text(ifm_arm_label(arm), IFM_TONE_STRONG);
    for (size_t c = 0; c < n_shown; c++) {
        const enum ifm_metric_id metric = shown->specs[c]->metric;
        *ifm_grid_at(grid, row, c + 1) = ifm_cell_field(builder, cell, arm, metric, false);
    }
    const struct ifm_value *time = ifm_value_of(builder, cell, arm, IFM_M_STEP_NS);
    const struct ifm_value *change = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT);
    if (time == NULL || time->n <= 0 || grid->n_columns <= n_shown + 1)
        return;
    /* those that the comparison rests on, of those that the time is of */
    const bool fewer = ifm_is_ok(change) && change->n < time->n && strcmp(change->n_of, time->n_of) == 0;
    *ifm_grid_at(grid, row, n_shown + 1) = ifm_field_text(
        fewer ? ifm_arena_printf(builder->arena, "%lld of %lld", (long long)change->n, (long long)time->n)
              : ifm_arena_printf(builder->arena, "%lld", (long long)time->n),
        IFM_TONE_PLAIN);
}

/* What n counts, as the first arm that has a count names it; NULL when none has. */
static const char *count_heading(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *time = ifm_value_of(builder, cell, &cell->arms[a], IFM_M_STEP_NS);
        if (time != NULL && time->n > 0)
            return !ifm_is_empty(time->n_of) ? time->n_of : "n";
    }
    return NULL;
}

/* Of attention alone, not of a model: through one layer, or all that `--model` has. */
const char *ifm_cell_tokens_heading(const struct ifm_cell *cell, const char *usual)
{
    const uint64_t layers = cell->n_arms == 0 ? 0 : cell->arms[0].ledger.layers;
    return layers == 0 ? usual : layers == 1 ? "layer-tokens" : "attention tokens";
}

const char *ifm_cell_time_heading(const struct ifm_cell *cell, const char *usual)
{
    if (ifm_cell_counts_programs(cell))
        return "mean/run";
    return cell->n_arms > 0 && cell->arms[0].ledger.layers > 0 ? "mean/layer" : usual;
}

static void add_arms(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    struct shown shown = shown_of(builder, cell, &ifm_columns_arms);
    size_t n_rows = 0;
    for (size_t a = 0; a < cell->n_arms; a++)
        n_rows += ifm_is_row(builder, cell, &cell->arms[a]);
    const char *counted = count_heading(builder, cell);
    struct ifm_grid grid = ifm_grid_make(builder->arena, shown.n + 1 + (counted != NULL), n_rows);
    grid.caption = ifm_arena_printf(builder->arena, "Arms of %s", cell->name);
    fill_headings(&shown, &grid);
    for (size_t c = 1; c <= shown.n; c++) {
        if (grid.headings[c].metric == IFM_M_STEP_NS)
            grid.headings[c].text = ifm_cell_time_heading(cell, grid.headings[c].text);
        if (grid.headings[c].metric == IFM_M_TOKENS_GENERATED_PER_S)
            grid.headings[c].text = ifm_cell_tokens_heading(cell, grid.headings[c].text);
    }
    if (counted != NULL)
        grid.headings[shown.n + 1] = (struct ifm_heading){counted, IFM_M_NONE, false, 1};
    size_t row = 0;
    for (size_t a = 0; a < cell->n_arms; a++)
        if (ifm_is_row(builder, cell, &cell->arms[a]))
            fill_row(builder, cell, &cell->arms[a], &shown, &grid, row++);
    ifm_add_grid(builder, section, &grid);
}

static bool is_stored(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    return ifm_is_row(builder, cell, arm) && ifm_value_of(builder, cell, arm, IFM_M_COMPRESSION_RATIO) != NULL;
}

/* Only where an arm really is compressed: a ratio other than one, or a loss. */
static void add_compression(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    struct shown shown = shown_of(builder, cell, &ifm_columns_compression);
    size_t n_rows = 0, row = 0;
    bool any = false;
    for (size_t a = 0; a < cell->n_arms; a++)
        n_rows += is_stored(builder, cell, &cell->arms[a]);
    for (size_t c = 0; c < ifm_columns_compression.n; c++)
        any |= ifm_cell_shows(builder, cell, &ifm_columns_compression.items[c]) &&
               (ifm_metrics[ifm_columns_compression.items[c].metric].rounding == IFM_ROUNDING_RATIO ||
                ifm_columns_compression.items[c].metric == IFM_M_LOSS_RMS_REL);
    if (!any || n_rows == 0)
        return;
    struct ifm_grid grid = ifm_grid_make(builder->arena, shown.n + 1, n_rows);
    grid.caption = ifm_arena_printf(builder->arena, "Compression in %s", cell->name);
    fill_headings(&shown, &grid);
    for (size_t a = 0; a < cell->n_arms; a++)
        if (is_stored(builder, cell, &cell->arms[a]))
            fill_row(builder, cell, &cell->arms[a], &shown, &grid, row++);
    struct ifm_block *part =
        ifm_add_section(builder, section, IFM_LEVEL_VERBOSE, "", "Compression: bytes, output error, speed");
    ifm_add_grid(builder, part, &grid);
}

/* What an arm gives up beside what it gains, so that no speed-up is read without its price. */
static void add_sentences(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_OUTCOMES);
    const bool led = builder->most == IFM_LEVEL_PAGE || builder->from->plan->n_cells <= IFM_FEW_CELLS;
    list->elsewhere = ifm_lead_holds(builder, ifm_add_outcomes(builder, list, cell, SIZE_MAX, false)) && led;
    ifm_add_cautions(builder, cell, 1, IFM_LEVEL_ALWAYS, section);
}

/* ---- conditions ---- */

static bool is_axis(const struct ifm_cell *cell, const char *path)
{
    for (size_t i = 0; i < cell->n_axes; i++)
        if (strcmp(cell->axes[i].path, path) == 0)
            return true;
    return false;
}

/* Do all arms that are compared agree on a setting? */
static bool is_common(const struct ifm_cell *cell, const char *path, const char *text)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role != IFM_ROLE_CEILING) {
            const char *its = ifm_arm_setting(&cell->arms[a], path);
            if (strcmp(its == NULL ? "" : its, text) != 0)
                return false;
        }
    return true;
}

/* Does a setting do nothing in any arm that is compared? */
static bool is_idle(const struct ifm_cell *cell, const char *path)
{
    size_t length = strlen(path);
    for (size_t a = 0; a < cell->n_arms; a++) {
        const char *at = cell->arms[a].idle;
        if (cell->arms[a].role == IFM_ROLE_CEILING)
            continue;
        while (at != NULL && (at = strstr(at, path)) != NULL && (at[length] != ' ' && at[length] != '\0'))
            at += length;
        if (at == NULL)
            return false;
    }
    return true;
}

/* Nothing was chosen, or what was chosen is private. */
static bool is_silent(const char *text)
{
    static const char *const unset[] = {"", "0", "auto", "false", "null"};
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        if (strcmp(text, unset[i]) == 0)
            return true;
    return ifm_private_is_token(text);
}

/* Is it another value than the table's default? False too where the table is not known. */
static bool is_chosen(const struct ifm_builder *builder, const struct ifm_setting *setting)
{
    const struct ifm_section *const *tables = builder->from->tables;
    for (size_t t = 0; tables != NULL && tables[t] != NULL; t++)
        for (size_t i = 0; i < tables[t]->n; i++)
            if (strcmp(tables[t]->rows[i].path, setting->path) == 0)
                return tables[t]->rows[i].fallback == NULL || strcmp(tables[t]->rows[i].fallback, setting->text) != 0;
    return false;
}

/* The model's name says it, where there is one. */
static bool is_of_model(const struct ifm_arm *arm, const char *workload, const char *key, struct ifm_arena *arena)
{
    static const char *const keys[] = {"q_heads",      "kv_heads",     "head_dim",
                                       "model_layers", "weight_bytes", "weight_bits"};
    const char *model = ifm_arm_setting(arm, ifm_arena_printf(arena, "%s.model", workload));
    if (ifm_is_empty(model) || strstr(model, "(changed)") != NULL)
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* What somebody chose, the sizes that are as ever, and the rest. */
enum shape_part { SHAPE_CHOSEN, SHAPE_SIZES, SHAPE_REST, SHAPE_PARTS };

static bool is_causal(const struct ifm_setting *setting)
{
    return strcmp(setting->path, "attention.causal") == 0;
}

/* "batch 4", "outliers 12x" ("outliers 12" was taken for 12 channels), "not causal". */
static const char *words_of(struct ifm_builder *builder, const struct ifm_setting *setting, size_t skip)
{
    if (is_causal(setting))
        return strcmp(setting->text, "true") == 0 ? "causal" : "not causal";
    return ifm_arena_printf(builder->arena, "%s %s%s", setting->path + skip, setting->text,
                            strcmp(setting->path, "decode.outliers") == 0 ? "x" : "");
}

/* Which part the setting belongs to; SHAPE_PARTS: it is no part of the shape. */
static enum shape_part part_of(struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                               const struct ifm_setting *setting)
{
    static const char *const sizes[] = {"batch", "kv_len", "seq_len", "causal"};
    static const char *const rows[] = {"formats", "compress", "arms"};
    const char *path = setting->path;
    const size_t length = strlen(cell->workload);
    const bool own = strncmp(path, cell->workload, length) == 0 && path[length] == '.';
    if (!own || (is_silent(setting->text) && !is_causal(setting)) || is_idle(cell, path) || is_axis(cell, path) ||
        !is_common(cell, path, setting->text))
        return SHAPE_PARTS;
    const bool implied = is_of_model(arm, cell->workload, path + length + 1, builder->arena);
    if (implied && (strstr(path, ".model_layers") != NULL || strstr(path, ".weight_b") != NULL))
        return SHAPE_PARTS; /* the layers of a token stand behind the shape */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(path + length + 1, rows[i]) == 0)
            return SHAPE_PARTS; /* the table has them */
    if (strcmp(path, "attention.scale") == 0 && ifm_cell_scaled(builder, cell)[0] != '\0')
        return SHAPE_PARTS; /* it stands before the shape, with what it made of the batch */
    if (is_chosen(builder, setting) && !implied)
        return SHAPE_CHOSEN;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(path + length + 1, sizes[i]) == 0)
            return SHAPE_SIZES;
    return SHAPE_REST;
}

/* The shape that all arms share, as far as it has an effect and the cell's name does not say it: "batch 4, kv_len 8192,
 * "; "" for probes. What was chosen comes before defaults. Of what does not fit in `most` bytes, other defaults than
 * sizes are left out alone; `*lost`: something else is among it. */
static const char *shape_of(struct ifm_builder *builder, const struct ifm_cell *cell, size_t most, enum shape_part last,
                            bool *lost)
{
    static const char gap[] = "…, ";
    const char *shape = "", *before_gap = "", *with_rest;
    const size_t length = strlen(cell->workload);
    const struct ifm_arm *arm = NULL;
    *lost = false;
    for (size_t a = 0; a < cell->n_arms && arm == NULL; a++)
        arm = cell->arms[a].role == IFM_ROLE_BASELINE ? &cell->arms[a] : NULL;
    for (int part = SHAPE_CHOSEN; arm != NULL && part <= (int)last; part++) {
        with_rest = shape;
        for (size_t i = 0; i < arm->n_settings; i++) {
            const struct ifm_setting *setting = &arm->settings[i];
            if (part_of(builder, cell, arm, setting) != (enum shape_part)part)
                continue;
            with_rest = ifm_arena_printf(builder->arena, "%s%s, ", with_rest, words_of(builder, setting, length + 1));
            *lost |= part != SHAPE_REST && strlen(with_rest) > most;
            if (part != SHAPE_REST && strlen(with_rest) > most)
                return part == SHAPE_CHOSEN ? ifm_arena_printf(builder->arena, "%s%s", before_gap, gap) : shape;
            shape = part == SHAPE_REST ? shape : with_rest;
            before_gap = strlen(shape) + strlen(gap) <= most ? shape : before_gap;
        }
        if (part == SHAPE_REST && strlen(with_rest) <= most)
            shape = with_rest;
    }
    return shape;
}

const char *ifm_cell_tokens_of(struct ifm_builder *builder, const struct ifm_cell *cell)
{
    const struct ifm_arm *arm = cell->n_arms == 0 ? NULL : &cell->arms[0];
    if (arm == NULL || arm->ledger.layers == 0 || arm->ledger.tokens_generated + arm->ledger.tokens_prompt == 0)
        return "";
    const char *file = ifm_arm_setting(arm, ifm_arena_printf(builder->arena, "%s.kv_file", cell->workload));
    unsigned long long layers = arm->ledger.layers;
    const char *generated = ifm_is_empty(file) ? ", generated data" : "";
    if (layers == 1)
        return ifm_arena_printf(builder->arena, "1 attention layer%s", generated);
    return ifm_arena_printf(builder->arena, "1 of %llu attention layers%s", layers, generated);
}

const char *ifm_cell_scaled(struct ifm_builder *builder, const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_arm *arm = &cell->arms[a];
        const char *scale = ifm_arm_setting(arm, "attention.scale");
        if (arm->role != IFM_ROLE_BASELINE || scale == NULL || strcmp(scale, "1") == 0)
            continue;
        for (size_t i = 0; i < arm->n_chosen; i++)
            if (strcmp(arm->chosen[i].path, "batch") == 0)
                return ifm_arena_printf(builder->arena, "batch %s", arm->chosen[i].text);
    }
    return "";
}

const char *ifm_cell_scaled_words(struct ifm_builder *builder, const struct ifm_cell *cell, bool alike)
{
    const char *scaled = ifm_cell_scaled(builder, cell);
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    if (scaled[0] == '\0' || baseline == NULL)
        return "";
    const char *scale = ifm_arm_setting(baseline, "attention.scale");
    return alike ? ifm_arena_printf(builder->arena, "%s (divided by --scale %s), ", scaled, scale)
                 : ifm_arena_printf(builder->arena, "batches divided by scale %s, ", scale);
}

const char *ifm_cell_conditions(struct ifm_builder *builder, const struct ifm_cell *cell, size_t most)
{
    enum { SECOND_LINE = 86 }; /* bytes that fit, wherever the first is broken */
    /* A "hot cache" was taken for data that lie in it, and inputs rotate so that they do not: what is as ever is not
     * said, and what a cache serves is called cache-resident. */
    const bool cold = cell->measure.cache == IFM_CACHE_COLD;
    const char *cache = cold ? "cold cache, " : "";
    const char *threads =
        cell->threads == 1 ? "1 thread" : ifm_arena_printf(builder->arena, "%u threads", cell->threads);
    const char *gpu = ifm_device_facts_of(builder->from->events, cell->name).gpu;
    if (gpu != NULL) /* which one thread only gives work to */
        threads = ifm_arena_strdup(builder->arena, gpu);
    const bool scripted = strcmp(builder->from->plan->device, "fake") == 0;
    if (scripted)
        threads = "scripted times";
    const char *margin = ifm_goes_by_margin(builder)
                             ? ifm_arena_printf(builder->arena, ", equal if within ±%s",
                                                ifm_quantity_bare(cell->measure.margin * 100, "%", builder->arena))
                             : "";
    if (ifm_cell_counts_programs(cell)) /* its caches and threads are its own */
        return ifm_arena_printf(builder->arena, "%s%s", scripted ? threads : "from start to end of one run", margin);
    const char *tokens = ifm_cell_tokens_of(builder, cell), *shape = "";
    const char *resident = cell->cache_resident ? ", cache-resident" : "";
    const char *rest = ifm_arena_printf(builder->arena, "%s%s%s%s%s%s", tokens, tokens[0] == '\0' ? "" : ", ", cache,
                                        threads, margin, resident);
    const size_t taken = strlen(rest);
    bool lost;
    shape = shape_of(builder, cell, most > taken ? most - taken : 0, SHAPE_REST, &lost);
    if (lost)
        shape =
            shape_of(builder, cell, most + SECOND_LINE > taken ? most + SECOND_LINE - taken : 0, SHAPE_SIZES, &lost);
    return ifm_arena_printf(builder->arena, "%s%s", shape, rest);
}

void ifm_build_cell(struct ifm_builder *builder, const struct ifm_cell *cell)
{
    size_t index = (size_t)(cell - builder->from->plan->cells);
    struct ifm_block *section =
        ifm_add_part(builder, IFM_LEVEL_ALWAYS, ifm_arena_printf(builder->arena, "cell-%zu", index + 1), cell->name);
    if (!ifm_is_empty(cell->unsupported)) {
        section->subtitle = ifm_arena_printf(builder->arena, "absent: %s", cell->unsupported);
        return;
    }
    if (in_detail(builder)) {
        section->folded = true;
        const char *what = ifm_cell_counts_programs(cell) ? "counts and figures" : "rates, ceilings, figures";
        section->title = ifm_arena_printf(builder->arena, "Details: %s (%s)", cell->name, what);
    } else {
        section->subtitle = ifm_arena_printf(builder->arena, "%s%s", ifm_cell_scaled_words(builder, cell, true),
                                             ifm_cell_conditions(builder, cell, SIZE_MAX));
    }
    add_arms(builder, cell, section);
    ifm_add_commands(builder, cell, IFM_LEVEL_ALWAYS, section);
    add_sentences(builder, cell, section);
    add_compression(builder, cell, section);
    ifm_build_energy(builder, cell, section);
    ifm_build_counters(builder, cell, IFM_LEVEL_ALWAYS, section);
    ifm_build_trace(builder, cell, IFM_LEVEL_ALWAYS, section);
    ifm_cell_ceilings(builder, cell, section);
    if (builder->most == IFM_LEVEL_PAGE)
        ifm_add_probe_findings(builder, cell, section);
    ifm_cell_caches(builder, cell, section);
    for (int kind = IFM_FIGURE_RATIO; builder->most == IFM_LEVEL_PAGE && kind < IFM_FIGURE_KINDS; kind++) {
        struct ifm_block *figure = ifm_add_block(builder, section, IFM_LEVEL_PAGE, IFM_BLOCK_FIGURE);
        figure->figure = (enum ifm_figure_kind)kind;
        figure->cell = cell;
    }
}
