//! Sweeps that boot the real engine.

mod mutants;
mod whole_mutants;
