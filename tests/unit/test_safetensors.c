/* safetensors files: what is read, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts.h"
#include "tensor/safetensors.h"
#include "unit/tensor_file.h"
#include <errno.h>
#include <math.h>

/* Every type: two numbers each, their bytes, and what they are; integers are listed but not read as numbers. */
static const struct {
    const char *dtype;
    unsigned char bytes[16];
    float values[2];
} types[] = {
    {.dtype = "BOOL"},
    {.dtype = "U8"},
    {.dtype = "I8"},
    {.dtype = "U16"},
    {.dtype = "I16"},
    {.dtype = "U32"},
    {.dtype = "I32"},
    {.dtype = "U64"},
    {.dtype = "I64"},
    {"F8_E5M2", {0x3d, 0xc0}, {1.25f, -2}},
    {"F8_E4M3", {0x3c, 0xfe}, {1.5f, -448}},
    {"F16", {0x00, 0x3e, 0x01, 0x80}, {1.5f, -0x1p-24f}},
    {"BF16", {0xc0, 0x3f, 0x80, 0xff}, {1.5f, -INFINITY}},
    {"F32", {0, 0, 0xc0, 0x3f, 1, 0, 0, 0}, {1.5f, 0x1p-149f}},
    {"F64", {0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0xf0, 0x7e}, {1.5f, INFINITY}},
};
enum { TYPES = sizeof types / sizeof types[0] };

static void every_type_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < TYPES; i++) {
        enum ifm_dtype dtype;
        assert_true(ifm_dtype_find(types[i].dtype, &dtype));
        assert_string_equal(ifm_dtype_name(dtype), types[i].dtype);
        assert_non_null(strstr(ifm_dtype_names(), types[i].dtype));
        assert_int_equal(ifm_dtype_is_float(dtype), strchr(types[i].dtype, 'F') != NULL);
        const unsigned each = ifm_dtype_bytes(dtype);
        /* Three bytes of another tensor in front: nothing is aligned. */
        unsigned char data[3 + 16] = {9, 9, 9};
        char header[256];
        size_t size;
        memcpy(data + 3, types[i].bytes, 2 * each);
        snprintf(header, sizeof header,
                 "{\"x\":{\"dtype\":\"%s\",\"shape\":[2],\"data_offsets\":[3,%u]},"
                 "\"pad\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}",
                 types[i].dtype, 3 + 2 * each);
        unsigned char *bytes = tensor_bytes(header, data, 3 + 2 * each, &size);
        struct ifm_safetensors *file;
        struct ifm_error error = {0};
        if (ifm_safetensors_parse(bytes, size, "a/b.safetensors", &file, &error) != IFM_OK)
            fail_msg("%s: %s", types[i].dtype, error.message);
        const struct ifm_tensor *x = ifm_safetensors_find(file, "x");
        assert_non_null(x);
        assert_int_equal(x->dtype, dtype);
        float got[3] = {NAN, NAN, NAN}, last = NAN;
        if (ifm_dtype_is_float(dtype)) {
            ifm_tensor_read(x, 0, 2, got);
            ifm_tensor_read(x, 1, 1, &last);
            assert_true(got[0] == types[i].values[0] && got[1] == types[i].values[1] && isnan(got[2]));
            assert_true(last == types[i].values[1]);
        }
        ifm_safetensors_close(file);
        free(bytes);
    }
    assert_int_equal(TYPES, IFM_DTYPES);
    enum ifm_dtype dtype;
    assert_false(ifm_dtype_find("F4", &dtype));
    assert_false(ifm_dtype_find("f32", &dtype));
}

