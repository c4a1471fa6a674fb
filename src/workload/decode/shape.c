/* Parameters of decode, and what follows from them. */
#include "workload/decode/shape.h"

#include "base/random.h"
#include "kernel/cpu/isa.h"
#include "workload/data/data.h"

#include <string.h>

enum { SEED_OF_LENGTHS = 0x6c656e, STREAM_LENGTH = 41 };

#define OF(field) offsetof(struct ifm_decode_settings, field)
enum { ANY = IFM_SWEEP | IFM_PER_ARM };

static const struct ifm_param rows[] = {
    {"decode.model", "model", IFM_TYPE_TEXT, IFM_LATER, "", "", 0, 0, NULL,
     "a model whose shape is taken: llama-3-8b, llama-3-70b, qwen-2.5-7b, mistral-7b, mixtral-8x7b, gpt-2, or the path "
     "of a Hugging Face config.json; what is set explicitly wins",
     OF(model)},
    {"decode.batch", "batch", IFM_TYPE_U64, ANY, "count", "4", 1, 65536, NULL,
     "sequences, each with a cache of its own", OF(batch)},
    {"decode.q_heads", "q-heads", IFM_TYPE_U64, ANY, "count", "32", 1, 4096, NULL,
     "query heads; a multiple of decode.kv_heads", OF(q_heads)},
    {"decode.kv_heads", "kv-heads", IFM_TYPE_U64, ANY, "count", "8", 1, 4096, NULL, "heads of the KV cache",
     OF(kv_heads)},
    {"decode.kv_len", "kv-len", IFM_TYPE_U64, ANY, "tokens", "8192", 256, 1048576, NULL,
     "tokens in the cache of each sequence", OF(kv_len)},
    {"decode.head_dim", "head-dim", IFM_TYPE_U64, ANY, "count", "128", 32, 256, NULL,
     "dimension of a head; a multiple of 32", OF(head_dim)},
    {"decode.isa", "isa", IFM_TYPE_CHOICE, ANY, "", "auto", 1, 0, IFM_ISA_CHOICES,
     "instruction set of the kernels; auto takes the best that the machine has", OF(isa)},
    {"decode.compress", "compress", IFM_TYPE_CHOICE, IFM_LIST | IFM_PER_ARM, "", "1,2,4,8", 1, 0, "1|2|4|8",
     "nominal compressions that are compared, one arm each; 1 is the f16 cache, which is always there", OF(compress)},
    {"decode.format", "kv-format", IFM_TYPE_CHOICE, IFM_LIST | IFM_PER_ARM, "", "auto", 1, 0,
     "auto|int8|e4m3|int4|int2|half4",
     "formats that stand for a compression: int8 (auto) or e4m3 for 2, int4 for 4, int2 (auto) or half4, which is int4 "
     "on half of the tokens, for 8",
     OF(format)},
    {"decode.formats", "formats", IFM_TYPE_CHOICE, IFM_LATER | IFM_LIST | IFM_PER_ARM, "", "", 1, 0,
     "f16|int8|e4m3|int4|int2|half4",
     "formats that are compared, one arm each and no other, the baseline first; in place of decode.compress and "
     "decode.format",
     OF(formats)},
    {"decode.arms", "decode-arms", IFM_TYPE_CHOICE, IFM_LATER | IFM_LIST | IFM_PER_ARM, "", "", 1, 0,
     "cudnn|naive|ours",
     "whose kernels run on the device cuda, the baseline first; empty takes cudnn where it is there and takes the "
     "cell, "
     "then ours, and where neither runs naive, the readable form",
     OF(arms)},
    {"decode.graphs", "decode-graphs", IFM_TYPE_CHOICE, IFM_LATER | IFM_LIST | IFM_PER_ARM, "", "", 1, 0, "true|false",
     "whether steps on the device cuda are replayed as CUDA graphs, each choice an arm of its own, the baseline first; "
     "empty does as device.graphs says",
     OF(graphs)},
    {"decode.evict", "evict", IFM_TYPE_CHOICE, ANY, "", "window", 1, 0, "window|mass",
     "tokens that half4 keeps: the first and the newest ones, or those with most attention under a few other queries",
     OF(evict)},
    {"decode.sink", "sink", IFM_TYPE_U64, ANY, "tokens", "32", 0, IFM_KV_WIDE, NULL,
     "first tokens that a compressed cache keeps in f16", OF(sink)},
    {"decode.layout", "layout", IFM_TYPE_CHOICE, ANY, "", "contiguous", 1, 0, "contiguous|paged",
     "pages in order, or shuffled over the pool and found by block tables", OF(layout)},
    {"decode.ragged", "ragged", IFM_TYPE_F64, ANY, "1", "0", 0, 1, NULL,
     "how much the lengths of the sequences vary: they lie between (1 - ragged) x decode.kv_len and decode.kv_len",
     OF(ragged)},
    {"decode.layers", "layers", IFM_TYPE_U64, ANY, "count", "0", 0, 16777216, NULL,
     "caches that steps of an arm take in turn; 0 takes as many as make them exceed 4 x the last-level cache, and in a "
     "cycle as many as the smallest arm needs",
     OF(layers)},
    {"decode.model_layers", "model-layers", IFM_TYPE_U64, IFM_LATER, "count", "0", 0, 4096, NULL,
     "layers that a token of the model goes through; decode.model sets it, and 0 takes decode.layers, or a single one",
     OF(model_layers)},
    {"decode.weight_bytes", "weight-bytes", IFM_TYPE_BYTES, IFM_LATER, "B", "0", 0, 0x1p53, NULL,
     "weights that a token of the model reads, for the bound of its time; decode.model sets it to those of its own "
     "format",
     OF(weight_bytes)},
    {"decode.weight_bits", "weight-bits", IFM_TYPE_U64, IFM_LATER, "bits", "0", 0, 32, NULL,
     "bits of one of these weights, as the report names them; decode.model sets it, and 0 names none", OF(weight_bits)},
    {"decode.outliers", "outliers", IFM_TYPE_CHOICE, ANY, "", "12", 1, 0, "12|6|1",
     "how much larger than the others the outlier channels of the generated keys are", OF(outliers)},
    {"decode.kv_file", "kv-file", IFM_TYPE_TEXT, IFM_PRIVATE | IFM_PER_ARM, "", "", 0, 0, NULL,
     "safetensors file whose keys, values and queries are taken instead of generated ones", OF(kv_file)},
    {"decode.inference", "inference", IFM_TYPE_BOOL, ANY, "", "false", 1, 0, NULL,
     "a step is a cycle of tokens, each of which appends and compresses its K and V, attends, and feeds the next query",
     OF(inference)},
    {"decode.decode_tokens", "decode-tokens", IFM_TYPE_U64, ANY, "tokens", "64", 1, 65536, NULL,
     "tokens of each sequence in an inference cycle", OF(decode_tokens)},
    {"decode.append", "append", IFM_TYPE_CHOICE, ANY, "", "compress", 1, 0, "compress|none",
     "whether a cycle appends its tokens, or finds as many as it has on average in the cache already", OF(append)},
};

