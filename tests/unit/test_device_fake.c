/* Device fake: the script's language, and that the clock follows it: medians, noise, drift, autocorrelation, warm-up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/cpu.h"
#include "device/fake.h"
#include "facts.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ifm_device *open_script(const char *script, uint64_t seed)
{
    struct ifm_device_options options = {.threads = 1, .script = script, .seed = seed};
    struct ifm_device *device = NULL;
    struct ifm_error error = {0};
    if (ifm_device_fake.open(&options, &device, &error) != IFM_OK)
        fail_msg("%s", error.message);
    return device;
}

/* The duration of one sample, without the cost of the mark. */
static double sample(struct ifm_device *device, const char *arm, uint64_t steps, double mark_ns)
{
    struct ifm_instant start = device->ops->mark(device);
    ifm_fake_advance(device, arm, steps);
    return (double)(device->ops->mark(device).ns - start.ns) - mark_ns;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void expect_refusal(const char *script, const char *facts)
{
    struct ifm_device_options options = {.threads = 1, .script = script};
    struct ifm_device *device = NULL;
    struct ifm_error error = {0};
    assert_int_equal(ifm_device_fake.open(&options, &device, &error), IFM_USAGE);
    assert_null(device);
    assert_facts(error.message, facts);
    assert_string_equal(error.where, "fake script");
}

static void refuses_bad_scripts(void **state)
{
    (void)state;
    expect_refusal("stp_ns=5", "'stp_ns'|'step_ns'");
    expect_refusal("zzzzzzzzzz=5", "unknown|'zzzzzzzzzz'");
    expect_refusal("arm.slow.stepns=5", "'arm.slow.stepns'|'step_ns'");
    expect_refusal("step_ns=fast", "step_ns|'fast'|number");
    expect_refusal("step_ns=", "step_ns|''|number");
    expect_refusal("step_ns=nan", "step_ns|'nan'|number");
    expect_refusal("step_ns=0", "step_ns: 0|0.001 .. 1e+12");
    expect_refusal("ar=1", "ar: 1|-0.999 .. 0.999");
    expect_refusal("noise", "'noise'|key=value");
    expect_refusal("noise=0.1; noise=0.2", "noise|twice");
    expect_refusal("arm.a.noise=0.1; arm.a.noise=0.2", "arm.a.noise|twice");
    expect_refusal("arm..noise=0.1", "'arm..noise'|no arm");
    expect_refusal("arm.noise=0.1", "'arm.noise'|no arm");
    expect_refusal("arm.a.mark_ns=3", "'mark_ns'|one arm");
    expect_refusal("die_after_slots=1.5", "die_after_slots|1.5|whole");
    char longer[400] = "noise=";
    memset(longer + 6, '1', 300);
    expect_refusal(longer, "127");
}

static void takes_blanks_and_empty_pieces(void **state)
{
    (void)state;
    struct ifm_device *device = open_script(" ; step_ns = 500 ;; mark_ns=0;\n", 1);
    assert_true(sample(device, "x", 1, 0) == 500);
    device->ops->close(device);
    device = open_script(NULL, 1);
    assert_true(sample(device, "x", 1, 20) == 1000);
    device->ops->close(device);
}

static void arms_override_in_any_order(void **state)
{
    (void)state;
    struct ifm_device *device = open_script("arm.slow.step_ns=2000; step_ns=1000; arm.v1.2.step_ns=3000", 1);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(sample(device, "fast", 3, 20) == 3000);
        assert_true(sample(device, "slow", 3, 20) == 6000);
        assert_true(sample(device, "v1.2", 1, 20) == 3000);
    }
    device->ops->close(device);
}

static void keeps_fractions_of_a_nanosecond(void **state)
{
    (void)state;
    struct ifm_device *device = open_script("step_ns=0.3; mark_ns=0", 1);
    struct ifm_instant start = device->ops->mark(device);
    for (unsigned i = 0; i < 1000; i++)
        ifm_fake_advance(device, "a", 1);
    int64_t ns = device->ops->mark(device).ns - start.ns;
    assert_in_range(ns, 299, 301);
    device->ops->close(device);
}

