//! Blocks of the function table: runs of whole lines, each with its own digest in the manifest.
//!
//! A page is verified by the blocks it lies in, whatever the size of the table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hashing::Tally;
use crate::domain::digest::ContentDigest;

/// Functions in every block but the last.
const BLOCK_FUNCTIONS: u64 = 1_000;

/// One run of lines of `functions.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionBlock {
    /// Lines in it, at least one.
    pub function_count: u64,
    /// Exact size in bytes, line ends included.
    pub size_bytes: u64,
    /// SHA-256 of the exact bytes.
    pub sha256: ContentDigest,
}

/// Cuts a function table into blocks, line by line.
#[derive(Debug, Default)]
pub struct BlockTally {
    complete: Vec<FunctionBlock>,
    function_count: u64,
    bytes: Tally,
}

impl BlockTally {
    /// Takes the next line of the table, which is given without its LF.
    pub fn add(&mut self, line: &[u8]) {
        self.bytes.update(line);
        self.bytes.update(b"\n");
        self.function_count += 1;
        if self.function_count == BLOCK_FUNCTIONS {
            self.complete_block();
        }
    }

    /// The blocks of all lines taken, in their order.
    pub fn finish(mut self) -> Vec<FunctionBlock> {
        if self.function_count > 0 {
            self.complete_block();
        }
        self.complete
    }

    fn complete_block(&mut self) {
        let (size_bytes, sha256) = std::mem::take(&mut self.bytes).finish();
        let function_count = std::mem::take(&mut self.function_count);
        self.complete.push(FunctionBlock { function_count, size_bytes, sha256 });
    }
}

/// Whether blocks are a whole table of that many Functions and bytes, none of them empty.
pub(super) fn cover(blocks: &[FunctionBlock], functions: u64, bytes: u64) -> bool {
    let total = |of: fn(&FunctionBlock) -> u64| {
        blocks.iter().try_fold(0_u64, |sum, block| sum.checked_add(of(block)))
    };
    blocks.iter().all(|block| block.function_count > 0)
        && total(|block| block.function_count) == Some(functions)
        && total(|block| block.size_bytes) == Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(lines: u64) -> Vec<FunctionBlock> {
        let mut tally = BlockTally::default();
        for number in 0..lines {
            tally.add(number.to_string().as_bytes());
        }
        tally.finish()
    }

    #[test]
    fn every_block_but_the_last_is_full_and_none_is_empty() {
        let counts = |lines| blocks(lines).iter().map(|block| block.function_count).collect::<Vec<_>>();
        assert_eq!(counts(0), [0; 0]);
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(1_000), [1_000]);
        assert_eq!(counts(2_001), [1_000, 1_000, 1]);
        let last = blocks(1_002).pop();
        let (size_bytes, sha256) = (10, ContentDigest::of(b"1000\n1001\n"));
        assert_eq!(last, Some(FunctionBlock { function_count: 2, size_bytes, sha256 }));
    }

    #[test]
    fn blocks_cover_exactly_their_table() {
        let blocks = blocks(1_002);
        let bytes = (0..1_002).map(|number: u64| number.to_string().len() as u64 + 1).sum();
        assert!(cover(&blocks, 1_002, bytes) && cover(&[], 0, 0));
        assert!(!cover(&blocks, 1_001, bytes) && !cover(&blocks, 1_002, bytes - 1) && !cover(&[], 1, 0));
        let changed = |change: fn(&mut FunctionBlock)| {
            let mut blocks = blocks.clone();
            change(&mut blocks[0]);
            blocks
        };
        assert!(!cover(&changed(|block| block.function_count = u64::MAX), 1, bytes));
        assert!(!cover(&changed(|block| block.size_bytes = u64::MAX), 1_002, 9));
        assert!(!cover(&changed(|block| block.function_count = 0), 2, bytes));
    }
}
