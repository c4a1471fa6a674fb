/* An external meter's file and pipe, and the estimate that needs no meter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts.h"
#include "power/source.h"
#include "power_tree.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <time.h>

#define MS INT64_C(1000000)

static struct ifm_power *open_meter(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", tree_root, name);
    return tree_open(&(struct ifm_power_options){.root = "/nowhere", .meter = path});
}

static size_t read_all(struct ifm_power *power, struct ifm_power_point points[8], enum ifm_status wanted,
                       struct ifm_error *error)
{
    size_t n;
    memset(error, 0, sizeof *error);
    assert_int_equal(ifm_power_read(power, tree_sensor(power, "board", "meter"), points, 8, &n, error), wanted);
    return n;
}

static void a_file_is_followed_while_it_grows(void **state)
{
    (void)state;
    struct ifm_power_point points[8];
    struct ifm_error error;
    tree_put("/m.csv", "t_s,power_w\n10.0,100\n10.2,110\n10.4,120\n");
    struct ifm_power *power = open_meter("m.csv");
    assert_int_equal(ifm_power_list(power)->sensors[0].every_ms, 200);
    assert_int_equal(read_all(power, points, IFM_OK, &error), 0); /* what was there belongs to no run */
    int64_t before = ifm_clock_now().ns;
    tree_append("/m.csv", "10.6,130.5\r\n10.8,1");
    assert_int_equal(read_all(power, points, IFM_OK, &error), 1);
    int64_t after = ifm_clock_now().ns;
    assert_true(points[0].value == 130.5);
    assert_true(points[0].t_ns - points[0].half_ns <= before && points[0].t_ns + points[0].half_ns >= before);
    assert_true(points[0].t_ns + points[0].half_ns <= after);
    int64_t first = points[0].t_ns;
    tree_append("/m.csv", "40\n11.5,150\n");
    assert_int_equal(read_all(power, points, IFM_OK, &error), 2); /* half a line waited for its end */
    assert_true(points[0].value == 140 && points[1].value == 150);
    assert_true(llabs(points[0].t_ns - first - 200 * MS) <= 1 && llabs(points[1].t_ns - first - 900 * MS) <= 1);
    tree_put("/m.csv", "t_s,power_w\n");
    read_all(power, points, IFM_MISSING, &error);
    assert_facts(error.message, "file|shorter");
    ifm_power_close(power);
}

static void seconds_of_the_epoch_are_the_wall_clock(void **state)
{
    (void)state;
    struct ifm_power_point points[8];
    struct ifm_error error;
    char line[64];
    tree_put("/m.csv", "");
    struct ifm_power *power = open_meter("m.csv");
    const int64_t before = ifm_clock_now().ns, wall = ifm_clock_wall_ns(), after = ifm_clock_now().ns;
    snprintf(line, sizeof line, "%.6f,200\n", (double)(wall - 3000 * MS) * 1e-9);
    tree_append("/m.csv", line);
    assert_int_equal(read_all(power, points, IFM_OK, &error), 1);
    assert_true(points[0].half_ns < 50 * MS);
    assert_true(points[0].t_ns + points[0].half_ns >= before - 3000 * MS);
    assert_true(points[0].t_ns - points[0].half_ns <= after - 3000 * MS);
    tree_append("/m.csv", "5,200\n");
    read_all(power, points, IFM_INVALID, &error);
    assert_string_equal(error.where, "m.csv:2");
    assert_facts(error.message, "time|epoch");
    ifm_power_close(power);
}

