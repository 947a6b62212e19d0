//! The stored function table, served only after its digest was verified.
//!
//! Memory is bounded by one line, whatever the size of the table and of the page asked for, unless
//! the caller collects what it is given.

use std::fs::File;
use std::io::{self, BufReader, Seek as _};
use std::ops::Range;

use super::dir::Dir;
use super::document;
use super::error::StoreError;
use super::hashing::{self, BUFFER_BYTES, HashingReader};
use super::inventory::check_contents;
use super::io::{At as _, Operation, classify};
use super::layout::FUNCTIONS;
use super::lines::{LineError, next_line, skip_lines};
use super::manifest::InventoryEntry;
use crate::domain::digest::{ProfileDigest, SampleDigest};
use crate::domain::function::FunctionItem;

/// The complete ordered function table of one Analysis.
#[derive(Debug)]
pub struct FunctionTable<'analysis> {
    pub(super) facts: Dir,
    pub(super) entry: &'analysis InventoryEntry,
    pub(super) total: u64,
    pub(super) identity: (SampleDigest, ProfileDigest),
}

impl FunctionTable<'_> {
    /// How many Functions there are.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The Functions of a half-open index range; one pass over the file.
    pub fn read_page(&self, range: Range<u64>) -> Result<Vec<FunctionItem>, StoreError> {
        let mut items = Vec::new();
        self.for_each_of_page(range, |item| {
            items.push(item);
            Ok::<_, StoreError>(())
        })?;
        Ok(items)
    }

    /// Hands the Functions of a half-open index range to `visit`, in order; one pass over the
    /// file, which is verified by its end: an error voids what was visited.
    pub fn for_each_of_page<E: From<StoreError>>(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(FunctionItem) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut file = self.open()?;
        let mut unreadable = None;
        self.scan(&mut file, range, |line| {
            if unreadable.is_some() {
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
        // INVARIANT(nothing-unverified-is-served): success only after `scan` checked the digest.
        unreadable.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Hands every Function to `visit`, in order. The file is verified before the first one;
    /// an error after that (the file changed meanwhile) voids what was visited.
    pub fn for_each_function<E: From<StoreError>>(
        &self,
        mut visit: impl FnMut(FunctionItem) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut file = self.open()?;
        self.verify_file(&mut file)?;
        file.rewind().at(Operation::Read, &self.facts.child_path(FUNCTIONS))?;
        self.scan(&mut file, 0..u64::MAX, |line| visit(self.parse(line)?))
    }

    /// Verifies the file without serving anything.
    pub(super) fn verify(&self) -> Result<(), StoreError> {
        let mut file = self.open()?;
        self.verify_file(&mut file)
    }

    fn verify_file(&self, file: &mut File) -> Result<(), StoreError> {
        let path = self.facts.child_path(FUNCTIONS);
        let found = hashing::hash(file, &path, &hashing::to_the_end)?;
        check_contents(&path, self.entry, found).map_err(|error| self.attribute(error))
    }

    fn open(&self) -> Result<File, StoreError> {
        self.facts.open_file(FUNCTIONS).map_err(|error| self.attribute(error))
    }

    /// Visits the lines of `range` while hashing the whole file, then compares its digest.
    fn scan<E: From<StoreError>>(
        &self,
        file: &mut File,
        range: Range<u64>,
        mut visit: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let path = self.facts.child_path(FUNCTIONS);
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, HashingReader::new(file));
        let refuse = |error| match error {
            LineError::Io(error) => classify(error, Operation::Read, &path),
            LineError::TooLong | LineError::Unterminated => {
                self.corrupt("a line is too long or not terminated")
            }
        };
        let end = range.end.min(self.total);
        let mut count = skip_lines(&mut reader, range.start.min(end)).map_err(refuse)?;
        let mut line = Vec::new();
        while count < end && next_line(&mut reader, &mut line).map_err(refuse)? {
            visit(&line)?;
            count += 1;
        }
        // What is beyond the page is what the digest says, and its lines were counted when it was stored.
        let rest = io::copy(&mut reader, &mut io::sink()).at(Operation::Read, &path)?;
        let found = reader.into_inner().finish();
        check_contents(&path, self.entry, found).map_err(|error| self.attribute(error))?;
        if count < end || (end == self.total && rest > 0) {
            return Err(self.corrupt("the number of lines is not the recorded one").into());
        }
        Ok(())
    }

    fn parse(&self, line: &[u8]) -> Result<FunctionItem, StoreError> {
        document::decode_line(line).map_err(|reason| self.corrupt(&reason))
    }

    fn corrupt(&self, reason: &str) -> StoreError {
        self.attribute(self.facts.corrupt(FUNCTIONS, reason))
    }

    fn attribute(&self, error: StoreError) -> StoreError {
        error.within_analysis(self.identity.0, self.identity.1)
    }
}
