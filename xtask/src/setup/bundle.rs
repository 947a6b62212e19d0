//! Lays out `lib/ghidr`: adapter, engine, prepared cache and the descriptor that names them.
//!
//! The tree is assembled under a hidden name and then takes the final name in one step, so nobody ever sees half
//! of it and a previous tree stays whole until then.

use std::fs;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::adapter::Adapter;
use super::prepare::Prepared;

use ghidr::domain::engine_layout::EngineLayout;
use ghidr::engine::application_properties::ApplicationProperties;
use ghidr::engine::descriptor::{self, EngineDescriptor};

use crate::error::{AtPath, TaskError};
use crate::files;

/// How files that come from the cache get into the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Hard links where possible: for a build directory, which lives and dies with its user's cache.
    Link,
    /// Independent copies: for an installation.
    Copy,
}

/// The engine of a tree.
#[derive(Clone, Debug)]
pub enum Engine<'a> {
    /// The jar and its prepared cache become part of the tree.
    Jar {
        /// The verified jar.
        jar: &'a Path,
        /// Its prepared cache.
        prepared: &'a Prepared,
    },
    /// An installation elsewhere is referred to by its absolute path.
    Directory(&'a Path),
    /// The tree has none; whoever uses it names one.
    None,
}

/// The content of a tree.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// The engine.
    pub engine: Engine<'a>,
    /// What the descriptor says about it.
    pub facts: &'a ApplicationProperties,
    /// The JDK it runs on, unless that is found where the tree will be.
    pub java_home: Option<&'a Path>,
    /// The adapter.
    pub adapter: &'a Adapter,
}

/// Assembles the tree in the new directory `staging`.
pub fn assemble(staging: &Path, parts: &Parts<'_>, share: Share) -> Result<(), TaskError> {
    files::remove(staging)?;
    files::create_public_directory(staging)?;
    let adapter = staging.join("adapter");
    // Always copied: the build overwrites its output in place.
    put(&parts.adapter.jar, &adapter.join("ghidr-adapter.jar"), Share::Copy)?;
    put_tree(&parts.adapter.scripts, &adapter.join("scripts"), Share::Copy)?;
    let describe = |layout, path: &Path| {
        EngineDescriptor::new(layout, path.into(), parts.facts, parts.java_home.map(Path::to_path_buf))
    };
    let descriptor = match parts.engine {
        Engine::None => return Ok(()),
        Engine::Jar { jar, prepared } => {
            put(jar, &staging.join("engine/ghidra.jar"), share)?;
            put_tree(&prepared.directory, &staging.join("engine/cache"), share)?;
            describe(EngineLayout::SingleJar, Path::new("engine/ghidra.jar"))
                .with_cache("engine/cache".into(), prepared.manifest_sha256)
        }
        Engine::Directory(directory) => describe(EngineLayout::InstallationDirectory, directory),
    };
    let encoded = descriptor
        .to_bytes()
        .map_err(|error| TaskError::Refused(format!("cannot encode {}: {error}", descriptor::FILE_NAME)))?;
    files::publish(&staging.join(descriptor::FILE_NAME), &encoded)
}

/// Adds boot data to the assembled `staging`.
pub fn add_boot_data(staging: &Path, boot_data: &Path, share: Share) -> Result<(), TaskError> {
    put_tree(boot_data, &staging.join(ghidr::engine::boot_data::DIRECTORY), share)
}

/// Gives the assembled `staging` the name `tree`, replacing what has it now.
pub fn replace(staging: &Path, tree: &Path) -> Result<(), TaskError> {
    if fs::symlink_metadata(tree).is_err() {
        return files::publish_path(staging, tree);
    }
    if renameat_with(CWD, staging, CWD, tree, RenameFlags::EXCHANGE).is_err() {
        // Not every file system can exchange names; then the name is free for a moment.
        let old = files::sibling(tree, "old");
        files::remove(&old)?;
        fs::rename(tree, &old).at("rename", tree)?;
        files::publish_path(staging, tree)?;
        return files::remove(&old);
    }
    files::sync_directory(tree.parent().unwrap_or(Path::new("/")))?;
    files::remove(staging)
}

fn put_tree(from: &Path, to: &Path, share: Share) -> Result<(), TaskError> {
    files::create_public_directory(to)?;
    for relative in files::regular_files(from)? {
        put(&from.join(&relative), &to.join(&relative), share)?;
    }
    Ok(())
}

fn put(from: &Path, to: &Path, share: Share) -> Result<(), TaskError> {
    if let Some(directory) = to.parent() {
        files::create_public_directory(directory)?;
    }
    match share {
        Share::Link => files::link_or_copy(from, to),
        Share::Copy => {
            files::copy(from, to)?;
            let executable = crate::command::is_executable_file(from);
            files::set_mode(
                to,
                if executable { files::MODE_PUBLIC_EXECUTABLE } else { files::MODE_PUBLIC_DATA },
            )?;
            files::sync_file(to)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn replacing_leaves_only_the_new_tree() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("ghidr");
        for content in ["one", "two"] {
            let staging = files::sibling(&tree, "new");
            fs::create_dir(&staging).unwrap();
            fs::write(staging.join(content), content).unwrap();
            replace(&staging, &tree).unwrap();
            assert_eq!(files::regular_files(root.path()).unwrap(), [Path::new("ghidr").join(content)]);
        }
    }

    #[test]
    fn copies_are_readable_for_everybody_and_independent() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let from = root.path().join("from");
        fs::write(&from, "x").unwrap();
        files::set_mode(&from, 0o700).unwrap();
        let to = root.path().join("a/to");
        put(&from, &to, Share::Copy).unwrap();
        assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o755);
        fs::write(&from, "y").unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"x");
    }
}