static void a_bad_line_is_one_error_with_its_number(void **state)
{
    (void)state;
    static const struct {
        const char *line, *what;
    } bad[] = {{"x,5", "time|seconds"},  {"3", "comma"},           {"3,watts", "power|watts"},
               {"3,-5", "power|watts"},  {"3,nan", "power|watts"}, {"1.5,7", "time|ascend"},
               {"-3,7", "time|seconds"}, {"3,7,8", "power|watts"}, {"t_s,power_w", "time|seconds"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ifm_power_point points[8];
        struct ifm_error error;
        char text[128];
        tree_put("/m.csv", "1,5\n1.5,5\n");
        struct ifm_power *power = open_meter("m.csv");
        snprintf(text, sizeof text, "2,50\n%s\n4,60\n", bad[i].line);
        tree_append("/m.csv", text);
        assert_int_equal(read_all(power, points, IFM_OK, &error), 1); /* what came before it first */
        assert_true(points[0].value == 50);
        read_all(power, points, IFM_INVALID, &error);
        assert_string_equal(error.where, "m.csv:4");
        assert_facts(error.message, bad[i].what);
        assert_int_equal(read_all(power, points, IFM_OK, &error), 1); /* the next one goes on */
        assert_true(points[0].value == 60);
        ifm_power_close(power);
    }
}

static void a_file_that_is_bad_at_once_is_absent(void **state)
{
    (void)state;
    char text[600];
    tree_put("/m.csv", "time;power\n1;2\n");
    struct ifm_power *power = open_meter("m.csv");
    assert_int_equal(ifm_power_list(power)->n_sensors, 0);
    assert_facts(tree_absence(power, "meter")->reason, "m.csv:1|comma");
    ifm_power_close(power);
    memset(text, '7', sizeof text);
    text[sizeof text - 2] = '\n';
    text[sizeof text - 1] = '\0';
    tree_put("/m.csv", text);
    power = open_meter("m.csv");
    assert_facts(tree_absence(power, "meter")->reason, "m.csv:1|255 bytes");
    ifm_power_close(power);
    power = open_meter("no.csv");
    assert_facts(tree_absence(power, "meter")->reason, "no.csv");
    assert_facts(tree_absence(power, "meter")->reason, strerror(ENOENT));
    ifm_power_close(power);
    power = open_meter("");
    assert_facts(tree_absence(power, "meter")->reason, "file|pipe");
    ifm_power_close(power);
}

/* The descriptor stays readable and nothing ever comes: that is no silence but a loss, and has a reason. */
static void a_file_that_is_taken_away_is_lost(void **state)
{
    (void)state;
    struct ifm_power_point points[8];
    struct ifm_error error;
    char path[128], aside[128];
    snprintf(path, sizeof path, "%s/m.csv", tree_root);
    snprintf(aside, sizeof aside, "%s/m.csv.1", tree_root);
    tree_put("/m.csv", "t_s,power_w\n");
    struct ifm_power *power = open_meter("m.csv");
    tree_append("/m.csv", "1,100\n");
    assert_int_equal(rename(path, aside), 0); /* what came before is given first */
    assert_int_equal(read_all(power, points, IFM_OK, &error), 1);
    read_all(power, points, IFM_MISSING, &error);
    assert_facts(error.message, "file|deleted");
    ifm_power_close(power);

    tree_put("/m.csv", "t_s,power_w\n");
    power = open_meter("m.csv");
    assert_int_equal(read_all(power, points, IFM_OK, &error), 0);
    assert_int_equal(rename(path, aside), 0);
    tree_put("/m.csv", "t_s,power_w\n2,100\n");
    read_all(power, points, IFM_MISSING, &error);
    assert_facts(error.message, "another file");
    assert_null(strstr(error.where, tree_root)); /* folders are private */
    ifm_power_close(power);
}

static void a_pipe_without_a_writer_is_lost_at_last(void **state)
{
    (void)state;
    static const char line[] = "0.1,70\n";
    struct ifm_power_point points[8];
    struct ifm_error error;
    char path[128];
    snprintf(path, sizeof path, "%s/left", tree_root);
    assert_int_equal(mkfifo(path, 0600), 0);
    struct ifm_power *power = open_meter("left");
    ifm_power_sensor_at(power, 0)->every_ms = 20; /* patience is ten of them */
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    assert_int_equal(read_all(power, points, IFM_OK, &error), 0); /* nobody has come yet: it is waited for */
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, line, sizeof line - 1), sizeof line - 1);
    assert_int_equal(read_all(power, points, IFM_OK, &error), 1);
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    assert_int_equal(read_all(power, points, IFM_OK, &error), 0); /* a writer that is silent is there */
    close(fd);
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    read_all(power, points, IFM_MISSING, &error);
    assert_facts(error.message, "pipe");
    ifm_power_close(power);
}

static void a_pipe_is_read_as_it_comes(void **state)
{
    (void)state;
    struct ifm_power_point points[8];
    struct ifm_error error;
    char path[128];
    snprintf(path, sizeof path, "%s/pipe", tree_root);
    assert_int_equal(mkfifo(path, 0600), 0);
    struct ifm_power *power = open_meter("pipe");
    assert_int_equal(read_all(power, points, IFM_OK, &error), 0); /* no writer yet */
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    static const char lines[] = "t_s,power_w\n0.1,70\n";
    assert_int_equal(write(fd, lines, sizeof lines - 1), sizeof lines - 1);
    assert_int_equal(read_all(power, points, IFM_OK, &error), 1);
    assert_true(points[0].value == 70);
    assert_int_equal(read_all(power, points, IFM_OK, &error), 0);
    close(fd);
    assert_int_equal(read_all(power, points, IFM_OK, &error), 0); /* a writer may come again */
    ifm_power_close(power);
}

static void the_estimate_is_rated_power_times_utilisation(void **state)
{
    (void)state;
    struct ifm_power_point point;
    struct ifm_error error = {0};
    size_t n;
    tree_put("/proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 1\n");
    struct ifm_power *power = tree_open(&(struct ifm_power_options){.root = tree_root});
    assert_facts(tree_absence(power, "tdp")->reason, "rated power");
    ifm_power_close(power);
    power = tree_open(&(struct ifm_power_options){.root = tree_root, .rated_w = 200});
    size_t sensor = tree_sensor(power, "cpu", "tdp");
    assert_int_equal(ifm_power_list(power)->sensors[sensor].kind, IFM_POWER_ESTIMATE);
    assert_int_equal(ifm_power_read(power, sensor, &point, 1, &n, &error), IFM_OK);
    assert_int_equal(n, 0); /* a share needs two readings */
    tree_put("/proc/stat", "cpu  120 0 105 760 115 0 0 0 0 0\n");
    assert_int_equal(ifm_power_read(power, sensor, &point, 1, &n, &error), IFM_OK);
    assert_int_equal(n, 1);
    assert_true(fabs(point.value - 50) < 1e-9); /* 25 of 100 ticks */
    tree_put("/proc/stat", "cpu  110 0 105 760 115 0 0 0 0 0\n");
    assert_int_equal(ifm_power_read(power, sensor, &point, 1, &n, &error), IFM_INVALID);
    tree_put("/proc/stat", "intr 5\n");
    assert_int_equal(ifm_power_read(power, sensor, &point, 1, &n, &error), IFM_MISSING);
    ifm_power_close(power);
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, tree_set_up, tree_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(a_file_is_followed_while_it_grows),
        TREE_TEST(seconds_of_the_epoch_are_the_wall_clock),
        TREE_TEST(a_bad_line_is_one_error_with_its_number),
        TREE_TEST(a_file_that_is_bad_at_once_is_absent),
        TREE_TEST(a_pipe_is_read_as_it_comes),
        TREE_TEST(a_file_that_is_taken_away_is_lost),
        TREE_TEST(a_pipe_without_a_writer_is_lost_at_last),
        TREE_TEST(the_estimate_is_rated_power_times_utilisation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
