//! The product through real Ghidra, a real JVM and real bubblewrap.

mod readme;
mod slice;
