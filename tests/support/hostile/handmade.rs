//! Hostile Samples with one idea each.

use super::elf::{Elf, Section, long_function, put};
use super::macho;

/// Names that a terminal, a JSON reader or a reader of C would take for something else.
pub const NAMES: [&str; 10] = [
    "esc\u{1b}[2J\u{1b}]0;title\u{7}",
    "cr\rlf\nnul-less",
    "bidi\u{202e}nim\u{2066}x",
    "{\"schema_version\":1,\"kind\":\"error\"}",
    "quote\"backslash\\tab\t",
    "*/ int main(){ /*",
    "del\u{7f}c1\u{9b}31m",
    "line\u{2028}paragraph\u{2029}",
    "../../etc/passwd",
    "zero\u{200b}width\u{feff}",
];
/// One byte per function: `ret`.
const RETURN: u8 = 0xc3;

/// Every Sample: its name, its bytes, and whether Ghidra must come to an Analysis of it.
pub fn all() -> Vec<(&'static str, Vec<u8>, bool)> {
    vec![
        ("names that deceive", deceiving_names(), true),
        ("thousands of symbols with control bytes", thousands_of_symbols(), true),
        ("a function of 50,000 instructions", long(50_000), true),
        ("overlapping sections", overlapping_sections(), true),
        ("sizes of 0xFFFFFFFF", huge_sizes(), false),
        ("cyclic DWARF", cyclic_dwarf(), true),
        ("headers cut off", Elf { code: vec![RETURN; 16], ..Elf::default() }.bytes()[..70].to_vec(), false),
        ("a PE with insane directory counts", insane_pe(), false),
        ("a Mach-O with two billion commands", macho_with_commands(), false),
        ("nothing but a magic number", b"\x7fELF".to_vec(), false),
    ]
}

fn deceiving_names() -> Vec<u8> {
    let symbols = NAMES.iter().zip(0..).map(|(name, at)| (name.as_bytes().to_vec(), at * 16, 1));
    let mut code = [RETURN; 16 * NAMES.len()];
    code.iter_mut().enumerate().filter(|(at, _)| at % 16 != 0).for_each(|(_, byte)| *byte = 0xcc);
    let invalid = (b"not\xff\xfeutf8\xed\xa0\x80".to_vec(), 16 * NAMES.len() as u64, 1);
    let code = [&code[..], &[RETURN]].concat();
    Elf { code, symbols: symbols.chain([invalid]).collect(), ..Elf::default() }.bytes()
}

fn thousands_of_symbols() -> Vec<u8> {
    let name = |index: u64| {
        let mut name = format!("f{index}").into_bytes();
        name.extend([1 + (index % 31) as u8, 0x80 | (index % 127) as u8, b'x']);
        name
    };
    let symbols = (0..4_000).map(|index| (name(index), index, 1)).collect();
    Elf { code: vec![RETURN; 4_000], symbols, ..Elf::default() }.bytes()
}

/// An executable whose entry is one function of this many instructions.
pub fn long(instructions: u32) -> Vec<u8> {
    let code = long_function(instructions);
    let mut with_a_short_one = code.clone();
    with_a_short_one.extend([0x89, 0xf8, RETURN]);
    let symbols =
        vec![(b"endless".to_vec(), 0, code.len() as u64), (b"short".to_vec(), code.len() as u64, 3)];
    Elf { code: with_a_short_one, symbols, ..Elf::default() }.bytes()
}

fn overlapping_sections() -> Vec<u8> {
    let over = |name, address| Section {
        name,
        kind: 1,
        flags: 7,
        address,
        contents: vec![RETURN; 64],
        claimed_size: None,
    };
    let sections = vec![
        over(".over", super::elf::BASE + 0x80),
        over(".lap", super::elf::BASE + 0xa0),
        over(".same", super::elf::BASE + 0x80),
        over(".end", u64::MAX - 16),
    ];
    Elf { code: vec![RETURN; 256], sections, symbols: vec![(b"f".to_vec(), 0, 1)] }.bytes()
}

