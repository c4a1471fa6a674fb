// Google Benchmark's view of the work: the same function under two names.
#include <benchmark/benchmark.h>
#include <cstdint>

extern "C" uint64_t spin(uint64_t n);

static void work(benchmark::State &state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(spin(SPINS));
}
BENCHMARK(work)->Name("a")->Unit(benchmark::kNanosecond);
BENCHMARK(work)->Name("b")->Unit(benchmark::kNanosecond);
BENCHMARK_MAIN();
