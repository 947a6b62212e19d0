//! Generated command lines, and what has to be true of each of them.

pub mod arbitrary;
pub mod defects;
pub mod disclosed;
pub mod lines;
pub mod place;
pub mod surface;
pub mod understood;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use super::random::Random;

/// Checks `count` values of a strategy; the choices follow from `random`, a failure is shrunk.
pub fn check<S: Strategy>(
    random: &mut Random,
    count: usize,
    strategy: &S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let mut seed = [0; 32];
    seed.chunks_exact_mut(8).for_each(|part| part.copy_from_slice(&random.next().to_le_bytes()));
    let config =
        Config { cases: u32::try_from(count).unwrap(), failure_persistence: None, ..Config::default() };
    let generator = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    if let Err(failure) = TestRunner::new_with_rng(config, generator).run(strategy, test) {
        panic!("{failure}");
    }
}
