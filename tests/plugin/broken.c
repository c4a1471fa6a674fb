/* Plugins with one fault each, chosen by a macro: what the loader must name. */
#include <inferometer/plugin.h>

static const struct inferometer_plugin_param params[] = {
#ifdef BROKEN_DEFAULT
    {"n", INFEROMETER_PLUGIN_U64, 0, "", "0", 1, 9, NULL, "a number"},
#else
    {"n", INFEROMETER_PLUGIN_U64, 0, "", "1", 1, 9, NULL, "a number"},
#endif
};

static int describe(const struct inferometer_plugin_value *values, const struct inferometer_plugin_host *host,
                    struct inferometer_plugin_ledger *ledger)
{
    (void)values, (void)host, (void)ledger;
    return 0;
}

static int open_state(const struct inferometer_plugin_value *values, uint64_t seed,
                      const struct inferometer_plugin_host *host, void **state)
{
    (void)values, (void)seed, (void)host, (void)state;
    return 0;
}

#ifndef BROKEN_NO_STEP
static void step(void *state, uint64_t n)
{
    (void)state, (void)n;
}
#endif

static void close_state(void *state)
{
    (void)state;
}

static const struct inferometer_plugin plugin = {
    .struct_size = sizeof plugin,
    .abi = INFEROMETER_PLUGIN_ABI,
    .name = "broken",
    .purpose = "a fault",
    .timed_region = "nothing",
    .params = params,
    .n_params = 1,
    .param_size = sizeof *params,
    .describe = describe,
    .open = open_state,
#ifndef BROKEN_NO_STEP
    .step = step,
#endif
    .close = close_state,
};

#ifdef BROKEN_NO_SYMBOL
#define ENTRY inferometer_plug
const struct inferometer_plugin *ENTRY(uint32_t abi);
#else
#define ENTRY inferometer_plugin
#endif

const struct inferometer_plugin *ENTRY(uint32_t abi)
{
    static struct inferometer_plugin table;
    table = plugin;
#if defined(BROKEN_ABI)
    table.abi = abi + 1;
#elif defined(BROKEN_SIZE)
    table.struct_size = offsetof(struct inferometer_plugin, devices) - sizeof(void *);
#elif defined(BROKEN_OLD) /* not broken: of the first header of this ABI, which had nothing behind `collect` */
    table.struct_size = offsetof(struct inferometer_plugin, devices);
    table.devices = table.reserved = UINT32_MAX;
#elif defined(BROKEN_DEVICES)
    table.devices = 4;
#elif defined(BROKEN_TAKEN)
    table.name = "decode";
#elif defined(BROKEN_NULL_TABLE)
    return abi == 0 ? &table : NULL;
#endif
    (void)abi;
    return &table;
}
