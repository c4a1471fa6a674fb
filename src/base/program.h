/* Version of this program and the revision it was built from. */
#ifndef IFM_BASE_PROGRAM_H
#define IFM_BASE_PROGRAM_H

const char *ifm_program_version(void);
/* 40 hex digits; NULL: built outside git. */
const char *ifm_program_revision(void);

#endif
