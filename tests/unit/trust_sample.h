/* A run whose comparison is decided, and of which nothing was found, until a test changes it. */
#ifndef TESTS_UNIT_TRUST_SAMPLE_H
#define TESTS_UNIT_TRUST_SAMPLE_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/text.h"
#include "document/trust.h"
#include "publish/compose.h"
#include "publish_sample.h"

static inline void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is missing in:\n%s", part, text);
}

static inline void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("\"%s\" is in:\n%s", part, text);
}

/* A comparison that is decided, and nothing found. */
static struct ifm_number decided[] = {
    {D, "plain", IFM_M_STEP_NS, RATE(800000, 799000, 801000)},
    {D, "half", IFM_M_STEP_NS, RATE(400000, 399500, 400500)},
    {D,
     "half",
     IFM_M_SPEEDUP,
     {.number = 2, .has_interval = true, .low = 1.9, .high = 2.1, .level = 0.983, .n = 24, .n_of = "blocks"}},
    {D,
     "half",
     IFM_M_CHANGE_PERCENT,
     {.number = -50,
      .has_interval = true,
      .low = -52.380952380952387,
      .high = -47.368421052631582,
      .level = 0.983,
      .n = 24,
      .n_of = "blocks",
      .text = "faster"}},
    {D, "half", IFM_M_BLOCKS_NEEDED, WORD(IFM_STATE_ABSENT, "it is decided", "")},
    {D, "read.linear", IFM_M_READ_BYTES_PER_S, WORD(IFM_STATE_ABSENT, "no ledger", "")},
    {D, "half", IFM_M_READ_BYTES_PER_S, WORD(IFM_STATE_ABSENT, "no ledger", "")},
    {D, "half", IFM_M_ENERGY_PER_STEP_J, RATE(0.1, 0.09, 0.11)},
    {S, "16 KiB", IFM_M_LOAD_NS, RATE(1.19, 1.18, 1.20)},
    {S, "64 KiB", IFM_M_LOAD_NS, RATE(3.1, 3.0, 3.2)},
    {S, "1 MiB", IFM_M_LOAD_NS, RATE(4.2, 4.1, 4.3)},
    {S, "8 MiB", IFM_M_LOAD_NS, RATE(14.1, 13.9, 14.3)},
    {S, "64 MiB", IFM_M_LOAD_NS, RATE(88.0, 87, 89)},
    {S, "512 MiB", IFM_M_LOAD_NS, RATE(97.4, 96, 99)},
};
enum { PLAIN_TIME, HALF_TIME, SPEEDUP, CHANGE, NEEDED, PROBE_RATE, HALF_RATE, HALF_ENERGY };

struct sample {
    struct ifm_number numbers[COUNT(decided)];
    struct ifm_derived derived;
    struct ifm_verdict verdict;
    struct ifm_publication publication;
    struct ifm_arena *arena;
};

static inline struct sample *sample_of(const struct ifm_finding *findings, size_t n)
{
    static struct sample s;
    if (s.arena != NULL)
        ifm_arena_destroy(s.arena);
    s.arena = ifm_arena_create();
    s.publication = sample_publication(NULL);
    memcpy(s.numbers, decided, sizeof decided);
    sample_fill(s.numbers, COUNT(decided));
    s.derived = (struct ifm_derived){.run_id = sample_plan.run_id,
                                     .config_hash = sample_plan.config_hash,
                                     .numbers = s.numbers,
                                     .n_numbers = COUNT(decided)};
    s.derived.findings = IFM_ARENA_ARRAY(s.arena, struct ifm_finding, n + 1);
    s.derived.n_findings = n;
    if (n > 0)
        memcpy(s.derived.findings, findings, n * sizeof *findings);
    for (size_t i = 0; i < n; i++)
        s.derived.busy |= findings[i].kind == IFM_FINDING_LOAD;
    s.verdict = (struct ifm_verdict){.outcome = IFM_OUTCOME_NOT_GATED, .exit_code = IFM_OK, .rollback_advice = ""};
    s.publication.derived = &s.derived;
    s.publication.verdict = &s.verdict;
    return &s;
}

