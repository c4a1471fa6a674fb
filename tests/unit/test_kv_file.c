/* Keys and values from a file: shapes, names and types that are taken, rows at their place, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/half.h"
#include "base/hash.h"
#include "base/private.h"
#include "base/text.h"
#include "unit/facts.h"
#include "unit/tensor_file.h"
#include "workload/data/kv_file.h"
#include <math.h>

enum { B = 2, KVH = 3, H = 6, S = 5, D = 4, MOST = 8 };

struct part {
    const char *name, *dtype, *shape; /* "[2,3,5,4]" */
    size_t elements, each;
    float base; /* element i is base + i / 8, or what `bytes` has */
    const void *bytes;
};

/* Exact in every type that is used: i / 8 below 64 with 9 bits. */
static void put(const struct part *part, size_t i, unsigned char *to)
{
    const float x = part->base + (float)i / 8;
    const double wide = (double)x;
    const uint16_t half = ifm_f32_to_f16(x), brain = ifm_f32_to_bf16(x);
    if (strcmp(part->dtype, "F16") == 0)
        memcpy(to, &half, sizeof half);
    else if (strcmp(part->dtype, "BF16") == 0)
        memcpy(to, &brain, sizeof brain);
    else if (strcmp(part->dtype, "F64") == 0)
        memcpy(to, &wide, sizeof wide);
    else if (strcmp(part->dtype, "F32") == 0)
        memcpy(to, &x, sizeof x);
    else
        memset(to, 0, part->each);
}

static void write_parts(char path[64], const struct part *parts, size_t n)
{
    struct ifm_text header = {0}, data = {0};
    for (size_t p = 0; p < n; p++) {
        const size_t begin = data.size;
        for (size_t i = 0; i < parts[p].elements; i++) {
            unsigned char element[8];
            put(&parts[p], i, element);
            if (parts[p].bytes != NULL)
                memcpy(element, (const unsigned char *)parts[p].bytes + i * parts[p].each, parts[p].each);
            ifm_text_append(&data, (const char *)element, parts[p].each);
        }
        ifm_text_printf(&header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                        p > 0 ? "," : "{", parts[p].name, parts[p].dtype, parts[p].shape, begin, data.size);
    }
    ifm_text_add(&header, "}");
    size_t size;
    unsigned char *bytes = tensor_bytes(header.data, data.data, data.size, &size);
    tensor_write(path, bytes, size);
    free(bytes);
    ifm_text_free(&header);
    ifm_text_free(&data);
}

