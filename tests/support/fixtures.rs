//! The committed fixtures and the hand-written truth about them.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Fixtures that Ghidra imports and analyzes.
pub const ANALYSABLE: [&str; 15] = [
    "elf-aarch64",
    "elf-i386",
    "elf-x86_64-core",
    "elf-x86_64-dwarf5",
    "elf-x86_64-object.o",
    "elf-x86_64-overlong",
    "elf-x86_64-pie",
    "elf-x86_64-shared.so",
    "elf-x86_64-stripped",
    "elf-x86_64-truncated",
    "pe32-i386.exe",
    "pe32plus-dotnet.exe",
    "pe32plus-x86_64-efi.efi",
    "pe32plus-x86_64.dll",
    "pe32plus-x86_64.exe",
];

/// Fixtures that are refused, with the code that says why.
pub const REFUSED: [(&str, &str); 5] = [
    ("archive.zip", "container_sample"),
    ("elf-x32", "unsupported_target"),
    ("empty", "unsupported_target"),
    ("macho-universal", "container_sample"),
    ("plain.txt", "unsupported_target"),
];

/// Absolute path of a fixture binary.
pub fn path(fixture: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/bin").join(fixture)
}

/// The truth about a fixture, when it has a truth file.
pub fn truth(fixture: &str) -> Option<Truth> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/truth/{fixture}.json"));
    let bytes = std::fs::read(path).ok()?;
    Some(serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("truth of {fixture}: {error}")))
}

/// A truth file; `fixtures/README.md` describes the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
pub struct Truth {
    pub truth_version: u32,
    pub fixture: String,
    pub sha256: String,
    pub format: String,
    pub verified_target: Option<String>,
    pub image_base: Hex,
    pub ghidra_image_base: Hex,
    pub entry_point: Option<Hex>,
    pub symbols_of: Option<String>,
    pub functions: Vec<TrueFunction>,
    pub imports: Vec<TrueImport>,
    pub thunks: Vec<TrueThunk>,
    pub recursive: Vec<String>,
    pub no_return: Vec<String>,
    pub switches: Vec<TrueSwitch>,
    pub ambiguous: Vec<TrueAmbiguity>,
}

/// A function of the source, as its symbol describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
pub struct TrueFunction {
    pub symbol: String,
    pub name: Option<String>,
    pub qualified_name: Option<String>,
    pub vaddr: Hex,
    pub size: Option<u64>,
    pub body_size: Option<u64>,
}

/// An import.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
pub struct TrueImport {
    pub symbol: String,
    pub name: String,
    pub kind: String,
}

/// A function that is one jump.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrueThunk {
    pub symbol: String,
    pub target: String,
}

/// A function with a jump table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrueSwitch {
    pub symbol: String,
    pub cases: u64,
}

/// A name that several functions have.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrueAmbiguity {
    pub name: String,
    pub entries: Vec<Hex>,
}

/// A number written as `0x` and hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Hex(pub u64);

impl TryFrom<String> for Hex {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits = text.strip_prefix("0x").ok_or_else(|| format!("no 0x in {text}"))?;
        u64::from_str_radix(digits, 16).map(Self).map_err(|error| format!("{text}: {error}"))
    }
}

impl Truth {
    /// Where Ghidra shows a link-time address.
    pub fn in_ghidra(&self, vaddr: Hex) -> u64 {
        vaddr.0.wrapping_sub(self.image_base.0).wrapping_add(self.ghidra_image_base.0)
    }

    /// Where Ghidra shows the first function of this symbol.
    pub fn entry_of(&self, symbol: &str) -> u64 {
        let function = self.functions.iter().find(|function| function.symbol == symbol);
        self.in_ghidra(function.unwrap_or_else(|| panic!("{symbol} is not in the truth")).vaddr)
    }
}
