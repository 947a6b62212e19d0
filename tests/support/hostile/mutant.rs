//! Mutants of the fixtures: a header field set to an extreme, random bytes, a cut, a piece of
//! another file. A mutant follows from its random choices; nothing else is stored.

use std::ops::Range;

use super::macho;
use crate::support::fixtures;
use crate::support::random::Random;

/// What is mutated: small files of every format, so that a case takes little time.
const BASES: [&str; 12] = [
    "elf-aarch64",
    "elf-i386",
    "elf-x86_64-core",
    "elf-x86_64-dwarf5",
    "elf-x86_64-object.o",
    "elf-x86_64-pie",
    "elf-x86_64-shared.so",
    "pe32-i386.exe",
    "pe32plus-dotnet.exe",
    "pe32plus-x86_64-efi.efi",
    "pe32plus-x86_64.dll",
    "macho-x86_64",
];
/// Longest piece that is copied, inserted, or removed.
const PIECE_BYTES: usize = 512;

/// One mutant.
pub struct Mutant {
    /// What it was made from.
    pub base: &'static str,
    /// What was done to it, in order.
    pub changes: Vec<String>,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Mutant {
    /// The mutant of these choices.
    pub fn of(random: &mut Random) -> Self {
        let base = *random.pick(&BASES);
        let mut mutant = Self { base, changes: Vec::new(), bytes: original(base) };
        for _ in 0..=random.below(3) {
            let change = mutant.change(random);
            mutant.changes.push(change);
        }
        mutant
    }

    fn change(&mut self, random: &mut Random) -> String {
        match random.below(10) {
            0..=4 => self.set_header_field(random),
            5..=6 => self.set_random_bytes(random),
            7 => self.cut(random),
            _ => self.splice(random),
        }
    }

    fn set_header_field(&mut self, random: &mut Random) -> String {
        let headers = header_ranges(&self.bytes);
        let Range { start, end } = random.pick(&headers).clone();
        let width = *random.pick(&[1_usize, 2, 4, 8]);
        let at = start + below(random, end.saturating_sub(start)) / width * width;
        let length = self.bytes.len() as u64;
        let extremes = [0, 1, 2, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, u64::MAX];
        let value = match random.below(4) {
            0 => random.next(),
            1 => length.wrapping_add(random.below(3)).wrapping_sub(1),
            _ => *random.pick(&extremes),
        };
        self.write(at, &value.to_le_bytes()[..width]);
        format!("{width} bytes at {at:#x} = {value:#x}")
    }

    fn set_random_bytes(&mut self, random: &mut Random) -> String {
        let count = 1 << random.below(6);
        for _ in 0..count {
            let at = below(random, self.bytes.len());
            self.write(at, &random.next().to_le_bytes()[..1]);
        }
        format!("{count} random bytes")
    }

    fn cut(&mut self, random: &mut Random) -> String {
        // Most of the file stays: a file of a few bytes is refused by every loader alike.
        let least = self.bytes.len() / 4;
        let length = least + below(random, self.bytes.len() - least);
        self.bytes.truncate(length);
        format!("cut to {length}")
    }

    fn splice(&mut self, random: &mut Random) -> String {
        let donor_name = *random.pick(&BASES);
        let donor = original(donor_name);
        let from = below(random, donor.len());
        let piece = &donor[from..donor.len().min(from + 1 + below(random, PIECE_BYTES))];
        let at = below(random, self.bytes.len());
        let replaced = match random.below(3) {
            0 => 0,
            1 => piece.len(),
            _ => below(random, PIECE_BYTES),
        };
        let end = self.bytes.len().min(at + replaced);
        self.bytes.splice(at.min(end)..end, piece.iter().copied());
        format!("{} bytes of {donor_name} at {at:#x} for {replaced}", piece.len())
    }

    fn write(&mut self, at: usize, value: &[u8]) {
        for (place, byte) in self.bytes.iter_mut().skip(at).zip(value) {
            *place = *byte;
        }
    }
}

/// A number below `bound`, or zero.
fn below(random: &mut Random, bound: usize) -> usize {
    usize::try_from(random.below(bound.max(1) as u64)).unwrap()
}

/// A fixture, or the one that is built here.
fn original(base: &str) -> Vec<u8> {
    match base {
        "macho-x86_64" => macho::executable(),
        fixture => std::fs::read(fixtures::path(fixture)).unwrap(),
    }
}

/// Where a file keeps its headers, read from the file itself and therefore possibly nowhere near.
fn header_ranges(bytes: &[u8]) -> Vec<Range<usize>> {
    let number = |at: usize, width: usize| {
        let field = bytes.get(at..at + width)?;
        let mut wide = [0; 8];
        wide[..width].copy_from_slice(field);
        usize::try_from(u64::from_le_bytes(wide)).ok().filter(|value| *value < bytes.len())
    };
    let table = |start: Option<usize>, size: usize| {
        let start = start.unwrap_or(0);
        start..bytes.len().min(start + size).max(start + 1)
    };
    match bytes {
        [0x7f, b'E', b'L', b'F', 2, ..] => {
            vec![4..64, table(number(0x20, 8), 560), table(number(0x28, 8), 1_920)]
        }
        [0x7f, b'E', b'L', b'F', ..] => {
            vec![4..52, table(number(0x1c, 4), 320), table(number(0x20, 4), 1_200)]
        }
        [b'M', b'Z', ..] => vec![2..64, table(number(0x3c, 4), 264), table(number(0x3c, 4), 800)],
        _ => Vec::from([table(Some(4), 284)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(seed: u64, index: u64) -> Mutant {
        Mutant::of(&mut Random::new(seed, &index.to_string()))
    }

    #[test]
    fn a_mutant_follows_from_its_choices() {
        assert_eq!(mutant(1, 7).bytes, mutant(1, 7).bytes);
        let different = (0..50).filter(|index| mutant(1, *index).bytes != mutant(2, *index).bytes).count();
        assert!(different >= 45, "{different}");
    }

    #[test]
    fn mutants_come_from_every_base_and_differ_from_it() {
        let mutants: Vec<Mutant> = (0..400).map(|index| mutant(4, index)).collect();
        for base in BASES {
            let made = mutants.iter().filter(|mutant| mutant.base == base).count();
            assert!(made >= 15, "{made} of {base}");
        }
        let unchanged = mutants.iter().filter(|mutant| mutant.bytes == original(mutant.base)).count();
        assert!(unchanged <= 20, "{unchanged} are what they were made from");
    }
}
