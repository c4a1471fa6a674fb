/* What stands first on the page and in report.md: what to distrust, and what the numbers are of; of the page alone its
 * chart and the main table. Says what other builders say too, in the page's order; computes no number. */
#include "base/private.h"
#include "document/build.h"
#include "document/quantity.h"
#include "document/trust.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- the first screen ---- */

/* Prompts through one attention, without what a model does around it. */
static const char *tokens_of(struct ifm_builder *builder, const struct ifm_cell *cell)
{
    const char *tokens = ifm_cell_tokens_of(builder, cell);
    const struct ifm_arm *arm = cell->n_arms == 0 ? NULL : &cell->arms[0];
    if (tokens[0] != '\0' && arm->ledger.layers > 1 && strcmp(cell->workload, "decode") == 0)
        return ifm_arena_printf(builder->arena, "one attention layer at a time, counted %llu times%s",
                                (unsigned long long)arm->ledger.layers,
                                strstr(tokens, "generated data") != NULL ? ", generated data" : "");
    if (tokens[0] != '\0' || arm == NULL || arm->ledger.tokens_generated > 0 || arm->ledger.tokens_prompt == 0)
        return tokens;
    const char *file = ifm_arm_setting(arm, ifm_arena_printf(builder->arena, "%s.kv_file", cell->workload));
    return file == NULL ? "" : file[0] == '\0' ? "1 attention layer, generated data" : "1 attention layer";
}

/* What times and rates are of, as nobody should take them for a model's. */
static void add_scope(struct ifm_builder *builder, struct ifm_block *section)
{
    const struct ifm_plan *plan = builder->from->plan;
    struct ifm_names *names = ifm_names_create(builder->arena), *models = ifm_names_create(builder->arena);
    const char *all = "";
    for (size_t i = 0; i < plan->n_cells; i++) {
        const char *model = ifm_model_words(builder, &plan->cells[i], 1, true);
        const size_t before = ifm_names_count(models);
        if (model[0] != '\0' && ifm_names_add(models, model) == before)
            ifm_add_line(builder, section, section->level, IFM_AS_SCOPE,
                         ifm_arena_printf(builder->arena, "%c%s.", toupper((unsigned char)model[0]), model + 1));
        const char *tokens = tokens_of(builder, &plan->cells[i]);
        size_t n = ifm_names_count(names);
        if (tokens[0] != '\0' && ifm_names_add(names, tokens) == n)
            all = ifm_arena_printf(builder->arena, "%s%s%s", all, all[0] == '\0' ? "" : "; ", tokens);
    }
    if (all[0] == '\0')
        return;
    ifm_add_line(builder, section, section->level, IFM_AS_SCOPE,
                 ifm_arena_printf(builder->arena,
                                  "Measured: %s, not a whole model: how much output error one bears, and its "
                                  "perplexity, nothing here says.",
                                  all));
}

/* On the page the folder is ".", as below. */
static void say_scope(struct ifm_builder *builder, struct ifm_line *line, const char *scope)
{
    const char *at = builder->most < IFM_LEVEL_PAGE ? NULL : strstr(scope, "rerun DIR");
    if (at != NULL)
        scope = ifm_arena_printf(builder->arena, "%.*srerun .%s", (int)(at - scope), scope, at + strlen("rerun DIR"));
    ifm_say(builder, line, IFM_TONE_PLAIN, " Again: %s.", scope);
}

