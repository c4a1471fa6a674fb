/* Raw readings of sensors: order, torn tails, rows that are none, interruptions, and setting aside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "sample/readings.h"
#include "sample_folder.h"

#define ENERGY "samples/2-power-gpu0-nvml_energy.csv"
#define RING "samples/2-power-gpu0-nvml_samples.csv"
#define HEADER "t_ns,half_ns,energy_uj\n"

static struct folder folder;
static struct ifm_error why;

static int set_up(void **state)
{
    (void)state;
    folder = folder_make();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(&folder);
    return 0;
}

static struct ifm_readings_writer *open_energy(bool resume)
{
    struct ifm_readings_writer *writer = NULL;
    assert_int_equal(ifm_readings_open(folder.path, 2, "gpu0", "nvml_energy", true, resume, &writer, &why), IFM_OK);
    return writer;
}

static size_t append(struct ifm_readings_writer *writer, const struct ifm_reading *readings, size_t n)
{
    size_t left_out = 99;
    assert_int_equal(ifm_readings_append(writer, readings, n, &left_out, &why), IFM_OK);
    return left_out;
}

static void assert_text(const char *name, const char *expected)
{
    struct ifm_text text = folder_read(&folder, name);
    assert_string_equal(text.data, expected);
    ifm_text_free(&text);
}

static void make_samples(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/samples", folder.path);
    assert_int_equal(ifm_dir_create(path, &why), IFM_OK);
    folder_write(&folder, name, text, strlen(text));
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const struct ifm_reading given[] = {{5, 2, 0}, {100, 7, 30}, {100, 7, 30}, {INT64_MAX, 0, 1000000}};
    struct ifm_readings_writer *writer = open_energy(false);
    assert_int_equal(ifm_readings_end_ns(writer), -1);
    assert_int_equal(append(writer, given, 2), 0);
    assert_int_equal(append(writer, given + 2, 2), 0);
    assert_true(ifm_readings_end_ns(writer) == INT64_MAX);
    assert_int_equal(ifm_readings_sync(writer, &why), IFM_OK);
    ifm_readings_close(writer);
    assert_text(ENERGY, HEADER "5,2,0\n100,7,30\n100,7,30\n9223372036854775807,0,1000000\n");
    struct ifm_readings readings;
    assert_int_equal(ifm_readings_load(folder.path, 2, "gpu0", "nvml_energy", &readings, NULL, &why), IFM_OK);
    assert_true(readings.joules);
    assert_int_equal(readings.n, 4);
    assert_memory_equal(readings.list, given, sizeof given);
    ifm_readings_free(&readings);
    assert_int_equal(ifm_readings_load(folder.path, 2, "gpu0", "other", &readings, NULL, &why), IFM_MISSING);
    assert_null(readings.list);
}

static void watts_have_their_own_header_and_fall(void **state)
{
    (void)state;
    static const struct ifm_reading given[] = {{1, 1, 300}, {2, 1, 100}};
    struct ifm_readings_writer *writer;
    struct ifm_readings readings;
    assert_int_equal(ifm_readings_open(folder.path, 2, "gpu0", "nvml_samples", false, false, &writer, &why), IFM_OK);
    assert_int_equal(append(writer, given, 2), 0);
    ifm_readings_close(writer);
    assert_text(RING, "t_ns,half_ns,power_uw\n1,1,300\n2,1,100\n");
    assert_int_equal(ifm_readings_load(folder.path, 2, "gpu0", "nvml_samples", &readings, NULL, &why), IFM_OK);
    assert_false(readings.joules);
    ifm_readings_free(&readings);
}

static void what_goes_back_is_left_out_and_counted(void **state)
{
    (void)state;
    static const struct ifm_reading given[] = {{10, 1, 5}, {9, 1, 6}, {11, 1, 4}, {12, -1, 7}, {12, 1, 7}, {-1, 0, 9}};
    struct ifm_readings_writer *writer = open_energy(false);
    assert_int_equal(append(writer, given, 6), 4);
    ifm_readings_close(writer);
    assert_text(ENERGY, HEADER "10,1,5\n12,1,7\n");
}

/* After an interruption a counter begins again at 0, and the file goes on where it was. */
static void a_resumed_counter_goes_on(void **state)
{
    (void)state;
    make_samples(ENERGY, HEADER "10,1,0\n20,1,700\n30,1,9"); /* killed in the middle of a row */
    struct ifm_readings_writer *writer = open_energy(true);
    assert_int_equal(ifm_readings_end_ns(writer), 20);
    static const struct ifm_reading later[] = {{15, 1, 0}, {40, 1, 0}, {50, 1, 25}};
    assert_int_equal(append(writer, later, 3), 1);
    ifm_readings_close(writer);
    writer = open_energy(true);
    static const struct ifm_reading last = {60, 1, 3};
    assert_int_equal(append(writer, &last, 1), 0);
    ifm_readings_close(writer);
    assert_text(ENERGY, HEADER "10,1,0\n20,1,700\n40,1,700\n50,1,725\n60,1,728\n");
}

