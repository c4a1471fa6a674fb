# Writes tests/vectors/effect_r.json: adjusted p-values and noncentral t as R gives them.
# Run it by hand from the root of the repository: Rscript tools/oracle/effect_vectors.R
list_of <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ","), "]")
set.seed(7)

families <- list(c(0.01, 0.02, 0.03, 0.04, 0.05), c(0.04, 0.01, 0.04, 0.8, 0.01), 0.3, c(1, 1, 0.5), round(runif(40)^2, 4))
adjusted <- vapply(families, function(p) {
  sprintf('{"p":%s,"holm":%s,"bh":%s}', list_of(p), list_of(p.adjust(p, "holm")), list_of(p.adjust(p, "BH")))
}, "")

grid <- expand.grid(t = c(-1, 0.7, 4, 20), df = c(3, 18, 60), delta = c(-0.5, 1, 5, 20))
noncentral <- apply(grid, 1, function(row) list_of(c(row, pt(row[["t"]], row[["df"]], row[["delta"]]))))

cat(sprintf('{"made_by":"tools/oracle/effect_vectors.R",\n"adjusted":[%s],\n"noncentral_t":[%s]}\n',
            paste(adjusted, collapse = ",\n"), paste(noncentral, collapse = ",\n")),
    file = "tests/vectors/effect_r.json")
