/* flops: the operations of a model for a prompt and generated tokens, in three tiers: counted by a run, by the model's
 * architecture, and as 2 x parameters x tokens. Nothing is measured. */
#include "cli/cli.h"
#include "cli/flops_model.h"
#include "publish/listing.h"

#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOKENS_MOST (1 << 24)
#define BATCH_MOST (1 << 20)
#define RATE_MOST 1e12
#define APART 0.10       /* tiers further apart say so */
#define APART_SIZES 0.01 /* the same of parameters that are counted and those of the sizes */

static const struct ifm_listing_column all_columns[] = {
    {"part", "part", true},
    {"flops_method", "method", true},
    {"flops_confidence", "confidence", true},
    {"flops_prompt", "prompt", false},
    {"flops_generated", "generated", false},
    {"flops_total", "total", false},
    {"flops_per_prompt_token", "per prompt token", false},
    {"flops_per_token", "per generated token", false},
    {"flops_per_second", "FLOP/s", false},
    {"reason", NULL, true},
    {"remedy", NULL, true},
    {"", "notes", true},
};
enum { COLUMNS = sizeof all_columns / sizeof *all_columns };

/* What is asked of which model. */
struct flops_question {
    struct ifm_arena *arena;
    struct ifm_flops_model model;
    struct ifm_flops_tokens tokens;
    double rate;                        /* generated tokens a second; 0 = not given */
    struct ifm_flops prompt, generated; /* by the architecture */
};

static uint64_t passes_of(const struct flops_question *q)
{
    return q->tokens.generated > 0 ? q->tokens.generated - 1 : 0;
}

static char *big(double number, const char *unit, struct ifm_arena *arena)
{
    char text[48];
    return ifm_arena_strdup(arena, ifm_format_human(number, unit, text));
}

/* "8.03 billion". */
static const char *parameters_text(double number, struct ifm_arena *arena)
{
    const bool billions = number >= 999.5e6;
    return number < 1e6
               ? ifm_arena_printf(arena, "%.0f", number)
               : ifm_arena_printf(arena, "%.3g %s", number / (billions ? 1e9 : 1e6), billions ? "billion" : "million");
}

static json_t *number_json(double number)
{
    return number < 0x1p53 ? json_integer((json_int_t)number) : json_real(number);
}

/* ---- rows ---- */

static void set(struct ifm_listing *listing, const char *field, double flops, const char *unit)
{
    const bool whole = flops == floor(flops);
    ifm_listing_set(listing, field, whole ? number_json(flops) : json_real(flops), big(flops, unit, listing->arena));
}

static void begin_row(struct ifm_listing *listing, const char *part, const char *method, const char *confidence)
{
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "part", part);
    ifm_listing_set_text(listing, "flops_method", method);
    ifm_listing_set_text(listing, "flops_confidence", confidence);
}

/* The numbers of a row, of what a phase takes; tokens that are generated in a pass of their own have one cost. */
static void set_phases(struct ifm_listing *listing, const struct flops_question *q, double prompt, double generated)
{
    const double made = (double)passes_of(q) * (double)q->tokens.batch;
    set(listing, "flops_prompt", prompt, "FLOP");
    set(listing, "flops_total", prompt + generated, "FLOP");
    set(listing, "flops_per_prompt_token", prompt / ((double)q->tokens.prompt * (double)q->tokens.batch), "FLOP");
    if (made == 0)
        return;
    set(listing, "flops_generated", generated, "FLOP");
    set(listing, "flops_per_token", generated / made, "FLOP");
    if (q->rate > 0)
        set(listing, "flops_per_second", q->rate * generated / made, "FLOP/s");
}

static void add_counted(struct ifm_listing *listing)
{
    begin_row(listing, "all", "counted", "high");
    ifm_listing_absent(listing, "nothing was run",
                       "measure: a run counts the operations of its steps, flops_total in metrics.json");
}

