/* The word of trust where a comparison or a gate is left open; trust.c alone asks. */
#ifndef IFM_DOCUMENT_TRUST_OPEN_H
#define IFM_DOCUMENT_TRUST_OPEN_H

#include "document/trust.h"

struct ifm_decisions {
    size_t n, answered, undecided, unanswered; /* unanswered: absent or refused */
    size_t equal;                              /* of the answered */
    bool noise;                                /* somebody else was at work beside an open one, or a warning is there */
    struct ifm_more nearest;                   /* of the one that needs fewest */
    struct ifm_undecided of;                   /* that one, or the first */
    const struct ifm_finding *took;            /* the first that took a word; NULL = none did */
    size_t alike;                              /* words that it, or its like, took */
};

/* Of one pair of programs the arm says which is meant. */
const char *ifm_trust_place(const struct ifm_publication *from, const char *cell, const char *arm,
                            struct ifm_arena *arena);
/* Of a warning: what spoils a comparison without any noise in it lies in an arm, or in how the two were set up. */
enum ifm_trust_word ifm_trust_word_of(const struct ifm_finding *finding);
/* Too few blocks for any word: that is why a comparison is open. */
bool ifm_trust_is_few(const struct ifm_finding *finding);
struct ifm_decisions ifm_decisions_of(const struct ifm_publication *from, struct ifm_arena *arena);
struct ifm_trust ifm_trust_by_decisions(const struct ifm_publication *from, const struct ifm_decisions *d,
                                        struct ifm_arena *arena);
/* A gate that is inconclusive, beside comparisons that are not: nothing is wrong with the numbers, and they do not
 * answer what was asked. NULL = none. */
const struct ifm_gate_result *ifm_gate_left_open(const struct ifm_publication *from);
struct ifm_trust ifm_trust_by_gate(const struct ifm_publication *from, const struct ifm_gate_result *gate,
                                   struct ifm_arena *arena);

#endif
