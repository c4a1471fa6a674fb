/* GGUF headers: what is read, and what is refused with which words; the shape of a model that follows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tensor/gguf.h"
#include "transformer/transformer.h"
#include "unit/gguf_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void refused(const struct ifm_text *bytes, const char *words)
{
    struct ifm_gguf *file;
    struct ifm_error error = {0};
    assert_int_equal(ifm_gguf_parse(bytes->data, bytes->size, "a/model.gguf", &file, &error), IFM_USAGE);
    assert_null(file);
    assert_string_equal(error.where, "model.gguf");
    if (strstr(error.message, words) == NULL || error.hint[0] == '\0')
        fail_msg("\"%s\" (%s), not \"%s\"", error.message, error.hint, words);
}

static struct ifm_gguf *parsed(const struct ifm_text *bytes)
{
    struct ifm_gguf *file;
    struct ifm_error error = {0};
    if (ifm_gguf_parse(bytes->data, bytes->size, "model.gguf", &file, &error) != IFM_OK)
        fail_msg("%s", error.message);
    return file;
}

/* The shape of the file's model, and what its tensors hold. */
static enum ifm_status shape_of(const struct ifm_gguf *file, struct ifm_arena *arena, struct ifm_transformer *shape,
                                struct ifm_weights *sum, struct ifm_error *error)
{
    const size_t n = ifm_gguf_count(file);
    struct ifm_weight *weights = IFM_ARENA_ARRAY(arena, struct ifm_weight, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct ifm_gguf_tensor *at = ifm_gguf_at(file, i);
        weights[i] = (struct ifm_weight){at->name, at->shape, at->rank, at->elements, false};
    }
    *sum = ifm_weights_count(weights, n);
    return ifm_transformer_of_gguf(file, weights, n, arena, shape, error);
}

static void metadata_and_tensors_are_read(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_text bytes = {0};
    struct ifm_error error = {0};
    bool there;
    uint64_t number;
    gguf_small(&bytes, 1);
    struct ifm_gguf *file = parsed(&bytes);
    assert_int_equal(ifm_gguf_count(file), GGUF_SMALL_TENSORS);
    assert_string_equal(ifm_gguf_text(file, "general.name", arena), "small");
    assert_null(ifm_gguf_text(file, "llama.block_count", arena)); /* a number */
    assert_null(ifm_gguf_text(file, "nothing", arena));
    assert_int_equal(ifm_gguf_number(file, "llama.block_count", &there, &number, &error), IFM_OK);
    assert_true(there && number == 2);
    assert_int_equal(ifm_gguf_number(file, "llama.attention.head_count_kv", &there, &number, &error), IFM_OK);
    assert_true(there && number == 1);
    assert_int_equal(ifm_gguf_number(file, "nothing", &there, &number, &error), IFM_OK);
    assert_false(there);
    assert_int_equal(ifm_gguf_number(file, "llama.rope.freq_base", &there, &number, &error), IFM_USAGE);
    assert_non_null(strstr(error.message, "no integer of at least 0"));
    assert_int_equal(ifm_gguf_number(file, "tokenizer.ggml.tokens", &there, &number, &error), IFM_USAGE);
    const struct ifm_gguf_tensor *down = ifm_gguf_find(file, "blk.1.ffn_down.weight");
    assert_non_null(down);
    assert_true(down->rank == 2 && down->shape[0] == 16 && down->shape[1] == 8 && down->elements == 128);
    assert_null(ifm_gguf_find(file, "blk.2.ffn_down.weight"));
    ifm_gguf_close(file);
    ifm_text_free(&bytes);
    ifm_arena_destroy(arena);
}

/* Of a file on a disk the same; its folder is nobody's business. */
static void a_file_is_mapped(void **state)
{
    (void)state;
    char path[] = "/tmp/ifm_gguf_XXXXXX";
    struct ifm_text bytes = {0};
    struct ifm_gguf *file;
    struct ifm_error error = {0};
    gguf_small(&bytes, 1);
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, bytes.data, bytes.size) == (ssize_t)bytes.size);
    assert_int_equal(ifm_gguf_open(path, &file, &error), IFM_OK);
    assert_string_equal(ifm_gguf_name(file), path + 5);
    ifm_gguf_close(file);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(ifm_gguf_open(path, &file, &error), IFM_USAGE);
    assert_non_null(strstr(error.message, "not a GGUF file"));
    close(fd);
    unlink(path);
    assert_int_equal(ifm_gguf_open(path, &file, &error), IFM_USAGE);
    assert_string_equal(error.where, path + 5);
    ifm_text_free(&bytes);
}

