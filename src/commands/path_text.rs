//! Paths as a request writes them.

use std::path::Path;

use super::failure::Failure;

/// Java splits a class path at colons, and has no way to quote one.
pub fn class_path_entry(path: &Path) -> Result<String, Failure> {
    let entry = text(path)?;
    if entry.contains(':') {
        let reason = format!("Java cannot have a colon in its class path: {entry}");
        return Err(Failure::engine_unusable("class path", reason));
    }
    Ok(entry)
}

/// A path for the request, which is text and, as the adapter reads it, one line. Only without a mount namespace it
/// is one that the caller chose.
pub fn text(path: &Path) -> Result<String, Failure> {
    match path.to_str() {
        Some(text) if !text.contains('\n') => Ok(text.to_owned()),
        _ => {
            let reason = format!("without bubblewrap a path must be one line of UTF-8: {}", path.display());
            Err(Failure::engine_unusable("path", reason))
        }
    }
}
