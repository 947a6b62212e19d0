//! A small Mach-O executable for x86-64, built from nothing: one segment, one section of code, a
//! symbol table and an entry point. Ghidra imports it; the mutator breaks it.

const TEXT: u64 = 0x1_0000_0000;
const CODE_OFFSET: u32 = 0x400;
const LC_SEGMENT_64: u32 = 0x19;
const LC_SYMTAB: u32 = 2;
const LC_MAIN: u32 = 0x8000_0028;

/// Two functions that call each other's neighbour, and data to disassemble wrongly.
const CODE: [u8; 44] = [
    0x55, 0x48, 0x89, 0xe5, 0xbf, 0x07, 0x00, 0x00, 0x00, 0xe8, 0x07, 0x00, 0x00, 0x00, 0x83, 0xc0, 0x01,
    0x5d, 0xc3, 0x90, 0x90, 0x55, 0x48, 0x89, 0xe5, 0x8d, 0x04, 0x7f, 0x3d, 0x00, 0x01, 0x00, 0x00, 0x7f,
    0x02, 0x01, 0xf8, 0x5d, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
];
const SECOND_FUNCTION: u64 = 21;

/// The executable.
pub fn executable() -> Vec<u8> {
    let commands = [segment(), symbol_table(), entry_point()];
    let bytes_of_commands: usize = commands.iter().map(Vec::len).sum();
    let mut file = Vec::new();
    let header = [
        0xfeed_facf,
        0x0100_0007,
        3,
        2,
        u32::try_from(commands.len()).unwrap(),
        u32::try_from(bytes_of_commands).unwrap(),
        0x85,
        0,
    ];
    put32(&mut file, &header);
    commands.iter().for_each(|command| file.extend(command));
    file.resize(CODE_OFFSET as usize, 0);
    file.extend(CODE);
    for (name, offset) in [(1, 0), (7, SECOND_FUNCTION)] {
        put32(&mut file, &[name]);
        file.extend([0x0f, 1, 0, 0]);
        put64(&mut file, &[TEXT + u64::from(CODE_OFFSET) + offset]);
    }
    file.extend(STRINGS);
    file
}

const STRINGS: &[u8] = b"\0_main\0_triple\0\0";

fn segment() -> Vec<u8> {
    let mut command = Vec::new();
    put32(&mut command, &[LC_SEGMENT_64, 152]);
    command.extend(name("__TEXT"));
    let file_bytes = u64::from(CODE_OFFSET) + CODE.len() as u64;
    put64(&mut command, &[TEXT, 0x1000, 0, file_bytes]);
    put32(&mut command, &[5, 5, 1, 0]);
    command.extend(name("__text"));
    command.extend(name("__TEXT"));
    put64(&mut command, &[TEXT + u64::from(CODE_OFFSET), CODE.len() as u64]);
    put32(&mut command, &[CODE_OFFSET, 4, 0, 0, 0x8000_0400, 0, 0, 0]);
    command
}

fn symbol_table() -> Vec<u8> {
    let symbols = CODE_OFFSET + u32::try_from(CODE.len()).unwrap();
    let strings = u32::try_from(STRINGS.len()).unwrap();
    let mut command = Vec::new();
    put32(&mut command, &[LC_SYMTAB, 24, symbols, 2, symbols + 32, strings]);
    command
}

fn entry_point() -> Vec<u8> {
    let mut command = Vec::new();
    put32(&mut command, &[LC_MAIN, 24]);
    put64(&mut command, &[u64::from(CODE_OFFSET), 0]);
    command
}

fn name(text: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes
}

fn put32(file: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| file.extend(value.to_le_bytes()));
}

fn put64(file: &mut Vec<u8>, values: &[u64]) {
    values.iter().for_each(|value| file.extend(value.to_le_bytes()));
}