static void add_architecture(struct ifm_listing *listing, const struct flops_question *q)
{
    begin_row(listing, "all", "architecture", "medium");
    if (q->model.has_shape)
        set_phases(listing, q, ifm_flops_sum(&q->prompt), ifm_flops_sum(&q->generated));
    else
        ifm_listing_absent(listing, q->model.no_shape, q->model.no_shape_remedy);
}

static double passed(const struct flops_question *q, bool prompt)
{
    return (double)(prompt ? q->tokens.prompt : passes_of(q)) * (double)q->tokens.batch;
}

static void add_parameters(struct ifm_listing *listing, const struct flops_question *q)
{
    begin_row(listing, "all", "parameters", "low");
    if (q->model.has_parameters)
        set_phases(listing, q, 2 * q->model.parameters * passed(q, true), 2 * q->model.parameters * passed(q, false));
}

static void add_parts(struct ifm_listing *listing, const struct flops_question *q)
{
    static const char *const names[IFM_FLOPS_PARTS] = {"attention scores", "projections", "feed-forward", "LM head"};
    for (size_t i = 0; q->model.has_shape && i < IFM_FLOPS_PARTS; i++) {
        const bool pooler = i == IFM_FLOPS_HEAD && q->model.shape.pooler > 0;
        begin_row(listing, pooler ? "pooler" : names[i], "architecture", "medium");
        set_phases(listing, q, q->prompt.parts[i], q->generated.parts[i]);
    }
}

/* ---- remarks ---- */

/* Why 2 x parameters x tokens is off: the largest of what pulls it that way. */
static const char *cause_of(const struct flops_question *q, bool above)
{
    const struct ifm_transformer *m = &q->model.shape;
    const double through = passed(q, true) + passed(q, false);
    const double unknown = 2 * through * (q->model.parameters - ifm_transformer_parameters(m));
    double gaps[IFM_GAPS];
    size_t most = 0;
    ifm_flops_gaps(m, &q->tokens, gaps);
    for (size_t i = 1; i < IFM_GAPS; i++)
        if (above ? gaps[i] > gaps[most] : gaps[i] < gaps[most])
            most = i;
    if (above ? unknown > gaps[most] : unknown < gaps[most])
        return above ? "the tensors hold more than the sizes explain" : "the tensors hold less than the sizes need";
    switch ((enum ifm_flops_gap)most) {
    case IFM_GAP_EXPERTS:
        return ifm_arena_printf(q->arena, "most of it as a token goes through %llu of %llu experts",
                                (unsigned long long)m->active, (unsigned long long)m->experts);
    case IFM_GAP_HEAD:
        return "most of it as the LM head works for generated tokens alone";
    case IFM_GAP_SCORES:
        return "most of it as attention to earlier tokens has products without parameters";
    case IFM_GAP_TABLE:
    case IFM_GAPS:
        break;
    }
    return "most of it as embeddings are looked up, not multiplied";
}

static void compare_tiers(struct ifm_listing *listing, const struct flops_question *q)
{
    const double through = passed(q, true) + passed(q, false);
    const double by_shape = ifm_flops_sum(&q->prompt) + ifm_flops_sum(&q->generated);
    const double by_parameters = 2 * q->model.parameters * through;
    const double off = by_shape > 0 ? by_parameters / by_shape - 1 : 0;
    if (!q->model.has_shape || !q->model.has_parameters || by_shape <= 0)
        return;
    const char *text =
        off >= 1
            ? ifm_arena_printf(q->arena, "2 x parameters x tokens is %.1f times the sum by the architecture", 1 + off)
            : ifm_arena_printf(q->arena, "2 x parameters x tokens is %.1f %% %s the sum by the architecture",
                               100 * fabs(off), off < 0 ? "below" : "above");
    ifm_listing_remark(listing, fabs(off) <= APART
                                    ? ifm_arena_printf(q->arena, "%s; within %.0f %% they agree.", text, 100 * APART)
                                    : ifm_arena_printf(q->arena,
                                                       "%s, so the two disagree (more than %.0f %%): %s. Take "
                                                       "the architecture's.",
                                                       text, 100 * APART, cause_of(q, off > 0)));
}

