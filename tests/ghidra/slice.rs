//! The thinnest slice: one system binary, end to end.

use crate::support::ghidr::Ghidr;

#[test]
fn inspect_of_true_is_created_then_reused() {
    let ghidr = Ghidr::new();
    let first = ghidr.run(["inspect", "/bin/true"]).success();
    assert_eq!(first["data"]["analysis"]["disposition"], "created");
    let second = ghidr.run(["inspect", "/bin/true"]).success();
    assert_eq!(second["data"]["analysis"]["disposition"], "reused");
    assert_eq!(first["data"]["program"], second["data"]["program"]);
}
