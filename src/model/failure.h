/* How a run of a program failed, as one number: the column child_failure of the workload `command`. */
#ifndef IFM_MODEL_FAILURE_H
#define IFM_MODEL_FAILURE_H

/* 0 = it did not fail; 1 .. 255 = its exit status. */
enum {
    IFM_FAILURE_SIGNAL = 256,  /* plus the number of the signal that ended it */
    IFM_FAILURE_TIMEOUT = 512, /* it was killed at command.timeout */
    IFM_FAILURE_STRAY,         /* a descendant outlived it for too long, and was killed */
};

/* How the error about a program that failed by itself begins; those of hooks and of the lab begin otherwise. */
#define IFM_FAILED_PROGRAM "the command of arm "

#endif