static void a_file_that_was_cut_is_refused_at_every_byte(void **state)
{
    (void)state;
    struct ifm_text bytes = {0};
    gguf_small(&bytes, 1);
    for (size_t size = 0; size < bytes.size; size++) {
        struct ifm_gguf *file;
        struct ifm_error error = {0};
        char *copy = malloc(size + 1); /* so that a sanitizer sees one byte too many */
        assert_non_null(copy);
        memcpy(copy, bytes.data, size);
        assert_int_equal(ifm_gguf_parse(copy, size, "model.gguf", &file, &error), IFM_USAGE);
        assert_true(error.message[0] != '\0' && error.hint[0] != '\0');
        free(copy);
    }
    ifm_text_free(&bytes);
}

static void lengths_that_no_file_has_are_refused(void **state)
{
    (void)state;
    struct ifm_text bytes = {0};
    ifm_text_add(&bytes, "GGJT and more");
    refused(&bytes, "does not begin with \"GGUF\"");
    ifm_text_clear(&bytes);
    ifm_text_add(&bytes, "GGUF");
    gguf_number(&bytes, 1, 4);
    refused(&bytes, "version 1 of GGUF; 2 and 3");
    ifm_text_clear(&bytes);
    ifm_text_add(&bytes, "GGUF");
    gguf_number(&bytes, 3U << 24, 4);
    refused(&bytes, "byte order of another machine");
    static const uint64_t counts[][2] = {{UINT64_MAX, 0}, {0, UINT64_MAX}, {1U << 17, 0}, {0, 3}, {1, 0}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        ifm_text_clear(&bytes);
        gguf_begin(&bytes, counts[i][0], counts[i][1]);
        refused(&bytes, "cannot hold");
    }
    ifm_text_clear(&bytes);
    gguf_begin(&bytes, 0, 1);
    gguf_number(&bytes, UINT64_MAX, 8); /* the length of a key */
    gguf_number(&bytes, 0, 8);
    refused(&bytes, "a key of the metadata has 18446744073709551615 bytes");
    ifm_text_clear(&bytes);
    gguf_begin(&bytes, 0, 1);
    gguf_text(&bytes, "list");
    gguf_number(&bytes, GGUF_LIST, 4);
    gguf_number(&bytes, GGUF_U64, 4);
    gguf_number(&bytes, UINT64_MAX / 8 + 2, 8); /* times 8 it would be 8 */
    gguf_number(&bytes, 1, 8);
    refused(&bytes, "ends inside its header");
    ifm_text_clear(&bytes);
    gguf_begin(&bytes, 0, 1);
    gguf_text(&bytes, "value");
    gguf_number(&bytes, 13, 4);
    gguf_number(&bytes, 1, 8);
    refused(&bytes, "value of type 13");
    ifm_text_free(&bytes);
}

static void lists_end_somewhere(void **state)
{
    (void)state;
    struct ifm_text bytes = {0};
    gguf_begin(&bytes, 0, 1);
    gguf_text(&bytes, "lists");
    gguf_number(&bytes, GGUF_LIST, 4);
    for (unsigned i = 0; i < 5; i++) {
        gguf_number(&bytes, GGUF_LIST, 4);
        gguf_number(&bytes, 1, 8);
    }
    refused(&bytes, "more than 4 deep");
    ifm_text_free(&bytes);
}

static void names_and_shapes_are_checked(void **state)
{
    (void)state;
    struct ifm_text bytes = {0};
    gguf_begin(&bytes, 0, 2);
    gguf_u32(&bytes, "a", 1);
    gguf_u32(&bytes, "a", 1);
    refused(&bytes, "key \"a\" twice");
    ifm_text_clear(&bytes);
    gguf_begin(&bytes, 2, 0);
    gguf_tensor(&bytes, "t", 1, 0, 0);
    gguf_tensor(&bytes, "t", 1, 0, 0);
    refused(&bytes, "two tensors are called \"t\"");
    ifm_text_clear(&bytes);
    gguf_begin(&bytes, 1, 0);
    gguf_tensor(&bytes, "t", UINT64_MAX, 3, 0);
    refused(&bytes, "more than 2^63 elements");
    ifm_text_clear(&bytes);
    gguf_begin(&bytes, 1, 0);
    gguf_text(&bytes, "t");
    gguf_number(&bytes, 5, 4);
    gguf_number(&bytes, 1, 8);
    gguf_number(&bytes, 1, 8);
    gguf_number(&bytes, 1, 8);
    refused(&bytes, "has 5 dimensions");
    ifm_text_free(&bytes);
}