static void noise_is_lognormal_around_the_median(void **state)
{
    (void)state;
    enum { N = 20001 };
    struct ifm_device *device = open_script("step_ns=100000; noise=0.05", 42);
    double *values = malloc(sizeof *values * N), sum = 0, squares = 0;
    for (size_t i = 0; i < N; i++) {
        values[i] = log(sample(device, "a", 1, 20) / 100000);
        sum += values[i];
        squares += values[i] * values[i];
    }
    /* Standard errors: mean 0.05/141 = 0.00035, median 1.25 times that, deviation 0.05/200 = 0.00025. */
    assert_true(fabs(sum / N) < 0.0015);
    assert_true(fabs(sqrt(squares / N) - 0.05) < 0.001);
    assert_true(fabs(median(values, N)) < 0.002);
    free(values);
    device->ops->close(device);
}

static void same_seed_same_clock(void **state)
{
    (void)state;
    const char *script = "noise=0.1; slot_noise=0.1; ar=0.5; drift=0.1; warmup=1";
    struct ifm_device *a = open_script(script, 7), *b = open_script(script, 7), *c = open_script(script, 8);
    unsigned differ = 0;
    for (unsigned i = 0; i < 100; i++) {
        a->ops->hold(a, 1), b->ops->hold(b, 1), c->ops->hold(c, 1);
        double x = sample(a, "x", 2, 20), y = sample(b, "x", 2, 20), z = sample(c, "x", 2, 20);
        a->ops->release(a), b->ops->release(b), c->ops->release(c);
        assert_true(x == y);
        differ += x != z;
    }
    assert_true(differ > 90);
    a->ops->close(a), b->ops->close(b), c->ops->close(c);
}

static void slot_noise_changes_at_hold_only(void **state)
{
    (void)state;
    enum { SLOTS = 2001 };
    struct ifm_device *device = open_script("step_ns=100000; slot_noise=0.2", 3);
    double squares = 0;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        device->ops->hold(device, 1);
        double first = sample(device, "a", 1, 20), second = sample(device, "a", 1, 20);
        device->ops->release(device);
        assert_true(fabs(first - second) <= 1); /* the clock is whole */
        squares += pow(log(first / 100000), 2);
    }
    assert_true(fabs(sqrt(squares / SLOTS) - 0.2) < 0.015);
    device->ops->close(device);
}

static void noise_is_autocorrelated(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct ifm_device *device = open_script("step_ns=1000000; noise=0.1; ar=0.7", 5);
    double last = 0, products = 0, squares = 0;
    for (unsigned i = 0; i < N; i++) {
        double value = log(sample(device, "a", 1, 20) / 1e6);
        products += i > 0 ? value * last : 0;
        squares += value * value;
        last = value;
    }
    assert_true(fabs(products / squares - 0.7) < 0.03);
    assert_true(fabs(sqrt(squares / N) - 0.1) < 0.005); /* the autocorrelation leaves the spread alone */
    device->ops->close(device);
}

/* In ABBA order a linear drift cancels: the arms' means agree though the clock drifts by a few per cent. */
static void drift_cancels_in_abba(void **state)
{
    (void)state;
    struct ifm_device *device = open_script("step_ns=1000000; drift=1; mark_ns=0", 9);
    double a = sample(device, "a", 1, 0), b = sample(device, "b", 1, 0);
    double first = a;
    b += sample(device, "b", 1, 0);
    a += sample(device, "a", 1, 0);
    assert_true(fabs(a / b - 1) < 1e-5);
    for (unsigned i = 0; i < 95; i++)
        (void)sample(device, "a", 1, 0);
    double later = sample(device, "a", 1, 0);
    assert_true(later / first > 1.09 && later / first < 1.12); /* after 0.1 s at 100 % a second */
    device->ops->close(device);
}

static void warmup_decays_for_each_arm(void **state)
{
    (void)state;
    struct ifm_device *device = open_script("step_ns=100000; warmup=0.5", 9);
    for (unsigned arm = 0; arm < 2; arm++) {
        const char *name = arm == 0 ? "a" : "b";
        assert_true(fabs(sample(device, name, 1, 20) - 150000) <= 1);
        for (unsigned i = 1; i < 50; i++)
            (void)sample(device, name, 1, 20);
        assert_true(fabs(sample(device, name, 1, 20) - 100000 * (1 + 0.5 * exp(-1))) <= 1);
        (void)sample(device, name, 1000, 20);
        assert_true(fabs(sample(device, name, 1, 20) - 100000) <= 1);
    }
    device->ops->close(device);
    /* The same steps in one sample take the same time. */
    struct ifm_device *one = open_script("step_ns=100000; warmup=0.5", 9);
    struct ifm_device *many = open_script("step_ns=100000; warmup=0.5", 9);
    double sum = 0;
    for (unsigned i = 0; i < 64; i++)
        sum += sample(many, "a", 1, 20);
    assert_true(fabs(sample(one, "a", 64, 20) - sum) <= 64);
    one->ops->close(one);
    many->ops->close(many);
}

