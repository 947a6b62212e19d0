//! Function Selectors and how one resolves against the complete function table.
//!
//! `--name` matches exact basenames and exact qualified names; `--address` matches entry
//! Addresses. Nothing is fuzzy, and an ambiguous name is never resolved silently.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::{Address, Offset};
use super::candidates::Candidates;
use super::function::{FunctionItem, FunctionLocation};

/// What the caller asked for, as a response echoes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RequestedSelector {
    /// `--name`, verbatim.
    Name {
        /// The exact value supplied.
        value: String,
    },
    /// `--address`, verbatim.
    Address {
        /// The exact value supplied.
        value: String,
    },
}

/// A parsed Function Selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FunctionSelector {
    /// Exact, case-sensitive basename or qualified name.
    Name {
        /// The name.
        value: String,
    },
    /// Exact entry Address.
    Address {
        /// Exact address-space name.
        space: String,
        /// Offset, compared as an unsigned number.
        offset: Offset,
    },
}

/// Why `--address` was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAddress {
    /// No `SPACE:` prefix.
    #[error("an address names its space explicitly")]
    SpaceMissing,
    /// The offset is not canonical.
    #[error("an offset is 0x followed by lowercase hexadecimal digits")]
    OffsetNotCanonical,
}

impl RequestedSelector {
    /// The exact value supplied.
    pub fn value(&self) -> &str {
        let (Self::Name { value } | Self::Address { value }) = self;
        value
    }

    /// What it means.
    pub fn parse(&self) -> Result<FunctionSelector, InvalidAddress> {
        match self {
            Self::Name { value } => Ok(FunctionSelector::Name { value: value.clone() }),
            Self::Address { value } => FunctionSelector::parse_address(value),
        }
    }
}

impl FunctionSelector {
    /// Parses `SPACE:0x…`.
    pub fn parse_address(text: &str) -> Result<Self, InvalidAddress> {
        let (space, offset) = text.rsplit_once(':').ok_or(InvalidAddress::SpaceMissing)?;
        if space.is_empty() {
            return Err(InvalidAddress::SpaceMissing);
        }
        let offset = offset.parse().map_err(|_| InvalidAddress::OffsetNotCanonical)?;
        Ok(Self::Address { space: space.to_owned(), offset })
    }

    /// The spelling that was probably meant by a refused `--address` value, when its offset
    /// can be read as hexadecimal: lowercase, padded for a 64-bit space, `ram` if unnamed.
    pub fn suggest_address(text: &str) -> Option<String> {
        let (space, offset) = text.rsplit_once(':').unwrap_or(("ram", text));
        let lowered = offset.to_ascii_lowercase();
        let digits = lowered.strip_prefix("0x").unwrap_or(&lowered);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let value = u64::from_str_radix(digits, 16).ok()?;
        let space = if space.is_empty() { "ram" } else { space };
        Some(format!("{space}:{}", Offset::new(value, 16)))
    }
}

/// One Function as an ambiguity error shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionCandidate {
    /// Exact basename.
    pub name: String,
    /// Exact qualified name.
    pub qualified_name: String,
    /// Entry Address: the selector that tells the candidates apart.
    pub entry: Address,
    /// Memory or external.
    pub location: FunctionLocation,
    /// Ghidra's `isExternal()`.
    pub is_external: bool,
    /// Ghidra's `isThunk()`.
    pub is_thunk: bool,
    /// Whether `decompile` accepts it.
    pub decompilable: bool,
}

impl From<&FunctionItem> for FunctionCandidate {
    fn from(item: &FunctionItem) -> Self {
        Self {
            name: item.name.clone(),
            qualified_name: item.qualified_name.clone(),
            entry: item.entry.clone(),
            location: item.location,
            is_external: item.is_external,
            is_thunk: item.is_thunk,
            decompilable: item.decompilable,
        }
    }
}

/// What the complete function table says about a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Exactly one Function matches.
    Unique(Box<FunctionItem>),
    /// None matches. For an Address this does not yet say whether it lies inside a Function.
    NotFound,
    /// Several match.
    Ambiguous(Candidates<FunctionCandidate>),
}

