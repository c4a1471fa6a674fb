# Writes tests/vectors/stats_r.json: what R and its package boot say about R's own `sleep` and `morley` data.
# Debian 12: R 4.2. Run from the root of the tree: Rscript tools/oracle/stats_vectors.R
library(boot)
a <- sleep$extra[sleep$group == 1]
b <- sleep$extra[sleep$group == 2]
set.seed(1)
bca <- function(x) {
  made <- boot(x, function(d, i) mean(d[i]), R = 200000)
  boot.ci(made, type = "bca")$bca[4:5]
}
ratio <- function(x, y) {
  d <- cbind(x, y)
  made <- boot(d, function(d, i) sum(d[i, 1]) / sum(d[i, 2]), R = 100000)
  list(value = made$t0, ci = boot.ci(made, type = "bca", L = empinf(made, type = "jack"))$bca[4:5])
}
block <- function(x, length) {
  made <- tsboot(x, mean, R = 100000, l = length, sim = "fixed", endcorr = TRUE)
  sd(made$t)
}
speed <- morley$Speed
out <- list(bca_a = bca(a), bca_b = bca(b), block_se = block(speed, 5))
r <- ratio(b + 10, a + 10)
number <- function(x) formatC(x, digits = 17, format = "g", width = 1)
pair <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
writeLines(c("{", ' "source": "tools/oracle/stats_vectors.R",',
  paste0(' "sleep_a": ', pair(a), ","), paste0(' "sleep_b": ', pair(b), ","),
  paste0(' "morley": ', pair(speed), ","),
  paste0(' "bca_a": ', pair(out$bca_a), ","), paste0(' "bca_b": ', pair(out$bca_b), ","),
  paste0(' "ratio": ', number(r$value), ","), paste0(' "ratio_bca": ', pair(r$ci), ","),
  paste0(' "mad_a": ', number(mad(a)), ","), paste0(' "trimmed_b": ', number(mean(b, trim = 0.2)), ","),
  paste0(' "block_length": 5,'), paste0(' "block_se": ', number(out$block_se)), "}"),
  "tests/vectors/stats_r.json")
