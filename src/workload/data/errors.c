/* Errors of outputs against a reference. */
#include "workload/data/errors.h"

#include <math.h>

static double larger(double a, double b) /* NaN is larger than anything */
{
    return b > a || isnan(b) ? b : a;
}

void ifm_data_errors_add(struct ifm_data_errors *to, const float *values, const double *reference, size_t n)
{
    double error2 = 0, reference2 = 0, along = 0, sum = 0, most = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        const double error = (double)values[i] - reference[i];
        error2 += error * error;
        reference2 += reference[i] * reference[i];
        along += error * reference[i];
        sum += error;
        most = larger(most, fabs(error));
        largest = fmax(largest, fabs(reference[i]));
    }
    to->rows++;
    to->values += n;
    to->error2 += error2;
    to->reference2 += reference2;
    to->error_max = larger(to->error_max, most);
    to->reference_max = fmax(to->reference_max, largest);
    if (most != 0) /* a row of zeros must be one of zeros */
        to->row_max = larger(to->row_max, most / sqrt(reference2 / (double)n));
    if (reference2 > 0) { /* rows differ in size by orders, and each counts alike */
        to->shares++;
        to->share += along / reference2;
        to->share2 += along / reference2 * (along / reference2);
    }
    to->s += sum;
    to->c += (double)n;
    to->ss += sum * sum;
    to->sc += sum * (double)n;
    to->cc += (double)n * (double)n;
}

void ifm_data_errors_join(struct ifm_data_errors *to, const struct ifm_data_errors *from)
{
    to->rows += from->rows;
    to->values += from->values;
    to->error2 += from->error2;
    to->reference2 += from->reference2;
    to->error_max = larger(to->error_max, from->error_max);
    to->reference_max = fmax(to->reference_max, from->reference_max);
    to->row_max = larger(to->row_max, from->row_max);
    to->shares += from->shares;
    to->share += from->share;
    to->share2 += from->share2;
    to->s += from->s;
    to->c += from->c;
    to->ss += from->ss;
    to->sc += from->sc;
    to->cc += from->cc;
}

/* 0 where both are: nothing was there, and nothing came out. */
static double over(double amount, double reference)
{
    return amount == 0 ? 0 : amount / reference;
}

/* The quantile of Student's t with `freedom` degrees that is as rare as four standard deviations: Wallace's transform
 * of the normal one (1959), within 4 % from 8 degrees on and too large below. */
static double four_deviations(double freedom)
{
    const double z = 4 * (8 * freedom + 3) / (8 * freedom + 1);
    return sqrt(freedom * expm1(z * z / freedom));
}

/* |a| of the least-squares y = a x over rows, less what chance makes of it; 0 when that is below. Quantisation leaves
 * each row an error of its own along the reference: their mean over n rows varies by 1 / sqrt(n) of it, and so does not
 * vanish where rows are few. How much it varies is estimated from these rows too, so the quantile is Student's; one row
 * says nothing of it. */
static double certain(double y, double x, double yy, double yx, double xx, double rows, double scale)
{
    const double a = over(y, x), rest = fmax(0, yy - 2 * a * yx + a * a * xx);
    if (isnan(a) || rows < 2)
        return isnan(a) ? a : 0;
    const double left = fabs(a) - four_deviations(rows - 1) * over(sqrt(rest * rows / (rows - 1)), x);
    return isnan(left) ? left : over(fmax(0, left), scale);
}

void ifm_data_errors_tell(const struct ifm_data_errors *all, struct ifm_check *check)
{
    const double rms = sqrt(over(all->reference2, all->c));
    const double share = certain(all->share, all->shares, all->share2, all->share, all->shares, all->shares, 1);
    const double constant = certain(all->s, all->c, all->ss, all->sc, all->cc, (double)all->rows, rms);
    check->error_rms_rel = over(sqrt(all->error2), sqrt(all->reference2));
    check->error_max_rel = over(all->error_max, all->reference_max);
    check->has_rows = true;
    check->error_row = all->row_max;
    check->error_bias = larger(share, constant);
    check->values = all->values;
}
