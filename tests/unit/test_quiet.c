/* --wait-quiet on scripted machines: how long is waited, and what is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/log.h"
#include "model/facts.h"
#include "run/interrupt.h"
#include "run/quiet.h"
#include "unit/facts.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

struct machine {
    double foreign[8], stolen[8]; /* of each second; the last one goes on */
    unsigned seconds, read;
    bool unreadable;
    unsigned interrupted_at; /* 0 = never */
};

static bool read_machine(void *context, struct ifm_host_noise *out, double *seconds)
{
    struct machine *machine = context;
    unsigned at = machine->read < machine->seconds ? machine->read : machine->seconds - 1;
    *out = (struct ifm_host_noise){machine->foreign[at], machine->stolen[at]};
    *seconds = 1;
    machine->read++;
    if (machine->read == machine->interrupted_at)
        raise(SIGTERM);
    return !machine->unreadable;
}

static double in_vain_s; /* of the last wait */

/* What is said on standard error meanwhile. */
static enum ifm_status wait_for(struct machine *machine, double most_s, char said[1024])
{
    struct ifm_error error = {0};
    int kept = dup(2);
    FILE *file = tmpfile();
    assert_true(kept >= 0 && file != NULL);
    fflush(stderr);
    dup2(fileno(file), 2);
    enum ifm_status status = ifm_wait_quiet(most_s, read_machine, machine, &in_vain_s, &error);
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    rewind(file);
    said[fread(said, 1, 1023, file)] = '\0';
    fclose(file);
    return status;
}

static void a_quiet_machine_is_measured_at_once(void **state)
{
    (void)state;
    char said[1024];
    struct machine machine = {.foreign = {0.02}, .seconds = 1};
    assert_int_equal(wait_for(&machine, 60, said), IFM_OK);
    assert_int_equal(machine.read, 2);
    assert_string_equal(said, "");
}

/* A single quiet second between busy ones is none. */
static void two_quiet_seconds_in_a_row_end_the_wait(void **state)
{
    (void)state;
    char said[1024];
    struct machine machine = {.foreign = {0.63, 0, 0.4, 0, 0}, .seconds = 5};
    assert_int_equal(wait_for(&machine, 60, said), IFM_OK);
    assert_int_equal(machine.read, 5);
    assert_facts(said, "at most 60 s|other programs take 63 %|quiet after 5 s");
    assert_true(in_vain_s == 0);
}

static void a_wait_ends_and_says_why(void **state)
{
    (void)state;
    char said[1024];
    struct machine machine = {.foreign = {0.2}, .stolen = {0.3}, .seconds = 1};
    assert_int_equal(wait_for(&machine, 7, said), IFM_OK);
    assert_int_equal(machine.read, 7);
    assert_facts(said, "not quiet within 7 s|other programs take 20 %|hypervisor 30 %|measuring all the same");
    assert_true(in_vain_s == 7);
    machine = (struct machine){.stolen = {0.25}, .seconds = 1};
    assert_int_equal(wait_for(&machine, 2, said), IFM_OK);
    assert_facts(said, "the hypervisor takes 25 %");
}

static void what_cannot_be_read_is_not_waited_for(void **state)
{
    (void)state;
    char said[1024];
    struct machine machine = {.seconds = 1, .unreadable = true};
    assert_int_equal(wait_for(&machine, 60, said), IFM_OK);
    assert_int_equal(machine.read, 1);
    assert_facts(said, "cannot be read");
}

static void a_signal_ends_the_wait(void **state)
{
    (void)state;
    char said[1024];
    struct machine machine = {.foreign = {0.9}, .seconds = 1, .interrupted_at = 3};
    ifm_interrupt_install();
    assert_int_equal(wait_for(&machine, 60, said), IFM_INTERRUPTED);
    ifm_interrupt_restore();
    assert_int_equal(machine.read, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_machine_is_measured_at_once),
        cmocka_unit_test(two_quiet_seconds_in_a_row_end_the_wait), cmocka_unit_test(a_wait_ends_and_says_why),
        cmocka_unit_test(what_cannot_be_read_is_not_waited_for), cmocka_unit_test(a_signal_ends_the_wait)};
    return cmocka_run_group_tests_name("quiet", tests, NULL, NULL);
}