/* The terminal's last line, whose finding below has the rest of the sentence. */
static void add_trust(struct ifm_builder *builder, struct ifm_block *section)
{
    static const enum ifm_tone tones[] = {IFM_TONE_GOOD, IFM_TONE_WARN, IFM_TONE_WARN,
                                          IFM_TONE_WARN, IFM_TONE_WARN, IFM_TONE_BAD};
    struct ifm_trust trust = ifm_trust_of(builder->from, builder->arena);
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_TRUST);
    struct ifm_item *item = ifm_add_item(builder, list);
    item->label = ifm_trust_label(trust.word);
    item->tone = tones[trust.word];
    const bool goes_on = ifm_trust_gap(&trust)[0] == ' ';
    item->place = goes_on ? "" : trust.place;
    if (goes_on) {
        ifm_say(builder, &item->line, IFM_TONE_STRONG, "%s", trust.place);
        ifm_say(builder, &item->line, IFM_TONE_PLAIN, " ");
    }
    ifm_say(builder, &item->line, IFM_TONE_PLAIN, "%s%s%s%s.", ifm_cause_short(builder, &trust),
            trust.rule[0] == '\0' ? "" : " (", trust.rule, trust.rule[0] == '\0' ? "" : ")");
    if (trust.also[0] != '\0')
        ifm_say(builder, &item->line, IFM_TONE_PLAIN, " Also %s.", trust.also);
    if (trust.remedy[0] != '\0') {
        ifm_say(builder, &item->line, IFM_TONE_PLAIN, " ");
        ifm_say(builder, &item->line, IFM_TONE_STRONG, "Next:");
        ifm_say(builder, &item->line, IFM_TONE_PLAIN, " %s.", ifm_trust_remedy_typed(trust.remedy, builder->arena));
    }
    if (trust.scope[0] != '\0')
        say_scope(builder, &item->line, trust.scope);
    if (!ifm_has_causes(builder, &trust) || (trust.warnings == 0 && builder->most < IFM_LEVEL_PAGE))
        return; /* without links the word alone says nothing */
    ifm_say(builder, &item->line, IFM_TONE_PLAIN, " ");
    ifm_say_link(builder, &item->line, "findings",
                 trust.warnings == 0 ? "Findings"
                                     : ifm_arena_printf(builder->arena, "%zu more warning%s", trust.warnings,
                                                        trust.warnings == 1 ? "" : "s"));
}

/* Does a setting stand for a text that private.json alone holds? */
static bool has_private_texts(const struct ifm_plan *plan)
{
    for (size_t i = 0; i < plan->n_cells; i++)
        for (size_t a = 0; a < plan->cells[i].n_arms; a++) {
            const struct ifm_arm *arm = &plan->cells[i].arms[a];
            for (size_t s = 0; s < arm->n_settings; s++)
                if (ifm_private_is_token(arm->settings[s].text))
                    return true;
        }
    return false;
}

/* Files keep the command's bare name: a path to it would be one of this machine. */
static void say_again(struct ifm_builder *builder, struct ifm_line *line)
{
    ifm_say(builder, line, IFM_TONE_PLAIN, "In the folder of this report, ");
    ifm_say_code(builder, line, "inferometer rerun . --out ../again");
    ifm_say(builder, line, IFM_TONE_PLAIN, " measures it again");
    if (has_private_texts(builder->from->plan)) {
        ifm_say(builder, line, IFM_TONE_PLAIN, ", by the commands and files that ");
        ifm_say_code(builder, line, "private.json");
        ifm_say(builder, line, IFM_TONE_PLAIN, " names");
    }
    ifm_say(builder, line, IFM_TONE_PLAIN, ". Where the shell finds no ");
    ifm_say_code(builder, line, "inferometer");
    ifm_say(builder, line, IFM_TONE_PLAIN, ", type the path of the program in its place.");
}

void ifm_end_answer(struct ifm_builder *builder, struct ifm_block *section)
{
    const struct ifm_plan *plan = builder->from->plan;
    add_trust(builder, section);
    add_scope(builder, section);
    if (builder->most < IFM_LEVEL_PAGE)
        return;
    say_again(builder, ifm_add_line(builder, section, IFM_LEVEL_PAGE, IFM_AS_SCOPE, ""));
    if (plan->n_cells == 0)
        return;
    struct ifm_block *figure = ifm_add_block(builder, section, IFM_LEVEL_PAGE, IFM_BLOCK_FIGURE);
    figure->figure = IFM_FIGURE_ANSWER;
    figure->cell = &plan->cells[0];
}