/* Parameters by the sizes, beside those that the tensors hold. */
static void compare_sizes(struct ifm_listing *listing, const struct flops_question *q)
{
    const struct ifm_flops_model *m = &q->model;
    const double by_shape = m->has_shape ? ifm_transformer_parameters(&m->shape) : 0;
    if (m->packed != NULL)
        ifm_listing_remark(listing,
                           ifm_arena_printf(q->arena,
                                            "Parameters are those of the sizes: tensors such as %s are packed, "
                                            "and do not say how many they hold.",
                                            ifm_text_plain(m->packed, q->arena)));
    if (by_shape > 0 && m->counted > 0 && fabs(m->counted / by_shape - 1) > APART_SIZES)
        ifm_listing_remark(listing, ifm_arena_printf(q->arena,
                                                     "The tensors hold %s parameters, and the sizes of the model make "
                                                     "%s: a part of it is not known here.",
                                                     parameters_text(m->counted, q->arena),
                                                     parameters_text(by_shape, q->arena)));
}

static void add_remarks(struct ifm_listing *listing, const struct flops_question *q)
{
    const struct ifm_flops_model *m = &q->model;
    compare_tiers(listing, q);
    compare_sizes(listing, q);
    if (m->has_shape && m->shape.encoder)
        ifm_listing_remark(listing, "An encoder generates no tokens.");
    else
        ifm_listing_remark(listing, "The pass over the prompt makes the first generated token; each other one takes a "
                                    "pass of its own, over the KV cache.");
    if (m->has_shape && m->shape.quantized != NULL)
        ifm_listing_remark(listing, ifm_arena_printf(q->arena,
                                                     "Weights are stored as %s; operations are those of products at "
                                                     "compute precision, however few bytes are read.",
                                                     ifm_text_plain(m->shape.quantized, q->arena)));
    if (m->has_shape && m->shape.text_part)
        ifm_listing_remark(listing, "Only the text part of the model is counted.");
    if (m->has_shape && m->tensors_alone)
        ifm_listing_remark(listing, "Without a config.json a window of attention would not be seen.");
}

/* ---- the whole ---- */

static json_t *members_of(const struct flops_question *q)
{
    const struct ifm_flops_model *m = &q->model;
    json_t *members = json_object();
    json_object_set_new(members, "model", json_string(ifm_text_plain(m->name, q->arena)));
    json_object_set_new(members, "family", m->has_shape ? json_string(m->shape.family) : json_null());
    json_object_set_new(members, "parameters", m->has_parameters ? number_json(m->parameters) : json_null());
    json_object_set_new(members, "parameters_active",
                        m->has_shape ? number_json(ifm_transformer_active(&m->shape)) : json_null());
    json_object_set_new(members, "prompt_tokens", json_integer((json_int_t)q->tokens.prompt));
    json_object_set_new(members, "generated_tokens", json_integer((json_int_t)q->tokens.generated));
    json_object_set_new(members, "batch", json_integer((json_int_t)q->tokens.batch));
    return members;
}

