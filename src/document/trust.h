/* How far the numbers of a run may be trusted, in one word with its main cause and one remedy.
 *
 * Decides nothing of its own: the word follows from findings, states and decisions that derive and judge made. Pure;
 * thread rule: no shared state. */
#ifndef IFM_DOCUMENT_TRUST_H
#define IFM_DOCUMENT_TRUST_H

#include "document/document.h"

enum ifm_trust_word {
    IFM_TRUST_SOLID = 0,  /* nothing was refused, and no warning touches what is compared */
    IFM_TRUST_UNDECIDED,  /* nothing else than that a comparison or a gate is open */
    IFM_TRUST_NOISY,      /* a warning does, other work was seen, or a time has no interval */
    IFM_TRUST_BIASED,     /* a warning does that no noise explains: an arm that caches serve, or that disturbs itself */
    IFM_TRUST_WEAK,       /* the baseline is slower than it need be: nothing is wrong with the numbers */
    IFM_TRUST_DO_NOT_USE, /* a number is refused, a check failed, or the record is not valid */
};

struct ifm_trust {
    enum ifm_trust_word word;
    const char *place; /* "decode, int4" of the cause; "" = the whole run */
    const char *cause;
    const char *brief;  /* the cause without what stands beside the answers; "" = no less */
    const char *told;   /* the whole text of what it says, which stands nowhere else then; "" = no text of its own */
    const char *arm;    /* that it is told of; "" = none alone */
    const char *rule;   /* "rule-07"; "" = none */
    const char *remedy; /* "" = the cause names it */
    const char *also;   /* what that hides, in few words: "weak baseline: f16 at 47 % of ..."; "" = nothing */
    const char *scope;  /* that intervals are of one run, where there are some to use; "" = there are none */
    bool of_times;      /* the cause is in times of programs, which their ratio does not have */
    bool settled;       /* speed-ups stand as answers, and no comparison is undecided */
    size_t warnings;    /* kinds of them beside the cause that touch what is compared */
};

const char *ifm_trust_label(enum ifm_trust_word word); /* "do not use" */
/* What stands between place and cause: ": ", or " " in "undecided: decode, int4 after 24 blocks". */
const char *ifm_trust_gap(const struct ifm_trust *trust);
/* The word with its cause, "weak baseline: decode: the baseline f16 reaches ...", beside an answer without them. */
const char *ifm_trust_words(const struct ifm_trust *trust, struct ifm_arena *arena);
/* "add --cap 20s": an option alone is of the command that measured. */
const char *ifm_trust_remedy_typed(const char *remedy, struct ifm_arena *arena);
/* What its cause would hide; "" = nothing. `beside`: noise of `place` that was found beside an open comparison; NULL =
 * none that the cause does not name. */
const char *ifm_trust_also(const struct ifm_publication *from, const struct ifm_trust *trust,
                           const struct ifm_finding *beside, const char *place, struct ifm_arena *arena);
/* `remedy`, behind what keeps programs on one CPU where these are unlike, which widens every interval. */
const char *ifm_trust_remedy_of_places(const struct ifm_derived *derived, const char *remedy, struct ifm_arena *arena);
struct ifm_trust ifm_trust_of(const struct ifm_publication *publication, struct ifm_arena *arena);

#endif