const struct ifm_section ifm_decode_section = IFM_SECTION(
    "decode", "Attention of one new token per sequence over an elastic KV cache", rows, struct ifm_decode_settings);

#define CHOSEN(name, help)                                                                                             \
    {                                                                                                                  \
#name, NULL, IFM_TYPE_TEXT, 0, "", "", 1, 0, NULL, help, offsetof(struct ifm_decode_chosen, name)              \
    }
static const struct ifm_param chosen_rows[] = {
    {"layers", NULL, IFM_TYPE_U64, 0, "count", "1", 1, 0, NULL, "caches that steps take in turn",
     offsetof(struct ifm_decode_chosen, layers)},
    CHOSEN(isa, "instruction set of the kernel that attends over the body"),
    CHOSEN(isa_f16, "of the one that attends over sink and ring"),
    CHOSEN(isa_encode, "of the one that encodes pages"),
    CHOSEN(graphs, "whether steps are replayed as CUDA graphs; only where decode.graphs says so"),
};

const struct ifm_section ifm_decode_chosen_section = IFM_SECTION("decode", NULL, chosen_rows, struct ifm_decode_chosen);

static const struct ifm_decode_form forms[IFM_DECODE_FORMS] = {
    {"f16", 1, IFM_KV_F16, true, false},    {"int8", 2, IFM_KV_INT8, true, false},
    {"e4m3", 2, IFM_KV_E4M3, false, false}, {"int4", 4, IFM_KV_INT4, true, false},
    {"int2", 8, IFM_KV_INT2, true, false},  {"half4", 8, IFM_KV_INT4, false, true},
};

