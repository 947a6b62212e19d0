//! The few header facts of a Sample that decide target coverage.
//!
//! Reads bounded windows of untrusted bytes; anything out of place is [`SampleHeader::Other`],
//! never an error: Ghidra, inside the sandbox, is the one that judges the file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Header facts of a recognised executable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SampleHeader {
    /// ELF identification and file header.
    Elf {
        /// 32 or 64.
        class_bits: u8,
        /// Byte order.
        little_endian: bool,
        /// `e_type`.
        object_type: u16,
        /// `e_machine`.
        machine: u16,
    },
    /// PE file header and optional header.
    Pe {
        /// 0x10b (PE32) or 0x20b (PE32+).
        optional_magic: u16,
        /// `Machine`.
        machine: u16,
        /// `Subsystem`.
        subsystem: u16,
        /// A CLR header is present.
        managed: bool,
    },
    /// Anything else.
    Other,
}

const PE_OFFSET_FIELD: u64 = 0x3c;
const CLR_DIRECTORY_INDEX: u64 = 14;

impl SampleHeader {
    /// Reads header facts through `read_at`, which returns up to `length` bytes at an offset
    /// (fewer at the end of the Sample).
    pub fn read<E>(mut read_at: impl FnMut(u64, usize) -> Result<Vec<u8>, E>) -> Result<Self, E> {
        let start = read_at(0, 64)?;
        if start.starts_with(b"\x7fELF") {
            return Ok(Self::elf(&start));
        }
        if !start.starts_with(b"MZ") {
            return Ok(Self::Other);
        }
        let Some(pe_offset) = u32_at(&start, PE_OFFSET_FIELD) else { return Ok(Self::Other) };
        let header = read_at(u64::from(pe_offset), 24 + 240)?;
        Ok(Self::pe(&header))
    }

    fn elf(start: &[u8]) -> Self {
        let (Some(class), Some(order)) = (start.get(4), start.get(5)) else { return Self::Other };
        let class_bits = match class {
            1 => 32,
            2 => 64,
            _ => return Self::Other,
        };
        let little_endian = *order == 1;
        let field = |offset| {
            let value = u16_at(start, offset)?;
            Some(if little_endian { value } else { value.swap_bytes() })
        };
        match (field(16), field(18)) {
            (Some(object_type), Some(machine)) => {
                Self::Elf { class_bits, little_endian, object_type, machine }
            }
            _ => Self::Other,
        }
    }

    fn pe(header: &[u8]) -> Self {
        if !header.starts_with(b"PE\0\0") {
            return Self::Other;
        }
        let optional = 24;
        let (Some(machine), Some(optional_magic), Some(subsystem)) =
            (u16_at(header, 4), u16_at(header, optional), u16_at(header, optional + 68))
        else {
            return Self::Other;
        };
        let directories = optional + if optional_magic == 0x20b { 112 } else { 96 };
        let managed = u32_at(header, directories + CLR_DIRECTORY_INDEX * 8).is_some_and(|rva| rva != 0);
        Self::Pe { optional_magic, machine, subsystem, managed }
    }

    pub(super) fn is_verified_elf(&self) -> bool {
        const X86_64: u16 = 62;
        matches!(self, Self::Elf { class_bits: 64, little_endian: true, object_type: 1..=3, machine: X86_64 })
    }

    pub(super) fn is_verified_pe(&self) -> bool {
        const AMD64: u16 = 0x8664;
        const WINDOWS_GUI: u16 = 2;
        const WINDOWS_CONSOLE: u16 = 3;
        matches!(
            self,
            Self::Pe {
                optional_magic: 0x20b,
                machine: AMD64,
                subsystem: WINDOWS_GUI | WINDOWS_CONSOLE,
                managed: false
            }
        )
    }
}

fn bytes_at<const N: usize>(bytes: &[u8], offset: u64) -> Option<[u8; N]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(N)?)?.try_into().ok()
}

fn u16_at(bytes: &[u8], offset: u64) -> Option<u16> {
    bytes_at(bytes, offset).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: u64) -> Option<u32> {
    bytes_at(bytes, offset).map(u32::from_le_bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> SampleHeader {
        SampleHeader::read::<()>(|offset, length| {
            let start = usize::try_from(offset).unwrap().min(bytes.len());
            Ok(bytes[start..bytes.len().min(start + length)].to_vec())
        })
        .unwrap()
    }

    #[test]
    fn the_running_test_binary_is_a_64_bit_elf() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        assert!(read(&bytes).is_verified_elf());
    }

    #[test]
    fn every_prefix_of_hostile_headers_is_read_without_fault() {
        let mut pe = vec![0; 0x200];
        pe[..2].copy_from_slice(b"MZ");
        pe[0x3c..0x40].copy_from_slice(&0x80_u32.to_le_bytes());
        pe[0x80..0x84].copy_from_slice(b"PE\0\0");
        pe[0x84..0x86].copy_from_slice(&0x8664_u16.to_le_bytes());
        pe[0x98..0x9a].copy_from_slice(&0x20b_u16.to_le_bytes());
        pe[0x98 + 68..0x98 + 70].copy_from_slice(&3_u16.to_le_bytes());
        assert!(read(&pe).is_verified_pe());
        for length in 0..pe.len() {
            let header = read(&pe[..length]);
            assert!(matches!(header, SampleHeader::Other | SampleHeader::Pe { .. }));
        }
        pe[0x3c..0x40].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(read(&pe), SampleHeader::Other);
    }

    #[test]
    fn a_clr_directory_marks_the_pe_as_managed() {
        let mut pe = vec![0; 0x200];
        pe[..2].copy_from_slice(b"MZ");
        pe[0x3c..0x40].copy_from_slice(&0x40_u32.to_le_bytes());
        pe[0x40..0x44].copy_from_slice(b"PE\0\0");
        pe[0x58..0x5a].copy_from_slice(&0x20b_u16.to_le_bytes());
        pe[0x58 + 112 + 14 * 8] = 1;
        assert!(matches!(read(&pe), SampleHeader::Pe { managed: true, .. }));
    }
}
