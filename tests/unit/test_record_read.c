/* Reading the raw record: every rule that the reader enforces, broken once, with its file and line;
 * and the names of its files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample/record.h"
#include "sample_folder.h"

#define H_SAMPLES "slot,start_ns,duration_ns\n"
#define H_SLOTS "block,phase,arm,samples,inner,start_ns,end_ns"
#define S(rows) H_SAMPLES rows
#define L(rows) H_SLOTS "\n" rows
#define C(rows) H_SLOTS ",steal_ns,busy\n" rows
#define GOOD_S "0,10,5\n0,15,5\n1,30,1\n"
#define GOOD_L "0,1,0,2,1,10,20\n0,1,1,1,4,30,40\n"

static const struct {
    const char *samples, *slots, *where, *message;
} refused[] = {
    {"", L(GOOD_L), "r.csv:1", "empty"},
    {S(GOOD_S), "", "r-slots.csv:1", "empty"},
    {"slot,start,duration\n" GOOD_S, L(GOOD_L), "r.csv:1", "the header is"},
    {S(GOOD_S), "block,phase,arm,samples,inner,start_ns,end_nsx\n" GOOD_L, "r-slots.csv:1", "the header is"},
    {S(GOOD_S), "block\n" GOOD_L, "r-slots.csv:1", "the header is"},
    {S(GOOD_S), H_SLOTS ",\n" GOOD_L, "r-slots.csv:1", "no name"},
    {S(GOOD_S), H_SLOTS ",a,a\n" GOOD_L, "r-slots.csv:1", "named twice"},
    {S("0,10,5\n0,15,5\n1,30,1"), L(GOOD_L), "r.csv:4", "torn"},
    {S(GOOD_S), L("0,1,0,2,1,10,20\n0,1,1,1,4,30,4"), "r-slots.csv:3", "torn"},
    {S("0,10,5\n0,15.5,5\n1,30,1\n"), L(GOOD_L), "r.csv:3", "start_ns is not an integer: \"15.5\""},
    {S("0,10,5\n0,,5\n1,30,1\n"), L(GOOD_L), "r.csv:3", "start_ns is empty"},
    {S("0,10,5\n0,15,\n1,30,1\n"), L(GOOD_L), "r.csv:3", "duration_ns is empty"},
    {S("0,10,5\n0,15,-5\n1,30,1\n"), L(GOOD_L), "r.csv:3", "duration_ns is -5; 0 .."},
    {S("0,10,5\n0,15,05\n1,30,1\n"), L(GOOD_L), "r.csv:3", "shortest form"},
    {S("0,10,5\n0,15,+5\n1,30,1\n"), L(GOOD_L), "r.csv:3", "not an integer"},
    {S("0,10,5\n0, 15,5\n1,30,1\n"), L(GOOD_L), "r.csv:3", "not an integer"},
    {S("0,10,5\n0,15,9223372036854775808\n1,30,1\n"), L(GOOD_L), "r.csv:3", "duration_ns is 9223372036854775808"},
    {S("0,10,5\n0,15,99999999999999999999999999999999\n1,30,1\n"), L(GOOD_L), "r.csv:3", "is possible"},
    {S("0,10,5\n0,15,9223372036854775807\n1,30,1\n"), L(GOOD_L), "r.csv:3", "ends after its slot"},
    {S("0,10,5\n0,15\n1,30,1\n"), L(GOOD_L), "r.csv:3", "the row ends after start_ns"},
    {S("0,10,5\n0,15,5,5\n1,30,1\n"), L(GOOD_L), "r.csv:3", "fields after duration_ns"},
    {S("0,10,5\n\n1,30,1\n"), L(GOOD_L), "r.csv:3", "slot is empty"},
    {S("0,10,5\r\n0,15,5\r\n1,30,1\r\n"), L(GOOD_L), "r.csv:2", "not an integer: \"5?\""},
    {S("0,10,5\n1,15,5\n1,30,1\n"), L(GOOD_L), "r.csv:3", "not of the slot whose turn it is: \"1,15,5\""},
    {S("0,10,5\n0,14,5\n1,30,1\n"), L(GOOD_L), "r.csv:3", "time goes backwards"},
    {S("0,9,5\n0,15,5\n1,30,1\n"), L(GOOD_L), "r.csv:2", "starts outside its slot"},
    {S("0,10,5\n0,15,6\n1,30,1\n"), L(GOOD_L), "r.csv:3", "ends after its slot"},
    {S("0,10,5\n0,21,1\n1,30,1\n"), L(GOOD_L), "r.csv:3", "starts outside its slot"},
    {S("0,10,5\n0,15,5\n"), L(GOOD_L), "r.csv:4", "the file ends here"},
    {S(GOOD_S), L("0,1,0,2000000,1,10,20\n0,1,1,1,4,30,40\n"), "r.csv:5", "the file ends here"},
    {S(GOOD_S "1,31,1\n"), L(GOOD_L), "r.csv:5", "more samples than the slots file has"},
    {S(GOOD_S), L("0,1,0,0,1,10,20\n0,1,1,1,4,30,40\n"), "r-slots.csv:2", "has no samples"},
    {S(GOOD_S), L("0,1,0,2,0,10,20\n0,1,1,1,4,30,40\n"), "r-slots.csv:2", "inner is 0"},
    {S(GOOD_S), L("0,2,0,2,1,10,20\n1,2,1,1,4,30,40\n1,2,1,1,4,40,50\n"), "r-slots.csv:4",
     "the block that ends here has more or fewer slots"},
    {S(GOOD_S), L("0,3,0,2,1,10,20\n0,1,1,1,4,30,40\n"), "r-slots.csv:2", "the phase is neither"},
    {S(GOOD_S), L("0,1,0,2,1,10,20\n0,0,1,1,4,30,40\n"), "r-slots.csv:3", "phase changes inside a block"},
    {S(GOOD_S), L("1,1,0,2,1,10,20\n1,1,1,1,4,30,40\n"), "r-slots.csv:2", "block number"},
    {S(GOOD_S), L("0,1,0,2,1,10,20\n2,1,1,1,4,30,40\n"), "r-slots.csv:3", "block number"},
    {S("0,10,5\n0,15,5\n1,30,1\n2,50,0\n"), L("0,1,0,2,1,10,20\n1,1,1,1,4,30,40\n0,1,1,1,4,50,60\n"), "r-slots.csv:4",
     "block number"},
    {S("0,10,5\n0,15,5\n1,30,1\n2,50,0\n"), L(GOOD_L "1,1,1,1,4,50,60\n"), "r-slots.csv:4", "more or fewer slots"},
    {S("0,10,5\n0,15,5\n1,30,1\n2,50,0\n"), L("0,0,0,2,1,10,20\n0,0,1,1,4,30,40\n1,1,1,1,4,50,60\n"), "r-slots.csv:4",
     "more or fewer slots"},
    {S(GOOD_S), L("0,1,0,2,1,20,10\n0,1,1,1,4,30,40\n"), "r-slots.csv:2", "ends before it starts"},
    {S(GOOD_S), L("0,1,0,2,1,10,20\n0,1,1,1,4,19,40\n"), "r-slots.csv:3", "time goes backwards"},
    {S(GOOD_S), L("0,1,0,2,1,-10,20\n0,1,1,1,4,30,40\n"), "r-slots.csv:2", "start_ns is -10"},
    {S(GOOD_S), L("0,1,4294967296,2,1,10,20\n0,1,1,1,4,30,40\n"), "r-slots.csv:2",
     "arm is 4294967296; 0 .. 4294967295"},
    {S(GOOD_S), L("0,1,,2,1,10,20\n0,1,1,1,4,30,40\n"), "r-slots.csv:2", "arm is empty"},
    {S(GOOD_S), L("0,1,0,2,1,10,20,7\n0,1,1,1,4,30,40\n"), "r-slots.csv:2", "fields after end_ns"},
    {S(GOOD_S), C("0,1,0,2,1,10,20\n0,1,1,1,4,30,40,1,1\n"), "r-slots.csv:2", "the row ends after end_ns"},
    {S(GOOD_S), C("0,1,0,2,1,10,20,1\n0,1,1,1,4,30,40,1,1\n"), "r-slots.csv:2", "the row ends after steal_ns"},
    {S(GOOD_S), C("0,1,0,2,1,10,20,\n0,1,1,1,4,30,40,1,1\n"), "r-slots.csv:2", "the row ends after steal_ns"},
    {S(GOOD_S), C("0,1,0,2,1,10,20,1,2,3\n0,1,1,1,4,30,40,1,1\n"), "r-slots.csv:2", "fields after busy"},
    {S(GOOD_S), C("0,1,0,2,1,10,20,,,\n0,1,1,1,4,30,40,1,1\n"), "r-slots.csv:2", "fields after busy"},
    {S(GOOD_S), C("0,1,0,2,1,10,20,-0,\n0,1,1,1,4,30,40,1,1\n"), "r-slots.csv:2", "shortest form"},
    {S(GOOD_S), C("0,1,0,2,1,10,20,-,\n0,1,1,1,4,30,40,1,1\n"), "r-slots.csv:2", "steal_ns is not an integer: \"-\""},
    {S(GOOD_S), C("0,1,0,2,1,10,20,1,null\n0,1,1,1,4,30,40,1,1\n"), "r-slots.csv:2", "busy is not an integer"},
    {S(GOOD_S), C("0,1,0,2,1,10,20,-9223372036854775808,\n0,1,1,1,4,30,40,1,1\n"), "r-slots.csv:2",
     "steal_ns is -9223372036854775808"},
};

static enum ifm_status parse(const char *samples, const char *slots, struct ifm_record *record, struct ifm_error *error)
{
    return ifm_record_parse(samples, strlen(samples), slots, strlen(slots), "r", record, error);
}

static void test_reader_refuses(void **state)
{
    (void)state;
    struct ifm_record record;
    struct ifm_error error = {0};
    assert_int_equal(parse(S(GOOD_S), L(GOOD_L), &record, &error), IFM_OK);
    ifm_record_free(&record);
    assert_int_equal(parse(S(GOOD_S), C("0,1,0,2,1,10,20,,\n0,1,1,1,4,30,40,-1,1\n"), &record, &error), IFM_OK);
    assert_true(record.slots[0].columns[0] == IFM_ABSENT && record.slots[0].columns[1] == IFM_ABSENT);
    assert_true(record.slots[1].columns[0] == -1 && record.slots[1].columns[1] == 1);
    ifm_record_free(&record);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        error = (struct ifm_error){0};
        assert_int_equal(parse(refused[i].samples, refused[i].slots, &record, &error), IFM_INVALID);
        if (strcmp(error.where, refused[i].where) != 0 || strstr(error.message, refused[i].message) == NULL)
            fail_msg("case %zu: wanted %s: %s\ngot %s: %s", i, refused[i].where, refused[i].message, error.where,
                     error.message);
        assert_null(record.slots);
        assert_int_equal(parse(refused[i].samples, refused[i].slots, &record, NULL), IFM_INVALID);
    }
}

static void test_empty_record(void **state)
{
    (void)state;
    struct ifm_record record;
    struct ifm_error error = {0};
    assert_int_equal(parse(S(""), L(""), &record, &error), IFM_OK);
    assert_int_equal(record.n_slots, 0);
    assert_int_equal(record.n_samples, 0);
    assert_int_equal(record.first[0], 0);
    ifm_record_free(&record);
    ifm_record_free(&record);
}

/* A NUL inside a file is a bad byte like any other. */
static void test_nul_bytes(void **state)
{
    (void)state;
    static const char samples[] = S(GOOD_S), slots[] = L(GOOD_L);
    struct ifm_record record;
    struct ifm_error error = {0};
    char copy[256];
    for (size_t i = 0; i < sizeof samples - 1; i++) {
        memcpy(copy, samples, sizeof samples);
        copy[i] = '\0';
        assert_int_equal(ifm_record_parse(copy, sizeof samples - 1, slots, sizeof slots - 1, "r", &record, &error),
                         IFM_INVALID);
    }
    for (size_t i = 0; i < sizeof slots - 1; i++) {
        memcpy(copy, slots, sizeof slots);
        copy[i] = '\0';
        assert_int_equal(ifm_record_parse(samples, sizeof samples - 1, copy, sizeof slots - 1, "r", &record, &error),
                         IFM_INVALID);
    }
}

