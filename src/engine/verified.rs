//! Which engine and Java version pairs this project's integration suite covers (decision D2).

/// A tested pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifiedEngine {
    /// Ghidra version.
    pub ghidra_version: &'static str,
    /// Java feature version.
    pub java_version: u32,
}

/// Every tested pair.
pub const VERIFIED_ENGINES: [VerifiedEngine; 2] = [
    VerifiedEngine { ghidra_version: "10.3", java_version: 17 },
    VerifiedEngine { ghidra_version: "12.1.2", java_version: 21 },
];

/// Whether the suite covers this pair.
pub fn is_verified(ghidra_version: &str, java_version: u32) -> bool {
    VERIFIED_ENGINES
        .iter()
        .any(|pair| pair.ghidra_version == ghidra_version && pair.java_version == java_version)
}

/// The Java feature version that an engine version is tested with, if it is tested at all.
pub fn verified_java(ghidra_version: &str) -> Option<u32> {
    VERIFIED_ENGINES.iter().find(|pair| pair.ghidra_version == ghidra_version).map(|pair| pair.java_version)
}

/// The tested pairs in words, as the `unverified_engine` warning lists them.
pub fn describe() -> Vec<String> {
    VERIFIED_ENGINES
        .iter()
        .map(|pair| format!("ghidra {} with java {}", pair.ghidra_version, pair.java_version))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_pairs_are_verified() {
        assert!(is_verified("10.3", 17) && is_verified("12.1.2", 21));
        assert!(!is_verified("10.3", 21) && !is_verified("12.1.2", 17) && !is_verified("12.1", 21));
    }
}