static void what_a_kill_leaves_is_mended(void **state)
{
    (void)state;
    static const char *const torn[] = {"", "t_ns,ha", HEADER, HEADER "1", HEADER "1,2,3", "t_ns,half_ns,energy_uj"};
    for (size_t i = 0; i < sizeof torn / sizeof *torn; i++) {
        make_samples(ENERGY, torn[i]);
        struct ifm_readings_writer *writer = open_energy(true);
        assert_int_equal(ifm_readings_end_ns(writer), -1);
        ifm_readings_close(writer);
        assert_text(ENERGY, HEADER);
    }
    folder_write(&folder, ENERGY, HEADER "1,2,3\n\0\0\0", sizeof HEADER "1,2,3\n" + 2); /* a crash of the machine */
    struct ifm_readings_writer *writer = open_energy(true);
    assert_int_equal(ifm_readings_end_ns(writer), 1);
    ifm_readings_close(writer);
    assert_text(ENERGY, HEADER "1,2,3\n");
    assert_int_equal(remove(folder_name(&folder, ENERGY)), 0); /* a sensor that the session before had not */
    ifm_readings_close(open_energy(true));
    assert_text(ENERGY, HEADER);
}

static void what_was_edited_is_refused_and_not_cut(void **state)
{
    (void)state;
    struct ifm_readings_writer *writer = NULL;
    static const char *const edited[] = {"t_ns,half_ns,power_uw\n1,1,1\n", "other\n", HEADER "2,1,5\n1,1,6\n"};
    for (size_t i = 0; i < sizeof edited / sizeof *edited; i++) {
        make_samples(ENERGY, edited[i]);
        assert_int_equal(ifm_readings_open(folder.path, 2, "gpu0", "nvml_energy", true, true, &writer, &why),
                         IFM_INVALID);
        assert_null(writer);
        assert_text(ENERGY, edited[i]);
    }
    assert_int_equal(ifm_readings_open(folder.path, 2, "gpu0", "nvml_energy", true, false, &writer, &why), IFM_USAGE);
    assert_int_equal(ifm_readings_open(folder.path, 2, "../gpu0", "x", true, false, &writer, &why), IFM_INTERNAL);
}

static void bad_rows_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where;
    } cases[] = {
        {"", "here"},
        {"t_ns,half_ns\n", "here"},
        {HEADER "1,1\n", "here:2"},
        {HEADER "1,1,1,1\n", "here:2"},
        {HEADER "1,1,\n", "here:2"},
        {HEADER "\n", "here:2"},
        {HEADER "01,1,1\n", "here:2"},
        {HEADER "+1,1,1\n", "here:2"},
        {HEADER "-1,1,1\n", "here:2"},
        {HEADER "1,1,1 \n", "here:2"},
        {HEADER "1,1,1.5\n", "here:2"},
        {HEADER "9223372036854775808,1,1\n", "here:2"},
        {HEADER "1,1,1\n99999999999999999999999,1,1\n", "here:3"},
        {HEADER "5,1,1\n4,1,2\n", "here:3"},
        {HEADER "5,1,2\n6,1,1\n", "here:3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ifm_readings readings;
        assert_int_equal(ifm_readings_parse(cases[i].text, strlen(cases[i].text), "here", &readings, &why),
                         IFM_INVALID);
        assert_string_equal(why.where, cases[i].where);
        assert_null(readings.list);
    }
}

static void a_torn_last_row_is_no_row(void **state)
{
    (void)state;
    static const char text[] = HEADER "1,1,1\n2,1,9";
    struct ifm_readings readings;
    assert_int_equal(ifm_readings_parse(text, sizeof text - 1, "here", &readings, &why), IFM_OK);
    assert_int_equal(readings.n, 1);
    ifm_readings_free(&readings);
    ifm_readings_free(&readings);
}

static void readings_of_one_cell_are_set_aside(void **state)
{
    (void)state;
    bool any;
    assert_int_equal(ifm_readings_set_aside(folder.path, 2, 1, &any, &why), IFM_OK);
    assert_false(any);
    make_samples(ENERGY, "first");
    make_samples(RING, "ring");
    make_samples("samples/12-power-gpu0-nvml_energy.csv", "another cell's");
    make_samples("samples/2-energy.csv", "a record");
    assert_int_equal(ifm_readings_set_aside(folder.path, 2, 1, &any, &why), IFM_OK);
    assert_true(any);
    assert_text("samples/2-power-gpu0-nvml_energy-before-1.csv", "first");
    assert_text("samples/2-power-gpu0-nvml_samples-before-1.csv", "ring");
    assert_text("samples/12-power-gpu0-nvml_energy.csv", "another cell's");
    assert_text("samples/2-energy.csv", "a record");
    make_samples(ENERGY, "second");
    assert_int_equal(ifm_readings_set_aside(folder.path, 2, 1, &any, &why), IFM_USAGE); /* nothing is overwritten */
    assert_int_equal(ifm_readings_set_aside(folder.path, 2, 2, &any, &why), IFM_OK);
    assert_text("samples/2-power-gpu0-nvml_energy-before-1.csv", "first");
    assert_text("samples/2-power-gpu0-nvml_energy-before-2.csv", "second");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(watts_have_their_own_header_and_fall, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_goes_back_is_left_out_and_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_resumed_counter_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_kill_leaves_is_mended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_edited_is_refused_and_not_cut, set_up, tear_down),
        cmocka_unit_test(bad_rows_are_named),
        cmocka_unit_test(a_torn_last_row_is_no_row),
        cmocka_unit_test_setup_teardown(readings_of_one_cell_are_set_aside, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