/* ---- the shape of the model ---- */

/* By hand: matrices of a layer 160 + 384, norms 16; two layers, two tables of 80, and the last norm. */
static void a_shape_explains_every_parameter(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    static const struct {
        uint32_t type;
        const char *quantized;
    } types[] = {{0, NULL},    {1, NULL},  {30, NULL},    {2, "Q4_0"},
                 {12, "Q4_K"}, {24, "I8"}, {39, "MXFP4"}, {99, "type 99"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct ifm_text bytes = {0};
        struct ifm_transformer shape;
        struct ifm_weights sum;
        struct ifm_error error = {0};
        gguf_small(&bytes, types[i].type);
        struct ifm_gguf *file = parsed(&bytes);
        if (shape_of(file, arena, &shape, &sum, &error) != IFM_OK)
            fail_msg("%s", error.message);
        assert_true(sum.parameters == 2 * (160 + 384 + 16) + 2 * 80 + 8);
        assert_true(sum.vectors == 5 * 8 && ifm_transformer_parameters(&shape) == sum.parameters);
        assert_true(shape.q_width == 8 && shape.kv_width == 2 && shape.matrices == 3 && !shape.tied);
        if (types[i].quantized == NULL)
            assert_null(shape.quantized);
        else
            assert_string_equal(shape.quantized, types[i].quantized);
        ifm_gguf_close(file);
        ifm_text_free(&bytes);
    }
    ifm_arena_destroy(arena);
}

/* A header of such metadata: text, then numbers; a table of embeddings; experts of a layer where they are asked for. */
static void shape_refused(const char *family, const char *key, uint32_t value, const char *words)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_text bytes = {0};
    struct ifm_transformer shape;
    struct ifm_weights sum;
    struct ifm_error error = {0};
    static const struct {
        const char *key;
        uint32_t value;
    } rows[] = {{"block_count", 2},          {"embedding_length", 8},     {"feed_forward_length", 16},
                {"attention.head_count", 4}, {"attention.key_length", 2}, {"attention.value_length", 2},
                {"expert_count", 0},         {"expert_used_count", 0},    {"attention.head_count_kv", 1}};
    enum { ROWS = sizeof rows / sizeof *rows };
    gguf_begin(&bytes, 1, ROWS + 2);
    gguf_word(&bytes, "general.architecture", family);
    for (size_t i = 0; i < ROWS; i++)
        gguf_u32(&bytes, ifm_arena_printf(arena, "%s.%s", family, rows[i].key),
                 strcmp(rows[i].key, key) == 0 ? value : rows[i].value);
    gguf_u32(&bytes, "split.count", strcmp(key, "split.count") == 0 ? value : 1);
    gguf_tensor(&bytes, "token_embd.weight", 8, strcmp(key, "vocabulary") == 0 ? value : 10, 0);
    struct ifm_gguf *file = parsed(&bytes);
    const enum ifm_status status = shape_of(file, arena, &shape, &sum, &error);
    if (words == NULL ? status != IFM_OK : status != IFM_USAGE || strstr(error.message, words) == NULL)
        fail_msg("%s %s=%u: \"%s\", not \"%s\"", family, key, value, error.message, words == NULL ? "" : words);
    assert_true(words == NULL || error.hint[0] != '\0');
    ifm_gguf_close(file);
    ifm_text_free(&bytes);
    ifm_arena_destroy(arena);
}

static void what_is_no_shape_is_refused(void **state)
{
    (void)state;
    shape_refused("llama", "", 0, NULL);
    shape_refused("mamba", "", 0, "\"mamba\" are not known; known: llama");
    shape_refused("llama", "block_count", 0, "no \"llama.block_count\"");
    shape_refused("llama", "embedding_length", 1U << 25, "above 16777216");
    shape_refused("llama", "feed_forward_length", 0, "no \"llama.feed_forward_length\"");
    shape_refused("llama", "attention.head_count", 0, "no \"llama.attention.head_count\"");
    shape_refused("llama", "attention.head_count_kv", 0, "heads of keys");
    shape_refused("llama", "attention.value_length", 3, "keys have the size 2 and those of values 3");
    shape_refused("llama", "expert_count", 4, "no \"llama.expert_used_count\"");
    shape_refused("llama", "embedding_length", 16, "no \"token_embd.weight\", a table of rows of 16");
    shape_refused("llama", "vocabulary", 1U << 25, "no \"token_embd.weight\"");
    shape_refused("llama", "split.count", 3, "one of 3 that hold the model together");
}

