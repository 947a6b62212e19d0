//! The stored function table: a page of it is served only after the blocks it lies in were verified.
//!
//! Memory is bounded by one line, whatever the size of the table and of the page asked for, unless
//! the caller collects what it is given.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::Range;

use super::dir::Dir;
use super::error::StoreError;
use super::function_blocks::FunctionBlock;
use super::hashing::{BUFFER_BYTES, HashingReader, Stop, go_on};
use super::io::{At as _, Operation, classify};
use super::layout::FUNCTIONS;
use super::lines::{LineError, next_line, skip_lines};
use super::manifest::InventoryEntry;
use crate::domain::digest::{ProfileDigest, SampleDigest};
use crate::domain::function::FunctionItem;

/// For more texts than this, reading every line costs less than looking for them.
const MAX_TEXTS: usize = 4;

/// The complete ordered function table of one Analysis.
#[derive(Debug)]
pub struct FunctionTable<'analysis> {
    pub(super) facts: Dir,
    pub(super) entry: &'analysis InventoryEntry,
    pub(super) blocks: &'analysis [FunctionBlock],
    pub(super) total: u64,
    pub(super) identity: (SampleDigest, ProfileDigest),
}

impl FunctionTable<'_> {
    /// How many Functions there are.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The Functions of a half-open index range.
    pub fn read_page(&self, range: Range<u64>, stop: Stop<'_>) -> Result<Vec<FunctionItem>, StoreError> {
        let mut items = Vec::new();
        self.for_each_function(range, stop, |item| {
            items.push(item);
            Ok::<_, StoreError>(())
        })?;
        Ok(items)
    }

    /// Hands the Functions of a half-open index range to `visit`, in order, while their blocks
    /// are verified: an error voids what was visited.
    pub fn for_each_function<E: From<StoreError>>(
        &self,
        range: Range<u64>,
        stop: Stop<'_>,
        visit: impl FnMut(FunctionItem) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_each_of(range, stop, |_| true, visit)
    }

    /// Hands over all Functions that have one of `texts` as name, qualified name or offset, in order; any others, too.
    /// As with [`Self::for_each_function`], an error voids what was visited.
    pub fn for_each_that_may_have<E: From<StoreError>>(
        &self,
        texts: &[String],
        stop: Stop<'_>,
        visit: impl FnMut(FunctionItem) -> Result<(), E>,
    ) -> Result<(), E> {
        if texts.len() > MAX_TEXTS {
            return self.for_each_function(0..self.total, stop, visit);
        }
        // A stored line is the one exact encoding of its Function, so it spells each of them as it is encoded here.
        let encoded = texts.iter().map(|text| serde_json::to_string(text).map_err(|error| error.into()));
        let encoded: Vec<String> = encoded.collect::<Result<_, _>>().map_err(StoreError::CanonicalJson)?;
        let may_have = |line: &[u8]| {
            std::str::from_utf8(line)
                .map_or(true, |line| encoded.iter().any(|text| line.contains(text.as_str())))
        };
        self.for_each_of(0..self.total, stop, may_have, visit)
    }

    /// Hands over the Functions of the lines that are `wanted`; the others are not even parsed.
    fn for_each_of<E: From<StoreError>>(
        &self,
        range: Range<u64>,
        stop: Stop<'_>,
        wanted: impl Fn(&[u8]) -> bool,
        mut visit: impl FnMut(FunctionItem) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut unreadable = None;
        self.scan(range, stop, |line| {
            if unreadable.is_some() || !wanted(line) {
                return Ok(());
            }
            match self.parse(line) {
                Ok(item) => visit(item),
                Err(error) => {
                    // A wrong digest explains it better.
                    unreadable = Some(error);
                    Ok(())
                }
            }
        })?;
        // INVARIANT(nothing-unverified-is-served): success only after `scan` checked the digests.
        unreadable.map_or(Ok(()), |error| Err(error.into()))
    }

    /// A file of another length than the recorded one has other bytes than the recorded ones, wherever a page lies.
    fn open(&self) -> Result<File, StoreError> {
        let file = self.facts.open_file(FUNCTIONS).map_err(|error| self.attribute(error))?;
        let found = file.metadata().at(Operation::Read, &self.facts.child_path(FUNCTIONS))?.len();
        if found == self.entry.size_bytes {
            return Ok(file);
        }
        Err(self.corrupt(&format!("has {found} bytes, recorded are {}", self.entry.size_bytes)))
    }

    /// Visits the lines of `range`; reads the blocks that hold them, and nothing else.
    fn scan<E: From<StoreError>>(
        &self,
        range: Range<u64>,
        stop: Stop<'_>,
        mut visit: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut file = self.open()?;
        let (mut first, mut offset) = (0, 0);
        for block in self.blocks {
            let wanted = range.start.max(first)..range.end.min(first + block.function_count);
            if !wanted.is_empty() {
                go_on(stop)?;
                file.seek(SeekFrom::Start(offset)).at(Operation::Read, &self.facts.child_path(FUNCTIONS))?;
                self.scan_block(&mut file, block, wanted.start - first..wanted.end - first, &mut visit)?;
            }
            first += block.function_count;
            offset += block.size_bytes;
        }
        Ok(())
    }

    /// Visits the lines of a range within one block while hashing all of it, then compares its digest.
    fn scan_block<E: From<StoreError>>(
        &self,
        file: &mut File,
        block: &FunctionBlock,
        range: Range<u64>,
        visit: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let path = self.facts.child_path(FUNCTIONS);
        let bytes = HashingReader::new(file.take(block.size_bytes));
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, bytes);
        let refuse = |error| match error {
            LineError::Io(error) => classify(error, Operation::Read, &path),
            LineError::TooLong | LineError::Unterminated => {
                self.corrupt("a line is too long or not terminated")
            }
        };
        let mut count = skip_lines(&mut reader, range.start).map_err(refuse)?;
        let mut line = Vec::new();
        while count < range.end && next_line(&mut reader, &mut line).map_err(refuse)? {
            visit(&line)?;
            count += 1;
        }
        // What is beyond the page is what the digest says, and its lines were counted when it was stored.
        let rest = io::copy(&mut reader, &mut io::sink()).at(Operation::Read, &path)?;
        if reader.into_inner().finish() != (block.size_bytes, block.sha256) {
            return Err(self.corrupt("the SHA-256 of a block is not the recorded one").into());
        }
        if count < range.end || (range.end == block.function_count && rest > 0) {
            return Err(self.corrupt("the number of lines is not the recorded one").into());
        }
        Ok(())
    }

    /// Strict reading was done before the line was stored, and its digest says that it is the same.
    fn parse(&self, line: &[u8]) -> Result<FunctionItem, StoreError> {
        serde_json::from_slice(line).map_err(|error| self.corrupt(&error.to_string()))
    }

    fn corrupt(&self, reason: &str) -> StoreError {
        self.attribute(self.facts.corrupt(FUNCTIONS, reason))
    }

    fn attribute(&self, error: StoreError) -> StoreError {
        error.within_analysis(self.identity.0, self.identity.1)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::domain::digest::ContentDigest;
    use crate::store::function_blocks::BlockTally;
    use crate::store::hashing::to_the_end;
    use crate::store::inventory::seal_file;
    use crate::store::testing::{function, lines};

    /// A directory with the table of that many Functions, and what a manifest says of it.
    struct Stored {
        temp: tempfile::TempDir,
        entry: InventoryEntry,
        blocks: Vec<FunctionBlock>,
        items: Vec<FunctionItem>,
    }

    impl Stored {
        fn new(count: u64) -> Self {
            Self::of((0..count).map(|index| function(&format!("f{index}"), index)).collect())
        }

        fn of(items: Vec<FunctionItem>) -> Self {
            let temp = tempfile::tempdir().unwrap();
            let bytes = lines(&items);
            std::fs::write(temp.path().join(FUNCTIONS), &bytes).unwrap();
            let mut blocks = BlockTally::default();
            bytes.split_inclusive(|byte| *byte == b'\n').for_each(|line| blocks.add(line.trim_ascii_end()));
            let entry = seal_file(&dir(&temp), FUNCTIONS, FUNCTIONS, &to_the_end).unwrap();
            Self { temp, entry, blocks: blocks.finish(), items }
        }

        fn table(&self) -> FunctionTable<'_> {
            FunctionTable {
                facts: dir(&self.temp),
                entry: &self.entry,
                blocks: &self.blocks,
                total: self.items.len() as u64,
                identity: (SampleDigest::of(b""), ProfileDigest::of(b"")),
            }
        }

        /// Changes the byte at that offset, or adds it.
        fn change(&self, offset: usize, byte: u8) {
            let path = self.temp.path().join(FUNCTIONS);
            let mut bytes = std::fs::read(&path).unwrap();
            bytes.truncate(bytes.len().max(offset));
            match bytes.get_mut(offset) {
                Some(there) => *there = byte,
                None => bytes.push(byte),
            }
            std::fs::write(&path, bytes).unwrap();
        }
    }

    fn dir(temp: &tempfile::TempDir) -> Dir {
        Dir::open_root(temp.path()).unwrap().unwrap()
    }

    fn is_corrupt<T: std::fmt::Debug>(outcome: &Result<T, StoreError>) -> bool {
        matches!(outcome, Err(StoreError::CorruptAnalysis { .. }))
    }

    #[test]
    fn pages_are_exact_wherever_they_begin_and_end() {
        let stored = Stored::new(2_500);
        let table = stored.table();
        let edges = [0, 1, 999, 1_000, 1_001, 1_999, 2_000, 2_499, 2_500];
        for start in edges {
            for end in edges.into_iter().filter(|end| *end >= start) {
                let page = table.read_page(start..end, &to_the_end).unwrap();
                assert_eq!(page, stored.items[start as usize..end as usize], "{start}..{end}");
            }
        }
        assert_eq!(table.read_page(2_499..9_999, &to_the_end).unwrap(), stored.items[2_499..]);
        assert_eq!(Stored::new(0).table().read_page(0..9, &to_the_end).unwrap(), []);
    }

    #[test]
    fn a_changed_byte_is_found_by_every_page_that_touches_its_block() {
        let stored = Stored::new(2_500);
        let second_block = stored.blocks[0].size_bytes as usize;
        // A digit of the name in the first line of the block: still a line, and an ordered one.
        let digit = second_block + "{\"name\":\"f".len();
        stored.change(digit, b'7');
        let table = stored.table();
        for page in [1_000..1_001, 1_999..2_000, 999..1_001, 0..2_500] {
            assert!(is_corrupt(&table.read_page(page.clone(), &to_the_end)), "{page:?}");
        }
        assert_eq!(table.read_page(0..1_000, &to_the_end).unwrap(), stored.items[..1_000]);
        assert_eq!(table.read_page(2_000..2_500, &to_the_end).unwrap(), stored.items[2_000..]);
    }

    #[test]
    fn whoever_has_a_text_is_found_however_it_is_encoded() {
        let names = [
            "plain",
            "quo\"te",
            "back\\slash",
            "\u{1b}[31m",
            "ü\u{202e}",
            "line\nfeed",
            "0x000000000000000a",
        ];
        let items: Vec<_> = (0..).zip(names).map(|(offset, name)| function(name, 10 + offset)).collect();
        let stored = Stored::of(items.clone());
        let found = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            let mut found = Vec::new();
            let visit = |item| {
                found.push(item);
                Ok::<_, StoreError>(())
            };
            stored.table().for_each_that_may_have(&texts, &to_the_end, visit).map(|()| found)
        };
        for (item, name) in items.iter().zip(names).take(6) {
            assert_eq!(found(&[name]).unwrap(), std::slice::from_ref(item));
        }
        assert_eq!(found(&["0x000000000000000a"]).unwrap(), [items[0].clone(), items[6].clone()]);
        assert_eq!(found(&["0x000000000000000b", "plain"]).unwrap(), items[..2]);
        assert_eq!(found(&["lain", "none"]).unwrap(), []);
        assert_eq!(
            found(&["a", "b", "c", "d", "e"]).unwrap(),
            items,
            "so many are looked for by reading all"
        );
        // What is passed over is verified like what is read.
        stored.change(stored.entry.size_bytes as usize - 3, b'E');
        assert!(is_corrupt(&found(&["plain"])));
    }

    #[test]
    fn a_signal_ends_a_pass_between_two_blocks() {
        let stored = Stored::new(2_500);
        let asked = std::cell::Cell::new(0);
        let stop = || (asked.replace(asked.get() + 1) == 1).then_some(2);
        let mut seen = 0;
        let outcome = stored.table().for_each_function(0..2_500, &stop, |_| {
            seen += 1;
            Ok::<_, StoreError>(())
        });
        assert!(matches!(outcome, Err(StoreError::Interrupted { signal: 2 })), "{outcome:?}");
        assert_eq!(seen, 1_000);
    }

    #[test]
    fn a_file_of_another_length_is_corrupt_for_every_page() {
        let stored = Stored::new(1_500);
        stored.change(stored.entry.size_bytes as usize, b'\n');
        let longer = stored.table().read_page(0..1, &to_the_end);
        assert!(is_corrupt(&longer) && is_corrupt(&stored.table().read_page(9..9, &to_the_end)));
    }

    #[test]
    fn a_block_of_another_number_of_lines_than_recorded_is_corrupt() {
        for recorded in [4, 6] {
            let mut stored = Stored::new(5);
            stored.blocks[0].function_count = recorded;
            assert!(is_corrupt(&stored.table().read_page(0..recorded, &to_the_end)), "{recorded}");
        }
        let mut stored = Stored::new(5);
        stored.blocks[0].sha256 = ContentDigest::of(b"other");
        assert!(is_corrupt(&stored.table().read_page(0..5, &to_the_end)));
    }
}
