//! Judging the facts a worker left behind, before they are promoted (decision D5).
//!
//! Every line of `functions.jsonl` is parsed, must be the exact encoding of what was parsed,
//! and must follow the one before it in the contract's total order. Sizes and digests must be
//! those the worker's response claimed.

use std::io::BufReader;

use super::dir::Dir;
use super::document;
use super::error::StoreError;
use super::function_blocks::{BlockTally, FunctionBlock};
use super::hashing::{BUFFER_BYTES, HashingReader, Stop, go_on, read_bounded};
use super::io::{At as _, Operation};
use super::layout::{FUNCTIONS, PROGRAM_FACTS};
use super::lines::{LineError, next_line};
use crate::domain::address::Address;
use crate::domain::digest::ContentDigest;
use crate::domain::function::{FunctionItem, FunctionLocation};
use crate::domain::program::{FACTS_VERSION, ProgramCounts, ProgramFacts};

/// Most bytes of `program.json`.
pub(super) const PROGRAM_FACTS_LIMIT_BYTES: u64 = 1_048_576;

/// What the worker's response says about one facts file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileClaim {
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: ContentDigest,
}

/// What the worker's response says about the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactsClaim {
    /// `program.json`.
    pub program: FileClaim,
    /// `functions.jsonl`.
    pub functions: FileClaim,
    /// Lines of `functions.jsonl`.
    pub function_count: u64,
}

/// Checks both facts files against the claim, the totals and the byte limit; gives the blocks of
/// the function table.
pub(super) fn validate(
    facts: &Dir,
    claim: &FactsClaim,
    counts: &ProgramCounts,
    max_facts_bytes: u64,
    stop: Stop<'_>,
) -> Result<Vec<FunctionBlock>, StoreError> {
    let program = validate_program(facts, claim)?;
    if claim.functions.bytes > max_facts_bytes {
        return Err(invalid_file(FUNCTIONS, format!("larger than {max_facts_bytes} bytes")));
    }
    let seen = validate_functions(facts, claim, &program, stop)?;
    let expected = [
        ("the response's function count", claim.function_count, seen.functions),
        ("program.json's function count", program.function_count, seen.functions),
        ("the program's function count", counts.function_count, seen.functions),
        ("the program's memory function count", counts.memory_function_count, seen.memory_functions),
    ];
    match expected.into_iter().find(|(_, stated, found)| stated != found) {
        None => Ok(seen.blocks),
        Some((what, stated, found)) => {
            Err(invalid_file(FUNCTIONS, format!("{what} is {stated}, found {found}")))
        }
    }
}

fn validate_program(facts: &Dir, claim: &FactsClaim) -> Result<ProgramFacts, StoreError> {
    let bytes =
        read_bounded(facts, PROGRAM_FACTS, PROGRAM_FACTS_LIMIT_BYTES).map_err(StoreError::within_staging)?;
    check_claim(PROGRAM_FACTS, &claim.program, (bytes.len() as u64, ContentDigest::of(&bytes)))?;
    let program: ProgramFacts =
        document::decode(&bytes).map_err(|reason| invalid_line(PROGRAM_FACTS, 1, reason))?;
    if program.facts_version != FACTS_VERSION {
        return Err(invalid_line(PROGRAM_FACTS, 1, format!("facts version {}", program.facts_version)));
    }
    if !program.address_spaces.is_sorted_by(|a, b| a.name < b.name) {
        return Err(invalid_line(PROGRAM_FACTS, 1, "address spaces are not strictly ascending".to_owned()));
    }
    for address in
        [&program.image_base, &program.minimum_address, &program.maximum_address].into_iter().flatten()
    {
        check_address(&program, address).map_err(|reason| invalid_line(PROGRAM_FACTS, 1, reason))?;
    }
    Ok(program)
}

/// Lines that are validated between two looks at the user's wish.
const LINES_PER_STEP: u64 = 1_000;

struct Seen {
    functions: u64,
    memory_functions: u64,
    blocks: Vec<FunctionBlock>,
}

