/* A plugin that does what inferometer/plugin.h forbids, where and how its parameters say: it ends its process or a
 * thread of the lab, never returns, rests every second or tenth call, or changes the locale or the rounding mode. */
#define _GNU_SOURCE
#include <inferometer/plugin.h>

#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAULT, WHEN, LATE, N_PARAMS };
enum fault {
    NONE,
    EXIT,
    EXIT_AT_ONCE,
    QUICK_EXIT,
    END_THREAD,
    END_WORKER,
    ABORT,
    CRASH,
    LOCALE,
    THREAD_LOCALE,
    ROUNDING,
    HANG,
    REST,
    REST_TENTH
};

static const struct inferometer_plugin_param params[N_PARAMS] = {
    {"fault", INFEROMETER_PLUGIN_CHOICE, INFEROMETER_PLUGIN_PER_ARM, NULL, "none", 0, 0,
     "none|exit|exit_at_once|quick_exit|end_thread|end_worker|abort|crash|locale|thread_locale|rounding|hang|rest|"
     "rest_tenth",
     "what it does"},
    {"when", INFEROMETER_PLUGIN_CHOICE, INFEROMETER_PLUGIN_PER_ARM, NULL, "step", 0, 0,
     "describe|open|step|check|features|close", "in which function"},
    {"late", INFEROMETER_PLUGIN_U64, INFEROMETER_PLUGIN_PER_ARM, NULL, "0", 0, 1e9, NULL,
     "calls of step that go well before"},
};

struct state {
    const struct inferometer_plugin_host *host;
    enum fault fault;
    const char *when;
    char copy[16];
    uint64_t late, calls, features;
    double *sum;
};

static void end_worker(void *arg, unsigned index, unsigned count)
{
    (void)arg;
    if (index == count - 1)
        pthread_exit(NULL);
}

static void misbehave(const struct inferometer_plugin_host *host, enum fault fault)
{
    switch (fault) {
    case NONE:
        break;
    case EXIT:
        exit(0);
    case EXIT_AT_ONCE:
        _exit(0);
    case QUICK_EXIT:
        quick_exit(0);
    case END_THREAD:
        pthread_exit(NULL);
    case END_WORKER:
        host->parallel(host, end_worker, NULL);
        break;
    case ABORT:
        abort();
    case CRASH:
        raise(SIGSEGV);
        break;
    case LOCALE:
        setlocale(LC_NUMERIC, "C.UTF-8"); /* has a point too, but a name that the lab did not choose */
        break;
    case THREAD_LOCALE:
        uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
        break;
    case ROUNDING:
        fesetround(FE_UPWARD);
        break;
    case HANG:
        for (;;)
            pause();
    case REST: /* in step() */
    case REST_TENTH:
        break;
    }
}

static void now(struct state *state, const char *when)
{
    if (strcmp(state->when, when) == 0)
        misbehave(state->host, state->fault);
}

static int describe(const struct inferometer_plugin_value *values, const struct inferometer_plugin_host *host,
                    struct inferometer_plugin_ledger *ledger)
{
    if (strcmp(values[WHEN].text, "describe") == 0)
        misbehave(host, (enum fault)values[FAULT].u64);
    ledger->flops = 1;
    ledger->feature = "counting";
    ledger->memory = sizeof(struct state);
    return 0;
}

static int open_state(const struct inferometer_plugin_value *values, uint64_t seed,
                      const struct inferometer_plugin_host *host, void **out)
{
    struct state *state = calloc(1, sizeof *state);
    void *sum;
    (void)seed;
    if (state == NULL || host->buffer(host, "sum", sizeof(double), 0, &sum, NULL) != 0)
        return host->fail(host, "out of memory", NULL);
    state->sum = sum;
    state->host = host;
    state->fault = (enum fault)values[FAULT].u64;
    strncpy(state->copy, values[WHEN].text, sizeof state->copy - 1);
    state->when = state->copy;
    state->late = values[LATE].u64;
    *out = state;
    now(state, "open");
    return 0;
}

static void step(void *opened, uint64_t n)
{
    struct state *state = opened;
    double sum = 0;
    const uint64_t period = state->fault == REST ? 2 : 10;
    if (state->fault >= REST && state->calls % period == 1) {
        state->calls++;
        return; /* the call before it has left the right output */
    }
    for (volatile uint64_t i = 0; i < n * 500; i++)
        sum += 1;
    *state->sum = sum / (double)n;
    state->features += n;
    if (state->calls++ >= state->late)
        now(state, "step");
}

static int check(void *opened, struct inferometer_plugin_check *out)
{
    struct state *state = opened;
    now(state, "check");
    out->values = 1;
    out->finite = *state->sum == 500;
    out->output = state->sum;
    out->output_bytes = sizeof *state->sum;
    return 0;
}

static uint64_t feature_runs(const void *opened)
{
    struct state *state = (struct state *)(uintptr_t)opened;
    now(state, "features");
    return state->features;
}

static void close_state(void *opened)
{
    now(opened, "close");
    free(opened);
}

static const struct inferometer_plugin plugin = {
    .struct_size = sizeof plugin,
    .abi = INFEROMETER_PLUGIN_ABI,
    .name = "unruly",
    .purpose = "ends its process, or changes what belongs to all of it",
    .timed_region = "a sum, and the fault",
    .params = params,
    .n_params = N_PARAMS,
    .param_size = sizeof *params,
    .describe = describe,
    .open = open_state,
    .step = step,
    .check = check,
    .feature_runs = feature_runs,
    .close = close_state,
};

#ifdef UNRULY_LOAD
__attribute__((constructor)) static void on_load(void)
{
    _exit(0);
}
#endif

const struct inferometer_plugin *inferometer_plugin(uint32_t abi)
{
    return abi == INFEROMETER_PLUGIN_ABI ? &plugin : NULL;
}
