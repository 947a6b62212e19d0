//! What a release says about itself agrees everywhere.

use crate::support::committed;

fn read(name: &str) -> String {
    std::fs::read_to_string(committed::project().join(name)).unwrap()
}

#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("Cargo.toml").contains(&format!("[workspace.package]\nversion = \"{version}\"")));
    for manifest in ["Cargo.toml", "jvm-bridge/Cargo.toml", "xtask/Cargo.toml"] {
        assert!(read(manifest).contains("\nversion.workspace = true\n"), "{manifest}");
    }
    assert!(read("java/pom.xml").contains(&format!("\n  <version>{version}</version>\n")), "java/pom.xml");
    let newest = read("CHANGELOG.md").lines().find(|line| line.starts_with("## ")).map(str::to_owned);
    assert_eq!(newest, Some(format!("## {version}")), "CHANGELOG.md");
    let archive = format!("ghidr-{version}-x86_64-linux");
    for line in read("README.md").lines().filter(|line| line.contains("-x86_64-linux")) {
        assert!(line.contains(&archive), "README.md: {line}");
    }
}

/// `--sandbox external` isolates nothing itself, so its document has to say what the surroundings must.
#[test]
fn a_harness_that_isolates_is_told_what_to_provide() {
    let document = read("docs/sandbox.md");
    let (_, section) = document.split_once("## Inside another sandbox: `--sandbox external`").unwrap();
    let section = section.split("\n## ").next().unwrap();
    for word in ["no network", "process tree", "memory", "capabilities", "ghidr --sandbox external"] {
        assert!(section.contains(word), "{word}: {section}");
    }
}
