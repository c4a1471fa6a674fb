/* What a call into somebody else's code changed is named and put back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/ambient.h"
#include <fenv.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void nothing_changed(void **state)
{
    (void)state;
    struct ifm_ambient saved;
    volatile double zero = 0, one = 1;
    ifm_ambient_save(&saved);
    zero = one / zero; /* raises a flag, as any code may */
    assert_null(ifm_ambient_restore(&saved));
}

static void rounding_is_put_back(void **state)
{
    (void)state;
    struct ifm_ambient saved;
    ifm_ambient_save(&saved);
    fesetround(FE_DOWNWARD);
    assert_non_null(ifm_ambient_restore(&saved));
    assert_int_equal(fegetround(), FE_TONEAREST);
    assert_null(ifm_ambient_restore(&saved));
}

static void the_locale_is_put_back(void **state)
{
    (void)state;
    struct ifm_ambient saved;
    setlocale(LC_CTYPE, "C.UTF-8");
    char *before = strdup(setlocale(LC_ALL, NULL));
    ifm_ambient_save(&saved);
    if (setlocale(LC_NUMERIC, "C.UTF-8") == NULL)
        skip();
    assert_non_null(ifm_ambient_restore(&saved));
    assert_string_equal(setlocale(LC_ALL, NULL), before);
    locale_t other = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    uselocale(other);
    assert_non_null(ifm_ambient_restore(&saved));
    assert_true(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
    freelocale(other);
    free(before);
}

#if defined(__x86_64__)
#include <xmmintrin.h>
/* What -ffast-math does when it is loaded. */
static void flushing_is_put_back(void **state)
{
    (void)state;
    struct ifm_ambient saved;
    ifm_ambient_save(&saved);
    _mm_setcsr(_mm_getcsr() | 0x8040);
    assert_non_null(ifm_ambient_restore(&saved));
    assert_int_equal(_mm_getcsr() & 0x8040, 0);
}
#else
static void flushing_is_put_back(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changed),
        cmocka_unit_test(rounding_is_put_back),
        cmocka_unit_test(the_locale_is_put_back),
        cmocka_unit_test(flushing_is_put_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
