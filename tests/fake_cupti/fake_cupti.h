/* What the two halves of the fake CUPTI share. Thread rule: one thread. */
#ifndef IFM_TESTS_FAKE_CUPTI_H
#define IFM_TESTS_FAKE_CUPTI_H

#include <stdbool.h>

/* Begin or end what the script's `slows` adds to each kernel. */
void fake_cupti_slow(bool on);

#endif