const struct ifm_decode_form *ifm_decode_form_find(const char *name)
{
    for (size_t i = 0; i < IFM_DECODE_FORMS; i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

bool ifm_decode_form_is_packed(const char *name)
{
    const struct ifm_decode_form *form = ifm_decode_form_find(name);
    return form != NULL && form->format != IFM_KV_F16;
}

static bool has_ratio(const struct ifm_list *compress, unsigned ratio)
{
    const char text[2] = {(char)('0' + ratio), '\0'};
    return ifm_list_has(compress, text);
}

/* No format is named for the ratio. */
static bool unnamed(const struct ifm_list *format, unsigned ratio)
{
    for (size_t i = 0; i < IFM_DECODE_FORMS; i++)
        if (forms[i].ratio == ratio && ifm_list_has(format, forms[i].name))
            return false;
    return true;
}

/* decode.formats alone says which arms there are. */
static enum ifm_status chosen_forms(const struct ifm_decode_settings *s,
                                    const struct ifm_decode_form *out[IFM_DECODE_FORMS], size_t *n,
                                    struct ifm_error *error)
{
    const bool usual = s->compress.n == 4 && s->format.n == 1 && strcmp(s->format.items[0], "auto") == 0;
    if (!usual)
        return ifm_fail(error, IFM_USAGE, "decode.formats", "leave out --compress and --kv-format, or --formats",
                        "decode.formats says which arms there are, and decode.compress or decode.format says it too");
    for (size_t i = 0; i < s->formats.n; i++)
        out[(*n)++] = ifm_decode_form_find(s->formats.items[i]);
    return IFM_OK;
}

enum ifm_status ifm_decode_forms(const struct ifm_decode_settings *s,
                                 const struct ifm_decode_form *out[IFM_DECODE_FORMS], size_t *n,
                                 struct ifm_error *error)
{
    *n = 0;
    if (s->formats.n > 0)
        return chosen_forms(s, out, n, error);
    for (size_t i = 0; i < IFM_DECODE_FORMS; i++) {
        const struct ifm_decode_form *form = &forms[i];
        const bool wanted = has_ratio(&s->compress, form->ratio), named = ifm_list_has(&s->format, form->name);
        if (named && !wanted) {
            (void)!ifm_fail(error, IFM_USAGE, "decode.format", NULL,
                            "decode.format %s stores at a compression of %u, which decode.compress leaves out",
                            form->name, form->ratio);
            ifm_error_hint(error, "add %u to decode.compress", form->ratio);
            return IFM_USAGE;
        }
        const bool usual = form->usual && (ifm_list_has(&s->format, "auto") || unnamed(&s->format, form->ratio));
        if (i == 0 || named || (wanted && usual))
            out[(*n)++] = form;
    }
    return IFM_OK;
}

double ifm_decode_outlier(const struct ifm_decode_settings *s)
{
    static const double factors[] = {12, 6, 1};
    return factors[s->outliers];
}

uint64_t ifm_decode_length(const struct ifm_decode_settings *s, uint64_t index)
{
    const uint64_t span = (uint64_t)((double)s->kv_len * s->ragged); /* at most kv_len */
    uint32_t word[4];
    ifm_philox(SEED_OF_LENGTHS, STREAM_LENGTH, index, word);
    const uint64_t shorter = (span + 1) * word[0] >> 32; /* kv_len fits 21 bits */
    return shorter < s->kv_len ? s->kv_len - shorter : 1;
}

uint64_t ifm_decode_kept(const struct ifm_decode_form *form, uint64_t length)
{
    return form->half ? (length + 1) / 2 : length;
}

uint64_t ifm_decode_steps(const struct ifm_decode_settings *s)
{
    return s->inference ? s->decode_tokens : 1;
}

uint64_t ifm_decode_first(const struct ifm_decode_settings *s, const struct ifm_decode_form *form, uint64_t length)
{
    const bool there = s->inference && s->append == IFM_DECODE_APPEND_NONE;
    return ifm_decode_kept(form, length) + (there ? s->decode_tokens / 2 : 0);
}

uint64_t ifm_decode_most(const struct ifm_decode_settings *s, const struct ifm_decode_form *form, uint64_t length)
{
    const bool grows = s->inference && s->append == IFM_DECODE_APPEND_COMPRESS;
    return ifm_decode_first(s, form, length) + (grows ? s->decode_tokens : 0);
}

struct ifm_kv_shape ifm_decode_cache_shape(const struct ifm_decode_settings *s, const struct ifm_decode_form *form,
                                           uint64_t pairs, const uint64_t *capacity, uint64_t seed)
{
    return (struct ifm_kv_shape){.format = form->format,
                                 .head_dim = (unsigned)s->head_dim,
                                 .pairs = pairs,
                                 .capacity = capacity,
                                 .sink = (unsigned)s->sink,
                                 .paged = s->layout == IFM_DECODE_PAGED,
                                 .seed = seed};
}

uint64_t ifm_decode_query_bytes(const struct ifm_decode_settings *s)
{
    return sizeof(float) * s->batch * s->q_heads * s->head_dim;
}

/* Bytes of a pair that attention reads, summed over steps: whole pages of codes, and of f16 what is filled. */
static uint64_t bytes_attended(const struct ifm_kv_layout *layout, uint64_t tokens, uint64_t pages)
{
    const uint64_t plain = 2 * sizeof(uint16_t) * layout->head_dim;
    if (layout->format == IFM_KV_F16)
        return tokens * plain;
    return pages * layout->page_bytes + (tokens - pages * IFM_KV_PAGE) * plain;
}

/* One pair's amounts, with the tokens that it holds at the start and in the end. */
static struct ifm_decode_amounts of_pair(const struct ifm_decode_settings *s, const struct ifm_decode_form *form,
                                         uint64_t length)
{
    const uint64_t first = ifm_decode_first(s, form, length), most = ifm_decode_most(s, form, length);
    const struct ifm_kv_shape shape = ifm_decode_cache_shape(s, form, 1, &most, 0);
    const struct ifm_kv_layout layout = ifm_kv_layout_of(form->format, shape.head_dim);
    const uint64_t plain = 2 * sizeof(uint16_t) * s->head_dim, pages = ifm_kv_body_pages(&shape, most);
    struct ifm_decode_amounts a = {.stored = ifm_kv_pool_bytes(&shape)};
    a.pool = a.stored;
    a.plain = plain * (length + most - ifm_decode_kept(form, length));
    for (uint64_t step = 0; step < ifm_decode_steps(s); step++) {
        const uint64_t tokens = first + (most > first ? step + 1 : 0);
        a.attended += tokens;
        a.pages += ifm_kv_body_pages(&shape, tokens);
    }
    a.read = bytes_attended(&layout, a.attended, a.pages);
    a.touched = bytes_attended(&layout, most, pages);
    a.appended = (most - first) * plain;
    if (form->format == IFM_KV_F16)
        return a;
    const uint64_t encoded = pages - ifm_kv_body_pages(&shape, first);
    a.pages += encoded;
    a.appended += encoded * layout.page_bytes;
    if (most > first) /* what ifm_kv_save keeps of the ring */
        a.pool += 2 * ifm_kv_layout_of(IFM_KV_F16, shape.head_dim).page_bytes;
    return a;
}

struct ifm_decode_amounts ifm_decode_amounts_of(const struct ifm_decode_settings *s, const struct ifm_decode_form *form)
{
    struct ifm_decode_amounts sum = {0}, pair = {0};
    uint64_t last = 0;
    for (uint64_t i = 0; i < s->batch; i++) {
        const uint64_t length = ifm_decode_length(s, i);
        if (length != last)
            pair = of_pair(s, form, length);
        last = length;
        sum.attended += pair.attended;
        sum.pages = ifm_data_add(sum.pages, ifm_data_mul(pair.pages, s->kv_heads));
        sum.read = ifm_data_add(sum.read, ifm_data_mul(pair.read, s->kv_heads));
        sum.appended = ifm_data_add(sum.appended, ifm_data_mul(pair.appended, s->kv_heads));
        sum.touched = ifm_data_add(sum.touched, ifm_data_mul(pair.touched, s->kv_heads));
        sum.stored = ifm_data_add(sum.stored, ifm_data_mul(pair.stored, s->kv_heads));
        sum.plain = ifm_data_add(sum.plain, ifm_data_mul(pair.plain, s->kv_heads));
        sum.pool = ifm_data_add(sum.pool, ifm_data_mul(pair.pool, s->kv_heads));
    }
    return sum;
}