static struct ifm_kv_file *open_parts(const struct part *parts, size_t n)
{
    char path[64];
    struct ifm_kv_file *file;
    struct ifm_error error = {0};
    write_parts(path, parts, n);
    const enum ifm_status status = ifm_kv_file_open(path, &file, &error);
    unlink(path);
    if (status != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    return file;
}

static void rows_stand_at_their_place(void **state)
{
    (void)state;
    const struct part parts[] = {
        {"keys", "F32", "[2,3,5,4]", B * KVH * S * D, 4, 1, NULL},
        {"v", "F64", "[2,3,5,4]", B * KVH * S * D, 8, -100, NULL},
        {"queries", "F16", "[2,6,5,4]", B * H * S * D, 2, 0.5f, NULL},
        {"other", "I32", "[1]", 1, 4, 0, NULL},
    };
    struct ifm_kv_file *file = open_parts(parts, 4);
    const struct ifm_kv_file_shape shape = ifm_kv_file_shape(file);
    assert_int_equal(shape.sequences, B);
    assert_int_equal(shape.kv_heads, KVH);
    assert_int_equal(shape.tokens, S);
    assert_int_equal(shape.head_dim, D);
    assert_int_equal(shape.query_heads, H);
    assert_int_equal(shape.query_tokens, S);
    for (uint64_t b = 0; b < B; b++)
        for (uint64_t h = 0; h < KVH; h++)
            for (uint64_t first = 0; first < S; first++) {
                const uint64_t n = S - first;
                float k[S * D + 1], v[S * D + 1];
                memset(k, 0xff, sizeof k);
                memset(v, 0xff, sizeof v);
                assert_int_equal(ifm_kv_file_rows(file, b, h, first, n, k, v, NULL), IFM_OK);
                for (uint64_t i = 0; i < n * D; i++) {
                    const float at = (float)(((b * KVH + h) * S + first) * D + i) / 8;
                    assert_true(k[i] == 1 + at && v[i] == -100 + at);
                }
                assert_true(isnan(k[n * D]) && isnan(v[n * D]));
            }
    float q[2 * D], none[1] = {NAN};
    assert_int_equal(ifm_kv_file_queries(file, 1, 4, 3, 2, q, NULL), IFM_OK);
    for (uint64_t i = 0; i < 2 * D; i++)
        assert_true(q[i] == 0.5f + (float)(((1 * H + 4) * S + 3) * D + i) / 8);
    assert_int_equal(ifm_kv_file_rows(file, 0, 0, 0, 0, none, NULL, NULL), IFM_OK);
    assert_true(isnan(none[0]));
    ifm_kv_file_close(file);
}

static void a_file_of_one_sequence_serves_all(void **state)
{
    (void)state;
    const struct part parts[] = {
        {"k", "BF16", "[3,5,4]", KVH * S * D, 2, 0, NULL},
        {"values", "F16", "[3,5,4]", KVH * S * D, 2, 2, NULL},
        {"q", "F32", "[6,4]", H * D, 4, 3, NULL},
    };
    struct ifm_kv_file *file = open_parts(parts, 3);
    const struct ifm_kv_file_shape shape = ifm_kv_file_shape(file);
    assert_int_equal(shape.sequences, 0);
    assert_int_equal(shape.query_heads, H);
    assert_int_equal(shape.query_tokens, 1);
    float k[D], v[D], q[D];
    for (uint64_t sequence = 0; sequence < 100; sequence += 33) {
        assert_int_equal(ifm_kv_file_rows(file, sequence, 2, 4, 1, k, v, NULL), IFM_OK);
        assert_int_equal(ifm_kv_file_queries(file, sequence, 5, 0, 1, q, NULL), IFM_OK);
        for (unsigned i = 0; i < D; i++) {
            const float at = (float)((2 * S + 4) * D + i) / 8;
            assert_true(k[i] == at && v[i] == 2 + at && q[i] == 3 + (float)(5 * D + i) / 8);
        }
    }
    /* As many sequences as one likes, but not more tokens. */
    assert_int_equal(ifm_kv_file_require(file, &(struct ifm_kv_file_shape){.sequences = 1000}, NULL), IFM_OK);
    assert_int_equal(ifm_kv_file_require(file, &(struct ifm_kv_file_shape){.tokens = S + 1}, NULL), IFM_USAGE);
    ifm_kv_file_close(file);
}

static void what_is_asked_for_must_be_there(void **state)
{
    (void)state;
    const struct part parts[] = {
        {"k", "F16", "[2,3,5,4]", B * KVH * S * D, 2, 0, NULL},
        {"v", "F16", "[2,3,5,4]", B * KVH * S * D, 2, 0, NULL},
        {"q", "F16", "[2,6,4]", B * H * D, 2, 0, NULL},
    };
    static const struct {
        struct ifm_kv_file_shape asked;
        const char *facts, *hint;
    } cases[] = {
        {{0}, NULL, NULL},
        {{B, KVH, S, D, H, 1}, NULL, NULL},
        {{1, 0, 1, 0, 0, 0}, NULL, NULL},
        {{3, KVH, S, D, H, 1}, "3 sequences|\"k\", F16 [2, 3, 5, 4]|has 2", "at most 2"},
        {{B, 2, S, D, H, 1}, "2 KV heads|\"k\", F16 [2, 3, 5, 4]|has 3", "ask for 3"},
        {{B, KVH, 6, D, H, 1}, "6 tokens|\"k\", F16 [2, 3, 5, 4]|has 5", "at most 5"},
        {{B, KVH, S, 2, H, 1}, "2 channels|\"k\", F16 [2, 3, 5, 4]|has 4", "ask for 4"},
        {{B, KVH, S, D, 3, 1}, "3 query heads|\"q\", F16 [2, 6, 4]|has 6", "ask for 6"},
        {{B, KVH, S, D, H, 2}, "2 tokens|queries|\"q\", F16 [2, 6, 4]|has 1", "at most 1"},
    };
    struct ifm_kv_file *file = open_parts(parts, 3), *without = open_parts(parts, 2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ifm_error error = {0};
        const enum ifm_status status = ifm_kv_file_require(file, &cases[i].asked, &error);
        assert_int_equal(status, cases[i].facts == NULL ? IFM_OK : IFM_USAGE);
        if (cases[i].facts == NULL)
            continue;
        if (!facts_stand(error.message, cases[i].facts, NULL) || !facts_stand(error.hint, cases[i].hint, NULL))
            fail_msg("\"%s\" (%s) does not say \"%s\"", error.message, error.hint, cases[i].facts);
        assert_non_null(strstr(error.where, "ifm_tensor_"));
    }
    assert_int_equal(ifm_kv_file_shape(without).query_heads, 0);
    assert_int_equal(ifm_kv_file_require(without, &(struct ifm_kv_file_shape){.query_heads = 64}, NULL), IFM_OK);
    ifm_kv_file_close(file);
    ifm_kv_file_close(without);
}

/* Files that are refused, and what the message names. */
static const struct {
    struct part parts[MOST];
    const char *facts;
} refused[] = {
    {{{"a", "F16", "[1]", 1, 2, 0, NULL}, {"b", "F16", "[1]", 1, 2, 0, NULL}}, "\"k\"|\"keys\"|: a, b)"},
    {{{"k", "F16", "[1,1,1]", 1, 2, 0, NULL}}, "\"v\"|\"values\"|: k)"},
    {{{"a", "U8", "[1]", 1, 1, 0, NULL},
      {"b", "U8", "[1]", 1, 1, 0, NULL},
      {"c", "U8", "[1]", 1, 1, 0, NULL},
      {"d", "U8", "[1]", 1, 1, 0, NULL},
      {"e", "U8", "[1]", 1, 1, 0, NULL},
      {"f", "U8", "[1]", 1, 1, 0, NULL},
      {"g", "U8", "[1]", 1, 1, 0, NULL}},
     ": a, b, c, d, e|2 more"},
    {{{"k", "F16", "[1,1,1]", 1, 2, 0, NULL}, {"keys", "F16", "[1,1,1]", 1, 2, 0, NULL}}, "two|\"k\"|\"keys\""},
    {{{"k", "I8", "[1,1,1]", 1, 1, 0, NULL}, {"v", "F16", "[1,1,1]", 1, 2, 0, NULL}}, "\"k\"|I8|floating-point"},
    {{{"k", "F16", "[2,2]", 4, 2, 0, NULL}, {"v", "F16", "[2,2]", 4, 2, 0, NULL}}, "\"k\"|F16 [2, 2]|[kv_"},
    {{{"k", "F16", "[1,1,1,2,2]", 4, 2, 0, NULL}, {"v", "F16", "[1,1,1,2,2]", 4, 2, 0, NULL}},
     "\"k\"|[1, 1, 1, 2, 2]|[kv_"},
    {{{"k", "F16", "[1,3,2]", 6, 2, 0, NULL}, {"v", "F32", "[1,2,3]", 6, 4, 0, NULL}},
     "\"k\" is F16 [1, 3, 2]|\"v\" is F32 [1, 2, 3]|shapes"},
    {{{"k", "F16", "[1,1,3,2]", 6, 2, 0, NULL}, {"v", "F16", "[1,3,2]", 6, 2, 0, NULL}},
     "\"k\" is F16 [1, 1, 3, 2]|\"v\" is F16 [1, 3, 2]|shapes"},
    {{{"k", "F16", "[1,0,2]", 0, 2, 0, NULL}, {"v", "F16", "[1,0,2]", 0, 2, 0, NULL}}, "[1, 0, 2]|nothing"},
    {{{"k", "F16", "[1,3,2]", 6, 2, 0, NULL},
      {"v", "F16", "[1,3,2]", 6, 2, 0, NULL},
      {"q", "F16", "[2]", 2, 2, 0, NULL}},
     "\"q\" is F16 [2]|\"k\", F16 [1, 3, 2]"},
    {{{"k", "F16", "[1,3,2]", 6, 2, 0, NULL},
      {"v", "F16", "[1,3,2]", 6, 2, 0, NULL},
      {"q", "F16", "[2,3]", 6, 2, 0, NULL}},
     "\"q\" is F16 [2, 3]|\"k\", F16 [1, 3, 2]|sequences|head_dim"},
    {{{"k", "F16", "[1,1,3,2]", 6, 2, 0, NULL},
      {"v", "F16", "[1,1,3,2]", 6, 2, 0, NULL},
      {"q", "F16", "[2,1,2]", 4, 2, 0, NULL}},
     "\"q\" is F16 [2, 1, 2]|\"k\", F16 [1, 1, 3, 2]|sequences|head_dim"},
    {{{"k", "F16", "[2,3,2]", 12, 2, 0, NULL},
      {"v", "F16", "[2,3,2]", 12, 2, 0, NULL},
      {"q", "F16", "[3,2]", 6, 2, 0, NULL}},
     "\"q\" has 3 heads|2 KV heads|\"k\""},
    {{{"k", "F16", "[1,3,2]", 6, 2, 0, NULL},
      {"v", "F16", "[1,3,2]", 6, 2, 0, NULL},
      {"q", "F16", "[0,2]", 0, 2, 0, NULL}},
     "\"q\" is F16 [0, 2]|\"k\", F16 [1, 3, 2]"},
};

static void other_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        size_t n = 0;
        while (n < MOST && refused[i].parts[n].name != NULL)
            n++;
        char path[64];
        struct ifm_kv_file *file = (void *)&file;
        struct ifm_error error = {0};
        write_parts(path, refused[i].parts, n);
        const enum ifm_status status = ifm_kv_file_open(path, &file, &error);
        unlink(path);
        assert_int_equal(status, IFM_USAGE);
        assert_null(file);
        assert_true(error.hint[0] != '\0');
        assert_string_equal(error.where, strrchr(path, '/') + 1);
        assert_facts(error.message, refused[i].facts);
    }
}

