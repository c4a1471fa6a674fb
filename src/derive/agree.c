/* Rule 4: fields agree. Each derived number is held against the others and against the plan's ledger. */
#include "derive/derive.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Reals are recomputed within 1e-12; two operations on them agree within ten times that. */
#define AGREES 1e-11

struct where {
    const struct ifm_derived *derived;
    const char *cell, *arm;
    struct ifm_error *error;
};

static const struct ifm_value *find(const struct where *at, enum ifm_metric_id metric)
{
    const struct ifm_number *number = ifm_derived_find(at->derived, at->cell, at->arm, metric);
    return number != NULL && number->value.state == IFM_STATE_OK ? &number->value : NULL;
}

static bool equal(double a, double b)
{
    return fabs(a - b) <= AGREES * fmax(fabs(a), fabs(b));
}

static enum ifm_status say(const struct where *at, const char *first, double a, const char *second, double b)
{
    return ifm_fail(at->error, IFM_INVALID, "derived.json", "derive the numbers again from the record (verify)",
                    "rule-04: cell %s, arm %s: %s gives %.17g, but %s gives %.17g", at->cell, at->arm, first, a, second,
                    b);
}

static enum ifm_status disagree(const struct where *at, enum ifm_metric_id metric, double a, const char *second,
                                double b)
{
    return say(at, ifm_metrics[metric].id, a, second, b);
}

/* time x rate = amount, for the number and, turned round, for its interval. */
static enum ifm_status check_rate(const struct where *at, enum ifm_metric_id metric, double amount)
{
    const struct ifm_value *step = find(at, IFM_M_STEP_NS), *rate = find(at, metric);
    if (rate == NULL || step == NULL)
        return IFM_OK;
    if (!equal(rate->number * step->number, amount * 1e9))
        return disagree(at, metric, rate->number * step->number * 1e-9, "the ledger", amount);
    const struct ifm_value *mean = find(at, IFM_M_LATENCY_NS_MEAN); /* from the samples, and not by blocks */
    if (mean != NULL && !equal(rate->number * mean->number, amount * 1e9))
        return disagree(at, metric, rate->number * mean->number * 1e-9, "the mean of the samples", amount);
    if (rate->has_interval != step->has_interval)
        return disagree(at, metric, rate->has_interval, "step_ns (has an interval)", step->has_interval);
    if (rate->has_interval &&
        (!equal(rate->low * step->high, amount * 1e9) || !equal(rate->high * step->low, amount * 1e9)))
        return disagree(at, metric, rate->low, "the interval of step_ns", amount * 1e9 / step->high);
    return IFM_OK;
}

static enum ifm_status check_rates(const struct where *at, const struct ifm_arm *arm)
{
    const struct ifm_ledger *ledger = &arm->ledger;
    double bytes = (double)ledger->bytes_read + (double)ledger->bytes_written;
    IFM_TRY(check_rate(at, IFM_M_READ_BYTES_PER_S, (double)ledger->bytes_read));
    IFM_TRY(check_rate(at, IFM_M_WRITE_BYTES_PER_S, (double)ledger->bytes_written));
    IFM_TRY(check_rate(at, IFM_M_BANDWIDTH_BYTES_PER_S, bytes));
    IFM_TRY(check_rate(at, IFM_M_FLOPS_PER_S, (double)ledger->flops));
    IFM_TRY(check_rate(at, IFM_M_TOKENS_GENERATED_PER_S, ifm_ledger_whole(ledger, ledger->tokens_generated)));
    IFM_TRY(check_rate(at, IFM_M_LAYER_TOKENS_PER_S, (double)ledger->tokens_generated));
    IFM_TRY(check_rate(at, IFM_M_TOKENS_PROMPT_PER_S, ifm_ledger_whole(ledger, ledger->tokens_prompt)));
    IFM_TRY(check_rate(at, IFM_M_ROWS_PER_S, (double)ledger->rows));
    const struct ifm_value *intensity = find(at, IFM_M_ARITHMETIC_INTENSITY);
    if (intensity != NULL && !equal(intensity->number * bytes, (double)ledger->flops))
        return disagree(at, IFM_M_ARITHMETIC_INTENSITY, intensity->number, "the ledger", (double)ledger->flops / bytes);
    return IFM_OK;
}

static enum ifm_status check_comparison(const struct where *at)
{
    const struct ifm_value *change = find(at, IFM_M_CHANGE_PERCENT), *speedup = find(at, IFM_M_SPEEDUP);
    if (change != NULL && speedup != NULL && !equal(speedup->number * (1.0 + change->number / 100.0), 1.0))
        return disagree(at, IFM_M_SPEEDUP, speedup->number, "change_percent", 1.0 / (1.0 + change->number / 100.0));
    return IFM_OK;
}