fn validate_functions(
    facts: &Dir,
    claim: &FactsClaim,
    program: &ProgramFacts,
    stop: Stop<'_>,
) -> Result<Seen, StoreError> {
    let file = facts.open_file(FUNCTIONS).map_err(StoreError::within_staging)?;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, HashingReader::new(file));
    let mut line = Vec::new();
    let mut seen = Seen { functions: 0, memory_functions: 0, blocks: vec![] };
    let mut blocks = BlockTally::default();
    let mut previous: Option<FunctionItem> = None;
    loop {
        let number = seen.functions + 1;
        let refuse = |reason: String| invalid_line(FUNCTIONS, number, reason);
        if number.is_multiple_of(LINES_PER_STEP) {
            go_on(stop)?;
        }
        match next_line(&mut reader, &mut line) {
            Ok(true) => {}
            Ok(false) => break,
            Err(LineError::TooLong) => return Err(refuse("line is too long".to_owned())),
            Err(LineError::Unterminated) => return Err(refuse("no final LF".to_owned())),
            Err(LineError::Io(error)) => {
                return Err(error).at(Operation::Read, &facts.child_path(FUNCTIONS));
            }
        }
        let item: FunctionItem = document::decode_line(&line).map_err(refuse)?;
        check_item(program, &item).map_err(refuse)?;
        if previous.as_ref().is_some_and(|previous| previous.order_key() >= item.order_key()) {
            return Err(refuse("not in strictly ascending order".to_owned()));
        }
        blocks.add(&line);
        seen.functions += 1;
        seen.memory_functions += u64::from(item.location == FunctionLocation::Memory);
        previous = Some(item);
    }
    check_claim(FUNCTIONS, &claim.functions, reader.into_inner().finish())?;
    seen.blocks = blocks.finish();
    Ok(seen)
}

fn check_item(program: &ProgramFacts, item: &FunctionItem) -> Result<(), String> {
    check_address(program, &item.entry)?;
    if let Some(target) = &item.thunk_target_entry {
        check_address(program, target)?;
    }
    let external = item.location == FunctionLocation::External;
    if item.is_external != external {
        return Err("is_external contradicts location".to_owned());
    }
    if item.decompilable && external {
        return Err("an external function cannot be decompilable".to_owned());
    }
    if item.thunk_target_entry.is_some() && !item.is_thunk {
        return Err("a thunk target without a thunk".to_owned());
    }
    Ok(())
}

fn check_address(program: &ProgramFacts, address: &Address) -> Result<(), String> {
    // Their order was checked; there may be very many.
    let spaces = &program.address_spaces;
    let space =
        spaces.binary_search_by(|space| space.name.as_str().cmp(&address.space)).map(|at| &spaces[at]);
    match space {
        Err(_) => Err(format!("address space of {address} is not listed in program.json")),
        Ok(space) if space.offset_digits != address.offset.digits() => {
            Err(format!("offset of {address} is not padded to {} digits", space.offset_digits))
        }
        Ok(_) => Ok(()),
    }
}

fn check_claim(file: &'static str, claim: &FileClaim, found: (u64, ContentDigest)) -> Result<(), StoreError> {
    if found == (claim.bytes, claim.sha256) {
        return Ok(());
    }
    Err(invalid_file(file, "size or SHA-256 is not what the response claimed".to_owned()))
}

fn invalid_file(file: &'static str, reason: String) -> StoreError {
    invalid_line(file, 0, reason)
}

