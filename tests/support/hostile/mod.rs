//! Hostile Samples: made by code, deterministic by seed.

pub mod driven;
pub mod driver;
pub mod elf;
pub mod handmade;
pub mod macho;
pub mod mutant;
pub mod trial;
pub mod verdict;