static void a_file_lists_its_tensors_by_place(void **state)
{
    (void)state;
    static const char header[] = "{\"__metadata__\":{\"format\":\"pt\"},"
                                 "\"late\":{\"dtype\":\"F16\",\"shape\":[2,1,3],\"data_offsets\":[4,16]},"
                                 "\"none\":{\"dtype\":\"F64\",\"shape\":[0,7],\"data_offsets\":[4,4]},"
                                 "\"one\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}      ";
    static const unsigned char data[16] = {0, 0, 0x80, 0x3f, 0, 0x3c};
    char path[64], shown[240];
    size_t size;
    unsigned char *bytes = tensor_bytes(header, data, sizeof data, &size);
    struct ifm_safetensors *file;
    struct ifm_error error = {0};
    tensor_write(path, bytes, size);
    const enum ifm_status status = ifm_safetensors_open(path, &file, &error);
    unlink(path);
    if (status != IFM_OK)
        fail_msg("%s", error.message);
    assert_int_equal(ifm_safetensors_count(file), 3);
    assert_string_equal(ifm_safetensors_at(file, 0)->name, "one");
    assert_string_equal(ifm_safetensors_at(file, 1)->name, "none");
    const struct ifm_tensor *late = ifm_safetensors_at(file, 2);
    assert_string_equal(late->name, "late");
    assert_int_equal(late->rank, 3);
    assert_int_equal(late->elements, 6);
    assert_int_equal(late->bytes, 12);
    assert_string_equal(ifm_tensor_shown(late, shown), "F16 [2, 1, 3]");
    assert_string_equal(ifm_tensor_shown(ifm_safetensors_at(file, 0), shown), "F32 []");
    assert_int_equal(ifm_safetensors_at(file, 0)->elements, 1);
    assert_int_equal(ifm_safetensors_at(file, 1)->bytes, 0);
    assert_null(ifm_safetensors_find(file, "__metadata__"));
    assert_string_equal(ifm_safetensors_name(file), strrchr(path, '/') + 1);
    ifm_safetensors_close(file);
    free(bytes);
}

/* A header over 16 bytes of data, and what the message that refuses it names. */
static const struct {
    const char *header, *facts;
} refused[] = {
    {"{]", "JSON"},
    {"{} {}", "JSON"},
    {"{\"a\":1", "JSON"},
    {"[]", "begin|\"{\""},
    {" {}", "begin|\"{\""},
    {"", "begin|\"{\""},
    {"{}", "16 bytes|end"},
    {"{\"x\":1}", "\"x\"|object"},
    {"{\"x\":{\"shape\":[16],\"data_offsets\":[0,16]}}", "\"x\"|no \"dtype\""},
    {"{\"x\":{\"dtype\":5,\"shape\":[16],\"data_offsets\":[0,16]}}", "\"x\"|no \"dtype\""},
    {"{\"x\":{\"dtype\":\"F4\",\"shape\":[32],\"data_offsets\":[0,16]}}", "\"x\"|dtype|\"F4\"|BOOL, U8"},
    {"{\"x\":{\"dtype\":\"U8\",\"data_offsets\":[0,16]}}", "\"x\"|no \"shape\""},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":{},\"data_offsets\":[0,16]}}", "\"x\"|no \"shape\""},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[16,-1],\"data_offsets\":[0,16]}}", "dimension 1|\"x\""},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[16.0],\"data_offsets\":[0,16]}}", "dimension 0|\"x\""},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,16],\"data_offsets\":[0,16]}}", "\"x\"|9 dimensions|8"},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296,16],\"data_offsets\":[0,16]}}", "\"x\"|2^64 elements"},
    {"{\"x\":{\"dtype\":\"U64\",\"shape\":[2305843009213693954],\"data_offsets\":[0,16]}}", "\"x\"|2^64 bytes"},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[99999999999999999999],\"data_offsets\":[0,16]}}", "JSON"},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[16]}}", "\"x\"|no \"data_offsets\""},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0]}}", "\"x\"|no \"data_offsets\""},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16,16]}}", "\"x\"|no \"data_offsets\""},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[16,0]}}", "\"x\"|\"data_offsets\"|ascending"},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[-16,0]}}", "\"x\"|\"data_offsets\"|ascending"},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[1,17]}}", "\"x\"|byte 17|16"},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,9223372036854775807]}}",
     "\"x\"|byte 9223372036854775807|16"},
    {"{\"x\":{\"dtype\":\"U16\",\"shape\":[7],\"data_offsets\":[0,16]}}", "\"x\"|U16 [7]|14 bytes|16"},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]},\"y\":{\"dtype\":\"U8\",\"shape\":[9],"
     "\"data_offsets\":[7,16]}}",
     "\"y\"|overlap|\"x\""},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16]},\"y\":{\"dtype\":\"U8\",\"shape\":[16],"
     "\"data_offsets\":[0,16]}}",
     "\"y\"|overlap|\"x\""},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[7],\"data_offsets\":[0,7]},\"y\":{\"dtype\":\"U8\",\"shape\":[8],"
     "\"data_offsets\":[8,16]}}",
     "1 bytes|before|\"y\""},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[15],\"data_offsets\":[0,15]}}", "1 bytes|end"},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16]},\"x\":{\"dtype\":\"U8\",\"shape\":[16],"
     "\"data_offsets\":[0,16]}}",
     "JSON|duplicate"},
    {"{\"x\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16]}}", "JSON|duplicate"},
    {"{\"__metadata__\":[],\"x\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16]}}",
     "\"__metadata__\"|object"},
    {"{\"__metadata__\":{\"a\":1},\"x\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16]}}",
     "\"a\"|\"__metadata__\"|text"},
    {"{\"x\\u001b[2J\":1}", "\"x?[2J\""},
};

