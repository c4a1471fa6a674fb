/* Windows of a second until two in a row are quiet. */
#include "run/quiet.h"

#include "base/clock.h"
#include "base/log.h"
#include "model/facts.h"
#include "run/interrupt.h"
#include <stdio.h>

enum { WINDOW_MS = 1000, IN_A_ROW = 2, WHY = 96 };

static bool read_here(void *context, struct ifm_host_noise *out, double *seconds)
{
    (void)context;
    struct ifm_instant start = ifm_clock_now();
    bool read = ifm_host_noise(WINDOW_MS, out);
    *seconds = (double)ifm_clock_since(start).ns * 1e-9;
    return read;
}

/* What makes the machine noisy; "" = nothing does. */
static const char *why(const struct ifm_host_noise *noise, char text[WHY])
{
    text[0] = '\0';
    if (noise->foreign > IFM_LOADED && noise->stolen > IFM_LOADED)
        snprintf(text, WHY, "other programs take %.0f %% of each CPU, the hypervisor %.0f %%",
                 ifm_load_percent(noise->foreign), ifm_load_percent(noise->stolen));
    else if (noise->foreign > IFM_LOADED)
        snprintf(text, WHY, "other programs take %.0f %% of each CPU", ifm_load_percent(noise->foreign));
    else if (noise->stolen > IFM_LOADED)
        snprintf(text, WHY, "the hypervisor takes %.0f %% of each CPU", ifm_load_percent(noise->stolen));
    return text;
}

enum ifm_status ifm_wait_quiet(double most_s, ifm_quiet_read *read, void *context, double *in_vain_s,
                               struct ifm_error *error)
{
    struct ifm_host_noise noise;
    char reason[WHY], last[WHY] = "";
    double waited_s = 0, seconds = 0;
    *in_vain_s = 0;
    for (int in_a_row = 0; in_a_row < IN_A_ROW;) {
        IFM_TRY(ifm_interrupt_check("--wait-quiet", error));
        if (!(read == NULL ? read_here : read)(context, &noise, &seconds)) {
            ifm_warn("--wait-quiet: what else runs on this machine cannot be read; measuring at once");
            return IFM_OK;
        }
        waited_s += seconds;
        in_a_row = why(&noise, reason)[0] == '\0' ? in_a_row + 1 : 0;
        if (in_a_row == 0) {
            if (last[0] == '\0')
                ifm_note("waiting for a quiet machine, at most %.4g s: %s", most_s, reason);
            snprintf(last, sizeof last, "%s", reason);
        }
        if (in_a_row < IN_A_ROW && waited_s >= most_s) {
            ifm_warn("this machine was not quiet within %.4g s (%s): measuring all the same", most_s,
                     last[0] == '\0' ? "too short a wait to tell" : last);
            *in_vain_s = last[0] == '\0' ? 0 : waited_s;
            return IFM_OK;
        }
    }
    if (last[0] != '\0')
        ifm_note("this machine is quiet after %.0f s", waited_s);
    return IFM_OK;
}
