/* The revision that this program was built from; its version is IFM_VERSION. */
#ifndef IFM_BASE_PROGRAM_H
#define IFM_BASE_PROGRAM_H

/* 40 hex digits; NULL: built outside git. */
const char *ifm_program_revision(void);

#endif