/* ---- words ---- */

/* The levels of intervals: of comparisons, or of all other numbers; 0 where there is none. */
struct levels {
    double least, most;
};

static struct levels levels_of(const struct ifm_derived *derived, bool compares)
{
    struct levels levels = {0, 0};
    for (size_t i = 0; i < derived->n_numbers; i++) {
        const struct ifm_number *number = &derived->numbers[i];
        const struct ifm_value *value = &number->value;
        bool is_one = number->metric == IFM_M_CHANGE_PERCENT || number->metric == IFM_M_SPEEDUP;
        if (!ifm_is_ok(value) || !value->has_interval || is_one != compares)
            continue;
        levels.least = levels.most == 0 ? value->level : fmin(levels.least, value->level);
        levels.most = fmax(levels.most, value->level);
    }
    return levels;
}

/* Of several arms in a cell each comparison has a higher level than a number alone. */
static void say_levels(struct ifm_builder *builder, struct ifm_line *line)
{
    struct levels plain = levels_of(builder->from->derived, false), compared = levels_of(builder->from->derived, true);
    if (plain.most == 0)
        plain = compared;
    if (plain.most == 0)
        return;
    ifm_say(builder, line, IFM_TONE_PLAIN, "±0.8 and [1.2, 1.9] are %s intervals",
            ifm_quantity_levels(plain.least, plain.most, builder->arena));
    if (compared.most > plain.most)
        ifm_say(builder, line, IFM_TONE_PLAIN, "; those of comparisons have %s, so that all of a cell hold at once",
                ifm_quantity_levels(compared.least, compared.most, builder->arena));
    ifm_say(builder, line, IFM_TONE_PLAIN, ". ");
}

void ifm_add_words(struct ifm_builder *builder, struct ifm_block *section)
{
    const struct ifm_plan *plan = builder->from->plan;
    double margin = plan->n_cells > 0 ? plan->cells[0].measure.margin * 100 : 0;
    struct ifm_line *line = ifm_add_line(builder, section, IFM_LEVEL_PAGE, IFM_AS_WORDS, "");
    ifm_say(builder, line, IFM_TONE_STRONG, "How to read it.");
    ifm_say(builder, line, IFM_TONE_PLAIN,
            " An arm is one variant; all arms of a cell ran in turn, block by block, and are compared with its "
            "baseline. ");
    say_levels(builder, line);
    ifm_say(builder, line, IFM_TONE_PLAIN,
            "Faster, slower: the whole interval lies beyond the margin of ±%s; %s; undecided: "
            "neither, or something took the word, which its note says. Absent: no number, as nothing was read or too "
            "little; refused: measured, and not believed; both say why. Headings lead to their ",
            ifm_quantity_bare(margin, "%", builder->arena),
            ifm_judge_limits_alone(builder->from->verdict, plan)
                ? "within the limit: neither is shown, and its gate passes"
                : "equivalent: within it");
    ifm_say_link(builder, line, "definitions", "definitions");
    ifm_say(builder, line, IFM_TONE_PLAIN, ".");
}

/* ---- the main table ---- */

void ifm_build_results(struct ifm_builder *builder)
{
    const struct ifm_plan *plan = builder->from->plan;
    struct ifm_block *results = ifm_add_part(builder, IFM_LEVEL_PAGE, "results", "Results");
    for (size_t i = 0; i < plan->n_cells;) {
        if (!ifm_is_empty(plan->cells[i].unsupported)) { /* the first screen says so */
            i++;
            continue;
        }
        struct ifm_group group = ifm_group_at(builder, i);
        struct ifm_block *section = ifm_add_section(builder, results, IFM_LEVEL_PAGE, "", ifm_group_title(&group));
        section->subtitle =
            ifm_arena_printf(builder->arena, "%s%s", ifm_group_scaled(builder, &group), group.conditions);
        ifm_group_table(builder, &group, false, true, section);
        i += group.n;
    }
    ifm_add_words(builder, results);
}
