/* The GPU's monitor over a scripted library: shares of the stretch, or why there are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "instrument/gpm.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ifm_gpm_use use_of(const char *script, const char *file, double seconds)
{
    struct ifm_nvml nvml;
    struct ifm_gpm gpm;
    char room[256];
    const char *reason, *remedy;
    setenv("FAKE_NVML", script, 1);
    assert_true(ifm_nvml_open(file, &nvml, room, &reason, &remedy));
    ifm_gpm_begin(&gpm, &nvml, "", 0);
    gpm.start_ns -= (int64_t)(1e9 * seconds); /* nobody waits */
    return ifm_gpm_end(&gpm);
}

#define NEW IFM_FAKE_NVML "fake_nvml.so"

static void shares_are_told(void **state)
{
    (void)state;
    const struct ifm_gpm_use use = use_of("gpm=40,80,25,10", NEW, 3);
    assert_null(use.why);
    assert_true(use.memory == 40 && use.sm == 80 && use.occupancy == 25 && use.tensor == 10);
    assert_true(use.seconds >= 3 && use.seconds < 60);
}

static void what_is_no_share_is_no_number(void **state)
{
    (void)state;
    struct ifm_gpm_use use = use_of("gpm=40,171,25,10 gpm_lacks=5", NEW, 3);
    assert_null(use.why);
    assert_true(use.memory == 40 && isnan(use.sm) && isnan(use.tensor));
    use = use_of("gpm=40,80,25,10 gpm_nan=1", NEW, 3);
    assert_non_null(strstr(use.why, "no number from 0 to 100"));
    assert_true(isnan(use.memory));
}

static void no_monitor_says_why(void **state)
{
    (void)state;
    struct ifm_gpm gpm;
    assert_non_null(strstr(use_of("gpus=1", NEW, 3).why, "has no monitor of its parts"));
    assert_non_null(
        strstr(use_of("gpm=1,1,1,1", IFM_FAKE_NVML "fake_nvml_old.so", 3).why, "this driver has no monitor"));
    assert_non_null(strstr(use_of("gpm=1,1,1,1 gpm_rc=4", NEW, 3).why, "no permission"));
    assert_non_null(strstr(use_of("gpm=1,1,1,1", NEW, 0).why, "within a second"));
    ifm_gpm_open(&gpm, NULL, "there is no driver", "");
    assert_string_equal(gpm.why, "there is no driver");
    struct ifm_nvml nvml;
    char room[256];
    const char *reason, *remedy;
    setenv("FAKE_NVML", "gpus=1", 1); /* a GPU without the monitor */
    assert_true(ifm_nvml_open(NEW, &nvml, room, &reason, &remedy));
    ifm_gpm_open(&gpm, &nvml, "", "0000:00:00.0");
    assert_true(gpm.why[0] != '\0'); /* whichever call refuses: no GPU at that place, or no monitor */
    ifm_gpm_begin(&gpm, NULL, "there is no driver", 0);
    assert_string_equal(ifm_gpm_end(&gpm).why, "there is no driver");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares_are_told),
                                       cmocka_unit_test(what_is_no_share_is_no_number),
                                       cmocka_unit_test(no_monitor_says_why)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
