/* Signals set a flag; everything else happens between slots. SIGXFSZ (a limit on file sizes) is caught, as the command
 * does from its start: here it is for sessions of the library. */
#include "run/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted, continued;
static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
enum { CAUGHT = sizeof caught / sizeof *caught };
static struct sigaction before[CAUGHT], before_limit, before_continue;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static void on_continue(int number)
{
    (void)number;
    continued = 1;
}

static void on_limit(int number)
{
    (void)number;
}

void ifm_interrupt_install(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    interrupted = 0;
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &action, &before[i]);
    action = (struct sigaction){.sa_handler = on_limit};
    sigaction(SIGXFSZ, &action, &before_limit);
    action = (struct sigaction){.sa_handler = on_continue, .sa_flags = (int)SA_RESTART};
    sigaction(SIGCONT, &action, &before_continue);
}

void ifm_interrupt_restore(void)
{
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &before[i], NULL);
    sigaction(SIGXFSZ, &before_limit, NULL);
    sigaction(SIGCONT, &before_continue, NULL);
}

bool ifm_was_continued(void)
{
    const bool was = continued != 0;
    continued = 0;
    return was;
}

bool ifm_interrupted(void)
{
    return interrupted != 0;
}

enum ifm_status ifm_interrupt_check(const char *cell, struct ifm_error *error)
{
    return interrupted == 0 ? IFM_OK
                            : ifm_fail(error, IFM_INTERRUPTED, cell, "go on with --resume",
                                       "interrupted; every whole block is kept");
}
