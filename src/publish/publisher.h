/* Who published a folder: derived.json names the program that wrote it and the files beside it. */
#ifndef IFM_PUBLISH_PUBLISHER_H
#define IFM_PUBLISH_PUBLISHER_H

#include "base/json.h"

enum { IFM_PUBLISHER_SIZE = 96 };

/* Names this program in derived.json. */
void ifm_publisher_add(json_t *derived);
/* Takes the name out of derived.json as read from a folder. True: this very program, by version and revision. False:
 * another one, in words; a file without a name is from a version that wrote none. */
bool ifm_publisher_take(json_t *derived, char name[static IFM_PUBLISHER_SIZE]);

#endif