static void values_are_rounded_to_f16_or_refused(void **state)
{
    (void)state;
    /* 1 + 2^-11 is a tie: to even. 65519.99 still rounds to 65504. */
    const float k[] = {1 + 0x1p-11f, 1 + 0x1.8p-10f, -65519.9921875f, 0x1p-25f, 0.1f, 3};
    const float v[] = {1, 2, 3, 4, 65520, NAN};
    const float rounded[] = {1, 1 + 0x1p-9f, -65504, 0, 0x1.998p-4f, 3};
    const struct part parts[] = {{"k", "F32", "[1,3,2]", 6, 4, 0, k}, {"v", "F32", "[1,3,2]", 6, 4, 0, v}};
    struct ifm_kv_file *file = open_parts(parts, 2);
    struct ifm_error error = {0};
    float out[6];
    assert_int_equal(ifm_kv_file_rows(file, 0, 0, 0, 3, out, NULL, &error), IFM_OK);
    for (unsigned i = 0; i < 6; i++)
        assert_true(out[i] == rounded[i]);
    assert_int_equal(ifm_kv_file_rows(file, 0, 0, 0, 2, NULL, out, &error), IFM_OK);
    assert_int_equal(ifm_kv_file_rows(file, 7, 0, 1, 2, NULL, out, &error), IFM_USAGE);
    assert_non_null(strstr(error.message, "tensor \"v\" holds 65520 (sequence 0, head 0, token 2, channel 0)"));
    ifm_kv_file_close(file);
}