static void check_refused(const void *bytes, size_t size, const char *facts)
{
    struct ifm_safetensors *file = (void *)&file;
    struct ifm_error error = {0};
    assert_int_equal(ifm_safetensors_parse(bytes, size, "folder/name.st", &file, &error), IFM_USAGE);
    assert_null(file);
    assert_int_equal(error.code, IFM_USAGE);
    assert_string_equal(error.where, "name.st");
    assert_true(error.hint[0] != '\0');
    assert_facts(error.message, facts);
}

static void bad_headers_are_one_error(void **state)
{
    (void)state;
    static const unsigned char data[16];
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        size_t size;
        unsigned char *bytes = tensor_bytes(refused[i].header, data, sizeof data, &size);
        check_refused(bytes, size, refused[i].facts);
        free(bytes);
    }
}

/* Cut after each of its bytes, a file is refused; exactly as many bytes are there as are said to be. */
static void cut_files_are_refused(void **state)
{
    (void)state;
    static const char header[] = "{\"x\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}";
    static const unsigned char data[16];
    size_t size;
    unsigned char *bytes = tensor_bytes(header, data, sizeof data, &size);
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *part = malloc(cut + (cut == 0));
        assert_non_null(part);
        memcpy(part, bytes, cut);
        check_refused(part, cut, cut < 8 ? "header|8" : cut < 8 + sizeof header - 1 ? "header|cut" : "\"x\"|byte 16");
        free(part);
    }
    free(bytes);
}

static void huge_headers_are_refused(void **state)
{
    (void)state;
    const size_t most = IFM_SAFETENSORS_HEADER_MOST;
    unsigned char *bytes = malloc(8 + most + 1);
    assert_non_null(bytes);
    memset(bytes, 0xff, 8);
    memset(bytes + 8, ' ', most + 1);
    bytes[8] = '{';
    check_refused(bytes, 8 + most + 1, "4194313 bytes|18446744073709551615");
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((most + 1) >> 8 * i);
    check_refused(bytes, 8 + most + 1, "header|4194305 bytes|4194304");
    /* The longest is read, and so is one that nests as deep as it can. */
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(most >> 8 * i);
    bytes[9] = '}';
    struct ifm_safetensors *file;
    assert_int_equal(ifm_safetensors_parse(bytes, 8 + most, "x", &file, NULL), IFM_OK);
    assert_int_equal(ifm_safetensors_count(file), 0);
    ifm_safetensors_close(file);
    memcpy(bytes + 8, "{\"x\":", 5);
    memset(bytes + 13, '[', most - 5);
    check_refused(bytes, 8 + most, "JSON");
    free(bytes);
}

static void files_that_are_none_are_refused(void **state)
{
    (void)state;
    struct ifm_safetensors *file;
    struct ifm_error error = {0};
    char path[64];
    assert_int_equal(ifm_safetensors_open("no/such/name.st", &file, &error), IFM_USAGE);
    assert_string_equal(error.where, "name.st");
    assert_facts(error.message, strerror(ENOENT));
    assert_int_equal(ifm_safetensors_open("/", &file, &error), IFM_USAGE);
    assert_facts(error.message, "regular|file");
    tensor_write(path, "", 0);
    assert_int_equal(ifm_safetensors_open(path, &file, &error), IFM_USAGE);
    unlink(path);
    assert_null(file);
    assert_facts(error.message, "0 bytes");
    ifm_safetensors_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_read),        cmocka_unit_test(a_file_lists_its_tensors_by_place),
        cmocka_unit_test(bad_headers_are_one_error), cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(huge_headers_are_refused),  cmocka_unit_test(files_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
