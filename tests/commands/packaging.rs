//! What whoever packaged ghidr put into the bundle decides where the worker's surroundings come from.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::fake_engine::World;

fn write(world: &World, name: &str, document: &Value) {
    std::fs::write(world.path("bundle").join(name), document.to_string()).unwrap();
}

#[test]
fn packaged_parts_that_cannot_be_understood_are_an_error_and_never_ignored() {
    let world = World::new();
    for wrong in [json!({}), json!({"sandbox_version": 2, "bubblewrap": "/b", "closure": [], "fonts": "/f"})]
    {
        write(&world, "sandbox.json", &wrong);
        let error = world.ask("inspect", &[]).error("engine_unusable", 1);
        assert_eq!(error["details"]["component"], "bundle");
        assert!(error["details"]["reason"].as_str().unwrap().contains("sandbox.json"), "{error}");
    }
    assert!(world.seen.borrow().is_empty(), "no worker was started");
}

/// An archive is made before the JDK of its machine is known; its installer links one.
#[test]
fn a_linked_jdk_is_used_when_the_descriptor_names_none_and_a_dangling_link_is_an_error() {
    let world = World::new();
    let path = world.path("bundle/engine.json");
    let mut descriptor: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    descriptor["java_home"] = Value::Null;
    write(&world, "engine.json", &descriptor);
    world.ask("inspect", &[]).error("java_missing", 1);
    let link = world.path("bundle/jdk");
    symlink(world.path("jdk"), &link).unwrap();
    world.ask("inspect", &[]).success();
    std::fs::remove_file(&link).unwrap();
    symlink("/nonexistent", &link).unwrap();
    let error = world.ask("inspect", &[]).error("java_missing", 1);
    assert_eq!(error["details"]["selected_by"], "bundle", "{error}");
}