fn invalid_line(file: &'static str, line: u64, reason: String) -> StoreError {
    StoreError::FactsInvalid { file, line, reason }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::hashing::to_the_end;
    use crate::store::testing::{facts_claim, function, lines, program_facts, write_facts};

    fn check(program: &ProgramFacts, functions: &[u8], max_facts_bytes: u64) -> Result<(), StoreError> {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open_root(temp.path()).unwrap().unwrap();
        let (claim, counts) = write_facts(temp.path(), program, functions);
        validate(&dir, &claim, &counts, max_facts_bytes, &to_the_end).map(|_| ())
    }

    fn refusal(functions: &[u8]) -> (u64, String) {
        let count = functions.iter().filter(|byte| **byte == b'\n').count() as u64;
        match check(&program_facts(count), functions, u64::MAX) {
            Err(StoreError::FactsInvalid { line, reason, .. }) => (line, reason),
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn ordered_exact_lines_pass() {
        let items = [function("ü\u{202e}\"\\\u{1}", 0x10), function("b", 0x20), external("c", 1)];
        check(&program_facts(3), &lines(&items), u64::MAX).unwrap();
        check(&program_facts(0), b"", 0).unwrap();
    }

    fn external(name: &str, offset: u64) -> FunctionItem {
        let mut item = function(name, offset);
        item.entry =
            Address { space: "EXTERNAL".into(), offset: crate::domain::address::Offset::new(offset, 8) };
        item.location = FunctionLocation::External;
        item.is_external = true;
        item.decompilable = false;
        item
    }

    #[test]
    fn order_must_be_strictly_ascending() {
        for items in [
            [function("a", 2), function("b", 1)],
            [function("a", 1), function("b", 1)],
            [external("a", 1), function("b", 1)],
        ] {
            assert_eq!(refusal(&lines(&items)), (2, "not in strictly ascending order".to_owned()));
        }
    }

    #[test]
    fn offsets_order_unsigned() {
        let items = [function("a", 0x7fff_ffff_ffff_ffff), function("b", 0x8000_0000_0000_0000)];
        check(&program_facts(2), &lines(&items), u64::MAX).unwrap();
    }

    #[test]
    fn a_line_that_is_not_its_exact_encoding_is_refused() {
        let good = String::from_utf8(lines(&[function("main", 1)])).unwrap();
        for bad in [
            good.replace("\"name\":", "\"name\": "),
            good.replace('m', "\\u006d"),
            good.replacen('{', "{\"extra\":1,", 1),
            good.replacen("{\"name\":\"main\",", "{", 1),
            good.replacen('{', "{\"name\":\"main\",", 1),
            good.replace("0x0000000000000001", "0x1"),
            good.replace("\"space\":\"ram\"", "\"space\":\"rom\""),
            good.replace("0x0000000000000001", "0x000000000000000A"),
            good.replace('\n', "\r\n"),
            "\n".to_owned(),
        ] {
            assert_eq!(refusal(bad.as_bytes()).0, 1, "{bad}");
        }
        assert_eq!(refusal(good.trim_end().as_bytes()), (1, "no final LF".to_owned()));
    }

    #[test]
    fn contradictions_inside_a_line_are_refused() {
        let mut contradictory = function("a", 1);
        contradictory.is_external = true;
        assert_eq!(refusal(&lines(&[contradictory])).0, 1);
        let mut decompilable = external("a", 1);
        decompilable.decompilable = true;
        assert_eq!(refusal(&lines(&[decompilable])).0, 1);
        let mut target = function("a", 1);
        target.thunk_target_entry = Some(target.entry.clone());
        assert_eq!(refusal(&lines(&[target])).0, 1);
    }

    #[test]
    fn counts_digests_and_limits_must_agree() {
        let functions = lines(&[function("a", 1)]);
        assert!(check(&program_facts(2), &functions, u64::MAX).is_err());
        assert!(check(&program_facts(1), &functions, functions.len() as u64 - 1).is_err());
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open_root(temp.path()).unwrap().unwrap();
        let (claim, counts) = write_facts(temp.path(), &program_facts(1), &functions);
        validate(&dir, &claim, &counts, u64::MAX, &to_the_end).unwrap();
        for wrong in [
            FactsClaim { function_count: 2, ..claim },
            FactsClaim { functions: facts_claim(b"other"), ..claim },
            FactsClaim { program: facts_claim(b"other"), ..claim },
        ] {
            assert!(validate(&dir, &wrong, &counts, u64::MAX, &to_the_end).is_err());
        }
        let counts = ProgramCounts { memory_function_count: 0, ..counts };
        assert!(validate(&dir, &claim, &counts, u64::MAX, &to_the_end).is_err());
    }
}
