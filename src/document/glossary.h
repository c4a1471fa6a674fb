/* The words that the product prints beside metrics, explained: the records of data/words.txt.
 *
 * Never decides what is printed. Records live in the caller's arena. Thread rule: one thread. */
#ifndef IFM_DOCUMENT_GLOSSARY_H
#define IFM_DOCUMENT_GLOSSARY_H

#include "base/arena.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>

struct ifm_entry {
    const char *word; /* as it is printed */
    const char *also; /* synonyms and other forms, between commas; "" = none */
    const char *says, *see;
};
struct ifm_glossary {
    struct ifm_entry *items;
    size_t n, capacity;
};

struct ifm_glossary ifm_glossary_read(struct ifm_arena *arena);
/* By its word or a synonym, whatever its case, and with '-', '_' and ' ' alike; NULL when nothing explains it. */
const struct ifm_entry *ifm_glossary_find(const struct ifm_glossary *words, const char *text);
/* The word whose name or synonym of several words is the longest within a sentence, such as a footnote that was pasted;
 * NULL when none is. */
const struct ifm_entry *ifm_glossary_within(const struct ifm_glossary *words, const char *sentence);
/* "faster" for "faster 1.47x": the words of a text without its numbers, and with `units` false without what stands
 * behind each number too; "±" where nothing else is left. NULL when it has no number, or nothing is left. In the arena.
 */
const char *ifm_glossary_without_numbers(const char *text, bool units, struct ifm_arena *arena);
/* The word or synonym nearest to a text that was not found; NULL when none is near. In the arena. */
const char *ifm_glossary_nearest(const struct ifm_glossary *words, const char *text, struct ifm_arena *arena);
/* docs/glossary.md */
void ifm_glossary_markdown(const struct ifm_glossary *words, struct ifm_text *out);

#endif
