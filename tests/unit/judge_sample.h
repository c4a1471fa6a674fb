/* A run that every preset accepts: an arm a little more than twice as fast, with all the columns and facts that gates
 * ask for. Tests break one thing at a time. Behind rules/fixture.h. */
#ifndef IFM_TESTS_UNIT_JUDGE_SAMPLE_H
#define IFM_TESTS_UNIT_JUDGE_SAMPLE_H

#include "rules/fixture.h"

#include "config/config.h"
#include "workload/workload.h"
#include <stdio.h>

struct judged {
    struct fixture fx;
    struct ifm_config *config;
    double l2[2], energy_uj[2], quality[2], error; /* of base and other; energy of a step; below zero = not there */
    double steal[2], khz[2];                       /* share of a slot; below zero = not there */
};

static inline void jd_start(struct judged *j)
{
    *j = (struct judged){.l2 = {0.5, 0.65}, .energy_uj = {1000, 500}, .quality = {80, 80}, .error = 1e-6};
    j->steal[0] = j->steal[1] = j->khz[0] = j->khz[1] = -1;
    fx_start(&j->fx);
    for (int a = 0; a < 2; a++) {
        j->fx.parts[0].arms[a].ledger.tokens_generated = 4;
        j->fx.parts[0].arms[a].tolerance = 1;
    }
    j->fx.parts[0].step_ns[0] = 400000;
    j->fx.parts[0].step_ns[1] = 195000;
    j->fx.noise = 0.005;
}

static inline int64_t jd_count(double share, double steps)
{
    return share < 0 ? IFM_ABSENT : (int64_t)llround(share * steps);
}

/* What a check found of an arm. */
static inline void jd_check(struct judged *j, int a)
{
    json_t *meta = json_pack("{s:s, s:s, s:b, s:f, s:f, s:i, s:b, s:s, s:s}", "cell", "decode", "arm",
                             j->fx.cells[0].arms[a].name, "done", 1, "error_rms_rel", j->error, "error_max_rel",
                             j->error, "values", 64, "finite", 1, "output_xxh3", "00", "when", "before");
    if (a < 2 && j->quality[a] >= 0)
        json_object_set_new(meta, "quality_percent", json_real(j->quality[a]));
    fx_event(&j->fx, "check", meta);
}

/* The record, with columns of its own in place of the fixture's. */
static inline void jd_record(struct judged *j)
{
    static char hits[] = "l2_hits", all[] = "l2_accesses", energy[] = "energy_uj", steal[] = "steal_ns",
                khz[] = "cpu_khz";
    enum { N = 5 };
    fx_generate(&j->fx);
    struct ifm_record *r = &j->fx.parts[0].record;
    free(r->columns);
    free(r->column_names);
    r->n_columns = N;
    r->columns = calloc(r->n_slots * N + 1, sizeof *r->columns);
    r->column_names = calloc(N, sizeof *r->column_names);
    assert_true(r->columns && r->column_names);
    char *const names[N] = {hits, all, energy, steal, khz};
    memcpy(r->column_names, names, sizeof names);
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_slot *slot = &r->slots[k];
        int64_t *column = &r->columns[k * N];
        unsigned arm = slot->arm;
        double steps = (double)slot->samples * slot->inner + 1;
        column[0] = jd_count(j->l2[arm], 1000 * steps);
        column[1] = j->l2[arm] < 0 ? IFM_ABSENT : (int64_t)(1000 * steps);
        column[2] = jd_count(j->energy_uj[arm], steps);
        column[3] = jd_count(j->steal[arm], (double)(slot->end_ns - slot->start_ns));
        column[4] = jd_count(j->khz[arm], 1);
        slot->columns = column;
    }
    for (int a = 0; a < 2; a++)
        jd_check(j, a);
    fx_end_events(&j->fx);
}

/* The gates of a preset, as the configuration makes them. */
static inline void jd_preset(struct judged *j, const char *preset)
{
    const struct ifm_section *sections[] = {ifm_workload_find("null")->params, NULL};
    struct ifm_error error = {0};
    char yaml[96];
    snprintf(yaml, sizeof yaml, "workload: 'null'\ngates_preset: [%s]\n", preset);
    j->config = ifm_config_create(sections);
    if (ifm_config_yaml(j->config, yaml, strlen(yaml), "c.yaml", &error) != IFM_OK ||
        ifm_config_resolve(j->config, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    const struct ifm_study *study = ifm_config_study(j->config);
    assert_true(study->n_gates > 0 && study->n_gates <= 8);
    memcpy(j->fx.gates, study->gates, study->n_gates * sizeof *study->gates);
    j->fx.plan.n_gates = study->n_gates;
}

static inline void jd_judge(struct judged *j)
{
    fx_derive(&j->fx);
    fx_judge(&j->fx);
}

static inline void jd_stop(struct judged *j)
{
    ifm_config_destroy(j->config);
    fx_stop(&j->fx);
}

static inline void jd_expect(const struct judged *j, enum ifm_outcome outcome, enum ifm_status code)
{
    const struct ifm_verdict *v = j->fx.verdict;
    if (v->outcome != outcome || v->exit_code != code)
        fail_msg("%s, exit %d: %s", ifm_outcome_name(v->outcome), v->exit_code, v->reasons[0]);
}

/* Every gate has `others` for its outcome, but the one named. */
static inline void jd_expect_but(const struct judged *j, const char *name, enum ifm_outcome outcome,
                                 enum ifm_outcome others)
{
    bool found = false;
    for (size_t g = 0; g < j->fx.verdict->n_gates; g++) {
        const struct ifm_gate_result *r = &j->fx.verdict->gates[g];
        bool meant = strcmp(r->gate->name, name) == 0;
        found = found || meant;
        if (r->outcome != (meant ? outcome : others))
            fail_msg("%s: %s: %s", r->gate->name, ifm_outcome_name(r->outcome), r->reason);
    }
    assert_true(found);
}

/* Recorded and judged by the preset golden-ticket. */
static inline void jd_start_golden(struct judged *j)
{
    jd_start(j);
    jd_record(j);
    jd_preset(j, "golden-ticket");
    jd_judge(j);
}

#endif
