//! Boots that fail, each before a machine exists.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use jvm_bridge::{BridgeConfig, BridgeError, run};
use support::{classes, config};

#[test]
fn failures_before_the_machine_exists_are_told_apart() {
    let classes = classes();
    let good = config(classes.path(), "length", "");

    let absent = BridgeConfig { libjvm: "/nonexistent/libjvm.so".into(), ..good.clone() };
    assert!(matches!(run(&absent), Err(BridgeError::Load { .. })));

    let no_library = BridgeConfig { libjvm: "/proc/self/exe".into(), ..good.clone() };
    assert!(matches!(run(&no_library), Err(BridgeError::Load { .. })));

    let relative = BridgeConfig { class_path: vec!["classes".into()], ..good.clone() };
    assert!(matches!(run(&relative), Err(BridgeError::InvalidConfig { .. })));

    let unknown_option = BridgeConfig { jvm_options: vec!["-XX:+NoSuchOption".to_owned()], ..good };
    assert!(matches!(run(&unknown_option), Err(BridgeError::Create { .. })));
}
