# Writes tests/vectors/stats_r.json: what R and its package boot say about R's own `sleep` data.
# Debian 12: R 4.2. Run from the root of the tree: Rscript tools/oracle/stats_vectors.R
library(boot)
a <- sleep$extra[sleep$group == 1]
b <- sleep$extra[sleep$group == 2]
set.seed(1)
bca <- function(x) {
  made <- boot(x, function(d, i) mean(d[i]), R = 200000)
  boot.ci(made, type = "bca")$bca[4:5]
}
out <- list(bca_a = bca(a), bca_b = bca(b))
number <- function(x) formatC(x, digits = 17, format = "g", width = 1)
pair <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
writeLines(c("{", ' "source": "tools/oracle/stats_vectors.R",',
  paste0(' "sleep_a": ', pair(a), ","), paste0(' "sleep_b": ', pair(b), ","),
  paste0(' "bca_a": ', pair(out$bca_a), ","), paste0(' "bca_b": ', pair(out$bca_b), ","),
  paste0(' "trimmed_b": ', number(mean(b, trim = 0.2))), "}"),
  "tests/vectors/stats_r.json")
