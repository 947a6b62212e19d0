//! Sweeps that boot the real engine.

mod mutants;