/* What is stored is the plan's, and two ways of telling how much it is compressed tell the same. */
static enum ifm_status check_stored(const struct where *at, const struct ifm_arm *arm)
{
    const struct ifm_value *stored = find(at, IFM_M_STORED_BYTES), *ratio = find(at, IFM_M_COMPRESSION_RATIO);
    const struct ifm_value *bits = find(at, IFM_M_BITS_PER_VALUE), *error = find(at, IFM_M_ERROR_RMS_REL);
    const struct ifm_value *loss = find(at, IFM_M_LOSS_RMS_REL), *total = find(at, IFM_M_TOTAL_ERROR_RMS_REL);
    if (stored != NULL && !equal(stored->number, (double)arm->stored))
        return disagree(at, IFM_M_STORED_BYTES, stored->number, "the plan", (double)arm->stored);
    if (stored != NULL && ratio != NULL && !equal(ratio->number * stored->number, (double)arm->stored_plain))
        return disagree(at, IFM_M_COMPRESSION_RATIO, ratio->number, "the plan",
                        (double)arm->stored_plain / stored->number);
    if (ratio != NULL && bits != NULL && !equal(ratio->number * bits->number, 16.0))
        return disagree(at, IFM_M_BITS_PER_VALUE, bits->number, "compression_ratio", 16.0 / ratio->number);
    double sum =
        total == NULL || error == NULL || loss == NULL ? NAN : error->number * (1.0 + loss->number) + loss->number;
    if (!isnan(sum) && !equal(total->number, sum))
        return disagree(at, IFM_M_TOTAL_ERROR_RMS_REL, total->number, "error_rms_rel and loss_rms_rel", sum);
    return IFM_OK;
}

/* first x second = product, where all three were made. */
static enum ifm_status check_product(const struct where *at, enum ifm_metric_id first, enum ifm_metric_id second,
                                     enum ifm_metric_id product)
{
    const struct ifm_value *a = find(at, first), *b = find(at, second), *c = find(at, product);
    if (a == NULL || b == NULL || c == NULL || equal(a->number * b->number, c->number))
        return IFM_OK;
    char text[160];
    snprintf(text, sizeof text, "%s x %s", ifm_metrics[first].id, ifm_metrics[second].id);
    return disagree(at, product, c->number, text, a->number * b->number);
}

/* Joules, watts, seconds and tokens of the energy pass. */
static enum ifm_status check_energy(const struct where *at, const struct ifm_arm *arm)
{
    const struct ifm_value *gpu = find(at, IFM_M_GPU_ENERGY_J), *cpu = find(at, IFM_M_CPU_ENERGY_J);
    const struct ifm_value *all = find(at, IFM_M_TOTAL_ENERGY_J), *step = find(at, IFM_M_ENERGY_PER_STEP_J);
    const struct ifm_value *token = find(at, IFM_M_ENERGY_PER_TOKEN_J), *rate = find(at, IFM_M_TOKENS_PER_JOULE);
    IFM_TRY(check_product(at, IFM_M_POWER_MEAN_W, IFM_M_DURATION_SEC, IFM_M_TOTAL_ENERGY_J));
    IFM_TRY(check_product(at, IFM_M_GPU_POWER_W, IFM_M_DURATION_SEC, IFM_M_GPU_ENERGY_J));
    IFM_TRY(check_product(at, IFM_M_CPU_POWER_W, IFM_M_DURATION_SEC, IFM_M_CPU_ENERGY_J));
    if (gpu != NULL && cpu != NULL && all != NULL && !equal(gpu->number + cpu->number, all->number))
        return disagree(at, IFM_M_TOTAL_ENERGY_J, all->number, "gpu_energy_j + cpu_energy_j",
                        gpu->number + cpu->number);
    if (rate != NULL && token != NULL && !equal(rate->number * token->number, 1.0))
        return disagree(at, IFM_M_TOKENS_PER_JOULE, rate->number, "energy_per_token_j", 1.0 / token->number);
    double tokens = ifm_ledger_whole(&arm->ledger, arm->ledger.tokens_generated);
    if (step != NULL && token != NULL && tokens > 0 && !equal(token->number * tokens, step->number))
        return disagree(at, IFM_M_ENERGY_PER_STEP_J, step->number, "energy_per_token_j x tokens",
                        token->number * tokens);
    return IFM_OK;
}

