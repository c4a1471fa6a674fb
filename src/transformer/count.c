/* Parameters and operations of a shape. Pure arithmetic. */
#include "transformer/transformer.h"

#include <math.h>

/* Elements of the matrices that make queries, keys, values and outputs, of one layer. */
static double attention_of(const struct ifm_transformer *m)
{
    return 2 * (double)m->hidden * ((double)m->q_width + (double)m->kv_width);
}

/* Elements of feed-forward layers, of all layers together, where a token goes through so many experts. */
static double forward_of(const struct ifm_transformer *m, uint64_t experts)
{
    const double each = (double)m->matrices * (double)m->hidden;
    const double dense = (double)(m->layers - m->moe_layers) * each * (double)m->inner;
    const double inner = (double)experts * (double)m->expert_inner + (double)m->shared_inner;
    return dense + (double)m->moe_layers * (each * inner + (double)m->router);
}

static double table_of(const struct ifm_transformer *m)
{
    return (double)m->vocabulary * (double)m->hidden;
}

double ifm_transformer_parameters(const struct ifm_transformer *m)
{
    const double head = (m->tied ? 0 : (double)m->head) + (double)m->transform + (double)m->pooler;
    return table_of(m) + m->vectors + (double)m->layers * attention_of(m) + forward_of(m, m->experts) + head;
}

double ifm_transformer_active(const struct ifm_transformer *m)
{
    return (double)m->layers * attention_of(m) + forward_of(m, m->active) + (double)m->head + (double)m->transform;
}

/* ---- operations ---- */

/* The sum of 1 + 2 + ... + n. */
static double triangle(double n)
{
    return n * (n + 1) / 2;
}

/* Keys that the queries at `first` .. first + n - 1 see, each the tokens up to itself and of these the last `window`.
 */
static double seen(double first, double n, double window)
{
    const double whole = fmin(fmax(window - first, 0), n); /* queries that see all tokens up to themselves */
    return triangle(first + whole) - triangle(first) + (n - whole) * window;
}

static double scores_of(const struct ifm_transformer *m, double first, double n)
{
    const double all = m->encoder ? n * n : seen(first, n, first + n);
    const double last = m->encoder ? n * n : seen(first, n, (double)m->window);
    return 4 * (double)m->q_width * ((double)(m->layers - m->windowed) * all + (double)m->windowed * last);
}

/* `n` tokens from the one at `first` on go through the model, and the scores of the vocabulary are made of `heads`. */
static struct ifm_flops pass_of(const struct ifm_transformer *m, double first, double n, double heads, double batch)
{
    return (struct ifm_flops){
        .parts = {[IFM_FLOPS_SCORES] = batch * scores_of(m, first, n),
                  [IFM_FLOPS_PROJECTIONS] = batch * 2 * n * (double)m->layers * attention_of(m),
                  [IFM_FLOPS_FORWARD] = batch * 2 * n * forward_of(m, m->active),
                  [IFM_FLOPS_HEAD] = batch * 2 * heads * ((double)m->head + (double)m->transform)},
        .tokens = batch * n,
    };
}

struct ifm_flops ifm_flops_prompt(const struct ifm_transformer *m, const struct ifm_flops_tokens *tokens)
{
    const double n = (double)tokens->prompt, batch = (double)tokens->batch;
    struct ifm_flops flops = pass_of(m, 0, n, m->encoder ? n : 1, batch);
    flops.parts[IFM_FLOPS_HEAD] += batch * 2 * (double)m->pooler;
    return flops;
}

struct ifm_flops ifm_flops_generated(const struct ifm_transformer *m, const struct ifm_flops_tokens *tokens)
{
    const double passes = tokens->generated > 0 ? (double)tokens->generated - 1 : 0;
    return pass_of(m, (double)tokens->prompt, passes, passes, (double)tokens->batch);
}

double ifm_flops_sum(const struct ifm_flops *flops)
{
    double sum = 0;
    for (size_t i = 0; i < IFM_FLOPS_PARTS; i++)
        sum += flops->parts[i];
    return sum;
}

void ifm_flops_add(struct ifm_flops *sum, const struct ifm_flops *more)
{
    for (size_t i = 0; i < IFM_FLOPS_PARTS; i++)
        sum->parts[i] += more->parts[i];
    sum->tokens += more->tokens;
}

struct ifm_flops_tokens ifm_flops_padded(const struct ifm_flops_tokens *sequences, size_t n)
{
    struct ifm_flops_tokens all = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        all.prompt = sequences[i].prompt > all.prompt ? sequences[i].prompt : all.prompt;
        all.generated = sequences[i].generated > all.generated ? sequences[i].generated : all.generated;
        all.batch += sequences[i].batch;
    }
    return all;
}

void ifm_flops_gaps(const struct ifm_transformer *m, const struct ifm_flops_tokens *tokens, double gaps[IFM_GAPS])
{
    const struct ifm_flops prompt = ifm_flops_prompt(m, tokens), generated = ifm_flops_generated(m, tokens);
    const double through = prompt.tokens + generated.tokens;
    const double heads = (double)m->head + (double)m->transform + (double)m->pooler;
    gaps[IFM_GAP_TABLE] = 2 * through * (m->vectors + table_of(m) - (m->tied ? (double)m->head : 0));
    gaps[IFM_GAP_EXPERTS] = 2 * through * (forward_of(m, m->experts) - forward_of(m, m->active));
    gaps[IFM_GAP_HEAD] = 2 * through * heads - prompt.parts[IFM_FLOPS_HEAD] - generated.parts[IFM_FLOPS_HEAD];
    gaps[IFM_GAP_SCORES] = -prompt.parts[IFM_FLOPS_SCORES] - generated.parts[IFM_FLOPS_SCORES];
}
