# Writes tests/vectors/effect_r.json: adjusted p-values, exact rank sums, noncentral t and Ljung-Box as R gives them.
# Run it by hand from the root of the repository: Rscript tools/oracle/effect_vectors.R
list_of <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ","), "]")
set.seed(7)

families <- list(c(0.01, 0.02, 0.03, 0.04, 0.05), c(0.04, 0.01, 0.04, 0.8, 0.01), 0.3, c(1, 1, 0.5), round(runif(40)^2, 4))
adjusted <- vapply(families, function(p) {
  sprintf('{"p":%s,"holm":%s,"bh":%s}', list_of(p), list_of(p.adjust(p, "holm")), list_of(p.adjust(p, "BH")))
}, "")

ranks <- vapply(list(c(3, 4), c(8, 5), c(12, 15), c(20, 20), c(1, 6)), function(size) {
  a <- round(rnorm(size[1], 0.6), 6)
  b <- round(rnorm(size[2]), 6)
  test <- wilcox.test(a, b, exact = TRUE)
  sprintf('{"a":%s,"b":%s,"u":%.17g,"p":%.17g}', list_of(a), list_of(b), test$statistic, test$p.value)
}, "")

grid <- expand.grid(t = c(-1, 0.7, 4, 20), df = c(3, 18, 60), delta = c(-0.5, 1, 5, 20))
noncentral <- apply(grid, 1, function(row) list_of(c(row, pt(row[["t"]], row[["df"]], row[["delta"]]))))

series <- as.numeric(arima.sim(list(ar = 0.4), 80))
series <- round(series, 5)
box <- Box.test(series, lag = 8, type = "Ljung-Box", fitdf = 1)

cat(sprintf('{"made_by":"tools/oracle/effect_vectors.R",\n"adjusted":[%s],\n"rank_sum":[%s],\n"noncentral_t":[%s],\n%s}\n',
            paste(adjusted, collapse = ",\n"), paste(ranks, collapse = ",\n"), paste(noncentral, collapse = ",\n"),
            sprintf('"ljung_box":{"x":%s,"lags":8,"fitted":1,"q":%.17g,"p":%.17g}', list_of(series), box$statistic,
                    box$p.value)),
    file = "tests/vectors/effect_r.json")