static void dies_when_the_script_says_so(void **state)
{
    (void)state;
    int report[2], status;
    assert_int_equal(pipe(report), 0);
    pid_t child = fork();
    if (child == 0) {
        struct ifm_device *device = open_script("die_after_slots=3", 1);
        for (char slot = 1; slot <= 5; slot++) {
            device->ops->hold(device, 1);
            (void)!write(report[1], &slot, 1);
            device->ops->release(device);
        }
        _exit(0);
    }
    close(report[1]);
    char seen, last = 0;
    while (read(report[0], &seen, 1) == 1)
        last = seen;
    close(report[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_int_equal(last, 2);
}

static void describes_the_same_machine_everywhere(void **state)
{
    (void)state;
    struct ifm_machine machine;
    struct ifm_error error = {0};
    assert_int_equal(ifm_device_fake.describe(0, &machine, &error), IFM_OK);
    assert_int_equal(machine.threads, 1);
    assert_int_equal(ifm_device_fake.describe(96, &machine, &error), IFM_OK);
    assert_int_equal(machine.threads, 96);
    assert_int_equal(machine.cpus_allowed, 96);
    assert_int_equal(machine.memory_available, (uint64_t)8 << 30);
    assert_int_equal(ifm_machine_llc(&machine), 32 << 20);
    assert_int_equal(machine.n_isas, 1);
    assert_string_equal(machine.isas[0], "scalar");
}

static void add_index(void *arg, unsigned index, unsigned count)
{
    *(unsigned *)arg += index * 100 + count;
}

static void has_buffers_and_workers(void **state)
{
    (void)state;
    struct ifm_device *device = open_script("", 1);
    struct ifm_error error = {0};
    void *a, *b;
    bool fresh;
    unsigned sum = 0;
    assert_true(ifm_device_is_fake(device));
    assert_null(device->ops->facts);
    assert_int_equal(device->ops->buffer(device, "a", 1000, &a, &fresh, &error), IFM_OK);
    assert_true(fresh);
    assert_int_equal(((char *)a)[999], 0);
    assert_int_equal(device->ops->buffer(device, "a", 1000, &b, &fresh, &error), IFM_OK);
    assert_false(fresh);
    assert_ptr_equal(a, b);
    device->set = 1; /* another set is other memory */
    assert_int_equal(device->ops->buffer(device, "a", 1000, &b, &fresh, &error), IFM_OK);
    assert_true(fresh);
    assert_ptr_not_equal(a, b);
    device->set = 0;
    assert_int_equal(device->ops->buffer(device, "a", 1000, &b, &fresh, &error), IFM_OK);
    assert_ptr_equal(a, b);
    assert_int_equal(device->ops->buffer(device, "b", (size_t)9 << 30, &b, &fresh, &error), IFM_MISSING);
    assert_non_null(strstr(error.message, "needs 9.00 GiB"));
    device->ops->parallel(device, 3, add_index, &sum);
    assert_int_equal(sum, 300 + 9);
    struct ifm_instant start = device->ops->mark(device);
    assert_int_equal(device->ops->flush(device, &error), IFM_OK);
    assert_int_equal(device->ops->mark(device).ns - start.ns, 1000020);
    device->ops->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_bad_scripts),
        cmocka_unit_test(takes_blanks_and_empty_pieces),
        cmocka_unit_test(arms_override_in_any_order),
        cmocka_unit_test(keeps_fractions_of_a_nanosecond),
        cmocka_unit_test(noise_is_lognormal_around_the_median),
        cmocka_unit_test(same_seed_same_clock),
        cmocka_unit_test(slot_noise_changes_at_hold_only),
        cmocka_unit_test(noise_is_autocorrelated),
        cmocka_unit_test(drift_cancels_in_abba),
        cmocka_unit_test(warmup_decays_for_each_arm),
        cmocka_unit_test(dies_when_the_script_says_so),
        cmocka_unit_test(describes_the_same_machine_everywhere),
        cmocka_unit_test(has_buffers_and_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