/// Collects the matches of one selector over a table that streams past in listing order.
#[derive(Debug)]
pub struct Resolver<'selector> {
    selector: &'selector FunctionSelector,
    first: Option<Box<FunctionItem>>,
    candidates: Candidates<FunctionCandidate>,
}

impl<'selector> Resolver<'selector> {
    /// Starts with no match.
    pub fn new(selector: &'selector FunctionSelector) -> Self {
        Self { selector, first: None, candidates: Candidates::from_all([]) }
    }

    /// Considers the next Function of the table.
    pub fn visit(&mut self, item: &FunctionItem) {
        let matches = match self.selector {
            FunctionSelector::Name { value } => *value == item.name || *value == item.qualified_name,
            FunctionSelector::Address { space, offset } => {
                *space == item.entry.space && *offset == item.entry.offset
            }
        };
        if !matches {
            return;
        }
        self.candidates.total += 1;
        if self.candidates.items.len() < super::limits::CANDIDATE_LIMIT {
            self.candidates.items.push(FunctionCandidate::from(item));
        } else {
            self.candidates.has_more = true;
        }
        self.first.get_or_insert_with(|| Box::new(item.clone()));
    }

    /// The verdict once the whole table was visited.
    pub fn finish(self) -> Resolution {
        match self.first {
            None => Resolution::NotFound,
            Some(item) if self.candidates.total == 1 => Resolution::Unique(item),
            Some(_) => Resolution::Ambiguous(self.candidates),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn function(name: &str, qualified: &str, offset: u64) -> FunctionItem {
        let entry = Address { space: "ram".into(), offset: Offset::new(offset, 16) };
        FunctionItem::in_memory(name, qualified, entry)
    }

    fn resolve(selector: &FunctionSelector, table: &[FunctionItem]) -> Resolution {
        let mut resolver = Resolver::new(selector);
        table.iter().for_each(|item| resolver.visit(item));
        resolver.finish()
    }

    fn name(value: &str) -> FunctionSelector {
        FunctionSelector::Name { value: value.into() }
    }

    #[test]
    fn a_basename_matches_across_namespaces_and_a_qualified_name_only_itself() {
        let table =
            [function("parse", "A::parse", 1), function("parse", "B::parse", 2), function("x", "x", 3)];
        let Resolution::Ambiguous(candidates) = resolve(&name("parse"), &table) else { unreachable!() };
        assert_eq!(candidates.total, 2);
        assert_eq!(resolve(&name("B::parse"), &table), Resolution::Unique(Box::new(table[1].clone())));
        assert_eq!(resolve(&name("Parse"), &table), Resolution::NotFound);
        assert_eq!(resolve(&name("x"), &table), Resolution::Unique(Box::new(table[2].clone())));
    }

    #[test]
    fn addresses_parse_with_an_explicit_space_only() {
        assert_eq!(
            FunctionSelector::parse_address("ram:0x0000000000401120"),
            Ok(FunctionSelector::Address { space: "ram".into(), offset: Offset::new(0x40_1120, 16) })
        );
        assert_eq!(FunctionSelector::parse_address("0x401120"), Err(InvalidAddress::SpaceMissing));
        assert_eq!(FunctionSelector::parse_address(":0x1"), Err(InvalidAddress::SpaceMissing));
        assert_eq!(FunctionSelector::parse_address("ram:0X1"), Err(InvalidAddress::OffsetNotCanonical));
        assert_eq!(FunctionSelector::parse_address("ram:401120"), Err(InvalidAddress::OffsetNotCanonical));
    }

    #[test]
    fn a_refused_address_suggests_the_exact_selector() {
        let suggestion = Some("ram:0x0000000000401120".to_owned());
        for text in ["0x401120", "401120", "ram:401120", "0X401120", ":0x401120"] {
            assert_eq!(FunctionSelector::suggest_address(text), suggestion, "{text}");
        }
        assert_eq!(FunctionSelector::suggest_address("main"), None);
    }
}
