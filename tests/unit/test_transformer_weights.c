/* What tensors hold, and the shapes that their names and sizes give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "transformer/transformer.h"
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

struct tensors {
    struct ifm_weight items[MOST];
    uint64_t shapes[MOST][4];
    char names[MOST][96];
    size_t n;
};

/* Dimensions in the order of the file; 0 ends them. */
static void add(struct tensors *list, const char *prefix, const char *name, uint64_t a, uint64_t b)
{
    struct ifm_weight *weight = &list->items[list->n];
    assert_true(list->n < MOST);
    snprintf(list->names[list->n], sizeof list->names[0], "%s%s", prefix, name);
    list->shapes[list->n][0] = a;
    list->shapes[list->n][1] = b;
    *weight = (struct ifm_weight){list->names[list->n], list->shapes[list->n], b > 0 ? 2 : 1, b > 0 ? a * b : a, false};
    list->n++;
}

static struct ifm_transformer shape_of(const struct tensors *list)
{
    struct ifm_transformer shape;
    struct ifm_error error = {0};
    if (ifm_transformer_of_weights(list->items, list->n, "model", &shape, &error) != IFM_OK)
        fail_msg("%s", error.message);
    const struct ifm_weights sum = ifm_weights_count(list->items, list->n);
    assert_null(sum.packed);
    assert_true(ifm_transformer_parameters(&shape) == sum.parameters); /* nothing is left that no size explains */
    return shape;
}

static void refused(const struct tensors *list, const char *words)
{
    struct ifm_transformer shape;
    struct ifm_error error = {0};
    assert_int_equal(ifm_transformer_of_weights(list->items, list->n, "model", &shape, &error), IFM_USAGE);
    if (strstr(error.message, words) == NULL || strstr(error.hint, "config.json") == NULL)
        fail_msg("\"%s\" (%s), not \"%s\"", error.message, error.hint, words);
}

/* hidden 8, 2 layers, 4 heads of 2, one of keys, inner 16, 10 words. */
static void llama(struct tensors *list, const char *prefix, bool gated)
{
    list->n = 0;
    add(list, prefix, "embed_tokens.weight", 10, 8);
    add(list, "", "lm_head.weight", 10, 8);
    add(list, prefix, "norm.weight", 8, 0);
    for (unsigned i = 0; i < 2; i++) {
        char layer[64];
        snprintf(layer, sizeof layer, "%slayers.%u.", prefix, i);
        add(list, layer, "input_layernorm.weight", 8, 0);
        add(list, layer, "self_attn.q_proj.weight", 8, 8);
        add(list, layer, "self_attn.q_proj.bias", 8, 0);
        add(list, layer, "self_attn.k_proj.weight", 2, 8);
        add(list, layer, "self_attn.v_proj.weight", 2, 8);
        add(list, layer, "self_attn.o_proj.weight", 8, 8);
        if (gated)
            add(list, layer, "mlp.gate_proj.weight", 16, 8);
        add(list, layer, "mlp.up_proj.weight", 16, 8);
        add(list, layer, "mlp.down_proj.weight", 8, 16);
        add(list, layer, "self_attn.rotary_emb.inv_freq", 1, 0); /* no parameter */
    }
}

static void names_of_llama_give_its_shape(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct tensors list;
        llama(&list, i == 0 ? "model." : "", i == 0);
        const struct ifm_transformer shape = shape_of(&list);
        assert_string_equal(shape.family, "llama");
        assert_true(shape.layers == 2 && shape.hidden == 8 && shape.q_width == 8 && shape.kv_width == 2);
        assert_true(shape.inner == 16 && shape.matrices == (i == 0 ? 3 : 2) && shape.vocabulary == 10 && !shape.tied);
        assert_true(shape.vectors == 8 + 2 * (8 + 8) && shape.head == 80);
        list.names[1][0] = 'x'; /* no head of its own: the table of embeddings is it */
        list.items[1].elements = 0;
        assert_true(shape_of(&list).tied && shape_of(&list).head == 80);
    }
}

/* GPT-2 stores inputs first, queries, keys and values in one, and its file holds masks, which are no parameters: they
 * would be 10 % of the small one's. */
