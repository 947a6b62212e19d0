//! The product through real Ghidra, a real JVM and real bubblewrap.

mod more;
mod readme;
mod slice;
