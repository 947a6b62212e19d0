//! `cargo xtask dist`: an archive that installs on a machine without Rust and without a network.
//!
//! It holds the very layout that an installation has, laid out by the same code, and `install.sh`, which copies that below a
//! prefix and links the machine's JDK. Equal content gives equal bytes: sorted names, one time, no owner, and an executable
//! that knows nothing of the directories it was built in. Boot data is not part of it, for it fits one JDK only.

mod archive;
mod glibc;

use std::fs;
use std::path::{Path, PathBuf};

use crate::digest::Content;
use crate::error::{AtPath, TaskError};
use crate::install::place::Destination;
use crate::project::{Profile, Project};
use crate::setup::bundle::{Engine, Parts};
use crate::share::SharedFiles;
use crate::{command, files, report, setup};

/// What to build and where to put it.
#[derive(Debug, clap::Args)]
pub struct DistOptions {
    /// Directory that receives the archive and its checksum [default: target/dist]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Leave the engine out: its user names a Ghidra and a JDK
    #[arg(long)]
    without_engine: bool,
}

/// Builds the archive and its checksum.
pub fn run(project: &Project, options: &DistOptions) -> Result<(), TaskError> {
    let out = match &options.out {
        Some(out) => std::path::absolute(out).at("resolve", out)?,
        None => project.target.join("dist"),
    };
    let setup = setup::run(project, Profile::Debug)?;
    report::say("building ghidr without the paths of this machine");
    let executable = build(project)?;
    let mut parts = Parts { java_home: None, ..setup.parts() };
    if options.without_engine {
        parts.engine = Engine::None;
    }
    let content =
        Distribution { executable: &executable, parts: &parts, shared: &SharedFiles::generate(project)? };
    let archive = content.write(project, &out)?;
    let digest = Content::of_file(&archive)?;
    report::say(format!("{}: {} bytes, SHA-256 {}", archive.display(), digest.bytes, digest.sha256));
    report::say(format!("the executable needs {} or later", glibc::newest_version(&executable)?));
    Ok(())
}

/// The release executable, with what Cargo would record of this machine's directories replaced.
fn build(project: &Project) -> Result<PathBuf, TaskError> {
    let target = project.target.join("dist/build");
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home =
        cargo_home.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let mut flags = vec![format!("--remap-path-prefix={}=/ghidr", project.root.display())];
    flags.extend(cargo_home.map(|home| format!("--remap-path-prefix={}=/cargo", home.display())));
    let mut cargo = project.cargo();
    cargo.args(["build", "--locked", "--release", "--package", "ghidr", "--bin", "ghidr", "--target-dir"]);
    cargo.arg(&target).env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    command::run(&mut cargo)?;
    Ok(target.join("release/ghidr"))
}

/// What goes into an archive.
#[derive(Debug)]
struct Distribution<'a> {
    executable: &'a Path,
    parts: &'a Parts<'a>,
    shared: &'a SharedFiles,
}

impl Distribution<'_> {
    /// Writes `ghidr-VERSION-PLATFORM.tar.gz` and its `.sha256` into `out`, and returns the first.
    fn write(&self, project: &Project, out: &Path) -> Result<PathBuf, TaskError> {
        files::create_public_directory(out)?;
        let engine = if matches!(self.parts.engine, Engine::None) { "-without-engine" } else { "" };
        let name = format!("ghidr-{}-{}-linux{engine}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
        let stage = out.join(".stage");
        files::remove(&stage)?;
        let root = stage.join(&name);
        files::create_public_directory(&root)?;
        Destination::new(&root).place(self.executable, self.parts, self.shared, |_tree| Ok(()))?;
        let installer = root.join("install.sh");
        files::copy(&project.root.join("packaging/install.sh"), &installer)?;
        files::set_mode(&installer, files::MODE_PUBLIC_EXECUTABLE)?;
        let archive = out.join(format!("{name}.tar.gz"));
        archive::write(&stage, &name, &archive)?;
        files::remove(&stage)?;
        let line = format!("{}  {name}.tar.gz\n", Content::of_file(&archive)?.sha256);
        let checksum = out.join(format!("{name}.tar.gz.sha256"));
        fs::write(&checksum, line).at("write", &checksum)?;
        Ok(archive)
    }
}

#[cfg(test)]
#[path = "dist_tests.rs"]
mod ghidra;
