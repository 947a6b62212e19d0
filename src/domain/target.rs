//! Target Specification and its coverage by this project's integration fixtures.
//!
//! `verification` is decided by one table over loader, language, compiler specification
//! and the Sample's own header facts: never by the format alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sample_header::SampleHeader;

/// What Ghidra recognised the Sample as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Ghidra's loader name.
    pub loader: String,
    /// Ghidra's executable-format name.
    pub format: String,
    /// Ghidra language id, such as `x86:LE:64:default`.
    pub processor_language: String,
    /// Ghidra compiler-specification id, such as `gcc`.
    pub compiler_specification: String,
}

/// Whether the target is inside the integration-test matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetVerification {
    /// Covered by reviewed goldens.
    Verified,
    /// Best effort.
    Unverified,
}

/// Names of the verified targets, as the `unverified_target` warning lists them.
pub const VERIFIED_TARGETS: [&str; 2] = ["elf-x86_64-little-endian", "pe32plus-x86_64"];

struct VerifiedTarget {
    loader: &'static str,
    processor_language: &'static str,
    compiler_specification: &'static str,
    header: fn(&SampleHeader) -> bool,
}

const VERIFIED: [VerifiedTarget; 2] = [
    VerifiedTarget {
        loader: "Executable and Linking Format (ELF)",
        processor_language: "x86:LE:64:default",
        compiler_specification: "gcc",
        header: SampleHeader::is_verified_elf,
    },
    VerifiedTarget {
        loader: "Portable Executable (PE)",
        processor_language: "x86:LE:64:default",
        compiler_specification: "windows",
        header: SampleHeader::is_verified_pe,
    },
];

impl Target {
    /// Coverage of this target, given the Sample's header facts.
    pub fn verification(&self, header: &SampleHeader) -> TargetVerification {
        let covered = VERIFIED.iter().any(|row| {
            row.loader == self.loader
                && row.processor_language == self.processor_language
                && row.compiler_specification == self.compiler_specification
                && (row.header)(header)
        });
        if covered { TargetVerification::Verified } else { TargetVerification::Unverified }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(loader: &str, compiler: &str) -> Target {
        Target {
            loader: loader.into(),
            format: loader.into(),
            processor_language: "x86:LE:64:default".into(),
            compiler_specification: compiler.into(),
        }
    }

    fn elf(object_type: u16, class_bits: u8) -> SampleHeader {
        SampleHeader::Elf { class_bits, little_endian: true, object_type, machine: 62 }
    }

    fn pe(subsystem: u16, managed: bool) -> SampleHeader {
        SampleHeader::Pe { optional_magic: 0x20b, machine: 0x8664, subsystem, managed }
    }

    #[test]
    fn shared_object_relocatable_and_executable_elf_are_verified() {
        let target = target("Executable and Linking Format (ELF)", "gcc");
        for object_type in [1, 2, 3] {
            assert_eq!(target.verification(&elf(object_type, 64)), TargetVerification::Verified);
        }
    }

    #[test]
    fn core_x32_and_a_header_that_disagrees_are_unverified() {
        let target = target("Executable and Linking Format (ELF)", "gcc");
        for header in [elf(4, 64), elf(3, 32), SampleHeader::Other, pe(3, false)] {
            assert_eq!(target.verification(&header), TargetVerification::Unverified, "{header:?}");
        }
    }

    #[test]
    fn console_and_windows_pe_are_verified_but_efi_and_managed_are_not() {
        let target = target("Portable Executable (PE)", "windows");
        assert_eq!(target.verification(&pe(2, false)), TargetVerification::Verified);
        assert_eq!(target.verification(&pe(3, false)), TargetVerification::Verified);
        for header in [pe(10, false), pe(3, true)] {
            assert_eq!(target.verification(&header), TargetVerification::Unverified, "{header:?}");
        }
    }

    #[test]
    fn another_compiler_specification_is_unverified() {
        let target = target("Portable Executable (PE)", "borlanddelphi");
        assert_eq!(target.verification(&pe(3, false)), TargetVerification::Unverified);
    }
}
