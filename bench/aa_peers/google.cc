// Google Benchmark's view of the work: the same function under two names, the second with SPINS_B where that is given.
#include <benchmark/benchmark.h>
#include <cstdint>

extern "C" uint64_t spin(uint64_t n);

#ifndef SPINS_B
#define SPINS_B SPINS
#endif

template <uint64_t N> static void work(benchmark::State &state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(spin(N));
}
BENCHMARK(work<SPINS>)->Name("a")->Unit(benchmark::kNanosecond);
BENCHMARK(work<SPINS_B>)->Name("b")->Unit(benchmark::kNanosecond);
BENCHMARK_MAIN();