/* A path may come as the token that a lock file has; its text is never in a message. */
static void a_private_path_is_known_by_its_token(void **state)
{
    (void)state;
    const struct part parts[] = {{"k", "F16", "[1,3,2]", 6, 2, 0, NULL}, {"v", "F16", "[1,3,2]", 6, 2, 0, NULL}};
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_kv_file *file;
    struct ifm_error error = {0};
    char path[64];
    write_parts(path, parts, 2);
    assert_int_equal(ifm_kv_file_open(ifm_private_keep(path, arena), &file, &error), IFM_OK);
    unlink(path);
    assert_string_equal(ifm_kv_file_name(file), strrchr(path, '/') + 1);
    ifm_kv_file_close(file);
    assert_int_equal(ifm_kv_file_open(path, &file, &error), IFM_USAGE);
    assert_null(strstr(error.where, "/tmp"));
    assert_null(strstr(error.message, "/tmp"));
    const char *unknown = ifm_arena_printf(arena, "sha256:%s", ifm_sha256_bytes("x", 1).hex);
    assert_int_equal(ifm_kv_file_open(unknown, &file, &error), IFM_USAGE);
    assert_facts(error.message, "not known");
    ifm_arena_destroy(arena);
    ifm_kv_file_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_stand_at_their_place),
        cmocka_unit_test(a_file_of_one_sequence_serves_all),
        cmocka_unit_test(what_is_asked_for_must_be_there),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(values_are_rounded_to_f16_or_refused),
        cmocka_unit_test(a_private_path_is_known_by_its_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
