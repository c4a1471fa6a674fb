/* Signals set a flag; everything else happens between slots. */
#include "run/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;
static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
enum { CAUGHT = sizeof caught / sizeof *caught };
static struct sigaction before[CAUGHT];

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

void ifm_interrupt_install(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    interrupted = 0;
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &action, &before[i]);
}

void ifm_interrupt_restore(void)
{
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &before[i], NULL);
}

bool ifm_interrupted(void)
{
    return interrupted != 0;
}