/* The answer first. */
static void print_head(const struct flops_question *q)
{
    const struct ifm_flops_model *m = &q->model;
    const double prompt = m->has_shape ? ifm_flops_sum(&q->prompt) : 2 * m->parameters * passed(q, true);
    const double generated = m->has_shape ? ifm_flops_sum(&q->generated) : 2 * m->parameters * passed(q, false);
    printf("%s: %s for ", ifm_text_plain(m->name, q->arena), big(prompt + generated, "FLOP", q->arena));
    if (q->tokens.batch > 1)
        printf("%llu sequences, each of ", (unsigned long long)q->tokens.batch);
    printf("%llu prompt", (unsigned long long)q->tokens.prompt);
    if (q->tokens.generated > 0)
        printf(" and %llu generated", (unsigned long long)q->tokens.generated);
    printf(" tokens, %s\n", m->has_shape ? "by the architecture" : "by the number of parameters alone");
    printf("%s parameters", parameters_text(m->parameters, q->arena));
    if (m->has_shape)
        printf("; %s is multiplied by %s", m->shape.encoder ? "a token" : "a generated token",
               parameters_text(ifm_transformer_active(&m->shape), q->arena));
    printf("\n\n");
}

static void print_answer(struct flops_question *q, enum ifm_format format)
{
    struct ifm_listing_column columns[COLUMNS];
    struct ifm_text text = {0};
    memcpy(columns, all_columns, sizeof columns);
    for (size_t i = 0; i < COLUMNS; i++)
        if (q->rate <= 0 && strcmp(columns[i].field, "flops_per_second") == 0)
            columns[i].heading = NULL;
    if (q->model.has_shape) {
        q->prompt = ifm_flops_prompt(&q->model.shape, &q->tokens);
        q->generated = ifm_flops_generated(&q->model.shape, &q->tokens);
    }
    if (format == IFM_FORMAT_TABLE || format == IFM_FORMAT_MD)
        print_head(q);
    struct ifm_listing listing = ifm_listing_begin(columns, COLUMNS, q->arena);
    add_counted(&listing);
    add_architecture(&listing, q);
    add_parameters(&listing, q);
    add_parts(&listing, q);
    add_remarks(&listing, q);
    listing.members = members_of(q);
    ifm_listing_compose(&listing, format, &text);
    ifm_cli_print(&text, stdout);
    ifm_listing_end(&listing);
}

static enum ifm_status read_tokens(const struct ifm_given *given, struct flops_question *q, struct ifm_error *error)
{
    const bool encoder = q->model.has_shape && q->model.shape.encoder;
    double prompt = 512, generated = encoder ? 0 : 128, batch = 1;
    if (encoder && ifm_given_text(given, "generated-tokens") != NULL)
        return ifm_fail(error, IFM_USAGE, "--generated-tokens", "leave it out",
                        "a model of type %s generates no tokens", q->model.shape.family);
    if (encoder && ifm_given_text(given, "tokens-per-second") != NULL)
        return ifm_fail(error, IFM_USAGE, "--tokens-per-second", "leave it out",
                        "a model of type %s generates no tokens", q->model.shape.family);
    IFM_TRY(ifm_given_number(given, "prompt-tokens", TOKENS_MOST, true, &prompt, error));
    IFM_TRY(ifm_given_number(given, "generated-tokens", TOKENS_MOST, true, &generated, error));
    IFM_TRY(ifm_given_number(given, "batch", BATCH_MOST, true, &batch, error));
    IFM_TRY(ifm_given_number(given, "tokens-per-second", RATE_MOST, false, &q->rate, error));
    q->tokens = (struct ifm_flops_tokens){(uint64_t)prompt, (uint64_t)generated, (uint64_t)batch};
    return IFM_OK;
}

enum ifm_status ifm_cmd_flops(const struct ifm_given *given, struct ifm_error *error)
{
    struct flops_question q = {.arena = given->arena};
    if (given->n_words == 0)
        return ifm_fail(
            error, IFM_USAGE, "", "such as `inferometer flops llama-3-8b`",
            "flops needs a model: a known name, a config.json, a GGUF or safetensors file, or their folder");
    IFM_TRY(ifm_given_words(given, 1, "name one model at a time", error));
    IFM_TRY(ifm_flops_model_read(given->words[0], given->arena, &q.model, error));
    IFM_TRY(read_tokens(given, &q, error));
    print_answer(&q, given->format);
    return IFM_OK;
}
