/* The command line of this process, for private.json only. Set once by main. */
#ifndef IFM_CLI_INVOCATION_H
#define IFM_CLI_INVOCATION_H

struct ifm_invocation {
    int argc;
    char **argv;
};
extern struct ifm_invocation ifm_invocation;

#endif
