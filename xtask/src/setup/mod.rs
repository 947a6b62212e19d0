//! Set-up: everything a fresh machine lacks, in the order in which one step needs the one before it.
//!
//! Every step checks first and does only what is missing, so running it again is cheap and repairs damage.

pub mod adapter;
mod apt;
pub mod boot_data;
pub mod bundle;
mod cache;
mod engine;
pub mod jdk;
pub mod manifest;
pub mod maven;
pub mod packages;
pub mod prepare;

use std::path::PathBuf;

use crate::error::TaskError;
use crate::pins::{ENGINE, EnginePin};
use crate::project::{Profile, Project};
use crate::{command, report};
use adapter::Adapter;
use bundle::{Engine, Parts, Share};
use cache::Cache;
use ghidr::engine::application_properties::ApplicationProperties;
use ghidr::engine::application_properties::JavaRange;
use jdk::Jdk;
use maven::Maven;
use prepare::Prepared;

/// What set-up established.
#[derive(Debug)]
pub struct Setup {
    /// The JDK for the pinned engine and for Maven.
    pub jdk: Jdk,
    /// Maven with the project's own repository.
    pub maven: Maven,
    /// The verified engine jar.
    pub engine_jar: PathBuf,
    /// Its prepared cache.
    pub prepared: Prepared,
    /// The built adapter.
    pub adapter: Adapter,
    /// What is known of the pinned engine.
    pub facts: ApplicationProperties,
    /// Where cargo-installed tools are kept.
    pub tools: PathBuf,
    /// The boot data for exactly these parts, unless it could not be made.
    pub boot_data: Option<PathBuf>,
}

/// Does the whole set-up, one at a time per user, and lays out the tree of development builds.
///
/// Boot data is made by running `ghidr`, which is built in `profile` for it.
pub fn run(project: &Project, profile: Profile) -> Result<Setup, TaskError> {
    let jdk = packages::ensure(&ENGINE)?;
    if command::find_on_path("mvn", std::env::var_os("PATH").as_deref()).is_none() {
        return Err(TaskError::Refused(maven::MISSING.to_owned()));
    }
    // Held to the end of this function only: a later set-up touches nothing but what it finds damaged.
    let cache = Cache::open()?;
    let maven = Maven::new(cache.root(), &jdk.home);
    let directory = engine::directory(cache.root(), &ENGINE);
    let engine_jar = engine::ensure(&directory, &ENGINE, &maven)?;
    maven.adopt(&ENGINE, &engine_jar)?;
    crate::files::set_fixed_time(&engine_jar)?;
    let prepared = prepare::ensure(&directory, &engine_jar, ENGINE.sha256)?;
    let adapter = adapter::ensure(&project.root.join("java"), &maven, &jdk, &ENGINE)?;
    let mut setup = Setup {
        jdk,
        maven,
        engine_jar,
        prepared,
        adapter,
        facts: facts(&ENGINE),
        tools: cache.root().join("tools"),
        boot_data: None,
    };
    let tree = project.bundled_tree();
    let staging = crate::files::sibling(&tree, "new");
    bundle::assemble(&staging, &setup.parts(), Share::Link)?;
    report::say("building ghidr");
    let executable = project.build(profile)?;
    let maker =
        boot_data::Maker { project_root: &project.root, executable: &executable, scratch: cache.root() };
    let key = boot_data::key(ENGINE.sha256, &setup.adapter.jar, &setup.jdk.home)?;
    setup.boot_data = boot_data::ensure(cache.root(), &key, &staging, maker)?;
    if let Some(made) = &setup.boot_data {
        bundle::add_boot_data(&staging, made, Share::Link)?;
    }
    bundle::replace(&staging, &tree)?;
    report::say(format!("set-up complete: engine and adapter are in {}", tree.display()));
    Ok(setup)
}

impl Setup {
    /// The parts of a tree with the pinned engine in it.
    pub fn parts(&self) -> Parts<'_> {
        Parts {
            engine: Engine::Jar { jar: &self.engine_jar, prepared: &self.prepared },
            facts: &self.facts,
            java_home: Some(&self.jdk.home),
            adapter: &self.adapter,
        }
    }
}

fn facts(pin: &EnginePin) -> ApplicationProperties {
    ApplicationProperties {
        version: pin.ghidra_version.to_owned(),
        build: pin.ghidra_build.to_owned(),
        release_name: pin.ghidra_release_name.to_owned(),
        java: JavaRange { minimum: pin.java_minimum, maximum: None },
    }
}