/* Mixtral's header calls itself llama. */
static void experts_are_those_of_the_header(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_text bytes = {0};
    struct ifm_transformer shape;
    struct ifm_weights sum;
    struct ifm_error error = {0};
    gguf_begin(&bytes, 1, 7);
    gguf_word(&bytes, "general.architecture", "llama");
    gguf_u32(&bytes, "llama.block_count", 2);
    gguf_u32(&bytes, "llama.embedding_length", 8);
    gguf_u32(&bytes, "llama.feed_forward_length", 16);
    gguf_u32(&bytes, "llama.attention.head_count", 4);
    gguf_u32(&bytes, "llama.expert_count", 8);
    gguf_u32(&bytes, "llama.expert_used_count", 2);
    gguf_tensor(&bytes, "token_embd.weight", 8, 10, 0);
    struct ifm_gguf *file = parsed(&bytes);
    assert_int_equal(shape_of(file, arena, &shape, &sum, &error), IFM_OK);
    const struct ifm_flops_tokens tokens = {1, 1, 1};
    const struct ifm_flops flops = ifm_flops_prompt(&shape, &tokens);
    assert_true(flops.parts[IFM_FLOPS_FORWARD] == 2 * 2 * (2.0 * 3 * 8 * 16 + 8 * 8)); /* 2 of 8, and the router */
    assert_true(shape.kv_width == shape.q_width && shape.tied && shape.head == 80);
    ifm_gguf_close(file);
    ifm_text_free(&bytes);
    ifm_arena_destroy(arena);
}

/* A header of `family` with experts of their own size, a shared one and a window, each 0 = without. */
static struct ifm_transformer headed(const char *family, uint32_t experts, uint32_t shared, uint32_t window,
                                     struct ifm_arena *arena)
{
    struct ifm_text bytes = {0};
    struct ifm_transformer shape;
    struct ifm_weights sum;
    struct ifm_error error = {0};
    const struct {
        const char *key;
        uint32_t value;
    } rows[] = {{"block_count", 2},
                {"embedding_length", 8},
                {"feed_forward_length", 16},
                {"attention.head_count", 4},
                {"expert_count", experts},
                {"expert_used_count", 2},
                {"expert_feed_forward_length", 5},
                {"expert_shared_feed_forward_length", shared},
                {"attention.sliding_window", window}};
    enum { ROWS = sizeof rows / sizeof *rows };
    gguf_begin(&bytes, 1, ROWS + 1);
    gguf_word(&bytes, "general.architecture", family);
    for (size_t i = 0; i < ROWS; i++)
        gguf_u32(&bytes, ifm_arena_printf(arena, "%s.%s", family, rows[i].key), rows[i].value);
    gguf_tensor(&bytes, "token_embd.weight", 8, 10, 0);
    struct ifm_gguf *file = parsed(&bytes);
    assert_int_equal(shape_of(file, arena, &shape, &sum, &error), IFM_OK);
    assert_string_equal(shape.family, family);
    ifm_gguf_close(file);
    ifm_text_free(&bytes);
    return shape;
}

