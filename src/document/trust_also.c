/* What else the line of trust says: a cause of another word, or noise beside a comparison that did not decide. Decides
 * nothing. */
#include "base/text.h"
#include "document/build.h"
#include "document/trust.h"
#include <string.h>

/* "f16 at 47.2 % of its read ceiling" of a weak baseline; "" of another finding. */
static const char *weakness_of(const struct ifm_publication *from, const struct ifm_finding *finding,
                               struct ifm_arena *arena)
{
    const struct ifm_cell *cell = ifm_plan_cell(from->plan, finding->cell);
    const struct ifm_arm *baseline = cell == NULL ? NULL : ifm_cell_baseline(cell);
    return baseline == NULL || finding->weak.share == NULL
               ? ""
               : ifm_arena_printf(arena, "%s at %s", baseline->name, finding->weak.share);
}

/* "the step time drifts by 9 % over the pass": what was found, without what follows from it. Of a finding of no kind
 * all before the colon may be a heading. */
static const char *first_words(const struct ifm_finding *finding, struct ifm_arena *arena)
{
    static const char *const ends[] = {"; ", IFM_REMEDY, ": "};
    const bool whether = strncmp(finding->text, "whether ", strlen("whether ")) == 0; /* says it before its reason */
    const size_t n = sizeof ends / sizeof *ends - (finding->kind == IFM_FINDING_OTHER && !whether);
    size_t size = strlen(finding->text);
    for (size_t i = 0; i < n; i++) {
        const char *at = ifm_text_clause_end(finding->text, ends[i]);
        size = at != NULL && (size_t)(at - finding->text) < size ? (size_t)(at - finding->text) : size;
    }
    return ifm_arena_printf(arena, "%.*s", (int)size, finding->text);
}

const char *ifm_trust_remedy_of_places(const struct ifm_derived *derived, const char *remedy, struct ifm_arena *arena)
{
    for (size_t i = 0; i < derived->n_findings; i++) {
        const char *text = derived->findings[i].text, *own = strstr(text, IFM_REMEDY);
        if (own != NULL && strncmp(text, IFM_PLACES_WORDS, strlen(IFM_PLACES_WORDS)) == 0)
            return ifm_arena_printf(arena, "%s; else %s", own + strlen(IFM_REMEDY),
                                    ifm_trust_remedy_typed(remedy, arena));
    }
    return remedy;
}

/* What the chosen cause would hide: a baseline that is weak whatever the noise, a machine under load whatever the
 * baseline, noise beside a comparison that is open. */
const char *ifm_trust_also(const struct ifm_publication *from, const struct ifm_trust *trust,
                           const struct ifm_finding *beside, const char *place, struct ifm_arena *arena)
{
    for (size_t i = 0; i < from->derived->n_findings; i++) {
        const struct ifm_finding *finding = &from->derived->findings[i];
        const char *weak =
            ifm_gravity_of(from, finding) == IFM_TOUCHES_NUMBERS ? weakness_of(from, finding, arena) : "";
        if (trust->word > IFM_TRUST_SOLID && trust->word <= IFM_TRUST_BIASED && weak[0] != '\0')
            return ifm_arena_printf(arena, "weak baseline: %s", weak);
        if ((trust->word == IFM_TRUST_BIASED || trust->word == IFM_TRUST_WEAK) &&
            finding->severity == IFM_SEVERITY_WARNING && finding->kind == IFM_FINDING_LOAD)
            return "noisy: the machine is under load";
    }
    if (beside == NULL ||
        strncmp(beside->text, IFM_PLACES_WORDS, strlen(IFM_PLACES_WORDS)) == 0) /* its footnote has it */
        return "";
    const bool same = trust->arm[0] != '\0' && !ifm_is_empty(beside->arm) && strcmp(trust->arm, beside->arm) == 0;
    return ifm_arena_printf(arena, "%s%s%s", same ? "" : place, same || place[0] == '\0' ? "" : ": ",
                            first_words(beside, arena));
}
