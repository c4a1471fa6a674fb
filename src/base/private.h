/* Private texts: what may be used but never published.
 *
 * The text of a private parameter (IFM_PRIVATE) is kept here and nowhere else; configuration, plan and every artifact
 * hold its token, `sha256:` and 64 hex digits. A run's private.json holds its texts under "settings"; they are loaded
 * again when its lock file is read. The token of a token is the token itself, so that a lock can be read without its
 * private.json. A text behind the word `public:` was published by whoever wrote it: it is no token, and stands in every
 * artifact as it is. Thread rule: one table for the process, changed by the thread that reads the configuration, before
 * anything runs. */
#ifndef IFM_BASE_PRIVATE_H
#define IFM_BASE_PRIVATE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include <stdbool.h>

/* Whether a text is a token. */
bool ifm_private_is_token(const char *text);
/* Keep `text` and return its token, in the arena; a token is returned as it is. */
const char *ifm_private_keep(const char *text, struct ifm_arena *arena);
/* The text as it is published: "public:" and the text. A token gives the text that it stands for; one that is not
 * known, and an empty text, stay as they are. In the arena. */
const char *ifm_private_publish(const char *text, struct ifm_arena *arena);
/* What stands behind "public:"; any other text is returned as it is. */
const char *ifm_private_shown(const char *text);
/* The text of a token or of what is published; any other text is returned as it is; NULL when the token's text is not
 * known. */
const char *ifm_private_text(const char *token);
/* {token: text} of everything kept (new reference); NULL when nothing is. */
json_t *ifm_private_json(void);
/* Keep the texts of such an object; NULL is allowed, and an entry that does not hash to its token is left out. */
void ifm_private_take(const json_t *texts);
/* Keep the texts of the private.json beside `lock_path`, if there is one. An entry that does not hash to its token is
 * left out: its text then counts as not known. */
void ifm_private_load(const char *lock_path);
/* IFM_INVALID: an entry of the private.json of `dir` does not hash to its token. Without the file all is well. */
IFM_CHECKED enum ifm_status ifm_private_check(const char *dir, struct ifm_error *error);

#endif
