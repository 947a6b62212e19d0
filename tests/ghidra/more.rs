//! Samples that no fixture can be: written here, byte by byte, for one property each.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::boots;
use crate::support::ghidr::Ghidr;
use crate::support::hostile::elf::long_function;

const X86_64: u16 = 62;
const HEADER_BYTES: u64 = 64;
const PROGRAM_HEADER_BYTES: u64 = 56;
const BASE: u64 = 0x40_0000;

/// The 16 identifying bytes of a little-endian ELF file.
fn identification(class: u8) -> Vec<u8> {
    let mut bytes = vec![0x7f, b'E', b'L', b'F', class, 1, 1];
    bytes.resize(16, 0);
    bytes
}

/// Everything of a 64-bit header that follows the identification.
struct Header64 {
    object_type: u16,
    entry: u64,
    program_headers: u16,
    section_table: u64,
    sections: u16,
}

impl Header64 {
    fn bytes(&self) -> Vec<u8> {
        let program_table = if self.program_headers == 0 { 0 } else { HEADER_BYTES };
        let mut bytes = identification(2);
        bytes.extend([self.object_type, X86_64].iter().flat_map(|field| field.to_le_bytes()));
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(
            [self.entry, program_table, self.section_table].iter().flat_map(|field| field.to_le_bytes()),
        );
        bytes.extend(0_u32.to_le_bytes());
        let names = u16::from(self.sections > 0);
        let sizes = [64, 56, self.program_headers, 64, self.sections, names];
        bytes.extend(sizes.iter().flat_map(|size: &u16| size.to_le_bytes()));
        bytes
    }
}

/// An executable with nothing but `code`, in one readable and executable segment.
fn elf_with_code(code: &[u8]) -> Vec<u8> {
    let start = HEADER_BYTES + PROGRAM_HEADER_BYTES;
    let bytes = start + code.len() as u64;
    let header =
        Header64 { object_type: 2, entry: BASE + start, program_headers: 1, section_table: 0, sections: 0 };
    let mut elf = header.bytes();
    elf.extend([1_u32, 5].iter().flat_map(|field| field.to_le_bytes()));
    elf.extend([0, BASE, BASE, bytes, bytes, 0x1000].iter().flat_map(|field: &u64| field.to_le_bytes()));
    elf.extend(code);
    elf
}

/// An object file whose only section is the table of section names.
fn elf_without_memory() -> Vec<u8> {
    let names = b"\0.shstrtab\0";
    let section_table = HEADER_BYTES + names.len() as u64;
    let mut elf =
        Header64 { object_type: 1, entry: 0, program_headers: 0, section_table, sections: 2 }.bytes();
    elf.extend(names);
    elf.extend([0; 64]);
    elf.extend([1_u32, 3].iter().flat_map(|field| field.to_le_bytes()));
    let fields = [0, 0, HEADER_BYTES, names.len() as u64, 0, 1, 0];
    elf.extend(fields.iter().flat_map(|field: &u64| field.to_le_bytes()));
    elf
}

/// A 32-bit AVR header: its machine number stands for several processors, none of them preferred.
fn elf_of_an_ambiguous_machine() -> Vec<u8> {
    let mut elf = identification(1);
    elf.extend([2_u16, 83].iter().flat_map(|field| field.to_le_bytes()));
    elf.extend([1_u32, 0, 0, 0, 0].iter().flat_map(|field| field.to_le_bytes()));
    elf.extend([52_u16, 32, 0, 40, 0, 0].iter().flat_map(|field| field.to_le_bytes()));
    elf
}

fn sample(ghidr: &Ghidr, name: &str, bytes: &[u8]) -> PathBuf {
    let path = ghidr.root().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_program_without_memory_has_no_addresses() {
    let _boot = boots::take();
    let ghidr = Ghidr::new();
    let sample = sample(&ghidr, "no-memory.o", &elf_without_memory());
    let document = ghidr.run(["inspect".as_ref(), sample.as_os_str()]).success();
    let program = &document["data"]["program"];
    for address in ["image_base", "minimum_address", "maximum_address"] {
        assert_eq!(program.get(address), Some(&Value::Null), "{address} of {program}");
    }
    assert_eq!(program["function_count"], 0);
    let list = ghidr.run(["functions".as_ref(), sample.as_os_str()]).success();
    assert_eq!(list["data"]["page"]["total"], 0);
    assert_eq!(list["data"]["items"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_decompiler_timeout_is_124_returns_no_text_and_keeps_the_analysis() {
    let _boot = boots::take();
    let ghidr = Ghidr::new();
    let sample = sample(&ghidr, "long", &elf_with_code(&long_function(12_000)));
    let sample = sample.to_str().unwrap();
    let run = ghidr.run(["decompile", sample, "--name", "entry", "--decompile-timeout-seconds", "1"]);
    let error = run.error("decompile_timeout", 124);
    assert_eq!(error["details"]["timeout_seconds"], 1);
    assert_eq!(error["details"]["raise"]["flag"], "--decompile-timeout-seconds");
    assert!(error["details"]["raise"]["next_value"].as_u64().unwrap() > 1);
    assert!(!run.to_string().contains("rax"), "{run}");
    let document = ghidr.run(["inspect", sample]).success();
    assert_eq!(document["data"]["analysis"]["disposition"], "reused");
}

#[test]
fn verbose_tells_people_whether_the_analysis_was_created_or_reused() {
    let _boot = boots::take();
    let ghidr = Ghidr::new();
    let arguments = ["--format", "human", "--verbose", "inspect", "fixtures/bin/elf-x86_64-overlong"];
    for expected in ["created", "reused"] {
        let run = ghidr.run_unframed(arguments);
        assert_eq!(run.status, Some(0), "{run}");
        let stderr = String::from_utf8(run.stderr).unwrap();
        let line = stderr.lines().find(|line| line.starts_with("analysis ")).unwrap_or_default();
        assert!(line.ends_with(&format!(": {expected}")), "{stderr}");
    }
    let json = ghidr.run(["--verbose", "inspect", "fixtures/bin/elf-x86_64-overlong"]);
    assert_eq!(json.success()["data"]["analysis"]["disposition"], "reused");
}

#[test]
fn an_ambiguous_target_lists_its_candidates_and_leaves_no_analysis() {
    let _boot = boots::take();
    let ghidr = Ghidr::new();
    let sample = sample(&ghidr, "avr", &elf_of_an_ambiguous_machine());
    let error = ghidr.run(["inspect".as_ref(), sample.as_os_str()]).error("ambiguous_target", 1);
    let candidates = &error["details"]["candidates"];
    let items = candidates["items"].as_array().unwrap();
    assert!(items.len() >= 2 && items.len() <= 20, "{candidates}");
    assert_eq!(candidates["total"], items.len());
    assert_eq!(candidates["has_more"], false);
    for item in items {
        assert_eq!(item["loader"], "Executable and Linking Format (ELF)");
        assert!(item["processor_language"].as_str().unwrap().starts_with("avr8:LE:"), "{item}");
    }
    let kept = std::fs::read_dir(ghidr.store().join("analyses")).into_iter().flatten().count();
    assert_eq!(kept, 0, "an Analysis was kept");
}