static void test_names_and_existing_files(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct ifm_recorder *recorder;
    struct ifm_error error = {0};
    static const char *const bad_passes[] = {"", "a/b", "x-slots", "a b", "..\n"};
    for (size_t i = 0; i < sizeof bad_passes / sizeof *bad_passes; i++)
        assert_int_equal(ifm_recorder_create(folder.path, 0, bad_passes[i], NULL, 0, &recorder, &error), IFM_INTERNAL);
    static const char *const bad_columns[][2] = {{"a,b", "c"}, {"", "c"}, {"c", "c"}, {"c", "a\n"}};
    for (size_t i = 0; i < sizeof bad_columns / sizeof *bad_columns; i++)
        assert_int_equal(ifm_recorder_create(folder.path, 0, "p", bad_columns[i], 2, &recorder, &error), IFM_INTERNAL);
    assert_int_equal(ifm_recorder_create(folder.path, 0, "p", NULL, 0, &recorder, &error), IFM_OK);
    ifm_recorder_close(recorder);
    assert_int_equal(ifm_recorder_create(folder.path, 0, "p", NULL, 0, &recorder, &error), IFM_USAGE);
    assert_non_null(strstr(error.message, "exists already"));
    unlink(folder_name(&folder, "samples/0-p.csv"));
    assert_int_equal(ifm_recorder_create(folder.path, 0, "p", NULL, 0, &recorder, &error), IFM_USAGE);
    assert_int_equal(access(folder_name(&folder, "samples/0-p.csv"), F_OK), -1); /* made and taken back */
    assert_int_equal(ifm_recorder_create("/nowhere/at/all", 0, "p", NULL, 0, &recorder, &error), IFM_USAGE);
    assert_int_equal(ifm_record_load(folder.path, 9, "p", &(struct ifm_record){0}, &error), IFM_USAGE);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_refuses),
        cmocka_unit_test(test_empty_record),
        cmocka_unit_test(test_nul_bytes),
        cmocka_unit_test(test_names_and_existing_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
