/* The numbers of one arm that come from its blocks, its ledger and its facts. */
#include "derive/internal.h"

#include <string.h>

/* amount per second from the step time; the interval's ends change places. */
static struct ifm_value rate_of(const struct ifm_value *step, double amount)
{
    struct ifm_value rate = *step;
    if (step->state != IFM_STATE_OK)
        return rate;
    rate.number = amount / step->number * 1e9;
    if (step->has_interval) {
        rate.low = amount / step->high * 1e9;
        rate.high = amount / step->low * 1e9;
    }
    return rate;
}

static struct ifm_value load_of(const struct ifm_value *step, double rows)
{
    struct ifm_value load = *step;
    if (step->state != IFM_STATE_OK)
        return load;
    load.number = step->number / rows;
    if (step->has_interval) {
        load.low = step->low / rows;
        load.high = step->high / rows;
    }
    return load;
}

static bool has_byte_products(const struct ifm_arm_work *arm)
{
    for (size_t a = 0; a < arm->work->cell->n_arms; a++)
        if (arm->work->cell->arms[a].ceiling == IFM_CEILING_INT8)
            return true;
    return false;
}

/* A ledger entry of zero gives no number at all: nothing was promised, so nothing is absent. */
static void emit_rates(const struct ifm_arm_work *arm, const struct ifm_value *step)
{
    const struct ifm_ledger *ledger = &arm->arm->ledger;
    double bytes = (double)ledger->bytes_read + (double)ledger->bytes_written;
    const struct {
        enum ifm_metric_id metric;
        double amount;
    } rates[] = {
        {IFM_M_READ_BYTES_PER_S, (double)ledger->bytes_read},
        {IFM_M_WRITE_BYTES_PER_S, (double)ledger->bytes_written},
        {IFM_M_BANDWIDTH_BYTES_PER_S, bytes},
        {IFM_M_FLOPS_PER_S, (double)ledger->flops},
        {IFM_M_TOKENS_GENERATED_PER_S, ifm_ledger_whole(ledger, ledger->tokens_generated)},
        {IFM_M_LAYER_TOKENS_PER_S, ledger->layers > 0 ? (double)ledger->tokens_generated : 0},
        {IFM_M_TOKENS_PROMPT_PER_S, ifm_ledger_whole(ledger, ledger->tokens_prompt)},
        {IFM_M_ROWS_PER_S, (double)ledger->rows},
    };
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (rates[i].amount > 0)
            ifm_derive_emit(arm, rates[i].metric,
                            rates[i].metric == IFM_M_FLOPS_PER_S && arm->arm->integer
                                ? ifm_value_integer_products(arm->work, has_byte_products(arm))
                                : rate_of(step, rates[i].amount));
    const char *words;
    const double bus = arm->cache_resident ? 0 : ifm_bus_bytes_per_s(arm->d, &words);
    if (bus > 0 && bytes > 0) /* x 100 for percent */
        ifm_derive_emit(arm, IFM_M_MEMORY_BUS_PERCENT, rate_of(step, 100 * bytes / bus));
    if (ifm_derive_is_cache_probe(arm->arm) && ledger->rows > 0)
        ifm_derive_emit(arm, IFM_M_LOAD_NS, load_of(step, (double)ledger->rows));
    if (ledger->flops > 0 && bytes > 0)
        ifm_derive_emit(arm, IFM_M_ARITHMETIC_INTENSITY, ifm_value_real((double)ledger->flops / bytes, 0, ""));
}

void ifm_derive_step(const struct ifm_arm_work *arm)
{
    struct ifm_value step = ifm_derive_step_value(arm, NULL);
    ifm_derive_emit(arm, IFM_M_STEP_NS, step);
    if (arm->work->n_marked > 0)
        ifm_derive_emit(arm, IFM_M_STEP_NS_WITHOUT_MARKED, ifm_derive_step_value(arm, arm->work->marked));
    emit_rates(arm, &step);
    ifm_derive_model(arm, &step);
}

/* Total of an instrument's column; where no slot was read, the journal may say why. */
static struct ifm_value column_total(const struct ifm_arm_work *arm, const char *name)
{
    const char *reason = "no instrument of this pass recorded it", *remedy = "";
    IFM_EACH_TOLD(event, arm->work, column_absent, NULL) {
        const struct ifm_event_column_absent *absent = IFM_FACTS(event, column_absent);
        bool is = strcmp(absent->column, name) == 0;
        reason = is ? absent->reason : reason;
        remedy = is ? absent->remedy : remedy;
    }
    return ifm_derive_total_value(arm, name, reason, remedy);
}

/* Returns the root mean square. */
static struct ifm_value emit_errors(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_value rms = ifm_value_absent(
        work->record == NULL && work->missing[0] != '\0' ? work->missing : "no check against the oracle was recorded",
        "", 0, "values");
    bool seen = false;
    struct ifm_value largest = rms;
    IFM_EACH_TOLD(event, work, check, arm->arm->name) {
        const struct ifm_event_check *check = IFM_FACTS(event, check);
        seen |= check->done;
        if (!check->done)
            continue;
        if (check->finite) {
            rms = ifm_value_real(check->error_rms_rel, check->values, "values");
            largest = ifm_value_real(check->error_max_rel, check->values, "values");
        } else {
            rms = ifm_value_absent("the output holds values that are not finite", "", check->values, "values");
            largest = rms;
        }
    }
    if (seen || arm->arm->has_oracle) {
        ifm_derive_emit(arm, IFM_M_ERROR_RMS_REL, rms);
        ifm_derive_emit(arm, IFM_M_ERROR_MAX_REL, largest);
    }
    return rms;
}

void ifm_derive_facts_of_arm(const struct ifm_arm_work *arm)
{
    static const enum ifm_metric_id counters[] = {IFM_M_CONTEXT_SWITCHES_INVOLUNTARY, IFM_M_FAULTS_MAJOR,
                                                  IFM_M_STEAL_NS, IFM_M_RUN_DELAY_NS};
    struct ifm_value error_rms = emit_errors(arm);
    ifm_derive_compression(arm, &error_rms);
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        ifm_derive_emit(arm, counters[i], column_total(arm, ifm_metrics[counters[i]].id));
}
