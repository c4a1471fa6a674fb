/* Composers: each gives the whole text of one output. Files and `verify` use the same ones. */
#ifndef IFM_PUBLISH_COMPOSE_H
#define IFM_PUBLISH_COMPOSE_H

#include "publish/publish.h"

/* Every OK number is finite, and so are its bounds; anything else is our own fault and is named. */
IFM_CHECKED enum ifm_status ifm_compose_check(const struct ifm_publication *publication, struct ifm_error *error);

void ifm_compose_csv(const struct ifm_publication *publication, struct ifm_text *out);
void ifm_compose_jsonl(const struct ifm_publication *publication, struct ifm_text *out);
json_t *ifm_compose_json(const struct ifm_publication *publication); /* new reference */
void ifm_compose_markdown(const struct ifm_publication *publication, struct ifm_text *out);
/* `utf8`: false writes ASCII only. */
IFM_CHECKED enum ifm_status ifm_compose_terminal(const struct ifm_publication *publication, bool colour, bool utf8,
                                                 struct ifm_text *out, struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_compose_html(const struct ifm_publication *publication, struct ifm_text *out,
                                             struct ifm_error *error);
/* metrics.json in the shape of the measurement standard. New reference. */
json_t *ifm_compat_sop(const struct ifm_publication *publication);

#endif
