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
    const struct ifm_flops_tokens *sequences; /* each item: so many of one length */
    size_t n;
    struct ifm_flops_tokens padded;     /* all of them in one batch */
    double rate;                        /* generated tokens a second; 0 = not given */
    struct ifm_flops prompt, generated; /* by the architecture */
};

/* Tokens that go through the model: of prompts, or of passes for generated tokens after the first. */
static double passed_of(const struct ifm_flops_tokens *sequences, size_t n, bool prompt)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t generated = sequences[i].generated, passes = generated > 0 ? generated - 1 : 0;
        sum += (double)sequences[i].batch * (double)(prompt ? sequences[i].prompt : passes);
    }
    return sum;
}

static double passed(const struct flops_question *q, bool prompt)
{
    return passed_of(q->sequences, q->n, prompt);
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
    const double made = passed(q, false);
    set(listing, "flops_prompt", prompt, "FLOP");
    set(listing, "flops_total", prompt + generated, "FLOP");
    set(listing, "flops_per_prompt_token", prompt / passed(q, true), "FLOP");
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

/* A phase of the padded batch, by the surest tier that there is. */
static double padded_phase(const struct flops_question *q, bool prompt)
{
    const struct ifm_transformer *m = &q->model.shape;
    const struct ifm_flops flops = prompt ? ifm_flops_prompt(m, &q->padded) : ifm_flops_generated(m, &q->padded);
    return q->model.has_shape ? ifm_flops_sum(&flops) : 2 * q->model.parameters * passed_of(&q->padded, 1, prompt);
}

/* Beside what tokens need, what a batch computes that pads them: over the same tokens, for it makes no others. */
static void add_padded(struct ifm_listing *listing, const struct flops_question *q)
{
    const double prompt = padded_phase(q, true), generated = padded_phase(q, false);
    const double whole = q->model.has_shape ? ifm_flops_sum(&q->prompt) + ifm_flops_sum(&q->generated)
                                            : 2 * q->model.parameters * (passed(q, true) + passed(q, false));
    if (q->n < 2)
        return;
    begin_row(listing, "padded batch", q->model.has_shape ? "architecture" : "parameters",
              q->model.has_shape ? "medium" : "low");
    set_phases(listing, q, prompt, generated);
    const bool runs = q->padded.generated > 1;
    ifm_listing_remark(
        listing,
        ifm_arena_printf(q->arena,
                         "All other rows are of the tokens that each sequence has. One batch, padded to %llu prompt "
                         "tokens%s, computes %s: %.1f %% of it for padding%s.",
                         (unsigned long long)q->padded.prompt,
                         runs ? ifm_arena_printf(q->arena, " and run until the longest answer of %llu ends",
                                                 (unsigned long long)q->padded.generated)
                              : "",
                         big(prompt + generated, "FLOP", q->arena), 100 * (1 - whole / (prompt + generated)),
                         runs ? " and sequences that have ended" : ""));
}

/* ---- remarks ---- */

/* Why 2 x parameters x tokens is off: the largest of what pulls it that way. */
static const char *cause_of(const struct flops_question *q, bool above)
{
    const struct ifm_transformer *m = &q->model.shape;
    const double through = passed(q, true) + passed(q, false);
    const double unknown = 2 * through * (q->model.parameters - ifm_transformer_parameters(m));
    double gaps[IFM_GAPS] = {0}, of_item[IFM_GAPS];
    size_t most = 0;
    for (size_t i = 0; i < q->n; i++) {
        ifm_flops_gaps(m, &q->sequences[i], of_item);
        for (size_t g = 0; g < IFM_GAPS; g++)
            gaps[g] += of_item[g];
    }
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

/* A number where all sequences have as many, else one for each. */
static json_t *tokens_json(const struct flops_question *q, bool prompt)
{
    json_t *list = json_array();
    for (size_t i = 0; i < q->n; i++)
        json_array_append_new(list,
                              json_integer((json_int_t)(prompt ? q->sequences[i].prompt : q->sequences[i].generated)));
    if (q->n > 1)
        return list;
    json_t *number = json_incref(json_array_get(list, 0));
    json_decref(list);
    return number;
}

static json_t *members_of(const struct flops_question *q)
{
    const struct ifm_flops_model *m = &q->model;
    json_t *members = json_object();
    json_object_set_new(members, "model", json_string(ifm_text_plain(m->name, q->arena)));
    json_object_set_new(members, "family", m->has_shape ? json_string(m->shape.family) : json_null());
    json_object_set_new(members, "parameters", m->has_parameters ? number_json(m->parameters) : json_null());
    json_object_set_new(members, "parameters_active",
                        m->has_shape ? number_json(ifm_transformer_active(&m->shape)) : json_null());
    json_object_set_new(members, "prompt_tokens", tokens_json(q, true));
    json_object_set_new(members, "generated_tokens", tokens_json(q, false));
    json_object_set_new(members, "batch", json_integer((json_int_t)q->padded.batch));
    return members;
}

/* The answer first. */
static void print_head(const struct flops_question *q)
{
    struct ifm_text head = {0}, out = {0};
    const struct ifm_flops_model *m = &q->model;
    const double prompt = m->has_shape ? ifm_flops_sum(&q->prompt) : 2 * m->parameters * passed(q, true);
    const double generated = m->has_shape ? ifm_flops_sum(&q->generated) : 2 * m->parameters * passed(q, false);
    ifm_text_printf(&head, "%s: %s for ", ifm_text_plain(m->name, q->arena), big(prompt + generated, "FLOP", q->arena));
    uint64_t prompts = 0, made = 0;
    for (size_t i = 0; i < q->n; i++) {
        prompts += q->sequences[i].prompt;
        made += q->sequences[i].generated;
    }
    if (q->padded.batch > 1)
        ifm_text_printf(&head, "%llu sequences, %s of ", (unsigned long long)q->padded.batch,
                        q->n > 1 ? "together" : "each");
    ifm_text_printf(&head, "%llu prompt", (unsigned long long)prompts);
    if (made > 0)
        ifm_text_printf(&head, " and %llu generated", (unsigned long long)made);
    ifm_text_printf(&head, " tokens, %s", m->has_shape ? "by the architecture" : "by the number of parameters alone");
    ifm_text_wrap(&out, head.data, ifm_cli_width(), 0, 2);
    ifm_text_add(&out, "\n");
    ifm_text_clear(&head);
    ifm_text_printf(&head, "%s parameters", parameters_text(m->parameters, q->arena));
    if (m->has_shape)
        ifm_text_printf(&head, "; %s is multiplied by %s", m->shape.encoder ? "a token" : "a generated token",
                        parameters_text(ifm_transformer_active(&m->shape), q->arena));
    ifm_text_wrap(&out, head.data, ifm_cli_width(), 0, 2);
    ifm_text_add(&out, "\n\n");
    ifm_cli_print(&out, stdout);
    ifm_text_free(&head);
}

static void print_answer(struct flops_question *q, enum ifm_format format)
{
    struct ifm_listing_column columns[COLUMNS];
    struct ifm_text text = {0};
    memcpy(columns, all_columns, sizeof columns);
    for (size_t i = 0; i < COLUMNS; i++)
        if (q->rate <= 0 && strcmp(columns[i].field, "flops_per_second") == 0)
            columns[i].heading = NULL;
    for (size_t i = 0; q->model.has_shape && i < q->n; i++) {
        const struct ifm_flops prompt = ifm_flops_prompt(&q->model.shape, &q->sequences[i]);
        const struct ifm_flops generated = ifm_flops_generated(&q->model.shape, &q->sequences[i]);
        ifm_flops_add(&q->prompt, &prompt);
        ifm_flops_add(&q->generated, &generated);
    }
    if (format == IFM_FORMAT_TABLE || format == IFM_FORMAT_MD)
        print_head(q);
    struct ifm_listing listing = ifm_listing_begin(columns, COLUMNS, q->arena);
    add_counted(&listing);
    add_architecture(&listing, q);
    add_parameters(&listing, q);
    add_parts(&listing, q);
    add_padded(&listing, q);
    add_remarks(&listing, q);
    listing.members = members_of(q);
    ifm_cli_listing(&listing, format, &text);
    ifm_cli_print(&text, stdout);
    ifm_listing_end(&listing);
}

/* Lengths are one for all sequences, or a list with one for each. */
static enum ifm_status read_sequences(const struct ifm_given *given, bool encoder, struct flops_question *q,
                                      struct ifm_error *error)
{
    double *prompts = NULL, *made = NULL, batch = 1;
    size_t n_prompts, n_made;
    IFM_TRY(ifm_given_counts(given, "prompt-tokens", TOKENS_MOST, &prompts, &n_prompts, error));
    IFM_TRY(ifm_given_counts(given, "generated-tokens", TOKENS_MOST, &made, &n_made, error));
    IFM_TRY(ifm_given_number(given, "batch", BATCH_MOST, true, &batch, error));
    const size_t n = n_prompts > n_made ? n_prompts : n_made;
    if (n_prompts > 1 && n_made > 1 && n_prompts != n_made)
        return ifm_fail(error, IFM_USAGE, "--generated-tokens", "give one for each sequence, or one for all",
                        "it names %zu sequences, and --prompt-tokens %zu", n_made, n_prompts);
    if (n > 1 && ifm_given_text(given, "batch") != NULL)
        return ifm_fail(error, IFM_USAGE, "--batch", "leave it out", "the lengths name %zu sequences", n);
    struct ifm_flops_tokens *list = IFM_ARENA_ARRAY(q->arena, struct ifm_flops_tokens, n + 1);
    q->n = n == 0 ? 1 : n;
    for (size_t i = 0; i < q->n; i++)
        list[i] = (struct ifm_flops_tokens){
            n_prompts == 0 ? 512 : (uint64_t)prompts[n_prompts == 1 ? 0 : i],
            n_made > 0 ? (uint64_t)made[n_made == 1 ? 0 : i]
            : encoder  ? 0
                       : 128,
            (uint64_t)batch,
        };
    q->sequences = list;
    q->padded = ifm_flops_padded(list, q->n);
    return IFM_OK;
}

static enum ifm_status read_tokens(const struct ifm_given *given, struct flops_question *q, struct ifm_error *error)
{
    const bool encoder = q->model.has_shape && q->model.shape.encoder;
    if (encoder && ifm_given_text(given, "generated-tokens") != NULL)
        return ifm_fail(error, IFM_USAGE, "--generated-tokens", "leave it out",
                        "a model of type %s generates no tokens", q->model.shape.family);
    if (encoder && ifm_given_text(given, "tokens-per-second") != NULL)
        return ifm_fail(error, IFM_USAGE, "--tokens-per-second", "leave it out",
                        "a model of type %s generates no tokens", q->model.shape.family);
    IFM_TRY(read_sequences(given, encoder, q, error));
    return ifm_given_number(given, "tokens-per-second", RATE_MOST, false, &q->rate, error);
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