static inline struct ifm_trust trust_of(const struct ifm_finding *findings, size_t n)
{
    struct sample *s = sample_of(findings, n);
    return ifm_trust_of(&s->publication, s->arena);
}

static inline struct ifm_trust again(struct sample *s)
{
    return ifm_trust_of(&s->publication, s->arena);
}

/* The first screen. */
static inline char *brief(struct sample *s)
{
    struct ifm_text text = {0};
    struct ifm_error error;
    assert_int_equal(ifm_compose_document(&s->publication, IFM_LEVEL_BRIEF, false, true, &text, &error), IFM_OK);
    return text.data;
}

/* The words of the page, without its tags. */
static inline char *page(struct sample *s)
{
    struct ifm_text text = {0};
    struct ifm_error error;
    assert_int_equal(ifm_compose_document(&s->publication, IFM_LEVEL_PAGE, false, true, &text, &error), IFM_OK);
    char *to = text.data;
    bool tag = false;
    for (const char *at = text.data; *at != '\0'; at++) {
        tag |= *at == '<';
        if (!tag)
            *to++ = *at;
        tag &= *at != '>';
    }
    *to = '\0';
    return text.data;
}

static inline void add_number(struct sample *s, const char *arm, enum ifm_metric_id metric, struct ifm_value value)
{
    struct ifm_number *with = IFM_ARENA_ARRAY(s->arena, struct ifm_number, s->derived.n_numbers + 1);
    memcpy(with, s->derived.numbers, s->derived.n_numbers * sizeof *with);
    value.unit = ifm_metrics[metric].unit;
    with[s->derived.n_numbers++] = (struct ifm_number){D, arm, metric, value};
    s->derived.numbers = with;
}

/* ---- an open comparison ---- */

static const struct ifm_gate limit = {
    .name = "limit", .metric = "change_percent", .cell = "", .arm = "", .interval = true};
static const struct ifm_gate_result on_limit = {.gate = &limit,
                                                .cell = D,
                                                .arm = "half",
                                                .observed = {.has_interval = true},
                                                .outcome = IFM_OUTCOME_INCONCLUSIVE,
                                                .further = 33,
                                                .further_of = "blocks",
                                                .reason = "on both sides",
                                                .remedy = ""};

/* Undecided after 24 blocks, of 124 that it needs. */
static inline struct sample *open_sample(const struct ifm_finding *findings, size_t n)
{
    struct sample *s = sample_of(findings, n);
    s->numbers[CHANGE].value.text = "undecided";
    s->numbers[NEEDED].value = (struct ifm_value){.number = 124, .n = 24, .n_of = "blocks"};
    sample_fill(s->numbers, COUNT(decided));
    return s;
}

/* The run ended for `reason` after so many blocks and seconds. */
static inline void ended(struct sample *s, const char *reason, int blocks, double seconds)
{
    char text[512];
    snprintf(text, sizeof text,
             "[{\"stage\":\"stop\",\"meta\":{\"cell\":\"%s\",\"reason\":\"%s\",\"blocks\":%d,\"elapsed_s\":%g,"
             "\"mde\":0.1,\"wanted_mde\":0.01}}]",
             D, reason, blocks, seconds);
    json_t *lines = json_loads(text, 0, NULL);
    assert_non_null(lines);
    s->publication.events = events_of(lines, s->arena);
    json_decref(lines);
}

/* So many blocks were measured for the 24 that stand. */
static inline void measured_in_all(struct sample *s, int64_t n)
{
    struct ifm_number *with = IFM_ARENA_ARRAY(s->arena, struct ifm_number, s->derived.n_numbers + 1);
    memcpy(with, s->derived.numbers, s->derived.n_numbers * sizeof *with);
    with[s->derived.n_numbers] = s->numbers[CHANGE];
    with[s->derived.n_numbers].metric = IFM_M_CHANGE_PERCENT_ALL_BLOCKS;
    with[s->derived.n_numbers++].value.n = n;
    s->derived.numbers = with;
}

static inline size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        n++;
    return n;
}

#endif
