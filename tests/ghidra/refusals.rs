//! Samples and places that are refused, each with its own typed error.

use std::os::unix::net::UnixListener;

use crate::support::ghidr::{Ghidr, Run};
use crate::support::hostile::driven::Driven;
use crate::support::{boots, fixtures, tree};

fn inspect(ghidr: &Ghidr, path: &std::path::Path) -> Run {
    ghidr.run(["inspect".as_ref(), path.as_os_str()])
}

#[test]
fn what_is_no_regular_file_is_refused_before_any_worker_starts() {
    let ghidr = Ghidr::new();
    let at = |name: &str| ghidr.root().join(name);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
    for (name, file_type) in [("fifo", "FIFO"), ("home", "directory")] {
        let error = inspect(&ghidr, &at(name)).error("sample_not_regular", 1);
        assert_eq!(error["details"]["file_type"].as_str().unwrap().to_lowercase(), file_type.to_lowercase());
    }
    inspect(&ghidr, &at("socket")).error("sample_not_regular", 1);
    inspect(&ghidr, "/dev/null".as_ref()).error("sample_not_regular", 1);
    inspect(&ghidr, &at("dangling")).error("sample_not_found", 1);
    inspect(&ghidr, &at("absent")).error("sample_not_found", 1);
    assert_eq!(tree::names(&ghidr.store()), Vec::<String>::new());
}

#[test]
fn files_that_are_no_program_are_refused_and_leave_no_analysis() {
    let ghidr = Ghidr::new();
    for (fixture, code) in fixtures::REFUSED {
        let _boot = boots::take();
        inspect(&ghidr, &fixtures::path(fixture)).error(code, 1);
    }
    assert_eq!(tree::names(&ghidr.store().join("analyses")), Vec::<String>::new());
    assert_eq!(tree::names(&ghidr.store().join("staging")), Vec::<String>::new());
}

#[test]
fn containers_list_their_members() {
    let ghidr = Ghidr::new();
    let expected = [
        ("archive.zip", ["elf-aarch64", "plain.txt"]),
        ("macho-universal", ["AARCH64-64-cpu0x0", "x86-64-cpu0x3"]),
    ];
    for (fixture, names) in expected {
        let _boot = boots::take();
        let error = inspect(&ghidr, &fixtures::path(fixture)).error("container_sample", 1);
        let members = serde_json::json!({"items": names, "total": 2, "has_more": false});
        assert_eq!(error["details"]["members"], members);
    }
}

#[test]
fn a_file_that_carries_ghidras_own_state_is_refused_by_name() {
    let ghidr = Ghidr::new();
    let sample = ghidr.root().join("packed.gzf");
    std::fs::write(&sample, packed_file_header()).unwrap();
    let _boot = boots::take();
    let error = inspect(&ghidr, &sample).error("unsupported_target", 1);
    let loaders = error["details"]["loaders"].to_string();
    assert!(loaders.contains("GZF"), "{error}");
}

/// The same of a whole file that Ghidra itself has written, of a target that ghidr verifies.
#[test]
fn a_packed_program_that_the_engine_itself_wrote_is_refused() {
    let _boot = boots::take();
    let driven = Driven::new();
    driven.run(["inspect".as_ref(), fixtures::path("elf-x86_64-core").as_os_str()]).success();
    let packed = driven.sample(b"");
    std::fs::remove_file(&packed).unwrap();
    driven.driver.pack(&packed);
    // The length before it depends on the names.
    assert_eq!(std::fs::read(&packed).unwrap()[6..18], packed_file_header()[6..18]);
    let error = driven.run(["inspect".as_ref(), packed.as_os_str()]).error("unsupported_target", 1);
    assert!(error["details"]["loaders"].to_string().contains("GZF"), "{error}");
}

/// What begins a packed file of Ghidra: a Java object stream whose first block starts with a
/// magic number, format version 1, and the item's name and content type.
fn packed_file_header() -> Vec<u8> {
    let mut block = 0x2e30_2126_34e9_2c20_u64.to_be_bytes().to_vec();
    block.extend(1_u32.to_be_bytes());
    for text in ["sample", "Program"] {
        block.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
        block.extend(text.as_bytes());
    }
    block.extend(0_u32.to_be_bytes());
    block.extend(1_u64.to_be_bytes());
    let mut bytes = vec![0xac, 0xed, 0x00, 0x05, 0x77, u8::try_from(block.len()).unwrap()];
    bytes.extend(block);
    bytes
}