static void names_of_gpt2_give_its_shape(void **state)
{
    (void)state;
    struct tensors list = {.n = 0};
    add(&list, "", "wte.weight", 10, 8);
    add(&list, "", "wpe.weight", 32, 8);
    add(&list, "", "ln_f.weight", 8, 0);
    add(&list, "h.0.", "attn.c_attn.weight", 8, 24);
    add(&list, "h.0.", "attn.c_attn.bias", 24, 0);
    add(&list, "h.0.", "attn.c_proj.weight", 8, 8);
    add(&list, "h.0.", "mlp.c_fc.weight", 8, 32);
    add(&list, "h.0.", "mlp.c_proj.weight", 32, 8);
    add(&list, "h.0.", "attn.bias", 32, 32);
    list.items[list.n - 1].rank = 3;
    const struct ifm_transformer shape = shape_of(&list);
    assert_string_equal(shape.family, "gpt2");
    assert_true(shape.layers == 1 && shape.q_width == 8 && shape.kv_width == 8 && shape.inner == 32 && shape.tied);
    assert_true(shape.matrices == 2 && shape.vectors == 32 * 8 + 8 + 24);
}

static void names_of_bert_give_its_shape(void **state)
{
    (void)state;
    struct tensors list = {.n = 0};
    add(&list, "bert.", "embeddings.word_embeddings.weight", 10, 8);
    add(&list, "bert.", "embeddings.position_embeddings.weight", 32, 8);
    add(&list, "bert.", "embeddings.token_type_embeddings.weight", 2, 8);
    add(&list, "bert.", "embeddings.position_ids", 1, 32); /* no parameter */
    static const char *const of_attention[] = {"self.query", "self.key", "self.value", "output.dense"};
    for (size_t i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "attention.%s.weight", of_attention[i]);
        add(&list, "bert.encoder.layer.0.", name, 8, 8);
    }
    add(&list, "bert.encoder.layer.0.", "intermediate.dense.weight", 16, 8);
    add(&list, "bert.encoder.layer.0.", "output.dense.weight", 8, 16);
    add(&list, "bert.", "pooler.dense.weight", 8, 8);
    struct ifm_transformer shape = shape_of(&list);
    assert_true(shape.encoder && shape.pooler == 64 && shape.head == 0 && shape.vectors == 34 * 8);
    list.n--;
    add(&list, "", "cls.predictions.bias", 10, 0);
    add(&list, "", "cls.predictions.transform.dense.weight", 8, 8);
    shape = shape_of(&list);
    assert_true(shape.pooler == 0 && shape.head == 80 && shape.transform == 64);
}

static void what_tells_no_shape_is_refused(void **state)
{
    (void)state;
    struct tensors list;
    llama(&list, "language_model.", true);
    refused(&list, "not called as those of Llama");
    llama(&list, "model.", true);
    add(&list, "model.layers.0.", "mlp.experts.0.up_proj.weight", 4, 8);
    refused(&list, "how many experts");
    llama(&list, "model.", true);
    list.items[4].packed = true;
    refused(&list, "queries have no matrix");
    llama(&list, "model.", true);
    list.shapes[4][0] = 0;
    refused(&list, "queries have no matrix");
    llama(&list, "model.", true);
    list.shapes[6][1] = 9;
    refused(&list, "keys have no matrix");
    llama(&list, "model.", true);
    list.shapes[10][0] = UINT64_C(1) << 25;
    refused(&list, "feed-forward layers have no matrix");
    llama(&list, "model.", true);
    memcpy(list.names[2], list.names[0], sizeof list.names[0]);
    refused(&list, "one name");
    llama(&list, "model.", true);
    list.items[0].rank = 1;
    refused(&list, "no table");
    list.n = 0;
    refused(&list, "not called as those of Llama");
}

/* A quantizer packs eight weights of 4 bits into one integer: elements are an eighth of the parameters. */
static void packed_tensors_are_not_counted_as_parameters(void **state)
{
    (void)state;
    struct tensors list;
    llama(&list, "model.", true);
    list.items[4].packed = true;
    assert_string_equal(ifm_weights_count(list.items, list.n).packed, "model.layers.0.self_attn.q_proj.weight");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_llama_give_its_shape),
        cmocka_unit_test(names_of_gpt2_give_its_shape),
        cmocka_unit_test(names_of_bert_give_its_shape),
        cmocka_unit_test(what_tells_no_shape_is_refused),
        cmocka_unit_test(packed_tensors_are_not_counted_as_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
