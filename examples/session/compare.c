/* Two ways to add up an array, compared by the lab.
 *
 *     cc -O2 compare.c $(pkg-config --cflags --libs inferometer) -o compare
 *     ./compare RUN_FOLDER [OPTIONS] [same]
 *
 * OPTIONS are settings such as "measure.mde=0.02;measure.cap=5s". With "same" both arms are the same code: an A/A
 * comparison, which should find no difference. Exit status: that of the verdict, or 2 when something went wrong. */
#include <inferometer/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20000 };

static double values[N];
static volatile double sink; /* the sums are needed: the compiler may not drop them */

/* Each addition waits for the one before it. */
static double add_in_order(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += values[i];
    return sum;
}

/* Four sums that do not wait for each other. */
static double add_in_four(void)
{
    double a = 0, b = 0, c = 0, d = 0;
    for (int i = 0; i < N; i += 4) {
        a += values[i];
        b += values[i + 1];
        c += values[i + 2];
        d += values[i + 3];
    }
    return (a + b) + (c + d);
}

static int measure(struct inferometer_session *session, double (*const arms[2])(void))
{
    int arm;
    /* No inferometer_ledger: with it a speed-up must follow from fewer bytes or operations, and this one does not. */
    if (inferometer_arm(session, "in_order") < 0 || inferometer_arm(session, "in_four") < 0)
        return -1;
    while ((arm = inferometer_next(session)) >= 0) {
        if (inferometer_begin(session) < 0)
            return -1;
        sink = arms[arm]();
        if (inferometer_end(session, 0) < 0)
            return -1;
    }
    return arm == INFEROMETER_END ? 0 : -1;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s RUN_FOLDER [OPTIONS] [same]\n", argv[0]);
        return 2;
    }
    int same = argc > 3 && strcmp(argv[3], "same") == 0;
    double (*const arms[2])(void) = {add_in_order, same ? add_in_order : add_in_four};
    for (int i = 0; i < N; i++)
        values[i] = 1.0 / (1 + i);

    struct inferometer_session *session = inferometer_open(argv[1], argc > 2 ? argv[2] : NULL);
    struct inferometer_result result = {.size = sizeof result};
    if (session == NULL || measure(session, arms) < 0 || inferometer_judge(session, &result) < 0) {
        fprintf(stderr, "%s\n", inferometer_message(session));
        inferometer_close(session);
        return 2;
    }
    if (result.has_change)
        printf("in_four is %s: %+.2f %% of time, 95 %% interval %+.2f to %+.2f %%, smallest visible effect %.2f %%\n",
               result.word, result.change_percent, result.change_low, result.change_high, result.mde_percent);
    else
        printf("not compared: %s\n", result.reason);
    for (int i = 0; i < 2; i++) {
        struct inferometer_value step = {.size = sizeof step};
        if (inferometer_metric(session, i, "step_ns", &step) == INFEROMETER_OK && step.state == INFEROMETER_STATE_OK)
            printf("%s: %.0f %s\n", i == 0 ? "in_order" : "in_four", step.number, step.unit);
    }
    if (strcmp(result.word, "undecided") == 0)
        printf("why: %s\n", result.reason);
    printf("%s: %s\n", result.trust, result.trust_cause);
    printf("%lld blocks, report: %s\n", (long long)result.blocks, result.report);
    int code = result.exit_code;
    inferometer_close(session);
    return code;
}
