//! How far a worker's boot relies on prepared data: the one decision, and the options that follow from it.
//!
//! No mode changes an answer: what is prepared only repeats what the engine would make again, and is used only as it was made.
//! Names and compiled scripts are verified before each boot, the archive by the Java virtual machine during it.

use std::path::{Path, PathBuf};

use super::boot_files;
use super::context::{Context, Engine};
use super::failure::Failure;
use super::path_text::text;
use crate::domain::sandbox_mode::SandboxMode;
use crate::engine::boot_data::{BootData, CLASS_DATA_ARCHIVE, EXTENSION_POINTS, Found};
use crate::sandbox::WorkerPaths;

/// The operation that runs long enough for the optimising compiler.
const ANALYZE: &str = "analyze";
/// The class list of a worker that is observed, and of the one that makes the archive from it.
pub const CLASS_LIST: &str = "classes.lst";
/// The extension points that a worker that is observed has found, unless its engine is a single jar.
pub const FOUND_EXTENSION_POINTS: &str = "extension-points.jar";
/// The checksums inside an archive are written and compared. A machine that rejects the archive boots without it.
const VERIFY_ARCHIVE: &str = "-XX:+VerifySharedSpaces";
/// The adapter's properties for the names to search and for those to write.
const SEARCHED_PROPERTY: &str = "ghidr.extension.points";
const RECORDED_PROPERTY: &str = "ghidr.extension.points.record";

/// Which boot data a worker uses, or takes part in making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BootMode {
    /// Boots as it is.
    Plain,
    /// Boots with prepared data.
    Prepared(BootData),
    /// Boots with data that was made a moment ago, or not at all: proves that it fits.
    Proving(BootData),
    /// Boots as it is, writes down which classes it loads, and keeps the scripts it compiles in this directory.
    Observed {
        /// The directory.
        script_bundles: PathBuf,
    },
    /// Does not boot: makes the class data archive from [`CLASS_LIST`] in its invocation directory and ends.
    Archiving,
}

impl BootMode {
    /// What an ordinary worker uses: prepared data, where it fits.
    pub fn choose(context: &Context<'_>, engine: &Engine) -> Self {
        match look(context, engine) {
            Some(Found::Ready(data)) => Self::Prepared(data),
            Some(Found::Missing | Found::Stale(_)) | None => Self::Plain,
        }
    }

    /// The options that differ between modes and operations.
    pub fn options(&self, operation: &str, paths: &WorkerPaths) -> Result<Vec<String>, Failure> {
        let class_list = text(&paths.invocation_directory.join(CLASS_LIST))?;
        let mut options = Vec::new();
        match self {
            Self::Plain => {}
            Self::Prepared(data) | Self::Proving(data) => {
                let class_data = paths.class_data_directory.as_deref().unwrap_or(Path::new(""));
                let archive = class_data.join(CLASS_DATA_ARCHIVE);
                // An archive that does not fit is left aside by the machine itself, unless it must be used.
                let sharing = if matches!(self, Self::Proving(_)) { "on" } else { "auto" };
                options.extend([
                    format!("-Xshare:{sharing}"),
                    VERIFY_ARCHIVE.to_owned(),
                    format!("-XX:SharedArchiveFile={}", text(&archive)?),
                ]);
                if data.has_extension_points {
                    let names = text(&class_data.join(EXTENSION_POINTS))?;
                    options.push(format!("-D{SEARCHED_PROPERTY}={names}"));
                }
            }
            Self::Observed { .. } => {
                let names = text(&paths.invocation_directory.join(FOUND_EXTENSION_POINTS))?;
                options.push(format!("-XX:DumpLoadedClassList={class_list}"));
                options.push(format!("-D{RECORDED_PROPERTY}={names}"));
            }
            Self::Archiving => {
                let archive = text(&paths.invocation_directory.join(CLASS_DATA_ARCHIVE))?;
                options.extend([
                    "-Xshare:dump".to_owned(),
                    VERIFY_ARCHIVE.to_owned(),
                    format!("-XX:SharedClassListFile={class_list}"),
                    format!("-XX:SharedArchiveFile={archive}"),
                ]);
            }
        }
        // Only this collector can put objects into an archive; a short process is better off with the other one, because
        // parallel collectors cost more than they save, and a fixed one keeps behaviour independent of the machine.
        let collector = if *self == Self::Archiving { "-XX:+UseG1GC" } else { "-XX:+UseSerialGC" };
        options.push(collector.to_owned());
        if operation != ANALYZE {
            // A reader ends before the optimising compiler has paid for itself.
            options.push("-XX:TieredStopAtLevel=1".to_owned());
        }
        Ok(options)
    }
}

/// The boot data for `engine`; `None` where a worker cannot use any.
pub fn look(context: &Context<'_>, engine: &Engine) -> Option<Found> {
    let isolated = context.sandbox == SandboxMode::Bubblewrap;
    isolated.then(|| match boot_files::inputs(context, engine) {
        Ok(inputs) => Found::look(&context.host.bundle, &inputs),
        Err(error) => Found::Stale(error.to_string()),
    })
}
