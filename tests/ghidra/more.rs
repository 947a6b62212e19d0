//! Samples that no fixture can be: written here, byte by byte, for one property each.

use std::path::PathBuf;

use crate::support::ghidr::Ghidr;

const EXECUTABLE: u16 = 2;
const X86_64: u16 = 62;
const HEADER_BYTES: u64 = 64;
const PROGRAM_HEADER_BYTES: u64 = 56;
const BASE: u64 = 0x40_0000;

/// A little-endian 64-bit ELF header.
fn elf_header(object_type: u16, machine: u16, entry: u64, program_headers: u16) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    bytes.extend(object_type.to_le_bytes());
    bytes.extend(machine.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(entry.to_le_bytes());
    let table = if program_headers == 0 { 0 } else { HEADER_BYTES };
    bytes.extend(table.to_le_bytes());
    bytes.extend([0; 12]);
    let sizes = [HEADER_BYTES as u16, PROGRAM_HEADER_BYTES as u16, program_headers, 64, 0, 0];
    bytes.extend(sizes.iter().flat_map(|size| size.to_le_bytes()));
    bytes
}

/// An executable with nothing but `code`, one readable and executable segment.
fn elf_with_code(code: &[u8]) -> Vec<u8> {
    let start = HEADER_BYTES + PROGRAM_HEADER_BYTES;
    let bytes = start + code.len() as u64;
    let mut elf = elf_header(EXECUTABLE, X86_64, BASE + start, 1);
    elf.extend(1_u32.to_le_bytes());
    elf.extend(5_u32.to_le_bytes());
    elf.extend([0, BASE, BASE, bytes, bytes, 0x1000].iter().flat_map(|field: &u64| field.to_le_bytes()));
    elf.extend(code);
    elf
}

/// One function of `instructions` instructions that all matter to its result.
fn long_function(instructions: u32) -> Vec<u8> {
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

fn sample(ghidr: &Ghidr, name: &str, bytes: &[u8]) -> PathBuf {
    let path = ghidr.root().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_program_without_memory_has_no_addresses() {
    let ghidr = Ghidr::new();
    let sample = sample(&ghidr, "header-only", &elf_header(EXECUTABLE, X86_64, 0, 0));
    let document = ghidr.run(["inspect".as_ref(), sample.as_os_str()]).success();
    let program = &document["data"]["program"];
    assert!(program["minimum_address"].is_null() && program["maximum_address"].is_null(), "{program}");
    assert_eq!(program["function_count"], 0);
    let list = ghidr.run(["functions".as_ref(), sample.as_os_str()]).success();
    assert_eq!(list["data"]["page"]["total"], 0);
    assert_eq!(list["data"]["items"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_decompiler_timeout_is_124_returns_no_text_and_keeps_the_analysis() {
    let ghidr = Ghidr::new();
    let sample = sample(&ghidr, "long", &elf_with_code(&long_function(40_000)));
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
