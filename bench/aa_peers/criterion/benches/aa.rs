// Criterion's view of the work.
use criterion::{black_box, criterion_group, criterion_main, Criterion};

extern "C" {
    fn spin(n: u64) -> u64;
}

fn bench(c: &mut Criterion) {
    let spins: u64 = std::env::var("SPINS").unwrap().parse().unwrap();
    c.bench_function("spin", |b| b.iter(|| unsafe { spin(black_box(spins)) }));
}

criterion_group!(benches, bench);
criterion_main!(benches);
