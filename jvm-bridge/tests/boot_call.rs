//! One real virtual machine: calls, failures after the boot, and the size of the main stack.
//!
//! A process can hold only one machine, so this file is one test; the machine created by the first call serves the rest.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use jvm_bridge::{BridgeConfig, BridgeError, run};
use support::{classes, config};

#[test]
fn one_machine_answers_and_its_failures_are_typed() {
    let classes = classes();
    let call = |what: &str, value: &str| run(&config(classes.path(), what, value));

    assert!(!maps_libjvm(), "linked instead of loaded");
    assert_eq!(
        call("length", "a\u{1d11e}\0é").unwrap(),
        5,
        "strings cross as UTF-16, astral and null included"
    );
    assert!(maps_libjvm());

    let milliseconds = call("boot", "").unwrap();
    assert!(milliseconds < 60_000, "{milliseconds}");

    match call("throw", "a message").unwrap_err() {
        BridgeError::Uncaught { class, message } => {
            assert_eq!((class.as_str(), message.as_str()), ("java.lang.IllegalStateException", "a message"));
        }
        other => unreachable!("{other}"),
    }

    // A frame takes some 50 to 100 bytes; this needs far more than a thread's usual stack and less than what was asked for.
    assert_eq!(call("depth", "200000").unwrap(), 200_000);

    let missing_class =
        BridgeConfig { main_class: "no.Such".to_owned(), ..config(classes.path(), "length", "") };
    assert!(matches!(run(&missing_class), Err(BridgeError::EntryPoint { .. })));
    let missing_method = BridgeConfig { method: "walk".to_owned(), ..config(classes.path(), "length", "") };
    assert!(matches!(run(&missing_method), Err(BridgeError::EntryPoint { .. })));
}

fn maps_libjvm() -> bool {
    std::fs::read_to_string("/proc/self/maps").unwrap().contains("libjvm")
}
