//! Hand-made hostile ELF files: symbols with any names, code of any length, and headers that lie.

/// Where the one segment is loaded.
pub const BASE: u64 = 0x40_0000;
const HEADER_BYTES: u64 = 64;
const PROGRAM_HEADER_BYTES: u64 = 56;

/// An x86-64 executable: code, function symbols inside it, and sections.
#[derive(Default)]
pub struct Elf {
    /// The bytes of `.text`.
    pub code: Vec<u8>,
    /// Functions: name, offset in the code, size.
    pub symbols: Vec<(Vec<u8>, u64, u64)>,
    /// Further sections: name, type, flags, address, offset in the file, size, or contents.
    pub sections: Vec<Section>,
}

/// A section whose header says whatever it is told to.
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// `sh_addr`.
    pub address: u64,
    /// What it holds.
    pub contents: Vec<u8>,
    /// What its header says instead of its true size.
    pub claimed_size: Option<u64>,
}

impl Elf {
    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let start = HEADER_BYTES + PROGRAM_HEADER_BYTES;
        let loaded = start + self.code.len() as u64;
        let (symbols, strings) = self.symbol_table(BASE + start);
        let mut names = vec![0];
        let mut contents = self.code.clone();
        let mut headers = vec![[0_u64; 10]];
        let mut add = |name: &str, fields: [u64; 10], bytes: &[u8], contents: &mut Vec<u8>| {
            let mut header = fields;
            header[0] = names.len() as u64;
            names.extend(name.bytes().chain([0]));
            header[4] = start + contents.len() as u64;
            contents.extend(bytes);
            headers.push(header);
        };
        let text = [0, 1, 6, BASE + start, 0, self.code.len() as u64, 0, 0, 16, 0];
        add(".text", text, &[], &mut contents);
        let table = [0, 2, 0, 0, 0, symbols.len() as u64, 3, 1, 8, 24];
        add(".symtab", table, &symbols, &mut contents);
        add(".strtab", [0, 3, 0, 0, 0, strings.len() as u64, 0, 0, 1, 0], &strings, &mut contents);
        for section in &self.sections {
            let size = section.claimed_size.unwrap_or(section.contents.len() as u64);
            let fields = [0, section.kind.into(), section.flags, section.address, 0, size, 0, 0, 1, 0];
            add(section.name, fields, &section.contents, &mut contents);
        }
        headers[1][4] = start;
        let mut last = [0, 3, 0, 0, start + contents.len() as u64, 0, 0, 0, 1, 0];
        last[0] = names.len() as u64;
        names.extend(b".shstrtab\0");
        last[5] = names.len() as u64;
        headers.push(last);
        contents.extend(&names);
        let mut file = header(BASE + start, start + contents.len() as u64, headers.len() as u64);
        put(&mut file, 4, &[1, 5]);
        put(&mut file, 8, &[0, BASE, BASE, loaded, loaded, 0x1000]);
        file.extend(contents);
        for header in &headers {
            put(&mut file, 4, &header[..2]);
            put(&mut file, 8, &header[2..6]);
            put(&mut file, 4, &header[6..8]);
            put(&mut file, 8, &header[8..]);
        }
        file
    }

    fn symbol_table(&self, text: u64) -> (Vec<u8>, Vec<u8>) {
        let (mut table, mut strings) = (vec![0; 24], vec![0]);
        for (name, offset, size) in &self.symbols {
            put(&mut table, 4, &[strings.len() as u64]);
            // A global function of the first section.
            table.extend([0x12, 0, 1, 0]);
            put(&mut table, 8, &[text + offset, *size]);
            strings.extend(name.iter().copied().chain([0]));
        }
        (table, strings)
    }
}

fn header(entry: u64, section_table: u64, sections: u64) -> Vec<u8> {
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    put(&mut file, 2, &[2, 62]);
    put(&mut file, 4, &[1]);
    put(&mut file, 8, &[entry, HEADER_BYTES, section_table]);
    put(&mut file, 4, &[0]);
    put(&mut file, 2, &[64, 56, 1, 64, sections, sections - 1]);
    file
}

/// Little-endian numbers of `width` bytes.
pub fn put(file: &mut Vec<u8>, width: usize, values: &[u64]) {
    values.iter().for_each(|value| file.extend(&value.to_le_bytes()[..width]));
}

/// One function of `instructions` instructions that all matter to its result.
pub fn long_function(instructions: u32) -> Vec<u8> {
    let mut code = Vec::new();
    for index in 0..instructions / 2 {
        // add rax, [rsi + index * 8]; imul rax, rdi
        code.extend([0x48, 0x03, 0x86]);
        code.extend((index * 8).to_le_bytes());
        code.extend([0x48, 0x0f, 0xaf, 0xc7]);
    }
    code.push(0xc3);
    code
}
