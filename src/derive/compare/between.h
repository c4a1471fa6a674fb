/* Between runs: the formulas that put a number of one run beside the same number of another.
 *
 * Two runs of identical code differ significantly far too often (docs/comparing.md has the figures), so a
 * ratio of two absolute times gets a decision word only where nothing at all differs. A ratio of arms that took turns
 * inside each run survives another clock or host, so a ratio of two such ratios may be decided. Pure. */
#ifndef IFM_DERIVE_COMPARE_BETWEEN_H
#define IFM_DERIVE_COMPARE_BETWEEN_H

#include "derive/compare/likeness.h"

/* A mean of logarithms that an interval stands for. */
struct ifm_log_estimate {
    double mean, se, df;
    double normal; /* the standard error, if the interval is that of a normal error; 0 = it is not */
};

/* Recover mean and standard error of ln(value) from a number with an interval: mean = ln(number),
 * se = max(ln(high/number), ln(number/low)) / t((1 + level)/2, n - 1), df = n - 1. What widened the interval (effective
 * blocks, drift, planned looks) widens the standard error with it. False without an interval, below two blocks, or for
 * a number that is not positive. */
bool ifm_log_estimate_of(const struct ifm_value *value, struct ifm_log_estimate *out);
/* other - reference of two independent estimates; Welch (1947), degrees of freedom by Satterthwaite (1946). */
struct ifm_log_estimate ifm_log_difference(const struct ifm_log_estimate *other,
                                           const struct ifm_log_estimate *reference);
/* The same of a number whose interval may be that of its windows or that of its sensors, whichever is wider
 * (energy): `normal` = the half-width / z((1 + level)/2) too. Three windows would make a small `se` of what the sensors
 * are off by. */
bool ifm_log_estimate_of_energy(const struct ifm_value *value, struct ifm_log_estimate *out);
/* How far the p-quantile lies from the mean: the wider one of t(p, df) se and z(p) normal. */
bool ifm_log_reach(const struct ifm_log_estimate *estimate, double p, double *out);

enum ifm_standing {
    IFM_STANDING_UNDECIDED = 0,
    IFM_STANDING_HOLDS,    /* the worse end of the interval stays inside the margin (non-inferiority) */
    IFM_STANDING_REGRESSED /* the whole interval lies beyond the margin on the bad side */
};

/* One number of a cell and arm in two runs. */
struct ifm_between_row {
    const char *cell, *arm;
    /* step_ns, speedup, ceiling_read_percent, ceiling_flops_percent; energy_per_step_j, energy_per_token_j (or
     * energy_per_total_token_j), energy_per_token_change_percent or energy_per_step_change_percent */
    enum ifm_metric_id metric;
    const char *baseline; /* of speedup and of a change of energy; else "" */
    bool missing;         /* one of the runs has no such cell or arm */
    bool interleaved;     /* a ratio of arms that took turns inside each run */
    bool energy;          /* of joules; else of time */
    bool across;          /* a share of the ceiling of each run's own device */
    bool integer;         /* of an arm that multiplies bytes: its ceiling of operations is the int8 one */
    bool beside;          /* both numbers may be printed side by side: nothing forbids the comparison */
    struct ifm_likeness likeness;
    struct ifm_value reference, other; /* the numbers of both runs */
    struct ifm_value change;  /* % of time or energy: positive = the other run takes more. text = word or "". Without an
                                 interval where a run has too few blocks for one, and undecided where a rule of honesty
                                 keeps one of the runs from deciding: the speed-up's text says so */
    struct ifm_value speedup; /* 1 / (1 + change) */
    struct ifm_value mde;     /* %; called faster or slower with 80 % probability, the margin cleared */
    const char *word; /* faster, slower, equivalent, undecided; of energy less, more; of a share nearer, farther (to
                         the ceiling: its time may say the opposite); "" = no decision is made */
    const char *not_comparable; /* "not comparable: locks, time"; "" when nothing qualifies the number */
    double margin;              /* of the other run's cell, relative */
    enum ifm_standing standing;
    bool has_estimate;
    /* By ifm_derived_dispute and ifm_derived_widened, in either run; "" = none. */
    const char *disputed, *widened;
    struct ifm_log_estimate loss; /* of ln(time of the other run / of the reference); where has_estimate */
    /* Of a speed-up whose arm the reference knows to lose something of its output, and whose runs are alike: a loss is
     * no time and has no noise, so one beyond the reference's and the margin regressed. Undecided: this run recorded
     * none. */
    bool lossy;
    struct ifm_value reference_loss, other_loss; /* loss_rms_rel */
    enum ifm_standing loss_standing;
    double each;      /* blocks of a run for each undisturbed one, of the run that has more */
    uint64_t further; /* undecided: so many more blocks of each run would probably decide, by the rule of a run's gates;
                         0 = no sensible number */
    bool few;         /* a run has too few undisturbed blocks to foretell any number */
};

struct ifm_between {
    struct ifm_between_row *rows;
    size_t n, capacity;
};

/* What is asked of two runs. */
struct ifm_between_wish {
    const char *cell;   /* NULL = all cells */
    const char *varies; /* the settings that may differ, as in ifm_likeness_arms; NULL = none */
    bool across;        /* devices may differ */
};

/* Ratios of interleaved arms are one family, and so are step times and energies that may be decided: with m rows in a
 * family each interval has the level 1 - 0.05 / m (and the one for equivalence 1 - 0.10 / m), so that all of a family
 * hold at once with 95 % (Bonferroni). Words and standings are read off these intervals. Energy per token is that per
 * step in another unit, and counts once.
 *
 * `across`: the runs are of two devices, and rows are shares of each device's own ceilings alone: a time there says
 * which device was bought.
 *
 * Every number that either run holds, in the order of the reference, then what only the other has. A cell or arm that
 * one of them lacks is an absent row with its reason. */
void ifm_between(const struct ifm_run_view *reference, const struct ifm_run_view *other,
                 const struct ifm_between_wish *wish, struct ifm_arena *arena, struct ifm_between *out);

#endif