/* One row of a sensor: what it has it has whole, and its idle part and the rest are its joules. */
static enum ifm_status check_row(const struct ifm_derived *derived, const struct ifm_device_energy *row,
                                 struct ifm_error *error)
{
    struct where at = {derived, row->cell, row->arm, error};
    bool empty = isnan(row->joules) && isnan(row->seconds);
    if (row->windows < 0 || (row->windows > 0 && !(row->joules >= 0 && row->seconds > 0 && row->random_j >= 0)) ||
        (row->windows == 0 && !empty))
        return say(&at, row->source, row->joules, "its number of windows", (double)row->windows);
    double whole = row->above_idle_j + row->idle_w * row->seconds;
    if (row->windows > 0 && !isnan(whole) &&
        fabs(whole - row->joules) > AGREES * (row->joules + fabs(row->above_idle_j)))
        return say(&at, row->source, row->joules, "its idle energy and the rest", whole);
    /* Below idle there is no energy above it (rule 5). */
    bool known = !isnan(row->idle_w), told = !isnan(row->above_idle_j);
    return known == told || (known && row->joules < row->idle_w * row->seconds) || row->windows == 0
               ? IFM_OK
               : say(&at, row->source, row->above_idle_j, "its idle power", row->idle_w);
}

/* Devices add up: the primaries of an arm are its total, where all of them have every window that it has. */
static enum ifm_status check_devices(const struct where *at)
{
    const struct ifm_value *all = find(at, IFM_M_TOTAL_ENERGY_J), *windows = find(at, IFM_M_ENERGY_WINDOWS);
    double sum = 0.0;
    size_t n = 0;
    if (all == NULL || windows == NULL)
        return IFM_OK;
    for (size_t i = 0; i < at->derived->n_energies; i++) {
        const struct ifm_device_energy *row = &at->derived->energies[i];
        if (strcmp(row->cell, at->cell) != 0 || strcmp(row->arm, at->arm) != 0 || strcmp(row->role, "primary") != 0)
            continue;
        if ((double)row->windows != windows->number)
            return IFM_OK;
        sum += row->joules;
        n++;
    }
    if (n > 0 && !equal(sum, all->number))
        return disagree(at, IFM_M_TOTAL_ENERGY_J, all->number, "the sum of the devices", sum);
    return IFM_OK;
}

static enum ifm_status check_order(const struct where *at, const struct ifm_number *number)
{
    const struct ifm_value *value = &number->value;
    if (value->state != IFM_STATE_OK)
        return IFM_OK;
    if (!isfinite(value->number))
        return disagree(at, number->metric, value->number, "rule-01 (a number is finite)", 0.0);
    if (value->has_interval && !(value->low <= value->number && value->number <= value->high))
        return disagree(at, number->metric, value->number, "its own interval", value->low);
    return IFM_OK;
}

enum ifm_status ifm_derived_agree(const struct ifm_plan *plan, const struct ifm_derived *derived,
                                  struct ifm_error *error)
{
    if (strcmp(plan->config_hash, derived->config_hash) != 0 || strcmp(plan->run_id, derived->run_id) != 0)
        return ifm_fail(error, IFM_INVALID, "derived.json", "derive the numbers again from the record",
                        "rule-04: run %s with configuration %s, but the plan is run %s with configuration %s",
                        derived->run_id, derived->config_hash, plan->run_id, plan->config_hash);
    for (size_t i = 0; i < derived->n_numbers; i++) {
        const struct ifm_number *number = &derived->numbers[i];
        struct where at = {derived, number->cell, number->arm, error};
        if (number->cell[0] != '\0' && ifm_plan_cell(plan, number->cell) == NULL)
            return ifm_fail(error, IFM_INVALID, "derived.json", NULL, "rule-04: the plan has no cell \"%s\"",
                            number->cell);
        IFM_TRY(check_order(&at, number));
    }
    for (size_t i = 0; i < derived->n_energies; i++)
        IFM_TRY(check_row(derived, &derived->energies[i], error));
    for (size_t c = 0; c < plan->n_cells; c++)
        for (size_t a = 0; a < plan->cells[c].n_arms; a++) {
            struct where at = {derived, plan->cells[c].name, plan->cells[c].arms[a].name, error};
            IFM_TRY(check_rates(&at, &plan->cells[c].arms[a]));
            IFM_TRY(check_comparison(&at));
            IFM_TRY(check_stored(&at, &plan->cells[c].arms[a]));
            IFM_TRY(check_energy(&at, &plan->cells[c].arms[a]));
            IFM_TRY(check_devices(&at));
        }
    return IFM_OK;
}