static void each_family_has_its_matrices(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    static const char *const gated[] = {"llama", "qwen2", "qwen3", "qwen2moe", "qwen3moe"};
    const struct ifm_flops_tokens tokens = {3, 1, 1};
    for (size_t i = 0; i < sizeof gated / sizeof *gated; i++) {
        struct ifm_transformer shape = headed(gated[i], 0, 0, 0, arena);
        struct ifm_flops flops = ifm_flops_prompt(&shape, &tokens);
        assert_true(flops.parts[IFM_FLOPS_FORWARD] == 3 * 2 * 2 * 3.0 * 8 * 16 && !shape.encoder && shape.head == 80);
        assert_true(flops.parts[IFM_FLOPS_SCORES] == 2 * 4 * 8 * (1 + 2 + 3));
        shape = headed(gated[i], 6, 7, 2, arena);
        flops = ifm_flops_prompt(&shape, &tokens);
        assert_true(flops.parts[IFM_FLOPS_FORWARD] == 3 * 2 * 2 * (3.0 * 8 * (2 * 5 + 7) + 8 * 6 + 8));
        assert_true(flops.parts[IFM_FLOPS_SCORES] == 2 * 4 * 8 * (1 + 2 + 2));
        shape = headed(gated[i], 6, 0, 0, arena);
        flops = ifm_flops_prompt(&shape, &tokens);
        assert_true(flops.parts[IFM_FLOPS_FORWARD] == 3 * 2 * 2 * (3.0 * 8 * 2 * 5 + 8 * 6));
    }
    const struct ifm_transformer gpt = headed("gpt2", 0, 0, 0, arena), bert = headed("bert", 0, 0, 0, arena);
    assert_true(gpt.matrices == 2 && !gpt.encoder && gpt.head == 80);
    assert_true(bert.matrices == 2 && bert.encoder && bert.head == 0);
    ifm_arena_destroy(arena);
}

/* Of each type its smallest and largest: negative ones, fractions and truths are no sizes. */
static void numbers_of_every_type_are_read(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        unsigned bytes;
        uint64_t number;
        bool good;
    } rows[] = {
        {0, 1, 255, true},         {1, 1, 127, true},          {1, 1, 128, false},       {2, 2, 65535, true},
        {3, 2, 32767, true},       {3, 2, 32768, false},       {4, 4, UINT32_MAX, true}, {5, 4, INT32_MAX, true},
        {5, 4, UINT32_MAX, false}, {6, 4, 0x3f800000, false},  {7, 1, 1, false},         {10, 8, UINT64_MAX, true},
        {11, 8, INT64_MAX, true},  {11, 8, UINT64_MAX, false}, {12, 8, 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int list = 0; list < 2; list++) {
            struct ifm_text bytes = {0};
            struct ifm_error error = {0};
            bool there;
            uint64_t number;
            gguf_begin(&bytes, 0, 1);
            gguf_text(&bytes, "n");
            if (list == 1)
                gguf_number(&bytes, GGUF_LIST, 4);
            gguf_number(&bytes, rows[i].type, 4);
            if (list == 1)
                gguf_number(&bytes, 2, 8);
            for (int k = 0; k <= list; k++)
                gguf_number(&bytes, rows[i].number, rows[i].bytes);
            struct ifm_gguf *file = parsed(&bytes);
            const enum ifm_status status = ifm_gguf_number(file, "n", &there, &number, &error);
            if (status != (rows[i].good ? IFM_OK : IFM_USAGE) || (rows[i].good && number != rows[i].number))
                fail_msg("type %u, %d: %s", rows[i].type, list, error.message);
            ifm_gguf_close(file);
            ifm_text_free(&bytes);
        }
}

static void layers_that_differ_have_no_one_size(void **state)
{
    (void)state;
    struct ifm_text bytes = {0};
    struct ifm_error error = {0};
    bool there;
    uint64_t number;
    gguf_begin(&bytes, 0, 1);
    gguf_text(&bytes, "heads");
    gguf_number(&bytes, GGUF_LIST, 4);
    gguf_number(&bytes, GGUF_U32, 4);
    gguf_number(&bytes, 2, 8);
    gguf_number(&bytes, 8, 4);
    gguf_number(&bytes, 4, 4);
    struct ifm_gguf *file = parsed(&bytes);
    assert_int_equal(ifm_gguf_number(file, "heads", &there, &number, &error), IFM_USAGE);
    assert_non_null(strstr(error.message, "differs from layer to layer"));
    ifm_gguf_close(file);
    ifm_text_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_and_tensors_are_read),
        cmocka_unit_test(a_file_is_mapped),
        cmocka_unit_test(a_file_that_was_cut_is_refused_at_every_byte),
        cmocka_unit_test(lengths_that_no_file_has_are_refused),
        cmocka_unit_test(lists_end_somewhere),
        cmocka_unit_test(names_and_shapes_are_checked),
        cmocka_unit_test(a_shape_explains_every_parameter),
        cmocka_unit_test(what_is_no_shape_is_refused),
        cmocka_unit_test(experts_are_those_of_the_header),
        cmocka_unit_test(each_family_has_its_matrices),
        cmocka_unit_test(numbers_of_every_type_are_read),
        cmocka_unit_test(layers_that_differ_have_no_one_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
