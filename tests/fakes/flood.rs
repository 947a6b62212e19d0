//! More on standard error than anybody reads.

use std::io::{self, Write as _};

/// Writes that many bytes, in a pattern of 251.
pub fn flood(bytes: usize) {
    let block: Vec<u8> = (0..65_536_usize).map(|at| (at % 251) as u8).collect();
    let mut left = bytes;
    while left > 0 {
        let now = left.min(block.len());
        io::stderr().write_all(&block[..now]).unwrap();
        left -= now;
    }
}
