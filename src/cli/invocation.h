/* How this process was called: kept for private.json alone. Set once by main. */
#ifndef IFM_CLI_INVOCATION_H
#define IFM_CLI_INVOCATION_H

struct ifm_invocation {
    int argc;
    char **argv;
};
extern struct ifm_invocation ifm_invocation;

#endif