fn huge_sizes() -> Vec<u8> {
    let huge = |name, kind, size| Section {
        name,
        kind,
        flags: 2,
        address: 0x1000_0000,
        contents: vec![0; 8],
        claimed_size: Some(size),
    };
    let sections = vec![
        huge(".a", 1, 0xffff_ffff),
        huge(".b", 8, 0xffff_ffff_ffff),
        huge(".rela.c", 4, 0xffff_ffff),
        huge(".dynsym", 11, 0xffff_ffff),
        huge(".note.x", 7, 0xffff_ffff),
    ];
    Elf { code: vec![RETURN; 16], sections, ..Elf::default() }.bytes()
}

/// Types that are made of themselves, and an entry whose origin is itself.
fn cyclic_dwarf() -> Vec<u8> {
    let mut abbreviations = Vec::new();
    // 1: compile unit with children and a name; 2: typedef of a reference; 3: array of a reference;
    // 4: subprogram with an abstract origin.
    for declaration in [
        &[1, 0x11, 1, 0x03, 0x08, 0, 0][..],
        &[2, 0x16, 0, 0x03, 0x08, 0x49, 0x13, 0, 0],
        &[3, 0x01, 0, 0x49, 0x13, 0, 0],
        &[4, 0x2e, 0, 0x31, 0x13, 0x11, 0x01, 0, 0],
    ] {
        abbreviations.extend(declaration);
    }
    abbreviations.push(0);
    let mut entries = vec![1, b'c', 0];
    let origin = 11;
    let mut refer = |entry: &[u8], to: usize| {
        let own = origin + entries.len();
        entries.extend(entry);
        put(&mut entries, 4, &[(origin + to) as u64]);
        own
    };
    // Two typedefs of each other, an array of itself.
    refer(&[2, b'a', 0], 3 + 7);
    refer(&[2, b'b', 0], 3);
    refer(&[3], 3 + 14);
    refer(&[4], 3 + 19);
    put(&mut entries, 8, &[super::elf::BASE + 120]);
    entries.push(0);
    let mut unit = Vec::new();
    put(&mut unit, 4, &[7 + entries.len() as u64]);
    put(&mut unit, 2, &[4]);
    put(&mut unit, 4, &[0]);
    unit.push(8);
    unit.extend(entries);
    let section =
        |name, contents| Section { name, kind: 1, flags: 0, address: 0, contents, claimed_size: None };
    let sections = vec![section(".debug_info", unit), section(".debug_abbrev", abbreviations)];
    Elf { code: vec![RETURN; 16], symbols: vec![(b"f".to_vec(), 0, 1)], sections }.bytes()
}

fn insane_pe() -> Vec<u8> {
    let mut file = vec![0; 64];
    file[..2].copy_from_slice(b"MZ");
    file[0x3c] = 64;
    file.extend(b"PE\0\0");
    put(&mut file, 2, &[0x8664, 0xffff]);
    put(&mut file, 4, &[0, 0xffff_fff0, 0xffff_ffff]);
    put(&mut file, 2, &[240, 0x22]);
    put(&mut file, 2, &[0x20b, 0]);
    put(&mut file, 4, &[0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0x1000, 0xffff_ffff]);
    put(&mut file, 8, &[u64::MAX - 0xffff]);
    put(&mut file, 4, &[0, 0]);
    put(&mut file, 2, &[6, 0, 0, 0, 6, 0]);
    put(&mut file, 4, &[0, 0xffff_ffff, 0xffff_ffff, 0]);
    put(&mut file, 2, &[3, 0]);
    put(&mut file, 8, &[u64::MAX, u64::MAX, u64::MAX, u64::MAX]);
    put(&mut file, 4, &[0, 0xffff_ffff]);
    for _ in 0..16 {
        put(&mut file, 4, &[0x1000, 0xffff_ffff]);
    }
    file.resize(4_096, 0xff);
    file
}

fn macho_with_commands() -> Vec<u8> {
    let mut file = macho::executable();
    file[16..24].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f]);
    file
}
