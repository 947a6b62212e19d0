//! A stored Analysis whose function table is replaced by a large invented one, manifest and
//! digests included: what a very large program would leave, without analyzing one for an hour.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use ghidr::domain::digest::ContentDigest;
use ghidr::domain::program::ProgramFacts;
use ghidr::domain::{address::Address, address::Offset, function::FunctionItem, function::FunctionLocation};
use ghidr::store::{AnalysisManifest, BlockTally, InventoryEntry};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{AtPath, TaskError};

/// Gives the only Analysis of `store` a table of `count` Functions.
pub fn replace_functions(store: &Path, count: u64) -> Result<(), TaskError> {
    let analysis = only_child(&only_child(&store.join("analyses"))?)?;
    let facts = analysis.join("facts");
    let mut table = Vec::new();
    let mut blocks = BlockTally::default();
    for index in 0..count {
        let line = document(&function(index))?;
        blocks.add(line.trim_ascii_end());
        table.extend(line);
    }
    let mut program: ProgramFacts = read(&facts.join("program.json"))?;
    program.function_count = count;
    let program = document(&program)?;
    let mut manifest: AnalysisManifest = read(&analysis.join("manifest.json"))?;
    manifest.program.function_count = count;
    manifest.program.memory_function_count = count;
    manifest.facts.function_blocks = blocks.finish();
    for entry in &mut manifest.facts.files {
        describe(entry, if entry.path == "functions.jsonl" { &table } else { &program });
    }
    let manifest = document(&manifest)?;
    let digest = format!("{}  manifest.json\n", ContentDigest::of(&manifest));
    for (path, bytes) in [
        (facts.join("functions.jsonl"), table.as_slice()),
        (facts.join("program.json"), &program),
        (analysis.join("manifest.json"), &manifest),
        (analysis.join("manifest.sha256"), digest.as_bytes()),
    ] {
        fs::write(&path, bytes).at("write", &path)?;
    }
    Ok(())
}

fn function(index: u64) -> FunctionItem {
    let offset = 0x40_0000 + index * 16;
    FunctionItem {
        name: format!("FUN_{offset:08x}"),
        qualified_name: format!("library::FUN_{offset:08x}"),
        entry: Address { space: "ram".to_owned(), offset: Offset::new(offset, 16) },
        body_address_count: 16,
        location: FunctionLocation::Memory,
        is_external: false,
        is_thunk: false,
        thunk_target_entry: None,
        decompilable: true,
    }
}

fn describe(entry: &mut InventoryEntry, bytes: &[u8]) {
    entry.size_bytes = bytes.len() as u64;
    entry.sha256 = ContentDigest::of(bytes);
}

/// One document as the store writes it.
fn document(value: &impl Serialize) -> Result<Vec<u8>, TaskError> {
    let mut bytes = serde_json::to_vec(value).map_err(|error| damaged("a document of the store", &error))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, TaskError> {
    let bytes = fs::read(path).at("read", path)?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(&path.display().to_string(), &error))
}

fn only_child(directory: &Path) -> Result<PathBuf, TaskError> {
    let mut entries = fs::read_dir(directory).at("read", directory)?;
    match (entries.next(), entries.next()) {
        (Some(Ok(entry)), None) => Ok(entry.path()),
        _ => Err(damaged(&directory.display().to_string(), &"it has not exactly one entry")),
    }
}

fn damaged(what: &str, reason: &impl Display) -> TaskError {
    TaskError::Damaged { what: what.to_owned(), reason: reason.to_string() }
}
